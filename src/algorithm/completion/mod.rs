//! Matrix completion under joint privacy: what is released is public, what is predicted for a user stays with the user.

mod frank_wolfe;
mod projected_gradient;
mod svd;

use std::fmt;

pub use frank_wolfe::{
    FrankWolfe, FrankWolfeParameters, Global, GlobalPart, Local, LocalStep, OjaStep, StepRule,
};
pub use projected_gradient::ProjectedGradient;
use serde::{Deserialize, Serialize};
pub use svd::SvdCompletion;

/// Whose constants a completion algorithm runs with: `algorithm.mode` of an experiment file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompletionMode {
    /// Ours: contributions are shortened to what is charged.
    #[default]
    Tight,
    /// Those in print, for comparison with its figures.
    Paper,
}

/// Predicts one user's row from what was released and the user's own row.
///
/// # Privacy
/// Everything in it is a function of public history. A prediction is made by the peer that holds the row, is a function of
/// that row and of this, and is sent to nobody: everything that others see of a user is the released sums, which are
/// (ε, δ)-private in the user's row, so that together they are jointly private (the billboard lemma; Kearns, Pai, Roth &
/// Ullman 2014; Jain, Thakkar & Thakurta 2018, Definition 2.2).
pub trait Completer: fmt::Debug + Send + Sync {
    /// One prediction per item, in the units of the row: what was taken from the row before (the user's mean) is not in it.
    /// `items` ascend; `values` are the user's numbers at those.
    fn complete(&self, items: &[u32], values: &[f64]) -> Vec<f64>;
}
