//! What can be wrong with the `[completion]` table.

use crate::privacy::Adjacency;

/// Why the `[completion]` table cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum CompletionTableError {
    /// A key that does not go with the others.
    #[error("[completion] {key} {why}")]
    Key {
        /// The key.
        key: &'static str,
        /// Why, and what to change.
        why: &'static str,
    },
    /// Predictions of an algorithm that makes none.
    #[error(
        "algorithm.kind = \"{algorithm}\" predicts no ratings: give the experiment of the run that wrote the predictor"
    )]
    Algorithm {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// A share that keeps nothing aside, or everything.
    #[error(
        "[completion] test_share must lie strictly between 0 and 1, such as 0.01; found {found}"
    )]
    TestShare {
        /// The share given.
        found: f64,
    },
    /// An adjacency that is not about all ratings of a user.
    #[error(
        "algorithm.kind = \"{algorithm}\" protects all ratings of a user together, and privacy.adjacency = \"{adjacency}\" is about something \
         else: set it to \"user\" (a user is there or not) or \"replace-user\" (a user's ratings are any others)"
    )]
    Adjacency {
        /// The algorithm.
        algorithm: &'static str,
        /// The adjacency asked for.
        adjacency: Adjacency,
    },
    /// Published constants where a user's ratings are replaced.
    #[error(
        "algorithm.mode = \"paper\" charges a user whose ratings are replaced with 4 L^2, and such a user moves the sum by up to 4 sqrt(2) L^2: \
         set privacy.adjacency = \"user\", for which the printed noise suffices, or algorithm.mode = \"tight\""
    )]
    PublishedReplace,
}
