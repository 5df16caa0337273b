//! What a member starts from, what it tells an operator, and what it ends with.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::own_rows::MemberRows;
use crate::engine::{PublicSession, PublicViews};
use crate::linalg::Block;
use crate::node::deployed::Written;
use crate::node::store::{Offer, Policy, ScopeName, Square, StateDir};
use crate::protocol::regroup::{Attempt, Heir, Tolerance, View};
use crate::session::{Assembled, Invitation};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// Everything a member starts from. `rows` are its secret.
pub struct MemberSetup {
    /// Its files, for this process alone.
    pub state: StateDir,
    /// What it never does.
    pub policy: Policy,
    /// The session file.
    pub invitation: Invitation,
    /// Where to listen, as multiaddresses.
    pub listen: Vec<String>,
    /// Whose data the rows are: a scope of the policy.
    pub scope: ScopeName,
    /// Its rows.
    pub rows: MemberRows,
    /// From the session file to a plan.
    pub planner: Arc<dyn Planner>,
    /// How long until the list of members is drawn up.
    pub closes_in: Duration,
}

/// Plans sessions. Nothing of it depends on anybody's rows.
pub trait Planner: Send + Sync {
    /// What the session may cost this member at most, if all who are invited take part.
    ///
    /// # Errors
    /// In words, what to change.
    fn offer(&self) -> Result<Offer, String>;

    /// The plan of those who joined.
    ///
    /// # Errors
    /// In words, what to change.
    fn plan(&self, assembled: &Assembled) -> Result<Planned, String>;

    /// What is taken for a result of the session, for a member that has no plan of it.
    ///
    /// # Errors
    /// In words, what to change.
    fn result(&self) -> Result<ResultRule, String>;
}

/// What members take for the result of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultRule {
    /// Whether averaging leaves all members the same bits.
    pub ends_equal: bool,
    /// How many members may collude: more than these must have signed it.
    pub colluders: usize,
    /// Rows and columns.
    pub shape: (usize, usize),
}

impl ResultRule {
    /// That of a session.
    #[must_use]
    pub fn of(session: &PublicSession, colluders: usize) -> Self {
        Self {
            ends_equal: session.schedule().ends_equal(),
            colluders,
            shape: (session.start().rows(), session.start().columns()),
        }
    }
}

/// The files that a result is kept in, by name and contents, or in words why there are none.
pub type ResultFiles = Result<Vec<(String, Vec<u8>)>, String>;

/// A session as all members plan it.
pub struct Planned {
    /// Plan, graphs, averaging and starting block.
    pub session: PublicSession,
    /// What it costs.
    pub offer: Offer,
    /// μ² of every release, in order.
    pub charges: Vec<Square>,
    /// How a result is kept.
    pub keep: Box<dyn Fn(&MemberResult) -> ResultFiles + Send + Sync>,
    /// What the session tolerates; `None` where the loss of a member ends it.
    pub tolerant: Option<Tolerant>,
}

/// What a session tolerates, and what it is among those who are left.
#[derive(Clone)]
pub struct Tolerant {
    /// How many must be left, and what else it takes to go on.
    pub tolerance: Arc<Tolerance>,
    /// The session in every view.
    pub views: Arc<PublicViews>,
}

/// Which attempt a sum is of, and who averaged it last.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The attempt.
    pub attempt: Attempt,
    /// The view that it was averaged in.
    pub view: Arc<View>,
    /// Who brought in the contributions of those who were lost in between.
    pub heirs: Vec<Heir>,
}

/// What an operator is told. Nothing of it depends on private rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// This member listens.
    Listening {
        /// Where.
        addresses: Vec<String>,
    },
    /// So many have joined.
    Joining {
        /// By name, who has not.
        missing: Vec<String>,
    },
    /// Members are alike in everything.
    Agreed {
        /// Names, in the order of peers.
        members: Vec<String>,
        /// Which of them this is.
        own: usize,
        /// The first bytes of the plan's hash.
        plan: String,
    },
    /// A member's connection is broken, or back.
    Link {
        /// Who.
        member: String,
        /// Whether it is there.
        up: bool,
    },
    /// The link to a member is cut: nothing goes over it any more.
    GaveUp {
        /// Who.
        member: String,
    },
    /// Members have agreed on what has gone wrong, and go on.
    WentOn {
        /// How many take part.
        members: usize,
        /// By name, who does not any more.
        without: Vec<String>,
        /// With which release; with none if all is done.
        release: Option<ReleaseId>,
        /// Whether what everybody holds is averaged again, with whoever contributed; otherwise it is tried anew by those who are left.
        is_again: bool,
    },
    /// A release is charged, and about to leave.
    Charged {
        /// Which.
        release: ReleaseId,
        /// Of how many.
        of: usize,
    },
    /// A release is averaged.
    Released {
        /// Which.
        release: ReleaseId,
        /// Of how many.
        of: usize,
        /// Since the last one.
        seconds: f64,
    },
    /// The others have gone on without this member, and one of them has handed it the result.
    Fetched {
        /// By name, who.
        from: String,
        /// How many have signed that it is theirs.
        signed: usize,
        /// The file in the session's folder.
        file: String,
    },
    /// The others may have a result that this member lacks; it asks them.
    Asking {
        /// For how long at most.
        seconds: u64,
    },
    /// This member has the result, and its disk refuses it; it is written as soon as that takes it, while the others wait.
    Unkept {
        /// Why.
        why: String,
    },
    /// This member has the result and waits for the others.
    Waiting {
        /// By name, who has not said that it is done.
        missing: Vec<String>,
    },
}

/// An attempt that this member began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Who takes part, ascending.
    pub members: Vec<PeerIndex>,
    /// Whether this member's contribution has left.
    pub has_left: bool,
}

/// The attempts that this member began: all that it needs to account for what happened.
pub type Attempts = BTreeMap<Attempt, Begun>;

/// A release as a receipt states it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Released {
    /// Which.
    pub release: ReleaseId,
    /// What was agreed on.
    pub statistic: f64,
    /// Δ.
    pub sensitivity: f64,
}

/// What a session gave.
#[derive(Clone, Debug)]
pub struct MemberResult {
    /// Names, in the order of peers.
    pub members: Vec<String>,
    /// This member.
    pub index: PeerIndex,
    /// The estimate of the leading eigenvectors, n × p.
    pub basis: Arc<Block>,
    /// Every release.
    pub releases: Vec<Released>,
    /// What was sent.
    pub written: Written,
    /// Who took part in which attempts, as far as this member began them; nothing of a session that tolerates no losses.
    pub attempts: Attempts,
    /// Which attempt each sum is of that this member has formed since it last started.
    pub taken: BTreeMap<ReleaseId, Taken>,
    /// The views that it has gone on in since then, in order.
    pub views: Vec<Arc<View>>,
}
