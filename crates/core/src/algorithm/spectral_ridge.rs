//! Completion by one noisy covariance and a ridge regression that every user makes at home.

mod ridge;
#[cfg(test)]
mod tests;

use std::f64::consts::SQRT_2;
use std::ops::Range;
use std::sync::Arc;

use ridge::Ridge;

use serde::{Deserialize, Serialize};

use super::centred::{shorten, shortening};
use super::{
    Algorithm, AlgorithmError, BlockSpec, Form, History, IsometricCovariance, Program, Proved,
    PublicState, ReleaseSpec, Released,
};
use super::{Completer, CompleterParts, Completion, PartsError, freed, overlap};
use crate::algorithm::table::{AlgorithmTable, DataFacts, DataRequirements, made};
use crate::linalg::{Block, NotFullRank, PackedTriangle, SparseRows, leading_eigenvectors};
use crate::vocabulary::{Iteration, Quantity, ReleaseId};

/// The least part of m that a count of ratings is taken to be, whatever its noise says.
const LEAST_COUNT: f64 = 0.01;

/// The least mean square that is left to what no direction explains, in parts of the whole.
const LEAST_RESIDUAL: f64 = 0.1;

/// Ratings as a few directions plus noise, found by two releases, and a posterior mean that each user computes alone.
///
/// a_i is the row of user i over the items Ω_i that i rated, less the user's own mean; m slots, n items, R the public length
/// rows are shortened to, ξ the most ratings of a user.
///
/// 1. Released together: Σ clip(a_i, R)/R with standard deviation σ₁, and Σ 1_{Ω_i}/√ξ with σ₂. Then ĉ_j is the noisy count of item j,
///    at least m/100, and S_j = R·sum_j has noise of ν = Rσ₁; b_j = ĉ_j s²·S_j/(ĉ_j² s² + ν²), where s² is Σ(S_j² − ν²) less ν²√(2n), one
///    standard error of noise alone, over Σĉ_j², at least 0; ρ̂ = Σĉ_j/(mn), between 0.01 and 1, is the density.
/// 2. Rows less b on Ω_i, and less what is then their mean, are a_i from here on. Released: the isometric triangle of
///    Σ clip(a_i, R)ᵀclip(a_i, R)/R², which is Ŵ/R². With σ the standard deviation of a coordinate of Ŵ, eigenvectors v_j are kept, at most
///    `rank`, whose eigenvalue w_j is above the edge √2·σ√n of the spectrum of noise alone. l_j = (w_j + √(w_j² − 2σ²n))/2 is what w_j
///    was before the noise pushed it up; τ_j² = l_j(1 − σ²n/(2l_j²))/(mρ̂²) the variance of users along v_j, less by what noise turned v_j; and
///    s² = tr Ŵ/(mnρ̂) − Σ l_j/(mnρ̂²), at least a tenth of the first term, the variance of a rating about all this; where noise makes the
///    trace less than Σ l_j it is taken to be that.
/// 3. Each user alone: c = (V_ΩᵀV_Ω + s²·diag(1/τ_j²))⁻¹ V_Ωᵀa_i, and the prediction is b + cVᵀ plus what was taken from the row,
///    Each fifth of the own ratings is predicted so from the others; the mean of the five times the part that these ratings bear out is used.
///
/// Without item means there is one release, of the counts and the triangle together, and b = 0.
///
/// # Why it does well
/// The noise is paid for once or twice, and not once per step of a descent; what a step of the descent would find out about single
/// users costs nothing here, because it never leaves them. The posterior mean of step 3 is that of probabilistic principal components
/// (c_i ~ N(0, diag τ²), ratings N(b + c_iVᵀ, s²)), so that a user with few ratings is drawn to the mean and one with many is not. A direction below the edge
/// is noise with certainty almost 1, and predicting with it costs more than predicting without.
///
/// # Privacy
/// A contribution is made of rows that it shortens itself: a clipped row has norm at most 1, and so has 1_Ω/√ξ (divided by √|Ω| where a peer
/// holds more than ξ). The three are the quantities [`Quantity::RowSum`], [`Quantity::NonnegativeRowSum`] and
/// [`Quantity::IsometricTriangle`] of rows of norm at most 1, whatever the rows and whatever b: in units of ratings a row more or less moves the
/// sums by R, the counts by √ξ and the triangle by R², another row in its place by 2R, √(2ξ) and √2·R². A user without ratings contributes zeros to
/// all three. Everything after is post-processing, and step 3 stays with the user: joint differential privacy.
///
/// # Source
/// Ours: Analyze Gauss (Dwork, Talwar, Thakurta & Zhang 2014) for the release; the shrinkage of eigenvalues is that of a low-rank
/// matrix in Wigner noise (Benaych-Georges & Nadakuditi 2011), w = l + σ²n/(2l); the regression is Tipping & Bishop's (1999). McSherry &
/// Mironov (2009) released noisy item means and a noisy covariance of ratings first.
#[derive(Clone, Copy, Debug)]
pub struct SpectralRidge {
    /// Items n.
    pub(in crate::algorithm) dimension: usize,
    /// The most directions that are kept, at most n.
    pub(in crate::algorithm) rank: usize,
    /// What is public of the rows, item means or not, and what each block spends.
    pub(in crate::algorithm) completion: Completion,
}

