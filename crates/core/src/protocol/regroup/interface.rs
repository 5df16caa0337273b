//! What a member of the agreement starts from, what its driver tells it, and what it tells its driver.

use std::sync::Arc;

use super::attempt::Attempt;
use super::certificate::Certificate;
use super::evidence::Evidence;
use super::links::Links;
use super::record::Durable;
use super::resume::{Resume, Tolerance, View};
use super::signed::{Signed, Signer};
use crate::protocol::SessionId;
use crate::vocabulary::{PeerIndex, ReleaseId, Span, Time};

/// What a member starts from.
#[derive(Clone, Debug)]
pub struct RegroupSetup {
    /// This member.
    pub me: PeerIndex,
    /// The session, which every signature names.
    pub session: SessionId,
    /// Its key, and everybody's public keys.
    pub signatures: Arc<dyn Signer>,
    /// The communication graph.
    pub links: Arc<Links>,
    /// What the session tolerates.
    pub tolerance: Arc<Tolerance>,
    /// The last release of the session.
    pub last: ReleaseId,
    /// How long after its own statement a member waits for those of its neighbours.
    pub patience: Span,
}

/// What the driver tells it.
#[derive(Clone, Debug)]
pub enum Input {
    /// Begin, or begin again after a restart.
    Start,
    /// A record that a neighbour sent or passed on.
    Heard {
        /// Whose connection.
        from: PeerIndex,
        /// What came, with the signature of its origin.
        record: Signed,
    },
    /// A neighbour is not there, or deviates: its link is to be cut.
    Suspect(PeerIndex),
    /// A neighbour is there again with nothing but its disk.
    Returned(PeerIndex),
    /// This member's contribution to this attempt is about to leave.
    Sending(Attempt),
    /// This member durably holds what all its live neighbours published in this attempt.
    Holding(Attempt),
    /// The sum of this release is here.
    Averaged(ReleaseId),
    /// The time that was asked for has come.
    Timer(u64),
}

/// What it tells the driver, to be done in this order.
#[derive(Clone, Debug)]
pub enum Output {
    /// Write this to the disk before anything that follows leaves.
    Persist(Durable),
    /// To these neighbours.
    Send {
        /// Ascending.
        to: Vec<PeerIndex>,
        /// What.
        record: Signed,
    },
    /// A link of this member is cut: nothing more goes over it.
    Cut(PeerIndex),
    /// Nothing of the protocol is handled until the next [`Self::Resume`].
    Freeze,
    /// A view is decided, or was from the beginning: go on so.
    Resume {
        /// Who takes part.
        view: Arc<View>,
        /// With what.
        resume: Resume,
    },
    /// All who take part hold all that was published: what was sealed may be opened, and averaged.
    Certified(Certificate),
    /// A neighbour has sent a statement that no member makes that follows the protocol. The link to it is cut.
    Refused(PeerIndex),
    /// A member is proved to deviate. Its links to this one are cut.
    Deviates(Box<Evidence>),
    /// To be called with [`Input::Timer`] and this number at this time.
    Wake(u64, Time),
    /// It is over for this member.
    Ended(End),
}

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Everybody who is left has all sums.
    Finished,
    /// Fewer are left than the session needs.
    Floor,
    /// The others go on without this member.
    Excluded,
    /// A contribution is lost, and no retry is left.
    Lost,
    /// The others begin a try again that this member has published an attempt of in the open: it publishes no other one.
    Published,
    /// This member has restarted too often.
    Restarts,
    /// The others finished without this member's having all sums: it may ask them for the result.
    Missed,
}
