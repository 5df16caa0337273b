//! From a receipt's request and graph to the program and the noise that follow, by the functions that planned the run.

use std::cell::OnceCell;

use super::document::{Receipt, Request, RingRows};
use super::error::{ReceiptError, range};
use super::limits::MOST_PEERS;
use crate::algorithm::{AlgorithmKind, Clip, ClipRule, NoiseScale};
use crate::config::{AlgorithmConfig, DataFacts, EngineKind};
use crate::privacy::accountant::Connectivity;
use crate::privacy::{GroupLoss, NoisePlan, SensitivitySpec};
use crate::scenario::{Arranged, Centring, DataShape, MOST_RETRIES, Mechanism, NoiseAsked, Part};
use crate::topology::{Graph, Provenance, Topology};

/// What follows from a request on a graph.
pub(super) struct Replanned {
    /// The noise graph, as built from its edges.
    pub(super) graph: Graph,
    /// What is proved of its connectivity, where the noise plan asked.
    pub(super) connectivity: Connectivity,
    pub(super) mechanism: Mechanism,
    pub(super) plan: NoisePlan,
    pub(super) groups: Vec<GroupLoss>,
    /// Whether the budget is divided in one way, by weights or by the releases' own shares.
    pub(super) divided: bool,
    /// Whether the algorithm can run so many iterations.
    pub(super) possible: bool,
}

impl Receipt {
    /// Plans the run again.
    pub(super) fn replan(&self) -> Result<Replanned, ReceiptError> {
        let request = &self.request;
        let (nodes, edges) = (self.noise_graph.nodes, self.noise_graph.edges.len());
        range("noise_graph.nodes", nodes, 1, MOST_PEERS)?;
        range(
            "the number of iterations",
            self.iterations.len(),
            1,
            100_000,
        )?;
        request.check_sizes()?;
        // The edges are here already; the number of nodes is only announced.
        if nodes > edges + 1 {
            return Err(ReceiptError::Nodes { nodes, edges });
        }
        let mut graph = Graph::from_edges(nodes, &self.noise_graph.edges)?;
        if let Some(names) = &self.noise_graph.names {
            graph = graph.with_names(names.clone())?;
        }
        let asked = request.noise(self.engine);
        asked.check_participants(nodes, request.searches().is_some())?;
        let budget = asked.budget()?;
        let (arranged, possible) = request.arranged()?;
        let divided = arranged.takes_weights() || request.budget.is_even();
        if let Some(centring) = &request.centring {
            check_centring(centring, request.algorithm)?;
        }
        let centring = request.centring.as_ref();
        let mechanism = arranged.mechanism(centring, &request.budget, request.distribution)?;
        let retries = request.dropouts.map_or(0, |one| one.retries);
        if retries > MOST_RETRIES {
            let (found, most) = (retries, MOST_RETRIES);
            return Err(ReceiptError::Retries { found, most });
        }
        let mechanism = mechanism.of_part(request.part()?).with_retries(retries);
        let proved = OnceCell::new();
        let (plan, groups) = match budget {
            Some(budget) => {
                let ring = match request.ring {
                    Some(RingRows { rows, .. }) => {
                        asked.ring(&mechanism, &request.sensitivity_spec(), (nodes, rows))?
                    }
                    None => None,
                };
                let calibrated =
                    asked.calibrated(budget, mechanism.charge, ring, request.searches())?;
                // The spectrum is costly, and only shared noise asks for it.
                let connectivity = || {
                    let topology =
                        Topology::from_graph(graph.clone(), Provenance::edges("receipt"));
                    let found = topology.spectrum().algebraic_connectivity.into();
                    *proved.get_or_init(|| found)
                };
                let noise = (budget, &calibrated);
                let plan = asked.gaussian((&graph, connectivity), noise, &mechanism, ring)?;
                let planned = asked.with_groups((budget, calibrated), plan, &mechanism, nodes)?;
                (planned.plan, planned.groups)
            }
            None => {
                asked.check_laplace()?;
                let planned = asked.laplace(&graph, &mechanism)?;
                (planned.plan, planned.groups)
            }
        };
        Ok(Replanned {
            graph,
            connectivity: proved.get().copied().unwrap_or(Connectivity::UNKNOWN),
            mechanism,
            plan,
            groups,
            divided,
            possible,
        })
    }
}

impl Request {
    fn check_sizes(&self) -> Result<(), ReceiptError> {
        range("request.dimension", self.dimension, 1, u32::MAX as usize)?;
        range("request.rank", self.rank, 1, self.dimension)?;
        if let Some(block) = self.block {
            range("request.block", block, self.rank, self.dimension)?;
        }
        match self.rows {
            Some(rows) if self.vertices => range("request.rows", rows, 1, self.dimension),
            _ => Ok(()),
        }
    }

