//! What can be wrong with the tables `[privacy]` and `[noise]`.

use crate::privacy::PrivacyError;

/// The table before a refusal that does not say which key it is about.
fn table_of(error: &PrivacyError) -> &'static str {
    match error {
        PrivacyError::Iterations => "",
        PrivacyError::Zero { name } if name.starts_with("algorithm.") => "",
        _ => "[privacy] ",
    }
}

/// Why the tables `[privacy]` and `[noise]` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PrivacyTableError {
    /// The privacy parameters cannot be met.
    #[error("{table}{0}", table = table_of(_0))]
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
