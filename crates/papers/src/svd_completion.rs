//! Matrix completion by one covariance: rows projected on its leading eigenvectors.

use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CompletionMode, triangle};
use crate::algorithm::{
    Algorithm, AlgorithmError, AlgorithmTable, BlockSpec, CHECKED, Completer, CompleterParts,
    DataFacts, DataRequirements, History, PartsError, Program, Proved, PublicState, RatedRows,
    ReleaseSpec, Released, checked, freed, overlap, shortening,
};
use crate::linalg::{Block, NotFullRank, PackedTriangle, SparseRows};
use crate::vocabulary::{Quantity, ReleaseId};

/// The share of the release that the counts of ratings spend.
const COUNTS: f64 = 0.01;

/// The least share of all entries that is taken to be rated: what noise cannot tell from nothing is not divided by.
const LEAST_RATED: f64 = 0.01;

/// The name of the weights of directions in files.
const WEIGHT: &str = "weight";

/// One covariance, and ŷ_i = (1/ρ̂)·y*_i V Vᵀ for its r leading eigenvectors V. The prediction is of the row as it is, not shortened.
///
/// Peers hold rows y*_i, numbers at the items that their users rated. One release has two blocks: the isometric triangle of
/// Σ clip(y*_i, L)ᵀclip(y*_i, L)/L², and Σ e_i/√max(d_i, ξ), where e_i has a 1 at each of the d_i items that user i rated. The
/// first gives V; the second the share of rated entries, ρ̂ = √ξ·Σ_j(counts)_j/(mn), within [0.01, 1], by which a row of which only so
/// much is seen must be divided. How many ratings there are is private at the level of users, so it is paid for: a hundredth of the
/// release. Its standard error, √(nξ)·√100·z/(mn), is 1 % for m = 25,000, n = ξ = 100 at ε = 0.1, where ρ is 0.7.
///
/// # Privacy
/// One user moves the triangle by at most 1 (√2 if replaced), because its row is shortened to L, and the counts by at
/// most √(d/max(d, ξ)) ≤ 1 (√2 if replaced, no count being negative). Both are blocks of one release with weights 0.99
/// and 0.01.
///
/// # When not
/// It is here because it is published. It divides all users by one share: a ridge regression on the same V also knows which items a user
/// rated.
///
/// # Predictions
/// Eigenvectors below the edge √2·σ√n of the noise are left out, the others are multiplied by cos² of the angle that noise turned them by,
/// and predictions are checked on the user's own ratings.
///
/// # As published
/// Predictions are as printed: of all r eigenvectors, neither shrunk nor checked.
/// [`CompletionMode::Paper`] charges rows of norm L with 4L², which is four times what they can move: for the same label
/// the noise is four times ours beside what the calibration adds. There the number of ratings is taken to be public.
///
/// # Source
/// Jain, Thakkar & Thakurta 2018, Algorithm 4; the counts and the constants are ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SvdCompletion {
    /// Items n.
    dimension: usize,
    /// Eigenvectors r.
    rank: usize,
    /// What is public of the rows: L is its radius, to which rows are shortened before they are squared.
    rows: RatedRows,
    /// Our constants, or the published ones.
    mode: CompletionMode,
}

impl SvdCompletion {
    /// So many eigenvectors of so many items.
    ///
    /// # Errors
    /// [`AlgorithmError::Count`] for a rank of 0 or above the number of items, and [`AlgorithmError::Rows`] for numbers that rows cannot
    /// have.
    pub fn new(
        items: usize,
        rank: usize,
        rows: RatedRows,
        mode: CompletionMode,
    ) -> Result<Self, AlgorithmError> {
        AlgorithmError::check(items, rank, 1)?;
        AlgorithmError::check_rows(rows)?;
        Ok(Self {
            dimension: items,
            rank,
            rows,
            mode,
        })
    }

    fn triangle(&self) -> usize {
        PackedTriangle::coordinates(self.dimension)
    }

    /// Every row's numbers as they are squared, and then what each of its items counts.
    fn parts(&self, rows: &SparseRows) -> (Vec<f64>, Vec<f64>) {
        let unit = match self.mode {
            CompletionMode::Tight => 1.0,
            CompletionMode::Paper => 0.5,
        };
        let (mut squared, mut counted) = (Vec::new(), Vec::new());
        for i in 0..rows.len() {
            let (items, values) = rows.row(i);
            let factor = unit * shortening(values, self.rows.radius);
            squared.extend(values.iter().map(|x| x * factor));
            let rated = items.len().max(self.rows.most_ratings) as f64;
            counted.extend(items.iter().map(|_| rated.sqrt().recip()));
        }
        (squared, counted)
    }

