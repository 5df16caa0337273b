//! Principal components about a private mean: the mean is released first, and everything after it is about what is left.

use std::ops::Range;
use std::sync::Arc;

use super::{
    Algorithm, History, Next, Prelude, Program, PublicState, ReleaseSpec, Released, Unsupported,
};
use crate::linalg::{Block, NotFullRank, SparseRows};
use crate::vocabulary::{Iteration, Quantity, ReleaseId};

/// Another algorithm on rows from which a mean was taken that was itself released under noise.
///
/// Release 1 is Σ clip(x_i, R_raw)/R_raw over all rows. With m the public number of slots everybody then knows
/// m̂ = R_raw·sum/m, and a row enters all later releases as clip(x_i − m̂, R)/R: `inner` is run on those. Two clips make
/// every release a function of rows of norm at most 1, whatever the peers hold; a slot that nobody fills contributes the zero
/// vector to *all* releases, also after centring.
///
/// # Privacy
/// Release 1 moves by at most 1 if a row is there or not, by at most 2 (√2 if no entry is negative) if it is replaced.
/// Given its outcome m̂ is a public constant, so that the later releases have the sensitivities of `inner` on rows of norm at
/// most 1. The losses add as those of adaptive Gaussian releases do: μ² = Σ μ_l².
///
/// # The trap
/// The error δ of m̂ is in every centred row alike and adds m·δδᵀ to the matrix: a spike of m‖δ‖² in a random direction, which
/// becomes the first eigenvector if the mean is bought too cheaply. [`mean_share`] is the public rule that avoids it.
///
/// # Shapes
/// Release 1 is n × 1, the others are those of `inner`. Its iteration is the first one of `inner`.
#[derive(Clone, Debug)]
pub struct Centred {
    /// What is computed of the centred rows.
    inner: Arc<dyn Algorithm>,
    /// The public numbers of the mean.
    prelude: Prelude,
}

/// The share f of μ² that the mean is given: the least one at which the spike of its error is no larger than the noise matrix,
///
/// s²R_raw²·n/(f μ² m) ≤ √2·c R²·√n/(μ√(1 − f)),
///
/// where s and c are the sensitivities of the sum and of the isometric triangle (1 and 1 where one row is there or not). All of
/// it is public. The left side is the mean of m‖δ‖², the right one about the norm of the noise of
/// [`IsometricCovariance`](super::IsometricCovariance).
///
/// f/√(1−f) = K has the solution f = K(√(K² + 4) − K)/2, which lies between 0 and 1.
#[must_use]
pub fn mean_share(
    (columns, slots): (usize, usize),
    (raw_clip, radius): (f64, f64),
    (of_sum, of_triangle): (f64, f64),
    mu: f64,
) -> f64 {
    let spike = (of_sum * raw_clip).powi(2) * columns as f64 / (mu * mu * slots as f64);
    let noise = 2.0_f64.sqrt() * of_triangle * radius * radius * (columns as f64).sqrt() / mu;
    let k = spike / noise;
    // The same without a difference of large numbers, and without their squares.
    match k < 1e100 {
        true => 2.0 * k / ((k * k + 4.0).sqrt() + k),
        false => 1.0,
    }
}

/// What finite `values` are multiplied with to have norm at most 1 in units of `radius`: a finite number for every radius above 0.
#[must_use]
pub fn shortening(values: &[f64], radius: f64) -> f64 {
    let largest = values.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    // Of a radius whose reciprocal is not finite; a smaller factor makes a row shorter.
    let unit = radius.recip().min(f64::MAX);
    if largest == 0.0 {
        return unit;
    }
    let squares: f64 = values.iter().map(|x| (x / largest).powi(2)).sum();
    let norm = squares.sqrt();
    match norm * (largest / radius) <= 1.0 {
        true => unit,
        // A little shorter than 1, so that rounding never makes a row longer than its bound.
        false => ((1.0 - 1e-12) / norm / largest).min(f64::MAX),
    }
}

/// Writes `row` in units of `radius` and shortens it to norm 1. A row with a number that is not finite becomes 0.
pub fn shorten(row: &mut [f64], radius: f64) {
    match row.iter().all(|x| x.is_finite()) {
        true => {
            let factor = shortening(row, radius);
            row.iter_mut().for_each(|x| *x *= factor);
        }
        false => row.fill(0.0),
    }
}

