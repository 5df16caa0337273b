//! What a receipt says, and how one is written from a run and read from a file.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ReceiptError;
use super::limits::{MAX_BYTES, SCHEMA};
use crate::algorithm::Start;
use crate::engine::{Outcome, Simulation};
use crate::plan::{BudgetShare, Plan, Promise};
use crate::scenario::{
    Assumed, Experiment, PlannedSession, Preconditioning, StatedItems, UserSource,
};
use crate::topology::Graph;
use crate::vocabulary::ReleaseId;

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// Version of the layout of receipts.
    pub schema: u32,
    /// Version of Undertone that ran.
    pub version: String,
    /// The experiment's name, or the algorithm's where there is no experiment file.
    pub name: String,
    /// What ran the session: the name of an engine.
    pub runner: String,
    /// Hash of the experiment's configuration without its seed, whose guess would give the noise away; absent where there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_hash: Option<String>,
    /// What was released: a [`Program`](crate::algorithm::Program) as JSON, with its releases in runs.
    pub program: Value,
    /// What is promised.
    pub promise: Promise,
    /// Who shares noise with whom.
    pub partners: Partners,
    /// What noise protects: a [`Guarantee`](crate::plan::Guarantee) as JSON. It is compared with one that is planned again, and never run.
    pub guarantee: Value,
    /// What each release was scaled by.
    pub releases: Vec<Scaled>,
    /// Who can hardly tell what: the promise in words; absent where nobody is protected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// Which session was chosen, where `algorithm.kind = "auto"` left the choice open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// The pilot by which it was chosen: it spent its part of the same promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pilot: Option<PilotReceipt>,
    /// What happened in a run whose peers tolerate losses, and what that cost: a diagnostic, of which nothing is promised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub realised: Option<RealisedReceipt>,
    /// The list of items; absent where items are the columns of rows in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_list: Option<StatedItems>,
    /// What P was made of, where the eigenvectors are those of P A P.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preconditioning: Option<Preconditioning>,
    /// What decides which assumptions are called for.
    pub assumed: AssumedFacts,
    /// What the promise takes to be public, in words: no ε covers it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
}

/// The noise graph, whole, with the one number of rows that noise may be planned for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partners {
    /// Number of nodes.
    pub nodes: usize,
    /// BLAKE3 of the nodes and edges, in hexadecimal.
    pub hash: String,
    /// What the nodes are called, in the order of their numbers; numbers from 0 where the graph has no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// Every edge once, (lower, upper), ascending, by number from 0.
    pub edges: Vec<(u32, u32)>,
    /// The most rows of one peer, where sums of integers were sized for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_rows: Option<usize>,
}

/// What one release was scaled by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scaled {
    /// The agreed statistic of X^{l−1}.
    pub statistic: f64,
    /// Δ_l.
    pub sensitivity: f64,
    /// f_l: the σ's of this release are those per unit sensitivity times f_l Δ_l.
    pub noise_factor: f64,
}

/// What decides which assumptions are called for, beside the promise, the item list, P and a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssumedFacts {
    /// Whether every peer read a file of its own, as participants of a session do; otherwise the rows of one data set were partitioned.
    pub own_files: bool,
    /// The source of the list of users; absent where rows have no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<UserSource>,
    /// The start of the iteration.
    pub start: Start,
    /// Whether recommendations were made of what was released, with item degrees.
    pub recommender: bool,
}

/// Which session was chosen, and by which rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The rule and its version.
    pub rule: String,
    /// What it chose, in words; the program says it in numbers.
    pub chosen: String,
}

/// The pilot that went before a run. Its promise is that of the run, but for the part of the budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PilotReceipt {
    /// The part of μ² that it spent.
    pub part: BudgetShare,
    /// What was released, as in a receipt.
    pub program: Value,
    /// What noise protects, as in a receipt: for a pilot that spends the whole budget.
    pub guarantee: Value,
    /// What its one release was scaled by.
    pub releases: Vec<Scaled>,
    /// The noisy counts of users at the public thresholds, as released.
    pub counts: Vec<f64>,
    /// The noisy shares of items in their users' rows, as released, in the order of the items.
    pub shares: Vec<f64>,
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

/// What a receipt says beside its plan and its releases.
#[derive(Clone, Debug)]
struct About {
    /// The experiment's name.
    name: String,
    /// The name of what ran.
    runner: String,
    /// Hash of the configuration without its seed.
    config_hash: Option<String>,
    /// The list of items, where items have names.
    item_list: Option<StatedItems>,
    /// What P was made of.
    preconditioning: Option<Preconditioning>,
    /// What decides which assumptions are called for.
    assumed: AssumedFacts,
    /// The assumptions.
    assumptions: Vec<String>,
}

