//! Small sessions: who is invited to what, and their plans.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::*;
use crate::engine::{PublicSession, PublicViews};
use crate::node::member::setup::Tolerant;
use crate::node::store::Policy;
use crate::protocol::regroup::{Publication, Tolerance};
use crate::session::Identity;

/// Releases of every session.
pub(super) const RELEASES: u32 = 2;
/// Columns of everybody's rows.
const COLUMNS: usize = 10;
/// Members that it takes to seal contributions.
pub(super) const LEAST_SEALED: usize = 6;
/// Seconds that a lost connection may take to come back.
pub(super) const GRACE: u64 = 4;
/// Seconds that a step may take.
pub(super) const STEP: u64 = 6;
/// Seconds until the list of members is drawn up.
pub(super) const CLOSES: u64 = 20;
/// Seconds that whoever is done waits for the others.
pub(super) const LINGER: u64 = 10;

/// How contributions are averaged, and what becomes of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Along a tree; the loss of a member ends the session.
    Tree,
    /// By gossip; the loss of a member ends the session.
    Gossip,
    /// One member may be lost, contributions are published in plaintext.
    Open,
    /// One member may be lost, contributions are sealed.
    Sealed,
}

impl Kind {
    pub(super) fn tolerates(self) -> bool {
        matches!(self, Self::Open | Self::Sealed)
    }
}

/// A session: how many members, of which kind, and how often a release may be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) members: usize,
    pub(super) kind: Kind,
    pub(super) retries: u32,
}

impl Case {
    pub(super) fn of(members: usize, kind: Kind) -> Self {
        Self {
            members,
            kind,
            retries: 0,
        }
    }

    fn averaging(self) -> AveragingKind {
        match self.kind {
            Kind::Gossip => AveragingKind::Linear,
            _ => AveragingKind::Tree,
        }
    }

    /// The session of so many members, whose starting block follows from this number.
    fn session(self, peers: usize, start: u64) -> Session {
        let steps = if self.kind.tolerates() { 4 } else { 2 };
        let (peers, mut edges) = (peers as u32, BTreeSet::new());
        for u in 0..peers {
            for v in (1..=steps).map(|step| (u + step) % peers) {
                if u != v {
                    edges.insert((u.min(v), u.max(v)));
                }
            }
        }
        let edges: Vec<_> = edges.into_iter().collect();
        let graph = Graph::from_edges(peers as usize, &edges).expect("simple");
        let rows = (0..peers as usize).map(|u| rows(u, 1.0)).collect();
        session_of(&graph, rows, 2, (RELEASES, 3), self.averaging(), start)
    }

    /// The privacy loss μ² of one publication.
    pub(super) fn price(self) -> f64 {
        WHOLE / f64::from(RELEASES + self.retries)
    }

    fn views(self, session: PublicSession) -> PublicViews {
        PublicViews::new(session, self.averaging().into())
    }

    fn tolerance(self, session: &PublicSession) -> Result<Tolerance, String> {
        let links = session.links().expect("a graph");
        Ok(match self.kind {
            Kind::Sealed => Tolerance::sealed(&links, (1, 1), self.retries)
                .map_err(|error| error.to_string())?,
            _ => Tolerance {
                colluders: 1,
                floor: links.peers() - 1,
                needs: vec![1; links.peers()],
                retries: self.retries,
                publication: Publication::Open,
            },
        })
    }

    pub(super) fn name(number: usize) -> String {
        format!("h{number}")
    }

    /// The session file for these members.
    pub(super) fn invitation(self, ids: &[PublicId]) -> Invitation {
        let invited = ids.iter().enumerate().map(|(number, id)| Member {
            id: *id,
            name: Self::name(number),
            addresses: vec!["/ip4/127.0.0.1/tcp/7655".to_owned()],
            reachable: true,
            rows: 3,
        });
        let least = match self.kind {
            Kind::Tree | Kind::Gossip => self.members,
            Kind::Open => self.members - 1,
            Kind::Sealed => LEAST_SEALED.max(self.members - 1),
        };
        let table = SessionTable {
            version: 2,
            name: "test".to_owned(),
            nonce: nonce().expect("random"),
            convener: ids[0],
            opens: "2026-11-01T08:00:00Z".parse().expect("a time"),
            closes: "2226-12-01T09:00:00Z".parse().expect("a time"),
            min_peers: least,
            grace_seconds: GRACE,
            step_limit_seconds: STEP,
            linger_seconds: LINGER,
        };
        let stated = Stated {
            sigma_own: 0.02,
            sigma_pairwise: 3.0,
        };
        let mut plan = toml::Table::from_iter([("averaging".to_owned(), "tree".into())]);
        if self.kind.tolerates() {
            plan.insert("dropouts".to_owned(), toml::Table::new().into());
        }
        let columns = (0..COLUMNS).map(|column| column.to_string()).collect();
        let text = Invitation::write(table, invited.collect(), columns, stated, plan);
        Invitation::read(text.expect("a session").as_bytes()).expect("as written")
    }