impl Centred {
    /// `inner` on rows less a private mean with these public numbers.
    ///
    /// # Errors
    /// [`Unsupported`] for an algorithm that [`Self::supports`] refuses.
    pub fn new(inner: Arc<dyn Algorithm>, prelude: Prelude) -> Result<Self, Unsupported> {
        inner.program().check_each(Self::supports)?;
        Ok(Self { inner, prelude })
    }

    /// Whether a private mean may come before this release of a program. Shares, agreements, ceilings and batches have not been shown to go with
    /// one, and neither has what is made of anything but the matrix of the rows.
    ///
    /// # Errors
    /// [`Unsupported`] for a release that may not follow a mean.
    pub fn supports(program: &Program, release: &ReleaseSpec) -> Result<(), Unsupported> {
        match program.is_plain_and_of_the_matrix(release) {
            true => Ok(()),
            false => Err(Unsupported::algorithm(
                "a private mean",
                program,
                "what it releases or makes of it has not been shown for rows less a mean; set algorithm.kind = \"power\", \"momentum\", \"krylov\", \
                 \"covariance\" or \"isometric-covariance\", or take public means",
            )),
        }
    }

    /// What is released of the rows: all of them.
    fn quantity(&self) -> Quantity {
        match self.prelude.unit_box {
            true => Quantity::NonnegativeRowSum,
            false => Quantity::RowSum,
        }
    }

    /// The numbers of one row as they enter: clipped to the box, if there is one.
    fn entry(&self, x: f64) -> f64 {
        match self.prelude.unit_box {
            true => x.clamp(0.0, 1.0),
            false => x,
        }
    }

    /// m̂, from the released sum.
    fn mean(&self, sum: &Block) -> Vec<f64> {
        let unit = self.prelude.raw_clip / self.prelude.slots as f64;
        let values = sum.values().iter();
        let finite = |x: f64| x.clamp(-f64::MAX, f64::MAX);
        values.map(|x| finite(self.entry(x * unit))).collect()
    }

    /// Σ clip(x_i, R_raw)/R_raw.
    fn row_sum(&self, rows: &SparseRows) -> Vec<f64> {
        let mut sum = vec![0.0; rows.dimension()];
        let mut row = Vec::new();
        for i in 0..rows.len() {
            let (columns, values) = rows.row(i);
            row.clear();
            row.extend(values.iter().map(|x| self.entry(*x)));
            let factor = shortening(&row, self.prelude.raw_clip);
            for (&column, x) in columns.iter().zip(&row) {
                sum[column as usize] += x * factor;
            }
        }
        sum
    }

    /// clip(x_i − m̂, R)/R for every filled slot, one after the other.
    fn centred_values(&self, rows: &SparseRows, mean: &[f64]) -> Vec<f64> {
        let n = rows.dimension();
        let mut out = Vec::new();
        for i in 0..rows.len() {
            let (columns, values) = rows.row(i);
            if columns.is_empty() {
                continue;
            }
            let start = out.len();
            out.extend(mean.iter().map(|x| -x));
            let row: &mut [f64] = &mut out[start..start + n];
            for (&column, x) in columns.iter().zip(values) {
                row[column as usize] += self.entry(*x);
            }
            // Differences of numbers near the largest float are as large as floats get.
            row.iter_mut()
                .for_each(|x| *x = x.clamp(-f64::MAX, f64::MAX));
            shorten(row, self.prelude.radius);
        }
        out
    }

    /// The matrix of these numbers: a row for every filled slot, none for the others.
    fn matrix(rows: &SparseRows, values: &[f64]) -> SparseRows {
        SparseRows::dense(rows.dimension(), values.to_vec())
            .expect("released sums are finite, and shortened rows too")
    }

    /// How many numbers of what was prepared are centred rows.
    fn centred_length(rows: &SparseRows) -> usize {
        let filled = (0..rows.len()).filter(|&i| !rows.row(i).0.is_empty());
        filled.count() * rows.dimension()
    }

