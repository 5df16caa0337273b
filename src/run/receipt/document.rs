//! What a receipt says, and how one is written from a run and read from a file.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::ReceiptError;
use super::limits::{MAX_BYTES, SCHEMA, TOLERANT_SCHEMA};
use crate::algorithm::Prelude;
use crate::algorithm::{AlgorithmKind, Clip, Completion, Start};
use crate::config::{DescentKeys, DropoutsConfig, EngineKind};
use crate::engine::Outcome;
use crate::privacy::ring::Modulus;
use crate::privacy::{
    Adjacency, BudgetSplit, Calibration, GroupLoss, LaplacePlan, OnDisconnect, RatingRange,
    RingPlan, Scheme, SensitivityRule, Statement, View,
};
use crate::scenario::graph::{is_bipartite, is_of_vertices};
use crate::scenario::{Assumed, Experiment, Preconditioning, StatedItems, UserSource};
use crate::topology::Graph;
use crate::vocabulary::{Distribution, ReleaseId};

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// [`TOLERANT_SCHEMA`].
    pub schema: u32,
    /// Version of Undertone that ran.
    pub version: String,
    /// The experiment's name.
    pub name: String,
    /// The engine that ran: `central` trusts a curator, `federated` an ideal secure sum, the others nobody.
    pub engine: EngineKind,
    /// Hash of the experiment's configuration without its seed, whose guess would give the noise away.
    pub config_hash: String,
    /// Who can hardly tell what: what one record is and against whom, in words. Older receipts do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<String>,
    /// The guarantee asked for.
    pub request: Request,
    /// Who shares noise with whom.
    pub noise_graph: NoiseGraph,
    /// Standard deviation of each peer's own noise per unit sensitivity.
    pub sigma_own: f64,
    /// Standard deviation of each pairwise term per unit sensitivity.
    pub sigma_pairwise: f64,
    /// Standard deviation of the noise in the sum per unit sensitivity.
    pub sigma_sum: f64,
    /// What each iteration was scaled by.
    pub iterations: Vec<Scaled>,
    /// What each adversary learns about the worst-placed honest peer.
    pub views: Vec<View>,
    /// What changes at several peers at once cost at most, where one record is a change of one peer's matrix or a person can be in several files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupLoss>,
    /// The integers of the `ring` scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<RingPlan>,
    /// Laplace noise, and what is certified of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub laplace: Option<LaplacePlan>,
    /// The list of items; absent in receipts that were written before lists were stated, which a check refuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_list: Option<StatedItems>,
    /// Which session was chosen, where `algorithm.kind = "auto"` left the choice open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// The pilot by which it was chosen: it spent its share of the same promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pilot: Option<PilotReceipt>,
    /// What happened in a run whose peers tolerate losses, and what that cost: a diagnostic, of which nothing is promised. Schema 2 has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub realised: Option<RealisedReceipt>,
    /// What the promise takes to be public, in words: no ε covers it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
}

