//! The ways to score with a released Gram matrix: one file each, one line each.

use serde::{Deserialize, Serialize};

use super::model::GramModel;
use super::scorer::ScoreParts;
use super::{item_regression, linear, pass};

/// How items are scored from a released Gram matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GramMethod {
    /// Item regression: what was best, or as good as the best, on every set it was measured on.
    #[default]
    Auto,
    /// The low-pass filter: directions beyond the edge count the same, others nothing.
    LowPass,
    /// The linear filter r ↦ rĜ.
    Linear,
    /// Item regression in closed form.
    ItemRegression,
}

/// A way to score: what a model makes of the scores of a user's row.
type Parts = fn(&GramModel) -> ScoreParts;

/// The registered methods.
static METHODS: &[(GramMethod, &str, Parts)] = &[
    (GramMethod::Auto, "auto", item_regression::parts),
    (GramMethod::LowPass, "low-pass", pass::parts),
    (GramMethod::Linear, "linear", linear::parts),
    (
        GramMethod::ItemRegression,
        "item-regression",
        item_regression::parts,
    ),
];

impl GramMethod {
    fn line(self) -> &'static (Self, &'static str, Parts) {
        let found = METHODS.iter().find(|line| line.0 == self);
        found.expect("every method is registered")
    }

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.line().1
    }

    /// What makes the scores of a user's row. Where nothing of the release is beyond the noise, that is popularity.
    ///
    /// # Popularity
    /// To every user's row a public row is added: what users have on average, times [`popularity_weight`]. So scores tend to
    /// popularity as the signal does to nothing, and equal it there.
    #[must_use]
    pub fn parts(self, model: &GramModel, users: usize) -> ScoreParts {
        let mut parts = match model.beyond() {
            0 => ScoreParts::popularity(model),
            _ => (self.line().2)(model),
        };
        if model.beyond() > 0 {
            let average = model.squared_degrees() / users.max(1) as f64;
            parts.padding = popularity_weight(model.signal()) * average;
        }
        parts
    }
}

/// How much of the average row is added to every user's own, for the signal K of [`GramModel::signal`]: 3/K², and at least a
/// millionth, by which a user without interactions is shown what is popular.
///
/// # Why
/// Of the scores of one user only the part that stands out of the noise is worth more than popularity, and noise hurts twice: it
/// moves what is popular, and lifts what is not. The rule was chosen on Gowalla, Jester and MovieLens as the flattest that keeps
/// Recall@20 and NDCG@20 from falling below what popularity has (see the guide's page on recommendation).
#[must_use]
pub fn popularity_weight(signal: f64) -> f64 {
    (3.0 / (signal * signal)).max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_line_and_its_name_is_that_of_files() {
        for (method, name, _) in METHODS {
            assert_eq!(method.name(), *name);
            let written = serde_json::to_string(method).expect("a name");
            assert_eq!(written, format!("\"{name}\""));
        }
        assert_eq!(METHODS.len(), 4);
    }

    #[test]
    fn popularity_weighs_less_the_more_stands_out() {
        assert_eq!(popularity_weight(1.0), 3.0);
        assert_eq!(popularity_weight(10.0), 0.03);
        assert_eq!(popularity_weight(f64::INFINITY), 1e-6);
    }
}
