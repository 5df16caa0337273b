//! What an experiment costs before it runs, in one document.

use serde::Serialize;

use super::coalitions::{NamedAdvice, WorstCoalition, advise, worst_coalitions};
use super::conversions::{Conversions, conversions};
use super::dropouts::{DropoutCost, dropout_costs};
use super::parts::{PartCost, part_costs};
use super::peer_costs::{PeerCost, PeerCostError, peer_costs};
use crate::plan::BudgetShare;
use crate::run::summary::PrivacySummary;
use crate::scenario::Experiment;
use crate::topology::TopologySummary;

/// What to compute besides what every forecast has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForecastOptions {
    /// Also what each peer's data costs.
    pub peers: bool,
    /// Against these colluding peers, by name; naming any asks for the costs of all others.
    pub coalition: Vec<String>,
    /// Also which settings come this near to a curator.
    pub target_gap: Option<f64>,
}

/// The `privacy` table of a run's summary, and what is only worth computing before one.
#[derive(Clone, Debug, Serialize)]
pub struct Forecast {
    /// What a run's summary says.
    #[serde(flatten)]
    pub summary: PrivacySummary,
    /// The noise graph, where it is not `topology`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_topology: Option<TopologySummary>,
    /// At least, at most, and who, by coalition size.
    pub coalitions: Vec<WorstCoalition>,
    /// Conversions of every view between zCDP, Rényi and (ε, δ).
    pub conversions: Vec<Conversions>,
    /// Every honest peer against the coalition that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peers: Option<Vec<PeerCost>>,
    /// Settings that come near to a curator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<NamedAdvice>,
    /// What it costs by what goes wrong, where losses are tolerated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropouts: Vec<DropoutCost>,
    /// The pilot before a choice: what it costs, what is left, and both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pilot: Option<PilotForecast>,
}

/// What a pilot will cost, and what is left for whatever is chosen by it.
#[derive(Clone, Debug, Serialize)]
pub struct PilotForecast {
    /// Its share of μ².
    pub share: f64,
    /// The noise of its one release.
    pub release: PrivacySummary,
    /// View by view.
    pub costs: Vec<PartCost>,
}

impl Forecast {
    /// The forecast of an experiment, without a pilot before it.
    ///
    /// # Errors
    /// [`PeerCostError`] for a coalition with unknown or repeated peers, and where the accountant refuses.
    pub fn of(experiment: &Experiment, options: &ForecastOptions) -> Result<Self, PeerCostError> {
        let wanted = options.peers || !options.coalition.is_empty();
        let noise = experiment.has_noise_topology();
        let coalitions = worst_coalitions(experiment)?;
        let peers = wanted.then(|| peer_costs(experiment, &options.coalition));
        let peers = peers.transpose()?;
        let advice = options.target_gap.map(|gap| advise(experiment, gap));
        Ok(Self {
            summary: experiment.privacy_summary(),
            noise_topology: noise.then(|| experiment.noise_topology().summary()),
            coalitions,
            conversions: conversions(experiment)?,
            peers,
            advice: advice.transpose()?,
            dropouts: dropout_costs(experiment)?,
            pilot: None,
        })
    }
}

impl PilotForecast {
    /// The forecast of a pilot, and of whatever is chosen by it on the ground of `rest`.
    #[must_use]
    pub fn of(pilot: &Experiment, rest: &Experiment) -> Self {
        Self {
            share: pilot.part().map_or(1.0, BudgetShare::get),
            release: pilot.privacy_summary(),
            costs: part_costs(pilot, rest),
        }
    }
}
