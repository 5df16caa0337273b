//! Seals open with their keys and with shares, and with nothing else.

use std::sync::Arc;

use rand::{Rng, RngExt};

use super::*;
use crate::vocabulary::{Label, Seed};

fn order(holders: u32, shares: u8, bytes: usize) -> Order {
    Order {
        attempt: attempt(2, 5),
        dealer: PeerIndex(40),
        threshold: Threshold::forged(shares),
        holders: peers((0..holders).map(|h| 3 * h + 1)),
        values: (0..bytes).map(|i| (i * 7 % 251) as u8).collect(),
        scale: 0.3125,
    }
}

fn sealed(order: &Order) -> Seal {
    order.with(|s| Seal::new(&root(40), s)).expect("valid")
}

#[test]
fn a_seal_opens_with_its_key_and_with_enough_shares() {
    for (holders, shares, bytes) in [(1, 1, 0), (5, 3, 1), (7, 5, 4096), (8, 2, 10_001)] {
        let order = order(holders, shares, bytes);
        let seal = sealed(&order);
        assert_eq!(seal.frame().len(), seal_len(holders as usize, bytes));
        let read = Seal::read(seal.frame().clone(), &hidden(&seal), &order.expected());
        assert_eq!(read.as_ref(), Ok(&seal));
        assert_eq!((seal.scale(), seal.query()), (0.3125, [9; 32]));
        assert_eq!(
            (seal.attempt(), seal.dealer()),
            (order.attempt, order.dealer)
        );
        let key = root(40).key(order.attempt);
        assert_eq!(seal.open(&key).as_ref(), Ok(&order.values));
        let all: Vec<Share> = order
            .holders
            .iter()
            .map(|h| {
                seal.share_of(*h, &escrow_key(order.dealer, *h))
                    .expect("its own")
            })
            .collect();
        for first in 0..=all.len() {
            let recovered = seal.recover(&all[first..]);
            match all.len() - first >= usize::from(shares) {
                true => assert_eq!(recovered, Ok((key.clone(), order.values.clone()))),
                false => assert!(matches!(recovered, Err(SealError::Shares(_)))),
            }
        }
        // Sealed again it is the same frame; nothing of it shows the values.
        assert_eq!(sealed(&order), seal);
        if bytes > 100 {
            let part = &order.values[..32];
            assert!(seal.frame().windows(32).all(|window| window != part));
        }
    }
}

#[test]
fn other_attempts_dealers_and_values_have_other_keys_streams_and_shares() {
    let one = sealed(&order(5, 3, 64));
    let tail = |seal: &Seal| seal.frame()[SEAL_HEAD_LEN + 5 * SEAL_HASH_LEN..].to_vec();
    let share = |seal: &Seal| {
        let hash = &seal.frame()[SEAL_HEAD_LEN..SEAL_HEAD_LEN + SEAL_HASH_LEN];
        (hash.to_vec(), hidden(seal)[0])
    };
    let mut later = order(5, 3, 64);
    later.attempt.view.0 += 1;
    let mut retried = order(5, 3, 64);
    retried.attempt.retry += 1;
    let mut release = order(5, 3, 64);
    release.attempt.release = ReleaseId(2);
    for other in [later, retried, release] {
        let other = sealed(&other);
        assert_ne!((tail(&other), other.commit()), (tail(&one), one.commit()));
        assert_ne!(share(&other).0, share(&one).0);
        assert_ne!(share(&other).1, share(&one).1);
        let keys = [&one, &other].map(|seal| root(40).key(seal.attempt()));
        assert_ne!(keys[0], keys[1]);
        // With the same coefficients two shares of one holder would differ as the keys do.
        let shares = [&one, &other].map(|seal| {
            let key = escrow_key(seal.dealer(), PeerIndex(4));
            seal.share_of(PeerIndex(4), &key).expect("its own")
        });
        let sum = |a: &[u8; 32], b: &[u8; 32]| -> Vec<u8> {
            a.iter().zip(b).map(|(a, b)| a ^ b).collect()
        };
        let of_shares = sum(shares[0].value(), shares[1].value());
        assert_ne!(of_shares, sum(keys[0].secret(), keys[1].secret()));
    }
    // Another value under the same key has another stream: the sum of two ciphertexts is not that of two contributions.
    let mut changed = order(5, 3, 64);
    changed.values[0] ^= 1;
    let changed = sealed(&changed);
    let same = tail(&changed)
        .iter()
        .zip(tail(&one))
        .filter(|(a, b)| **a == *b)
        .count();
    assert!(same < 16, "{same} of 64 bytes are equal");
    // A root gives different peers nothing in common.
    assert_ne!(root(41).key(attempt(2, 5)), root(40).key(attempt(2, 5)));
}