    /// What is asked of noise.
    fn noise(&self, engine: EngineKind) -> NoiseAsked {
        NoiseAsked {
            epsilon: self.epsilon,
            delta: self.delta,
            adjacency: self.adjacency,
            calibration: self.calibration,
            scheme: self.scheme,
            distribution: self.distribution,
            holders: self.holders,
            bits: self.ring.and_then(|ring| ring.bits),
            colluders: self.withstood(),
            overhead: self.overhead,
            on_disconnect: self.on_disconnect,
            engine,
            participants: self.participants(),
        }
    }

    /// At how many participants one person's rows may be; `None` where one file was partitioned.
    pub(super) fn participants(&self) -> Option<usize> {
        let asked = self.participants_per_person.filter(|k| *k != 1);
        asked.or(self.own_files.then_some(1))
    }

    /// How many may collude or be lost.
    pub(super) fn withstood(&self) -> usize {
        let lost = self.dropouts.map_or(0, |one| one.tolerate);
        self.colluders.saturating_add(lost)
    }

    /// The part of the budget that is spent, where a pilot and what follows it share one.
    fn part(&self) -> Result<Option<Part>, ReceiptError> {
        let Some(share) = self.pilot_share else {
            return Ok(None);
        };
        let all = share == 0.0 && self.algorithm != AlgorithmKind::Pilot;
        let part = Part::of(self.algorithm, share);
        let summed = self.centring.is_none() && self.clip.is_none() && self.ring.is_none();
        match all || (part.is_some() && summed) {
            true => Ok(part),
            false => Err(ReceiptError::PilotShare { found: share }),
        }
    }

    /// What one record is and how its effect is bounded.
    pub(super) fn sensitivity_spec(&self) -> SensitivitySpec {
        let (floor, cap) = (self.degree_floor, self.degree_cap);
        SensitivitySpec::new(self.adjacency, self.sensitivity, floor, cap).with_rating(self.rating)
    }

    /// The share of a curator's searches for thresholds.
    fn searches(&self) -> Option<f64> {
        let searched = |clip: &Clip| clip.rule == ClipRule::SparseVector;
        self.clip.filter(searched).map(|clip| clip.share)
    }

    /// The algorithm on its data, and whether it can run so many iterations.
    fn arranged(&self) -> Result<(Arranged, bool), ReceiptError> {
        let once = matches!(
            self.algorithm,
            AlgorithmKind::Covariance
                | AlgorithmKind::IsometricCovariance
                | AlgorithmKind::RakedCovariance
                | AlgorithmKind::SvdCompletion
                | AlgorithmKind::Pilot
        );
        let possible = !once || self.iterations == 1;
        let iterations = if possible { self.iterations } else { 1 };
        // What is left out decides no release: β, whose rows count when, what is made of the releases, how far a user moves, and P,
        // whose releases are those of the algorithm without.
        let algorithm = AlgorithmConfig {
            block: self.block,
            eigenvalue_share: self.eigenvalue_share,
            scale: self.coherence.map(|_| NoiseScale::Fixed),
            coherence: self.coherence,
            nuclear: self.descent.nuclear,
            local: self.descent.local,
            global: self.descent.global,
            inner: self.descent.inner,
            mode: self.descent.mode,
            ..AlgorithmConfig::plain(self.algorithm, self.rank, iterations)
        };
        let algorithm = algorithm.algorithm(&DataFacts {
            items: self.dimension,
            floor: self.degree_floor,
            completion: self.completion,
            clip: self.clip,
        })?;
        let shape = match (self.vertices, self.rows) {
            // Ranges of entries decide no release.
            (true, Some(rows)) => DataShape::Bipartite {
                rows,
                in_unit_range: false,
            },
            (true, None) => DataShape::Graph,
            (false, _) => DataShape::Rows,
        };
        let arranged = Arranged::new(algorithm).on(shape)?;
        if let Some(stated) = &self.preconditioning {
            if !stated.is_possible() || self.centring.is_some() {
                return Err(ReceiptError::Preconditioning);
            }
            arranged.check_precondition()?;
        }
        Ok((arranged, possible))
    }
}

/// Whether these are numbers of a private mean.
fn check_centring(centring: &Centring, algorithm: AlgorithmKind) -> Result<(), ReceiptError> {
    if !Centring::precedes(algorithm) {
        let algorithm = algorithm.name();
        return Err(ReceiptError::Follows { algorithm });
    }
    let positive = |x: f64| x.is_finite() && x > 0.0;
    let valid = positive(centring.raw_clip)
        && positive(centring.radius)
        && centring.slots > 0
        && centring.share > 0.0
        && centring.share < 1.0;
    match valid {
        true => Ok(()),
        false => Err(ReceiptError::Centring),
    }
}
