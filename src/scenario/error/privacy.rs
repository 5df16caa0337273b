//! What can be wrong with the tables `[privacy]` and `[noise]`.

use crate::privacy::PrivacyError;

/// Why the tables `[privacy]` and `[noise]` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PrivacyTableError {
    /// The privacy parameters cannot be met.
    #[error("[privacy] {0}")]
    Privacy(#[from] PrivacyError),
    /// More colluders than can be told from the honest.
    #[error("[privacy] colluders = {colluders} of {peers} peers leaves nobody to protect; set it to at most {}", peers - 1)]
    Colluders {
        /// Colluders asked for.
        colluders: usize,
        /// Number of peers.
        peers: usize,
    },
}
