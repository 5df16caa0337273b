//! Matrix completion by projected gradient descent: everybody applies the same public matrices to its own rows.

use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;
use std::ops::Range;
use std::sync::Arc;

use nalgebra::DMatrix;

use serde::{Deserialize, Serialize};

use super::triangle;
use crate::algorithm::{
    Algorithm, AlgorithmError, AlgorithmTable, CHECKED, Completer, CompleterParts, DataFacts,
    DataRequirements, History, MAX_ITERATIONS, PartsError, Program, Proved, PublicState, RatedRows,
    ReleaseSpec, Released, checked, shorten,
};
use crate::linalg::{Block, NotFullRank, PackedTriangle, SparseRows, signed, symmetric_eigenpairs};
use crate::vocabulary::{Quantity, ReleaseId};

/// The most that n³T may be: about ten seconds for one run.
const MOST_WORK: f64 = 4e9;

/// min ‖P_Ω(Y − Y*)‖² over ‖Y‖_nuc ≤ k by T gradient steps, each followed by a projection on the ball.
///
/// Peers hold rows y*_i, numbers at the items Ω_i that their users rated. Step t: every user moves its row,
/// y_i ← y_i + η(y*_i − y_i) on Ω_i, and W = Σ clip(y_i, R)ᵀclip(y_i, R)/R² is released. With the eigenpairs (w_j, v_j) of
/// W + noise and λ_j = R√max(w_j, 0), which stand for the singular values of Y, z_j = max(λ_j − τ, 0), where τ = 0 if
/// Σλ_j ≤ k and makes Σz_j = k otherwise, the matrix M_t = Σ (z_j/λ_j) v_jv_jᵀ is public, and every user goes on with
/// y_i ← y_iM_t. That is the projection of Y on the ball wherever no row is shortened and there is no noise.
///
/// Predictions replay the steps without the directions below the edge √2·σ√n of the noise, and are checked on the user's own ratings.
///
/// A row y_i has n numbers. It is a function of the user's ratings and of the public matrices, replayed for
/// every contribution and forgotten after it.
///
/// # Privacy
/// A row is shortened to R whatever the peer holds and whatever the history, so that one user, there or not, moves W by at
/// most 1 in [`Quantity::IsometricTriangle`], and √2 if replaced. The T releases compose as adaptive Gaussian releases
/// do; everything else is post-processing.
///
/// # When
/// From ε ≈ 0.5 on, with many users, it predicts best of the methods here (Jester, 25,000 users). Below it is behind a single
/// covariance, because it pays for T. Every peer computes all eigenpairs of n × n matrices, O(n³) a step, and keeps T of them:
/// for n in the hundreds.
///
/// # Source
/// Jain, Thakkar & Thakurta 2018, Algorithm 5, repaired: in print the gradient has the wrong sign and is taken at the new row, and rows
/// are squared without being shortened, so that one user can move the sum by any amount, whatever the noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectedGradient {
    /// Items n.
    dimension: usize,
    /// Eigenvectors of the last matrix that make the reported basis.
    rank: usize,
    /// Steps T.
    iterations: u32,
    /// What is public of the rows: R is its radius, to which rows are shortened before they are squared.
    rows: RatedRows,
    /// k, in units of ratings.
    nuclear: f64,
    /// η, above 0 and at most 1.
    step_size: f64,
}

/// What is stored of a step that is over beside V: f and w, one number each per direction.
fn factors(step: &Released) -> (&[f64], &[f64]) {
    let values = step.sum.values();
    values.split_at(step.query.columns().min(values.len()))
}

/// A public matrix V diag(f) Vᵀ, of a step that is over.
struct Shrinking<'a> {
    /// V.
    vectors: &'a Block,
    /// Vᵀ, row after row: sums over rows are then of numbers that lie side by side.
    transposed: Vec<f64>,
    /// f.
    factors: &'a [f64],
}