/// The guarantee asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// ε of the whole run.
    pub epsilon: f64,
    /// δ of the whole run.
    pub delta: f64,
    /// What one person is.
    pub adjacency: Adjacency,
    /// How the sensitivity is bounded.
    pub sensitivity: SensitivityRule,
    /// D.
    pub degree_floor: u32,
    /// d_cap.
    pub degree_cap: Option<u32>,
    /// What was released.
    #[serde(default)]
    pub algorithm: AlgorithmKind,
    /// n.
    pub dimension: usize,
    /// p.
    pub rank: usize,
    /// b, where it is not p.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<usize>,
    /// L.
    pub iterations: u32,
    /// The share of the eigenvalues of `deflation`, where it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eigenvalue_share: Option<f64>,
    /// What a method of completion was told, where ratings were to be predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion: Option<Completion>,
    /// The keys that decide which releases `frank-wolfe` and its kin made.
    #[serde(default, skip_serializing_if = "DescentKeys::is_empty")]
    pub descent: DescentKeys,
    /// C of `ppi`, where its noise had a fixed scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coherence: Option<f64>,
    /// How contributions were clipped, where they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<Clip>,
    /// How (ε, δ) became a noise multiplier.
    pub calibration: Calibration,
    /// How the iterations shared the budget.
    #[serde(default, skip_serializing_if = "BudgetSplit::is_even")]
    pub budget: BudgetSplit,
    /// How the sum is protected.
    pub scheme: Scheme,
    /// The law of the noise.
    #[serde(default, skip_serializing_if = "Distribution::is_gaussian")]
    pub distribution: Distribution,
    /// How many peers hold Laplace noise, where few do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holders: Option<usize>,
    /// Coalition to withstand.
    pub colluders: usize,
    /// How many more may be lost, and how often a release may be tried again; noise is planned for both. Schema 2 has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropouts: Option<DropoutsConfig>,
    /// β.
    pub overhead: f64,
    /// What was done where a coalition can split the noise graph.
    pub on_disconnect: OnDisconnect,
    /// What the `ring` scheme was planned for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<RingRows>,
    /// What was public of one rating, where one record is a rating.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<RatingRange>,
    /// Whether the data were a private graph, whose vertices are the peers, or a matrix whose rows and columns are.
    #[serde(default, skip_serializing_if = "is_false")]
    pub vertices: bool,
    /// How many of the peers were rows, of such a matrix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// The mean that was released first, where it is private.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub centring: Option<Prelude>,
    /// What P was made of, where the eigenvectors are those of P A P.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preconditioning: Option<Preconditioning>,
    /// The share of μ² of a pilot, where the algorithm is one or was chosen after one; 0 for a choice without a pilot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pilot_share: Option<f64>,
    /// Whether every peer read a file of its own, as participants of a session do; otherwise the rows of one file were partitioned.
    #[serde(default, skip_serializing_if = "is_false")]
    pub own_files: bool,
    /// k, where a person may be in the files of up to k participants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participants_per_person: Option<usize>,
    /// The start of the iteration. Older receipts do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    /// Whether recommendations were made of what was released, with item degrees.
    #[serde(default, skip_serializing_if = "is_false")]
    pub recommender: bool,
    /// The source of the list of users; absent where rows have no names, and in older receipts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<UserSource>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// What a ring was planned for besides the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RingRows {
    /// The most rows that were dealt to one peer.
    pub rows: usize,
    /// k, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<Modulus>,
}

/// The noise graph, whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoiseGraph {
    /// Number of nodes.
    pub nodes: usize,
    /// BLAKE3 of the nodes and edges, in hexadecimal.
    pub hash: String,
    /// What the nodes are called, in the order of their numbers; numbers from 0 where the graph has no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// Every edge once, (lower, upper), ascending, by number from 0.
    pub edges: Vec<(u32, u32)>,
}

/// What one iteration was scaled by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scaled {
    /// The agreed statistic of X^{l−1}.
    pub statistic: f64,
    /// Δ_l.
    pub sensitivity: f64,
    /// f_l: the σ's of this iteration are those per unit sensitivity times f_l Δ_l.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub noise_factor: f64,
}

/// Which session was chosen, and by which rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The rule and its version.
    pub rule: String,
    /// What it chose, in words; the request says it in numbers.
    pub chosen: String,
}

/// The pilot that went before a run. Its request is that of the run, but for the algorithm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PilotReceipt {
    /// The public numbers of interactions at which users were counted.
    pub thresholds: Vec<u32>,
    /// The noisy counts, as released.
    pub counts: Vec<f64>,
    /// The noisy shares of items in their users' rows, as released, in the order of the items.
    pub shares: Vec<f64>,
    /// Standard deviation of a peer's own noise per unit sensitivity and noise factor.
    pub sigma_own: f64,
    /// Standard deviation of each pairwise term, likewise.
    pub sigma_pairwise: f64,
    /// Standard deviation of the noise in the sum, likewise.
    pub sigma_sum: f64,
    /// What its one release was scaled by.
    pub iterations: Vec<Scaled>,
    /// What each adversary learns from a pilot that spends the whole budget: of this one the square root of its share of that.
    pub views: Vec<View>,
    /// Bytes that the busiest peer sent.
    pub bytes_max_peer: u64,
}

