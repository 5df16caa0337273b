//! Public preconditioning: what P of a run is made of.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::algorithm::Precondition;
use crate::config::Config;
use crate::linalg::{ItemWeights, ItemWeightsError};

/// What P of a run was made of: public, and part of a receipt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preconditioning {
    /// What its weights are a function of.
    pub source: Precondition,
    /// e of degree^−e.
    pub exponent: f64,
    /// The share of the mean in every degree.
    pub shrinkage: f64,
    /// BLAKE3 of the degrees in the order of the item list, in hexadecimal.
    pub degrees: String,
}

impl Preconditioning {
    /// What the configuration asks for on items of these degrees; `None` where there is no P.
    fn of(config: &Config, degrees: &[u32]) -> Option<Self> {
        let weights = config.algorithm.weights();
        let (exponent, shrinkage) = weights.numbers();
        let source = weights.source;
        (!source.is_none()).then(|| Self {
            source,
            exponent,
            shrinkage,
            degrees: hash(degrees),
        })
    }

    /// The diagonal of P.
    ///
    /// # Errors
    /// [`ItemWeightsError`] for an exponent or a shrinkage that is out of range, or no items.
    pub fn weights(&self, degrees: &[u32]) -> Result<ItemWeights, ItemWeightsError> {
        ItemWeights::of_degrees(degrees, self.exponent, self.shrinkage)
    }

    /// Whether these are the degrees of the items, in order.
    #[must_use]
    pub fn is_of(&self, degrees: &[u32]) -> bool {
        self.degrees == hash(degrees)
    }

    /// Whether a run can have had such a P.
    pub(crate) fn is_possible(&self) -> bool {
        !self.source.is_none()
            && ItemWeights::of_degrees(&[1], self.exponent, self.shrinkage).is_ok()
            && self.degrees.len() == 64
            && self.degrees.bytes().all(|b| b.is_ascii_hexdigit())
    }

    /// What everybody must assume who relies on a run with this P.
    pub(crate) fn assumption(&self) -> String {
        format!(
            "the item degrees, of which P = diag(degree^-{}) with shrinkage {} was made, are assumed public: they were counted in the very data and no \
             epsilon covers them",
            self.exponent, self.shrinkage
        )
    }
}

/// BLAKE3 of degrees in order, in hexadecimal.
fn hash(degrees: &[u32]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 item degrees v1");
    for degree in degrees {
        hasher.update(&degree.to_le_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// What P of a run is made of and P itself, on items of these degrees; `None` where the configuration asks for none.
///
/// # Errors
/// [`ItemWeightsError`] for numbers that are out of range, or no items.
pub(crate) fn of(
    config: &Config,
    degrees: &[u32],
) -> Result<Option<(Preconditioning, Arc<ItemWeights>)>, ItemWeightsError> {
    let stated = Preconditioning::of(config, degrees);
    let with_weights = |stated: Preconditioning| {
        let weights = stated.weights(degrees)?;
        Ok((stated, Arc::new(weights)))
    };
    stated.map(with_weights).transpose()
}
