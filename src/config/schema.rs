//! The experiment file: schema 1 of `sims/*.toml`.
//!
//! Unknown keys are refused; every key has the meaning and default written here. Paths are relative to
//! the file that names them.

use serde::{Deserialize, Serialize};

use super::algorithms::{AnyAlgorithmTable, ComparedAlgorithm};
use super::completion::CompletionConfig;
use super::data::DataConfig;
use super::dropouts::{DropoutsConfig, FaultsConfig};
use super::evaluation::EvaluationConfig;
use super::peer_name::name_or_number;
use super::peers::PeersConfig;
use super::pilot::PilotConfig;
use super::recommender::RecommenderConfig;
use super::sweep::SweepConfig;
use super::topology::TopologySource;
use crate::data::Partition;
use crate::engine::event::Latency;
use crate::privacy::ring::Modulus;
use crate::privacy::{
    Adjacency, AdversaryView, BudgetSplit, Calibration, OnDisconnect, Scheme, SensitivityRule,
    Statement,
};
use crate::protocol::Values;
use crate::protocol::averaging::{AveragingKind, Loss};
use crate::vocabulary::Distribution;

/// One experiment, as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// A short name for reports; that of the file where absent.
    #[serde(default = "experiment")]
    pub name: String,
    /// Every random stream of the simulation derives from it; 0 where absent.
    #[serde(default)]
    pub seed: u64,
    /// Whose data.
    pub data: DataConfig,
    /// Who holds it.
    #[serde(default)]
    pub peers: PeersConfig,
    /// Who talks to whom; a random regular graph of degree 10 where absent, or a complete one of up to eleven peers.
    #[serde(default, skip_serializing_if = "TopologySource::is_auto")]
    pub topology: TopologySource,
    /// Who shares noise with whom; the communication graph where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_topology: Option<TopologySource>,
    /// What is computed; the covariance matrix, of which four directions are kept, where absent.
    #[serde(default = "AnyAlgorithmTable::usual")]
    pub algorithm: AnyAlgorithmTable,
    /// What it may reveal.
    pub privacy: PrivacyConfig,
    /// How the sum is protected.
    #[serde(default)]
    pub noise: NoiseConfig,
    /// How the mean is formed.
    #[serde(default)]
    pub averaging: AveragingConfig,
    /// How values move.
    #[serde(default)]
    pub engine: EngineConfig,
    /// How many peers may be lost, and what that may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropouts: Option<DropoutsConfig>,
    /// What goes wrong in a simulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultsConfig>,
    /// What a run is measured against.
    #[serde(default, skip_serializing_if = "EvaluationConfig::is_default")]
    pub evaluation: EvaluationConfig,
    /// What is predicted, and what that spends.
    #[serde(default, skip_serializing_if = "CompletionConfig::is_default")]
    pub completion: CompletionConfig,
    /// What is measured first, so that the rest can be chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pilot: Option<PilotConfig>,
    /// How the Gram matrix that is released recommends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommender: Option<RecommenderConfig>,
    /// Another method that `run` runs beside this one, under the same budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<CompareConfig>,
    /// Many runs that differ in a few keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<SweepConfig>,
}

impl Config {
    /// The probability with which an interaction, or a rating, is kept from the peers by a coin of its own.
    #[must_use]
    pub fn held_share(&self) -> Option<f64> {
        self.evaluation.holdout.or(self.completion.test_share)
    }

    /// Whether the number of users is private: hashes of names deal them to peers, and no list says who takes part.
    pub(crate) fn hides_users(&self) -> bool {
        self.peers.partition == Partition::Hashed && self.data.users_file().is_none()
    }

    /// What one record is, and against whom it is protected.
    #[must_use]
    pub fn statement(&self) -> Statement {
        Statement {
            adjacency: self.privacy.adjacency,
            seen: self.engine.kind.seen(),
            colluders: self.privacy.colluders,
            lost: self.dropouts.map(|dropouts| dropouts.tolerate),
            distribution: self.noise.distribution,
            participants: self.privacy.participants(),
        }
    }
}

