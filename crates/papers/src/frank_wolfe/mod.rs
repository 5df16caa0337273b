//! Matrix completion by a private Frank–Wolfe iteration: shared directions, and rows that stay with their users.

use std::f64::consts::SQRT_2;
use std::ops::Range;
use std::sync::Arc;

use nalgebra::DMatrix;

use super::{CompletionMode, triangle};
use crate::algorithm::{
    AgreedNumber, Algorithm, AlgorithmError, Completer, History, Next, Program, Proved,
    PublicState, ReleaseSpec, Released, RetainedState, following, shorten,
};
use crate::linalg::{Block, NotFullRank, PackedTriangle, SparseRows, extend_basis, orthonormalise};
use crate::vocabulary::{Label, Quantity, ReleaseId, Seed};

mod completer;
mod parameters;
mod row;
mod table;

#[cfg(test)]
mod tests;

use completer::FrankWolfeCompleter;
pub use parameters::{
    FrankWolfeParameters, Global, GlobalPart, Local, LocalStep, OjaStep, StepRule,
};
use row::{Direction, Row};
pub use table::FrankWolfeTable;

/// Of a direction of norm 1, this little outside the span of those before it still shows a direction.
const NEGLIGIBLE: f64 = 1e-9;

/// β of the published utility theorem, with which the published λ is inflated.
const FAILURE: f64 = 1.0 / 3.0;

/// min ‖P_Ω(Y − Y*)‖² over ‖Y‖_nuc ≤ k by T steps, each towards one direction v that everybody knows.
///
/// Peers hold rows y*_i, numbers at the items Ω_i that their users rated. In step t a user's residual is a_i = (y_i − y*_i) on
/// Ω_i and 0 elsewhere, ã_i = clip(a_i, R), and W = Σ ã_iᵀã_i/R² is released. Its leading eigenpair (w, v) gives the direction
/// v and its length λ, and a peer's own y_i moves along it ([`Local`]). Y never exists: y_i is a combination of the
/// directions whose coefficients are a function of the user's own row and of public history, replayed for every
/// contribution. So nothing of a user is kept, and nothing is sent but the sums.
///
/// # From the sum to λ
/// The noise N of the sum has standard deviation σ on the diagonal and σ/√2 off it, so that ‖N‖ ≈ √2·σ√n =: e, the edge. A direction
/// of strength l > e/2 shows as w = l + e²/(4l), hence l = (w + √(w² − e²))/2 and λ = R√l (the spiked Wigner model). Where
/// w ≤ e there is nothing to be seen: the run **stops**. Peers agree on the largest w before they go on, since one that went on alone would
/// contribute without the others' noise.
///
/// For predictions a step is shortened to the part of v that is not noise, cos² of their angle: 1 − e²/(4l²); and predictions are checked on the
/// user's own ratings. Contributions are of unshortened steps.
///
/// # Privacy
/// A residual is shortened to R whatever the peer holds and whatever the history, so that one user, there or not, moves W by at
/// most 1 in [`Quantity::IsometricTriangle`], and √2 if replaced. The T releases compose as adaptive Gaussian releases do: each is
/// a function of own rows and of what was released before. What was planned for releases that a stop leaves out stays spent.
/// Everything else is post-processing; predictions are made by the peer that holds the row and sent to nobody
/// ([`Completer`]), so that all predictions but a user's own are (ε, δ)-private in that user's row: joint differential privacy.
///
/// # Without the matrix
/// [`Global::Power`] and [`Global::Oja`] release products Ãᵀ(Ãv)/R², n numbers, Γ times per step, each of sensitivity 1 at a v of
/// norm 1. λ² is R² times vᵀ(the last product), at least σ. They are for n beyond some thousand, where n²/2 numbers cannot be sent: at equal
/// privacy both are far behind the covariance. Each step starts at a direction of its own that X⁰ decides.
///
/// # As published
/// [`CompletionMode::Paper`] is Algorithm 1 of the source: rows shortened to L, y_i projected to ‖P_Ω(y_i)‖ ≤ L, residuals up to 2L, a λ
/// with √(σ ln(3n))·n^{1/4} added, η = 1/T, no stop. Its step t = 1 does nothing, so that T steps make T − 1 releases and T − 1 moves;
/// [`Calibration::JainThakkarThakurta`](undertone_core::privacy::Calibration::JainThakkarThakurta) is its σ. It releases a matrix with n² independent noises, of which an
/// eigenvector is not defined; its symmetric part has the law of our triangle. For neighbours that replace a row its bound 4L² on
/// the change is too small, 4√2·L² is attained: it is refused for them.
///
/// # Source
/// Jain, Thakkar & Thakurta 2018, "Differentially private matrix completion revisited", Algorithms 1 and 2; the residual clip, the
/// stop, the length of a direction and the constants are ours. Spiked Wigner matrices: Péché 2006; Benaych-Georges & Nadakuditi 2011.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrankWolfe {
    /// Items n.
    dimension: usize,
    /// Everything else.
    parameters: FrankWolfeParameters,
}

