//! From a receipt's request and graph to the program and the noise that follow, by the functions that planned the run.

use super::document::{Receipt, Request};
use super::error::{ReceiptError, range};
use super::limits::MOST_PEERS;
use crate::algorithm::{AlgorithmKind, NoiseScale, Prelude, Program};
use crate::config::{AlgorithmConfig, DataFacts, EngineKind};
use crate::plan::{BudgetShare, Division, Guarantee, LossTolerance, Noise, Promise, SchemeNumbers};
use crate::privacy::{Budget, Delta, Epsilon, PrivacyError, SensitivitySpec};
use crate::scenario::{Arranged, DataShape, MOST_RETRIES};
use crate::topology::{Graph, Provenance, Topology};
use crate::vocabulary::Distribution;

/// What follows from a request on a graph.
pub(super) struct Replanned {
    /// The noise graph, as built from its edges.
    pub(super) graph: Graph,
    pub(super) program: Program,
    pub(super) guarantee: Guarantee,
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
        let promise = request.promised_noise(self.engine)?;
        let (arranged, possible) = request.arranged()?;
        let divided = Division::takes_weights(arranged.program()) || request.budget.is_even();
        let arranged = match request.centring {
            Some(prelude) => {
                let name = arranged.program().name.clone();
                let centred = arranged.centred(prelude);
                let centred = centred.map_err(|_| ReceiptError::Follows { algorithm: name })?;
                check_prelude(&prelude)?;
                centred
            }
            None => arranged,
        };
        let retries = request.dropouts.map_or(0, |one| one.retries);
        if retries > MOST_RETRIES {
            let (found, most) = (retries, MOST_RETRIES);
            return Err(ReceiptError::Retries { found, most });
        }
        let promise = Promise {
            part: request.part()?,
            ..promise
        };
        let topology = Topology::from_graph(graph.clone(), Provenance::edges("receipt"));
        let program = arranged.program().clone();
        let rows = request.ring.map_or(0, |ring| ring.rows);
        let guarantee = Guarantee::of(&program, &promise, &topology, rows)?;
        // A curator adds no integers, whatever the scheme's name.
        if request.ring.is_some() != guarantee.noise().ring().is_some() {
            return Err(ReceiptError::Ring);
        }
        Ok(Replanned {
            graph,
            program,
            guarantee,
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

    /// What is promised, and with which noise.
    fn promised_noise(&self, engine: EngineKind) -> Result<Promise, PrivacyError> {
        let (epsilon, delta) = match self.distribution {
            Distribution::Gaussian => {
                let Budget { epsilon, delta } = Budget::new(self.epsilon, self.delta)?;
                (epsilon, Some(delta))
            }
            Distribution::Laplace => {
                let delta = match self.delta == 0.0 {
                    true => None,
                    false => Some(Delta::new(self.delta)?),
                };
                (Epsilon::new(self.epsilon)?, delta)
            }
        };
        let numbers = SchemeNumbers {
            overhead: self.overhead,
            on_disconnect: self.on_disconnect,
            holders: self.holders,
            bits: self.ring.and_then(|ring| ring.bits),
        };
        let noise = Noise::named(self.distribution, self.scheme, numbers);
        Ok(Promise {
            epsilon,
            delta,
            bounds: self.sensitivity_spec(),
            calibration: self.calibration,
            split: self.budget.clone(),
            part: None,
            noise,
            colluders: self.colluders,
            losses: self.dropouts.map(|one| LossTolerance {
                tolerate: one.tolerate,
                retries: one.retries,
            }),
            participants: self.participants(),
            seen: engine.seen(),
        })
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
    fn part(&self) -> Result<Option<BudgetShare>, ReceiptError> {
        let Some(share) = self.pilot_share else {
            return Ok(None);
        };
        let pilot = self.algorithm == AlgorithmKind::Pilot;
        let all = share == 0.0 && !pilot;
        let part = match pilot {
            true => BudgetShare::of_pilot(share),
            false => BudgetShare::after_pilot(share),
        };
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
fn check_prelude(prelude: &Prelude) -> Result<(), ReceiptError> {
    let positive = |x: f64| x.is_finite() && x > 0.0;
    let valid = positive(prelude.raw_clip)
        && positive(prelude.radius)
        && prelude.slots > 0
        && prelude.share > 0.0
        && prelude.share < 1.0;
    match valid {
        true => Ok(()),
        false => Err(ReceiptError::Centring),
    }
}