#[test]
fn every_bit_of_a_seal_counts() {
    let order = order(3, 2, 5);
    let seal = sealed(&order);
    let key = root(40).key(order.attempt);
    let expected = order.expected();
    let length = seal.frame().len();
    for bit in 0..8 * (length + 3 * HIDDEN_SHARE_LEN) {
        let (mut bytes, mut shares) = (seal.frame().to_vec(), hidden(&seal));
        match (bit / 8).checked_sub(length) {
            None => bytes[bit / 8] ^= 1 << (bit % 8),
            Some(at) => shares[at / 32].1[at % 32] ^= 1 << (bit % 8),
        }
        let Ok(changed) = Seal::read(bytes.into(), &shares, &expected) else {
            assert!(bit / 8 < SEAL_HEAD_LEN, "bit {bit}");
            continue;
        };
        assert_eq!(changed.digest() == seal.digest(), bit / 8 >= length);
        let shares = order.holders.iter().map(|h| {
            let share = changed.share_of(*h, &escrow_key(order.dealer, *h));
            share.is_err()
        });
        let wrong_shares = shares.filter(|wrong| *wrong).count();
        let at = bit / 8;
        let in_hashes = (SEAL_HEAD_LEN..SEAL_HEAD_LEN + 3 * SEAL_HASH_LEN).contains(&at);
        let in_shares = in_hashes || at >= length;
        assert_eq!(wrong_shares, usize::from(in_shares), "bit {bit}");
        assert_eq!(changed.open(&key).is_ok(), in_shares, "bit {bit}");
    }
}

#[test]
fn wrong_keys_shares_and_dealers_are_told_apart() {
    let order = order(4, 3, 100);
    let seal = sealed(&order);
    let other = SealKey::from_secret(&secret(&[77]));
    assert_eq!(seal.open(&other), Err(SealError::Key));
    // The other direction's key.
    let holder = order.holders[2];
    let wrong = seal.share_of(holder, &escrow_key(holder, order.dealer));
    assert_eq!(wrong.err(), Some(SealError::Share { point: 3 }));
    let stranger = PeerIndex(2);
    let refused = seal.share_of(stranger, &escrow_key(order.dealer, stranger));
    assert_eq!(
        refused.err(),
        Some(SealError::NotAHolder { peer: stranger })
    );
    for point in [1, 4, 5, 255] {
        let made_up = Share::new(point, &secret(&[5])).expect("a point");
        assert_eq!(seal.check_share(&made_up), Err(SealError::Share { point }));
        let recovered = seal.recover(&[made_up]);
        assert_eq!(recovered.err(), Some(SealError::Share { point }));
    }
    // A dealer that names shares of another key: all are right, and it is known who dealt them. What it can do is put the shares of one
    // attempt under the commitment of another.
    let mut frame = seal.frame().to_vec();
    frame[SEAL_HEAD_LEN - 32] ^= 1;
    let dealt: Arc<[u8]> = frame.into();
    let dealt = Seal::read(dealt, &hidden(&seal), &order.expected());
    let dealt = dealt.expect("nobody can tell yet");
    let shares: Vec<Share> = order
        .holders
        .iter()
        .map(|h| {
            dealt
                .share_of(*h, &escrow_key(order.dealer, *h))
                .expect("as named")
        })
        .collect();
    let expected = SealError::Dealt {
        dealer: order.dealer,
    };
    assert_eq!(dealt.recover(&shares).err(), Some(expected));
}