/// What is kept of a step that is over: the direction is the query, and these are the sum.
const EIGENVALUE: usize = 0;
const LENGTH: usize = 1;

impl FrankWolfe {
    /// These steps on so many items.
    ///
    /// # Errors
    /// [`AlgorithmError::Count`] for a rank of 0 or above the number of items, and [`AlgorithmError::Rows`], [`AlgorithmError::Number`] and
    /// [`AlgorithmError::Key`] for numbers that make no Frank–Wolfe iteration.
    pub fn new(items: usize, parameters: FrankWolfeParameters) -> Result<Self, AlgorithmError> {
        AlgorithmError::check(items, parameters.rank, parameters.iterations)?;
        AlgorithmError::check_rows(parameters.rows)?;
        parameters.check()?;
        Ok(Self {
            dimension: items,
            parameters,
        })
    }

    /// Whether peers may stop where no direction shows.
    fn stops(&self) -> bool {
        self.parameters.global == Global::Covariance
            && self.parameters.mode == CompletionMode::Tight
    }

    /// The most that a residual may have: the unit of everything that is released.
    fn unit(&self) -> f64 {
        match self.parameters.mode {
            CompletionMode::Tight => self.parameters.rows.radius,
            CompletionMode::Paper => 2.0 * self.parameters.rows.radius,
        }
    }

    /// √2·σ√n: below this the leading eigenvalue of W and noise is one of noise.
    fn edge(&self, released: &Released) -> f64 {
        SQRT_2 * released.sigma() * (self.dimension as f64).sqrt()
    }

    /// λ of an eigenvalue w of the released sum, whose noise has this σ; 0 where no number is one.
    fn length(&self, eigenvalue: f64, sigma: f64) -> f64 {
        let n = self.dimension as f64;
        let unit = self.unit();
        let length = match self.parameters.mode {
            CompletionMode::Tight => {
                let edge = SQRT_2 * sigma * n.sqrt();
                // Some other peer may have seen a larger eigenvalue and gone on.
                let seen = eigenvalue.max(edge);
                let beyond = (seen - edge) * (seen + edge);
                unit * (0.5 * (seen + beyond.max(0.0).sqrt())).sqrt()
            }
            CompletionMode::Paper => {
                let sigma = sigma * unit * unit;
                let inflation = (sigma * libm::log(n / FAILURE)).sqrt() * n.sqrt().sqrt();
                unit * eigenvalue.max(0.0).sqrt() + inflation
            }
        };
        if length.is_finite() { length } else { 0.0 }
    }

    /// What everybody knows after a release of the whole matrix.
    fn direction(&self, sum: &Block, sigmas: &[f64]) -> (Block, Block) {
        let n = self.dimension;
        let packed = triangle::packed(n, sum.values());
        let matrix = PackedTriangle::new(n, &packed);
        let vector = matrix.leading_eigenvectors(1);
        let image = matrix.times(&vector.to_matrix());
        let eigenvalue = dot(vector.values(), image.as_slice());
        let sigma = sigmas.first().copied().unwrap_or(0.0);
        let length = self.length(eigenvalue, sigma);
        (vector, Block::from_values(2, 1, vec![eigenvalue, length]))
    }

