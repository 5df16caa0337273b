//! Sessions over hosts against the other engines.

use tokio::sync::mpsc;

use super::*;
use crate::engine::testing::{assert_same_bits, schemes_on, session_of};
use crate::engine::{Collector, Communication, Outcome, Silent, lockstep};
use crate::linalg::SparseRows;
use crate::node::{SwarmOptions, Transport, run};
use crate::protocol::averaging::{AveragingKind, Traffic};
use crate::topology::Graph;

use super::super::Written;

/// Rows of so many peers, a dozen items each of so many.
pub(in super::super) fn some_rows(peers: u32, dimension: u32) -> Vec<SparseRows> {
    let rows = |u: u32| {
        let mut rows = SparseRows::new(dimension as usize);
        for row in 0..4 {
            let first = (u * 131 + row * 37) % (dimension / 12);
            let items = (0..12).map(|i| (first + i * (dimension / 12), 0.25));
            rows.push_row(items).expect("ascending");
        }
        rows
    };
    (0..peers).map(rows).collect()
}

pub(in super::super) fn triangle(dimension: u32, iterations: u32) -> Session {
    let graph = Graph::from_edges(3, &[(0, 1), (0, 2), (1, 2)]).expect("a triangle");
    let rows = some_rows(3, dimension);
    session_of(&graph, rows, 2, (iterations, 5), AveragingKind::Linear, 3)
}

/// Runs a session over these hosts, which belong to its peers in order.
pub(in super::super) async fn outcome_of(
    session: &Session,
    hosts: Vec<Host>,
) -> (Outcome, Vec<Written>) {
    let (reports, mut received) = mpsc::channel(64);
    for (peer, mut host) in hosts.into_iter().enumerate() {
        let run = peer_run(session, peer);
        let reports = reports.clone();
        host.begin(run).expect("fits");
        tokio::spawn(async move {
            loop {
                let event = host.next().await;
                let ends = matches!(event, HostEvent::Finished(_));
                reports.send((peer, event)).await.expect("collected");
                if ends {
                    break;
                }
            }
            host.shutdown(LIMIT).await;
        });
    }
    drop(reports);
    let mut collector = Collector::new(session.clone());
    let mut written = vec![None; session.peers()];
    while written.contains(&None) {
        match received.recv().await.expect("hosts report") {
            (peer, HostEvent::Event(event)) => {
                collector.event(PeerIndex::from_index(peer), &event, &mut Silent);
            }
            (peer, HostEvent::Finished(sent)) => written[peer] = Some(sent),
            (_, HostEvent::Up(_) | HostEvent::Down(_)) => {}
            (peer, other) => panic!("{peer}: {other:?}"),
        }
    }
    let written: Vec<Written> = written.into_iter().flatten().collect();
    let records = collector.into_records();
    let rounds = session.public().communication(records.len(), false).rounds;
    let messages = written.iter().map(|written| written.messages).sum();
    let bytes: Vec<_> = written.iter().map(|written| written.bytes).collect();
    let all = Traffic::counted(rounds.iter().sum(), messages, &bytes);
    let communication = Communication::of(all, rounds);
    let outcome = Outcome {
        records,
        communication,
    };
    (outcome, written)
}

fn assert_equal_bits(session: &Session, kind: Kind) {
    let (outcome, written) = play(async {
        let members = members(session.peers(), kind);
        let mut hosts = Vec::new();
        for peer in 0..session.peers() {
            hosts.push(host(peer, &members, LIMIT).await);
        }
        outcome_of(session, hosts).await
    });
    let lockstep = lockstep::run(session, &mut Silent).expect("runs");
    assert_same_bits(&lockstep, &outcome);
    assert!(
        written.iter().all(|written| written.resent == 0),
        "{written:?}"
    );
}

#[test]
fn three_hosts_have_the_bits_of_the_swarm_and_of_lockstep() {
    let session = triangle(120, 3);
    let options = SwarmOptions {
        transport: Transport::Memory,
        stall_timeout: LIMIT,
    };
    let swarm = run(&session, &options, &mut Silent).expect("runs");
    let lockstep = lockstep::run(&session, &mut Silent).expect("runs");
    assert_same_bits(&lockstep, &swarm);
    assert_equal_bits(&session, Kind::Tcp);
    assert_equal_bits(&session, Kind::Quic);
}

/// Every averaging scheme that has the edges for it, on eight peers of degree 4.
#[test]
fn eight_hosts_have_the_bits_of_lockstep_in_every_averaging_scheme() {
    let edges: Vec<_> = (0..8_u32)
        .flat_map(|u| [1, 2].map(|step| (u, (u + step) % 8)))
        .map(|(u, v)| (u.min(v), u.max(v)))
        .collect();
    let graph = Graph::from_edges(8, &edges).expect("simple");
    for (number, scheme) in schemes_on(&graph).enumerate() {
        let session = session_of(&graph, some_rows(8, 120), 2, (2, 5), scheme, 5);
        let kind = if number % 2 == 0 {
            Kind::Quic
        } else {
            Kind::Tcp
        };
        assert_equal_bits(&session, kind);
    }
}

/// A release of 160,000 values: two frames.
#[test]
fn messages_of_several_frames_have_the_bits_of_lockstep() {
    assert_equal_bits(&triangle(80_004, 1), Kind::Tcp);
}

#[test]
fn a_peer_without_neighbours_finishes_and_passes_its_gates() {
    let alone = Graph::from_edges(1, &[]).expect("a node");
    let session = session_of(
        &alone,
        some_rows(1, 60),
        2,
        (2, 3),
        AveragingKind::Linear,
        4,
    );
    let (tell, told) = std::sync::mpsc::channel();
    let written = play(async {
        let members = members(1, Kind::Tcp);
        let mut host = host(0, &members, LIMIT).await;
        let gate = move |release| {
            tell.send(release).expect("heard");
            Ok(())
        };
        host.begin(gated_run(&session, 0, Box::new(gate)))
            .expect("fits");
        first(&mut host, |event| match event {
            HostEvent::Finished(written) => Some(written),
            _ => None,
        })
        .await
    });
    assert_eq!(written, Written::default());
    let releases: Vec<u32> = told.iter().map(|release| release.0).collect();
    assert_eq!(releases, [1, 2]);
}
