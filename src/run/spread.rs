//! The spread of one figure over draws of the noise, as `summary.json` states it.

use serde::Serialize;

#[cfg(doc)]
use super::metrics::Utility;

/// The figure that fits a run's data. All are measured on the raw data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// [`Utility::relative_error`], of interactions.
    RelativeError,
    /// [`Utility::relative_error_non_private`], where the exact eigenvectors are out of reach.
    RelativeErrorNonPrivate,
    /// [`Utility::captured_variance`], of rows of numbers.
    CapturedVariance,
    /// The root mean squared error of predicted ratings.
    Rmse,
    /// The recall of recommendations.
    Recall,
}

/// `utility.draws` of `summary.json`: the spread of one figure over draws of the noise, measured on the raw data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawsSummary {
    /// The figure.
    pub of: Measure,
    /// Draws of this run's noise.
    pub this_run: Draws,
    /// Draws of the central baseline.
    pub central: Draws,
    /// Draws of the compared method, where `[compare]` names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<Draws>,
}

/// Mean and spread over draws of the noise of one method.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Draws {
    /// Number of draws; 0 where there are none.
    pub count: u32,
    /// Mean over the draws.
    pub mean: Option<f64>,
    /// Standard deviation of one draw, with count − 1 in the denominator.
    pub standard_deviation: Option<f64>,
    /// Reason why there are no draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Draws {
    pub(super) fn none(reason: String) -> Self {
        Self {
            reason: Some(reason),
            ..Self::default()
        }
    }

    /// Mean and standard deviation of at least two figures.
    pub(super) fn of(figures: &[f64]) -> Self {
        let count = figures.len() as u32;
        if count < 2 {
            return Self::none("the noise leaves no basis".to_owned());
        }
        let n = f64::from(count);
        let mean = figures.iter().sum::<f64>() / n;
        let squares: f64 = figures.iter().map(|one| (one - mean).powi(2)).sum();
        Self {
            count,
            mean: Some(mean),
            standard_deviation: Some((squares / (n - 1.0)).sqrt()),
            reason: None,
        }
    }
}
