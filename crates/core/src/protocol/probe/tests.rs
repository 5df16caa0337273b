//! The projection itself: drawn by all, read alike by all, and blind to an error only as rarely as is stated.

use super::{Nonce, Probe, Reading};
use crate::protocol::message::SessionId;
use crate::vocabulary::{PeerIndex, ReleaseId};

const SESSION: SessionId = SessionId([3; 16]);

fn probe(number: u64, values: usize) -> Probe {
    let mut nonce = [7; 32];
    nonce[..8].copy_from_slice(&number.to_le_bytes());
    let nonces = [Nonce(nonce), Nonce([1; 32])];
    Probe::of(&nonces, SESSION, ReleaseId(1), values)
}

#[test]
fn every_nonce_and_the_release_decide_the_probe() {
    let of = |a: u8, b: u8, release| {
        let nonces = [Nonce([a; 32]), Nonce([b; 32])];
        let probe = Probe::of(&nonces, SESSION, ReleaseId(release), 3);
        probe.read(&[1.0, 2.0, 4.0])
    };
    let one = of(1, 2, 1);
    assert_eq!(one, of(1, 2, 1));
    for other in [of(2, 1, 1), of(1, 3, 1), of(0, 2, 1), of(1, 2, 2)] {
        assert_ne!(one, other);
    }
    let [first, second] = one.projections;
    assert_ne!(first.to_bits(), second.to_bits(), "two vectors");
}

#[test]
fn commitments_bind_whose_nonce_it_is_and_for_what() {
    let nonce = Nonce([5; 32]);
    let one = nonce.commitment(SESSION, ReleaseId(1), PeerIndex(2));
    let other_session = SessionId([4; 16]);
    let others = [
        nonce.commitment(other_session, ReleaseId(1), PeerIndex(2)),
        nonce.commitment(SESSION, ReleaseId(2), PeerIndex(2)),
        nonce.commitment(SESSION, ReleaseId(1), PeerIndex(3)),
        Nonce([6; 32]).commitment(SESSION, ReleaseId(1), PeerIndex(2)),
    ];
    assert!(others.iter().all(|other| *other != one));
    assert_eq!(format!("{nonce:?}"), "Nonce(…)", "it is secret at first");
}

/// Over 2,000 probes the entry of one coordinate has mean 0 and variance 1/3: |mean| and |variance − ⅓| beyond 6 standard errors have a
/// probability of 4e-9.
#[test]
fn entries_are_uniform_and_independent_of_one_another() {
    let runs = 2000;
    let (mut sum, mut squares, mut products) = (0.0, 0.0, 0.0);
    for number in 0..runs {
        let probe = probe(number, 2);
        let [first, _] = probe.read(&[1.0, 0.0]).projections;
        let [other, _] = probe.read(&[0.0, 1.0]).projections;
        assert!((-1.0..1.0).contains(&first));
        sum += first;
        squares += first * first;
        products += first * other;
    }
    let n = runs as f64;
    let (mean, variance, covariance) = (sum / n, squares / n, products / n);
    assert!(mean.abs() < 6.0 * (1.0 / 3.0 / n).sqrt(), "{mean}");
    let spread = (4.0 / 45.0 / n).sqrt();
    assert!((variance - 1.0 / 3.0).abs() < 6.0 * spread, "{variance}");
    let spread = 1.0 / 3.0 / n.sqrt();
    assert!(covariance.abs() < 6.0 * spread, "{covariance}");
}

/// An error of largest entry e has both projections within τ with probability (τ/e)² at most: with e = 1 and τ = 0.3 that is 0.09, here for
/// errors of one and of three entries, over 4,000 probes; 5 standard errors above it have a probability of 3e-7.
#[test]
fn an_error_is_overlooked_as_rarely_as_is_stated() {
    let runs = 4000;
    let bound: f64 = 0.09;
    let limit = bound + 5.0 * (bound * (1.0 - bound) / runs as f64).sqrt();
    for error in [vec![1.0, 0.0, 0.0], vec![1.0, -0.7, 0.4]] {
        let overlooked = (0..runs).filter(|number| {
            let read = probe(*number, 3).read(&error);
            read.projections.iter().all(|p| p.abs() <= 0.3)
        });
        let share = overlooked.count() as f64 / runs as f64;
        assert!(share <= limit, "{share} {error:?}");
        assert!(share > 0.02, "{share}: the bound is not idle");
    }
}

#[test]
fn readings_are_compared_by_bits_and_refused_where_they_are_no_numbers() {
    let read = probe(1, 2).read(&[0.0, 0.0]);
    let minus = Reading {
        projections: [-0.0, 0.0],
        ..read
    };
    assert!(read.is_sound());
    assert_eq!(read, probe(1, 2).read(&[0.0, 0.0]));
    assert_ne!(
        read.projections[0].to_bits(),
        minus.projections[0].to_bits()
    );
    assert_ne!(read, minus);
    for bad in [f64::NAN, f64::INFINITY] {
        let projections = [bad, 0.0];
        assert!(
            !Reading {
                projections,
                ..read
            }
            .is_sound()
        );
        let magnitude = bad;
        assert!(!Reading { magnitude, ..read }.is_sound());
    }
    let magnitude = -1.0;
    assert!(!Reading { magnitude, ..read }.is_sound());
}
