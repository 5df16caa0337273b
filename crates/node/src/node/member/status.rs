//! What a running member answers to `node status`: how far it is, whom it waits for, and what it has charged.
//!
//! Everything here is known to every member of the session, or is this member's own ledger. Nothing is a function of anybody's rows.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;

use super::setup::{Planned, Progress};
use crate::node::store::{Digest, Ledger};
use crate::privacy::Adjacency;
use crate::session::{Invitation, PublicId};

/// How far a session has come at this member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Stage {
    /// It has not said its Join yet.
    Starting,
    /// Members join, and agree on list, beacon and plan.
    Agreeing,
    /// The peer runs.
    Running,
    /// The result is here; others may still need this member.
    Done,
}

/// What is told, as JSON has it.
#[derive(Clone, Debug, Serialize)]
struct Told {
    session: Digest,
    name: String,
    stage: Stage,
    /// What it does within the stage.
    step: String,
    /// Who has not done that step yet, by name.
    missing: BTreeSet<String>,
    /// Who is not connected, by name.
    disconnected: BTreeSet<String>,
    /// Who does not take part any more, by name: the others have gone on without.
    without: BTreeSet<String>,
    /// How many take part: invited, then on the list, then those who are left.
    members: usize,
    /// The last release that was averaged, of how many, and the iteration it belongs to.
    release: u32,
    releases: usize,
    iteration: u32,
    /// Releases that were charged, and their μ².
    charged: usize,
    mu_squared: f64,
    /// μ² set aside for the whole session.
    reserved: f64,
    seconds: f64,
}

/// What a session promises, as this member's own planner found it.
#[derive(Clone, Debug, Serialize)]
struct Promised {
    epsilon: f64,
    delta: f64,
    /// Against how many curious members.
    colluders: usize,
    adjacency: Adjacency,
}

/// Who takes part and who exchanges values with whom: what changes at most once in a session.
#[derive(Clone, Debug, Serialize)]
struct Listed {
    session: Digest,
    name: String,
    /// This member.
    own: String,
    /// Names: of the invited, then of those on the list, in the order of peers.
    members: Vec<String>,
    /// Whom this member reaches through others, by name.
    far: BTreeSet<String>,
    /// Pairs of places in `members`; none before all have agreed.
    links: Vec<(u32, u32)>,
    /// Absent until the session is planned.
    promise: Option<Promised>,
    /// The links of the plan, until it is known that all have agreed to it.
    #[serde(skip)]
    planned: Vec<(u32, u32)>,
}

/// What a running member says of itself, shared with whoever answers for it.
#[derive(Clone, Debug)]
pub(super) struct Status {
    told: Arc<Mutex<Told>>,
    listed: Arc<Mutex<Listed>>,
    ledger: Arc<Mutex<Ledger>>,
    began: Instant,
}

impl Status {
    /// Before anything has happened.
    pub(super) fn new(
        invitation: &Invitation,
        own: &str,
        is_wanted: impl Fn(&PublicId) -> bool,
        reserved: f64,
        ledger: Arc<Mutex<Ledger>>,
    ) -> Self {
        let others = invitation.members.iter().filter(|other| other.name != own);
        let (near, far): (Vec<_>, Vec<_>) = others.partition(|other| is_wanted(&other.id));
        let listed = Listed {
            session: Digest(invitation.hash().0),
            name: invitation.session.name.clone(),
            own: own.to_owned(),
            members: invitation.members.iter().map(|m| m.name.clone()).collect(),
            far: far.iter().map(|member| member.name.clone()).collect(),
            links: Vec::new(),
            promise: None,
            planned: Vec::new(),
        };
        let told = Told {
            session: Digest(invitation.hash().0),
            name: invitation.session.name.clone(),
            stage: Stage::Starting,
            step: "start".to_owned(),
            missing: BTreeSet::new(),
            disconnected: near.iter().map(|member| member.name.clone()).collect(),
            without: BTreeSet::new(),
            members: invitation.members.len(),
            release: 0,
            releases: 0,
            iteration: 0,
            charged: 0,
            mu_squared: 0.0,
            reserved,
            seconds: 0.0,
        };
        Self {
            told: Arc::new(Mutex::new(told)),
            listed: Arc::new(Mutex::new(listed)),
            ledger,
            began: Instant::now(),
        }
    }

