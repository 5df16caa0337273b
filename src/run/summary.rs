//! `summary.json`: what a run found, spent and cost. The schema is versioned and documented in the README.

use std::collections::BTreeMap;

use serde::Serialize;

use super::clipping::ClipSummary;
use super::compared::ComparedRun;
use super::completion::CompletionSummary;
use super::convergence_bounds::ConvergenceBounds;
use super::faults::FaultsSummary;
use super::metrics::Utility;
use super::receipt::{Choice, PilotReceipt};
use super::recommendation::RecommendationSummary;
use super::score_model::RecommenderSummary;
use super::spread::DrawsSummary;
use super::variance::VarianceSummary;
use crate::algorithm::Prelude;
use crate::engine::Communication;
use crate::privacy::{
    Adjacency, Calibration, GroupLoss, LaplacePlan, RingPlan, SensitivityRule, View, WishartPlan,
};
use crate::scenario::{DataSummary, Experiment, Warning};
use crate::topology::TopologySummary;
use crate::vocabulary::ReleaseId;

/// Version of the document's layout.
pub const SCHEMA: u32 = 1;

/// The document.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Version of Undertone.
    pub version: &'static str,
    /// Which parts of this document, and which files beside it, no ε covers.
    pub not_for_publication: NotForPublication,
    /// The experiment's name.
    pub name: String,
    /// The engine that ran.
    pub engine: &'static str,
    /// The experiment's seed (a simulation's, so not secret).
    pub seed: u64,
    /// BLAKE3 of the resolved configuration.
    pub config_hash: String,
    /// The algorithm that ran.
    pub algorithm: &'static str,
    /// The averaging scheme; engines that reveal only sums average nothing.
    pub averaging: &'static str,
    /// Number of peers s.
    pub peers: usize,
    /// Number of items n.
    pub dimension: usize,
    /// Columns p.
    pub rank: usize,
    /// Iterations L.
    pub iterations: u32,
    /// The iteration that `ppi` stopped before, null where it ran to its end; absent for all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aborted_at: Option<AbortedAt>,
    /// What was read and what the filters dropped.
    pub data: DataSummary,
    /// The communication graph.
    pub topology: TopologySummary,
    /// The noise graph, which decides privacy, where it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_topology: Option<TopologySummary>,
    /// The guarantee.
    pub privacy: PrivacySummary,
    /// Which session was chosen, where `algorithm.kind = "auto"` left the choice open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// The pilot by which it was chosen, which spent its share of the same promise; what it sent is not in `communication`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pilot: Option<PilotReceipt>,
    /// What was sent.
    pub communication: Communication,
    /// What went wrong and who was there, where the session tolerates losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultsSummary>,
    /// How useful the result is.
    pub utility: UtilitySummary,
    /// What the released Gram matrix came to, where it recommends: a function of the release and of public item degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommender: Option<RecommenderSummary>,
    /// How good the recommendations are, where `[evaluation]` holds something out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<RecommendationSummary>,
    /// Why there is no `recommendation` although something was to be held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommendation_reason: Option<&'static str>,
    /// How well ratings that no peer holds are predicted, measured on them without privacy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<CompletionSummary>,
    /// How well the peers agree.
    pub consensus: ConsensusSummary,
    /// Seconds per part, and memory.
    pub timing: Timing,
    /// Things the user should know.
    pub warnings: Vec<Warning>,
}

/// The iteration that a run stopped before; null in the document where it ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AbortedAt(pub Option<u32>);

/// Which parts of a run's output no ε covers: whoever holds the raw data may read them, nobody else.
///
/// A simulation measures itself against the raw data. Those figures, and the seed, which gives all noise away, are for
/// the holder of the data. What may be published is the rest of the document, `receipt.json`, and the release itself:
/// `basis.npy` and `trace/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotForPublication {
    /// Why.
    pub why: &'static str,
    /// Keys of this document computed from the raw data: no ε covers them.
    pub from_raw_data: &'static [&'static str],
    /// Keys from which the noise can be drawn again, or guessed.
    pub from_the_seed: &'static [&'static str],
    /// Keys about the machine; how long a computation takes, and what it takes, moves with the data.
    pub from_the_machine: &'static [&'static str],
    /// Files beside this document that hold any of these.
    pub files: &'static [&'static str],
}

