//! What can be wrong with the `[recommender]` table.

/// Why the `[recommender]` table cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecommenderTableError {
    /// A key that does not go with the others.
    #[error("[recommender] {key} {why}")]
    Key {
        /// The key.
        key: &'static str,
        /// Why, and what to change.
        why: &'static str,
    },
    /// An algorithm that releases no Gram matrix.
    #[error(
        "[recommender] method = \"{method}\" needs a Gram matrix that is released, and algorithm.kind = \"{algorithm}\" releases none: set it \
         to \"covariance\" or \"isometric-covariance\", or leave [recommender] out to score with the basis alone"
    )]
    Algorithm {
        /// The method.
        method: &'static str,
        /// The algorithm.
        algorithm: &'static str,
    },
}
