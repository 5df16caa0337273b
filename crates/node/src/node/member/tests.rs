//! Members as processes of their own, built with a way to hand them their noise: this binary, which starts itself again.
//!
//! The shipped build has no such way: a [`Defect`] has no values there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::defect::Defect;
use super::setup::{Planned, Planner, ResultRule};
use super::{
    Joining, MemberEnd, MemberError, MemberResult, MemberRows, MemberSetup, Outset, Progress, join,
};
use crate::engine::testing::{assert_same_bits, session_of};
use crate::engine::{Communication, Outcome, Session, SessionViews, Silent, lockstep};
use crate::linalg::{Block, SparseRows};
use crate::node::simulation::{self, Hosts};
use crate::node::store::{self, Offer, Publish, Record, Square, StateDir, StateView};
use crate::node::tests::beside_one_another;
use crate::node::{SwarmOptions, Transport, run};
use crate::privacy::{Adjacency, Certificate, SquareSum};
use crate::protocol::averaging::{AveragingKind, PeerBytes, Traffic};
use crate::session::{Assembled, Invitation, Member, SessionTable, Stated, nonce};
use crate::topology::Graph;
use crate::vocabulary::PeerIndex;
use crate::writing::npy;

mod defects;
mod equivocation;
mod extremes;
mod full_disk;
mod hostile;
mod losses;

const ITERATIONS: u32 = 3;
/// μ² of a whole session.
const WHOLE: f64 = 0.2;
const LIMIT: Duration = Duration::from_secs(120);

/// The folder of a session.
const FOLDER: &str = "UNDERTONE_TEST_FOLDER";
/// Which member's state a process works on.
const STATE: &str = "UNDERTONE_TEST_STATE";
/// What is different about a process.
const SCENE: &str = "UNDERTONE_TEST_SCENE";
/// For how many seconds a process waits for all others to join, where that is not [`LIMIT`].
const CLOSES: &str = "UNDERTONE_TEST_CLOSES";

/// What is different about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scene {
    /// Its noise and what it shares with others are those of the session's seed.
    Seeded,
    /// The same, and it takes down a basis that is not what it computed.
    Miscomputing,
    /// The same, and it sends the last of several receivers something else in the last release, or in the first.
    Equivocating,
    EquivocatingEarly,
    /// The same, and it sends numbers that nobody can have computed, or zeros.
    Huge,
    Zero,
    /// Nothing: noise from the operating system, keys from the agreement.
    Deployed,
    /// The plan of those who joined promises less than its own policy asks for.
    Laxer,
    /// The plan of those who joined costs more than was set aside.
    Dearer,
}

impl FromStr for Scene {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let all = [
            Self::Seeded,
            Self::Miscomputing,
            Self::Equivocating,
            Self::EquivocatingEarly,
            Self::Huge,
            Self::Zero,
            Self::Deployed,
            Self::Laxer,
            Self::Dearer,
        ];
        let found = all.into_iter().find(|one| format!("{one:?}") == text);
        found.ok_or(())
    }
}

