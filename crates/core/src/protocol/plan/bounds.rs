//! The bounds of one release: of the kind that its noise is scaled by, and of no other.

use crate::algorithm::ReleaseSpec;
use crate::privacy::{
    NuclearSensitivity, PrivacyError, Sensitivity, Sensitivity1, SensitivitySpec, Statistic,
};
use crate::vocabulary::{Distribution, Quantity};

/// One bound per block of a release, all of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Bounds {
    /// Of Euclidean length, for Gaussian noise.
    Euclidean(Vec<Sensitivity>),
    /// In the sum of absolute values, for Laplace noise.
    Absolute(Vec<Sensitivity1>),
    /// In the nuclear norm, for Wishart noise.
    Nuclear(Vec<NuclearSensitivity>),
}

impl Bounds {
    /// The proved bounds on what this release changes by, of the kind that the plan's noise needs.
    pub(super) fn of(
        (sensitivity, law): (&SensitivitySpec, Distribution),
        dimension: usize,
        spec: &ReleaseSpec,
    ) -> Result<Self, PrivacyError> {
        let blocks = spec.blocks.iter();
        Ok(match law {
            Distribution::Gaussian => {
                let bounds = blocks.map(|block| sensitivity.of(block.quantity, block.columns));
                Self::Euclidean(bounds.collect::<Result<_, _>>()?)
            }
            // A mean before triangles has Laplace noise.
            Distribution::Wishart if !spec.blocks.iter().all(|block| is_sum(block.quantity)) => {
                let bounds = blocks.map(|block| sensitivity.of_nuclear_norm(block.quantity));
                Self::Nuclear(bounds.collect::<Result<_, _>>()?)
            }
            Distribution::Laplace | Distribution::Wishart => {
                let bounds = blocks.map(|block| {
                    let shape = (dimension, block.columns);
                    sensitivity.of_absolute_values(block.quantity, shape)
                });
                Self::Absolute(bounds.collect::<Result<_, _>>()?)
            }
        })
    }

    /// Those of Euclidean length; none where noise is Laplace.
    #[must_use]
    pub fn euclidean(&self) -> &[Sensitivity] {
        match self {
            Self::Euclidean(bounds) => bounds,
            Self::Absolute(_) | Self::Nuclear(_) => &[],
        }
    }

    /// Those in the nuclear norm; none where noise has another law.
    #[must_use]
    pub fn nuclear(&self) -> &[NuclearSensitivity] {
        match self {
            Self::Nuclear(bounds) => bounds,
            Self::Euclidean(_) | Self::Absolute(_) => &[],
        }
    }

    /// Those in the sum of absolute values; none where noise is Gaussian, or Wishart on a triangle.
    #[must_use]
    pub fn absolute(&self) -> &[Sensitivity1] {
        match self {
            Self::Euclidean(_) | Self::Nuclear(_) => &[],
            Self::Absolute(bounds) => bounds,
        }
    }

    /// The statistics that they need, block by block.
    pub(super) fn statistics(&self) -> Vec<Statistic> {
        match self {
            Self::Euclidean(bounds) => bounds.iter().map(Sensitivity::statistic).collect(),
            Self::Absolute(bounds) => bounds.iter().map(Sensitivity1::statistic).collect(),
            Self::Nuclear(bounds) => bounds.iter().map(|_| Statistic::None).collect(),
        }
    }

    /// What one record can move every block by, given the agreed statistic.
    pub(super) fn at(&self, agreed: f64) -> Vec<f64> {
        match self {
            Self::Euclidean(bounds) => bounds.iter().map(|bound| bound.bound(agreed)).collect(),
            Self::Absolute(bounds) => bounds.iter().map(|bound| bound.bound(agreed)).collect(),
            Self::Nuclear(bounds) => bounds.iter().map(NuclearSensitivity::bound).collect(),
        }
    }

    /// In which share of its unit a block of weight w may move, so that all blocks together move by 1: √w, as lengths add in squares, or w.
    pub(super) fn part(&self, weight: f64) -> f64 {
        match self {
            Self::Euclidean(_) => weight.sqrt(),
            Self::Absolute(_) | Self::Nuclear(_) => weight,
        }
    }
}

/// Whether this is a sum of rows.
fn is_sum(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::RowSum | Quantity::NonnegativeRowSum)
}
