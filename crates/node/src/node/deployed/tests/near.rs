//! Hosts that are connected with some members only, and pass words on.

use std::collections::BTreeSet;

use tokio::time::sleep;

use super::super::frames::MAX_CONTROL_FRAMES;
use super::rogue::pair;
use super::sessions::outcome_of;
use super::*;
use crate::engine::testing::assert_same_bits;
use crate::engine::{Silent, lockstep};

/// A host that is connected with these only, at first.
async fn host_near(peer: usize, members: &[MemberAddress], near: &[usize]) -> Host {
    let near: BTreeSet<_> = near.iter().map(|&peer| id(peer)).collect();
    let setup = HostSetup {
        near: Some(near),
        ..setup(peer, members, LIMIT)
    };
    Host::start(setup).await.expect("listens")
}

/// Everything that a host tells within a while: who is up, and what it has heard from whom.
async fn told(host: &mut Host) -> (BTreeSet<PublicId>, Vec<(PublicId, Vec<u8>)>) {
    let (mut up, mut heard) = (BTreeSet::new(), Vec::new());
    let until = sleep(Duration::from_millis(700));
    tokio::pin!(until);
    loop {
        tokio::select! {
            () = &mut until => return (up, heard),
            event = host.next() => match event {
                HostEvent::Up(id) => drop(up.insert(id)),
                HostEvent::Control { from, bytes } => heard.push((from, bytes)),
                other => panic!("{other:?}"),
            },
        }
    }
}

/// 0 and 2 are near 1 and not one another.
#[test]
fn words_are_passed_on_to_those_near_and_told_once() {
    play(async {
        let members = members(3, Kind::Tcp);
        let mut first = host_near(0, &members, &[1]).await;
        let mut middle = host_near(1, &members, &[0, 2]).await;
        let mut last = host_near(2, &members, &[1]).await;
        let frame = |text: &[u8]| Arc::from(text);
        first.broadcast(frame(b"of the first")).expect("short");
        let at_middle = told(&mut middle).await;
        assert_eq!(at_middle.0, BTreeSet::from([id(0), id(2)]));
        assert_eq!(at_middle.1, [(id(0), b"of the first".to_vec())]);
        middle.relay(frame(b"of the first")).expect("short");
        last.broadcast(frame(b"of the last")).expect("short");
        let at_last = told(&mut last).await;
        assert_eq!(at_last.0, BTreeSet::from([id(1)]));
        assert_eq!(at_last.1, [(id(1), b"of the first".to_vec())]);
        // Its own word does not come back to it, and nothing comes from whom it has no connection with.
        assert_eq!(told(&mut first).await, (BTreeSet::from([id(1)]), vec![]));
        // Connected with everybody, it hears what was said to all; what was passed on it has been told.
        first.widen();
        last.widen();
        middle.relay(frame(b"of the last")).expect("short");
        let (up, heard) = told(&mut first).await;
        let texts: Vec<_> = heard.iter().map(|(_, bytes)| bytes.as_slice()).collect();
        assert_eq!(
            (up, texts),
            (BTreeSet::from([id(2)]), vec![&b"of the last"[..]])
        );
        assert_eq!(told(&mut last).await, (BTreeSet::from([id(0)]), vec![]));
    });
}

/// What is said again and again takes no room.
#[test]
fn what_was_said_can_be_said_without_end() {
    play(async {
        let members = members(2, Kind::Tcp);
        let first = host(0, &members, LIMIT).await;
        let mut second = host(1, &members, LIMIT).await;
        for number in 0..3 * MAX_CONTROL_FRAMES {
            let text = format!("word {}", number % 5);
            first
                .broadcast(text.into_bytes().into())
                .expect("said before");
        }
        let (_, heard) = told(&mut second).await;
        assert_eq!(heard.len(), 5);
    });
}

/// Neighbours of the peer that runs are connected with, near or not.
#[test]
fn a_session_runs_beside_whoever_was_not_near() {
    let session = pair();
    let expected = lockstep::run(&session, &mut Silent).expect("runs");
    let (outcome, _) = play(async {
        let members = members(2, Kind::Tcp);
        let hosts = vec![
            host_near(0, &members, &[]).await,
            host_near(1, &members, &[]).await,
        ];
        outcome_of(&session, hosts).await
    });
    assert_same_bits(&outcome, &expected);
}
