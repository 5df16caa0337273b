//! Single nodes against neighbours that break the rules.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::{AsyncWriteExt, StreamExt};
use libp2p::swarm::SwarmEvent;
use libp2p::{PeerId, Stream};
use libp2p_stream::{Control, IncomingStreams};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::super::edge::{self, PROTOCOL};
use super::super::exchange::Report;
use super::super::network::{self, Node, Shared, span};
use super::super::{HostError, Transport};
use super::{LIMIT, TRANSPORTS, beside_one_another, pair, runtime, spread_rows};
use crate::engine::Session;
use crate::engine::testing::session_of;
use crate::protocol::averaging::AveragingKind;
use crate::protocol::wire::{self, WireError};
use crate::protocol::{Body, Fault, FaultKind, Message, SessionId, Values};
use crate::topology::Graph;
use crate::vocabulary::{PeerIndex, ReleaseId, Round};

/// A neighbour played by a test: connected, and free to say what it likes.
pub(super) struct Rogue {
    honest: PeerId,
    control: Control,
    incoming: IncomingStreams,
    session: SessionId,
}

impl Rogue {
    /// Acknowledges the honest node's stream.
    pub(super) async fn acknowledge(&mut self) -> Stream {
        loop {
            let (_, mut stream) = self.incoming.next().await.expect("the swarm is served");
            if edge::answer(&mut stream, self.session).await.is_ok() {
                return stream;
            }
        }
    }

    /// Opens a stream as an honest neighbour would.
    pub(super) async fn open(&self) -> Stream {
        let deadline = Instant::now() + LIMIT;
        edge::open(self.control.clone(), self.honest, self.session, deadline)
            .await
            .expect("the honest node acknowledges")
    }

    /// Opens a stream, says this, and keeps it open.
    pub(super) async fn say(mut self, bytes: Vec<u8>) {
        let _inbound = self.acknowledge().await;
        let mut stream = self.open().await;
        stream.write_all(&bytes).await.expect("is read");
        stream.flush().await.expect("is read");
        std::future::pending().await
    }
}

/// How peer 0 of [`pair`] ends when `rogue` plays peer 1.
fn against<F, Play>(transport: Transport, stall: Duration, rogue: F) -> HostError
where
    F: FnOnce(Rogue) -> Play,
    Play: Future<Output = ()> + Send + 'static,
{
    against_in(&pair(), transport, stall, rogue)
}

/// As [`against`], in another session of two peers.
pub(super) fn against_in<F, Play>(
    session: &Session,
    transport: Transport,
    stall: Duration,
    rogue: F,
) -> HostError
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
        let shared = Shared::new(stall, reports);
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
pub(super) fn fault(error: HostError) -> FaultKind {
    match error {
        HostError::Fault {
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
    wire::encode_framed(
        &Message {
            session: pair().plan().session(),
            release: ReleaseId(1),
            round: Round(0),
            body: Body::Scale(0.5),
        },
        Values::F64,
    )
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
        wire::encode_framed(
            &Message {
                session: session.plan().session(),
                release: ReleaseId(1),
                round: Round(0),
                body,
            },
            Values::F64,
        )
    };
    let first = say(Body::Scale(0.5));
    let ahead = say(Body::Average(Arc::new(vec![
        0.5;
        session.plan().most_values()
    ])));
    beside_one_another(TRANSPORTS, |transport| {
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
        assert!(matches!(error, HostError::Handshake { .. }), "{error:?}");
        assert_eq!(told.try_recv(), Ok(true), "{transport:?}");
    });
}

#[test]
fn a_silent_neighbour_is_a_fault_after_the_stall_timeout() {
    let stall = Duration::from_secs(3);
    let plays = [(Vec::new(), 0), (first_frame(), 1)];
    beside_one_another(plays, |(said, step)| {
        let began = std::time::Instant::now();
        let kind = fault(against(Transport::Memory, stall, |rogue| rogue.say(said)));
        assert_eq!(kind, FaultKind::Silent { step });
        assert!(began.elapsed() >= stall);
    });
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
        HostError::Handshake {
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
        wire::encode_framed(
            &Message {
                session: session.plan().session(),
                release: ReleaseId(1),
                round: Round(0),
                body,
            },
            Values::F64,
        )
    });
    let bytes = bytes.concat();
    let stall = Duration::from_secs(3);
    beside_one_another(TRANSPORTS, |transport| {
        let error = against_in(&session, transport, stall, |rogue| rogue.say(bytes.clone()));
        assert!(
            matches!(
                error,
                HostError::Unread {
                    peer: PeerIndex(0),
                    neighbour: PeerIndex(1),
                    ..
                }
            ),
            "{transport:?}: {error:?}"
        );
    });
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
        HostError::Disconnected {
            neighbour: PeerIndex(1),
            received: 1,
            expected: 12,
            ..
        }
    ));
}