    /// The next vector of the inner iteration, from the product at the last one.
    fn towards(&self, query: &Block, product: &Block, sigma: f64) -> Result<Block, NotFullRank> {
        let mut next = product.clone();
        if let Global::Oja { inner, step } = self.parameters.global
            && sigma > 0.0
        {
            let (n, inner) = (self.dimension as f64, f64::from(inner));
            let eta = match step {
                OjaStep::Theorem => 1.0 / (sigma * (n * inner).sqrt()),
                OjaStep::Printed => 1.0 / (inner * sigma * n.sqrt()),
            };
            next.scale(eta);
            next.add_scaled(1.0, query);
        }
        orthonormalise(&next)
    }

    /// The steps that are over, as a peer sees them.
    fn directions(past: &[Released]) -> Vec<Direction<'_>> {
        past.iter().map(Direction::of).collect()
    }

    /// The steps that count in the end: all but a last one in which nothing was to be seen.
    fn counted<'a>(&self, past: &'a [Released]) -> &'a [Released] {
        match past.split_last() {
            Some((last, before))
                if self.stops() && last.sum.values()[EIGENVALUE] <= self.edge(last) =>
            {
                before
            }
            _ => past,
        }
    }

    /// A user's row after these steps.
    fn row<'a>(&self, items: &'a [u32], values: &[f64], directions: &[Direction<'_>]) -> Row<'a> {
        Row::fitted(
            items,
            values,
            directions,
            (self.dimension, &self.parameters),
        )
    }

    /// Every row's residual at its entries, shortened to the unit and in it; 0 where a row is beyond all numbers.
    fn residuals(&self, rows: &SparseRows, past: &[Released]) -> Vec<f64> {
        let directions = Self::directions(past);
        let mut all = Vec::with_capacity(rows.entries() + rows.len());
        for i in 0..rows.len() {
            let (items, values) = rows.row(i);
            let start = all.len();
            all.extend(self.row(items, values, &directions).residual());
            let one: &mut [f64] = &mut all[start..];
            shorten(one, self.unit());
        }
        all
    }

    /// The state after a step that ends with this direction.
    fn stepped(
        state: &PublicState,
        direction: Block,
        numbers: Block,
        sigmas: &[f64],
    ) -> PublicState {
        let mut next = state.clone();
        next.past.push(Released {
            release: ReleaseId(state.released).next(),
            query: Arc::new(direction),
            sum: Arc::new(numbers),
            sigmas: sigmas.into(),
        });
        next
    }

    /// Whether this is the last release of its step, and which step that is, from 0.
    fn place(&self, release: ReleaseId) -> (bool, usize) {
        let inner = self.parameters.inner() as usize;
        let (step, at) = (release.index() / inner, release.index() % inner);
        (at + 1 == inner, step)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

impl FrankWolfe {
    fn releases(&self) -> Vec<ReleaseSpec> {
        let n = self.dimension;
        let count = self.parameters.releases();
        if self.parameters.global != Global::Covariance {
            return ReleaseSpec::products(count, n, 1);
        }
        let shape = (PackedTriangle::coordinates(n), 1);
        let one = |number| {
            let release = ReleaseSpec::sum(number, Quantity::IsometricTriangle, shape, 1);
            let stops = self.stops() && number > 1;
            ReleaseSpec {
                agreement: stops.then_some(AgreedNumber::Eigenvalue),
                may_end_before: stops,
                ..release
            }
        };
        (1..=count).map(one).collect()
    }
}

impl Algorithm for FrankWolfe {
    fn program(&self) -> Program {
        let releases = self.releases();
        // The directions, the start, and the last sum.
        let vectors = (self.parameters.iterations as usize).saturating_add(1);
        let numbers = vectors.saturating_mul(self.dimension);
        let of_sum = releases.first().map_or(0, ReleaseSpec::values);
        Program::of("frank-wolfe", self.dimension, 1, releases)
            .with_settings(self.parameters.settings())
            .rank(self.parameters.rank)
            .proved(Proved {
                replaced: self.parameters.mode == CompletionMode::Tight,
                ..Proved::OF_OWN_ROWS
            })
            .state(RetainedState::Numbers(numbers.saturating_add(of_sum)))
    }

    fn next(&self, state: &PublicState, declared: Option<&ReleaseSpec>) -> Next {
        let Some(release) = declared else {
            return Next::Done;
        };
        match (state.past.last(), state.agreed) {
            (Some(_), None) if release.agreement.is_some() => Next::Agree,
            // All peers agreed on this number and know σ from the plan, so that all stop together.
            (Some(last), Some(agreed)) if release.may_end_before && agreed <= self.edge(last) => {
                Next::Done
            }
            _ => Next::Release(ReleaseId(state.released).next()),
        }
    }

    /// The leading eigenvalue of the last release.
    fn statistic(&self, state: &PublicState) -> f64 {
        let last = state.past.last();
        last.map_or(0.0, |one| one.sum.values()[EIGENVALUE].max(0.0))
    }

    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        let mut prepared = self.residuals(rows, history.past);
        if self.parameters.global != Global::Covariance {
            let along = rows.with_values(&prepared).project(history.query, 1);
            prepared.extend(along);
        }
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
        let (residuals, along) = prepared.split_at(rows.entries());
        let residuals = rows.with_values(residuals);
        match self.parameters.global {
            Global::Covariance => triangle::add(&residuals, range, out),
            Global::Power { .. } | Global::Oja { .. } => {
                residuals.add_back_projection(along, 1, range, out);
            }
        }
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        if self.parameters.global == Global::Covariance {
            let (direction, numbers) = self.direction(sum, sigmas);
            let mut next = Self::stepped(state, direction, numbers, sigmas);
            if let Some(last) = next.past.last() {
                next.query = Arc::clone(&last.query);
            }
            return Ok(next);
        }
        let sigma = sigmas.first().copied().unwrap_or(0.0);
        let start = state.carried.as_ref().unwrap_or(&state.query);
        let carried = Some(Arc::clone(start));
        let vector = self.towards(&state.query, sum, sigma)?;
        let (last, step) = self.place(ReleaseId(state.released).next());
        if !last {
            return Ok(PublicState {
                query: Arc::new(vector),
                carried,
                ..state.clone()
            });
        }
        let eigenvalue = dot(state.query.values(), sum.values());
        let length = self.unit() * eigenvalue.max(sigma).sqrt();
        let numbers = Block::from_values(2, 1, vec![eigenvalue, length]);
        Ok(PublicState {
            query: Arc::new(following(start, step + 1)?),
            carried,
            ..Self::stepped(state, vector, numbers, sigmas)
        })
    }

    /// The directions of the first steps, made orthonormal in their order; then pseudo-random ones.
    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        let (n, rank) = (self.dimension, self.parameters.rank);
        let mut all = DMatrix::zeros(n, rank);
        for (at, one) in self.counted(&state.past).iter().take(rank).enumerate() {
            all.column_mut(at).copy_from_slice(one.query.values());
        }
        let mut generator = Seed::from_u64(rank as u64).generator(Label::Probe);
        let none = DMatrix::zeros(n, 0);
        let basis = extend_basis(none, &all, NEGLIGIBLE, &mut generator);
        Arc::new(Block::from_matrix(&basis))
    }

    fn completer(&self, state: &PublicState) -> Option<Box<dyn Completer>> {
        let steps = self.counted(&state.past);
        let mut completer = FrankWolfeCompleter::new(self.dimension, &self.parameters, steps);
        if self.stops() {
            completer.shrink(steps.iter().map(|step| self.edge(step)));
        }
        Some(Box::new(completer))
    }
}
