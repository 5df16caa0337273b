//! P1's convergence bounds of a run, beside what they bound (P1 Theorems 3.3 and 4.1).
//!
//! # Statement
//! Let U_k be the k leading eigenvectors of A, k ≤ q, 2q ≤ p, and λ₁ ≥ λ₂ ≥ … its eigenvalues. Under the noise of
//! P1's Algorithm 1 and for L = Θ(λ_k/(λ_k − λ_{q+1})·log n), with probability at least 0.9,
//! ‖(I − XᴸXᴸᵀ)U_k‖₂ ≤ η with
//!
//! - runtime-dependent (eq. 10): η = O(max_{i,l}‖X^l_{i:}‖ √(L n ln(1/δ) ln L) / (ε(λ_k − λ_{q+1})));
//! - runtime-independent (eq. 12): the same with min(μ₀√(p ln n), μ₁) instead of the largest row norm;
//! - in general (its proof, eq. 34): η = O(σ_l√(n ln L)/(λ_k − λ_{q+1})) for noise of standard deviation σ_l on the sum.
//!
//! # What is computed
//! Every constant hidden in O(·) is taken as 1, and k = q = ⌊p/2⌋, the largest the theorems allow. The row norms are
//! those of X⁰ … X^{L−1}, the queries that noise is scaled by (P1 writes X^l, which is not known yet when the noise of
//! iteration l is drawn), and μ₁, the largest row norm of an orthogonal matrix, is 1.
//!
//! # What they are worth
//! The bounds are asymptotic: a subspace error never exceeds 1, and they often do; they are printed as they are.
//! L is assumed large enough, which is not checked, and at L = 1 the ln L of the formulas is 0, so that they say
//! nothing. Both theorems ask for δ ≤ e^{−ε/4} so that P1's σ_l gives (ε, δ); that condition rests on an error of
//! arithmetic in P1's eq. 26, and the right one is ε ≤ (8 − 4√2) ln(1/δ), about 2.343 ln(1/δ). Runs of this
//! crate are calibrated otherwise and do not depend on it; it is reported.

use serde::Serialize;

use super::noisy_power::{LowRank, NoisyPower};
use crate::algorithm::{BlockSpec, Output, Program, ReleaseSpec, RetainedState, Unsupported};
use crate::engine::Outcome;
use crate::linalg::{Block, TopEigenvectors, coherence, subspace_distance};
use crate::scenario::Experiment;
use crate::vocabulary::Quantity;

/// The largest matrix of which all eigenvectors are found for μ₀.
const DENSE_LIMIT: usize = 300;

/// The bounds of one run. Null where a figure is out of reach; `reason` says why.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ConvergenceBounds {
    /// k = q = ⌊p/2⌋.
    pub k: usize,
    /// λ_k − λ_{q+1}.
    pub gap: Option<f64>,
    /// What is bounded: ‖(I − XᴸXᴸᵀ)U_k‖₂.
    pub subspace_error_k: Option<f64>,
    /// η of Theorem 3.3, from the largest row norm of X⁰ … X^{L−1} and P1's noise for (ε, δ).
    pub runtime_dependent: Option<f64>,
    /// η of Theorem 4.1.
    pub runtime_independent: Option<f64>,
    /// min(μ₀√(p ln n), 1) as used in it, or 1, which bounds it, where μ₀ is out of reach.
    pub coherence_factor: Option<f64>,
    /// η of the proof, from this run's own noise on the sum.
    pub own_noise: Option<f64>,
    /// Whether δ ≤ e^{−ε/4}, the hypothesis as printed.
    pub hypothesis_printed: bool,
    /// Whether ε ≤ (8 − 4√2) ln(1/δ), the hypothesis it should be.
    pub hypothesis_corrected: bool,
    /// Hardt & Price's theorem with the noise of this run, where `evaluation.diagnostics` asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noisy_power: Option<NoisyPower>,
    /// How good the low-rank approximation is, where `algorithm.output` asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low_rank: Option<LowRank>,
    /// Why figures are null or weaker than they could be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The numbers the formulas take.
#[derive(Clone, Copy, Debug)]
struct Quantities {
    n: f64,
    iterations: f64,
    epsilon: f64,
    delta: f64,
    gap: f64,
}

impl Quantities {
    /// Eq. 34: η for noise of standard deviation `sigma` on the sum.
    fn of_noise(self, sigma: f64) -> f64 {
        sigma * (self.n * libm::log(self.iterations)).sqrt() / self.gap
    }

