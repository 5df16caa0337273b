//! The one figure by which the methods of a run are compared: which it is, and its value for each method.

use super::metrics::Utility;
use super::spread::Measure;
use super::summary::Summary;

/// A method of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The run.
    ThisRun,
    /// The same run without faults, where there were any.
    WithoutFaults,
    /// A trusted curator with the same budget.
    Central,
    /// The method that `[compare]` names.
    Compared,
    /// The same method without noise.
    WithoutPrivacy,
    /// Recommendations of the most popular items.
    MostPopular,
    /// Predictions by the means of users and items, without noise.
    UserAndItemMeans,
}

impl Measure {
    /// The figure that fits these results; `None` where there is none.
    #[must_use]
    pub fn of(summary: &Summary) -> Option<Self> {
        let utility = &summary.utility;
        [
            (summary.completion.is_some(), Self::Rmse),
            (summary.recommendation.is_some(), Self::Recall),
            (utility.captured_variance.is_some(), Self::CapturedVariance),
            (utility.relative_error.is_some(), Self::RelativeError),
            (
                utility.relative_error_non_private.is_some(),
                Self::RelativeErrorNonPrivate,
            ),
        ]
        .into_iter()
        .find_map(|(is_there, measure)| is_there.then_some(measure))
    }

    /// The figure among those of a basis; `None` for those of recommendations and predictions.
    #[must_use]
    pub fn of_basis(self, figures: &Utility) -> Option<f64> {
        match self {
            Self::RelativeError => figures.relative_error,
            Self::RelativeErrorNonPrivate => figures.relative_error_non_private,
            Self::CapturedVariance => figures.captured_variance,
            Self::Rmse | Self::Recall => None,
        }
    }

    /// The figure of one method; `None` where the run has no such method or no figure of it.
    #[must_use]
    pub fn value(self, method: Method, summary: &Summary) -> Option<f64> {
        match self {
            Self::Rmse => rmse(method, summary),
            Self::Recall => recall(method, summary),
            _ => self.of_basis(&figures(method, summary)?),
        }
    }
}

fn rmse(method: Method, summary: &Summary) -> Option<f64> {
    let completion = summary.completion.as_ref()?;
    match method {
        Method::ThisRun => completion.rmse,
        Method::Central => completion.rmse_central,
        Method::WithoutPrivacy => completion.rmse_non_private,
        Method::UserAndItemMeans => completion.rmse_item_means,
        _ => None,
    }
}

fn recall(method: Method, summary: &Summary) -> Option<f64> {
    let recommendation = summary.recommendation.as_ref()?;
    let quality = match method {
        Method::ThisRun => Some(recommendation.this_run.quality),
        Method::Central => recommendation.central,
        Method::WithoutPrivacy => recommendation.non_private,
        Method::MostPopular => Some(recommendation.popularity),
        _ => None,
    };
    quality.map(|quality| quality.recall)
}

fn figures(method: Method, summary: &Summary) -> Option<Utility> {
    let utility = &summary.utility;
    match method {
        Method::ThisRun => Some(utility.this_run()),
        Method::WithoutFaults => utility.fault_free,
        Method::Central => Some(utility.central),
        Method::Compared => utility.compared.as_ref().map(|compared| compared.utility),
        Method::WithoutPrivacy => Some(utility.non_private),
        Method::MostPopular | Method::UserAndItemMeans => None,
    }
}
