//! What members tell one another when something goes wrong, and what they must have on disk first.

use super::attempt::{Attempt, ViewNumber};
use super::certificate::Certificate;
use super::history::History;
use super::sets::{CutLinks, LinkIndex};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// The most restarts of one peer in a session.
pub const MOST_RESTARTS: u8 = 3;

/// What has gone wrong so far: links that are cut, and how often every peer has restarted. Both only grow, and two members that
/// know different things agree on the union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disruptions {
    pub(super) cuts: CutLinks,
    pub(super) restarts: Vec<u8>,
}

impl Disruptions {
    /// Nothing, among this many peers and links.
    #[must_use]
    pub fn none(peers: usize, links: usize) -> Self {
        Self {
            cuts: CutLinks::none(links),
            restarts: vec![0; peers],
        }
    }

    /// Links that are cut.
    #[must_use]
    pub fn cuts(&self) -> &CutLinks {
        &self.cuts
    }

    /// How often each peer has restarted.
    #[must_use]
    pub fn restarts(&self) -> &[u8] {
        &self.restarts
    }

    /// Whether all of this is known to the other.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        let mut restarts = self.restarts.iter().zip(&other.restarts);
        self.cuts.is_subset(&other.cuts) && restarts.all(|(mine, theirs)| mine <= theirs)
    }

    /// The number of the view that is decided with it. It grows along every chain of disruptions.
    #[must_use]
    pub fn number(&self) -> ViewNumber {
        let restarts: u32 = self.restarts.iter().map(|count| u32::from(*count)).sum();
        ViewNumber(self.cuts.len() as u64 * VIEWS_PER_CUT + u64::from(restarts))
    }

    /// How many things have gone wrong: cuts and restarts. It grows along every chain of disruptions.
    pub(super) fn count(&self) -> u64 {
        let restarts: u64 = self.restarts.iter().map(|count| u64::from(*count)).sum();
        self.cuts.len() as u64 + restarts
    }

    /// Words of cuts and bytes of restarts in [`Self::append_to`].
    pub(super) fn lengths(&self) -> [u32; 2] {
        [self.cuts.words().len() as u32, self.restarts.len() as u32]
    }

    /// As bytes; among disruptions of one session no two have the same.
    pub(super) fn append_to(&self, out: &mut Vec<u8>) {
        for word in self.cuts.words() {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&self.restarts);
    }
}

/// More than the restarts that a session has at most.
const VIEWS_PER_CUT: u64 = 1 << 20;

/// A statement: where its origin stands, and what it knows to have gone wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What has gone wrong.
    pub disruptions: Disruptions,
    /// The last release whose sum this member has, of the view that it stands in: one that is averaged again is not there until it is done anew.
    pub done: ReleaseId,
    /// Attempts that this member holds a certificate for, ascending: those of the last two releases.
    pub certified: Vec<Attempt>,
    /// The attempt at the release after `done` in which this member's contribution has left, if any.
    pub sent: Option<Attempt>,
    /// How many releases were repeated because a contribution was lost.
    pub retries: u32,
}

/// What is flooded. Its origin signs it; whoever forwards it changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// An end of a link has given it up.
    Cut {
        /// Which.
        link: LinkIndex,
        /// The end.
        origin: PeerIndex,
    },
    /// A peer has started again, with its disk.
    Restart {
        /// Which.
        origin: PeerIndex,
        /// For the how manieth time.
        count: u8,
    },
    /// Where a member stands.
    Statement {
        /// Which.
        origin: PeerIndex,
        /// Later ones have larger numbers.
        serial: u64,
        /// What it says.
        statement: Statement,
    },
    /// A member durably holds what all its neighbours sealed in an attempt. Those of all who take part are the attempt's certificate.
    Held {
        /// Which.
        origin: PeerIndex,
        /// Of which attempt.
        attempt: Attempt,
    },
    /// Everybody who was left has the sum of the last release.
    Finished {
        /// Who says so.
        origin: PeerIndex,
    },
}

impl Record {
    /// Who signed it.
    #[must_use]
    pub fn origin(&self) -> PeerIndex {
        match self {
            Self::Cut { origin, .. }
            | Self::Restart { origin, .. }
            | Self::Statement { origin, .. }
            | Self::Held { origin, .. }
            | Self::Finished { origin } => *origin,
        }
    }
}

/// What members do once they have decided a view, as far as whoever starts again must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onward {
    /// A release is tried with fresh noise.
    Anew(ReleaseId),
    /// What was certified at a release is averaged again: no sum of it that a member has had counts any more.
    Again(ReleaseId),
}

impl Onward {
    /// The last release whose sum still counts with whoever had the sums up to this one. In another view a sum is another: added up in another order,
    /// its last bits differ, and all who go on must have the same ones. So whoever had it waits for it like everybody else, and says that it has it once
    /// it has it anew.
    pub(super) fn keeps(self, done: ReleaseId) -> ReleaseId {
        let (Self::Anew(release) | Self::Again(release)) = self;
        done.min(ReleaseId(release.0.saturating_sub(1)))
    }
}

/// What must be on disk before anything leaves that was put out after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Durable {
    /// A statement with this number was made.
    Stated {
        /// Its number.
        serial: u64,
        /// What it says.
        statement: Statement,
    },
    /// A view was decided.
    Decided {
        /// With what it was decided.
        disruptions: Disruptions,
        /// Digest of everything that was released before it ([`View::history`](super::View::history)).
        history: History,
        /// What is done next; nothing if the session ends with it.
        onward: Option<Onward>,
        /// How many tries have been charged anew in the session by now.
        retries: u32,
    },
    /// This member has said that it holds what its neighbours sealed.
    Held(Attempt),
    /// This member's contribution may leave.
    Sent(Attempt),
    /// This member holds an attempt's certificate: this one.
    Certified(Certificate),
    /// The sum of this release is here.
    Done(ReleaseId),
}

impl Durable {
    /// The last release whose sum is here and counts, once this is on a disk that said `done` before.
    #[must_use]
    pub fn done(&self, done: ReleaseId) -> ReleaseId {
        match self {
            Self::Done(release) => *release,
            Self::Decided { onward, .. } => onward.map_or(done, |onward| onward.keeps(done)),
            _ => done,
        }
    }
}