    /// ρ̂ from the released counts.
    fn rated(&self, counts: &[f64]) -> f64 {
        let all = self.rows.slots as f64 * self.dimension as f64;
        let found = (self.rows.most_ratings as f64).sqrt() * counts.iter().sum::<f64>() / all;
        found.clamp(LEAST_RATED, 1.0)
    }
}

impl Algorithm for SvdCompletion {
    fn program(&self) -> Program {
        let shape = (self.triangle(), 1);
        let mut release = ReleaseSpec::sum(1, Quantity::IsometricTriangle, shape, self.rank);
        release.blocks[0].weight = 1.0 - COUNTS;
        release.blocks.push(BlockSpec {
            quantity: Quantity::NonnegativeRowSum,
            shape: (self.dimension, 1),
            columns: self.rank,
            weight: COUNTS,
        });
        Program::of("svd-completion", self.dimension, self.rank, vec![release])
            .with_setting("rank", self.rank as f64)
            .with_setting("mode", f64::from(self.mode as u8))
            .with_settings(self.rows.settings())
            .proved(Proved {
                replaced: self.mode == CompletionMode::Tight,
                ..Proved::OF_OWN_ROWS
            })
    }

    fn prepare(&self, rows: &SparseRows, _: History<'_>) -> Vec<f64> {
        let (mut prepared, counted) = self.parts(rows);
        prepared.extend(counted);
        prepared
    }

    fn add_contribution(
        &self,
        _: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        let triangle = self.triangle();
        let (squared, counted) = prepared.split_at(rows.entries());
        let middle = triangle.clamp(range.start, range.end);
        let (squares, counts) = out.split_at_mut(middle - range.start);
        if !squares.is_empty() {
            let rows = rows.with_values(squared);
            triangle::add(&rows, range.start..middle, squares);
        }
        if !counts.is_empty() {
            let (from, to) = (middle - triangle, range.end - triangle);
            let mut counted = counted.iter();
            for i in 0..rows.len() {
                for (&item, count) in rows.row(i).0.iter().zip(&mut counted) {
                    let item = item as usize;
                    if (from..to).contains(&item) {
                        counts[item - from] += count;
                    }
                }
            }
        }
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        let (squares, counts) = sum.values().split_at(self.triangle());
        let packed = triangle::packed(self.dimension, squares);
        let vectors =
            Arc::new(PackedTriangle::new(self.dimension, &packed).leading_eigenvectors(self.rank));
        let image = PackedTriangle::new(self.dimension, &packed).times(&vectors.to_matrix());
        let along = vectors.to_matrix().tr_mul(&image);
        let mut numbers = vec![self.rated(counts)];
        numbers.extend(along.diagonal().iter());
        let mut next = state.clone();
        next.query = Arc::clone(&vectors);
        next.past.push(Released {
            release: ReleaseId(state.released).next(),
            query: vectors,
            sum: Arc::new(Block::from_values(numbers.len(), 1, numbers)),
            sigmas: sigmas.into(),
        });
        Ok(next)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }

    fn completer(&self, state: &PublicState) -> Option<Box<dyn Completer>> {
        let released = state.past.last()?;
        let (rated, eigenvalues) = released.sum.values().split_first()?;
        let (n, tight) = (self.dimension, self.mode == CompletionMode::Tight);
        let edge = SQRT_2 * released.sigma() * (n as f64).sqrt();
        let kept = match tight {
            true => eigenvalues.iter().take_while(|w| **w > edge).count(),
            false => eigenvalues.len(),
        };
        let eigenvalues = eigenvalues[..kept].to_vec();
        let weight = |w: &f64| match tight {
            true => overlap(freed(*w, edge), edge),
            false => 1.0,
        };
        Some(Box::new(Projection {
            vectors: Block::from_matrix(&released.query.to_matrix().columns(0, kept).into_owned()),
            weights: eigenvalues.iter().map(weight).collect(),
            eigenvalues,
            rated: *rated,
            checked: tight,
        }))
    }
}

/// Projects rows on V and divides by the share of what is rated. Public.
#[derive(Clone, Debug, PartialEq)]
struct Projection {
    vectors: Block,
    /// Of W, in squares of L.
    eigenvalues: Vec<f64>,
    /// Factor of each direction, from 0 to 1; 1 as published.
    weights: Vec<f64>,
    rated: f64,
    /// Whether the user's own ratings check predictions.
    checked: bool,
}