impl Default for NotForPublication {
    fn default() -> Self {
        Self {
            why: "computed from the raw data or from the seed, and covered by no epsilon: for the holder of the data only",
            from_raw_data: &[
                "data",
                "utility",
                "recommendation",
                "recommendation_reason",
                "completion",
                "consensus",
            ],
            from_the_seed: &["seed", "config_hash"],
            from_the_machine: &["timing"],
            files: &[
                "summary.json",
                "metrics.csv",
                "consensus.csv",
                "items.csv",
                "catalogue.csv",
                "config.toml",
                "report.html",
            ],
        }
    }
}

/// The guarantee, with σ's as drawn.
#[derive(Clone, Debug, Serialize)]
pub struct PrivacySummary {
    /// Who can hardly tell what: what one record is and against whom, in words; null without noise.
    pub promise: Option<String>,
    /// Which datasets are neighbours.
    pub adjacency: Adjacency,
    /// How the sensitivity is bounded.
    pub sensitivity: SensitivityRule,
    /// How (ε, δ) became a noise multiplier.
    pub calibration: Calibration,
    /// The ε asked for; null without noise.
    pub epsilon: Option<f64>,
    /// The δ asked for.
    pub delta: f64,
    /// z: the curator's noise per unit sensitivity; null without noise.
    pub noise_multiplier: Option<f64>,
    /// Noise per iteration.
    pub iterations: Vec<IterationNoise>,
    /// What each adversary learns about the worst-placed honest peer.
    pub views: Vec<View>,
    /// What changes at several peers at once cost at most, where one record is a change of one peer's matrix or a person can be in several files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupLoss>,
    /// How contributions are clipped, where they are, and the thresholds that it came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<ClipSummary>,
    /// The integers of `noise.scheme = "ring"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<RingPlan>,
    /// Laplace noise, where own noise is that: its scale and, with holders, the certified δ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub laplace: Option<LaplacePlan>,
    /// Wishart noise, where own noise is that: its scale and its terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wishart: Option<WishartPlan>,
    /// The mean that is released first, where it is private; the first entry of `iterations` then is its noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub centring: Option<Prelude>,
}

/// Noise of one iteration. Before a run, `sensitivity` is 1 and the σ's are per unit sensitivity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IterationNoise {
    /// The iteration, from 1.
    pub iteration: u32,
    /// Δ.
    pub sensitivity: f64,
    /// Standard deviation of a trusted curator's noise on the sum.
    pub sigma_central: f64,
    /// Standard deviation of each peer's own noise.
    pub sigma_own: f64,
    /// The same as `sigma_own`, under the name that it had first; schema 1 keeps it.
    pub sigma_independent: f64,
    /// Standard deviation of each pairwise term.
    pub sigma_pairwise: f64,
}

/// This run, the trusted curator's, and the one without privacy, from the same X⁰.
#[derive(Clone, Debug, Serialize)]
pub struct UtilitySummary {
    /// Degree floor of the matrix whose exact eigenvectors and non-private run errors are measured against.
    pub reference_floor: u32,
    /// ‖(I − XXᵀ)U‖₂.
    pub subspace_error: Option<f64>,
    /// Of the low-pass filtered ratings, against exact.
    pub relative_error: Option<f64>,
    /// The same against the non-private run.
    pub relative_error_non_private: Option<f64>,
    /// Of numbers: tr(XᵀSX) over what the exact leading eigenvectors capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captured_variance: Option<f64>,
    /// Of numbers: tr(XᵀSX)/tr(S).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained_ratio: Option<f64>,
    /// The same figures under a trusted curator.
    pub central: Utility,
    /// The same figures without privacy.
    pub non_private: Utility,
    /// Of a matrix of numbers: how much of its variance the bases capture, measured without privacy on the raw data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variance: Option<VarianceSummary>,
    /// Another method under the same budget, where `[compare]` names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<ComparedRun>,
    /// The spread of the figure that fits the data over draws of the noise; absent without noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<DrawsSummary>,
    /// The same figures where nothing goes wrong, where something did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault_free: Option<Utility>,
    /// P1's convergence bounds, and what they bound.
    pub bounds: ConvergenceBounds,
    /// Why figures against the exact eigenvectors are null, where they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why figures against and of the non-private run are null, where they are: data of rank below p carry no basis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_non_private: Option<String>,
    /// Why figures of the curator's run are null, where they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_central: Option<String>,
}