/// `[privacy]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivacyConfig {
    /// ε of the whole run.
    pub epsilon: f64,
    /// δ of the whole run; 0 with `noise.distribution = "wishart"`, and with `"laplace"` but where peers share noise beside it. Where absent it is filled in when the
    /// experiment is resolved: 1/n^1.1 for n users, rows or vertices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// Which datasets are neighbours; those that differ by all of one user's data where absent.
    #[serde(default = "user")]
    pub adjacency: Adjacency,
    /// How the sensitivity is bounded. Where absent it is filled in when the experiment is resolved: `"unit-row"` of whole rows of numbers, `"exact"` of
    /// all else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<SensitivityRule>,
    /// How (ε, δ) becomes a noise multiplier.
    #[serde(default = "analytic")]
    pub calibration: Calibration,
    /// How the iterations share ε: `"even"`, or weights, one per iteration; iteration l spends w_l/Σw of μ².
    #[serde(default, skip_serializing_if = "BudgetSplit::is_even")]
    pub budget: BudgetSplit,
    /// t: coalition size the noise must withstand; 0 protects against an outside observer only.
    #[serde(default = "one_peer")]
    pub colluders: usize,
    /// β: extra loss allowed for finite pairwise noise.
    #[serde(default = "one_percent")]
    pub overhead: f64,
    /// What to do where a coalition can disconnect the honest peers.
    #[serde(default = "refuse")]
    pub on_disconnect: OnDisconnect,
    /// k: a person may be in the files of up to k participants, and noise is planned for all its rows; 1 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participants_per_person: Option<usize>,
}

impl PrivacyConfig {
    /// δ of an experiment that is resolved; 0 where it is still open.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.delta.unwrap_or(0.0)
    }

    /// The rule of an experiment that is resolved; `"exact"` where it is still open.
    #[must_use]
    pub fn sensitivity(&self) -> SensitivityRule {
        self.sensitivity.unwrap_or(SensitivityRule::Exact)
    }

    /// k, where it is not 1.
    #[must_use]
    pub fn participants(&self) -> Option<usize> {
        self.participants_per_person.filter(|k| *k != 1)
    }
}

/// `[noise]`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoiseConfig {
    /// How the sum is protected.
    #[serde(default = "pairwise")]
    pub scheme: Scheme,
    /// k of ℤ mod 2^k, 32 or 64, under `scheme = "ring"`; the fewest that hold every sum where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<Modulus>,
    /// The law of the noise: `"gaussian"` for (ε, δ), or `"laplace"` or, of covariance matrices, `"wishart"` for (ε, 0).
    #[serde(default, skip_serializing_if = "Distribution::is_gaussian")]
    pub distribution: Distribution,
    /// How many peers hold a Laplace number each, where `scheme = "pairwise"` hides everybody else behind them; more than `privacy.colluders`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holders: Option<usize>,
}

impl Default for NoiseConfig {
    fn default() -> Self {
        Self {
            scheme: Scheme::Pairwise,
            bits: None,
            distribution: Distribution::Gaussian,
            holders: None,
        }
    }
}

/// `[averaging]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AveragingConfig {
    /// How the peers' inputs are averaged; up and down a spanning tree where absent.
    #[serde(default = "tree")]
    pub scheme: AveragingKind,
    /// Shrink the spread between peers by this factor; the rounds follow from the spectrum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Or run exactly this many rounds. A scheme that is exact after as many rounds as the graph takes has neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// The peer that knows the sum first, as the topology names it. Each scheme says which of this and the following it knows.
    #[serde(
        default,
        deserialize_with = "name_or_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub root: Option<String>,
    /// The seed of public randomness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The most children of a peer in a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fan_in: Option<u32>,
    /// How many trees take turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotate: Option<u32>,
    /// How many peers exchange in one group of doubling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<u32>,
    /// What a coordinate of a sum is on its way: f64, or f32, which halves the bytes.
    #[serde(default, skip_serializing_if = "Values::is_f64")]
    pub values: Values,
}

