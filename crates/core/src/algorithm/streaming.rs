//! Streaming power iteration: one pass, every row in one step only.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::table::{AlgorithmTable, DataFacts, DataRequirements, made, program_of};
use super::{Algorithm, AlgorithmError, Program, PublicState, ReleaseSpec, RetainedState};
use super::{Arrival, Start};
use crate::linalg::{Block, NotFullRank, orthonormalise};

/// The power method of which step l sums over the rows of batch l alone: X^l = QR(Σ_{i in batch l} r_iᵀ(r_i X^{l−1}) + noise).
///
/// For data that cannot be kept: a peer needs O(n p) memory beside the batch at hand. The last step estimates the eigenvectors of the
/// covariance that the rows are drawn from with the error of N/L samples, so without noise the error falls like N^{−1/2}.
///
/// # Privacy
/// A row changes one release. Everything before is independent of it, everything after is a function of what was released and of other
/// rows: the loss of all L steps is that of the one, and noise needs no √L (proof: [`charged`](super::charged)). **That does not make
/// streams more private**: the signal of a step is L times smaller, the noise √L times. Where noise decides, a stream errs √L times as
/// much as the power method on all rows at the same ε, and where sampling decides about 1.7 times. All peers add noise in every step,
/// whether they hold a row of the batch or not. Rows of one user in several batches would be charged for each.
///
/// # Source
/// Mitliagkas, Caramanis & Jain 2013; Hardt & Price 2014, Figure 2, without privacy.
#[derive(Clone, Copy, Debug)]
pub struct Streaming {
    /// Items n.
    pub(super) dimension: usize,
    /// Columns p.
    pub(super) rank: usize,
    /// Steps and batches L.
    pub(super) iterations: u32,
}

impl Streaming {
    /// So many columns on so many items, in as many steps as there are batches of rows.
    ///
    /// # Errors
    /// [`AlgorithmError::Count`] for a rank of 0 or above the number of items, and for no steps or too many.
    pub fn new(items: usize, rank: usize, iterations: u32) -> Result<Self, AlgorithmError> {
        AlgorithmError::check(items, rank, iterations)?;
        Ok(Self {
            dimension: items,
            rank,
            iterations,
        })
    }
}

impl Algorithm for Streaming {
    fn program(&self) -> Program {
        let mut releases = ReleaseSpec::products(self.iterations, self.dimension, self.rank);
        for (batch, release) in (0..).zip(&mut releases) {
            release.batch = Some(batch);
        }
        Program::of("streaming", self.dimension, self.rank, releases)
            .with_setting("rank", self.rank as f64)
            .state(RetainedState::Query)
    }

    fn advance(
        &self,
        _: &PublicState,
        sum: &Arc<Block>,
        _: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        orthonormalise(sum).map(|basis| PublicState::new(Arc::new(basis)))
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

/// `[algorithm]` with `kind = "streaming"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamingTable {
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// L: iterations.
    pub iterations: u32,
    /// X⁰: `"random"`, or `"popularity"`, whose first column is public item popularity.
    #[serde(default, skip_serializing_if = "Start::is_random")]
    pub start: Start,
    /// In which step a row counts: `"file-order"` (where absent) or `"round-robin"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival: Option<Arrival>,
}

impl AlgorithmTable for StreamingTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        made(Streaming::new(facts.items, self.rank, self.iterations))
    }

    fn sketch(&self) -> Option<Program> {
        program_of(Streaming::new(2, 1, 1))
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements {
            start: self.start,
            arrival: Some((self.arrival.unwrap_or_default(), self.iterations)),
            ..DataRequirements::default()
        }
    }

    fn finds_eigenvectors(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use rand::distr::Distribution;
    use rand_distr::StandardNormal;

    use super::*;
    use crate::algorithm::contribution;
    use crate::linalg::{SparseRows, start_block, subspace_distance};
    use crate::vocabulary::{Label, Seed};

    #[test]
    fn batches_are_even_and_a_place_decides_alone() {
        for arrival in [Arrival::FileOrder, Arrival::RoundRobin] {
            for (rows, batches) in [(10, 3), (7, 7), (100, 9), (2, 5)] {
                let mut sizes = vec![0_usize; batches as usize];
                for place in 0..rows {
                    sizes[arrival.batch(place, rows, batches) as usize] += 1;
                }
                let (least, most) = (sizes.iter().min(), sizes.iter().max());
                assert!(most.expect("some") - least.expect("some") <= 1, "{sizes:?}");
            }
        }
        assert_eq!(Arrival::FileOrder.batch(9, 10, 3), 2);
        assert_eq!(Arrival::RoundRobin.batch(9, 10, 3), 0);
    }

    /// N rows of a spiked covariance, UΛ²Uᵀ + σ²I with four spikes of 1 in 60 dimensions, σ = 1/2; U is the first four axes.
    fn error(count: usize, seed: u64) -> f64 {
        const DIMENSION: usize = 60;
        let algorithm = Streaming {
            dimension: DIMENSION,
            rank: 4,
            iterations: 5,
        };
        let seed = Seed::from_u64(seed);
        let mut generator = seed.generator(Label::Scenario);
        let mut normal = || -> f64 { StandardNormal.sample(&mut generator) };
        let start = start_block(&seed, DIMENSION, 4).expect("full rank");
        let mut state = PublicState::new(Arc::new(start));
        for _ in 0..algorithm.iterations {
            let mut rows = SparseRows::new(DIMENSION);
            for _ in 0..count / algorithm.iterations as usize {
                let row: Vec<f64> = (0..DIMENSION)
                    .map(|i| 0.5 * normal() + if i < 4 { normal() } else { 0.0 })
                    .collect();
                rows.push_row((0..).zip(row)).expect("ascending");
            }
            let sum = contribution(&algorithm, &rows, state.history(), (DIMENSION, 4));
            let released = state.released + 1;
            state = algorithm
                .advance(&state, &Arc::new(sum), &[0.0])
                .expect("full rank");
            state.released = released;
        }
        let axes = nalgebra::DMatrix::identity(DIMENSION, 4);
        subspace_distance(&algorithm.estimate(&state), &Block::from_matrix(&axes))
    }

    /// The slope of ln(error) in ln N, least squares over four sizes, medians of nine seeds: −1/2 within 0.05.
    #[test]
    fn the_error_falls_with_the_root_of_the_number_of_rows() {
        let sizes = [1000_usize, 2000, 4000, 8000];
        let points: Vec<(f64, f64)> = sizes
            .into_iter()
            .map(|count| {
                let mut errors: Vec<f64> = (0..9).map(|seed| error(count, seed)).collect();
                errors.sort_by(f64::total_cmp);
                ((count as f64).ln(), errors[4].ln())
            })
            .collect();
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / 4.0;
        let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
        let above: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
        let below: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
        let slope = above / below;
        eprintln!("streaming: slope {slope:.3}, {points:?}");
        assert!((slope + 0.5).abs() < 0.05, "{slope}");
    }
}