/// Takes part as a member that has this defect.
fn take_part(
    setup: MemberSetup,
    defect: Defect,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<MemberEnd, MemberError> {
    match Joining::prepare(setup)? {
        Outset::Ended => Ok(MemberEnd::Before),
        Outset::Joining(mut joining) => {
            joining.defect = Some(defect);
            join(*joining, progress)
        }
    }
}

/// A session of so many peers, each a neighbour of those within so many steps on a ring: everybody's rows, and a seed for everybody's noise.
fn session_on(peers: u32, steps: u32, iterations: u32, kind: AveragingKind) -> Session {
    let mut edges = BTreeSet::new();
    for u in 0..peers {
        for step in 1..=steps {
            let v = (u + step) % peers;
            if u != v {
                edges.insert((u.min(v), u.max(v)));
            }
        }
    }
    let edges: Vec<_> = edges.into_iter().collect();
    let graph = Graph::from_edges(peers as usize, &edges).expect("simple");
    let rows = |u: u32| {
        let mut rows = SparseRows::new(120);
        for row in 0..4 {
            let items = (0..12).map(|i| ((u * 131 + row * 37) % 10 + i * 10, 0.25));
            rows.push_row(items).expect("ascending");
        }
        rows
    };
    let rows = (0..peers).map(rows).collect();
    session_of(&graph, rows, 2, (iterations, 5), kind, 9)
}

fn session(peers: u32, kind: AveragingKind) -> Session {
    session_on(peers, 2, ITERATIONS, kind)
}

/// Plans the same session whatever was agreed on.
struct Fixed(Session, Scene);

impl Planner for Fixed {
    fn offer(&self) -> Result<Offer, String> {
        Ok(Offer {
            members: self.0.peers(),
            colluders: 1,
            epsilon: 1.5,
            delta: 1e-6,
            adjacency: Adjacency::User,
            certificate: Certificate::Exact,
            retries: 0,
            publish: Publish::Open,
            scope: "default".parse().expect("a scope"),
            mu_squared: SquareSum::new(WHOLE).expect("a square"),
            plain: true,
            max_frame: self.0.public().longest_message() as u64,
        })
    }

    fn plan(&self, _: &Assembled) -> Result<Planned, String> {
        let mut offer = self.offer()?;
        let mut whole = WHOLE;
        match self.1 {
            Scene::Laxer => offer.epsilon = 2.5,
            Scene::Dearer => whole *= 1.001,
            _ => {}
        }
        let part = Square::new(whole / f64::from(ITERATIONS)).expect("a square");
        Ok(Planned {
            session: self.0.public().clone(),
            offer,
            charges: vec![part; ITERATIONS as usize],
            keep: Box::new(|result| {
                let receipt = ("receipt.json".to_owned(), b"{}".to_vec());
                Ok(vec![receipt, ("basis.npy".to_owned(), npy(&result.basis))])
            }),
            tolerant: None,
        })
    }

    fn result(&self) -> Result<ResultRule, String> {
        Ok(ResultRule::of(self.0.public(), 1))
    }
}

/// Bits of the basis, then messages and bytes.
fn told(result: &MemberResult) -> String {
    let bits = result.basis.values().iter().map(|x| x.to_bits());
    let PeerBytes {
        agreement,
        sums,
        coordinates,
    } = result.written.bytes;
    let written = [result.written.messages, agreement, sums, coordinates];
    let words: Vec<String> = bits.chain(written).map(|word| word.to_string()).collect();
    words.join(" ")
}

/// One member, in a process of its own.
#[test]
#[ignore = "started by other tests, with a folder to work in"]
fn one_member() {
    let variable = |name| std::env::var(name).ok();
    let (Some(folder), Some(state), Some(scene)) =
        (variable(FOLDER), variable(STATE), variable(SCENE))
    else {
        return;
    };
    let scene: Scene = scene.parse().expect("a scene");
    defects::begin();
    let folder = PathBuf::from(folder);
    let file = fs::read(folder.join("session.toml")).expect("there");
    let invitation = Invitation::read(&file).expect("a session");
    let kind = invitation.plan["averaging"].as_str().expect("a scheme");
    let kind = match kind {
        "tree" => AveragingKind::Tree,
        "linear" => AveragingKind::Linear,
        other => panic!("{other}"),
    };
    let session = session(invitation.members.len() as u32, kind);
    let seeded = SessionViews::new(session.clone(), kind.into());
    let defect = defects::of_process(scene, seeded);
    let state = StateDir::open(&folder.join(state)).expect("a peer");
    let own = state.identity().expect("a key").id();
    let members = invitation.members.iter();
    let index = members.clone().position(|member| member.id == own);
    let index = index.expect("invited");
    let listen = invitation.members[index].addresses.clone();
    let end = folder.join(format!("{}.end", invitation.members[index].name));
    let setup = MemberSetup {
        policy: state.view().policy().expect("a policy"),
        state,
        listen,
        scope: "default".parse().expect("a scope"),
        rows: MemberRows::made(session.peer_setup(PeerIndex::from_index(index), None).rows),
        planner: Arc::new(Fixed(session, scene)),
        closes_in: variable(CLOSES).map_or(LIMIT, |seconds| {
            Duration::from_secs(seconds.parse().expect("a number"))
        }),
        invitation,
    };
    let text = match take_part(setup, defect, &mut |_| ()) {
        Ok(MemberEnd::Done(result)) => format!("0 {}", told(&result)),
        Ok(MemberEnd::Before) => "before".to_owned(),
        Err(error) => format!("{} {error}", error.exit_code()),
    };
    let writes = store::Defect::writes().to_string();
    fs::write(end.with_extension("writes"), writes).expect("written");
    fs::write(end, text).expect("written");
}

/// A folder in memory, where there is such a place: dozens of members at once would wait for the disk, and not for one another.
fn folder() -> tempfile::TempDir {
    let made = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    made.expect("a folder")
}

/// Members who are invited to a session, each with a state directory and a port.
struct Group {
    folder: tempfile::TempDir,
    /// Names of state directories, in the order of keys.
    states: Vec<String>,
}

/// Ports in a row that nobody listens at, below those that systems take for outgoing connections.
fn free_ports(count: u16) -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(u32::from(count), Ordering::Relaxed);
        let number = std::process::id().wrapping_mul(53).wrapping_add(number);
        let first = 30_000 + (number % 2_600) as u16;
        let is_free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if (first..first + count).all(is_free) {
            return first;
        }
    }
}

