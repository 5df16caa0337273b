//! Why a public state cannot get over a release.

use super::query::QueryError;
use crate::linalg::NotFullRank;
use crate::vocabulary::PeerIndex;

/// Why a public state cannot go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReleaseError {
    /// An average or the sum is not finite.
    #[error("its values overflowed")]
    Overflow,
    /// A coordinate that its owner's messages never brought.
    #[error("the coordinates of {owner} never came")]
    Incomplete {
        /// Whose.
        owner: PeerIndex,
    },
    /// The noisy sum has no unique basis.
    #[error(transparent)]
    NotFullRank(#[from] NotFullRank),
    /// The next public query is not one that the sensitivity bounds.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The algorithm asks for a release or an agreement that it has not declared at this place, or ends where it has not declared that it may.
    #[error(
        "the algorithm asks for a release, an agreement or an early end that it has not declared at this place: declare every \
         release in Algorithm::program, ask for them in order, and set may_end_before of the releases that can be left out"
    )]
    OutOfOrder,
}
