//! The power method on contributions that are clipped to a threshold found under noise, iteration after iteration.

mod clip;
mod grid;
mod lengths;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

pub use clip::{Clip, ClipRule};
use grid::{BINS, THRESHOLDS, threshold};
use lengths::Longer;
use serde::{Deserialize, Serialize};

use crate::algorithm::{
    AgreedNumber, Algorithm, AlgorithmError, AlgorithmTable, BlockSpec, DataFacts,
    DataRequirements, Form, History, Program, PublicState, ReleaseSpec, Released, RetainedState,
    Start, ThresholdSearch,
};
use crate::linalg::{Block, NotFullRank, SparseRows, orthonormalise};
use crate::vocabulary::{Iteration, Quantity, ReleaseId};

/// The power method of which iteration t sums min(1, θ_t/c_i)·r_iᵀ(r_i X), where c_i = ‖r_i‖·‖r_i X‖ is how long the contribution of
/// row i is, and θ_t ≤ 1 a public threshold that the data decide under noise.
///
/// A row of norm at most 1 contributes rᵀ(rX), of Frobenius norm c = ‖r‖·‖rX‖ ≤ 1, and noise must cover 1 although hardly any row comes
/// near it: of few columns X and many columns of data ‖rX‖ is far below ‖r‖. Clipped to θ, noise is θ times as large. What is released is
/// divided by θ, so that its sensitivity is 1 whatever θ is; a power step does not care about the factor.
///
/// # Where θ comes from
/// The grid is θ_j = 2^(−j/2), j = 0 … 16, m the public number of slots for rows, γ = [`Clip::quantile`].
/// - **histogram**: before the product of an iteration peers release in which bin every c_i lies, at the query of this iteration: a
///   vector with a single 1 per row. θ is the least of the grid with at most (1 − γ)m rows above it, by that noisy histogram. With
///   [`Clip::lag`] the histogram travels with the product and serves the next iteration, θ_1 = 1: one exchange per iteration.
/// - **geometric**: the number of rows with c ≤ θ travels with every product, b̂ is its share of m, and
///   θ ← min(1, θ·exp(−2(b̂ − γ))). At γ = 0.95 it falls by at most a tenth per iteration: for long runs only. Its first θ is 1.
/// - **sparse vector**: AboveThreshold on #{c > θ_j}, least θ first, and rows with c > θ are left out: a *reconstruction* of a method of
///   which we have fragments only. It compares a secret with a secret and is no noisy sum: only somebody who sees all rows can run it.
///
/// A histogram that only the last iteration would make is not made.
///
/// # Privacy
/// A contribution divided by θ is no longer than 1 *by construction*, for any public θ in (0, 1], any query and any rows. So one row moves
/// it by at most 1 if it is there or not, by at most 2 in place of another. It moves a histogram by 1 or √2, a count by 1. θ is a function of
/// earlier releases, so every release is a Gaussian mechanism of fixed noise multiplier and the losses add: μ² = Σ μ_l². Of it thresholds
/// together spend the share f = [`Clip::share`], products the rest. A release of a product and counts is one Gaussian mechanism, whose blocks
/// share its μ² by weights. Which rows are clipped is decided where they are; an empty slot contributes nothing to anything.
///
/// # What it is worth
/// Much where noise decides: few rows, small ε, few iterations. Nothing where ε or the number of rows is large, because then noise does
/// not matter and clipped rows are a bias. One release of the covariance is better in every case that was measured and where n(n+1)/2
/// numbers are affordable.
///
/// # Source
/// Histogram and accounting are ours. The geometric rule is that of Andrew, Thakkar, McMahan & Ramaswamy 2021 for federated
/// averaging. That rows with large contributions be left out by the sparse vector technique is an idea for the power method of
/// which constants and normalisation are not known to us; AboveThreshold is Dwork & Roth 2014, Algorithm 1.
#[derive(Clone, Copy, Debug)]
pub struct ClippedPower {
    /// Items n.
    dimension: usize,
    /// Number of columns p.
    rank: usize,
    /// Iterations T.
    iterations: u32,
    /// How contributions are clipped.
    clip: Clip,
}

/// What one release holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts {
    iteration: u32,
    /// Whether it has the product.
    product: bool,
    /// How many counts follow it.
    counts: usize,
}

impl ClippedPower {
    /// So many columns and iterations on so many items, clipped like this.
    ///
    /// # Errors
    /// [`AlgorithmError::Count`] for a rank of 0 or above the number of items, and for no iterations or too many;
    /// [`AlgorithmError::Number`] and [`AlgorithmError::Key`] for numbers that make no clip.
    pub fn new(
        items: usize,
        rank: usize,
        iterations: u32,
        clip: Clip,
    ) -> Result<Self, AlgorithmError> {
        AlgorithmError::check(items, rank, iterations)?;
        clip.check(iterations)?;
        Ok(Self {
            dimension: items,
            rank,
            iterations,
            clip,
        })
    }