impl<'a> Shrinking<'a> {
    fn new(vectors: &'a Block, factors: &'a [f64]) -> Self {
        let (n, count) = (vectors.rows(), vectors.columns());
        let mut transposed = Vec::with_capacity(n * count);
        for j in 0..count {
            transposed.extend((0..n).map(|i| vectors.row(i)[j]));
        }
        Self {
            vectors,
            transposed,
            factors,
        }
    }

    /// That of a step: V is its query, and its sum begins with f.
    fn of(step: &'a Released) -> Self {
        Self::new(&step.query, factors(step).0)
    }

    /// y ← y V diag(f) Vᵀ.
    fn apply(&self, y: &mut [f64], along: &mut Vec<f64>) {
        along.clear();
        along.resize(self.factors.len(), 0.0);
        for (i, y) in y.iter().enumerate() {
            for (sum, v) in along.iter_mut().zip(self.vectors.row(i)) {
                *sum += y * v;
            }
        }
        y.fill(0.0);
        let vectors = self.transposed.chunks_exact(y.len().max(1));
        for ((along, factor), vector) in along.iter().zip(self.factors).zip(vectors) {
            let along = along * factor;
            for (y, v) in y.iter_mut().zip(vector) {
                *y += along * v;
            }
        }
    }
}

/// z_j/λ_j for the projection of these λ, descending, on Σ z_j ≤ k; those that are above 0.
fn projection(lengths: &[f64], k: f64) -> Vec<f64> {
    let positive: Vec<f64> = lengths.iter().copied().take_while(|x| *x > 0.0).collect();
    if positive.iter().sum::<f64>() <= k {
        return vec![1.0; positive.len()];
    }
    // τ = (Σ_{i ≤ j} λ_i − k)/j for the largest j at which λ_j > τ.
    let (mut sum, mut threshold) = (0.0, 0.0);
    for (j, length) in positive.iter().enumerate() {
        sum += length;
        let one = (sum - k) / (j + 1) as f64;
        if *length <= one {
            break;
        }
        threshold = one;
    }
    let kept = positive.iter().map(|length| (length - threshold) / length);
    kept.take_while(|factor| *factor > 0.0).collect()
}

impl ProjectedGradient {
    /// So many steps on so many items, of which so many eigenvectors are reported: `nuclear` is the size of the ball, `step_size` η.
    ///
    /// # Errors
    /// [`AlgorithmError::Count`] for a rank of 0 or above the number of items, [`AlgorithmError::Rows`] and [`AlgorithmError::Number`] for numbers
    /// that make no descent, and [`AlgorithmError::Key`] for one that takes minutes.
    pub fn new(
        items: usize,
        rank: usize,
        iterations: u32,
        rows: RatedRows,
        (nuclear, step_size): (f64, f64),
    ) -> Result<Self, AlgorithmError> {
        AlgorithmError::check(items, rank, iterations)?;
        AlgorithmError::check_rows(rows)?;
        AlgorithmError::positive("nuclear", nuclear)?;
        if (items as f64).powi(3) * f64::from(iterations) > MOST_WORK {
            return Err(AlgorithmError::key(
                "kind",
                format!(
                    "= \"projected-gradient\" computes all eigenvectors of {items} items in each of {iterations} steps, which takes minutes \
                     to hours: items cubed times steps may be at most 4e9; set data.items or algorithm.iterations lower, or take \
                     algorithm.kind = \"spectral-ridge\""
                ),
            ));
        }
        if !(step_size > 0.0 && step_size <= 1.0) {
            return Err(AlgorithmError::Number {
                key: "step_size",
                range: "above 0 and at most 1",
                found: step_size,
            });
        }
        Ok(Self {
            dimension: items,
            rank,
            iterations,
            rows,
            nuclear,
            step_size,
        })
    }

    /// V and f of a step for predictions: without the directions whose w is not above the edge √2·σ√n of the noise.
    fn above_noise(&self, step: &Released) -> (Block, Vec<f64>) {
        let edge = SQRT_2 * step.sigma() * (self.dimension as f64).sqrt();
        let (factors, eigenvalues) = factors(step);
        let kept = eigenvalues.iter().take_while(|w| **w > edge).count();
        let vectors = step.query.to_matrix().columns(0, kept).into_owned();
        (Block::from_matrix(&vectors), factors[..kept].to_vec())
    }