impl UtilitySummary {
    /// The figures of this run.
    #[must_use]
    pub fn this_run(&self) -> Utility {
        Utility {
            subspace_error: self.subspace_error,
            relative_error: self.relative_error,
            relative_error_non_private: self.relative_error_non_private,
            captured_variance: self.captured_variance,
            explained_ratio: self.explained_ratio,
        }
    }
}

/// Agreement between peers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ConsensusSummary {
    /// Largest ‖S_u − Ȳ‖_F / ‖Ȳ‖_F over peers and iterations; 0 for engines with one copy.
    pub max_disagreement: f64,
    /// Largest ‖S_u − S_0‖_F / ‖Ȳ‖_F over peers and iterations: exactly 0 where all peers hold the same bits.
    pub between_peers: f64,
    /// What the contraction of the averaging rounds guarantees for it; 0 where the averaging program makes all peers end with the same
    /// bits, and for engines with one copy.
    pub guaranteed: f64,
    /// The factor by which the rounds shrink the spread between peers, for any start.
    pub contraction: f64,
    /// Largest disagreement over the norm of the noise in the sum; null without noise.
    pub relative_to_noise: Option<f64>,
    /// Values f32: a bound on how far rounding moves an estimate, relative to the sum; the largest over the iterations. Null
    /// where values are f64, or nothing can be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounding: Option<f64>,
    /// The same bound over the norm of the noise in the sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounding_relative_to_noise: Option<f64>,
    /// Engine `analytic`: the largest over the iterations of what one iteration moves estimates at most, relative to the sum,
    /// because all peers contribute at peer 0's X. Not cumulative; a root mean square over the noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approximation: Option<f64>,
}

/// Seconds per part, and memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timing {
    /// Wall-clock seconds by part. The part `exact` goes on beside `run`.
    pub seconds: BTreeMap<&'static str, f64>,
    /// The largest resident set so far, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

impl Experiment {
    /// The noise of one release with sensitivity Δ.
    #[must_use]
    pub fn release_noise(&self, release: ReleaseId, sensitivity: f64) -> IterationNoise {
        let scale = sensitivity * self.noise_factor(release);
        let spec = self.releases().get(release.index());
        let (own, pairwise) = match self.is_own(release) {
            true => (self.sigma_central(), 0.0),
            false => (
                self.plan().sigma_of_one(release),
                self.noise().sigma_pairwise(),
            ),
        };
        IterationNoise {
            iteration: spec.map_or(release.0, |spec| spec.iteration.0),
            sensitivity,
            sigma_central: scale * self.plan().sigma_of_curator(release),
            sigma_own: scale * own,
            sigma_independent: scale * own,
            sigma_pairwise: scale * pairwise,
        }
    }

    /// The guarantee, with σ's per unit sensitivity.
    #[must_use]
    pub fn privacy_summary(&self) -> PrivacySummary {
        let privacy = &self.config().privacy;
        PrivacySummary {
            promise: self.is_private().then(|| self.statement().sentence()),
            adjacency: privacy.adjacency,
            sensitivity: privacy.sensitivity(),
            calibration: privacy.calibration,
            epsilon: self.is_private().then_some(privacy.epsilon),
            delta: privacy.delta(),
            noise_multiplier: self.is_private().then_some(self.calibrated().z()),
            iterations: (1..=self.releases().len() as u32)
                .map(|l| self.release_noise(ReleaseId(l), 1.0))
                .collect(),
            views: self.noise().views().to_vec(),
            groups: self.groups().to_vec(),
            clip: ClipSummary::of(self),
            ring: self.noise().ring().copied(),
            laplace: self.noise().laplace_noise().copied(),
            wishart: self.noise().wishart_noise().copied(),
            centring: self.centring().copied(),
        }
    }
}
