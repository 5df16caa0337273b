//! The privacy receipt of a run: everything needed to recompute what it promised, and the promise.
//!
//! A receipt holds public parameters only: the noise graph, the σ's, the agreed statistics, the views.
//! Checking it plans the noise again from its parameters and graph, compares the σ's, sensitivities and views, and holds
//! the view promised against the (ε, δ) asked for.
//! That proves the arithmetic, not that the run happened: a receipt is not signed. [`Receipt::standings`] says of every
//! field whether a check vouches for it, and [`ON_TRUST`] lists what it asks to be believed.

mod standing;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use standing::{FieldStanding, ON_TRUST, Standing, Trusted};

use crate::algorithm::{AlgorithmKind, Sizes};
use crate::config::EngineKind;
use crate::engine::Outcome;
use crate::privacy::{
    Adjacency, Budget, BudgetSplit, Calibrated, Calibration, Connectivity, GroupLoss, NoisePlan,
    NoiseRequest, OnDisconnect, PrivacyError, Promise, Scheme, Sensitivity, SensitivityRule,
    Statistic, View, calibrate, even_iterations,
};
use crate::scenario::{Experiment, StatedItems, assumptions_of};
use crate::topology::{Graph, GraphError, Provenance, Topology};

/// Version of the document's layout.
pub const SCHEMA: u32 = 1;

/// The largest receipt read, in bytes.
pub const MAX_BYTES: u64 = 256 << 20;

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// [`SCHEMA`].
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
    /// What changes at several peers at once cost at most, where one record is a change of one peer's matrix.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupLoss>,
    /// The list of items; absent in receipts that were written before lists were stated, which a check refuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_list: Option<StatedItems>,
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
    /// How (ε, δ) became a noise multiplier.
    pub calibration: Calibration,
    /// How the iterations shared the budget.
    #[serde(default, skip_serializing_if = "BudgetSplit::is_even")]
    pub budget: BudgetSplit,
    /// How the sum is protected.
    pub scheme: Scheme,
    /// Coalition to withstand.
    pub colluders: usize,
    /// β.
    pub overhead: f64,
    /// What was done where a coalition can split the noise graph.
    pub on_disconnect: OnDisconnect,
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

/// One line of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What was compared.
    pub what: String,
    /// What the receipt says.
    pub stated: f64,
    /// What the check computes.
    pub computed: f64,
    /// Whether they agree.
    pub agrees: bool,
}