    fn steps(past: &[Released]) -> Vec<Shrinking<'_>> {
        past.iter().map(Shrinking::of).collect()
    }
}

/// y ← y + η(y* − y) on Ω.
fn descend(step_size: f64, (items, values): (&[u32], &[f64]), y: &mut [f64]) {
    for (&item, value) in items.iter().zip(values) {
        let y = &mut y[item as usize];
        *y += step_size * (value - *y);
    }
}

/// A user's row after these steps, from 0.
fn replay(step_size: f64, row: (&[u32], &[f64]), steps: &[Shrinking<'_>], y: &mut [f64]) {
    let mut along = Vec::new();
    y.fill(0.0);
    for step in steps {
        descend(step_size, row, y);
        step.apply(y, &mut along);
    }
}

impl Algorithm for ProjectedGradient {
    fn program(&self) -> Program {
        let shape = (PackedTriangle::coordinates(self.dimension), 1);
        let one = |t| ReleaseSpec::sum(t, Quantity::IsometricTriangle, shape, self.rank);
        let releases = (1..=self.iterations).map(one).collect();
        Program::of("projected-gradient", self.dimension, self.rank, releases)
            .with_setting("rank", self.rank as f64)
            .with_setting("steps", f64::from(self.iterations))
            .with_setting("nuclear", self.nuclear)
            .with_setting("step size", self.step_size)
            .with_settings(self.rows.settings())
            .proved(Proved::OF_OWN_ROWS)
    }

    /// The rows of all users with ratings, shortened to R and in units of it; 0 where a row is beyond all numbers.
    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        let n = self.dimension;
        let steps = Self::steps(history.past);
        let mut all = Vec::new();
        for i in 0..rows.len() {
            let row = rows.row(i);
            if row.0.is_empty() {
                continue;
            }
            let start = all.len();
            all.resize(start + n, 0.0);
            let y: &mut [f64] = &mut all[start..];
            replay(self.step_size, row, &steps, y);
            descend(self.step_size, row, y);
            shorten(y, self.rows.radius);
        }
        all
    }

    fn add_contribution(
        &self,
        _: ReleaseId,
        _: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        let rows = SparseRows::dense(self.dimension, prepared.to_vec());
        let rows = rows.expect("shortened rows are finite");
        triangle::add(&rows, range, out);
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        let n = self.dimension;
        let packed = triangle::packed(n, sum.values());
        let matrix = PackedTriangle::new(n, &packed).to_block().to_matrix();
        let (values, vectors) = symmetric_eigenpairs(&matrix);
        let lengths: Vec<f64> = values
            .iter()
            .map(|w| self.rows.radius * w.max(0.0).sqrt())
            .collect();
        let factors = projection(&lengths, self.nuclear);
        let kept: DMatrix<f64> = vectors.columns(0, factors.len()).into_owned();
        let numbers = [&factors[..], &values.as_slice()[..factors.len()]].concat();
        let mut next = state.clone();
        next.query = Arc::new(signed(&vectors.columns(0, self.rank).into_owned()));
        next.past.push(Released {
            release: ReleaseId(state.released).next(),
            query: Arc::new(Block::from_matrix(&kept)),
            sum: Arc::new(Block::from_values(2 * factors.len(), 1, numbers)),
            sigmas: sigmas.into(),
        });
        Ok(next)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }

    fn completer(&self, state: &PublicState) -> Option<Box<dyn Completer>> {
        Some(Box::new(GradientCompleter {
            dimension: self.dimension,
            step_size: self.step_size,
            steps: state.past.iter().map(|one| self.above_noise(one)).collect(),
            checked: true,
        }))
    }
}

/// Replays all steps for one row. Public.
#[derive(Clone, Debug, PartialEq)]
struct GradientCompleter {
    dimension: usize,
    step_size: f64,
    /// V and f of every step.
    steps: Vec<(Block, Vec<f64>)>,
    /// Whether the user's own ratings check predictions.
    checked: bool,
}

