//! The method that a run is compared with: what it finds and sends under the same budget.

use serde::Serialize;

use super::engine::run_engine;
use super::metrics::Utility;
use crate::engine::{Communication, Silent};
use crate::linalg::Block;
use crate::privacy::View;
use crate::scenario::Experiment;

/// Another method on the same users, graph, budget and seed, run on the same engine.
///
/// A comparison, like the curator's run: nothing of it is published, and where it fails it is a reason instead of figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRun {
    /// Its algorithm.
    pub algorithm: &'static str,
    /// Its averaging scheme.
    pub averaging: &'static str,
    /// Its iterations L.
    pub iterations: u32,
    /// What each adversary would learn from it; empty without noise.
    pub views: Vec<View>,
    /// Its errors, against the references of the run it stands beside.
    #[serde(flatten)]
    pub utility: Utility,
    /// What it sends; null where it failed.
    pub communication: Option<Communication>,
    /// Why there are no figures, where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ComparedRun {
    /// Runs `other`, an experiment that [`Experiment::compared`] made, and measures what it finds.
    pub(super) fn of(other: &Experiment, measure: impl Fn(&Block) -> Utility) -> Self {
        let session = other.session(&other.root_seed());
        let found = run_engine(other, &session, &mut Silent);
        let (utility, communication, reason) = match found {
            Ok(outcome) => (measure(outcome.basis()), Some(outcome.communication), None),
            Err(error) => (Utility::default(), None, Some(error.to_string())),
        };
        let config = other.config();
        Self {
            algorithm: config.algorithm.name(),
            averaging: config.averaging.scheme.name(),
            iterations: config.algorithm.table().iterations(),
            views: other.noise().views().to_vec(),
            utility,
            communication,
            reason,
        }
    }

    /// A short name: `power over chebyshev`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} over {}", self.algorithm, self.averaging)
    }
}
