//! Bytes from the network and from a damaged disk.

use rand::{Rng, RngExt};

use super::*;
use crate::vocabulary::{Label, Seed};

fn order() -> Order {
    Order {
        attempt: attempt(0, 3),
        dealer: PeerIndex(2),
        threshold: Threshold::forged(3),
        holders: peers([0, 1, 4, 5, 6]),
        values: vec![17; 48],
        scale: 2.0,
    }
}

fn records() -> Vec<Record> {
    let order = order();
    let seal = order.with(|s| Seal::new(&root(2), s)).expect("valid");
    let view = Membership::new(ViewNumber(3), [4; 32], peers(0..7), order.holders.clone())
        .expect("in order");
    let share = seal.share_of(PeerIndex(4), &escrow_key(PeerIndex(2), PeerIndex(4)));
    vec![
        Record::Entered(view),
        Record::Held {
            dealer: PeerIndex(2),
            attempt: order.attempt,
            seal: HeldSeal {
                digest: seal.digest(),
                scale: seal.scale(),
                query: seal.query(),
                share: share.expect("its own"),
            },
        },
        Record::Sealed(seal),
        Record::Attested(order.attempt),
        Record::Certified(order.attempt),
        Record::Opened(order.attempt),
        Record::Released {
            dealer: PeerIndex(9),
            attempt: order.attempt,
        },
        Record::Closed(ReleaseId(4)),
    ]
}

fn read(bytes: &[u8]) -> Result<Record, RecordError> {
    Record::read(bytes, PeerIndex(2), Threshold::forged(3))
}

/// Changes, cuts or grows some bytes.
fn spoil(rng: &mut impl Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..bytes.len().max(1));
        match rng.random_range(0..6) {
            0 => bytes.truncate(at),
            1 => bytes.resize(bytes.len() + at % 9, 0xff),
            2 if at + 4 <= bytes.len() => rng.fill_bytes(&mut bytes[at..at + 4]),
            3 => bytes.iter_mut().take(at % 40).for_each(|b| *b = 0xff),
            _ if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
            _ => {}
        }
    }
}

#[test]
fn records_are_read_as_they_were_written_and_cut_ones_are_not() {
    for record in records() {
        let bytes = record.to_bytes();
        assert_eq!(read(&bytes).as_ref(), Ok(&record));
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut]).is_err(), "{record:?} cut at {cut}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(read(&longer).is_err());
    }
    // Somebody else's disk.
    let sealed = records().remove(2).to_bytes();
    let other = Record::read(&sealed, PeerIndex(3), Threshold::forged(3));
    assert!(other.is_err());
    assert_eq!(read(&[99]), Err(RecordError { at: 0 }));
}

#[test]
fn spoiled_seals_and_records_are_refused_or_harmless() {
    let mut rng = Seed::from_u64(1813).generator(Label::Scenario);
    let order = order();
    let seal = order.with(|s| Seal::new(&root(2), s)).expect("valid");
    let key = root(2).key(order.attempt);
    let (mut read_seals, mut opened) = (0, 0);
    for _ in 0..100_000 {
        let mut bytes = seal.frame().to_vec();
        spoil(&mut rng, &mut bytes);
        let Ok(found) = Seal::read(bytes.into(), &hidden(&seal), &order.expected()) else {
            continue;
        };
        read_seals += 1;
        // Whatever opens is what was sealed.
        if let Ok(values) = found.open(&key) {
            assert_eq!(values, order.values);
            opened += 1;
        }
        for holder in &order.holders {
            let share = found.share_of(*holder, &escrow_key(order.dealer, *holder));
            if let Ok(share) = share {
                assert_eq!(seal.check_share(&share), Ok(()));
            }
        }
    }
    assert!(
        read_seals > 10_000 && opened > 1000,
        "{read_seals} {opened}"
    );
    let records: Vec<Vec<u8>> = records().iter().map(|r| r.to_bytes().to_vec()).collect();
    let mut accepted = 0;
    for round in 0..100_000 {
        let mut bytes = records[round % records.len()].clone();
        spoil(&mut rng, &mut bytes);
        if let Ok(record) = read(&bytes) {
            // What is accepted is written as it was read.
            assert_eq!(*record.to_bytes(), bytes);
            accepted += 1;
        }
    }
    assert!(accepted > 1000, "{accepted}");
}