    fn parts(&self, release: ReleaseId) -> Parts {
        let number = release.0;
        let separate = self.clip.rule == ClipRule::Histogram && !self.clip.lag;
        let iteration = match separate {
            true => number.div_ceil(2),
            false => number,
        };
        let counts = match self.clip.rule {
            ClipRule::Histogram => BINS,
            ClipRule::Geometric => 1,
            ClipRule::None | ClipRule::SparseVector => 0,
        };
        let counted = match separate {
            true => number % 2 == 1,
            false => iteration < self.iterations,
        };
        Parts {
            iteration,
            product: !(separate && counted),
            counts: if counted { counts } else { 0 },
        }
    }

    fn releases_in_all(&self) -> u32 {
        let separate = self.clip.rule == ClipRule::Histogram && !self.clip.lag;
        self.iterations.saturating_mul(1 + u32::from(separate))
    }

    /// Products spend (1 − f)/T each, counts f over their number; in a release of both the weights divide what the two spend.
    fn releases(&self) -> Vec<ReleaseSpec> {
        let count = self.releases_in_all();
        let all: Vec<Parts> = (1..=count).map(|l| self.parts(ReleaseId(l))).collect();
        let counting = all.iter().filter(|parts| parts.counts > 0).count().max(1);
        let of_counts = self.clip.share / counting as f64;
        let of_product = (1.0 - self.clip.share) / f64::from(self.iterations);
        let quantity = match self.clip.rule {
            ClipRule::Geometric => Quantity::ClipCount,
            _ => Quantity::ClipHistogram,
        };
        let release = |parts: Parts| {
            let (product, counts) = (parts.product, parts.counts > 0);
            let share = [(product, of_product), (counts, of_counts)]
                .into_iter()
                .filter_map(|(there, share)| there.then_some(share))
                .sum::<f64>();
            let block = |quantity, shape, spent: f64| BlockSpec {
                quantity,
                shape,
                columns: self.rank,
                weight: spent / share,
            };
            let shape = (self.dimension, self.rank);
            let first = product.then(|| block(Quantity::ClippedProduct, shape, of_product));
            let second = counts.then(|| block(quantity, (parts.counts, 1), of_counts));
            ReleaseSpec {
                iteration: Iteration(parts.iteration),
                form: Form::Sum,
                blocks: first.into_iter().chain(second).collect(),
                agreement: (self.clip.rule == ClipRule::SparseVector)
                    .then_some(AgreedNumber::Threshold),
                may_end_before: false,
                ceiling: None,
                batch: None,
                share,
            }
        };
        all.into_iter().map(release).collect()
    }

    /// Coordinates of the product.
    fn product_values(&self) -> usize {
        self.dimension * self.rank
    }

    /// θ of the next release that asks for one.
    fn threshold_of(past: &[Released], agreed: Option<f64>) -> f64 {
        let found = past.last().and_then(|last| last.sum.values().first());
        let found = found.copied().or(agreed).unwrap_or(1.0);
        // Noise covers contributions of length 1 in units of θ, whichever it is; these are the ones that are chosen from.
        match found > 0.0 && found <= 1.0 {
            true => found,
            false => 1.0,
        }
    }

    fn longer(&self) -> Longer {
        match self.clip.rule {
            ClipRule::SparseVector => Longer::LeftOut,
            _ => Longer::Shortened,
        }
    }

    /// θ of every iteration whose product was released, from all that was released in order.
    #[must_use]
    pub fn thresholds<'a>(
        &self,
        released: impl Iterator<Item = (ReleaseId, &'a Block)>,
    ) -> Vec<f64> {
        let mut threshold = 1.0;
        let mut used = Vec::new();
        for (release, sum) in released {
            let Parts {
                product, counts, ..
            } = self.parts(release);
            if product {
                used.push(threshold);
            }
            if counts > 0 {
                let from = sum.values().len() - counts;
                threshold = self.clip.next(threshold, &sum.values()[from..]);
            }
        }
        used
    }
}

impl Algorithm for ClippedPower {
    fn program(&self) -> Program {
        let search = ThresholdSearch {
            // Least first.
            thresholds: (0..THRESHOLDS).rev().map(threshold).collect(),
            most_above: self.clip.most_left_out(),
            share: self.clip.share,
            epsilon: self.clip.test_epsilon,
        };
        Program {
            search: (self.clip.rule == ClipRule::SparseVector).then_some(search),
            ..Program::of("clipped-power", self.dimension, self.rank, self.releases())
        }
        .with_setting("rank", self.rank as f64)
        .with_settings(self.clip.settings())
        // The query, which is no longer where the sum was.
        .state(RetainedState::Numbers(self.product_values()))
    }

