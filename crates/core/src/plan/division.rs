//! What each release of a program spends.

use super::ring;
use super::{BudgetShare, PlanError, Promise};
use crate::algorithm::{Form, Program, ReleaseSpec, charged, share_factors};
use crate::privacy::ring::Modulus;
use crate::privacy::{PrivacyError, RingRequest};

/// How a budget is divided over the releases of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Division {
    /// For how many releases of noise factor 1 one record is charged, with all retries.
    charge: u32,
    /// What the noise of every release is multiplied by; empty for an even budget.
    factors: Vec<f64>,
    /// The factors that were asked for, as of Gaussian noise and without those of the releases' own shares.
    weights: Vec<f64>,
    /// What all releases and retries cost one record, in releases of factor 1.
    cost: f64,
    /// The same where no release is tried again.
    cost_at_best: f64,
    /// Σ 1/f_l² over the releases that one record meets, with all retries.
    inverse_squares: f64,
}

/// What releases cost, before it is summed.
struct Costs<'a> {
    releases: &'a [ReleaseSpec],
    factors: &'a [f64],
    retries: u32,
}

impl Costs<'_> {
    /// The most that this is of any release.
    fn dearest(&self, cost: impl Fn(f64) -> f64) -> f64 {
        let even = if self.factors.is_empty() { 1.0 } else { 0.0 };
        self.factors
            .iter()
            .map(|factor| cost(*factor))
            .fold(even, f64::max)
    }

    fn once(&self, cost: impl Fn(f64) -> f64) -> f64 {
        let cost = |index: usize| self.factors.get(index).map_or(1.0, |factor| cost(*factor));
        charged(self.releases, cost)
    }

    fn summed(&self, cost: impl Fn(f64) -> f64) -> f64 {
        let again = f64::from(self.retries) * self.dearest(&cost);
        self.once(cost) + again
    }
}

impl Division {
    /// What each release of this program spends under this promise: its own share or weight, what a private mean before it leaves, the part
    /// of the budget that there is, and as much again for every retry as the dearest release.
    ///
    /// # Errors
    /// [`PlanError::Charge`] for a program whose releases cannot be counted in whole numbers; [`PlanError::Privacy`] for weights that are not one
    /// per release; [`PlanError::Unsupported`] for a part of the budget and a program of which nothing is shown beside a pilot.
    pub fn of(program: &Program, promise: &Promise) -> Result<Self, PlanError> {
        let law = promise.noise.distribution();
        let releases = &program.releases;
        if promise.part.is_some() {
            program.check_each(BudgetShare::supports)?;
        }
        let later = after_mean(program);
        let whole = charged(later, |_| 1.0);
        if whole.fract() != 0.0 || whole > f64::from(u32::MAX) {
            let (found, most) = (whole, u32::MAX);
            return Err(PlanError::Charge { found, most });
        }
        let shares = share_factors(later);
        let mut weights = promise.split.noise_factors(later.len() as u32)?;
        if let Some(prelude) = &program.prelude {
            weights = prelude.factors(&weights, later.len());
        }
        let factors = if shares.is_empty() { &weights } else { &shares };
        let mut factors: Vec<f64> = factors.iter().map(|factor| law.factor(*factor)).collect();
        if let Some(part) = promise.part {
            factors = part.factors(&factors, releases.len());
            weights = part.factors(&weights, releases.len());
        }
        let retries = promise.retries();
        let costs = Costs {
            releases,
            factors: &factors,
            retries,
        };
        let more = f64::from(retries) * costs.dearest(|factor| law.cost(factor));
        Ok(Self {
            // Exact for an even budget, where each costs 1; upwards otherwise.
            charge: (whole as u32).saturating_add(more.ceil() as u32),
            cost: costs.summed(|factor| law.cost(factor)),
            cost_at_best: costs.once(|factor| law.cost(factor)),
            inverse_squares: costs.summed(|factor| factor.powi(-2)),
            factors,
            weights,
        })
    }

