//! Bounds for the triangle of A under a floor, released with a diagonal and row sums that know no floor.

use std::marker::PhantomData;

use super::rule::{Public, Rule, SensitivityRule};
use super::statistic::Statistic;
use crate::privacy::Adjacency;
use crate::vocabulary::{Quantity, margin_weights};

/// One interaction added or removed. Of a user with d interactions are released: √2·w(d) for every pair of its items, λ/d on the diagonal
/// at each of them, and κ(d − 1)/d in the row sum of each, where w(d) is 1/√(d·max(d, D)) under a root floor and 1/max(d, D) under a plain one, and λ, κ are
/// [`margin_weights`] of D.
///
/// # Statement
/// Δ² = max(λ², max_{d≥2} o(d) + λ²/(d(d−1)) + κ²·s(d)), with
/// o(d) = 2(d−1)·w(d)² + (d−1)(d−2)·(w(d−1) − w(d))² and s(d) = ((d−1)² + 1/(d−1))/d².
///
/// # Proof
/// Let the larger row have d interactions. For d = 1 the other is empty: one entry λ appears on the diagonal, and nothing else.
/// For d ≥ 2 the blocks do not overlap, and the squares of their changes add up.
///
/// *Pairs.* The new item makes d − 1 pairs of weight w(d), and the (d−1)(d−2)/2 old pairs change from w(d−1) to w(d); each counts twice: o(d).
///
/// *Diagonal.* 1/d appears, and d − 1 entries fall from 1/(d−1) to 1/d, by 1/(d(d−1)): 1/d² + 1/(d²(d−1)) = 1/(d(d−1)).
///
/// *Row sums.* (d−1)/d appears, and d − 1 sums rise from (d−2)/(d−1) to (d−1)/d, by 1/(d(d−1)): s(d). ∎
///
/// # How the largest is found
/// o rises up to D. Under a plain floor it is 2(d−1)/D² there. Under a root floor D·o = 2t² + (2t² − 1)(1−t)/(1+t) with t² = (d−1)/d, because
/// (d−1)·(1/√(d−1) − 1/√d)² = (1−t)² and d − 2 = (2t²−1)/(1−t²); its derivative in t is (4t² + 8t + 2)/(1+t)² > 0.
/// Beyond D + 1 it does not rise: there o = (2d − 1 − 1/(d−1))/d² under either floor, and o(d)·d²·(d+1)² exceeds o(d+1)·d²·(d+1)² by 2d(d−2)(d+1)/(d−1) ≥ 0. At d = D + 1 itself the row
/// before has d − 1 = D interactions, of weight 1/D under both, so the same holds from D + 1 on. 1/(d(d−1)) falls, and s(d) ≤ 1.
/// So the terms of d ≤ 64 and of D − 64 < d ≤ D + 64 are taken one by one, and whatever lies between or beyond is below
/// o(D) + λ²/(64·65) + κ², or below o(D+65) + λ²/(64·65) + κ². Both exceed what they bound by less than λ²/1000.
pub(super) struct Margins<F>(PhantomData<F>);

/// What pairs of the items of a user with so many interactions weigh.
pub(super) trait Floored {
    /// The rule it is the floor of.
    const RULE: SensitivityRule;

    /// w(d), d ≥ 1.
    fn weight(degree: f64, floor: f64) -> f64;
}

/// 1/max(d, D).
pub(super) struct Plain;

impl Floored for Plain {
    const RULE: SensitivityRule = SensitivityRule::Exact;

    fn weight(degree: f64, floor: f64) -> f64 {
        degree.max(floor).recip()
    }
}

/// 1/√(d·max(d, D)).
pub(super) struct Root;

impl Floored for Root {
    const RULE: SensitivityRule = SensitivityRule::RootFloor;

    fn weight(degree: f64, floor: f64) -> f64 {
        (degree * degree.max(floor)).sqrt().recip()
    }
}

/// How many degrees on either side of 1 and of D are looked at one by one.
const NEAR: u32 = 64;

/// o(d), d ≥ 2.
fn pairs<F: Floored>(degree: f64, floor: f64) -> f64 {
    let (now, before) = (F::weight(degree, floor), F::weight(degree - 1.0, floor));
    let old = (degree - 1.0) * (degree - 2.0) * (before - now).powi(2);
    2.0 * (degree - 1.0) * now * now + old
}

/// The square of the change for d ≥ 2.
fn square<F: Floored>(degree: f64, floor: f64, (diagonal, sums): (f64, f64)) -> f64 {
    let before = degree - 1.0;
    let of_sums = (before * before + before.recip()) / (degree * degree);
    pairs::<F>(degree, floor) + diagonal * diagonal / (degree * before) + sums * sums * of_sums
}