    /// Eqs. 10 and 12, whose O(·) hides the 4 of P1's σ: η for sensitivity `factor`.
    fn of_paper(self, factor: f64) -> f64 {
        self.of_noise(
            factor * (self.iterations * libm::log(1.0 / self.delta)).sqrt() / self.epsilon,
        )
    }
}

/// The reason why other algorithms have no bounds.
const POWER_ONLY: &str = "the theorems are about the power method";

/// Whether the theorems are about this release: a product of the matrix, of which the next query alone is kept.
///
/// # Errors
/// [`Unsupported`] for a release of another algorithm than the power method.
fn supports(program: &Program, release: &ReleaseSpec) -> Result<(), Unsupported> {
    let product = |block: &BlockSpec| block.quantity == Quantity::Product;
    let products = release.blocks.iter().all(product);
    match products && program.proved.matrix_only && program.state == RetainedState::Query {
        true => Ok(()),
        false => Err(Unsupported::algorithm(
            "a bound of convergence",
            program,
            POWER_ONLY,
        )),
    }
}

/// The bounds of a run that started at `start`; `exact` are the leading eigenvectors, if they are known.
pub(super) fn convergence_bounds(
    experiment: &Experiment,
    start: &Block,
    outcome: &Outcome,
    exact: Option<&TopEigenvectors>,
) -> ConvergenceBounds {
    let privacy = &experiment.config().privacy;
    let (epsilon, delta) = (privacy.epsilon, privacy.delta());
    let log = libm::log(1.0 / delta);
    let mut bounds = ConvergenceBounds {
        k: experiment.config().algorithm.table().rank() / 2,
        hypothesis_printed: delta <= libm::exp(-epsilon / 4.0),
        hypothesis_corrected: epsilon <= (8.0 - 4.0 * 2.0_f64.sqrt()) * log,
        ..ConvergenceBounds::default()
    };
    let run = PowerRun::new(experiment, start, outcome, exact);
    let bounded = run.and_then(|run| {
        run.measure(&mut bounds);
        run.bound(&mut bounds)
    });
    match bounded {
        Ok(weaker) => bounds.reason = weaker,
        Err(reason) => bounds.reason = Some(reason.to_owned()),
    }
    bounds
}

/// A run of the power method, which the theorems are about.
struct PowerRun<'a> {
    experiment: &'a Experiment,
    start: &'a Block,
    outcome: &'a Outcome,
    exact: &'a TopEigenvectors,
    /// k = q, at least 1.
    k: usize,
}

