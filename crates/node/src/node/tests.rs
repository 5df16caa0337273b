//! The swarm against the other engines.

mod lifetimes;
mod measured;
mod parts;
mod rogue;
mod values;

use std::sync::Mutex;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::network;
use super::{HostError, SwarmOptions, Transport, run};
use crate::engine::testing::{assert_same_bits, graphs, rows, schemes_on, session_of};
use crate::engine::{Observer, ReleaseRecord, Session, Silent, lockstep};
use crate::linalg::SparseRows;
use crate::protocol::FaultKind;
use crate::protocol::averaging::AveragingKind;
use crate::topology::Graph;
use crate::vocabulary::{PeerIndex, ReleaseId};

/// No test may hang, however slow the machine.
const LIMIT: Duration = Duration::from_secs(60);

const TRANSPORTS: [Transport; 2] = [Transport::Memory, Transport::Tcp];

/// Plays that go on at the same time.
const BESIDE: usize = 4;

/// Plays all of these, [`BESIDE`] at the same time: what plays wait for, most of the time, is one another's processes and time-outs.
pub(super) fn beside_one_another<T, I: Iterator<Item = T> + Send>(
    plays: impl IntoIterator<IntoIter = I>,
    play: impl Fn(T) + Sync,
) {
    let next = Mutex::new(plays.into_iter());
    let one_after_another = || {
        loop {
            let one = next.lock().expect("nobody panics with it").next();
            let Some(one) = one else { return };
            play(one);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..BESIDE {
            scope.spawn(one_after_another);
        }
    });
}

fn options(transport: Transport) -> SwarmOptions {
    SwarmOptions {
        transport,
        stall_timeout: LIMIT,
    }
}

/// `peers` peers with `rows_each` rows of a dozen items each.
fn spread_rows(peers: u32, dimension: u32, rows_each: u32) -> Vec<SparseRows> {
    let rows = |u: u32| {
        let mut rows = SparseRows::new(dimension as usize);
        for row in 0..rows_each {
            let first = (u * 131 + row * 37) % (dimension / 12);
            let items = (0..12).map(|i| (first + i * (dimension / 12), 0.25));
            rows.push_row(items).expect("ascending");
        }
        rows
    };
    (0..peers).map(rows).collect()
}

/// Two peers joined by an edge.
fn pair() -> Session {
    let graph = Graph::from_edges(2, &[(0, 1)]).expect("an edge");
    let rows = spread_rows(2, 60, 3);
    session_of(&graph, rows, 2, (2, 5), AveragingKind::Linear, 3)
}

#[derive(Default)]
struct Watching {
    iterations: Vec<ReleaseId>,
    progress: (u64, u64),
}

impl Observer for Watching {
    fn released(&mut self, record: &ReleaseRecord) {
        self.iterations.push(record.release);
    }

    fn progress(&mut self, done: u64, total: u64) {
        assert!(self.progress.0 <= done && done <= total);
        self.progress = (done, total);
    }
}

#[test]
fn the_swarm_agrees_with_lockstep_to_the_bit_over_memory_and_tcp() {
    for graph in graphs() {
        for kind in schemes_on(&graph) {
            let session = session_of(&graph, rows(), 4, (2, 9), kind, 5);
            let lockstep = lockstep::run(&session, &mut Silent).expect("runs");
            for transport in TRANSPORTS {
                let mut observer = Watching::default();
                let swarm = run(&session, &options(transport), &mut observer).expect("runs");
                assert_same_bits(&lockstep, &swarm);
                assert_eq!(observer.iterations, [ReleaseId(1), ReleaseId(2)]);
                let messages = swarm.communication.messages;
                assert_eq!(observer.progress, (messages, messages));
            }
        }
    }
}

/// 132 streams are opened at once; libp2p-stream drops some, and every one must come about.
#[test]
fn simultaneous_opens_on_a_complete_graph_all_come_about() {
    let complete = &graphs()[1];
    let session = session_of(complete, rows(), 2, (1, 2), AveragingKind::Linear, 2);
    for transport in TRANSPORTS {
        for _ in 0..4 {
            let outcome = run(&session, &options(transport), &mut Silent).expect("runs");
            let exchanges = u64::from(session.plan().steps_of_release(ReleaseId(1)));
            assert_eq!(outcome.communication.messages, 132 * exchanges);
        }
    }
}

#[test]
fn frames_of_320_kib_both_ways_at_once_do_not_deadlock() {
    let triangle = Graph::from_edges(3, &[(0, 1), (0, 2), (1, 2)]).expect("a triangle");
    let rows = spread_rows(3, 10_000, 20);
    let session = session_of(&triangle, rows, 4, (1, 6), AveragingKind::Linear, 4);
    let lockstep = lockstep::run(&session, &mut Silent).expect("runs");
    for transport in TRANSPORTS {
        let swarm = run(&session, &options(transport), &mut Silent).expect("runs");
        assert_same_bits(&lockstep, &swarm);
    }
}

#[test]
fn a_swarm_of_one_peer_runs() {
    let alone = Graph::from_edges(1, &[]).expect("a node");
    let rows = spread_rows(1, 60, 4);
    let session = session_of(&alone, rows, 2, (2, 3), AveragingKind::Linear, 4);
    let lockstep = lockstep::run(&session, &mut Silent).expect("runs");
    let swarm = run(&session, &options(Transport::Memory), &mut Silent).expect("runs");
    assert_same_bits(&lockstep, &swarm);
}

fn runtime() -> Runtime {
    Runtime::new().expect("threads are available")
}

#[test]
fn a_call_from_within_a_runtime_is_refused_instead_of_panicking() {
    let result = runtime().block_on(async { run(&pair(), &SwarmOptions::default(), &mut Silent) });
    assert!(matches!(result, Err(HostError::NestedRuntime)));
}

/// The conduct of [`run`] with another plan at peer 3: one with a round more, whose frames look alike,
/// and one of another rank, whose frames would be malformed if the hello did not come first.
#[test]
fn a_peer_with_another_plan_is_a_fault_of_the_session() {
    let graph = &graphs()[0];
    let planned = |rank, rounds| {
        let kind = AveragingKind::Linear;
        session_of(graph, rows(), rank, (2, rounds), kind, 5)
    };
    let ours = planned(4, 9);
    for theirs in [planned(4, 10), planned(3, 9)] {
        let (our_id, their_id) = (ours.plan().session(), theirs.plan().session());
        let options = options(Transport::Memory);
        let setup = |index: PeerIndex, patience| {
            let session = if index.0 == 3 { &theirs } else { &ours };
            session.peer_setup(index, patience)
        };
        let result = runtime().block_on(async {
            let mut silent = Silent;
            let conduct = network::conduct(&ours, &options, &mut silent, setup);
            timeout(LIMIT, conduct).await.expect("ends")
        });
        let Err(HostError::Fault { reporter, fault }) = result else {
            panic!("{result:?}");
        };
        let (expected, found) = if reporter.0 == 3 {
            (their_id, our_id)
        } else {
            assert_eq!(fault.culprit.0, 3);
            (our_id, their_id)
        };
        assert_eq!(fault.kind, FaultKind::WrongSession { expected, found });
    }
}

#[test]
fn transports_are_named_in_kebab_case() {
    let name = |transport| serde_json::to_string(&transport).expect("a name");
    assert_eq!(name(Transport::default()), "\"tcp\"");
    assert_eq!(name(Transport::Memory), "\"memory\"");
}
