//! The swarm against the other engines, and single nodes against neighbours that break the rules.

use std::future::Future;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use futures::{AsyncWriteExt, StreamExt};
use libp2p::multiaddr::Protocol;
use libp2p::swarm::SwarmEvent;
use libp2p::{Multiaddr, PeerId, Stream};
use libp2p_stream::{Control, IncomingStreams};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::driver::Report;
use super::edge::{self, PROTOCOL};
use super::network::{self, Node, Shared, span};
use super::{SwarmError, SwarmOptions, Transport, identity, run, swarm};
use crate::engine::tests::{assert_same_bits, graphs, rows, session_of};
use crate::engine::{Observer, ReleaseRecord, Session, Silent, lockstep};
use crate::linalg::SparseRows;
use crate::protocol::averaging::AveragingKind;
use crate::protocol::wire::{self, WireError};
use crate::protocol::{Body, Fault, FaultKind, Message, SessionId};
use crate::topology::Graph;
use crate::vocabulary::{PeerIndex, ReleaseId, Round};

/// No test may hang, however slow the machine.
const LIMIT: Duration = Duration::from_secs(60);

const TRANSPORTS: [Transport; 2] = [Transport::Memory, Transport::Tcp];

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
        for kind in AveragingKind::all() {
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
    assert!(matches!(result, Err(SwarmError::NestedRuntime)));
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
        let Err(SwarmError::Fault { reporter, fault }) = result else {
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

/// A neighbour played by a test: connected, and free to say what it likes.
struct Rogue {
    honest: PeerId,
    control: Control,
    incoming: IncomingStreams,
    session: SessionId,
}

impl Rogue {
    /// Acknowledges the honest node's stream.
    async fn acknowledge(&mut self) -> Stream {
        loop {
            let (_, mut stream) = self.incoming.next().await.expect("the swarm is served");
            if edge::answer(&mut stream, self.session).await.is_ok() {
                return stream;
            }
        }
    }

    /// Opens a stream as an honest neighbour would.
    async fn open(&self) -> Stream {
        let deadline = Instant::now() + LIMIT;
        edge::open(self.control.clone(), self.honest, self.session, deadline)
            .await
            .expect("the honest node acknowledges")
    }

    /// Opens a stream, says this, and keeps it open.
    async fn say(mut self, bytes: Vec<u8>) {
        let _inbound = self.acknowledge().await;
        let mut stream = self.open().await;
        stream.write_all(&bytes).await.expect("is read");
        stream.flush().await.expect("is read");
        std::future::pending().await
    }
}

/// How peer 0 of [`pair`] ends when `rogue` plays peer 1.
fn against<F, Play>(transport: Transport, stall: Duration, rogue: F) -> SwarmError
where
    F: FnOnce(Rogue) -> Play,
    Play: Future<Output = ()> + Send + 'static,
{
    against_in(&pair(), transport, stall, rogue)
}

/// As [`against`], in another session of two peers.
fn against_in<F, Play>(
    session: &Session,
    transport: Transport,
    stall: Duration,
    rogue: F,
) -> SwarmError
where
    F: FnOnce(Rogue) -> Play,
    Play: Future<Output = ()> + Send + 'static,
{
    let scene = async {
        let listening = |index| network::listening(session, PeerIndex(index), transport, LIMIT);
        let (swarm, _) = listening(0).await.expect("listens");
        let (mut other, address) = listening(1).await.expect("listens");
        let mut control = other.behaviour().streams.new_control();
        let incoming = control.accept(PROTOCOL).expect("accepted once");
        let (reports, mut received) = mpsc::channel(8);
        let shared = Shared {
            patience: stall,
            clock: Instant::now(),
            reports,
            progress: Arc::default(),
        };
        let rogue = rogue(Rogue {
            honest: *swarm.local_peer_id(),
            control,
            incoming,
            session: session.plan().session(),
        });
        let node = Node {
            swarm,
            setup: session.peer_setup(PeerIndex(0), Some(span(stall))),
            neighbours: vec![(*other.local_peer_id(), address)],
        };
        let mut tasks = JoinSet::new();
        node.spawn(&mut tasks, &shared).expect("fits");
        let (connected, connection) = oneshot::channel();
        tasks.spawn(async move {
            let mut connected = Some(connected);
            loop {
                let event = other.select_next_some().await;
                if let SwarmEvent::ConnectionEstablished { .. } = event {
                    connected.take().map(|connected| connected.send(()));
                }
            }
        });
        tasks.spawn(async move {
            connection.await.expect("node 0 dials");
            rogue.await;
        });
        loop {
            match received.recv().await {
                Some((PeerIndex(0), Report::Failed(error))) => return error,
                Some((PeerIndex(0), Report::Event(_))) => {}
                other => panic!("peer 0 was to fail, and reported {other:?}"),
            }
        }
    };
    runtime().block_on(async { timeout(LIMIT, scene).await.expect("no test may hang") })
}

/// The fault that peer 0 reports; the culprit must be peer 1.
fn fault(error: SwarmError) -> FaultKind {
    match error {
        SwarmError::Fault {
            reporter: PeerIndex(0),
            fault:
                Fault {
                    culprit: PeerIndex(1),
                    kind,
                },
        } => kind,
        other => panic!("{other:?}"),
    }
}

/// A frame as an honest peer 1 would send it first: round 0 of the agreement on the scale.
fn first_frame() -> Vec<u8> {
    wire::encode_framed(&Message {
        session: pair().plan().session(),
        release: ReleaseId(1),
        round: Round(0),
        body: Body::Scale(0.5),
    })
}

#[test]
fn garbage_is_a_malformed_frame_of_the_neighbour_that_sent_it() {
    for transport in TRANSPORTS {
        let mut garbage = first_frame();
        garbage[wire::PREFIX_LEN..].fill(0xee);
        let kind = fault(against(transport, LIMIT, |rogue| rogue.say(garbage)));
        assert_eq!(kind, FaultKind::Malformed(WireError::NotAFrame));
    }
}

#[test]
fn garbage_after_valid_frames_is_malformed_too() {
    let mut bytes = first_frame();
    bytes.extend([9, 0, 0, 0, 1, 2, 3]);
    let kind = fault(against(Transport::Memory, LIMIT, |rogue| rogue.say(bytes)));
    assert_eq!(kind, FaultKind::Malformed(WireError::TooShort { found: 9 }));
}

#[test]
fn a_hello_that_is_none_is_malformed() {
    let play = |mut rogue: Rogue| async move {
        let mut stream = rogue
            .control
            .open_stream(rogue.honest, PROTOCOL)
            .await
            .expect("one stream at a time is not dropped");
        stream.write_all(&[0xee; 64]).await.expect("is read");
        stream.flush().await.expect("is read");
        std::future::pending().await
    };
    let kind = fault(against(Transport::Memory, LIMIT, play));
    assert_eq!(kind, FaultKind::Malformed(WireError::NotAFrame));
}

#[test]
fn another_session_is_refused_at_the_hello() {
    let play = |mut rogue: Rogue| async move {
        rogue.session = SessionId([9; 16]);
        rogue.open().await;
    };
    let kind = fault(against(Transport::Memory, LIMIT, play));
    assert!(matches!(kind, FaultKind::WrongSession { found, .. } if found == SessionId([9; 16])));
}

#[test]
fn an_announced_length_beyond_the_plan_is_refused_before_the_frame_comes() {
    let announced = u32::MAX.to_le_bytes().to_vec();
    let kind = fault(against(Transport::Tcp, LIMIT, |rogue| rogue.say(announced)));
    assert!(matches!(
        kind,
        FaultKind::Malformed(WireError::TooLong { found, .. }) if found == u32::MAX as usize
    ));
}

#[test]
fn a_message_for_another_step_is_the_neighbours_fault() {
    let twice = [first_frame(), first_frame()].concat();
    let kind = fault(against(Transport::Memory, LIMIT, |rogue| rogue.say(twice)));
    // The second is a duplicate, or late if peer 0 has folded the first already.
    assert!(matches!(
        kind,
        FaultKind::Duplicate { step: 0 } | FaultKind::OutOfStep { found: 0, .. }
    ));
}

/// Peer 0 has not started, because peer 1 acknowledges nothing. The message of the first exchange is
/// taken from it; the block of the second is not, and waits in the writer's hands.
#[test]
fn a_block_ahead_of_its_exchange_stays_with_its_sender() {
    let graph = Graph::from_edges(2, &[(0, 1)]).expect("an edge");
    let rows = spread_rows(2, 65_536, 2);
    let session = session_of(&graph, rows, 2, (1, 2), AveragingKind::Linear, 3);
    assert_eq!(session.plan().parameters().scale_rounds, 1);
    let say = |body| {
        wire::encode_framed(&Message {
            session: session.plan().session(),
            release: ReleaseId(1),
            round: Round(0),
            body,
        })
    };
    let first = say(Body::Scale(0.5));
    let ahead = say(Body::Average(Arc::new(vec![
        0.5;
        session.plan().most_values()
    ])));
    for transport in TRANSPORTS {
        let (first, ahead) = (first.clone(), ahead.clone());
        let (tell, told) = std::sync::mpsc::channel();
        let play = |rogue: Rogue| async move {
            let mut stream = rogue.open().await;
            stream.write_all(&first).await.expect("is read");
            stream.flush().await.expect("is read");
            let write = timeout(Duration::from_secs(1), stream.write_all(&ahead)).await;
            tell.send(write.is_err()).expect("awaited");
            std::future::pending().await
        };
        let error = against_in(&session, transport, Duration::from_secs(4), play);
        assert!(matches!(error, SwarmError::Handshake { .. }), "{error:?}");
        assert_eq!(told.try_recv(), Ok(true), "{transport:?}");
    }
}

#[test]
fn a_silent_neighbour_is_a_fault_after_the_stall_timeout() {
    let stall = Duration::from_secs(3);
    for (said, step) in [(Vec::new(), 0), (first_frame(), 1)] {
        let began = std::time::Instant::now();
        let kind = fault(against(Transport::Memory, stall, |rogue| rogue.say(said)));
        assert_eq!(kind, FaultKind::Silent { step });
        assert!(began.elapsed() >= stall);
    }
}

#[test]
fn a_neighbour_that_never_acknowledges_is_named() {
    let stall = Duration::from_secs(3);
    let error = against(Transport::Memory, stall, |rogue| async move {
        let _held = rogue.incoming;
        std::future::pending().await
    });
    assert!(matches!(
        error,
        SwarmError::Handshake {
            from: PeerIndex(0),
            to: PeerIndex(1),
            ..
        }
    ));
}

/// Peer 1 says all that the plan has it say, and never reads. The honest node's only block of 1 MiB fits into no
/// window, so its writer cannot end, although the peer has finished.
#[test]
fn a_neighbour_that_never_reads_the_last_frames_is_named() {
    let graph = Graph::from_edges(2, &[(0, 1)]).expect("an edge");
    let rows = spread_rows(2, 65_536, 2);
    let session = session_of(&graph, rows, 2, (1, 1), AveragingKind::Linear, 3);
    let said = [
        Body::Scale(0.5),
        Body::Average(Arc::new(vec![0.5; session.plan().most_values()])),
    ];
    let bytes = said.map(|body| {
        wire::encode_framed(&Message {
            session: session.plan().session(),
            release: ReleaseId(1),
            round: Round(0),
            body,
        })
    });
    let bytes = bytes.concat();
    let stall = Duration::from_secs(3);
    for transport in TRANSPORTS {
        let error = against_in(&session, transport, stall, |rogue| rogue.say(bytes.clone()));
        assert!(
            matches!(
                error,
                SwarmError::Unread {
                    peer: PeerIndex(0),
                    neighbour: PeerIndex(1),
                    ..
                }
            ),
            "{transport:?}: {error:?}"
        );
    }
}

#[test]
fn a_neighbour_that_stops_is_an_error_at_once() {
    let error = against(Transport::Memory, LIMIT, |mut rogue| async move {
        let _inbound = rogue.acknowledge().await;
        let mut stream = rogue.open().await;
        stream.write_all(&first_frame()).await.expect("is read");
        stream.close().await.expect("closes");
        std::future::pending().await
    });
    assert!(matches!(
        error,
        SwarmError::Disconnected {
            neighbour: PeerIndex(1),
            received: 1,
            expected: 12,
            ..
        }
    ));
}

#[test]
fn a_stranger_cannot_connect() {
    let session = pair();
    let meeting = async {
        let (mut honest, address) =
            network::listening(&session, PeerIndex(0), Transport::Memory, LIMIT)
                .await
                .expect("listens");
        let stranger = identity::keypair(session.seed(), PeerIndex(7));
        let roster = identity::Roster::new([(PeerIndex(0), *honest.local_peer_id())]);
        let mut stranger =
            swarm::build(&stranger, Transport::Memory, &roster, LIMIT).expect("builds");
        stranger.dial(address).expect("dials");
        loop {
            tokio::select! {
                event = honest.select_next_some() => match event {
                    SwarmEvent::ConnectionEstablished { .. } => return false,
                    SwarmEvent::IncomingConnectionError { .. } => return true,
                    _ => {}
                },
                _ = stranger.select_next_some() => {}
            }
        }
    };
    assert!(runtime().block_on(async { timeout(LIMIT, meeting).await.expect("ends") }));
}

fn port(address: &Multiaddr) -> u16 {
    let port = address.iter().find_map(|protocol| match protocol {
        Protocol::Tcp(port) => Some(port),
        _ => None,
    });
    port.expect("a TCP address")
}

#[test]
fn a_node_that_is_shut_down_listens_no_more() {
    let alone = Graph::from_edges(1, &[]).expect("a node");
    let rows = spread_rows(1, 60, 4);
    let session = session_of(&alone, rows, 2, (1, 3), AveragingKind::Linear, 4);
    runtime().block_on(async {
        let (swarm, address) = network::listening(&session, PeerIndex(0), Transport::Tcp, LIMIT)
            .await
            .expect("listens");
        assert!(address.to_string().starts_with("/ip4/127.0.0.1/tcp/"));
        let (reports, mut received) = mpsc::channel(8);
        let shared = Shared {
            patience: LIMIT,
            clock: Instant::now(),
            reports,
            progress: Arc::default(),
        };
        let node = Node {
            swarm,
            setup: session.peer_setup(PeerIndex(0), None),
            neighbours: Vec::new(),
        };
        let mut tasks = JoinSet::new();
        node.spawn(&mut tasks, &shared).expect("fits");
        while !matches!(received.recv().await, Some((_, Report::Done(_)))) {}
        let at = ("127.0.0.1", port(&address));
        assert!(TcpStream::connect(at).is_ok());
        // Another address of the same machine: only a listener on all interfaces would answer.
        #[cfg(target_os = "linux")]
        assert!(TcpStream::connect(("127.0.0.2", port(&address))).is_err());
        tasks.shutdown().await;
        assert!(TcpStream::connect(at).is_err());
    });
}

#[test]
fn every_task_ends_with_the_run() {
    let session = session_of(&graphs()[3], rows(), 4, (1, 4), AveragingKind::Linear, 5);
    for transport in TRANSPORTS {
        let mut options = options(transport);
        options.stall_timeout = Duration::MAX;
        let alive = runtime().block_on(async {
            let setup = |index, patience| session.peer_setup(index, patience);
            network::conduct(&session, &options, &mut Silent, setup)
                .await
                .expect("runs");
            let alive = || Handle::current().metrics().num_alive_tasks();
            for _ in 0..500 {
                if alive() == 0 {
                    break;
                }
                sleep(Duration::from_millis(10)).await;
            }
            alive()
        });
        assert_eq!(alive, 0, "{transport:?}");
    }
}

#[test]
fn transports_are_named_in_kebab_case() {
    let name = |transport| serde_json::to_string(&transport).expect("a name");
    assert_eq!(name(Transport::default()), "\"tcp\"");
    assert_eq!(name(Transport::Memory), "\"memory\"");
}

/// A 6-regular circulant graph.
fn circulant(nodes: u32) -> Graph {
    let edges: Vec<_> = (0..nodes)
        .flat_map(|u| [1, 9, 27].map(|step| (u, (u + step) % nodes)))
        .map(|(u, v)| (u.min(v), u.max(v)))
        .collect();
    Graph::from_edges(nodes as usize, &edges).expect("simple")
}

/// Peak resident memory of this process in MiB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}

/// Counts the open files of this process while all nodes are connected, and the iterations.
#[derive(Default)]
struct OpenFiles(usize, u32);

impl Observer for OpenFiles {
    fn released(&mut self, _record: &ReleaseRecord) {
        self.0 = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        self.1 += 1;
    }
}

fn measured(session: &Session, transport: Transport) {
    let options = SwarmOptions {
        transport,
        ..SwarmOptions::default()
    };
    let began = std::time::Instant::now();
    let mut files = OpenFiles::default();
    let outcome = run(session, &options, &mut files).expect("runs");
    let (seconds, bytes) = (
        began.elapsed().as_secs_f64(),
        outcome.communication.bytes_total,
    );
    eprintln!(
        "{} peers, {} edges, {transport:?}: {seconds:.2} s, {:.0} MB/s, {} open files, \
         peak memory of the process {:?} MiB",
        session.peers(),
        session.graph().edges(),
        bytes as f64 / seconds * 1e-6,
        files.0,
        peak_memory(),
    );
    assert_eq!(files.1, session.plan().releases().len() as u32);
}

#[test]
#[ignore = "a measurement: run alone, in release"]
fn measure_64_peers_with_small_blocks() {
    let rows = spread_rows(64, 200, 5);
    let session = session_of(
        &circulant(64),
        rows,
        4,
        (3, 40),
        AveragingKind::Chebyshev,
        1,
    );
    for transport in TRANSPORTS {
        measured(&session, transport);
    }
}

#[test]
#[ignore = "a measurement: run alone, in release"]
fn measure_256_peers_with_blocks_of_one_mebibyte() {
    let rows = spread_rows(256, 16_384, 20);
    let session = session_of(
        &circulant(256),
        rows,
        8,
        (1, 5),
        AveragingKind::Chebyshev,
        1,
    );
    for transport in TRANSPORTS {
        measured(&session, transport);
        assert!(peak_memory().is_none_or(|mebibytes| mebibytes < 6 * 1024));
    }
}