    /// The releases of `inner`, under its own numbers.
    fn own_past(past: &[Released]) -> Vec<Released> {
        let renumbered = |one: &Released| Released {
            release: ReleaseId(one.release.0 - 1),
            ..one.clone()
        };
        past.iter().skip(1).map(renumbered).collect()
    }

    /// The state as `inner` knows it.
    fn own_state(state: &PublicState) -> PublicState {
        PublicState {
            query: Arc::clone(&state.query),
            past: Self::own_past(&state.past),
            carried: state.carried.clone(),
            released: state.released.saturating_sub(1),
            agreed: state.agreed,
        }
    }

    /// The state after one of `inner`'s releases.
    fn outer_state(state: &PublicState, own: PublicState) -> PublicState {
        let mut past = vec![state.past[0].clone()];
        past.extend(own.past.into_iter().map(|one| Released {
            release: one.release.next(),
            ..one
        }));
        PublicState {
            query: own.query,
            past,
            carried: own.carried,
            released: state.released,
            agreed: own.agreed,
        }
    }
}

impl Algorithm for Centred {
    /// The mean's share is that of an average release; what it really spends is the plan's to say (`noise_factors`).
    fn program(&self) -> Program {
        let mut program = self.inner.program();
        let (items, columns) = (program.items, program.query_columns);
        let mut mean = ReleaseSpec::sum(1, self.quantity(), (items, 1), columns);
        let shares: f64 = program.releases.iter().map(|release| release.share).sum();
        mean.share = shares / program.releases.len() as f64;
        if let Some(first) = program.releases.first() {
            mean.iteration = first.iteration.max(Iteration(1));
        }
        program.releases.insert(0, mean);
        // Rows less a mean, shortened again, are others than those that are held.
        program.proved.as_held = false;
        program.prelude = Some(self.prelude);
        let own = [
            ("slots", self.prelude.slots as f64),
            ("raw_clip", self.prelude.raw_clip),
            ("radius", self.prelude.radius),
            ("unit_box", f64::from(u8::from(self.prelude.unit_box))),
        ];
        let state = program.state.with_past();
        program.inside("centred", own).state(state)
    }

    fn next(&self, state: &PublicState, declared: Option<&ReleaseSpec>) -> Next {
        if state.released == 0 {
            return Next::Release(ReleaseId(1));
        }
        match self.inner.next(&Self::own_state(state), declared) {
            Next::Release(id) => Next::Release(id.next()),
            other => other,
        }
    }

    fn statistic(&self, state: &PublicState) -> f64 {
        match state.released {
            0 => 0.0,
            _ => self.inner.statistic(&Self::own_state(state)),
        }
    }

    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        let Some(first) = history.past.first() else {
            return self.row_sum(rows);
        };
        let mut prepared = self.centred_values(rows, &self.mean(&first.sum));
        let own = History {
            release: ReleaseId(history.release.0 - 1),
            query: history.query,
            past: &Self::own_past(history.past),
            agreed: history.agreed,
        };
        let centred = Self::matrix(rows, &prepared);
        prepared.extend(self.inner.prepare(&centred, own));
        prepared
    }

    fn add_contribution(
        &self,
        release: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        if release == ReleaseId(1) {
            for (out, x) in out.iter_mut().zip(&prepared[range]) {
                *out += x;
            }
            return;
        }
        let (centred, own) = prepared.split_at(Self::centred_length(rows));
        let centred = Self::matrix(rows, centred);
        let release = ReleaseId(release.0 - 1);
        self.inner
            .add_contribution(release, &centred, own, range, out);
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        if state.released == 0 {
            return Ok(state.followed_by(sum, sigmas));
        }
        let own = self.inner.advance(&Self::own_state(state), sum, sigmas)?;
        Ok(Self::outer_state(state, own))
    }

    fn conclude(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        if state.released == 0 {
            return self.advance(state, sum, sigmas);
        }
        let own = self.inner.conclude(&Self::own_state(state), sum, sigmas)?;
        Ok(Self::outer_state(state, own))
    }

    /// After the mean alone, where the query started.
    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        match state.released {
            0 | 1 => Arc::clone(&state.query),
            _ => self.inner.estimate(&Self::own_state(state)),
        }
    }
}
