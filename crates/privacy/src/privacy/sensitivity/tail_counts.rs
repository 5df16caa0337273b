//! Bounds for how many users have at least how many interactions.

use std::marker::PhantomData;

use super::rule::{Public, Rule, SensitivityRule};
use super::statistic::Statistic;
use crate::privacy::adjacency::{Adjacency, Interaction, Neighbouring, ReplaceUser, Swap, User};
use crate::vocabulary::{Quantity, TAIL_DEGREES};

/// The bound on (#{u: d_u ≥ D_1}, …, #{u: d_u ≥ D_K}) for adjacency `A`, d_u the number of interactions of user u that the peers hold
/// and D_1 < … < D_K public ([`TAIL_DEGREES`]).
///
/// # Statement
/// With K′ the number of thresholds that a user can reach, K or those up to a public cap m:
///
/// | one record | Δ |
/// | --- | --- |
/// | one interaction more or less, or exchanged for another | 1 |
/// | one user there or not, or in place of another | √K′ |
///
/// # Proof
/// One user changes, and adds 1 to the coordinates j with D_j ≤ d_u. Going from d to d′ > d changes those with d < D_j ≤ d′, each by 1,
/// so that the change has length √#{j: d < D_j ≤ d′}. An interaction more or less has |d − d′| = 1, and at most one of the distinct
/// thresholds is d′; an exchange leaves d as it is, and its neighbours without an exchange are additions or removals. A user, however it
/// changes, reaches thresholds up to m only. A cap makes min(d, m) of d, a map that brings no two numbers further apart. ∎
///
/// Tight: d = 0 against 1, and against D_K or m. Bins (D_j ≤ d < D_{j+1}) would move by √2 for one interaction from bin to bin, and tails are sums
/// of them.
pub(super) struct TailCounts<A>(PhantomData<A>);

/// How many thresholds one record can cross.
pub(super) trait Crossed {
    /// The most, given the cap on a user's interactions.
    fn most(degree_cap: Option<u32>) -> usize;
}

/// One: d changes by at most 1.
impl Crossed for Interaction {
    fn most(_: Option<u32>) -> usize {
        1
    }
}

/// One: d changes by at most 1.
impl Crossed for Swap {
    fn most(_: Option<u32>) -> usize {
        1
    }
}

/// All that a user can reach.
fn reachable(degree_cap: Option<u32>) -> usize {
    let reached = |threshold: &&u32| degree_cap.is_none_or(|cap| **threshold <= cap);
    TAIL_DEGREES.iter().filter(reached).count()
}

impl Crossed for User {
    fn most(degree_cap: Option<u32>) -> usize {
        reachable(degree_cap)
    }
}

impl Crossed for ReplaceUser {
    fn most(degree_cap: Option<u32>) -> usize {
        reachable(degree_cap)
    }
}

/// See [`TailCounts`]. A row adds at most 1 to a coordinate.
impl<A: Neighbouring + Crossed> Rule for TailCounts<A> {
    const ADJACENCY: Adjacency = A::ADJACENCY;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::TailCounts;
    const COVERS_CAP: bool = true;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(public: &Public, _: f64) -> f64 {
        (A::most(public.degree_cap) as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(degree: u32) -> Vec<f64> {
        let reached = |threshold: &u32| f64::from(u8::from(degree >= *threshold));
        TAIL_DEGREES.iter().map(reached).collect()
    }

    fn moved(from: u32, to: u32) -> f64 {
        let (from, to) = (counts(from), counts(to));
        let squares = from.iter().zip(&to).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>().sqrt()
    }

    fn bound<A: Neighbouring + Crossed>(degree_cap: Option<u32>) -> f64 {
        let public = Public {
            degree_floor: 1,
            degree_cap,
            rank: 1,
            rating: None,
        };
        TailCounts::<A>::bound(&public, f64::NAN)
    }

    /// Every pair of degrees that neighbours can have, under caps that lie on a threshold, beside one and beyond all: the largest change is
    /// the bound, neither less nor more.
    #[test]
    fn the_bound_is_the_largest_change_over_all_degrees() {
        let last = TAIL_DEGREES[TAIL_DEGREES.len() - 1];
        for cap in [None, Some(1), Some(7), Some(9), Some(40), Some(2 * last)] {
            let held = |degree: u32| cap.map_or(degree, |cap| degree.min(cap));
            let (mut one, mut zeroed, mut replaced) = (0.0_f64, 0.0_f64, 0.0_f64);
            for d in 0..=last + 2 {
                one = one.max(moved(held(d), held(d + 1)));
                zeroed = zeroed.max(moved(0, held(d)));
                for e in 0..=last + 2 {
                    replaced = replaced.max(moved(held(d), held(e)));
                }
            }
            assert_eq!(one, bound::<Interaction>(cap), "{cap:?}");
            assert_eq!(one, bound::<Swap>(cap), "{cap:?}");
            assert_eq!(zeroed, bound::<User>(cap), "{cap:?}");
            assert_eq!(replaced, bound::<ReplaceUser>(cap), "{cap:?}");
        }
    }

    #[test]
    fn thresholds_ascend_and_documented_values_hold() {
        assert!(TAIL_DEGREES.windows(2).all(|two| two[0] < two[1]));
        assert_eq!(TAIL_DEGREES[0], 1, "an empty row is counted nowhere");
        assert_eq!(
            (bound::<User>(None), bound::<User>(Some(7))),
            (4.0, 5.0_f64.sqrt())
        );
    }
}
