//! Why a peer does not seal, hold, sign, open or give up something.

use super::seal::SealError;
use crate::protocol::regroup::{Attempt, CertificateError, ViewNumber};
use crate::vocabulary::PeerIndex;

/// A rule of a holder; [`super`] says why it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A share is given up for one attempt of a try.
    OneShare,
    /// Nothing leaves without a certificate.
    Certified,
    /// The own key is opened for one attempt of a try, after which nothing is sealed in it.
    OneKey,
    /// Only the last attempt sealed at a release is opened.
    LastSealed,
    /// No share in an earlier attempt is given up by whoever holds a later seal.
    LaterSeal,
    /// Whoever gave up a share in a try signs nothing more in it.
    ReleasedBefore,
    /// Shares leave only in a view without their dealer.
    StillThere,
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OneShare => "a share in another attempt of this try was given up",
            Self::Certified => "it has no certificate",
            Self::OneKey => "the key of an attempt of this try was opened",
            Self::LastSealed => "a later attempt was sealed",
            Self::LaterSeal => "a later seal of the same peer is held",
            Self::ReleasedBefore => "a share was given up in this try",
            Self::StillThere => "its owner takes part in the view",
        })
    }
}

/// Why a step is not taken. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// A rule forbids it.
    #[error("{attempt}: {rule}")]
    Rule {
        /// Which.
        rule: Rule,
        /// What it was to be done for.
        attempt: Attempt,
    },
    /// A view that is not after the one before.
    #[error("{number} does not come after {current}")]
    OldView {
        /// Which.
        number: ViewNumber,
        /// The present one.
        current: ViewNumber,
    },
    /// A view with too few members, or without this peer.
    #[error(
        "{number} has {members} members, and {peer} enters none with fewer than {floor}, or without itself"
    )]
    SmallView {
        /// Which.
        number: ViewNumber,
        /// How many.
        members: usize,
        /// At least so many.
        floor: usize,
        /// Who.
        peer: PeerIndex,
    },
    /// An attempt of another view than the present one, or before there is any.
    #[error("{attempt} is not of the present view")]
    NotNow {
        /// Which.
        attempt: Attempt,
    },
    /// An attempt at a release that is over.
    #[error("{attempt} is over")]
    Over {
        /// Which.
        attempt: Attempt,
    },
    /// A view that this peer was never in.
    #[error("{attempt}: this peer was not in that view, or knows another by its number")]
    UnknownView {
        /// Of which attempt.
        attempt: Attempt,
    },
    /// A contribution that is sealed already.
    #[error("{attempt} is sealed, and nothing is sealed twice: send the bytes that are kept")]
    Sealed {
        /// For which attempt.
        attempt: Attempt,
    },
    /// A contribution that was not sealed.
    #[error("{attempt}: this peer has not sealed its contribution")]
    NotSealed {
        /// For which attempt.
        attempt: Attempt,
    },
    /// A seal of other holders, another threshold or another peer than this view has.
    #[error("{attempt}: the seal is not for this peer's live neighbours and its threshold")]
    Holders {
        /// For which attempt.
        attempt: Attempt,
    },
    /// A seal that is not held.
    #[error("{attempt}: no seal of {dealer} is held")]
    NotHeld {
        /// Whose.
        dealer: PeerIndex,
        /// For which attempt.
        attempt: Attempt,
    },
    /// A seal of somebody who is no live neighbour.
    #[error("{dealer} is no live neighbour in the present view")]
    NoNeighbour {
        /// Who.
        dealer: PeerIndex,
    },
    /// Two different seals of one peer for one attempt: evidence, if they are signed.
    #[error("{dealer} sealed two contributions for {attempt}")]
    Twice {
        /// Who.
        dealer: PeerIndex,
        /// For which attempt.
        attempt: Attempt,
    },
    /// Neighbours that scaled noise differently, or answered another query.
    #[error("{attempt}: {dealer} sealed at another scale, or for another query, than this peer")]
    Disagree {
        /// Who.
        dealer: PeerIndex,
        /// For which attempt.
        attempt: Attempt,
    },
    /// No seal.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// No certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}