impl GradientCompleter {
    /// The name of the method in files.
    const METHOD: &str = "projected-gradient";

    /// From parts that were checked.
    fn of(parts: &CompleterParts) -> Result<Self, PartsError> {
        let n = parts.directions.rows();
        let count = parts.count("steps", MAX_ITERATIONS)? as usize;
        let (of_steps, factors) = (parts.of_each("step")?, parts.of_each("factor")?);
        let ordered = of_steps.is_sorted_by(|a, b| a <= b)
            && of_steps
                .iter()
                .all(|&t| t.fract() == 0.0 && (1.0..=count as f64).contains(&t));
        if !ordered {
            let problem = "not a step of each direction, in their order";
            return Err(PartsError::number("step", problem));
        }
        let mut from = 0;
        let step = |t: usize| {
            let to = of_steps.partition_point(|&of| of <= t as f64);
            let columns = from..to;
            from = to;
            let rows = (0..n).flat_map(|i| parts.directions.row(i)[columns.clone()].to_vec());
            let vectors = Block::from_values(n, columns.len(), rows.collect());
            (vectors, factors[columns].to_vec())
        };
        Ok(Self {
            dimension: n,
            step_size: parts.positive("step size")?,
            steps: (1..=count).map(step).collect(),
            checked: parts.flag(CHECKED)?,
        })
    }
}

impl Completer for GradientCompleter {
    fn complete(&self, items: &[u32], values: &[f64]) -> Vec<f64> {
        let steps = self.steps.iter();
        let steps = steps.map(|(vectors, factors)| Shrinking::new(vectors, factors));
        let steps: Vec<Shrinking<'_>> = steps.collect();
        let predict = |items: &[u32], values: &[f64]| {
            let mut row = vec![0.0; self.dimension];
            replay(self.step_size, (items, values), &steps, &mut row);
            row
        };
        match self.checked {
            true => checked((items, values), predict),
            false => predict(items, values),
        }
    }

    fn parts(&self) -> CompleterParts {
        let rows = (0..self.dimension).flat_map(|i| {
            let steps = self.steps.iter();
            steps.flat_map(move |(vectors, _)| vectors.row(i).to_vec())
        });
        let factors: Vec<f64> = self.steps.iter().flat_map(|step| step.1.clone()).collect();
        let of_steps = (1..).zip(&self.steps);
        let of_steps = of_steps.flat_map(|(t, step)| vec![f64::from(t); step.1.len()]);
        let constants = [
            ("step size", self.step_size),
            ("steps", self.steps.len() as f64),
            (CHECKED, f64::from(u8::from(self.checked))),
        ];
        CompleterParts {
            method: Self::METHOD.to_owned(),
            directions: Block::from_values(self.dimension, factors.len(), rows.collect()),
            of_directions: BTreeMap::from([
                ("step".to_owned(), of_steps.collect()),
                ("factor".to_owned(), factors),
            ]),
            item_means: Vec::new(),
            constants: BTreeMap::from(constants.map(|(name, x)| (name.to_owned(), x))),
        }
    }
}

/// η where none is given.
const STEP_SIZE: f64 = 0.5;

/// `[algorithm]` with `kind = "projected-gradient"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectedGradientTable {
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// L: iterations.
    pub iterations: u32,
    /// k: the nuclear norm of the ball that is searched, in units of ratings.
    pub nuclear: f64,
    /// η, above 0 and at most 1; 0.5 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_size: Option<f64>,
}