impl About {
    /// That of an experiment.
    fn experiment(experiment: &Experiment) -> Self {
        let config = experiment.config();
        let assumed = Assumed::of(experiment);
        Self {
            name: config.name.clone(),
            runner: config.engine.kind.name().to_owned(),
            config_hash: Some(experiment.seedless_hash()),
            item_list: Some(StatedItems::of(experiment)),
            preconditioning: experiment.preconditioning().cloned(),
            assumed: AssumedFacts {
                own_files: false,
                users: assumed.users,
                start: assumed.start,
                recommender: assumed.recommends,
            },
            assumptions: assumed.sentences(),
        }
    }

    /// That of a session of participants, each of whom reads a file of its own.
    fn session(session: &PlannedSession) -> Self {
        let draft = session.draft();
        Self {
            name: draft.tables().name,
            runner: draft.runner().to_owned(),
            config_hash: Some(draft.hash()),
            item_list: Some(StatedItems::of_session(draft)),
            preconditioning: None,
            assumed: AssumedFacts {
                own_files: true,
                ..AssumedFacts::default()
            },
            assumptions: Assumed::of_session(draft).sentences(),
        }
    }

    /// That of rows in memory.
    fn simulation(simulation: &Simulation) -> Self {
        let facts = AssumedFacts::default();
        Self {
            name: simulation.program().name.to_string(),
            runner: simulation.runner().name().to_owned(),
            config_hash: None,
            item_list: None,
            preconditioning: None,
            assumed: facts,
            assumptions: Assumed::in_memory().sentences(),
        }
    }
}

impl Receipt {
    /// The receipt of a finished run. That of a run without noise has no views: nobody was protected.
    #[must_use]
    pub fn of(experiment: &Experiment, outcome: &Outcome) -> Self {
        let about = About::experiment(experiment);
        Self::of_plan(about, experiment.plan(), releases(outcome))
    }

    /// The receipt of a finished run over rows in memory, of whatever algorithm. One with a quantity of its own is checked by [`Self::check_with`].
    #[must_use]
    pub fn of_simulation(simulation: &Simulation, outcome: &Outcome) -> Self {
        let about = About::simulation(simulation);
        Self::of_plan(about, simulation.plan(), releases(outcome))
    }

    /// The receipt of these releases of a session of participants, each with the statistic agreed on and the sensitivity that follows.
    #[must_use]
    pub fn of_session(
        session: &PlannedSession,
        releases: impl Iterator<Item = (ReleaseId, f64, f64)>,
    ) -> Self {
        Self::of_plan(About::session(session), session.plan(), releases)
    }

    /// The receipt of these releases of a plan, each with the statistic agreed on and the sensitivity that follows.
    fn of_plan(
        about: About,
        plan: &Plan,
        releases: impl Iterator<Item = (ReleaseId, f64, f64)>,
    ) -> Self {
        let (promise, network) = (plan.promise(), plan.network());
        let graph = network.noise_topology.graph();
        let guarantee = plan.guarantee();
        let is_private = !promise.noise.is_none();
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: about.name,
            runner: about.runner,
            config_hash: about.config_hash,
            program: json(plan.program()),
            promise: promise.clone(),
            partners: Partners {
                nodes: graph.nodes(),
                hash: hash(graph),
                names: graph.names().map(<[String]>::to_vec),
                edges: graph.edge_list().collect(),
                most_rows: guarantee.noise().ring().map(|_| network.most_rows),
            },
            guarantee: json(guarantee),
            releases: releases
                .map(|(release, statistic, sensitivity)| Scaled {
                    statistic,
                    sensitivity,
                    noise_factor: plan.noise_factor(release),
                })
                .collect(),
            statement: is_private.then(|| promise.statement().sentence()),
            choice: None,
            pilot: None,
            realised: None,
            item_list: about.item_list,
            preconditioning: about.preconditioning,
            assumed: about.assumed,
            assumptions: about.assumptions,
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
        let parse = |source| ReceiptError::Parse {
            path: path.to_path_buf(),
            source,
        };
        let Versioned { schema } = serde_json::from_slice(bytes).map_err(parse)?;
        match schema {
            SCHEMA => serde_json::from_slice(bytes).map_err(parse),
            1 | 2 => Err(ReceiptError::Development { found: schema }),
            found => Err(ReceiptError::Schema { found }),
        }
    }
}

/// The schema of a document, whatever else it has.
#[derive(Deserialize)]
struct Versioned {
    schema: u32,
}

/// The releases of a run, each with the statistic agreed on and the sensitivity.
fn releases(outcome: &Outcome) -> impl Iterator<Item = (ReleaseId, f64, f64)> + '_ {
    let records = outcome.records.iter();
    records.map(|record| (record.release, record.statistic, record.sensitivity))
}

/// A value as JSON. Numbers that are infinite are null.
pub(super) fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("programs and guarantees have text for keys")
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
