//! Why a peer cannot be built or cannot go on.

use crate::linalg::NotFullRank;
use crate::protocol::query::QueryError;
use crate::protocol::release_error::ReleaseError;
use crate::vocabulary::{PeerIndex, ReleaseId, Round};

/// The peer was set up or driven wrongly, or cannot go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PeerError {
    /// Shapes of plan, rows and start block disagree.
    #[error("the {what} has {found} entries, the plan needs {expected}")]
    Shape {
        /// Which part.
        what: &'static str,
        /// Size found.
        found: usize,
        /// Size the plan needs.
        expected: usize,
    },
    /// Sums of integers over an averaging schedule that does more than add.
    #[error(
        "the averaging schedule of {peer} multiplies, and sums of integers mod 2^k cannot be: choose averaging.scheme = \"tree\" or \"doubling\""
    )]
    Inexact {
        /// The peer.
        peer: PeerIndex,
    },
    /// An algorithm that only somebody who sees all rows can run.
    #[error(
        "{peer} cannot search for a threshold that compares a secret count with a secret limit: only a curator who sees all rows can"
    )]
    CuratorOnly {
        /// The peer.
        peer: PeerIndex,
    },
    /// Real numbers to average where the plan has integers.
    #[error(
        "{peer} is given a sum of real numbers to average, and the sums of its plan are of integers mod 2^k"
    )]
    GivenReals {
        /// The peer.
        peer: PeerIndex,
    },
    /// Noise that is not the plan's: a peer must not publish with less.
    #[error(
        "the noise of {peer} is not what the plan calls for: one own term of scale {own}, and with each of its \
         {partners} partners in the noise graph one term of scale {pairwise}, positive towards higher peers, in ascending order"
    )]
    Noise {
        /// The peer.
        peer: PeerIndex,
        /// σ_η of the plan.
        own: f64,
        /// σ_Δ of the plan.
        pairwise: f64,
        /// Partners in the noise graph.
        partners: usize,
    },
    /// Noise partners that are not in strictly ascending order, are not peers of the plan, or include the peer itself.
    #[error(
        "the noise partners of {peer} must ascend strictly, be peers of the plan and not include it"
    )]
    NoisePartners {
        /// The peer.
        peer: PeerIndex,
    },
    /// A public query that the sensitivity does not bound.
    #[error("{peer} does not contribute in {release}: {source}")]
    Query {
        /// The peer.
        peer: PeerIndex,
        /// The release.
        release: ReleaseId,
        /// Why.
        source: QueryError,
    },
    /// Neighbours that are not in strictly ascending order, or include the peer itself.
    #[error("the neighbours of {peer} must ascend strictly and not include it")]
    Neighbours {
        /// The peer.
        peer: PeerIndex,
    },
    /// An averaging schedule that is not the plan's, or was made for another peer.
    #[error(
        "the averaging schedule of {peer} is not the one the plan names: compile it from the session's own topology"
    )]
    Schedule {
        /// The peer.
        peer: PeerIndex,
    },
    /// A lost message that the peer cannot do without, or one that was never to come.
    #[error(
        "{peer} was told that a message of {from} is lost in {release}, {round}, where its averaging does without none: use \
         push-sum or pairwise, and tell of averaging messages only, once they were sent"
    )]
    Lost {
        /// The peer.
        peer: PeerIndex,
        /// Whose message.
        from: PeerIndex,
        /// Of which release.
        release: ReleaseId,
        /// Of which round.
        round: Round,
    },
    /// `Start` came twice.
    #[error("{peer} was started twice")]
    StartedTwice {
        /// The peer.
        peer: PeerIndex,
    },
    /// The noisy sum has no unique basis.
    #[error("{peer} cannot advance {release}: {source}")]
    NotFullRank {
        /// The peer.
        peer: PeerIndex,
        /// The release.
        release: ReleaseId,
        /// Why.
        source: NotFullRank,
    },
    /// An average or the sum is not finite, although every message was.
    #[error("the values of {release} overflowed at {peer}")]
    Overflow {
        /// The peer.
        peer: PeerIndex,
        /// The release.
        release: ReleaseId,
    },
    /// Own coordinates of another peer that nobody brought.
    #[error("{peer} never learned the coordinates of {owner} in {release}")]
    Incomplete {
        /// The peer.
        peer: PeerIndex,
        /// The release.
        release: ReleaseId,
        /// Whose coordinates are missing.
        owner: PeerIndex,
    },
    /// The algorithm asked for what it has not declared.
    #[error("{peer} cannot go on after {release}: {source}")]
    OutOfOrder {
        /// The peer.
        peer: PeerIndex,
        /// The last release that was made.
        release: ReleaseId,
        /// Why.
        source: ReleaseError,
    },
}

impl PeerError {
    /// Whether it follows from values that were exchanged, and not from how the peer was set up or driven.
    #[must_use]
    pub fn is_of_values(&self) -> bool {
        matches!(
            self,
            Self::NotFullRank { .. }
                | Self::Overflow { .. }
                | Self::Query { .. }
                | Self::Incomplete { .. }
        )
    }

    /// That `peer` could not get over this release.
    pub(crate) fn at(peer: PeerIndex, release: ReleaseId, error: ReleaseError) -> Self {
        match error {
            ReleaseError::Overflow => Self::Overflow { peer, release },
            ReleaseError::Incomplete { owner } => Self::Incomplete {
                peer,
                release,
                owner,
            },
            ReleaseError::NotFullRank(source) => Self::NotFullRank {
                peer,
                release,
                source,
            },
            // What is refused is the next contribution.
            ReleaseError::Query(source) => Self::Query {
                peer,
                release: release.next(),
                source,
            },
            source @ ReleaseError::OutOfOrder => Self::OutOfOrder {
                peer,
                release,
                source,
            },
        }
    }
}
