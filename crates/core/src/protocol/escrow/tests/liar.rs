//! One liar that tells different peers different things about certificates, step by step.

use super::*;

/// Peer 0, whose contribution it is about, six holders, and number 7, who lies.
const OWNER: PeerIndex = PeerIndex(0);
const LIAR: PeerIndex = PeerIndex(7);

struct Session {
    peers: Vec<Escrow>,
    disks: Vec<Vec<Record>>,
    seals: Vec<BTreeMap<PeerIndex, Seal>>,
}

fn threshold() -> Threshold {
    Threshold::new(7, 1, 1).expect("seven neighbours")
}

fn order(dealer: PeerIndex, view: u64) -> Order {
    Order {
        attempt: attempt(0, view),
        dealer,
        threshold: threshold(),
        holders: peers((0..8).filter(|p| *p != dealer.0)),
        values: vec![dealer.0 as u8; 24],
        scale: 0.5,
    }
}

impl Session {
    fn new() -> Self {
        let escrow = |me| Escrow::new(me, SESSION, threshold(), 7);
        Self {
            peers: peers(0..7).into_iter().map(escrow).collect(),
            disks: vec![Vec::new(); 7],
            seals: Vec::new(),
        }
    }

    fn take<A>(
        &mut self,
        peer: PeerIndex,
        step: impl FnOnce(&mut Escrow) -> Result<Durable<'_, A>, Refused>,
    ) -> Result<A, Refused> {
        let disk = &mut self.disks[peer.index()];
        let Ok(action) = step(&mut self.peers[peer.index()])?.persist(keep(disk));
        Ok(action)
    }

    fn enter(&mut self, number: u64, members: &[u32]) {
        for peer in peers(members.iter().copied()) {
            if peer == LIAR {
                continue;
            }
            let others = peers(members.iter().copied().filter(|o| *o != peer.0));
            let view = Membership::new(
                ViewNumber(number),
                [number as u8; 32],
                peers(members.iter().copied()),
                others,
            );
            let view = view.expect("in order");
            self.take(peer, |escrow| escrow.enter(view))
                .expect("a later view");
        }
    }

    /// Everybody seals, and everybody's seal reaches everybody.
    fn seal(&mut self, view: u64) {
        let mut seals = BTreeMap::new();
        for dealer in peers(0..7) {
            let root = root(dealer.0);
            let order = order(dealer, view);
            let seal = self.take(dealer, |escrow| order.with(|s| escrow.seal(&root, s)));
            seals.insert(dealer, seal.expect("the first one"));
        }
        let order = order(LIAR, view);
        let seal = order.with(|s| Seal::new(&root(LIAR.0), s)).expect("valid");
        seals.insert(LIAR, seal);
        for peer in peers(0..7) {
            for (dealer, seal) in seals.iter().filter(|(dealer, _)| **dealer != peer) {
                let key = escrow_key(*dealer, peer);
                self.take(peer, |escrow| escrow.hold(seal, &key))
                    .expect("a neighbour's");
            }
        }
        self.seals.push(seals);
    }

    /// The words of these peers, and the liar's.
    fn certificate(&mut self, view: u64, of: &[u32]) -> Certificate {
        let mut words = BTreeMap::new();
        for by in peers(of.iter().copied()) {
            let statement = self.take(by, |escrow| escrow.attest(attempt(0, view)));
            words.insert(by, sign(by, &statement.expect("all is held")));
        }
        let statement = held_statement(SESSION, attempt(0, view), &[view as u8; 32]);
        words.insert(LIAR, sign(LIAR, &statement));
        Certificate::new(attempt(0, view), words)
    }
}

#[test]
fn a_liar_alone_certifies_nothing() {
    // Everybody seals in two views, and in neither has anybody but the liar said that all is held. It says so of the first to the owner and of the
    // second to the others, who have lost the owner by then.
    let mut session = Session::new();
    session.enter(0, &[0, 1, 2, 3, 4, 5, 6, 7]);
    session.seal(0);
    session.enter(1, &[0, 1, 2, 3, 4, 5, 6, 7]);
    session.seal(1);
    for (view, who) in [(0, 0..1), (1, 1..7)] {
        let lie = session.certificate(view, &[]);
        for peer in peers(who) {
            let refused = session.take(peer, |escrow| escrow.certify(&lie, verify));
            let missing = CertificateError::Missing {
                by: PeerIndex(0),
                attempt: attempt(0, view),
            };
            assert_eq!(refused, Err(Refused::Certificate(missing)));
        }
    }
    session.enter(2, &[1, 2, 3, 4, 5, 6, 7]);
    let rule = |rule, view| Refused::Rule {
        rule,
        attempt: attempt(0, view),
    };
    let opened = session.take(OWNER, |escrow| escrow.open(attempt(0, 0), &root(0)));
    assert_eq!(opened, Err(rule(Rule::Certified, 0)));
    for peer in peers(1..7) {
        let given = session.take(peer, |escrow| escrow.release(OWNER, attempt(0, 1)));
        assert_eq!(given, Err(rule(Rule::Certified, 1)));
    }
}