/// What the counts and the sums say, in units of ratings.
#[derive(Clone, Debug, PartialEq)]
struct Means {
    /// b, shrunk; zeros where none was released.
    items: Vec<f64>,
    /// ρ̂.
    density: f64,
}

impl SpectralRidge {
    /// At most so many directions of so many items.
    ///
    /// # Errors
    /// [`AlgorithmError::Count`] for a rank of 0 or above the number of items, [`AlgorithmError::Shares`] for shares that do not divide the
    /// budget, [`AlgorithmError::Rows`] for numbers that rows cannot have.
    pub fn new(items: usize, rank: usize, completion: Completion) -> Result<Self, AlgorithmError> {
        AlgorithmError::check(items, rank, 1)?;
        let (shares, rows) = (completion.shares, completion.rows);
        let positive = shares.iter().all(|share| *share > 0.0);
        let whole = (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9;
        if !(positive && whole) {
            return Err(AlgorithmError::Shares { found: shares });
        }
        AlgorithmError::check_rows(rows)?;
        Ok(Self {
            dimension: items,
            rank,
            completion,
        })
    }

    /// Whether what is left of a row is centred again.
    fn recentred(&self) -> bool {
        self.completion.item_means && self.completion.rows.user_centred
    }

    fn triangle(&self) -> IsometricCovariance {
        IsometricCovariance {
            dimension: self.dimension,
            rank: self.rank,
        }
    }

    /// What is made of the release of counts, sums before them or not.
    fn means(&self, released: &Released) -> Means {
        let n = self.dimension;
        let rows = &self.completion.rows;
        let slots = rows.slots as f64;
        let values = released.sum.values();
        let (sums, rest) = values.split_at(if self.completion.item_means { n } else { 0 });
        let per_rating = (rows.most_ratings as f64).sqrt();
        let counts: Vec<f64> = rest[..n]
            .iter()
            .map(|x| (x * per_rating).max(LEAST_COUNT * slots))
            .collect();
        let density = counts.iter().sum::<f64>() / (slots * n as f64);
        let density = density.clamp(LEAST_COUNT, 1.0);
        if !self.completion.item_means {
            let items = vec![0.0; n];
            return Means { items, density };
        }
        let noise = rows.radius * released.sigma();
        let found: Vec<f64> = sums.iter().map(|sum| rows.radius * sum).collect();
        let squares = |values: &[f64]| values.iter().map(|x| x * x).sum::<f64>();
        // One standard error of noise alone less than the estimate: means that could be noise are taken to be.
        let items = n as f64;
        let beyond = squares(&found) - noise * noise * (items + (2.0 * items).sqrt());
        let spread = beyond.max(0.0) / squares(&counts);
        let shrunk = found.iter().zip(&counts).map(|(sum, count)| {
            let signal = count * spread;
            let whole = count * signal + noise * noise;
            if whole > 0.0 {
                signal * sum / whole
            } else {
                0.0
            }
        });
        Means {
            items: shrunk.collect(),
            density,
        }
    }

    /// Σ clip(a)/R and Σ 1_Ω/√ξ, one after the other; the second alone without item means.
    fn first_sums(&self, rows: &SparseRows) -> Vec<f64> {
        let n = self.dimension;
        let public = &self.completion.rows;
        let mut sums = vec![0.0; n];
        let mut counts = vec![0.0; n];
        for i in 0..rows.len() {
            let (items, values) = rows.row(i);
            let factor = shortening(values, public.radius);
            let one = (items.len().max(public.most_ratings) as f64).sqrt().recip();
            for (&item, value) in items.iter().zip(values) {
                sums[item as usize] += value * factor;
                counts[item as usize] += one;
            }
        }
        match self.completion.item_means {
            true => [sums, counts].concat(),
            false => counts,
        }
    }

    /// clip(a − b)/R at every explicit entry, one row after the other.
    fn second_rows(&self, rows: &SparseRows, means: Option<&Means>) -> Vec<f64> {
        let mut out: Vec<f64> = Vec::with_capacity(rows.entries());
        for i in 0..rows.len() {
            let (items, values) = rows.row(i);
            let start = out.len();
            match means {
                None => out.extend_from_slice(values),
                Some(means) => {
                    ridge::less(&means.items, self.recentred(), (items, values), &mut out);
                }
            }
            shorten(&mut out[start..], self.completion.rows.radius);
        }
        out
    }

    /// The released triangle in the order of a packed one, of Ŵ and not of Ŵ/R², with the standard deviation of a coordinate.
    fn covariance(&self, state: &PublicState) -> Option<(Vec<f64>, f64)> {
        let own = PackedTriangle::coordinates(self.dimension);
        let last = state.past.last().filter(|_| self.is_over(state))?;
        let square = self.completion.rows.radius.powi(2);
        let values = last.sum.values();
        let mut triangle = self.triangle().packed(&values[values.len() - own..]);
        triangle.iter_mut().for_each(|x| *x *= square);
        let sigma = last.sigmas.last().copied().unwrap_or(0.0) * square;
        Some((triangle, sigma))
    }

    /// Whether the triangle has been released.
    fn is_over(&self, state: &PublicState) -> bool {
        state.past.len() == 1 + usize::from(self.completion.item_means)
    }

    /// What step 3 takes; `None` before the triangle is released.
    fn ridge(&self, state: &PublicState) -> Option<Ridge> {
        let (triangle, sigma) = self.covariance(state)?;
        let means = self.means(state.past.first()?);
        let n = self.dimension;
        let matrix = PackedTriangle::new(n, &triangle);
        let trace: f64 = (0..n)
            .map(|i| triangle[PackedTriangle::row_start(n, i)])
            .sum();
        let (items, slots) = (n as f64, self.completion.rows.slots as f64);
        let density = means.density;
        let edge = SQRT_2 * sigma * items.sqrt();
        let mut ridge = Ridge {
            directions: Block::zeros(n, 0),
            eigenvalues: Vec::new(),
            priors: Vec::new(),
            residual: trace.max(0.0) / (slots * items * density),
            item_means: match self.completion.item_means {
                true => means.items,
                false => Vec::new(),
            },
            items: n,
            recentred: self.recentred(),
            checked: true,
        };
        let largest = matrix.max_entry();
        if largest <= 0.0 {
            return Some(ridge);
        }
        let vectors = leading_eigenvectors(n, self.rank, |x| matrix.times(&(x / largest)));
        let vectors = vectors.to_matrix();
        let images = matrix.times(&vectors);
        let values: Vec<f64> = (0..self.rank)
            .map(|j| vectors.column(j).dot(&images.column(j)))
            .collect();
        // Rounding leaves eigenvalues of 1e-12 where there are none.
        let least = 1e-10 * values[0].max(0.0);
        let above = |w: &&f64| **w > least && **w > edge;
        let kept = values.iter().take_while(above).count();
        ridge.eigenvalues = values[..kept].iter().map(|w| freed(*w, edge)).collect();
        let explained: f64 = ridge.eigenvalues.iter().sum();
        // The trace cannot be less than the eigenvalues that were found; where noise says otherwise, it is that.
        let whole = trace.max(explained) / (slots * items * density);
        let explained = explained / (slots * items * density * density);
        ridge.residual = (whole - explained).max(LEAST_RESIDUAL * whole);
        // Rounding may leave nothing of a direction at the very edge.
        let of = |l: &f64| l * overlap(*l, edge).max(1e-12) / (slots * density * density);
        ridge.priors = ridge.eigenvalues.iter().map(of).collect();
        ridge.directions = Block::from_matrix(&vectors.columns(0, kept).into_owned());
        Some(ridge)
    }
}

impl SpectralRidge {
    fn releases(&self) -> Vec<ReleaseSpec> {
        let n = self.dimension;
        let [sums, counts, triangle] = self.completion.shares;
        let block = |quantity, height, weight| BlockSpec {
            quantity,
            shape: (height, 1),
            columns: self.rank,
            weight,
        };
        let release = |iteration, blocks, share| ReleaseSpec {
            iteration: Iteration(iteration),
            form: Form::Sum,
            blocks,
            agreement: None,
            may_end_before: false,
            ceiling: None,
            batch: None,
            share,
        };
        let coordinates = PackedTriangle::coordinates(n);
        let isometric = |weight| block(Quantity::IsometricTriangle, coordinates, weight);
        let counted = |weight| block(Quantity::NonnegativeRowSum, n, weight);
        if self.completion.item_means {
            let first = sums + counts;
            let blocks = vec![
                block(Quantity::RowSum, n, sums / first),
                counted(counts / first),
            ];
            vec![
                release(1, blocks, first),
                release(2, vec![isometric(1.0)], triangle),
            ]
        } else {
            let all = counts + triangle;
            let blocks = vec![counted(counts / all), isometric(triangle / all)];
            vec![release(1, blocks, 1.0)]
        }
    }
}

impl Algorithm for SpectralRidge {
    /// The query takes no part in what is released.
    fn program(&self) -> Program {
        let Completion {
            rows,
            item_means,
            shares,
        } = self.completion;
        Program::of("spectral-ridge", self.dimension, self.rank, self.releases())
            .with_setting("rank", self.rank as f64)
            .with_setting("item means", f64::from(u8::from(item_means)))
            .with_setting("share of sums", shares[0])
            .with_setting("share of counts", shares[1])
            .with_setting("share of the triangle", shares[2])
            .with_settings(rows.settings())
            .proved(Proved::OF_OWN_ROWS)
    }

    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        match (self.completion.item_means, history.past.first()) {
            (true, None) => self.first_sums(rows),
            (true, Some(first)) => self.second_rows(rows, Some(&self.means(first))),
            (false, _) => {
                let mut prepared = self.first_sums(rows);
                prepared.extend(self.second_rows(rows, None));
                prepared
            }
        }
    }