impl Projection {
    /// The name of the method in files.
    const METHOD: &str = "svd-completion";

    /// From parts that were checked.
    fn of(parts: &CompleterParts) -> Result<Self, PartsError> {
        // Files of earlier versions name no weights: directions were used whole.
        let weights = match parts.of_directions.contains_key(WEIGHT) {
            true => parts.of_each(WEIGHT)?.to_vec(),
            false => vec![1.0; parts.directions.columns()],
        };
        Ok(Self {
            vectors: parts.directions.clone(),
            eigenvalues: parts.of_each("eigenvalue")?.to_vec(),
            weights,
            rated: parts.positive("rated")?,
            checked: parts.flag(CHECKED)?,
        })
    }

    /// One prediction per item, not checked.
    fn predict(&self, items: &[u32], values: &[f64]) -> Vec<f64> {
        let mut row = vec![0.0; self.vectors.columns()];
        for (&item, value) in items.iter().zip(values) {
            let scaled = value / self.rated;
            for (sum, x) in row.iter_mut().zip(self.vectors.row(item as usize)) {
                *sum += scaled * x;
            }
        }
        for (sum, weight) in row.iter_mut().zip(&self.weights) {
            *sum *= weight;
        }
        let predict = |i| -> f64 {
            row.iter()
                .zip(self.vectors.row(i))
                .map(|(a, b)| a * b)
                .sum()
        };
        (0..self.vectors.rows()).map(predict).collect()
    }
}

impl Completer for Projection {
    fn complete(&self, items: &[u32], values: &[f64]) -> Vec<f64> {
        let predict = |items: &[u32], values: &[f64]| self.predict(items, values);
        match self.checked {
            true => checked((items, values), predict),
            false => predict(items, values),
        }
    }

    fn parts(&self) -> CompleterParts {
        let checked = f64::from(u8::from(self.checked));
        let constants = [
            ("rated".to_owned(), self.rated),
            (CHECKED.to_owned(), checked),
        ];
        let of_directions = [
            ("eigenvalue".to_owned(), self.eigenvalues.clone()),
            (WEIGHT.to_owned(), self.weights.clone()),
        ];
        CompleterParts {
            method: Self::METHOD.to_owned(),
            directions: self.vectors.clone(),
            of_directions: BTreeMap::from(of_directions),
            item_means: Vec::new(),
            constants: BTreeMap::from(constants),
        }
    }
}

/// The iterations of an algorithm that runs one.
fn one() -> u32 {
    1
}

/// `[algorithm]` with `kind = "svd-completion"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvdCompletionTable {
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// L: exactly 1, which is the default.
    #[serde(default = "one")]
    pub iterations: u32,
    /// Whose constants: `"tight"` (where absent) or `"paper"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<CompletionMode>,
}