impl<F: Floored> Rule for Margins<F> {
    const ADJACENCY: Adjacency = Adjacency::Interaction;
    const RULE: SensitivityRule = F::RULE;
    const QUANTITY: Quantity = Quantity::TriangleAndMargins;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(public: &Public, _: f64) -> f64 {
        let whole = public.degree_floor;
        let floor = f64::from(whole);
        let weights = margin_weights(whole);
        let (diagonal, sums) = (weights.0 * weights.0, weights.1 * weights.1);
        let one_by_one = (2..=NEAR).map(f64::from);
        let around = (0..=2 * NEAR).map(|step| floor - f64::from(NEAR) + f64::from(step));
        let near = one_by_one.chain(around).filter(|degree| *degree >= 2.0);
        let near = near.map(|degree| square::<F>(degree, floor, weights));
        let far = diagonal / f64::from(NEAR * (NEAR + 1)) + sums;
        let between = match whole > 2 * NEAR {
            true => pairs::<F>(floor, floor) + far,
            false => 0.0,
        };
        let beyond = pairs::<F>(floor + f64::from(NEAR + 1), floor) + far;
        let most = near.fold(diagonal, f64::max);
        most.max(between).max(beyond).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(degree_floor: u32) -> Public {
        Public {
            degree_floor,
            degree_cap: None,
            rank: 3,
            rating: None,
        }
    }

    /// What is released of one user, counted entry by entry: how many entries of each size.
    fn released(degree: u32, floor: u32, root: bool) -> [(f64, f64); 3] {
        let (lambda, kappa) = margin_weights(floor);
        let d = f64::from(degree);
        if degree == 0 {
            return [(0.0, 0.0); 3];
        }
        let longer = f64::from(degree.max(floor));
        let pair = match root {
            true => (d * longer).sqrt().recip(),
            false => longer.recip(),
        };
        [
            (2.0_f64.sqrt() * pair, d * (d - 1.0) / 2.0),
            (lambda / d, d),
            (kappa * (d - 1.0) / d, d),
        ]
    }

    /// The change from d − 1 to d interactions: what the old items had changes, what the new one brings appears.
    fn moved(degree: u32, floor: u32, root: bool) -> f64 {
        let (after, before) = (
            released(degree, floor, root),
            released(degree - 1, floor, root),
        );
        let blocks = after.iter().zip(&before);
        blocks
            .map(|(&(new, entries), &(old, kept))| {
                kept * (new - old).powi(2) + (entries - kept) * new * new
            })
            .sum::<f64>()
            .sqrt()
    }

    #[test]
    fn the_bound_is_the_enumerated_maximum() {
        for floor in [
            1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 56, 80, 113, 130, 200, 500, 3000,
        ] {
            for root in [false, true] {
                let bound = match root {
                    true => Margins::<Root>::bound(&public(floor), f64::NAN),
                    false => Margins::<Plain>::bound(&public(floor), f64::NAN),
                };
                let most = (1..2 * floor + 2000).map(|degree| moved(degree, floor, root));
                let most = most.fold(0.0, f64::max);
                assert!(
                    bound >= most * (1.0 - 1e-12),
                    "{floor} {root}: {bound} {most}"
                );
                assert!(bound <= most * 1.001, "{floor} {root}: {bound} {most}");
            }
        }
    }

    /// The two monotone parts of the proof, and what the documentation of the weights says.
    #[test]
    fn what_the_proof_leaves_out_is_below() {
        for floor in [1.0, 2.0, 5.0, 20.0, 113.0, 1000.0] {
            for degree in 2..3000 {
                let (d, rises) = (f64::from(degree), f64::from(degree) < floor);
                let of = [
                    (pairs::<Plain>(d, floor), pairs::<Plain>(d + 1.0, floor)),
                    (pairs::<Root>(d, floor), pairs::<Root>(d + 1.0, floor)),
                ];
                for (this, next) in of {
                    if rises {
                        assert!(next >= this * (1.0 - 1e-12), "{floor} {degree}");
                    } else if d > floor {
                        assert!(next <= this * (1.0 + 1e-12), "{floor} {degree}");
                    }
                }
            }
        }
        for floor in [7, 20, 113, 5000] {
            let bound = Margins::<Root>::bound(&public(floor), f64::NAN);
            let alone = pairs::<Root>(f64::from(floor), f64::from(floor)).sqrt();
            assert!(bound < 1.06 * alone, "{floor}: {}", bound / alone);
            let noise = bound / margin_weights(floor).0;
            assert!((1.0..1.3).contains(&noise), "{floor}: {noise}");
        }
    }
}