    fn add_contribution(
        &self,
        release: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        let first = release == ReleaseId(1);
        let sums = match (self.completion.item_means, first) {
            (true, true) => 2 * self.dimension,
            (false, true) => self.dimension,
            (_, false) => 0,
        };
        let (plain, values) = prepared.split_at(sums);
        let inside = range.start.min(sums)..range.end.min(sums);
        for (out, x) in out.iter_mut().zip(&plain[inside.clone()]) {
            *out += x;
        }
        if range.end > sums {
            let rows = rows.with_values(values);
            let rest = range.start.max(sums) - sums..range.end - sums;
            let out = &mut out[inside.len()..];
            self.triangle()
                .add_contribution(release, &rows, &[], rest, out);
        }
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        Ok(state.followed_by(sum, sigmas))
    }

    /// The `rank` leading eigenvectors of the released triangle, whether they are above the edge or not; before it, where the query
    /// started.
    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        let Some((triangle, _)) = self.covariance(state) else {
            return Arc::clone(&state.query);
        };
        let matrix = PackedTriangle::new(self.dimension, &triangle);
        Arc::new(matrix.leading_eigenvectors(self.rank))
    }

    fn completer(&self, state: &PublicState) -> Option<Box<dyn Completer>> {
        self.ridge(state)
            .map(|ridge| Box::new(ridge) as Box<dyn Completer>)
    }
}

/// `[algorithm]` with `kind = "spectral-ridge"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpectralRidgeTable {
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// L: 2, or 1 without item means.
    pub iterations: u32,
}

impl AlgorithmTable for SpectralRidgeTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        let algorithm = "spectral-ridge";
        let completion = facts.rated(algorithm)?;
        let needed = 1 + u32::from(completion.item_means);
        AlgorithmError::check_iterations(algorithm, needed, self.iterations)?;
        made(SpectralRidge::new(facts.items, self.rank, completion))
    }

    fn sketch(&self) -> Option<Program> {
        None
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements {
            completes: true,
            item_means: true,
            ..DataRequirements::default()
        }
    }

    fn completer(parts: &CompleterParts) -> Result<Option<Box<dyn Completer>>, PartsError> {
        parts.made(Ridge::METHOD, Ridge::of)
    }
}