impl<'a> PowerRun<'a> {
    /// A run with the exact eigenvectors to measure it against.
    ///
    /// # Errors
    /// The reason why the theorems are not about this run, or why nothing can be measured.
    fn new(
        experiment: &'a Experiment,
        start: &'a Block,
        outcome: &'a Outcome,
        exact: Option<&'a TopEigenvectors>,
    ) -> Result<Self, &'static str> {
        if experiment.clip().is_some() {
            return Err("the theorems are about contributions that are not clipped");
        }
        // Of the algorithm itself, before it runs on a graph or about a mean.
        let sketch = experiment.config().algorithm.table().sketch();
        if sketch.is_none_or(|program| program.check_each(supports).is_err()) {
            return Err(POWER_ONLY);
        }
        if experiment.preconditioning().is_some() {
            return Err("the theorems are about the power method without preconditioning");
        }
        let exact = exact.ok_or("the exact eigenvectors are out of reach")?;
        if experiment.reference_floor() != experiment.config().data.degree_floor() {
            return Err(
                "the exact eigenvectors are those of another matrix (evaluation.reference_floor)",
            );
        }
        match experiment.config().algorithm.table().rank() / 2 {
            0 => Err("the theorems need 2q <= p, so algorithm.rank >= 2"),
            k => Ok(Self {
                experiment,
                start,
                outcome,
                exact,
                k,
            }),
        }
    }

    /// λ_k − λ_{q+1}.
    fn gap(&self) -> f64 {
        self.exact.values[self.k - 1] - self.exact.values[self.k]
    }

    /// Adds the gap, the error that is bounded, and the diagnostics that were asked for.
    fn measure(&self, bounds: &mut ConvergenceBounds) {
        let (experiment, outcome, exact) = (self.experiment, self.outcome, self.exact);
        let rows = experiment.user_rows();
        let top = leading(&exact.vectors, self.k);
        bounds.gap = Some(self.gap());
        bounds.subspace_error_k = Some(subspace_distance(outcome.basis(), &top));
        if experiment.config().evaluation.diagnostics {
            bounds.noisy_power = NoisyPower::of(rows, self.start, outcome, exact, &top);
        }
        if experiment.config().algorithm.table().requirements().output == Output::LowRank {
            bounds.low_rank = LowRank::of(rows, outcome, exact, &top);
        }
    }

    /// Adds the bounds, and returns the reason why they are weaker than they could be.
    ///
    /// # Errors
    /// The reason why there are none.
    fn bound(&self, bounds: &mut ConvergenceBounds) -> Result<Option<String>, &'static str> {
        let setting = self.quantities()?;
        bounds.runtime_dependent = Some(setting.of_paper(self.largest_row_norm()));
        let (factor, weaker) = self.coherence_factor();
        bounds.coherence_factor = Some(factor);
        bounds.runtime_independent = Some(setting.of_paper(factor));
        bounds.own_noise = Some(setting.of_noise(self.largest_sigma()));
        Ok(weaker)
    }

    /// The numbers that the formulas take.
    ///
    /// # Errors
    /// The reason why the formulas say nothing.
    fn quantities(&self) -> Result<Quantities, &'static str> {
        let config = self.experiment.config();
        let (iterations, gap) = (config.algorithm.table().iterations(), self.gap());
        if !self.experiment.is_private() {
            return Err("the bounds are about noise, and there is none");
        }
        if iterations < 2 {
            return Err("the bounds hold a factor ln L, which is 0 for one iteration");
        }
        if gap <= 0.0 {
            return Err("the eigenvalues around k do not differ");
        }
        Ok(Quantities {
            n: self.experiment.user_rows().dimension() as f64,
            iterations: f64::from(iterations),
            epsilon: config.privacy.epsilon,
            delta: config.privacy.delta(),
            gap,
        })
    }

    /// The largest row norm of X⁰ … X^{L−1}.
    fn largest_row_norm(&self) -> f64 {
        let records = &self.outcome.records;
        let used = records.iter().map(|record| record.basis.as_ref());
        used.take(records.len().saturating_sub(1))
            .map(Block::max_row_norm)
            .fold(self.start.max_row_norm(), f64::max)
    }

    /// The largest standard deviation of this run's own noise on a sum.
    fn largest_sigma(&self) -> f64 {
        let unit = self.experiment.noise().sigma_sum();
        let sigmas = self.outcome.records.iter();
        let sigmas = sigmas.map(|record| record.sensitivity * unit);
        sigmas.fold(0.0, f64::max)
    }

    /// min(μ₀√(p ln n), 1). The leading eigenvectors bound μ₀ from below, which settles it where they reach 1 already.
    fn coherence_factor(&self) -> (f64, Option<String>) {
        let rank = self.experiment.config().algorithm.table().rank();
        let rows = self.experiment.user_rows();
        let factor = |mu0: f64| prior_sensitivity(mu0, rank, rows.dimension());
        if factor(self.exact.vectors.max_entry()) >= 1.0 {
            return (1.0, None);
        }
        match coherence(rows, DENSE_LIMIT) {
            Some(found) => (factor(found.mu0).min(1.0), None),
            None => (
                1.0,
                Some(format!(
                    "mu0 needs all eigenvectors of a matrix above {DENSE_LIMIT}: coherence_factor is its upper bound 1"
                )),
            ),
        }
    }
}

/// Δ_prior = μ₀√(p ln n), the runtime-independent sensitivity of earlier work (Balcan et al. 2016, P1 Table 2).
pub(crate) fn prior_sensitivity(mu0: f64, rank: usize, n: usize) -> f64 {
    mu0 * (rank as f64 * libm::log(n as f64)).sqrt()
}