impl AlgorithmTable for SvdCompletionTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        let rows = facts.rated("svd-completion")?.rows;
        AlgorithmError::check_iterations("svd-completion", 1, self.iterations)?;
        let mode = self.mode.unwrap_or_default();
        Ok(Arc::new(SvdCompletion::new(
            facts.items,
            self.rank,
            rows,
            mode,
        )?))
    }

    fn sketch(&self) -> Option<Program> {
        None
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements {
            completes: true,
            published: self.mode == Some(CompletionMode::Paper),
            ..DataRequirements::default()
        }
    }

    fn completer(parts: &CompleterParts) -> Result<Option<Box<dyn Completer>>, PartsError> {
        parts.made(Projection::METHOD, Projection::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::contribution;
    use crate::linalg::start_block;
    use crate::vocabulary::Seed;

    const ITEMS: usize = 9;

    fn algorithm(mode: CompletionMode) -> SvdCompletion {
        SvdCompletion {
            dimension: ITEMS,
            rank: 2,
            rows: RatedRows {
                slots: 40,
                radius: 3.0,
                most_ratings: 6,
                user_centred: true,
            },
            mode,
        }
    }

    /// Rows of norms on both sides of the radius, of at most eight items, explicit zeros among them.
    fn rows() -> SparseRows {
        let mut rows = SparseRows::new(ITEMS);
        for u in 0..40_u32 {
            let entries = (0..ITEMS as u32).filter(|i| (u * 5 + i * i + u * i) % 3 > 0);
            let value = |i: u32| (f64::from(u * (i + 2)).sin() * f64::from(u % 7)).trunc();
            rows.push_row(entries.map(|i| (i, value(i))))
                .expect("ascending");
        }
        rows
    }

    fn released(algorithm: &SvdCompletion, rows: &SparseRows) -> Block {
        let start = start_block(&Seed::from_u64(1), ITEMS, 2).expect("full rank");
        let state = PublicState::new(Arc::new(start));
        let shape = algorithm.program().releases[0].shape();
        contribution(algorithm, rows, state.history(), shape)
    }

    #[test]
    fn every_cut_of_the_release_gives_the_same_bits() {
        let (algorithm, rows) = (algorithm(CompletionMode::Tight), rows());
        let whole = released(&algorithm, &rows);
        let prepared = algorithm.prepare(
            &rows,
            History {
                release: ReleaseId(1),
                query: &[],
                past: &[],
                agreed: None,
            },
        );
        for width in [1, 4, 7, 50] {
            let mut cut = vec![0.0; whole.values().len()];
            for (k, out) in cut.chunks_mut(width).enumerate() {
                let range = k * width..k * width + out.len();
                algorithm.add_contribution(ReleaseId(1), &rows, &prepared, range, out);
            }
            assert_eq!(cut, whole.values(), "{width}");
        }
    }

    /// One user alone: both blocks are at most 1 long, and 1 is attained. As published a quarter of what is charged.
    #[test]
    fn a_user_moves_each_block_by_at_most_one() {
        let all = rows();
        let mut longest = (0.0_f64, 0.0_f64);
        for i in 0..all.len() {
            let one = all.single(i);
            let norms = |mode| {
                let algorithm = algorithm(mode);
                let moved = released(&algorithm, &one);
                let (squares, counts) = moved.values().split_at(algorithm.triangle());
                let norm = |part: &[f64]| part.iter().map(|x| x * x).sum::<f64>().sqrt();
                (norm(squares), norm(counts))
            };
            let (squares, counts) = norms(CompletionMode::Tight);
            assert!(
                squares <= 1.0 && counts <= 1.0 + 1e-15,
                "{squares} {counts}"
            );
            longest = (longest.0.max(squares), longest.1.max(counts));
            let (paper, _) = norms(CompletionMode::Paper);
            assert!((paper - 0.25 * squares).abs() < 1e-15);
        }
        assert!(
            longest.0 > 1.0 - 1e-9 && longest.1 > 1.0 - 1e-9,
            "{longest:?}"
        );
    }

    /// Without noise: the share is the true one, and a row of rank one that is seen as a whole is predicted as it is.
    #[test]
    fn without_noise_it_projects_and_divides_by_the_share_of_what_is_rated() {
        let rows = rows();
        let mut algorithm = algorithm(CompletionMode::Tight);
        (algorithm.rows.radius, algorithm.rows.most_ratings) = (1e3, ITEMS);
        let start = start_block(&Seed::from_u64(1), ITEMS, 2).expect("full rank");
        let state = PublicState::new(Arc::new(start));
        let sum = Arc::new(released(&algorithm, &rows));
        let state = algorithm
            .advance(&state, &sum, &[0.0, 0.0])
            .expect("always");
        let share = rows.entries() as f64 / (40.0 * ITEMS as f64);
        assert!((state.past[0].sum.values()[0] - share).abs() < 1e-12);
        let completer = algorithm.completer(&state).expect("one");
        let vectors = algorithm.estimate(&state);
        let again = crate::tests::made_again(&completer.parts()).expect("its own parts");
        // What earlier versions wrote: neither weights nor a check.
        let mut unchecked = completer.parts();
        unchecked.constants.remove(CHECKED);
        unchecked.of_directions.remove(WEIGHT);
        let unchecked = Projection::of(&unchecked).expect("its own parts");
        for i in 0..rows.len() {
            let (items, values) = rows.row(i);
            assert_eq!(
                again.complete(items, values),
                completer.complete(items, values)
            );
            let found = unchecked.predict(items, values);
            for (j, found) in found.iter().enumerate() {
                let mut expected = 0.0;
                for (&item, value) in items.iter().zip(values) {
                    let along: f64 = (0..2)
                        .map(|c| vectors.row(item as usize)[c] * vectors.row(j)[c])
                        .sum();
                    expected += value * along / share;
                }
                assert!((found - expected).abs() < 1e-9);
            }
        }
        // No ratings: nothing to project, and a share that is not 0.
        assert_eq!(algorithm.rated(&[0.0; ITEMS]), LEAST_RATED);
        assert_eq!(algorithm.rated(&[1e9; ITEMS]), 1.0);
        assert!(completer.complete(&[], &[]).iter().all(|x| *x == 0.0));
    }
}