    /// Whether weights may divide the budget of this program: not where releases have shares of their own or meet different records.
    #[must_use]
    pub fn takes_weights(program: &Program) -> bool {
        let later = after_mean(program);
        let batches = later.iter().any(|release| release.batch.is_some());
        !batches && share_factors(later).is_empty()
    }

    /// For how many releases of noise factor 1 one record is charged, with all retries.
    #[must_use]
    pub fn charge(&self) -> u32 {
        self.charge
    }

    /// What the noise of every release is multiplied by; empty for an even budget.
    #[must_use]
    pub fn factors(&self) -> &[f64] {
        &self.factors
    }

    /// Other factors, to state another budget than was divided.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn set_factors(&mut self, program: &Program, factors: Vec<f64>) {
        let costs = Costs {
            releases: &program.releases,
            factors: &factors,
            retries: 0,
        };
        (self.cost, self.cost_at_best) = (costs.once(|f| f.powi(-2)), costs.once(|f| f.powi(-2)));
        self.factors = factors;
    }

    /// What all releases and retries cost one record, in releases of factor 1.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// The same where no release is tried again.
    #[must_use]
    pub fn cost_at_best(&self) -> f64 {
        self.cost_at_best
    }

    /// Σ 1/f_l² over the releases that one record meets, with all retries.
    pub(super) fn inverse_squares(&self) -> f64 {
        self.inverse_squares
    }

    /// What the releases ask of sums of integers, over so many peers of which one holds at most so many rows.
    ///
    /// # Errors
    /// As [`ring::request`].
    pub(super) fn ring(
        &self,
        program: &Program,
        promise: &Promise,
        (peers, rows): (usize, usize),
        modulus: Option<Modulus>,
    ) -> Result<RingRequest, PrivacyError> {
        let range = ring::Range {
            dimension: program.items,
            peers,
            rows,
        };
        let (releases, bounds) = (&program.releases, &promise.bounds);
        ring::request(releases, bounds, range, &self.weights, modulus)
    }
}

/// The releases after a private mean, which takes its share of what these cost.
fn after_mean(program: &Program) -> &[ReleaseSpec] {
    let means = usize::from(program.prelude.is_some());
    program.releases.get(means..).unwrap_or_default()
}

/// Whether peers fill coordinates of their own in some release.
pub(super) fn has_own_coordinates(program: &Program) -> bool {
    let own = |one: &ReleaseSpec| one.form == Form::OwnCoordinates;
    program.releases.iter().any(own)
}

/// Whether they do in all.
pub(super) fn has_only_own_coordinates(program: &Program) -> bool {
    let own = |one: &ReleaseSpec| one.form == Form::OwnCoordinates;
    program.releases.iter().all(own)
}

/// The noise factors that a session is told: those of releases with shares of their own it knows from them.
pub(super) fn told(program: &Program, division: &Division) -> Vec<f64> {
    match share_factors(&program.releases).is_empty() {
        true => division.factors.clone(),
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Algorithm, PowerMethod};
    use crate::plan::LossTolerance;
    use crate::privacy::{Adjacency, BudgetSplit};

    /// A retry may repeat the dearest release, which costs a broken number of even ones.
    #[test]
    fn retries_of_an_uneven_budget_are_charged_rounded_up() {
        let program = PowerMethod::new(4, 2, 3).expect("valid").program();
        let promise = Promise::new(1.0, 1e-5, Adjacency::Interaction).expect("valid");
        let promise = Promise {
            split: BudgetSplit::Weights(vec![1.0, 2.0, 3.0]),
            ..promise.tolerating(LossTolerance {
                tolerate: 0,
                retries: 1,
            })
        };
        let division = Division::of(&program, &promise).expect("planned");
        // Of weights 1, 2 and 3 the last costs 3/2 of the mean.
        assert!((division.cost() - 4.5).abs() < 1e-12, "{}", division.cost());
        assert_eq!(division.charge(), 5);
    }
}
