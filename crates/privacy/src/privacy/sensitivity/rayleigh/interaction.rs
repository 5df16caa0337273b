//! One interaction.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::Rayleigh;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// One interaction added or removed, rows normalised with degree floor D: Δ is the larger of f(D) and the largest G(d) over
/// d > D, where, for d = m + 1 items,
///
/// - f(d) = max (a² + 2as)/D,
/// - G(d) = max (s² + 2mas − ma²)/(m(m + 1)),
///
/// both over 0 ≤ a ≤ h, 0 ≤ s ≤ mh, a² + s²/m ≤ 1. For small h it is (3 − 4/d)h² with d = ⌊1/h²⌋, about 3h².
///
/// # Proof
/// Let r = r′ + e_k be the larger row, d = |r|, m = d − 1, a = |v_k| and s the absolute value of Σ_{j∈r′} v_j. By ‖v‖_∞ ≤ h and,
/// with Cauchy's inequality, by ‖v‖₂ = 1, (a, s) lies in the set above. Every point of the set belongs to some v: entries of r′
/// equal to s/m, and what is left of the norm on other items, as many as it takes. The signs of v_k and the sum are free.
///
/// *d ≤ D.* Both rows are divided by √D, and the quotient moves by ((Σ + v_k)² − Σ²)/D, of absolute value at most (a² + 2as)/D, with
/// equality for equal signs. The set grows with d (more items may have v_j = 0), so the worst is d = D.
///
/// *d > D.* Then m ≥ D, r is divided by √d and r′ by √m: it moves by (Σ + v_k)²/d − Σ²/m. For opposite signs that is
/// −(s² + 2mas − ma²)/(md), for equal signs (ma² + 2mas − s²)/(md). Equal signs never are the worst: where the latter is negative, its
/// absolute value is no more than the former's, and so it is where s ≥ √m·a. Where s < √m·a and 2a² ≤ 1 it increases with s up to
/// s = √m·a, a point of the set where both are equal. Where 2a² > 1, so that 2h² > 1: if m ≥ 2, then s ≤ mh follows from the norm, the
/// arc below has its maximum inside, and G(d) = 1/√d is ‖P_r − P_{r′}‖₂ for the projectors P onto the two rows, which bounds both; if
/// m = 1, so that D = 1, it is at most a² ≤ h² = f(1), at s = a.
///
/// *The two maxima.* a² + 2as increases with both. On the arc a² + s²/m = 1 it is the quadratic form of [1 √m; √m 0] at a unit
/// vector, with one maximum at a² = λ/(2λ − 1), λ = (1 + √(1 + 4m))/2. G's form increases with s, and on the arc it is −1/√d times a
/// reflection: one maximum, 1/√d, at a² = (1 − 1/√d)/2. With s = mh it increases with a as long as a ≤ h ≤ s. So both maxima are at
/// the a of the arc's maximum, but at least where s = mh meets the arc, and at most h; s is then as large as the set allows.
///
/// *The largest G.* While d h² ≤ 1 the corner a = h, s = mh lies in the set and G(d) = (3 − 4/d)h² increases with d. For d h² ≥ 1 and
/// d ≥ 4 the maximum is on the arc at some a with 2a² ≤ 1, where G = [(1 − 2a²) + 2a√((1 − a²)(d − 1))]/d falls in d for every a. So the
/// largest G is at D + 1, 3, 4 or one of the two integers next to 1/h², where those are above D. ∎
///
/// Attained by the v of the proof.
impl Rule for Rayleigh<adjacency::Interaction> {
    const ADJACENCY: Adjacency = Adjacency::Interaction;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::RayleighQuotient;

    fn bound(public: &Public, entry: f64) -> f64 {
        bound(entry, f64::from(public.degree_floor))
    }
}

fn bound(entry: f64, floor: f64) -> f64 {
    let turn = (entry * entry).recip();
    let least = floor + 1.0;
    let beyond = [least, 3.0, 4.0, turn.floor(), turn.ceil()]
        .into_iter()
        .filter(|degree| *degree >= least && degree.is_finite())
        .map(|degree| diluted(entry, degree - 1.0));
    let worst = beyond.fold(raised(entry, floor - 1.0) / floor, f64::max);
    // An entry whose square underflows moves something all the same.
    worst.max(f64::MIN_POSITIVE)
}

/// The a of the maximum: that of the arc, between where s = m h meets the arc and h.
fn within(arc: f64, entry: f64, m: f64) -> (f64, f64) {
    let meets = (1.0 - m * entry * entry).max(0.0).sqrt();
    let a = arc.max(meets).min(entry);
    let s = (m * entry).min((m * (1.0 - a * a)).max(0.0).sqrt());
    (a, s)
}

/// D·f: an item joins m others in a row that is divided by the floor.
fn raised(entry: f64, m: f64) -> f64 {
    let lambda = 0.5 * (1.0 + (1.0 + 4.0 * m).sqrt());
    let (a, s) = within((lambda / (2.0 * lambda - 1.0)).sqrt(), entry, m);
    a * a + 2.0 * a * s
}

/// G: an item of the other sign joins m others in a row that is divided by its length.
fn diluted(entry: f64, m: f64) -> f64 {
    let arc = (0.5 * (1.0 - (m + 1.0).sqrt().recip())).sqrt();
    let (a, s) = within(arc, entry, m);
    ((s / m) * s + (2.0 * s - a) * a) / (m + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The change of the quotient for every number of items, every a and every s of a grid, both signs: no closed form.
    fn enumerated(entry: f64, floor: u32) -> f64 {
        const STEPS: i32 = 400;
        let mut worst = 0.0_f64;
        let most = floor.max((1.0 / (entry * entry)).ceil() as u32).max(4) + 3;
        for d in 1..=most {
            let m = f64::from(d - 1);
            let (with, without) = (f64::from(d.max(floor)), f64::from((d - 1).max(floor)));
            for step in 0..=STEPS {
                let a = entry * f64::from(step) / f64::from(STEPS);
                let largest = (m * entry).min((m * (1.0 - a * a)).max(0.0).sqrt());
                // Both forms are monotone or convex in s between these.
                let inner = (m * a).min(largest);
                for s in [0.0, inner, largest] {
                    for sign in [1.0, -1.0] {
                        let moved = (s + sign * a).powi(2) / with - s * s / without;
                        worst = worst.max(moved.abs());
                    }
                }
            }
        }
        worst
    }

    #[test]
    fn the_closed_form_is_the_enumerated_maximum() {
        for floor in [1, 2, 3, 4, 5, 20] {
            for step in 3..=40 {
                let entry = 0.025 * f64::from(step);
                let (closed, full) = (bound(entry, f64::from(floor)), enumerated(entry, floor));
                assert!(
                    closed >= full * (1.0 - 1e-12),
                    "{floor} {entry}: {closed} {full}"
                );
                // The grid in a misses the maximum by a few parts in ten thousand.
                assert!(
                    closed <= full * (1.0 + 1e-3),
                    "{floor} {entry}: {closed} {full}"
                );
            }
        }
    }

    #[test]
    fn documented_values() {
        // Four items of ±1/2: 16/4·(1/4) − ... = 3·(1/4) − 1/4.
        assert!((bound(0.5, 1.0) - 0.5).abs() < 1e-15);
        // One item alone, and a row that doubles.
        assert_eq!(bound(1.0, 1.0), 1.0);
        let small = bound(0.01, 1.0);
        assert!(
            (small / (3e-4 * (1.0 - 4e-4 / 3.0)) - 1.0).abs() < 1e-9,
            "{small}"
        );
        assert!(bound(1e-200, 3.0) > 0.0);
    }
}
