//! What tolerant peers say to each other, and what they keep on their disks.

use std::sync::Arc;

use crate::algorithm::PublicState;
use crate::protocol::SessionId;
use crate::protocol::escrow::{self, HIDDEN_SHARE_LEN, Seal, SealKey, Share};
use crate::protocol::message::{Message, Summand};
use crate::protocol::regroup::{Attempt, Durable, SIGNATURE_LEN, Signed, ViewNumber};
use crate::vocabulary::PeerIndex;

/// What signatures on shares are over begins with this.
const SHARE_DOMAIN: &[u8; 18] = b"undertone share v1";

/// A frame between neighbours.
#[derive(Clone, Debug)]
pub enum Frame {
    /// About what has gone wrong, and who holds what.
    Record(Signed),
    /// What the sender contributes to an attempt, in the open.
    Published {
        /// Which.
        attempt: Attempt,
        /// Its noisy contribution.
        input: Summand,
    },
    /// What the sender contributes to an attempt, sealed.
    Sealed {
        /// Which.
        attempt: Attempt,
        /// The bytes of its [`Seal`] that all its neighbours are sent.
        frame: Arc<[u8]>,
        /// The share of whom this is sent to, which it alone can read.
        share: [u8; HIDDEN_SHARE_LEN],
    },
    /// The key of what the sender sealed, once everybody holds it.
    Key {
        /// In which attempt.
        attempt: Attempt,
        /// The key.
        key: SealKey,
    },
    /// A share in what somebody sealed that is lost, passed on by everybody.
    Share {
        /// The view that its holder gave it up in.
        view: ViewNumber,
        /// The share.
        signed: SignedShare,
    },
    /// A step of the session of a view.
    Step {
        /// Which view.
        view: ViewNumber,
        /// A message of that session.
        message: Message,
    },
}

/// A share that its holder gives up, with the holder's signature: two of them for two attempts of one try are proof against it.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedShare {
    /// Of which attempt.
    pub attempt: Attempt,
    /// In whose contribution.
    pub dealer: PeerIndex,
    /// Whose share.
    pub holder: PeerIndex,
    /// The share.
    pub share: Share,
    /// The holder's signature over [`Self::signed_bytes`].
    pub signature: [u8; SIGNATURE_LEN],
}

impl SignedShare {
    /// What its holder signs.
    #[must_use]
    pub fn signed_bytes(&self, session: SessionId) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        out.extend_from_slice(SHARE_DOMAIN);
        out.extend_from_slice(&session.0);
        out.extend_from_slice(&self.attempt.address());
        out.extend_from_slice(&self.dealer.0.to_le_bytes());
        out.extend_from_slice(&self.holder.0.to_le_bytes());
        out.push(self.share.point());
        out.extend_from_slice(self.share.value());
        out
    }
}

/// What a tolerant peer has on its disk before it acts on it.
#[derive(Clone, Debug)]
pub enum DiskRecord {
    /// What the agreement must not forget.
    Regroup(Durable),
    /// What somebody published in an attempt. What this peer published is never computed again: the same noise on another contribution would show
    /// the difference.
    Input {
        /// Which attempt.
        attempt: Attempt,
        /// Who.
        from: PeerIndex,
        /// What all had agreed on before.
        agreed: Option<f64>,
        /// What.
        input: Summand,
    },
    /// What all had agreed on before this peer sealed its contribution to an attempt.
    Agreed {
        /// Which attempt.
        attempt: Attempt,
        /// The number, if there is one.
        agreed: Option<f64>,
    },
    /// What has been done with seals and shares: the own seals themselves, and nothing that could make them again.
    Escrow(escrow::Record),
    /// What a neighbour sealed.
    Seal(Seal),
    /// The public state after a release.
    State(PublicState),
}
