//! How many messages a schedule is made to do without.

use serde::{Deserialize, Serialize};

/// The fraction of averaging messages that are expected never to arrive: at least 0 and below 1.
///
/// Each is lost on its own, with this probability, whatever it says: which ones are lost tells nothing about anybody's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Loss(f64);

/// Never NaN.
impl Eq for Loss {}

/// A number that is no fraction of lost messages.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("engine.loss must be at least 0 and below 1, found {found}")]
pub struct LossError {
    /// The number given.
    pub found: f64,
}

impl Loss {
    /// Every message arrives.
    pub const NONE: Self = Self(0.0);

    /// A fraction of messages.
    ///
    /// # Errors
    /// An error unless 0 ≤ `fraction` < 1.
    pub fn new(fraction: f64) -> Result<Self, LossError> {
        if (0.0..1.0).contains(&fraction) {
            // −0 is 0: equal fractions have equal bits.
            Ok(Self(fraction + 0.0))
        } else {
            Err(LossError { found: fraction })
        }
    }

    /// The fraction.
    #[must_use]
    pub fn fraction(self) -> f64 {
        self.0
    }

    /// Whether every message arrives.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0 == 0.0
    }
}

impl TryFrom<f64> for Loss {
    type Error = LossError;

    fn try_from(fraction: f64) -> Result<Self, LossError> {
        Self::new(fraction)
    }
}

impl From<Loss> for f64 {
    fn from(loss: Loss) -> Self {
        loss.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_a_fraction_below_one() {
        for good in [0.0, -0.0, 0.2, 1.0 - 1e-16] {
            assert_eq!(Loss::new(good).map(Loss::fraction), Ok(good));
        }
        assert_eq!(Loss::new(-0.0).map(|loss| loss.0.to_bits()), Ok(0));
        for bad in [-1e-300, 1.0, f64::NAN, f64::INFINITY] {
            assert!(Loss::new(bad).is_err(), "{bad}");
        }
    }
}