/// What happened, and what it cost the worst-placed peer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RealisedReceipt {
    /// Every attempt at a release in which anybody's contribution could be read.
    pub attempts: Vec<StatedAttempt>,
    /// μ of the tries that there were, as planned: whoever of those tolerated was lost, against any coalition promised.
    pub planned_mu: f64,
    /// Its ε at the δ asked for.
    pub planned_epsilon: f64,
    /// μ of what happened, of the worst-placed peer against any coalition promised.
    pub mu: f64,
    /// Its ε at the δ asked for.
    pub epsilon: f64,
    /// Whether that is exact; else an upper bound.
    pub is_exact: bool,
}

/// One attempt at a release. Peers are numbered as in the noise graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedAttempt {
    /// The release, from 1.
    pub release: u32,
    /// How often a release had been tried again before.
    pub retry: u32,
    /// The view it was begun in.
    pub view: u64,
    /// Its members, ascending.
    pub members: Vec<u32>,
    /// Whose contribution could be read, ascending.
    pub read: Vec<u32>,
}

fn one() -> f64 {
    1.0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_one(factor: &f64) -> bool {
    *factor == 1.0
}

impl Receipt {
    /// The receipt of a finished run. That of a run without noise has no views: nobody was protected.
    #[must_use]
    pub fn of(experiment: &Experiment, outcome: &Outcome) -> Self {
        let records = outcome.records.iter();
        Self::of_releases(
            experiment,
            records.map(|record| (record.release, record.statistic, record.sensitivity)),
        )
    }

    /// The receipt of these releases, each with the statistic agreed on and the sensitivity that follows.
    pub(crate) fn of_releases(
        experiment: &Experiment,
        releases: impl Iterator<Item = (ReleaseId, f64, f64)>,
    ) -> Self {
        let config = experiment.config();
        let privacy = &config.privacy;
        let graph = experiment.noise_topology().graph();
        let assumed = Assumed::of(experiment);
        Self {
            schema: match config.dropouts {
                Some(_) => TOLERANT_SCHEMA,
                None => SCHEMA,
            },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: config.name.clone(),
            engine: config.engine.kind,
            config_hash: experiment.seedless_hash(),
            promise: experiment
                .is_private()
                .then(|| experiment.statement().sentence()),
            request: Request {
                epsilon: privacy.epsilon,
                delta: privacy.delta(),
                adjacency: privacy.adjacency,
                sensitivity: privacy.sensitivity(),
                degree_floor: config.data.degree_floor,
                degree_cap: config.data.degree_cap,
                algorithm: config.algorithm.kind,
                dimension: experiment.user_rows().dimension(),
                rank: config.algorithm.rank,
                block: config.algorithm.block,
                iterations: config.algorithm.iterations,
                eigenvalue_share: config.algorithm.eigenvalue_share,
                descent: config.algorithm.descent_keys(),
                completion: experiment.completion(),
                coherence: config.algorithm.coherence,
                clip: experiment.clip(),
                calibration: privacy.calibration,
                budget: privacy.budget.clone(),
                scheme: config.noise.scheme,
                distribution: config.noise.distribution,
                holders: config.noise.holders,
                colluders: privacy.colluders,
                dropouts: config.dropouts,
                overhead: privacy.overhead,
                on_disconnect: privacy.on_disconnect,
                ring: experiment.noise().ring().map(|_| RingRows {
                    rows: experiment.most_rows(),
                    bits: config.noise.bits,
                }),
                rating: experiment.sensitivity().rating(),
                vertices: is_of_vertices(config),
                rows: is_bipartite(config).then(|| experiment.loaded().interactions.users()),
                centring: experiment.centring().copied(),
                preconditioning: experiment.preconditioning().cloned(),
                pilot_share: config.pilot.map(|pilot| pilot.share),
                own_files: experiment.has_own_files(),
                participants_per_person: privacy.participants_per_person,
                start: Some(assumed.start),
                recommender: assumed.recommends,
                users: assumed.users,
            },
            noise_graph: NoiseGraph {
                nodes: graph.nodes(),
                hash: hash(graph),
                names: graph.names().map(<[String]>::to_vec),
                edges: graph.edge_list().collect(),
            },
            sigma_own: experiment.noise().sigma_own(),
            sigma_pairwise: experiment.noise().sigma_pairwise(),
            sigma_sum: experiment.noise().sigma_sum(),
            iterations: releases
                .map(|(release, statistic, sensitivity)| Scaled {
                    statistic,
                    sensitivity,
                    noise_factor: experiment.noise_factor(release),
                })
                .collect(),
            views: experiment.noise().views().to_vec(),
            groups: experiment.groups().to_vec(),
            ring: experiment.noise().ring().copied(),
            laplace: experiment.noise().laplace_noise().copied(),
            item_list: Some(StatedItems::of(experiment)),
            choice: None,
            pilot: None,
            realised: None,
            assumptions: assumed.sentences(),
        }
    }

    /// What one record is and against whom it is protected, from the request and the engine.
    #[must_use]
    pub fn promised(&self) -> Statement {
        Statement {
            adjacency: self.request.adjacency,
            seen: self.engine.seen(),
            colluders: self.request.colluders,
            lost: self.request.dropouts.map(|dropouts| dropouts.tolerate),
            distribution: self.request.distribution,
            participants: self.request.participants(),
        }
    }

    /// Reads a receipt.
    ///
    /// # Errors
    /// [`ReceiptError`] if the file is too large, no receipt, or of another schema.
    pub fn read(path: &Path) -> Result<Self, ReceiptError> {
        Self::parse(path, &Self::read_bytes(path)?)
    }

    /// The bytes of a receipt's file, for whoever verifies a signature over what is then parsed.
    ///
    /// # Errors
    /// [`ReceiptError`] if the file cannot be read or is too large.
    pub fn read_bytes(path: &Path) -> Result<Vec<u8>, ReceiptError> {
        let read = |source| ReceiptError::Read {
            path: path.to_path_buf(),
            source,
        };
        let found = std::fs::metadata(path).map_err(read)?.len();
        if found > MAX_BYTES {
            return Err(ReceiptError::TooLarge {
                path: path.to_path_buf(),
                found,
            });
        }
        std::fs::read(path).map_err(read)
    }

    /// The receipt that the bytes of `path` are.
    ///
    /// # Errors
    /// [`ReceiptError`] if they are no receipt, or one of another schema.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ReceiptError> {
        let receipt: Self =
            serde_json::from_slice(bytes).map_err(|source| ReceiptError::Parse {
                path: path.to_path_buf(),
                source,
            })?;
        // Schema 1 is that of sessions that the loss of a peer ends.
        let expected = match receipt.request.dropouts.is_some() || receipt.realised.is_some() {
            true => TOLERANT_SCHEMA,
            false => SCHEMA,
        };
        if receipt.schema == expected {
            Ok(receipt)
        } else {
            let found = receipt.schema;
            Err(ReceiptError::Schema { found, expected })
        }
    }
}

/// BLAKE3 of a graph's nodes and edges, in hexadecimal.
pub(super) fn hash(graph: &Graph) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 noise graph v1");
    hasher.update(&(graph.nodes() as u64).to_le_bytes());
    for (u, v) in graph.edge_list() {
        hasher.update(&u.to_le_bytes());
        hasher.update(&v.to_le_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
