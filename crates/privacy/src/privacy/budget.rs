//! The budget: ε and δ as types that cannot hold a meaningless number.

use serde::{Deserialize, Serialize};

use super::PrivacyError;

/// The ε of (ε, δ)-differential privacy: finite and above 0, in nats.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Epsilon(f64);

/// The δ of (ε, δ)-differential privacy: strictly between 0 and 1, a probability.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Delta(f64);

/// What all iterations together may cost one peer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// ε, in nats.
    pub epsilon: Epsilon,
    /// δ, a probability.
    pub delta: Delta,
}

impl Epsilon {
    /// A validated ε.
    ///
    /// # Errors
    /// [`PrivacyError::Epsilon`] unless `value` is finite and above 0.
    pub fn new(value: f64) -> Result<Self, PrivacyError> {
        if value.is_finite() && value > 0.0 {
            Ok(Self(value))
        } else {
            Err(PrivacyError::Epsilon { found: value })
        }
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Delta {
    /// A validated δ.
    ///
    /// # Errors
    /// [`PrivacyError::Delta`] unless 0 < `value` < 1.
    pub fn new(value: f64) -> Result<Self, PrivacyError> {
        if value > 0.0 && value < 1.0 {
            Ok(Self(value))
        } else {
            Err(PrivacyError::Delta { found: value })
        }
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// ln δ, below 0.
    #[must_use]
    pub fn ln(self) -> f64 {
        libm::log(self.0)
    }
}

impl Budget {
    /// The budget with these two numbers.
    ///
    /// # Errors
    /// Those of [`Epsilon::new`] and [`Delta::new`].
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, PrivacyError> {
        Ok(Self {
            epsilon: Epsilon::new(epsilon)?,
            delta: Delta::new(delta)?,
        })
    }
}

impl TryFrom<f64> for Epsilon {
    type Error = PrivacyError;

    fn try_from(value: f64) -> Result<Self, PrivacyError> {
        Self::new(value)
    }
}

impl TryFrom<f64> for Delta {
    type Error = PrivacyError;

    fn try_from(value: f64) -> Result<Self, PrivacyError> {
        Self::new(value)
    }
}

impl From<Epsilon> for f64 {
    fn from(epsilon: Epsilon) -> Self {
        epsilon.0
    }
}

impl From<Delta> for f64 {
    fn from(delta: Delta) -> Self {
        delta.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_meaning_are_refused() {
        for bad in [f64::NAN, 0.0, -0.0, -1.0, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(matches!(
                Epsilon::new(bad),
                Err(PrivacyError::Epsilon { .. })
            ));
            assert!(matches!(Delta::new(bad), Err(PrivacyError::Delta { .. })));
        }
        assert!(Delta::new(1.0).is_err());
        assert!(Budget::new(1.0, 2.0).is_err() && Budget::new(0.0, 1e-5).is_err());
        assert!(Budget::new(1e-9, 1e-300).is_ok());
    }

    #[test]
    fn a_budget_from_a_file_is_validated_too() {
        assert!(serde_json::from_str::<Budget>(r#"{"epsilon":1.0,"delta":1e-5}"#).is_ok());
        let error = serde_json::from_str::<Budget>(r#"{"epsilon":-1.0,"delta":1e-5}"#)
            .expect_err("negative epsilon");
        assert!(error.to_string().contains("epsilon"), "{error}");
    }
}
