//! Two sessions under one budget: a pilot, and what is chosen by it.

use serde::{Deserialize, Serialize};

use crate::algorithm::{Program, ReleaseSpec, Unsupported};
use crate::vocabulary::Quantity;

/// The part of μ² that one of two sessions spends, a pilot and what is chosen by it: above 0 and below 1.
///
/// # What is run
/// A pilot spends the share f of μ². Everybody sees what it released, and a public rule chooses a session among declared ones: an
/// algorithm, its iterations, a degree floor, an averaging scheme. The session chosen spends 1 − f. Both are planned as if each had the
/// whole budget, and their noise is then multiplied: by 1/√f in the pilot and by 1/√(1 − f) in the other ([`Self::factors`]).
///
/// # Statement
/// Let an adversary (a set of colluders that sees everything published) learn at most μ_0 from the pilot and at most μ_c from session c,
/// each planned for the whole budget, about one record of the *original* adjacency. Then it learns at most √(f·μ_0² + (1 − f)·max_c μ_c²) from
/// the pilot and the session chosen together, however the choice depends on what the pilot released. If all are within the μ of the
/// budget, so is that.
///
/// # Proof
/// Noise 1/√f times as large makes the pilot √f·μ_0-GDP for this adversary, noise 1/√(1 − f) times as large session c √(1 − f)·μ_c-GDP, since
/// a Gaussian mechanism of μ whose noise is k times as large is one of μ/k. Given what the pilot published, c is a constant: the choice is a
/// function of that and of public numbers, and of nothing else. So the second mechanism is √(1 − f)·max_c μ_c-GDP *for every* outcome of the
/// first, and its noise is independent of the first one's. Adaptive composition (Dong, Roth & Su 2022, Theorem 3.2 and Corollary 3.3) gives
/// the root of the sum of squares. ∎
///
/// Three things it rests on, and where they are kept:
///
/// - *Every possible choice is private in the original adjacency.* A degree floor D divides rows by √max(d, D) and leaves nobody out, so
///   that one record of the data as read is one of the rows whatever D is, with the Δ(D) of the bound for that D. (A floor that left users out
///   would have another adjacency behind it: one interaction can bring a user across.) Each session is planned and checked as any other.
/// - *The choice sees noisy numbers only*, as `campaign::auto` is written: it is handed what was released.
/// - *The noise of the two is independent.* Keys of noise are bound to the whole plan, which differs; and the pilot has a seed of its own
///   ([`Seed::pilot`](crate::vocabulary::Seed::pilot)), so that they differ whatever plans say.
///
/// What is *not* true: that a run which chose fewer iterations spent less. Its promise is what it was planned for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct BudgetShare(f64);

/// A part of a budget that leaves nothing to one of two sessions.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the part of a budget is {found}; it lies above 0 and below 1")]
pub struct NotAShare {
    /// The part found.
    pub found: f64,
}

impl TryFrom<f64> for BudgetShare {
    type Error = NotAShare;

    fn try_from(found: f64) -> Result<Self, NotAShare> {
        Self::of_pilot(found).ok_or(NotAShare { found })
    }
}

impl From<BudgetShare> for f64 {
    fn from(share: BudgetShare) -> Self {
        share.0
    }
}

impl BudgetShare {
    /// The part of a pilot that spends this share; `None` unless that is above 0 and below 1.
    #[must_use]
    pub fn of_pilot(share: f64) -> Option<Self> {
        (share > 0.0 && share < 1.0).then_some(Self(share))
    }

    /// The part that a pilot of this share leaves to the session chosen by it; `None` unless the share is above 0 and below 1.
    #[must_use]
    pub fn after_pilot(share: f64) -> Option<Self> {
        (share > 0.0 && share < 1.0).then_some(Self(1.0 - share))
    }

    /// Whether this release of a program may spend a part of a budget: that of a pilot, which finds no basis, and what may be chosen by one, whose
    /// releases are about the matrix alone and cost one record the same.
    ///
    /// # Errors
    /// [`Unsupported`] for any other.
    pub fn supports(program: &Program, release: &ReleaseSpec) -> Result<(), Unsupported> {
        let pilot = program.rank == 0;
        let of = |quantity| release.blocks.iter().all(|one| one.quantity == quantity);
        match pilot || program.proved.matrix_only || of(Quantity::TriangleAndMargins) {
            true => Ok(()),
            false => Err(Unsupported::algorithm(
                "[pilot]",
                program,
                "a pilot goes before power, momentum, krylov, covariance, isometric-covariance and raked-covariance, whose releases cost one record the \
                 same; choose one of them or leave [pilot] out",
            )),
        }
    }

    /// The part.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// What noise is multiplied by: 1/√part.
    #[must_use]
    pub fn factor(self) -> f64 {
        self.0.sqrt().recip()
    }

    /// The noise factors of so many releases whose own factors are `own` (empty: all 1). Σ 1/f_l² is the part of what it was.
    #[must_use]
    pub fn factors(self, own: &[f64], releases: usize) -> Vec<f64> {
        let factor = |index: usize| own.get(index).copied().unwrap_or(1.0) * self.factor();
        (0..releases).map(factor).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_budget_add_up_and_cost_what_they_are() {
        for share in [0.01, 0.05, 0.5, 0.99] {
            let pilot = BudgetShare::of_pilot(share).expect("above 0");
            let rest = BudgetShare::after_pilot(share).expect("above 0");
            assert!((pilot.get() + rest.get() - 1.0).abs() < 1e-15);
            for part in [pilot, rest] {
                let own = [0.5, 2.0, 1.0];
                let cost = |factors: &[f64]| factors.iter().map(|f| f.powi(-2)).sum::<f64>();
                let found = cost(&part.factors(&own, 3)) / cost(&own);
                assert!((found / part.get() - 1.0).abs() < 1e-12);
                let even = cost(&part.factors(&[], 4));
                assert!((even / (4.0 * part.get()) - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn shares_that_leave_one_session_nothing_are_none() {
        for share in [f64::NAN, -0.1, 0.0, 1.0, 2.0, f64::INFINITY] {
            assert_eq!(BudgetShare::of_pilot(share), None);
            assert_eq!(BudgetShare::after_pilot(share), None);
        }
    }
}
