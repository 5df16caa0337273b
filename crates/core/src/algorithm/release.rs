//! What an algorithm declares about its releases before a session starts.

use serde::{Deserialize, Serialize};

use crate::vocabulary::{Iteration, Quantity};

/// One release of an algorithm's program.
///
/// Everything about it is public and fixed before the session starts, so that its noise can be planned, its messages
/// counted and its frames bounded before anything is sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReleaseSpec {
    /// The iteration it belongs to, from 1 and never falling from one release to the next.
    pub iteration: Iteration,
    /// How the contributions of the peers become one public value.
    pub form: Form,
    /// What is released: one block or more, concatenated in this order.
    pub blocks: Vec<BlockSpec>,
    /// What the largest value of [`Algorithm::statistic`](super::Algorithm::statistic) can be, where peers first agree on it. A bound
    /// that needs a statistic of its own has it agreed on without being asked for here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<AgreedNumber>,
    /// Whether the program may end instead of making this release.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub may_end_before: bool,
    /// The largest statistic of the query at which the algorithm goes on, where it stops at a larger one. Noise is then scaled as for this
    /// one and not for the one agreed on; a query with a larger one is charged for what it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<f64>,
    /// The batch of rows that contributes; `None` for all rows. A record meets the releases of its own batch and those of
    /// all rows, and is charged for these alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// The share of the budget it may spend, relative to the other releases. With equal shares every release
    /// spends as much as the others.
    pub share: f64,
}

/// Kind of the number that peers agree on before a release, which decides its possible values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgreedNumber {
    /// A threshold that a curator found: above 0 and at most 1.
    Threshold,
    /// The leading eigenvalue of an earlier release, or 0 where that is negative: finite, at least 0.
    Eigenvalue,
    /// Any finite number.
    Finite,
}

impl AgreedNumber {
    /// Whether the number can have this value.
    #[must_use]
    pub fn admits(self, value: f64) -> bool {
        match self {
            Self::Threshold => value > 0.0 && value <= 1.0,
            Self::Eigenvalue => value >= 0.0 && value.is_finite(),
            Self::Finite => value.is_finite(),
        }
    }
}

/// How contributions become public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Every peer learns the sum over all peers.
    Sum,
    /// Every peer fills coordinates of its own, adds to them all the noise a curator would add, and every peer learns
    /// all of them. Nothing is averaged and no noise is shared: a coalition learns no more than an outsider.
    OwnCoordinates,
}

/// One block of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockSpec {
    /// What its coordinates are a function of: decides the sensitivity bound.
    pub quantity: Quantity,
    /// Rows and columns, row-major; of one peer's coordinates where they are its own.
    pub shape: (usize, usize),
    /// Columns of the query the quantity depends on.
    pub columns: usize,
    /// The share w of the release's budget that the block spends; shares of one release add up to 1.
    pub weight: f64,
}

impl BlockSpec {
    /// Number of coordinates.
    #[must_use]
    pub fn values(&self) -> usize {
        self.shape.0.saturating_mul(self.shape.1)
    }
}

impl ReleaseSpec {
    /// A noisy sum of one block over all rows, with as much of the budget as every other release.
    #[must_use]
    pub fn sum(iteration: u32, quantity: Quantity, shape: (usize, usize), columns: usize) -> Self {
        Self {
            iteration: Iteration(iteration),
            form: Form::Sum,
            blocks: vec![BlockSpec {
                quantity,
                shape,
                columns,
                weight: 1.0,
            }],
            agreement: None,
            may_end_before: false,
            ceiling: None,
            batch: None,
            share: 1.0,
        }
    }

    /// The same with one more block at the end, which spends this share of the release's budget: the others' weights are multiplied by what is
    /// left.
    #[must_use]
    pub fn and(mut self, quantity: Quantity, shape: (usize, usize), weight: f64) -> Self {
        for block in &mut self.blocks {
            block.weight *= 1.0 - weight;
        }
        let columns = self.blocks.first().map_or(1, |block| block.columns);
        self.blocks.push(BlockSpec {
            quantity,
            shape,
            columns,
            weight,
        });
        self
    }