    fn change(&self, change: impl FnOnce(&mut Told)) {
        change(&mut self.told.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn list(&self, change: impl FnOnce(&mut Listed)) {
        change(&mut self.listed.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The session is planned: who will exchange values with whom, and what it promises.
    pub(super) fn planned(&self, planned: &Planned) {
        let offer = &planned.offer;
        self.list(|listed| {
            listed.planned = planned.session.graph().edge_list().collect();
            listed.promise = Some(Promised {
                epsilon: offer.epsilon,
                delta: offer.delta,
                colluders: offer.colluders,
                adjacency: offer.adjacency,
            });
        });
    }

    /// Members are at this step of their agreement, which these have not done.
    pub(super) fn agreeing(&self, step: &str, missing: Vec<String>) {
        self.change(|told| {
            told.stage = Stage::Agreeing;
            told.step = step.to_owned();
            told.missing = missing.into_iter().collect();
        });
    }

    /// A release of this iteration was averaged.
    pub(super) fn iteration(&self, iteration: u32) {
        self.change(|told| told.iteration = iteration);
    }

    /// What an operator is told as well.
    pub(super) fn note(&self, progress: &Progress) {
        if let Progress::Agreed { members, .. } = progress {
            self.list(|listed| {
                listed.members.clone_from(members);
                listed.links = std::mem::take(&mut listed.planned);
            });
        }
        self.change(|told| match progress {
            Progress::Listening { .. } | Progress::Joining { .. } | Progress::Fetched { .. } => {}
            Progress::Agreed { members, .. } => {
                told.stage = Stage::Running;
                told.step = "contribute to release 1".to_owned();
                told.members = members.len();
                told.disconnected.retain(|name| members.contains(name));
                // Whose message is due is the peer's own business; who cannot send one is known.
                told.missing.clear();
            }
            Progress::Link { member, up: true } => {
                told.disconnected.remove(member);
            }
            Progress::Link { member, up: false } => {
                told.disconnected.insert(member.clone());
            }
            Progress::GaveUp { member } => {
                told.disconnected.insert(member.clone());
            }
            Progress::WentOn {
                members,
                without,
                release,
                is_again,
            } => {
                told.members = *members;
                told.without = without.iter().cloned().collect();
                if let Some(release) = release {
                    told.step = match is_again {
                        true => format!("average {release} again"),
                        false => format!("contribute to {release}"),
                    };
                }
            }
            Progress::Charged { release, of } => {
                told.releases = *of;
                told.step = format!("average {release}");
            }
            Progress::Released { release, of, .. } => {
                told.release = release.0;
                told.releases = *of;
                told.step = match *of == release.index() + 1 {
                    true => "keep the result".to_owned(),
                    false => format!("contribute to {}", release.next()),
                };
            }
            Progress::Asking { .. } => told.step = "ask the others for the result".to_owned(),
            Progress::Unkept { .. } => {
                told.stage = Stage::Done;
                told.step = "write the result, which the disk refuses".to_owned();
            }
            Progress::Waiting { missing } => {
                told.stage = Stage::Done;
                told.step = "wait until everybody has the result".to_owned();
                told.missing = missing.iter().cloned().collect();
            }
        });
    }

    /// Who takes part, as asked for by a page that draws it.
    pub(super) fn members(&self) -> Value {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        serde_json::to_value(&*listed).unwrap_or(Value::Null)
    }

    /// The answer, with charges as the ledger has them now.
    pub(super) fn answer(&self) -> Value {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(account) = ledger.view().session(told.session.0) {
            told.charged = account.charged.len();
            told.mu_squared = account.charged().get();
        }
        told.seconds = self.began.elapsed().as_secs_f64();
        serde_json::to_value(&*told).unwrap_or(Value::Null)
    }
}