impl Group {
    fn new(members: u16, kind: &str) -> Self {
        let plan = toml::Table::from_iter([("averaging".to_owned(), kind.into())]);
        Self::planned(members, plan, (20, 60))
    }

    /// Members who are invited to this plan, may be away for so many seconds, and may take so many for a step.
    fn planned(
        members: u16,
        plan: toml::Table,
        (grace_seconds, step_limit_seconds): (u64, u64),
    ) -> Self {
        let folder = folder();
        let port = free_ports(members);
        let mut states = BTreeMap::new();
        let mut invited = Vec::new();
        for number in 0..members {
            let name = format!("member-{number}");
            let path = folder.path().join(&name);
            let state = StateDir::init(&path, &name.parse().expect("a name")).expect("made");
            let id = state.identity().expect("a key").id();
            let address = format!("/ip4/127.0.0.1/tcp/{}", port + number);
            invited.push(Member {
                id,
                name: name.clone(),
                addresses: vec![address],
                reachable: true,
                rows: 1,
            });
            states.insert(id, name);
        }
        let table = SessionTable {
            version: 2,
            name: "test".to_owned(),
            nonce: nonce().expect("random"),
            convener: invited[0].id,
            opens: "2026-12-01T08:00:00Z".parse().expect("a time"),
            closes: "2026-12-01T09:00:00Z".parse().expect("a time"),
            min_peers: usize::from(members),
            grace_seconds,
            step_limit_seconds,
            // Whoever is lost may come back for the result, and is waited for.
            linger_seconds: if grace_seconds < 20 { 3 } else { 20 },
        };
        let stated = Stated {
            sigma_own: 0.02,
            sigma_pairwise: 3.0,
        };
        let columns = (0..120).map(|column| column.to_string()).collect();
        let text = Invitation::write(table, invited, columns, stated, plan).expect("a session");
        fs::write(folder.path().join("session.toml"), text).expect("written");
        Self {
            folder,
            states: states.into_values().collect(),
        }
    }

    fn start(&self, state: &str, scene: Scene) -> Child {
        self.start_with_room(state, scene, "")
    }

    /// Starts a member whose disk takes so many writes ([`ROOM`](defects::ROOM)).
    fn start_with_room(&self, state: &str, scene: Scene, room: &str) -> Child {
        self.start_with(state, scene, &[(defects::ROOM, room)])
    }