#[test]
fn with_everybodys_word_for_both_attempts_the_later_one_alone_is_read() {
    let mut session = Session::new();
    let honest = [0, 1, 2, 3, 4, 5, 6];
    session.enter(0, &[0, 1, 2, 3, 4, 5, 6, 7]);
    session.seal(0);
    let first = session.certificate(0, &honest);
    session.enter(1, &[0, 1, 2, 3, 4, 5, 6, 7]);
    session.seal(1);
    let second = session.certificate(1, &honest);
    // The owner hears of the first, the others of both, and the owner is gone.
    session
        .take(OWNER, |e| e.certify(&first, verify))
        .expect("all signed");
    let rule = |rule, view| Refused::Rule {
        rule,
        attempt: attempt(0, view),
    };
    let opened = session.take(OWNER, |escrow| escrow.open(attempt(0, 0), &root(0)));
    assert_eq!(opened, Err(rule(Rule::LastSealed, 0)));
    for peer in peers(1..7) {
        for certificate in [&first, &second] {
            session
                .take(peer, |e| e.certify(certificate, verify))
                .expect("all signed");
        }
        let early = session.take(peer, |e| e.release(OWNER, attempt(0, 1)));
        assert_eq!(early, Err(rule(Rule::StillThere, 1)));
    }
    session.enter(2, &[1, 2, 3, 4, 5, 6, 7]);
    let mut shares = Vec::new();
    for peer in peers(1..7) {
        let earlier = session.take(peer, |e| e.release(OWNER, attempt(0, 0)));
        assert_eq!(earlier, Err(rule(Rule::LaterSeal, 0)));
        let share = session.take(peer, |e| e.release(OWNER, attempt(0, 1)));
        shares.push(share.expect("certified, and the owner is out"));
        // Again is the same again, and whoever comes back from its disk gives the same.
        let again = session.take(peer, |e| e.release(OWNER, attempt(0, 1)));
        assert_eq!(again.as_ref(), Ok(&shares[shares.len() - 1]));
        let records = session.disks[peer.index()].iter().cloned();
        let back = Escrow::replay(peer, SESSION, threshold(), 7, records);
        assert_eq!(back, session.peers[peer.index()]);
    }
    // Five shares of seven open: what the owner sealed, in the bytes that it sealed.
    let seal = &session.seals[1][&OWNER];
    assert_eq!(threshold().shares(), 5);
    let (key, values) = seal.recover(&shares[1..]).expect("five shares");
    assert_eq!(values, vec![0; 24]);
    assert_eq!(seal.open(&key).expect("its key"), values);
    let few = seal.recover(&shares[..4]);
    let expected = ShareError::TooFew {
        found: 4,
        needed: 5,
    };
    assert_eq!(few.err(), Some(SealError::Shares(expected)));
}