impl Default for AveragingConfig {
    fn default() -> Self {
        Self {
            scheme: AveragingKind::Tree,
            tolerance: None,
            rounds: None,
            root: None,
            seed: None,
            fan_in: None,
            rotate: None,
            base: None,
            values: Values::F64,
        }
    }
}

/// `[compare]`: another algorithm and averaging. Everything else is the experiment's own: users, graphs, rank, ε, δ,
/// adjacency, colluders and seed. It spends its budget evenly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompareConfig {
    /// What is computed instead.
    pub algorithm: ComparedAlgorithm,
    /// How the mean is formed instead.
    #[serde(default)]
    pub averaging: AveragingConfig,
}

/// `[engine]`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineConfig {
    /// Which engine.
    #[serde(default = "lockstep")]
    pub kind: EngineKind,
    /// Link latency of the event engine.
    #[serde(default = "one_millisecond")]
    pub latency: Latency,
    /// The fraction of averaging messages that the event engine loses, below 1; a scheme that passes mass plans its rounds for it.
    #[serde(default, skip_serializing_if = "Loss::is_none")]
    pub loss: Loss,
    /// Transport of the swarm engine.
    #[serde(default)]
    pub transport: TransportKind,
    /// m: peers whose estimates the analytic engine draws, peer 0 and others evenly spaced; at most 64.
    #[serde(default = "eight")]
    pub probes: usize,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            kind: EngineKind::Lockstep,
            latency: one_millisecond(),
            loss: Loss::NONE,
            transport: TransportKind::default(),
            probes: eight(),
        }
    }
}

/// The engines an experiment file can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// A trusted curator (P1 Alg. 1).
    Central,
    /// A server with an ideal secure sum (P1 Alg. 2).
    Federated,
    /// Flat arrays, all peers in step.
    Lockstep,
    /// The estimates of some peers, drawn from their joint law.
    Analytic,
    /// Messages in virtual time.
    Event,
    /// libp2p peers in one process.
    Swarm,
}

impl EngineKind {
    /// The engine's name in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Central => "central",
            Self::Federated => "federated",
            Self::Lockstep => "lockstep",
            Self::Analytic => "analytic",
            Self::Event => "event",
            Self::Swarm => "swarm",
        }
    }

    /// What an adversary sees of a run.
    #[must_use]
    pub fn seen(self) -> AdversaryView {
        match self {
            Self::Central => AdversaryView::CuratorOutput,
            Self::Federated => AdversaryView::SecureSum,
            Self::Lockstep | Self::Analytic | Self::Event | Self::Swarm => {
                AdversaryView::Everything
            }
        }
    }

    /// Whether the observer sees only sums: a trusted curator or an ideal secure aggregation.
    #[must_use]
    pub fn reveals_only_sums(self) -> bool {
        matches!(self, Self::Central | Self::Federated)
    }

    /// Whether every peer's published input exists in the run: not where the sum's noise is drawn as a whole.
    #[must_use]
    pub fn draws_every_input(self) -> bool {
        !matches!(self, Self::Central | Self::Analytic)
    }
}

/// Transports of the swarm engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransportKind {
    /// In-process channels.
    Memory,
    /// Loopback TCP.
    #[default]
    Tcp,
}

fn tree() -> AveragingKind {
    AveragingKind::Tree
}
fn lockstep() -> EngineKind {
    EngineKind::Lockstep
}
fn pairwise() -> Scheme {
    Scheme::Pairwise
}
fn eight() -> usize {
    8
}
fn one_peer() -> usize {
    1
}
fn one_percent() -> f64 {
    0.01
}
fn user() -> Adjacency {
    Adjacency::User
}
fn experiment() -> String {
    "experiment".to_owned()
}
fn analytic() -> Calibration {
    Calibration::Analytic
}
fn refuse() -> OnDisconnect {
    OnDisconnect::Refuse
}
fn one_millisecond() -> Latency {
    Latency::Constant { micros: 1000 }
}