impl AlgorithmTable for ProjectedGradientTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        let rows = facts.rated("projected-gradient")?.rows;
        let (items, rank, iterations) = (facts.items, self.rank, self.iterations);
        let numbers = (self.nuclear, self.step_size.unwrap_or(STEP_SIZE));
        let algorithm = ProjectedGradient::new(items, rank, iterations, rows, numbers)?;
        Ok(Arc::new(algorithm))
    }

    fn sketch(&self) -> Option<Program> {
        None
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements {
            completes: true,
            ..DataRequirements::default()
        }
    }

    fn completer(parts: &CompleterParts) -> Result<Option<Box<dyn Completer>>, PartsError> {
        parts.made(GradientCompleter::METHOD, GradientCompleter::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::contribution;
    use crate::linalg::start_block;
    use crate::vocabulary::Seed;

    const ITEMS: usize = 8;

    fn algorithm() -> ProjectedGradient {
        ProjectedGradient {
            dimension: ITEMS,
            rank: 2,
            iterations: 4,
            rows: RatedRows {
                slots: 20,
                radius: 1e6,
                most_ratings: ITEMS,
                user_centred: true,
            },
            nuclear: 12.0,
            step_size: 0.5,
        }
    }

    fn rows() -> SparseRows {
        let mut rows = SparseRows::new(ITEMS);
        for u in 0..20_u32 {
            let entries = (0..ITEMS as u32).filter(|i| (u * 3 + i * i + u * i) % 4 > 0);
            let value =
                |i: u32| f64::from(u % 5) * (f64::from(i) - 3.0) / 4.0 + f64::from(u * i).sin();
            rows.push_row(entries.map(|i| (i, value(i))))
                .expect("ascending");
        }
        rows
    }

    fn run(algorithm: &ProjectedGradient, rows: &SparseRows) -> PublicState {
        let start = start_block(&Seed::from_u64(2), ITEMS, algorithm.rank).expect("full rank");
        let mut state = PublicState::new(Arc::new(start));
        for (number, release) in (1..).zip(algorithm.program().releases) {
            let sum = contribution(algorithm, rows, state.history(), release.shape());
            let sum = Arc::new(sum);
            state = algorithm.advance(&state, &sum, &[0.0]).expect("always");
            state.released = number;
            assert!(algorithm.estimate(&state).orthonormality_defect() < 1e-12);
        }
        state
    }

    /// Y as a matrix with its singular values soft-thresholded: what the peers' public matrices must come to.
    #[test]
    fn without_noise_and_clip_it_is_projected_gradient_descent() {
        let (algorithm, rows) = (algorithm(), rows());
        let state = run(&algorithm, &rows);
        let mut y = DMatrix::<f64>::zeros(rows.len(), ITEMS);
        for _ in 0..algorithm.iterations {
            for u in 0..rows.len() {
                let (items, values) = rows.row(u);
                for (&item, value) in items.iter().zip(values) {
                    let y = &mut y[(u, item as usize)];
                    *y += 0.5 * (value - *y);
                }
            }
            let mut parts = y.clone().svd(true, true);
            let shrunk = |tau: f64| parts.singular_values.map(|s| (s - tau).max(0.0));
            let (mut low, mut high) = (0.0, parts.singular_values.max());
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                match shrunk(middle).sum() > algorithm.nuclear {
                    true => low = middle,
                    false => high = middle,
                }
            }
            let shrunk = shrunk(high);
            assert!(high > 0.0, "the ball binds");
            parts.singular_values = shrunk;
            y = parts.recompose().expect("both sides are there");
        }
        let completer = algorithm.completer(&state).expect("one");
        let again = crate::tests::made_again(&completer.parts()).expect("its own parts");
        let mut unchecked = completer.parts();
        unchecked.constants.remove(CHECKED);
        let unchecked = crate::tests::made_again(&unchecked).expect("its own parts");
        for u in 0..rows.len() {
            let (items, values) = rows.row(u);
            assert_eq!(
                again.complete(items, values),
                completer.complete(items, values)
            );
            for (found, expected) in unchecked
                .complete(items, values)
                .iter()
                .zip(y.row(u).iter())
            {
                assert!((found - expected).abs() < 1e-6, "{found} {expected}");
            }
        }
    }

    #[test]
    fn the_projection_on_the_simplex_is_that_of_its_definition() {
        assert_eq!(projection(&[3.0, 1.0, 0.0], 4.0), vec![1.0, 1.0]);
        assert_eq!(projection(&[3.0, 1.0], 2.0), vec![2.0 / 3.0]);
        let found = projection(&[3.0, 2.0, 0.1], 3.0);
        assert_eq!(found.len(), 2);
        assert!((found[0] * 3.0 + found[1] * 2.0 - 3.0).abs() < 1e-15);
        assert!((3.0 - found[0] * 3.0 - (2.0 - found[1] * 2.0)).abs() < 1e-15);
        assert!(projection(&[0.0, 0.0], 1.0).is_empty());
        assert!(projection(&[], 1.0).is_empty());
    }

    /// Whatever the ratings and whatever the public matrices, one user is at most 1 long; in print nothing bounds it.
    #[test]
    fn no_user_and_no_history_beat_the_bound() {
        let mut algorithm = algorithm();
        algorithm.rows.radius = 2.0;
        let state = run(&algorithm, &rows());
        let mut longest = 0.0_f64;
        for scale in [1e-3, 0.3, 1.0, 7.0, 1e150, f64::MAX] {
            let mut one = SparseRows::new(ITEMS);
            one.push_row((0..6).map(|i| (i, scale * ((f64::from(i) - 2.5) / 2.5))))
                .expect("ascending");
            for taken in 0..4 {
                let history = History {
                    release: ReleaseId(taken as u32 + 1),
                    query: state.query.values(),
                    past: &state.past[..taken],
                    agreed: None,
                };
                let moved = contribution(&algorithm, &one, history, (ITEMS * (ITEMS + 1) / 2, 1));
                let norm = moved.norm();
                assert!(norm <= 1.0, "{scale} {taken}: {norm}");
                longest = longest.max(norm);
            }
        }
        assert!(longest > 1.0 - 1e-9, "{longest}");
    }

    /// What could be noise alone is not predicted from, and the run is one without signal.
    #[test]
    fn directions_below_the_edge_of_the_noise_are_left_out() {
        let (algorithm, rows) = (algorithm(), rows());
        let mut state = run(&algorithm, &rows);
        let directions = |state: &PublicState| {
            let completer = algorithm.completer(state).expect("one");
            let signal = crate::algorithm::has_signal(completer.as_ref());
            assert_eq!(signal, completer.parts().directions.columns() > 0);
            completer.parts().directions.columns()
        };
        let all = directions(&state);
        assert!(all > 0);
        // An edge between the first eigenvalue and the second, and one above all of them.
        let (_, eigenvalues) = factors(&state.past[0]);
        let middle = (eigenvalues[0] * eigenvalues[1]).sqrt();
        let above = 2.0 * eigenvalues[0];
        state.past.truncate(1);
        for (edge, kept) in [(middle, 1), (above, 0)] {
            state.past[0].sigmas = [edge / (2.0 * ITEMS as f64).sqrt()].into();
            assert_eq!(directions(&state), kept);
        }
    }

    #[test]
    fn a_matrix_without_a_positive_eigenvalue_leaves_nothing_of_the_rows() {
        let algorithm = algorithm();
        let start = start_block(&Seed::from_u64(2), ITEMS, 2).expect("full rank");
        let state = PublicState::new(Arc::new(start));
        let mut sum = Block::zeros(ITEMS * (ITEMS + 1) / 2, 1);
        let mut diagonal = 0;
        for i in 0..ITEMS {
            sum.values_mut()[diagonal] = -1.0;
            diagonal += ITEMS - i;
        }
        let state = algorithm
            .advance(&state, &Arc::new(sum), &[1.0])
            .expect("always");
        assert!(state.past[0].sum.values().is_empty());
        let completer = algorithm.completer(&state).expect("one");
        assert_eq!(completer.complete(&[1], &[2.0]), vec![0.0; ITEMS]);
        // A step without directions is one all the same.
        let again = crate::tests::made_again(&completer.parts()).expect("its own parts");
        assert_eq!(again.complete(&[1], &[2.0]), vec![0.0; ITEMS]);
        for wrong in [-1.0, 0.5, 2.0] {
            let mut parts = completer.parts();
            parts.directions = Block::zeros(ITEMS, 1);
            parts.of_directions.insert("step".to_owned(), vec![wrong]);
            parts.of_directions.insert("factor".to_owned(), vec![1.0]);
            assert!(crate::tests::made_again(&parts).is_err(), "{wrong}");
        }
    }
}