    /// A_u X in every one of so many iterations.
    #[must_use]
    pub fn products(iterations: u32, dimension: usize, columns: usize) -> Vec<Self> {
        (1..=iterations)
            .map(|l| Self::sum(l, Quantity::Product, (dimension, columns), columns))
            .collect()
    }

    /// Coordinates that one peer contributes.
    #[must_use]
    pub fn values(&self) -> usize {
        self.blocks
            .iter()
            .fold(0, |sum, block| sum.saturating_add(block.values()))
    }

    /// Rows and columns of what one peer contributes: the only block's, or one column of all blocks.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match self.blocks.as_slice() {
            [only] => only.shape,
            _ => (self.values(), 1),
        }
    }
}

/// For how many releases of an equal share one record is charged: for those of all rows and those of its own batch,
/// the most over all batches. `cost` says what each release costs in units of one.
///
/// # Statement
/// A record in batch b changes the contributions of the releases of batch b and of those of all rows only; given everything
/// published before, every other release has the same law with and without it. Gaussian releases compose by
/// μ² = Σ μ_l² over those that the record meets, so that the loss is at most the largest such sum over b.
#[must_use]
pub fn charged(releases: &[ReleaseSpec], cost: impl Fn(usize) -> f64) -> f64 {
    let mut of_all = 0.0;
    let mut batches = std::collections::BTreeMap::new();
    for (index, release) in releases.iter().enumerate() {
        match release.batch {
            None => of_all += cost(index),
            Some(batch) => *batches.entry(batch).or_insert(0.0) += cost(index),
        }
    }
    of_all + batches.into_values().fold(0.0, f64::max)
}

/// What the noise of every release is multiplied by, so that each spends its share; empty where all shares are equal.
///
/// # Statement
/// With equal shares a record is charged c = [`charged`]`(releases, 1)` times the cost of one release. Factors
/// f_l = √(S/(c·w_l)), where S is what the shares w_l themselves are charged, cost Σ 1/f_l² = (c/S)·Σ w_l ≤ c over the releases that
/// any record meets, and each release the share w_l of that.
#[must_use]
pub(crate) fn share_factors(releases: &[ReleaseSpec]) -> Vec<f64> {
    let equal = |one: &ReleaseSpec| one.share == releases[0].share;
    if releases.iter().all(equal) {
        return Vec::new();
    }
    let allowed = charged(releases, |_| 1.0);
    let asked = charged(releases, |index| releases[index].share);
    let factor = |one: &ReleaseSpec| (asked / (allowed * one.share)).sqrt();
    releases.iter().map(factor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_spend_what_equal_shares_do() {
        let mut releases = ReleaseSpec::products(5, 3, 2);
        assert!(share_factors(&releases).is_empty());
        for (release, share) in releases.iter_mut().zip([1.0, 0.2, 3.0, 1.0, 0.7]) {
            release.share = share;
        }
        let factors = share_factors(&releases);
        let spent = charged(&releases, |index| factors[index].powi(2).recip());
        assert!((spent - 5.0).abs() < 1e-12);
        assert!(((factors[1] / factors[2]).powi(2) - 15.0).abs() < 1e-12);
    }

    #[test]
    fn a_record_is_charged_for_the_releases_it_meets() {
        let mut releases = ReleaseSpec::products(5, 3, 2);
        assert_eq!(charged(&releases, |_| 1.0), 5.0);
        for (release, batch) in releases
            .iter_mut()
            .zip([Some(0), Some(1), Some(1), None, Some(0)])
        {
            release.batch = batch;
        }
        assert_eq!(charged(&releases, |_| 1.0), 3.0);
        assert_eq!(charged(&releases, |index| index as f64), 3.0 + 4.0);
        assert_eq!(charged(&[], |_| 1.0), 0.0);
    }

    #[test]
    fn a_release_of_several_blocks_is_one_column() {
        let mut release = ReleaseSpec::sum(1, Quantity::Product, (4, 3), 3);
        assert_eq!((release.shape(), release.values()), ((4, 3), 12));
        release.blocks.push(BlockSpec {
            quantity: Quantity::PackedTriangle,
            shape: (10, 1),
            columns: 3,
            weight: 0.5,
        });
        assert_eq!((release.shape(), release.values()), ((22, 1), 22));
    }
}