#[test]
fn what_does_not_belong_is_refused_and_changes_nothing() {
    let mut session = Session::new();
    let (mine, now) = (PeerIndex(1), attempt(0, 0));
    let refused = session.take(mine, |e| e.attest(now));
    assert_eq!(refused, Err(Refused::NotNow { attempt: now }));
    session.enter(0, &[0, 1, 2, 3, 4, 5, 6, 7]);
    let before = session.peers.clone();
    let view = |number, members: &[u32]| {
        let others = peers(members.iter().copied().filter(|o| *o != 1));
        Membership::new(
            ViewNumber(number),
            [0; 32],
            peers(members.iter().copied()),
            others,
        )
        .expect("in order")
    };
    let entered = session.take(mine, |e| e.enter(view(0, &[0, 1, 2, 3, 4, 5, 6])));
    let old = Refused::OldView {
        number: ViewNumber(0),
        current: ViewNumber(0),
    };
    assert_eq!(entered, Err(old));
    for small in [&[0, 1, 2, 3, 4, 5][..], &[0, 2, 3, 4, 5, 6, 7]] {
        let refused = session.take(mine, |e| e.enter(view(1, small)));
        assert!(matches!(
            refused,
            Err(Refused::SmallView {
                number: ViewNumber(1),
                ..
            })
        ));
    }
    let seal = |session: &mut Session, order: &Order| {
        let root = root(1);
        session.take(mine, |e| order.with(|s| e.seal(&root, s)))
    };
    let holders = Err(Refused::Holders { attempt: now });
    let mut other = order(mine, 0);
    other.holders.pop();
    assert_eq!(seal(&mut session, &other), holders);
    other = order(PeerIndex(2), 0);
    assert_eq!(seal(&mut session, &other), holders);
    other = order(mine, 0);
    other.threshold = Threshold::forged(2);
    assert_eq!(seal(&mut session, &other), holders);
    let later = order(mine, 1);
    let not_now = Refused::NotNow {
        attempt: later.attempt,
    };
    assert_eq!(seal(&mut session, &later), Err(not_now));
    assert_eq!(session.peers, before);

    session.seal(0);
    // Sealed once: the bytes are there, and no others are made.
    let mut changed = order(mine, 0);
    changed.values[0] ^= 1;
    let twice = Refused::Sealed { attempt: now };
    assert_eq!(seal(&mut session, &changed), Err(twice));
    let kept = session.peers[1].sealed(now).expect("sealed");
    assert_eq!(kept, &session.seals[0][&mine]);
    // Somebody seals two contributions, or is no neighbour.
    let mut second = order(PeerIndex(2), 0);
    second.values[0] ^= 1;
    let second = second.with(|s| Seal::new(&root(2), s)).expect("valid");
    let key = escrow_key(PeerIndex(2), mine);
    let refused = session.take(mine, |e| e.hold(&second, &key));
    let twice = Refused::Twice {
        dealer: PeerIndex(2),
        attempt: now,
    };
    assert_eq!(refused, Err(twice));
    let own = session.seals[0][&mine].clone();
    let refused = session.take(mine, |e| e.hold(&own, &key));
    assert_eq!(refused, Err(Refused::NoNeighbour { dealer: mine }));

    // In the next view somebody is at another scale, and nobody who sees that says that all is well.
    session.enter(1, &[0, 1, 2, 3, 4, 5, 6, 7]);
    let next = attempt(0, 1);
    for dealer in (0..8).rev() {
        let mut order = order(PeerIndex(dealer), 1);
        if dealer == 7 {
            order.scale = 0.25;
        }
        if dealer == 1 {
            seal(&mut session, &order).expect("the first in this view");
            continue;
        }
        let sealed = order.with(|s| Seal::new(&root(dealer), s)).expect("valid");
        let refused = session.take(mine, |e| e.attest(next));
        let missing = match dealer {
            0 => Refused::NotHeld {
                dealer: PeerIndex(0),
                attempt: next,
            },
            _ => Refused::NotSealed { attempt: next },
        };
        assert_eq!(refused, Err(missing));
        let key = escrow_key(PeerIndex(dealer), mine);
        session
            .take(mine, |e| e.hold(&sealed, &key))
            .expect("a neighbour's");
    }
    let refused = session.take(mine, |e| e.attest(next));
    let disagree = Refused::Disagree {
        dealer: LIAR,
        attempt: next,
    };
    assert_eq!(refused, Err(disagree));

    // What is over is over, also after a restart.
    let Ok(()) = session.peers[1]
        .close(ReleaseId(2))
        .persist(keep(&mut session.disks[1]));
    let over = Err(Refused::Over { attempt: now });
    let opened = session.take(mine, |e| e.open(now, &root(1)));
    assert_eq!(opened.map(drop), over);
    let given = session.take(mine, |e| e.release(OWNER, now));
    assert_eq!(given.map(drop), over);
    assert!(session.peers[1].sealed(now).is_none() && session.peers[1].held(OWNER, now).is_none());
    let records = session.disks[1].iter().cloned();
    let back = Escrow::replay(mine, SESSION, threshold(), 7, records);
    assert_eq!(back, session.peers[1]);
    // A step whose record cannot be written has not happened.
    let before = session.peers[2].clone();
    let step = session.peers[2].close(ReleaseId(5));
    assert_eq!(step.persist(|_| Err("disk full")), Err("disk full"));
    assert_eq!(session.peers[2], before);
}

