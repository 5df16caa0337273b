//! Private power iteration for one vector: noise for a guess at the largest entry, or for the vector at hand.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::algorithm::{
    Algorithm, AlgorithmError, AlgorithmTable, DataFacts, DataRequirements, Next, Program, Proved,
    PublicState, ReleaseSpec, RetainedState, Start,
};
use crate::linalg::{Block, NotFullRank, orthonormalise};
use crate::vocabulary::ReleaseId;

/// Power iteration on one vector, x_t = y_t/‖y_t‖ with y_t = A x_{t−1} + noise.
///
/// With a coherence C (`scale = "fixed"`) the noise of every step is that of a vector whose largest entry is √(C/n), whatever x is, and
/// the iteration **aborts** before a step where an entry of x exceeds that: C is a guess at n·max x_i², and a bad one ends the run. Without
/// (`scale = "adaptive"`) noise is scaled by max|x_i|, on which the peers agree.
///
/// # Privacy
/// Under [`Adjacency::Entry`](undertone_core::privacy::Adjacency::Entry) one record moves A x by at most ‖x‖_∞ ≤ √(C/n) while it runs. Whether it
/// aborts is a function of x_{t−1}, which is public, and costs nothing; what was planned for steps that are left out stays spent.
/// How often one tried with another C is another matter: every try is a run that spends its budget.
///
/// # The adaptive scale is never worse
/// For the same noise multiplier z its noise is z‖x‖_∞ ≤ z√(C/n) in every step that the other makes; it never aborts and needs no C.
///
/// # Where it departs from print
/// The start has norm 1; in print it is N(0, 1/n)ⁿ. X⁰ is public and has nothing to do with the data, so the first step does not abort:
/// where an entry of X⁰ exceeds √(C/n) it is scaled by that entry. Printed, that is an abort before anything happens for C < 2 ln n.
/// T = 4 ln σ₁ steps, as printed, do not converge: the number must be divided by the gap γ (a test has the numbers).
///
/// # Source
/// Hardt & Roth 2013, Figure 2; its calibration is [`Calibration::HardtRoth`](undertone_core::privacy::Calibration::HardtRoth). The adaptive scale
/// is that of Hardt & Price 2014, Figure 3, for one column.
#[derive(Clone, Copy, Debug)]
pub struct PrivatePowerIteration {
    /// Items n.
    dimension: usize,
    /// Steps T.
    iterations: u32,
    /// C, 1 ≤ C ≤ n; `None` for the scale of the vector at hand.
    coherence: Option<f64>,
}

impl PrivatePowerIteration {
    /// So many steps on so many items, at noise for this coherence; `None` for the scale of the vector at hand.
    ///
    /// # Errors
    /// [`AlgorithmError::Count`] without items, and for no steps or too many; [`AlgorithmError::Key`] for a coherence that no vector
    /// of so many entries has.
    pub fn new(
        items: usize,
        iterations: u32,
        coherence: Option<f64>,
    ) -> Result<Self, AlgorithmError> {
        AlgorithmError::check(items, 1, iterations)?;
        match coherence {
            Some(found) if !(1.0..=items as f64).contains(&found) => Err(AlgorithmError::key(
                "coherence",
                format!(
                    "must lie between 1 and the number of items, {items}, found {found}: it is a guess at n times the largest squared \
                         entry of the eigenvector"
                ),
            )),
            _ => Ok(Self {
                dimension: items,
                iterations,
                coherence,
            }),
        }
    }

    /// √(C/n), the largest entry that a query may have.
    #[must_use]
    pub fn ceiling(&self) -> Option<f64> {
        self.coherence
            .map(|coherence| (coherence / self.dimension as f64).sqrt().min(1.0))
    }
}

impl Algorithm for PrivatePowerIteration {
    fn program(&self) -> Program {
        let mut releases = ReleaseSpec::products(self.iterations, self.dimension, 1);
        for release in &mut releases {
            release.ceiling = self.ceiling();
            release.may_end_before = self.coherence.is_some() && release.iteration.0 > 1;
        }
        Program::of("ppi", self.dimension, 1, releases)
            .with_setting("coherence", self.coherence.unwrap_or(0.0))
            .proved(Proved::INDEFINITE)
            .state(match self.coherence {
                None => RetainedState::Query,
                Some(_) => RetainedState::All,
            })
    }

    fn next(&self, state: &PublicState, declared: Option<&ReleaseSpec>) -> Next {
        let Some(release) = declared else {
            return Next::Done;
        };
        // All peers agreed on this number, so that all abort together.
        let beyond = match (release.ceiling, state.agreed) {
            (Some(ceiling), Some(agreed)) => agreed > ceiling,
            _ => false,
        };
        match beyond && state.released > 0 {
            true => Next::Done,
            false => Next::Release(ReleaseId(state.released).next()),
        }
    }

    fn advance(
        &self,
        _: &PublicState,
        sum: &Arc<Block>,
        _: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        orthonormalise(sum).map(|x| PublicState::new(Arc::new(x)))
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

/// What noise is scaled by: `algorithm.scale` of an experiment file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseScale {
    /// By the largest entry of the vector at hand.
    Adaptive,
    /// By √(C/n) for a guess C, beyond which the run aborts.
    Fixed,
}

/// `[algorithm]` with `kind = "ppi"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PpiTable {
    /// p: 1, the only rank that it has.
    pub rank: usize,
    /// L: iterations.
    pub iterations: u32,
    /// X⁰: `"random"`, or `"popularity"`, whose first column is public item popularity.
    #[serde(default, skip_serializing_if = "Start::is_random")]
    pub start: Start,
    /// What noise is scaled by: `"adaptive"` (where absent) or `"fixed"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<NoiseScale>,
    /// C of `scale = "fixed"`, from 1 to the number of items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coherence: Option<f64>,
}

