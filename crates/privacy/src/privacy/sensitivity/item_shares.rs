//! Bounds for how much of its users' rows every item has.

use std::f64::consts::SQRT_2;
use std::marker::PhantomData;

use super::rule::{Public, Rule, SensitivityRule};
use super::statistic::Statistic;
use crate::privacy::adjacency::{Adjacency, Interaction, Neighbouring, ReplaceUser, Swap, User};
use crate::vocabulary::Quantity;

/// The bound on Σ_u r_u/√d_u for adjacency `A`, r_u ∈ {0,1}ⁿ the interactions of user u that the peers hold and d_u their number; an empty row adds
/// nothing.
///
/// # Statement
///
/// | one record | Δ |
/// | --- | --- |
/// | one interaction more or less | 1 |
/// | one user there or not | 1 |
/// | one interaction for another, one user in place of another | √2 |
///
/// # Proof
/// A row that is not empty contributes a vector of norm 1 without a negative entry: a user there or not moves the sum by 1, and two of them
/// in place of each other by √(2 − 2⟨a, b⟩) ≤ √2.
///
/// *One interaction.* Let d be the number with it. For d = 1 the row was empty, and the change is one entry of 1. For d ≥ 2 it is 1/√d at the
/// new item and 1/√(d−1) − 1/√d at d − 1 others: with t = √((d−1)/d) its square is 1/d + (1 − t)² = (1 − t²) + (1 − t)² = 2(1 − t), which is
/// at most 2 − √2 < 1, since t ≥ √½.
///
/// *One for another.* d stays, and two entries change by 1/√d: √(2/d) ≤ √2. One more or less, which also are neighbours, moves the sum by
/// at most 1. A public cap makes of a user's row another row of that user, so that users stay users, and exchanges or single changes
/// stay one of these: the bounds of all but single interactions, whose cap can make an exchange of an addition, hold under it. ∎
///
/// Tight: d = 1.
pub(super) struct ItemShares<A>(PhantomData<A>);

/// An adjacency with a bound.
pub(super) trait Moves: Neighbouring {
    /// Δ.
    const DELTA: f64;
    /// Whether it holds under a cap.
    const UNDER_CAP: bool;
}

impl Moves for Interaction {
    const DELTA: f64 = 1.0;
    const UNDER_CAP: bool = false;
}

impl Moves for User {
    const DELTA: f64 = 1.0;
    const UNDER_CAP: bool = true;
}

impl Moves for Swap {
    const DELTA: f64 = SQRT_2;
    const UNDER_CAP: bool = true;
}

impl Moves for ReplaceUser {
    const DELTA: f64 = SQRT_2;
    const UNDER_CAP: bool = true;
}

impl<A: Moves> Rule for ItemShares<A> {
    const ADJACENCY: Adjacency = A::ADJACENCY;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::ItemShares;
    const COVERS_CAP: bool = A::UNDER_CAP;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        A::DELTA
    }
}

#[cfg(test)]
mod tests {
    /// The change of one interaction, for every number of them: 1 at first, and then never above √(2 − √2).
    #[test]
    fn no_degree_moves_more_than_the_first_interaction() {
        for d in 2..100_000_u32 {
            let (d, before) = (f64::from(d), f64::from(d - 1));
            let fallen = before.sqrt().recip() - d.sqrt().recip();
            let moved = d.recip() + before * fallen * fallen;
            assert!(moved <= 2.0 - 2.0_f64.sqrt() + 1e-12, "{d}: {moved}");
        }
    }
}