/// What a holder is sent: the frame that all are sent, and of the shares its own, which is all that it ever reads. With the shares that others give up it opens the
/// seal as its dealer's own copy would be.
#[test]
fn the_copy_of_a_holder_has_its_own_share_and_opens_with_those_of_others() {
    let order = order(5, 3, 200);
    let seal = sealed(&order);
    let copies = order.holders.iter().map(|&holder| {
        let share = *seal.hidden_for(holder).expect("the dealer has all");
        let copy = Seal::read(seal.frame().clone(), &[(holder, share)], &order.expected());
        copy.expect("as sealed")
    });
    let copies: Vec<Seal> = copies.collect();
    let share = |copy: &Seal, holder| copy.share_of(holder, &escrow_key(order.dealer, holder));
    let given = order.holders.iter().zip(&copies);
    let given = given.map(|(holder, copy)| share(copy, *holder).expect("its own"));
    let given: Vec<Share> = given.collect();
    let key = root(40).key(order.attempt);
    for (place, (copy, &holder)) in copies.iter().zip(&order.holders).enumerate() {
        assert_eq!((copy.digest(), copy.hidden().count()), (seal.digest(), 1));
        for &other in order.holders.iter().filter(|other| **other != holder) {
            let refused = SealError::NotAHolder { peer: other };
            assert_eq!(share(copy, other), Err(refused));
            assert_eq!(copy.hidden_for(other), None);
        }
        let first = place.min(2);
        let opened = copy.recover(&given[first..first + 3]);
        assert_eq!(opened, Ok((key.clone(), order.values.clone())));
        let few = copy.recover(&given[first..first + 2]);
        assert!(matches!(few, Err(SealError::Shares(_))));
    }
    // A share of somebody who holds none.
    let stranger = PeerIndex(2);
    let read = Seal::read(
        seal.frame().clone(),
        &[(stranger, [0; 32])],
        &order.expected(),
    );
    assert_eq!(read, Err(SealError::NotAHolder { peer: stranger }));
}

#[test]
fn what_cannot_be_sealed_is_refused() {
    let refused = |change: &dyn Fn(&mut Order)| {
        let mut order = order(4, 3, 8);
        change(&mut order);
        order
            .with(|s| Seal::new(&root(40), s))
            .expect_err("not valid")
    };
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = refused(&|order| order.scale = scale);
        assert!(matches!(error, SealError::Scale { .. }));
    }
    let few = refused(&|order| order.holders.truncate(2));
    let expected = ShareError::Holders {
        found: 2,
        needed: 3,
    };
    assert_eq!(few, SealError::Shares(expected));
    let many = refused(&|order| order.holders = peers(100..400));
    assert!(matches!(
        many,
        SealError::Shares(ShareError::Holders { found: 300, .. })
    ));
    assert_eq!(refused(&|order| order.holders.swap(0, 1)), SealError::Order);
    assert_eq!(
        refused(&|order| order.holders[3] = order.dealer),
        SealError::Order
    );
}

#[test]
fn nothing_secret_is_printed() {
    let order = order(3, 2, 5);
    let seal = sealed(&order);
    let share = seal.share_of(PeerIndex(1), &escrow_key(order.dealer, PeerIndex(1)));
    let key = root(40).key(order.attempt);
    let held = HeldSeal {
        digest: seal.digest(),
        scale: 1.0,
        query: [0; 32],
        share: share.expect("its own"),
    };
    let printed = format!(
        "{:?} {key:?} {:?} {held:?} {seal:?}",
        root(40),
        escrow_key(PeerIndex(1), PeerIndex(2))
    );
    for secret in [key.secret(), held.share.value()] {
        assert!(
            !printed.contains(&format!("{secret:?}")[1..20]),
            "{printed}"
        );
    }
    assert!(printed.contains("SealRoot(redacted) SealKey(redacted) EscrowKey(redacted)"));
    assert!(printed.contains("Share(1, redacted)") && printed.contains("Seal(peer 40, release 1"));
}

#[test]
fn contributions_of_any_length_go_through_the_stream() {
    let mut rng = Seed::from_u64(1812).generator(Label::Scenario);
    for _ in 0..30 {
        let bytes = rng.random_range(0..20_000);
        let mut order = order(3, 2, bytes);
        rng.fill_bytes(&mut order.values);
        let seal = sealed(&order);
        let key = root(40).key(order.attempt);
        assert_eq!(seal.open(&key).as_ref(), Ok(&order.values));
    }
}