impl AlgorithmTable for PpiTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        let fixed = self.scale == Some(NoiseScale::Fixed);
        if fixed != self.coherence.is_some() {
            return Err(AlgorithmError::key(
                "scale",
                "and algorithm.coherence: scale = \"fixed\" needs a coherence, and scale = \"adaptive\" has none",
            ));
        }
        if self.rank != 1 {
            return Err(AlgorithmError::key(
                "kind",
                format!(
                    "= \"ppi\" finds one eigenvector: set algorithm.rank = 1, found {}; deflation finds several",
                    self.rank
                ),
            ));
        }
        let (iterations, coherence) = (self.iterations, self.coherence);
        let algorithm = PrivatePowerIteration::new(facts.items, iterations, coherence)?;
        Ok(Arc::new(algorithm))
    }

    fn sketch(&self) -> Option<Program> {
        let coherence = self.coherence.map(|_| 1.0);
        Some(PrivatePowerIteration::new(2, 1, coherence).ok()?.program())
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements {
            start: self.start,
            ..DataRequirements::default()
        }
    }

    fn may_abort(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::contribution;
    use crate::linalg::{SparseRows, start_block};
    use crate::vocabulary::{Label, Seed};

    /// Rows √λ_i e_i, so that A = diag(λ).
    fn diagonal(eigenvalues: impl Iterator<Item = f64>) -> SparseRows {
        let eigenvalues: Vec<f64> = eigenvalues.collect();
        let mut rows = SparseRows::new(eigenvalues.len());
        for (i, value) in (0..).zip(eigenvalues) {
            rows.push_row([(i, value.sqrt())]).expect("ascending");
        }
        rows
    }

    /// x_T with noise of this standard deviation per unit of the largest entry.
    fn iterated(rows: &SparseRows, steps: u32, sigma: f64, seed: u64) -> Block {
        let n = rows.dimension();
        let algorithm = PrivatePowerIteration {
            dimension: n,
            iterations: steps,
            coherence: None,
        };
        let seed = Seed::from_u64(seed);
        let mut state = PublicState::new(Arc::new(start_block(&seed, n, 1).expect("full rank")));
        for step in 1..=steps {
            let mut sum = contribution(&algorithm, rows, state.history(), (n, 1));
            let mut noise = vec![0.0; n];
            let scale = sigma * state.query.max_entry();
            let key = seed.key(Label::Scenario, 0, 0);
            key.add_all_normals(step, scale, &mut noise);
            sum.add_scaled(1.0, &Block::from_values(n, 1, noise));
            let sum = Arc::new(sum);
            state = algorithm
                .advance(&state, &sum, &[scale])
                .expect("full rank");
        }
        Block::clone(&state.query)
    }

    /// Hardt & Roth, Lemma 4.1: the signs of ⟨u_i, x_t⟩ are fair and independent. Each of three counts of 400 fair coins strays further
    /// than 44 from 200 with probability 8.5e-6.
    #[test]
    fn signs_along_eigenvectors_are_fair_and_independent() {
        let rows = diagonal([4.0, 3.0, 2.0, 1.0, 0.5, 0.5].into_iter());
        let runs = 400_u64;
        let (mut first, mut second, mut equal) = (0, 0, 0);
        for seed in 0..runs {
            let x = iterated(&rows, 3, 1.0, seed);
            let (a, b) = (x.values()[0] > 0.0, x.values()[1] > 0.0);
            first += i32::from(a);
            second += i32::from(b);
            equal += i32::from(a == b);
        }
        for count in [first, second, equal] {
            assert!((count - 200).abs() <= 44, "{first} {second} {equal}");
        }
    }

    /// σ₁ = 100 with a gap of γ = 0.05 in 1,000 dimensions: T = 4 ln σ₁ = 19 steps are claimed to reach 0.99 σ₁ and reach 0.95 of it
    /// whatever the start; divided by γ, 369 steps reach it.
    #[test]
    fn the_printed_number_of_steps_lacks_the_gap() {
        let rows = diagonal((0..1000).map(|i| if i == 0 { 100.0 } else { 95.0 }));
        let reached = |steps, seed| {
            let x = iterated(&rows, steps, 0.0, seed);
            rows.gram_product(&x).norm() / 100.0
        };
        for seed in 0..10 {
            let printed = reached(19, seed);
            assert!((0.95..0.956).contains(&printed), "{printed}");
        }
        assert!(reached(369, 0) > 0.9999);
    }

    #[test]
    fn it_aborts_where_all_agree_on_a_larger_entry_and_with_c_of_n_never() {
        let of = |coherence| PrivatePowerIteration {
            dimension: 100,
            iterations: 3,
            coherence: Some(coherence),
        };
        let next = |coherence, released, agreed| {
            let algorithm = of(coherence);
            let mut state = PublicState::new(Arc::new(Block::zeros(100, 1)));
            (state.released, state.agreed) = (released, agreed);
            let releases = algorithm.program().releases;
            algorithm.next(&state, releases.get(released as usize))
        };
        // √(16/100) = 0.4.
        assert_eq!(next(16.0, 1, Some(0.39)), Next::Release(ReleaseId(2)));
        assert_eq!(next(16.0, 1, Some(0.41)), Next::Done);
        assert_eq!(next(16.0, 0, Some(0.41)), Next::Release(ReleaseId(1)));
        assert_eq!(next(16.0, 3, None), Next::Done);
        for agreed in [0.1, 0.999, 1.0] {
            assert_eq!(next(100.0, 2, Some(agreed)), Next::Release(ReleaseId(3)));
        }
    }
}