    /// What a member starts from that has this state directory.
    pub(super) fn setup(
        self,
        (number, folder): (usize, &Path),
        invitation: &Invitation,
        planner: &Arc<CasePlanner>,
        factor: f64,
    ) -> MemberSetup {
        let text = Policy::default_text().replace("max_retries = 0", "max_retries = 1");
        let local = crate::algorithm::LocalData::from(rows(number, factor));
        MemberSetup {
            state: StateDir::open(folder).expect("a peer"),
            policy: Policy::parse(&text).expect("a policy"),
            invitation: invitation.clone(),
            listen: Vec::new(),
            scope: "default".parse().expect("a scope"),
            rows: MemberRows::made(local),
            planner: Arc::clone(planner) as Arc<dyn Planner>,
            closes_in: Duration::from_secs(CLOSES),
        }
    }
}

/// A member's rows, times this.
fn rows(u: usize, factor: f64) -> SparseRows {
    let mut rows = SparseRows::new(COLUMNS);
    for row in 0..3 {
        let items = (0..5).map(|i| {
            (
                ((u * 13 + row * 7) % 2 + i * 2) as u32,
                (0.25 + 0.02 * i as f64) * factor,
            )
        });
        rows.push_row(items).expect("ascending");
    }
    rows
}

/// Plans a case for those who joined, once for all members.
pub(super) struct CasePlanner {
    case: Case,
    made: Mutex<BTreeMap<[u8; 32], Session>>,
}

impl CasePlanner {
    pub(super) fn new(case: Case) -> Arc<Self> {
        Arc::new(Self {
            case,
            made: Mutex::default(),
        })
    }

    fn session(&self, peers: usize, beacon: &[u8; 32]) -> Session {
        let mut made = self.made.lock().expect("one thread");
        let mut key = *beacon;
        key[31] ^= peers as u8;
        let start = beacon[..8]
            .iter()
            .fold(0, |x, byte| x << 8 | u64::from(*byte));
        let session = made
            .entry(key)
            .or_insert_with(|| self.case.session(peers, start));
        session.clone()
    }
}

impl Planner for CasePlanner {
    fn offer(&self) -> Result<Offer, String> {
        Ok(Offer {
            members: self.case.members,
            colluders: 1,
            epsilon: 1.5,
            delta: 1e-6,
            adjacency: Adjacency::User,
            certificate: Certificate::Exact,
            retries: self.case.retries,
            publish: match self.case.kind {
                Kind::Sealed => Publish::Sealed,
                _ => Publish::Open,
            },
            scope: "default".parse().expect("a scope"),
            mu_squared: SquareSum::new(WHOLE).expect("a square"),
            plain: true,
            max_frame: 4096,
        })
    }

    fn plan(&self, assembled: &Assembled) -> Result<Planned, String> {
        let session = self.session(assembled.roster.len(), &assembled.beacon);
        let session = session.public().clone();
        let mut tolerant = None;
        if self.case.kind.tolerates() {
            tolerant = Some(Tolerant {
                tolerance: Arc::new(self.case.tolerance(&session)?),
                views: Arc::new(self.case.views(session.clone())),
            });
        }
        let price = Square::new(self.case.price()).expect("a square");
        Ok(Planned {
            session,
            offer: self.offer()?,
            charges: vec![price; RELEASES as usize],
            keep: Box::new(|result| Ok(vec![("basis.npy".to_owned(), npy(&result.basis))])),
            tolerant,
        })
    }

    fn result(&self) -> Result<ResultRule, String> {
        let session = self.session(self.case.members, &[0; 32]);
        Ok(ResultRule::of(session.public(), 1))
    }
}

/// State directories of so many members in the order of their keys.
pub(super) fn members(folder: &Path, members: usize) -> Vec<(Arc<Identity>, PathBuf)> {
    let mut all: Vec<_> = (0..members)
        .map(|number| {
            let path = folder.join(format!("state-{number}"));
            let name = Case::name(number).parse().expect("a name");
            let state = StateDir::init(&path, &name).expect("made");
            (Arc::new(state.identity().expect("a key")), path)
        })
        .collect();
    all.sort_by_key(|(identity, _)| identity.id());
    all
}