/// The first k columns.
fn leading(block: &Block, k: usize) -> Block {
    let values = (0..block.rows()).flat_map(|i| block.row(i)[..k].iter().copied());
    Block::from_values(block.rows(), k, values.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::testing::sim;

    /// n = 100, L = 3, ε = 1, δ = 1e-5, gap = 10, largest row norm ½, by hand:
    /// ½ √(300 · 11.512925 · 1.098612)/10 = 3.0799.
    #[test]
    fn the_formulas_give_what_the_paper_s_give() {
        let setting = Quantities {
            n: 100.0,
            iterations: 3.0,
            epsilon: 1.0,
            delta: 1e-5,
            gap: 10.0,
        };
        assert!((setting.of_paper(0.5) - 3.0799).abs() < 1e-3);
        let papers_sigma = 0.5 * (4.0 * 3.0 * 1e5_f64.ln()).sqrt();
        let ratio = setting.of_noise(papers_sigma) / setting.of_paper(0.5);
        assert!((ratio - 2.0).abs() < 1e-12, "O() hides the 4 of P1's sigma");
    }

    fn bounds(set: &[&str]) -> (Experiment, crate::run::Report) {
        let small = ["data.items=40", "peers.count=8", "topology.degree=4"];
        let experiment = sim("../tests/power.toml", &[&small, set].concat()).expect("valid");
        let report = crate::run::run(&experiment, &mut crate::engine::Silent).expect("runs");
        (experiment, report)
    }

    /// Gap, factor and measured error from a dense decomposition; η of eq. 34 from the noise as drawn.
    #[test]
    fn a_run_s_bounds_are_what_a_dense_decomposition_gives() {
        let (experiment, report) = bounds(&[]);
        let found = &report.summary.utility.bounds;
        let mut a = nalgebra::DMatrix::<f64>::zeros(40, 40);
        for user in 0..experiment.user_rows().len() {
            let (items, values) = experiment.user_rows().row(user);
            for (&i, x) in items.iter().zip(values) {
                for (&j, y) in items.iter().zip(values) {
                    a[(i as usize, j as usize)] += x * y;
                }
            }
        }
        let eigen = nalgebra::SymmetricEigen::new(a);
        let mut order: Vec<usize> = (0..40).collect();
        order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));
        let gap = eigen.eigenvalues[order[1]] - eigen.eigenvalues[order[2]];
        assert_eq!(found.k, 2, "p = 4");
        assert!((found.gap.expect("known") / gap - 1.0).abs() < 1e-8);

        let u = eigen.eigenvectors.select_columns(&order[..2]);
        let x = report.outcome.basis().to_matrix();
        let outside = &u - &x * (x.transpose() * &u);
        let error = outside.svd(false, false).singular_values.max();
        assert!((found.subspace_error_k.expect("known") - error).abs() < 1e-8);

        let factor = (eigen.eigenvectors.abs().max() * (4.0 * 40_f64.ln()).sqrt()).min(1.0);
        assert!((found.coherence_factor.expect("known") - factor).abs() < 1e-9);
        let log = (1e5_f64.ln() * 3.0_f64.ln() * 3.0 * 40.0).sqrt() / (2.0 * gap);
        let independent = found.runtime_independent.expect("known");
        assert!((independent / (factor * log) - 1.0).abs() < 1e-8);
        let row_norm = [
            report.start.as_ref(),
            &report.outcome.records[0].basis,
            &report.outcome.records[1].basis,
        ]
        .map(Block::max_row_norm)
        .into_iter()
        .fold(0.0, f64::max);
        let dependent = found.runtime_dependent.expect("known");
        assert!((dependent / (row_norm * log) - 1.0).abs() < 1e-8);

        let sigma_own = report.rows.iter().map(|row| row.noise.sigma_own);
        let sigma = 8.0_f64.sqrt() * sigma_own.fold(0.0, f64::max);
        let own = sigma * (40.0 * 3.0_f64.ln()).sqrt() / gap;
        assert!((found.own_noise.expect("known") / own - 1.0).abs() < 1e-8);
        assert!(found.hypothesis_printed && found.hypothesis_corrected);
    }

    #[test]
    fn what_is_out_of_reach_is_null_and_says_why() {
        for (set, words) in [
            (&["algorithm.rank=1"][..], "2q <= p"),
            (&["algorithm.iterations=1"], "ln L"),
            (&["noise.scheme=none"], "there is none"),
        ] {
            let found = bounds(set).1.summary.utility.bounds;
            assert_eq!(found.runtime_dependent, None, "{set:?}");
            let reason = found.reason.expect("a reason");
            assert!(reason.contains(words), "{reason}");
        }
        // ln(1/δ) = 11.5: the printed condition allows ε up to 46, the right one up to 27.
        let found = bounds(&["privacy.epsilon=40"]).1.summary.utility.bounds;
        assert!(found.hypothesis_printed && !found.hypothesis_corrected);
    }

    #[test]
    fn leading_columns_are_the_first_of_every_row() {
        let block = Block::from_values(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(leading(&block, 2).values(), [1.0, 2.0, 4.0, 5.0]);
    }
}