    /// Where a curator is asked for a threshold and nobody is one, it is 1.
    fn statistic(&self, _: &PublicState) -> f64 {
        1.0
    }

    fn rows_above(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        let projected = rows.project(history.query, self.rank);
        let mut above = lengths::above(&lengths::lengths(rows, &projected, self.rank));
        above.reverse();
        above
    }

    /// The factors of the product, row after row, then this peer's counts.
    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        let Parts {
            product, counts, ..
        } = self.parts(history.release);
        let mut prepared = rows.project(history.query, self.rank);
        let lengths = lengths::lengths(rows, &prepared, self.rank);
        let threshold = Self::threshold_of(history.past, history.agreed);
        if product {
            let how = (threshold, self.longer());
            lengths::scale(&mut prepared, &lengths, self.rank, how);
        } else {
            prepared.clear();
        }
        match self.clip.rule {
            _ if counts == 0 => {}
            ClipRule::Geometric => prepared.push(lengths::within(&lengths, threshold)),
            _ => prepared.extend(lengths::histogram(&lengths)),
        }
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
        let Parts {
            product, counts, ..
        } = self.parts(release);
        let products = if product { self.product_values() } else { 0 };
        let (factors, counts) = prepared.split_at(prepared.len() - counts);
        let inside = range.start..range.end.min(products);
        let (of_product, of_counts) = out.split_at_mut(inside.len());
        if !inside.is_empty() {
            rows.add_back_projection(factors, self.rank, inside, of_product);
        }
        let first = range.start.max(products) - products;
        for (out, count) in of_counts.iter_mut().zip(&counts[first.min(counts.len())..]) {
            *out += count;
        }
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        _: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        let release = ReleaseId(state.released).next();
        let Parts {
            product, counts, ..
        } = self.parts(release);
        let values = sum.values();
        let (of_product, of_counts) = values.split_at(values.len() - counts);
        let query = match (product, counts) {
            (false, _) => Arc::clone(&state.query),
            (true, 0) => Arc::new(orthonormalise(sum)?),
            (true, _) => {
                let (n, p) = (self.dimension, self.rank);
                Arc::new(orthonormalise(&Block::from_values(
                    n,
                    p,
                    of_product.to_vec(),
                ))?)
            }
        };
        let mut next = PublicState::new(Arc::clone(&query));
        if counts > 0 {
            let threshold = Self::threshold_of(&state.past, None);
            let threshold = self.clip.next(threshold, of_counts);
            // Of what is over only the threshold that it led to is needed.
            next.past.push(Released {
                release,
                query,
                sum: Arc::new(Block::from_values(1, 1, vec![threshold])),
                sigmas: Arc::new([]),
            });
        }
        Ok(next)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

/// The default of `clip_share`.
const SHARE: f64 = 0.1;

/// The default of `clip_quantile`.
const QUANTILE: f64 = 0.95;

/// `[algorithm]` with `kind = "clipped-power"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClippedPowerTable {
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// L: iterations.
    pub iterations: u32,
    /// X⁰: `"random"`, or `"popularity"`, whose first column is public item popularity.
    #[serde(default, skip_serializing_if = "Start::is_random")]
    pub start: Start,
    /// How thresholds are found: `"histogram"`, `"geometric"`, or `"sparse-vector"` under a curator.
    pub clip: ClipRule,
    /// f: the share of the budget that the thresholds spend together, 0.1 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_share: Option<f64>,
    /// γ: the share of the rows that are to be left as they are, 0.95 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_quantile: Option<f64>,
    /// Whether the histogram of one iteration travels with its product and serves the next; false where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_lag: Option<bool>,
}

impl AlgorithmTable for ClippedPowerTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        let clip = Clip {
            test_epsilon: facts.search_epsilon,
            ..self.rule(facts.slots)
        };
        let algorithm = ClippedPower::new(facts.items, self.rank, self.iterations, clip)?;
        Ok(Arc::new(algorithm))
    }

    fn sketch(&self) -> Option<Program> {
        let clip = Clip {
            rule: ClipRule::Histogram,
            share: SHARE,
            quantile: QUANTILE,
            lag: false,
            slots: 1,
            test_epsilon: 0.0,
        };
        Some(ClippedPower::new(2, 1, 1, clip).ok()?.program())
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements {
            start: self.start,
            ..DataRequirements::default()
        }
    }

    fn finds_eigenvectors(&self) -> bool {
        false
    }
}

impl ClippedPowerTable {
    /// The rule for rows that fill some of so many slots, before anybody searches.
    #[must_use]
    pub fn rule(&self, slots: usize) -> Clip {
        Clip {
            rule: self.clip,
            share: self.clip_share.unwrap_or(SHARE),
            quantile: self.clip_quantile.unwrap_or(QUANTILE),
            lag: self.clip_lag.unwrap_or(false),
            slots,
            test_epsilon: 0.0,
        }
    }
}
