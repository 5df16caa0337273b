//! Who may connect, what is said to whom, and what is told when somebody goes.

use std::collections::BTreeSet;

use tokio::time::{Instant, sleep};

use super::*;
use crate::node::HostError;
use crate::session::{Reason, SessionHash, Signed, Statement};

/// The next control frame.
async fn heard(host: &mut Host) -> (PublicId, Vec<u8>) {
    first(host, |event| match event {
        HostEvent::Control { from, bytes } => Some((from, bytes)),
        HostEvent::Up(_) | HostEvent::Down(_) => None,
        other => panic!("{other:?}"),
    })
    .await
}

async fn are_up(host: &mut Host, members: impl IntoIterator<Item = PublicId>) {
    let mut missing: BTreeSet<PublicId> = members.into_iter().collect();
    while !missing.is_empty() {
        let up = first(host, |event| match event {
            HostEvent::Up(id) => Some(id),
            _ => None,
        });
        missing.remove(&up.await);
    }
}

pub(super) async fn is_up(host: &mut Host, member: PublicId) {
    are_up(host, [member]).await;
}

fn frame(text: &str) -> Arc<[u8]> {
    Arc::from(text.as_bytes())
}

#[test]
fn what_is_said_reaches_those_it_is_for_once_in_order_and_those_who_come_later() {
    for kind in [Kind::Tcp, Kind::Quic] {
        play(async {
            let members = members(3, kind);
            let first = host(0, &members, LIMIT).await;
            let mut second = host(1, &members, LIMIT).await;
            first.broadcast(frame("to all")).expect("short");
            first.send(id(2), frame("to the third")).expect("short");
            first.broadcast(frame("to all again")).expect("short");
            first.broadcast(frame("to all")).expect("short");
            first.broadcast(frame("the end")).expect("short");
            let mut third = host(2, &members, LIMIT).await;
            let to_second = ["to all", "to all again", "the end"];
            let to_third = ["to all", "to the third", "to all again", "the end"];
            for text in to_second {
                let expected = (id(0), text.as_bytes().to_vec());
                assert_eq!(heard(&mut second).await, expected);
            }
            for text in to_third {
                let expected = (id(0), text.as_bytes().to_vec());
                assert_eq!(heard(&mut third).await, expected);
            }
        });
    }
}

/// What another said first does not keep a member's own word from being heard as its own.
#[test]
fn a_departure_is_told_again_when_its_member_says_so_itself() {
    play(async {
        let members = members(3, Kind::Tcp);
        let [one, mut two, three] = [
            host(0, &members, LIMIT).await,
            host(1, &members, LIMIT).await,
            host(2, &members, LIMIT).await,
        ];
        let statement = Statement::Gone {
            reason: Reason::Refused,
            about: None,
            text: "it leaves".to_owned(),
            is_final: false,
        };
        let signed = Signed::new(&identity(0), SessionHash([9; 32]), statement);
        three.broadcast(Arc::clone(&signed.bytes)).expect("short");
        assert_eq!(heard(&mut two).await, (id(2), signed.bytes.to_vec()));
        one.broadcast(Arc::clone(&signed.bytes)).expect("short");
        one.broadcast(frame("the end")).expect("short");
        assert_eq!(heard(&mut two).await, (id(0), signed.bytes.to_vec()));
        assert_eq!(heard(&mut two).await, (id(0), b"the end".to_vec()));
    });
}

/// Member 2 cannot be reached: it dials both others, whichever key is lower.
#[test]
fn whoever_cannot_be_reached_dials() {
    play(async {
        let mut members = members(3, Kind::Tcp);
        members[2].reachable = false;
        let listen = std::mem::take(&mut members[2].addresses);
        assert!(!listen.is_empty());
        let mut hosts = Vec::new();
        for peer in 0..3 {
            hosts.push(host(peer, &members, LIMIT).await);
        }
        let [mut one, mut two, mut three] = <[Host; 3]>::try_from(hosts).expect("three");
        let both = async |host: &mut Host, own: usize| {
            let others = (0..3).filter(|other| *other != own);
            are_up(host, others.map(id)).await;
        };
        tokio::join!(both(&mut one, 0), both(&mut two, 1), both(&mut three, 2));
        assert!(three.addresses().is_empty());
    });
}

/// The stranger knows everybody, and nobody knows it.
#[test]
fn a_stranger_is_refused() {
    for kind in [Kind::Tcp, Kind::Quic] {
        play(async {
            let known = members(2, kind);
            let mut hosts = [host(0, &known, LIMIT).await, host(1, &known, LIMIT).await];
            let mut all = known;
            all.push(MemberAddress {
                id: id(2),
                addresses: vec![free_address(kind)],
                // So that it is the one who dials.
                reachable: false,
            });
            let stranger = host(2, &all, LIMIT).await;
            stranger.broadcast(frame("let me in")).expect("short");
            is_up(&mut hosts[0], id(1)).await;
            is_up(&mut hosts[1], id(0)).await;
            let [one, two] = &mut hosts;
            let nothing = async {
                tokio::select! {
                    event = one.next() => event,
                    event = two.next() => event,
                }
            };
            let event = timeout(Duration::from_secs(1), nothing).await;
            assert!(event.is_err(), "{event:?}");
            // The stranger's end may see connections that are closed at once, and none that stays.
            let is_out = || {
                let mut members = stranger.hub().members.values();
                members.all(|member| member.link.borrow().connection.is_none())
            };
            // Its own patience with a silent connection is 20 seconds.
            let out = async {
                while !is_out() {
                    sleep(Duration::from_millis(1)).await;
                }
            };
            let out = timeout(Duration::from_secs(5), out).await;
            assert!(out.is_ok(), "a stranger stays connected");
        });
    }
}

