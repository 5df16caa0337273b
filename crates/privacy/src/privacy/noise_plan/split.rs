//! Splits one budget unevenly over the iterations.

use std::fmt;

use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::PrivacyError;

/// How the iterations share one budget: `privacy.budget` of an experiment file, `"even"` or a list of weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum BudgetSplit {
    /// Every iteration spends the same.
    #[default]
    Even,
    /// Iteration l spends the share w_l/Σw of μ². Fixed in advance, public.
    Weights(Vec<f64>),
}

impl BudgetSplit {
    /// What each iteration's standard deviations are multiplied by; empty stands for 1 in every iteration.
    ///
    /// # Errors
    /// [`PrivacyError::Weights`] unless there is one weight per iteration, and those of [`split_budget`].
    pub fn noise_factors(&self, iterations: u32) -> Result<Vec<f64>, PrivacyError> {
        match self {
            Self::Even => Ok(Vec::new()),
            Self::Weights(weights) if weights.len() == iterations as usize => split_budget(weights),
            Self::Weights(weights) => Err(PrivacyError::Weights {
                found: weights.len(),
                iterations,
            }),
        }
    }

    /// Whether every iteration spends the same.
    #[must_use]
    pub fn is_even(&self) -> bool {
        *self == Self::Even
    }
}

/// Σ_l 1/f_l²: how many iterations of factor 1 cost as much as `iterations` with these factors (empty: all 1). A plan
/// that protects `iterations` of them protects these if and only if this is no larger.
#[must_use]
pub fn even_iterations(factors: &[f64], iterations: u32) -> f64 {
    if factors.is_empty() {
        f64::from(iterations)
    } else {
        factors.iter().map(|f| 1.0 / (f * f)).sum()
    }
}

impl Serialize for BudgetSplit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Even => serializer.serialize_str("even"),
            Self::Weights(weights) => weights.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for BudgetSplit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;
        impl<'de> Visitor<'de> for Written {
            type Value = BudgetSplit;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"even\" or a list of weights, one per iteration")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<BudgetSplit, E> {
                if text == "even" {
                    Ok(BudgetSplit::Even)
                } else {
                    Err(E::invalid_value(Unexpected::Str(text), &self))
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<BudgetSplit, A::Error> {
                let mut weights = Vec::new();
                while let Some(weight) = list.next_element::<f64>()? {
                    weights.push(weight);
                }
                Ok(BudgetSplit::Weights(weights))
            }
        }
        deserializer.deserialize_any(Written)
    }
}

/// Noise multipliers per iteration, in units of the multiplier of an even split, such that iteration l spends the
/// share w_l/Σw of μ².
///
/// # Statement and proof
/// With z = √L/μ the even split spends L·(1/z)² = μ². Multipliers z_l = z·√(Σw/(L·w_l)) spend
/// Σ 1/z_l² = (1/z²)·Σ L·w_l/Σw = L/z² = μ². ∎ The weights must be fixed in advance, so that every μ_l is a constant: adaptive
/// composition of Gaussian mechanisms then gives μ² = Σμ_l² (Dong, Roth & Su 2022, Corollary 3.3). A plan for v_u ≤ 1/z² with
/// both standard deviations multiplied by the l-th number meets v_u ≤ 1/z_l² in iteration l.
///
/// # Errors
/// [`PrivacyError::Iterations`] without weights, [`PrivacyError::Parameter`] for a weight that is not positive or so far from
/// the others that its multiplier is out of range.
///
/// ```
/// let later = undertone_privacy::privacy::split_budget(&[1.0, 1.0, 2.0])?;
/// let spent: f64 = later.iter().map(|m| 1.0 / (m * m)).sum();
/// assert!((spent / 3.0 - 1.0).abs() < 1e-12 && later[2] < later[0]);
/// # Ok::<(), undertone_privacy::privacy::PrivacyError>(())
/// ```
pub fn split_budget(weights: &[f64]) -> Result<Vec<f64>, PrivacyError> {
    if weights.is_empty() {
        return Err(PrivacyError::Iterations);
    }
    let refused = |found: f64| PrivacyError::Parameter {
        name: "a weight of privacy.budget",
        found,
        expected: "a finite number above 0, within 1e-6 to 1e6 of the mean of all weights",
    };
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    weights
        .iter()
        .map(|&weight| {
            let share = weight / mean;
            if !(weight > 0.0 && mean.is_finite() && (1e-6..=1e6).contains(&share)) {
                return Err(refused(weight));
            }
            // One part in 10¹⁵ per weight for the sum and the root, on the side of more noise.
            Ok((1.0 / share).sqrt() * (1.0 + 1e-15 * (weights.len() + 4) as f64))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_budget_is_spent_and_no_more() {
        for weights in [
            vec![1.0],
            vec![1.0, 2.0, 3.5, 0.25],
            vec![1e-3; 1000],
            vec![1e200, 3e200],
        ] {
            let split = split_budget(&weights).expect("valid");
            let spent: f64 = split.iter().map(|m| 1.0 / (m * m)).sum();
            let budget = weights.len() as f64;
            assert!(spent <= budget && spent > budget * (1.0 - 1e-10), "{spent}");
            let ratio = (split[0] / split[weights.len() - 1]).powi(2);
            assert!((ratio * weights[0] / weights[weights.len() - 1] - 1.0).abs() < 1e-12);
        }
        assert!(
            split_budget(&[2.0; 3])
                .expect("valid")
                .iter()
                .all(|m| (m - 1.0).abs() < 1e-13)
        );
    }

    #[test]
    fn a_split_is_written_as_a_word_or_as_weights() {
        let read = |text: &str| serde_json::from_str::<BudgetSplit>(text);
        assert_eq!(read("\"even\"").expect("valid"), BudgetSplit::Even);
        let weights = read("[2, 1.5, 1]").expect("valid");
        assert_eq!(weights, BudgetSplit::Weights(vec![2.0, 1.5, 1.0]));
        for split in [BudgetSplit::Even, weights.clone()] {
            let text = serde_json::to_string(&split).expect("writable");
            assert_eq!(read(&text).expect("valid"), split);
        }
        for bad in ["\"odd\"", "3", "[\"a\"]", "true", "{}"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(
            weights.noise_factors(2),
            Err(PrivacyError::Weights {
                found: 3,
                iterations: 2
            })
        );
        let factors = weights.noise_factors(3).expect("valid");
        assert!((even_iterations(&factors, 3) - 3.0).abs() < 1e-12);
        // Even means no factor at all, whatever the number of iterations.
        assert_eq!(BudgetSplit::Even.noise_factors(u32::MAX), Ok(Vec::new()));
        assert_eq!(even_iterations(&[], 7), 7.0);
    }

    #[test]
    fn weights_that_mean_nothing_are_refused() {
        assert_eq!(split_budget(&[]), Err(PrivacyError::Iterations));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9, 1e300] {
            for weights in [[bad, 1.0], [1.0, bad]] {
                assert!(
                    matches!(split_budget(&weights), Err(PrivacyError::Parameter { .. })),
                    "{bad}"
                );
            }
        }
    }
}
