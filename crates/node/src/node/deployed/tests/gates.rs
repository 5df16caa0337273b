//! Nothing of a release leaves before its gate is passed: a neighbour that records everything shows it.

use std::collections::BTreeMap;

use super::super::edge::{Receiving, Record, read_record};
use super::rogue::{Rogue, pair};
use super::*;
use crate::node::{GateError, HostError};
use crate::protocol::{CollectingOutbox, Event, Input, Lane, Peer};
use crate::vocabulary::{ReleaseId, Time};

/// Plays peer 1 honestly, and tells of every frame it receives by its release.
async fn record(rogue: Rogue, session: Session, seen: std::sync::mpsc::Sender<ReleaseId>) {
    use futures::AsyncWriteExt;
    let mut inbound = rogue.answer(0).await;
    let mut outbound = rogue.open().await;
    let setup = session.peer_setup(PeerIndex(1), None);
    let lane = Lane::of(&setup.plan, &setup.schedule, 0);
    let mut receiving = Receiving::new(id(0), lane.frame_sizes());
    let (plan, signer) = (Arc::clone(&setup.plan), identity(1));
    let mut peer = Peer::new(setup).expect("fits");
    let mut outbox = CollectingOutbox::default();
    let (mut sequence, mut piece) = (0, Vec::new());
    let mut input = Input::Start;
    loop {
        peer.handle(input, Time(0), &mut outbox).expect("goes on");
        for (_, message) in outbox.messages.drain(..) {
            sequence += 1;
            let record = Record::of(&message, plan.values(), 0, &signer, &mut piece);
            let written = record.write(sequence, &mut outbound, &mut piece);
            written.await.expect("is read");
        }
        outbound.flush().await.expect("is read");
        let wanted = std::future::ready(true);
        let read = read_record(&mut inbound, &mut receiving, wanted, &mut piece).await;
        let Ok(taken) = read else {
            return;
        };
        let message = taken.message.expect("of one frame");
        seen.send(message.release).expect("collected");
        inbound
            .write_all(&taken.sequence.to_le_bytes())
            .await
            .expect("is read");
        inbound.flush().await.expect("is read");
        let from = PeerIndex(0);
        input = Input::Message { from, message };
    }
}

#[test]
fn nothing_of_a_release_leaves_when_its_gate_fails() {
    let session = pair();
    let setup = session.peer_setup(PeerIndex(0), None);
    let lane = Lane::of(&setup.plan, &setup.schedule, 0);
    let each = lane.messages() / 2;
    for refused in [1, 2] {
        let (tell, told) = std::sync::mpsc::channel();
        let (gates, passed) = std::sync::mpsc::channel();
        let error = play(async {
            let members = members(2, Kind::Tcp);
            let mut honest = host(0, &members, LIMIT).await;
            let rogue = Rogue {
                host: host(1, &members, LIMIT).await,
                session: session.plan().session(),
            };
            let gate = move |release: ReleaseId| {
                gates.send(release).expect("collected");
                if release.0 == refused {
                    Err(GateError::new("the disk is full"))
                } else {
                    Ok(())
                }
            };
            let recording = tokio::spawn(record(rogue, session.clone(), tell));
            honest
                .begin(gated_run(&session, 0, Box::new(gate)))
                .expect("fits");
            let error = first(&mut honest, |event| match event {
                HostEvent::Failed(error) => Some(error),
                HostEvent::Event(Event::Published { release, .. }) => {
                    assert!(release.0 < refused);
                    None
                }
                HostEvent::Fault { what, .. } => panic!("{what}"),
                _ => None,
            })
            .await;
            // What was under way arrives, and nothing follows.
            tokio::time::sleep(Duration::from_millis(300)).await;
            recording.abort();
            error
        });
        assert!(
            matches!(&error, HostError::Charge { release, .. } if release.0 == refused),
            "{error}"
        );
        assert!(error.to_string().contains("the disk is full"));
        let mut seen: BTreeMap<u32, u64> = BTreeMap::new();
        for release in told.iter() {
            *seen.entry(release.0).or_default() += 1;
        }
        let expected = (1..refused).map(|release| (release, each));
        assert_eq!(seen, expected.collect());
        let passed: Vec<u32> = passed.iter().map(|release| release.0).collect();
        assert_eq!(passed, (1..=refused).collect::<Vec<_>>());
    }
}
