//! Who may connect, and what is left when a run is over.

use std::net::TcpStream;
use std::time::Duration;

use futures::StreamExt;
use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use libp2p::swarm::SwarmEvent;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::super::exchange::Report;
use super::super::network::{self, Node, Shared};
use super::super::{Transport, identity, swarm};
use super::{LIMIT, TRANSPORTS, options, pair, runtime, spread_rows};
use crate::engine::Silent;
use crate::engine::testing::{graphs, rows, session_of};
use crate::protocol::averaging::AveragingKind;
use crate::topology::Graph;
use crate::vocabulary::PeerIndex;

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
        let shared = Shared::new(LIMIT, reports);
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