#[test]
fn a_host_that_is_gone_is_lost_to_all_others_after_the_grace() {
    let grace = Duration::from_secs(1);
    play(async {
        let members = members(3, Kind::Tcp);
        let mut one = host(0, &members, grace).await;
        let mut two = host(1, &members, grace).await;
        let mut gone = host(2, &members, grace).await;
        are_up(&mut gone, [id(0), id(1)]).await;
        is_up(&mut one, id(2)).await;
        is_up(&mut two, id(2)).await;
        let began = Instant::now();
        drop(gone);
        let lost = async |host: &mut Host| {
            let mut was_down = false;
            loop {
                match host.next().await {
                    HostEvent::Down(who) => {
                        assert_eq!(who, id(2));
                        was_down = true;
                    }
                    HostEvent::Lost(who) => {
                        assert_eq!((who, was_down), (id(2), true));
                        return began.elapsed();
                    }
                    HostEvent::Up(_) => {}
                    other => panic!("{other:?}"),
                }
            }
        };
        let after = tokio::join!(lost(&mut one), lost(&mut two));
        for after in [after.0, after.1] {
            assert!(
                after >= grace && after < grace + Duration::from_secs(1),
                "{after:?}"
            );
        }
        // It may come back: it is dialled on.
        let back = host(2, &members, grace).await;
        back.broadcast(frame("here again")).expect("short");
        assert_eq!(heard_after_up(&mut one).await, b"here again");
        drop(back);
    });
}

async fn heard_after_up(host: &mut Host) -> Vec<u8> {
    is_up(host, id(2)).await;
    heard(host).await.1
}

/// The caller of member 1 reads nothing for a while; what it is told waits.
#[test]
fn events_wait_for_a_slow_caller() {
    play(async {
        let members = members(2, Kind::Tcp);
        let one = host(0, &members, LIMIT).await;
        let mut two = host(1, &members, LIMIT).await;
        for number in 0..1000_u32 {
            let bytes = number.to_le_bytes();
            one.broadcast(Arc::from(bytes)).expect("within the limit");
        }
        sleep(Duration::from_millis(300)).await;
        for number in 0..1000_u32 {
            assert_eq!(heard(&mut two).await.1, number.to_le_bytes());
        }
    });
}

#[test]
fn what_is_said_last_arrives_before_the_connection_is_closed() {
    for kind in [Kind::Tcp, Kind::Quic] {
        play(async {
            let members = members(2, kind);
            let mut one = host(0, &members, LIMIT).await;
            let mut two = host(1, &members, LIMIT).await;
            is_up(&mut one, id(1)).await;
            let long: Arc<[u8]> = vec![7; super::super::MAX_CONTROL_LEN].into();
            one.broadcast(Arc::clone(&long)).expect("within the limit");
            one.broadcast(frame("good-bye")).expect("short");
            let shut = tokio::spawn(one.shutdown(LIMIT));
            assert_eq!(heard(&mut two).await.1, *long);
            assert_eq!(heard(&mut two).await.1, b"good-bye");
            shut.await.expect("ends");
        });
    }
}

#[test]
fn setups_that_cannot_be_are_refused() {
    play(async {
        let start = async |change: fn(&mut HostSetup)| {
            let members = members(2, Kind::Tcp);
            let mut setup = HostSetup {
                identity: identity(0),
                listen: members[0].addresses.clone(),
                members,
                near: None,
                grace: LIMIT,
                limits: HostLimits::default(),
            };
            change(&mut setup);
            Host::start(setup).await.expect_err("refused")
        };
        let twice = start(|setup| setup.members[0].id = setup.members[1].id).await;
        assert!(matches!(twice, HostError::MemberTwice { id: who } if who == id(1)));
        let named = start(|setup| setup.listen = vec!["/dns4/localhost/tcp/0".to_owned()]).await;
        assert!(matches!(named, HostError::Address { .. }));
        let nowhere = start(|setup| setup.members[1].addresses = vec!["nowhere".to_owned()]).await;
        assert!(matches!(nowhere, HostError::Address { .. }));
        let elsewhere = start(|setup| setup.listen = vec!["/ip4/192.0.2.1/tcp/0".to_owned()]).await;
        assert!(matches!(elsewhere, HostError::Listen { .. }), "{elsewhere}");
    });
}

#[test]
fn a_run_that_does_not_fit_is_refused_and_there_is_one_run_only() {
    let session = rogue::pair();
    play(async {
        let members = members(2, Kind::Tcp);
        let mut host = host(0, &members, LIMIT).await;
        let mut run = peer_run(&session, 0);
        run.neighbours[0].1 = id(5);
        assert!(matches!(host.begin(run), Err(HostError::Neighbours)));
        let mut run = peer_run(&session, 0);
        run.neighbours.clear();
        assert!(matches!(host.begin(run), Err(HostError::Neighbours)));
        host.begin(peer_run(&session, 0)).expect("fits");
        let again = host.begin(peer_run(&session, 0));
        assert!(matches!(again, Err(HostError::BegunBefore)));
    });
}