/// Why a receipt cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptError {
    /// The file cannot be read.
    #[error("cannot read the receipt {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is larger than any receipt.
    #[error("{path} has {found} bytes, a receipt has at most {MAX_BYTES}", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        found: u64,
    },
    /// The file is no receipt.
    #[error("{path} is no receipt of schema {SCHEMA}: {source}", path = path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, column and field.
        source: serde_json::Error,
    },
    /// A receipt of another schema.
    #[error("the receipt has schema {found}, this build checks schema {SCHEMA}")]
    Schema {
        /// Schema found.
        found: u32,
    },
    /// More nodes than a connected graph with that many edges can have.
    #[error("noise_graph: {nodes} nodes cannot be connected by {edges} edges")]
    Nodes {
        /// Nodes announced.
        nodes: usize,
        /// Edges present.
        edges: usize,
    },
    /// The graph is no graph.
    #[error("noise_graph: {0}")]
    Graph(#[from] GraphError),
    /// More than a check takes on.
    #[error("{what} is {found}; a check takes on {low} to {high}")]
    Range {
        /// What was counted.
        what: &'static str,
        /// How much of it the receipt has.
        found: usize,
        /// The least that makes sense.
        low: usize,
        /// The most that is checked.
        high: usize,
    },
    /// The parameters are refused.
    #[error("request: {0}")]
    Privacy(#[from] PrivacyError),
}

impl Receipt {
    /// The receipt of a finished run. That of a run without noise has no views: nobody was protected.
    #[must_use]
    pub fn of(experiment: &Experiment, outcome: &Outcome) -> Self {
        let config = experiment.config();
        let privacy = &config.privacy;
        let graph = experiment.noise_topology().graph();
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: config.name.clone(),
            engine: config.engine.kind,
            config_hash: experiment.seedless_hash(),
            promise: experiment
                .is_private()
                .then(|| experiment.promise().sentence()),
            request: Request {
                epsilon: privacy.epsilon,
                delta: privacy.delta,
                adjacency: privacy.adjacency,
                sensitivity: privacy.sensitivity,
                degree_floor: config.data.degree_floor,
                degree_cap: config.data.degree_cap,
                algorithm: config.algorithm.kind,
                dimension: experiment.user_rows().dimension(),
                rank: config.algorithm.rank,
                block: config.algorithm.block,
                iterations: config.algorithm.iterations,
                calibration: privacy.calibration,
                budget: privacy.budget.clone(),
                scheme: config.noise.scheme,
                colluders: privacy.colluders,
                overhead: privacy.overhead,
                on_disconnect: privacy.on_disconnect,
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
            iterations: outcome
                .records
                .iter()
                .map(|record| Scaled {
                    statistic: record.statistic,
                    sensitivity: record.sensitivity,
                    noise_factor: experiment.noise_factor(record.iteration.0),
                })
                .collect(),
            views: experiment.noise().views().to_vec(),
            groups: experiment.groups().to_vec(),
            item_list: Some(StatedItems::of(experiment)),
            assumptions: assumptions_of(experiment),
        }
    }

    /// What one record is and against whom it is protected, from the request and the engine.
    #[must_use]
    pub fn promised(&self) -> Promise {
        Promise {
            adjacency: self.request.adjacency,
            seen: self.engine.seen(),
            colluders: self.request.colluders,
        }
    }

    /// Reads a receipt.
    ///
    /// # Errors
    /// [`ReceiptError`] if the file is too large, no receipt, or of another schema.
    pub fn read(path: &Path) -> Result<Self, ReceiptError> {
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
        let bytes = std::fs::read(path).map_err(read)?;
        let receipt: Self =
            serde_json::from_slice(&bytes).map_err(|source| ReceiptError::Parse {
                path: path.to_path_buf(),
                source,
            })?;
        if receipt.schema == SCHEMA {
            Ok(receipt)
        } else {
            Err(ReceiptError::Schema {
                found: receipt.schema,
            })
        }
    }

    /// Plans the noise again from the request and the graph, and compares the σ's, the sensitivities and the views
    /// to one part in a million; then holds the view that covers the coalition asked for against the ε asked for.
    ///
    /// Every number must be the one that follows, neither less nor more: a receipt that states more noise than was planned
    /// is not that of this plan either. A statistic must be one that n × p blocks with orthonormal columns can have. A
    /// receipt without noise does not hold, since nobody was protected, and neither does one whose calibration spends more
    /// than was asked for, however well its numbers agree.
    ///
    /// # Errors
    /// [`ReceiptError`] if the request or the graph is refused, or is larger than a check takes on.
    pub fn check(&self) -> Result<Vec<Finding>, ReceiptError> {
        let request = &self.request;
        let range = |what, found, low, high| {
            if (low..=high).contains(&found) {
                Ok(())
            } else {
                Err(ReceiptError::Range {
                    what,
                    found,
                    low,
                    high,
                })
            }
        };
        range("noise_graph.nodes", self.noise_graph.nodes, 1, MOST_PEERS)?;
        range(
            "the number of iterations",
            self.iterations.len(),
            1,
            100_000,
        )?;
        range("request.dimension", request.dimension, 1, u32::MAX as usize)?;
        range("request.rank", request.rank, 1, request.dimension)?;
        if let Some(block) = request.block {
            range("request.block", block, request.rank, request.dimension)?;
        }
        let (nodes, edges) = (self.noise_graph.nodes, self.noise_graph.edges.len());
        // The edges are here already; the number of nodes is only announced.
        if nodes > edges + 1 {
            return Err(ReceiptError::Nodes { nodes, edges });
        }
        let mut graph = Graph::from_edges(nodes, &self.noise_graph.edges)?;
        if let Some(names) = &self.noise_graph.names {
            graph = graph.with_names(names.clone())?;
        }
        let budget = Budget::new(request.epsilon, request.delta)?;
        let calibrated = calibrate(request.calibration, budget, request.iterations)?;
        let factors = request.budget.noise_factors(request.iterations)?;
        let algorithm = request.algorithm.build(Sizes {
            dimension: request.dimension,
            rank: request.rank,
            block: request.block.unwrap_or(request.rank),
            // β is no part of what is released.
            momentum: 0.0,
        });
        let sensitivity = Sensitivity::of_release(
            algorithm.release(),
            request.adjacency,
            request.sensitivity,
            request.degree_floor,
            request.degree_cap,
            algorithm.query_columns(),
        )?;
        let hash_agrees = hash(&graph) == self.noise_graph.hash;
        let listed = self.noise_graph.edges.iter().copied();
        let in_order = graph.edge_list().eq(listed);
        let plan = self.plan(graph, &calibrated, budget)?;
        let mut findings = vec![
            flag("noise is added at all", request.scheme != Scheme::None),
            flag("hash of the noise graph", hash_agrees),
            flag("edges listed once, lower end first, ascending", in_order),
            flag(
                "a number of iterations the algorithm can run",
                algorithm
                    .iterations()
                    .is_none_or(|needed| needed == request.iterations),
            ),
            flag(
                "iterations listed as requested",
                self.iterations.len() == request.iterations as usize,
            ),
            equal("own noise", self.sigma_own, plan.sigma_own()),
            equal("pairwise noise", self.sigma_pairwise, plan.sigma_pairwise()),
            equal("noise in the sum", self.sigma_sum, plan.sigma_sum()),
        ];
        for (number, scaled) in (1_usize..).zip(&self.iterations) {
            let (least, most) = possible_statistics(
                sensitivity.statistic(),
                request.dimension,
                sensitivity.columns(),
            );
            let possible =
                (least * (1.0 - TOLERANCE)..=most * (1.0 + TOLERANCE)).contains(&scaled.statistic);
            let bound = sensitivity.bound(scaled.statistic);
            findings.push(flag(
                &format!("statistic of iteration {number} is possible"),
                possible,
            ));
            findings.push(equal(
                &format!("sensitivity of iteration {number}"),
                scaled.sensitivity,
                bound,
            ));
            findings.push(equal(
                &format!("noise factor of iteration {number}"),
                scaled.noise_factor,
                factors.get(number - 1).copied().unwrap_or(1.0),
            ));
        }
        findings.extend(self.compare_views(plan.views()));
        findings.push(self.promise_kept(plan.views()));
        let stated = (request.scheme != Scheme::None).then(|| self.promised().sentence());
        findings.push(flag(
            "what one record is, and against whom",
            self.promise == stated,
        ));
        let groups = plan.groups(
            request.adjacency,
            self.engine.seen(),
            (nodes, request.colluders),
            even_iterations(&factors, request.iterations),
            budget.delta,
        )?;
        findings.extend(self.compare_groups(&groups));
        let list = self.item_list.as_ref();
        let stated = |words: &String| self.assumptions.contains(words);
        findings.extend([
            flag(
                "as many items listed as the dimension says",
                list.is_some_and(|list| list.items == request.dimension),
            ),
            flag(
                "what is assumed public is stated",
                list.is_some_and(|list| list.assumptions().iter().all(stated)),
            ),
        ]);
        Ok(findings)
    }

    /// Groups must be stated as computed.
    fn compare_groups(&self, computed: &[GroupLoss]) -> Vec<Finding> {
        let sizes = |groups: &[GroupLoss]| groups.iter().map(|g| g.peers).collect::<Vec<_>>();
        let mut findings = vec![flag(
            "sizes of groups of changed peers",
            sizes(&self.groups) == sizes(computed),
        )];
        for (stated, group) in self.groups.iter().zip(computed) {
            let peers = group.peers;
            let mu = format!("mu of a group of {peers} changed peers");
            findings.push(equal(&mu, stated.mu, group.mu));
            let epsilon = format!("epsilon of a group of {peers} changed peers");
            findings.push(equal(&epsilon, stated.epsilon, group.epsilon));
        }
        findings
    }

    /// Whether the view promised stays within the ε asked for.
    ///
    /// That is the first view of at least as many colluders as asked for: what a larger coalition learns bounds what a
    /// smaller one does. Under a curator, whom everybody trusts, it is the only view there is. The ε is the one computed
    /// here, not the one stated. No such view promises nothing, which is within no ε.
    fn promise_kept(&self, computed: &[View]) -> Finding {
        let covers = |view: &&View| {
            self.engine == EngineKind::Central || view.colluders >= self.request.colluders
        };
        let (who, spent) = match computed.iter().find(covers) {
            Some(view) => (view.view.as_str(), view.epsilon),
            None => ("anybody", f64::INFINITY),
        };
        Finding {
            what: format!(
                "epsilon asked for covers what {who} learns ({} calibration)",
                self.request.calibration
            ),
            stated: self.request.epsilon,
            computed: spent,
            agrees: spent <= self.request.epsilon * (1.0 + TOLERANCE),
        }
    }

    fn plan(
        &self,
        graph: Graph,
        calibrated: &Calibrated,
        budget: Budget,
    ) -> Result<NoisePlan, ReceiptError> {
        let request = &self.request;
        if self.engine == EngineKind::Central && request.scheme != Scheme::None {
            return Ok(NoisePlan::curator(calibrated));
        }
        let trusted_sum = self.engine == EngineKind::Federated;
        // The spectrum is costly, and only shared noise asks for it.
        let (graph, connectivity) = if request.scheme == Scheme::Pairwise && !trusted_sum {
            let topology = Topology::from_graph(graph, Provenance::edges("receipt"));
            let lambda2 = topology.spectrum().algebraic_connectivity;
            let connectivity = Connectivity::from(lambda2);
            (topology.graph().clone(), connectivity)
        } else {
            (graph, Connectivity::UNKNOWN)
        };
        Ok(NoisePlan::new(&NoiseRequest {
            graph: &graph,
            connectivity,
            noise_multiplier: calibrated.z(),
            iterations: request.iterations,
            delta: budget.delta,
            colluders: request.colluders,
            overhead: request.overhead,
            scheme: request.scheme,
            trusted_sum,
            on_disconnect: request.on_disconnect,
        })?)
    }

    fn compare_views(&self, computed: &[View]) -> Vec<Finding> {
        let same_views = self.views.len() == computed.len()
            && self.views.iter().zip(computed).all(|(a, b)| {
                (&a.view, a.colluders, a.certificate) == (&b.view, b.colluders, b.certificate)
            });
        let mut findings = vec![Finding {
            what: "number of views, with adversary and certificate of each".to_owned(),
            stated: self.views.len() as f64,
            computed: computed.len() as f64,
            agrees: same_views,
        }];
        for (stated, view) in self.views.iter().zip(computed) {
            findings.push(equal(
                &format!("mu against {}", view.view),
                stated.mu,
                view.mu,
            ));
            findings.push(equal(
                &format!("epsilon against {}", view.view),
                stated.epsilon,
                view.epsilon,
            ));
            let gap = format!("gap to central against {}", view.view);
            findings.push(equal(&gap, stated.gap_to_central, view.gap_to_central));
            let parts = (stated.gap_colluders, stated.gap_finite);
            let agree = equal("", parts.0, view.gap_colluders).agrees
                && equal("", parts.1, view.gap_finite).agrees;
            findings.push(flag(
                &format!("parts of the gap against {}", view.view),
                agree,
            ));
        }
        findings
    }
}

const TOLERANCE: f64 = 1e-6;

/// The largest noise graph that is checked.
const MOST_PEERS: usize = 100_000;

/// The least and the most an n × p block with orthonormal columns can have: the squared row norms average p/n, the
/// squared entries 1/n, and neither exceeds 1. Where nothing is agreed on, 0 is written.
fn possible_statistics(statistic: Statistic, dimension: usize, rank: usize) -> (f64, f64) {
    match statistic {
        Statistic::None => (0.0, 0.0),
        Statistic::MaxRowNorm => ((rank as f64 / dimension as f64).sqrt(), 1.0),
        Statistic::MaxEntry => ((1.0 / dimension as f64).sqrt(), 1.0),
    }
}

/// Something that holds (1) or does not (0).
fn flag(what: &str, agrees: bool) -> Finding {
    Finding {
        what: what.to_owned(),
        stated: 1.0,
        computed: f64::from(u8::from(agrees)),
        agrees,
    }
}

fn equal(what: &str, stated: f64, computed: f64) -> Finding {
    let agrees = (stated - computed).abs() <= TOLERANCE * computed.abs();
    Finding {
        what: what.to_owned(),
        stated,
        computed,
        agrees,
    }
}

fn hash(graph: &Graph) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 noise graph v1");
    hasher.update(&(graph.nodes() as u64).to_le_bytes());
    for (u, v) in graph.edge_list() {
        hasher.update(&u.to_le_bytes());
        hasher.update(&v.to_le_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