    /// Starts a member whose process has these variables, too.
    fn start_with(&self, state: &str, scene: Scene, more: &[(&str, &str)]) -> Child {
        let log = File::create(self.folder.path().join(format!("{state}.log"))).expect("a file");
        Command::new(std::env::current_exe().expect("this binary"))
            .args(["--exact", "node::member::tests::one_member"])
            .args(["--ignored", "--nocapture"])
            .env(FOLDER, self.folder.path())
            .env(STATE, state)
            .env(SCENE, format!("{scene:?}"))
            .envs(more.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("this binary")
    }

    /// What this member said at its end.
    fn end(&self, state: &str) -> String {
        let read = |more: &str| fs::read_to_string(self.path().join(format!("{state}.{more}")));
        let end = read("end");
        end.unwrap_or_else(|_| panic!("{state}: {}", read("log").unwrap_or_default()))
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs everybody to the end; what each says, in the order of peers.
    fn run(&self, scene: impl Fn(usize) -> Scene) -> Vec<String> {
        let states = self.states.iter().enumerate();
        let mut running: Vec<_> = states
            .map(|(peer, state)| self.start(state, scene(peer)))
            .collect();
        let until = Instant::now() + LIMIT;
        while !running
            .iter_mut()
            .all(|child| child.try_wait().expect("a child").is_some())
        {
            if Instant::now() > until {
                running.iter_mut().for_each(|child| drop(child.kill()));
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        for mut child in running {
            child.wait().expect("a child");
        }
        self.states.iter().map(|state| self.end(state)).collect()
    }
}

/// The bits and counts in what a member says at its end.
fn words(end: &str) -> (Vec<u64>, [u64; 4]) {
    let rest = end.strip_prefix("0 ");
    let rest = rest.unwrap_or_else(|| panic!("{end}"));
    let words: Vec<u64> = rest
        .split(' ')
        .map(|x| x.parse().expect("a word"))
        .collect();
    let (bits, written) = words.split_last_chunk::<4>().expect("counts");
    (bits.to_vec(), *written)
}

/// Communication of all, as every engine counts it.
fn communication(session: &Session, written: &[[u64; 4]]) -> Communication {
    let rounds = session
        .public()
        .communication(ITERATIONS as usize, false)
        .rounds;
    let messages = written.iter().map(|[messages, ..]| messages).sum();
    let bytes: Vec<_> = written
        .iter()
        .map(|&[_, agreement, sums, coordinates]| PeerBytes {
            agreement,
            sums,
            coordinates,
        })
        .collect();
    let all = Traffic::counted(rounds.iter().sum(), messages, &bytes);
    Communication::of(all, rounds)
}

/// The outcome in one process: the engines `lockstep` and `swarm`, and a simulation on two hosts, which agree.
fn in_one_process(session: &Session) -> Outcome {
    let options = SwarmOptions {
        transport: Transport::Memory,
        stall_timeout: LIMIT,
    };
    let lockstep = lockstep::run(session, &mut Silent).expect("runs");
    let swarm = run(session, &options, &mut Silent).expect("runs");
    assert_same_bits(&lockstep, &swarm);
    let peers = session.peers() as u16;
    let (half, port) = (peers / 2, free_ports(peers + 2));
    let host = |name, port, first, end| {
        format!(
            "[[host]]\nname = \"{name}\"\naddress = \"127.0.0.1\"\nbase_port = {port}\npeers = \"{first}..{end}\"\n"
        )
    };
    let text = host("one", port, 0, half) + &host("two", port + half + 1, half, peers);
    let hosts = Hosts::parse(&text).expect("hosts");
    let simulated = std::thread::scope(|threads| {
        threads.spawn(|| {
            simulation::follow(session, &hosts, 1, &options, &mut |_| (), &mut Silent)
                .expect("follows");
        });
        simulation::lead(session, &hosts, &options, &mut |_| (), &mut Silent).expect("leads")
    });
    assert_same_bits(&lockstep, &simulated);
    lockstep
}

/// As many processes as there are peers, each with its share of the session's noise, against one process.
fn equal_bits(members: u16, kind: AveragingKind, name: &str) {
    let session = session(u32::from(members), kind);
    let expected = in_one_process(&session);
    let group = Group::new(members, name);
    let ends = group.run(|_| Scene::Seeded);
    let (bases, written): (Vec<_>, Vec<_>) = ends.iter().map(|end| words(end)).unzip();
    let last = expected.records.last().expect("releases");
    let bits: Vec<u64> = last.basis.values().iter().map(|x| x.to_bits()).collect();
    assert_eq!(bases[0], bits);
    // Averaging that is not exact leaves everybody a basis of its own.
    let are_equal = bases.iter().all(|basis| *basis == bits);
    assert_eq!(are_equal, kind.is_exact());
    assert_eq!(communication(&session, &written), expected.communication);
    for state in &group.states {
        let view = StateView::open(&group.path().join(state)).expect("a peer");
        let ledger = view.ledger().expect("it verifies");
        let (_, account) = ledger.sessions().next().expect("a session");
        assert_eq!(account.charged.len(), ITERATIONS as usize);
    }
}

#[test]
fn eight_processes_with_the_seeds_noise_have_the_bits_of_one_process() {
    let plays = [
        (AveragingKind::Tree, "tree"),
        (AveragingKind::Linear, "linear"),
    ];
    beside_one_another(plays, |(kind, name)| equal_bits(8, kind, name));
}

#[test]
#[ignore = "24 processes, 20 s: cargo test --lib member::tests::twenty_four -- --ignored"]
fn twenty_four_processes_with_the_seeds_noise_have_the_bits_of_one_process() {
    equal_bits(24, AveragingKind::Tree, "tree");
}

#[test]
fn without_injected_noise_members_agree_with_one_another_and_with_no_seed() {
    let session = session(5, AveragingKind::Tree);
    let expected = lockstep::run(&session, &mut Silent).expect("runs");
    let group = Group::new(5, "tree");
    let ends = group.run(|_| Scene::Deployed);
    let bases: Vec<_> = ends.iter().map(|end| words(end).0).collect();
    let last = expected.records.last().expect("releases");
    let bits: Vec<u64> = last.basis.values().iter().map(|x| x.to_bits()).collect();
    assert!(bases.iter().all(|basis| *basis == bases[0]));
    assert_ne!(bases[0], bits);
}

#[test]
fn a_member_with_another_result_is_found_out_by_all() {
    let group = Group::new(5, "tree");
    let scene = |peer| match peer {
        3 => Scene::Miscomputing,
        _ => Scene::Seeded,
    };
    let ends = group.run(scene);
    for (peer, end) in ends.iter().enumerate() {
        assert!(end.starts_with("1 "), "{peer}: {end}");
        assert!(end.contains("has signed another result"), "{peer}: {end}");
        // Who miscomputes sees that others have something else, and the others see whom.
        let named = end.starts_with(&format!("1 {} (", group.states[3]));
        assert_eq!(named, peer != 3, "{peer}: {end}");
    }
    // Both statements are kept, and a second attempt says the same.
    let session = fs::read(group.path().join("session.toml")).expect("there");
    let invitation = Invitation::read(&session).expect("a session");
    for (peer, state) in group.states.iter().enumerate() {
        let view = StateView::open(&group.path().join(state)).expect("a peer");
        let files = view.sessions().expect("listed").remove(0);
        let signers = ["evidence-first.bin", "evidence-second.bin"].map(|name| {
            let bytes = fs::read(files.path().join(name)).expect("kept");
            let signed = crate::session::Signed::read(&bytes, invitation.hash(), |_| true);
            signed.expect("signed").from
        });
        let own = invitation.members[peer].id;
        assert_eq!(signers[0], own);
        assert_ne!(signers[1], own);
    }
    let again = group.run(scene);
    assert_eq!(again, ends);
}

/// The policy and the reservation hold for the plan of those who joined, too, and not only for the one of those who were invited.
#[test]
fn a_plan_that_became_laxer_or_dearer_is_refused_and_nothing_is_charged() {
    let plays = [
        (Scene::Laxer, "session.max_epsilon = 2"),
        (Scene::Dearer, "would cost mu^2 = 0.2002"),
    ];
    beside_one_another(plays, |(scene, said)| {
        let group = Group::new(5, "tree");
        let ends = group.run(|_| scene);
        // Whoever hears it from another first has left because of that one.
        assert!(ends.iter().any(|end| end.starts_with("2 ")), "{ends:?}");
        for (end, state) in ends.iter().zip(&group.states) {
            assert!(end.starts_with("2 ") || end.starts_with("1 "), "{end}");
            assert!(end.contains(said), "{end}");
            let view = StateView::open(&group.path().join(state)).expect("a peer");
            let ledger = view.ledger().expect("it verifies");
            let (_, account) = ledger.sessions().next().expect("reserved");
            assert_eq!(account.charged.len(), 0);
        }
        // They may try again, with what they signed: all are alike now.
        let ends = group.run(|_| Scene::Seeded);
        assert!(ends.iter().all(|end| end.starts_with("0 ")), "{ends:?}");
        for state in &group.states {
            let view = StateView::open(&group.path().join(state)).expect("a peer");
            let files = view.sessions().expect("listed").remove(0);
            let records = files.records().expect("a journal");
            let lists = records
                .iter()
                .filter(|one| matches!(one, Record::Listed { .. }));
            assert_eq!(lists.count(), 1, "one list over both tries");
        }
    });
}

#[test]
fn results_of_inexact_averaging_are_not_compared() {
    let group = Group::new(5, "linear");
    let ends = group.run(|_| Scene::Seeded);
    assert!(ends.iter().all(|end| end.starts_with("0 ")), "{ends:?}");
}