#[test]
fn strangers_and_forgers_make_no_certificate() {
    let mut session = Session::new();
    session.enter(0, &[0, 1, 2, 3, 4, 5, 6, 7]);
    session.seal(0);
    let good = session.certificate(0, &[0, 1, 2, 3, 4, 5, 6]);
    let words = || {
        let statement = held_statement(SESSION, attempt(0, 0), &[0; 32]);
        peers(0..8)
            .into_iter()
            .map(move |by| (by, sign(by, &statement)))
    };
    assert_eq!(good, Certificate::new(attempt(0, 0), words().collect()));
    let mut refused = |certificate: Certificate| {
        let error = session.take(OWNER, |e| e.certify(&certificate, verify));
        error.expect_err("no certificate")
    };
    let now = attempt(0, 0);
    let error = |error| Refused::Certificate(error);
    let mut forged: BTreeMap<_, _> = words().collect();
    forged.insert(PeerIndex(3), sign(LIAR, b"anything"));
    let by = PeerIndex(3);
    let expected = error(CertificateError::Signature { by, attempt: now });
    assert_eq!(refused(Certificate::new(now, forged)), expected);
    let mut more: BTreeMap<_, _> = words().collect();
    let by = PeerIndex(9);
    more.insert(by, [0; SIGNATURE_LEN]);
    let expected = error(CertificateError::Stranger { by, attempt: now });
    assert_eq!(refused(Certificate::new(now, more)), expected);
    // Words for a view of the same number and other links, or of another session.
    let by = PeerIndex(0);
    for (session, view) in [(SESSION, [1; 32]), (SessionId([8; 16]), [0; 32])] {
        let statement = held_statement(session, now, &view);
        let words = peers(0..8).into_iter().map(|by| (by, sign(by, &statement)));
        let expected = error(CertificateError::Signature { by, attempt: now });
        assert_eq!(refused(Certificate::new(now, words.collect())), expected);
    }
    // For another attempt the same words are none, and of an unknown view nothing is known.
    let other = attempt(1, 0);
    let by = PeerIndex(0);
    let expected = error(CertificateError::Signature { by, attempt: other });
    assert_eq!(
        refused(Certificate::new(other, words().collect())),
        expected
    );
    let unknown = attempt(0, 3);
    let expected = Refused::UnknownView { attempt: unknown };
    assert_eq!(
        refused(Certificate::new(unknown, words().collect())),
        expected
    );
    session
        .take(OWNER, |e| e.certify(&good, verify))
        .expect("all signed");
    assert!(session.peers[0].is_certified(now));
}

#[test]
fn a_holder_gives_one_share_of_a_try_even_if_signatures_are_worth_nothing() {
    // Views in which the owner is there, gone, there again and gone again, and certificates that anybody can make.
    let mut session = Session::new();
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    let (holder, everything) = (PeerIndex(3), |_, _: &[u8], _: &[u8; SIGNATURE_LEN]| true);
    let certify = |session: &mut Session, view| {
        let words = peers(all).into_iter().map(|by| (by, [0; SIGNATURE_LEN]));
        let certificate = Certificate::new(attempt(0, view), words.collect());
        session
            .take(holder, |e| e.certify(&certificate, everything))
            .expect("anybody's");
    };
    for view in [0, 2] {
        session.enter(view, &all);
        session.seal(view);
        certify(&mut session, view);
        session.enter(view + 1, &all[1..]);
        let given = session.take(holder, |e| e.release(OWNER, attempt(0, view)));
        let refused = Refused::Rule {
            rule: Rule::OneShare,
            attempt: attempt(0, view),
        };
        match view {
            0 => assert!(given.is_ok()),
            _ => assert_eq!(given.map(drop), Err(refused)),
        }
    }
}

#[test]
fn once_a_try_is_repeated_nothing_of_it_is_given_up() {
    let mut session = Session::new();
    let (holder, all) = (PeerIndex(3), [0, 1, 2, 3, 4, 5, 6, 7]);
    session.enter(0, &all);
    session.seal(0);
    let certificate = session.certificate(0, &all[..7]);
    session
        .take(holder, |e| e.certify(&certificate, verify))
        .expect("all signed");
    let mut again = order(OWNER, 0);
    again.attempt = attempt(1, 0);
    let seal = session.take(OWNER, |e| again.with(|s| e.seal(&root(0), s)));
    let key = escrow_key(OWNER, holder);
    session
        .take(holder, |e| e.hold(&seal.expect("another try"), &key))
        .expect("a neighbour's");
    session.enter(1, &all[1..]);
    let refused = Refused::Rule {
        rule: Rule::LaterSeal,
        attempt: attempt(0, 0),
    };
    let given = session.take(holder, |e| e.release(OWNER, attempt(0, 0)));
    assert_eq!(given.map(drop), Err(refused));
    // The owner in turn opens nothing but the last that it sealed.
    session.enter(2, &all);
    let opened = session.take(OWNER, |e| e.certify(&certificate, verify));
    assert_eq!(opened, Ok(()));
    let opened = session.take(OWNER, |e| e.open(attempt(0, 0), &root(0)));
    let refused = Refused::Rule {
        rule: Rule::LastSealed,
        attempt: attempt(0, 0),
    };
    assert_eq!(opened.map(drop), Err(refused));
}
