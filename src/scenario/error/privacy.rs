//! What can be wrong with the tables `[privacy]` and `[noise]`.

use crate::privacy::PrivacyError;

/// Why the tables `[privacy]` and `[noise]` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PrivacyTableError {
    /// The privacy parameters cannot be met.
    #[error("[privacy] {0}")]
    Privacy(#[from] PrivacyError),
    /// A δ that would follow from a private number of users.
    #[error(
        "[privacy] delta: the number of users is private, so that none follows from it; set delta to less than one over the number of users that you expect, such as delta = 1e-6"
    )]
    Delta,
    /// More colluders than can be told from the honest.
    #[error("[privacy] colluders = {colluders} of {peers} peers leaves nobody to protect; set it to at most {}", peers - 1)]
    Colluders {
        /// Colluders asked for.
        colluders: usize,
        /// Number of peers.
        peers: usize,
    },
}
