//! A session from rows in memory, with defaults for all that is not said.

use std::sync::Arc;

use super::ring;
use super::session::of_plan;
use super::shared::Shared;
use super::specs::{AveragingSpec, NoiseSpec, PrivacySpec};
use crate::algorithm::{
    Algorithm, AlgorithmError, AlgorithmSpec, Form, NotOnGraph, OnGraph, ReleaseSpec, charged,
};
use crate::data::{DataError, Dataset, Partition, RowBounds};
use crate::engine::{PeerRows, Session, SessionError, SessionParts, mixing_bounds};
use crate::linalg::{NotFullRank, SparseRows, start_block};
use crate::privacy::{Adjacency, NoisePlan, PrivacyError, Rule, SensitivityRule, SensitivitySpec};
use crate::protocol::averaging::AveragingError;
use crate::protocol::{PlanError, SessionParameters, SessionPlan, Values};
use crate::topology::generators::{Complete, RandomRegular};
use crate::topology::{GeneratorConfig, Topology, TopologyError};
use crate::vocabulary::Seed;

/// Neighbours of every peer where no graph is given.
const DEGREE: usize = 10;

/// A simulation in the making.
///
/// ```
/// use undertone::algorithm::AlgorithmSpec;
/// use undertone::data::Dataset;
/// use undertone::engine::{Silent, lockstep};
/// use undertone::linalg::SparseRows;
/// use undertone::privacy::Adjacency;
/// use undertone::scenario::{PrivacySpec, Simulation};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut rows = SparseRows::new(3);
/// for i in 0..200_u32 {
///     let x = f64::from(i);
///     rows.push_row([(0, x.sin()), (1, 2.0 * x.cos()), (2, 0.1)])?;
/// }
/// let dataset = Dataset::Samples { rows, radius: 2.5 };
/// let privacy = PrivacySpec::new(1.0, 1e-5, Adjacency::User)?;
/// let simulation = Simulation::new(dataset, AlgorithmSpec::Covariance { rank: 1 }, privacy)
///     .peers(20)
///     .build(7)?;
/// let outcome = lockstep::run(simulation.session(), &mut Silent)?;
/// assert_eq!(outcome.basis().columns(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Simulation {
    dataset: Dataset,
    algorithm: AlgorithmSpec,
    privacy: PrivacySpec,
    noise: NoiseSpec,
    averaging: AveragingSpec,
    peers: Option<usize>,
    partition: Partition,
    topology: Option<Arc<Topology>>,
    noise_topology: Option<Arc<Topology>>,
    /// Given by hand for quantities of an algorithm of your own.
    sensitivity: SensitivitySpec,
}

/// A simulation that is ready to run on any engine.
#[derive(Clone, Debug)]
pub struct Simulated {
    session: Session,
    noise: Option<NoisePlan>,
}

/// Why a simulation cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// Rows that are none, or cannot be dealt.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Numbers that make no algorithm.
    #[error(transparent)]
    Algorithm(#[from] AlgorithmError),
    /// A budget or noise that cannot be had.
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
    /// A graph that cannot be made.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A scheme that has no schedule on this graph.
    #[error(transparent)]
    Averaging(#[from] AveragingError),
    /// A starting block that cannot be drawn.
    #[error(transparent)]
    Start(#[from] NotFullRank),
    /// A plan that cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Parts that make no session.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// An algorithm that does not run on a graph.
    #[error(transparent)]
    OnGraph(#[from] NotOnGraph),
    /// A graph that others than its vertices would hold.
    #[error(
        "a graph has one peer for every vertex: {vertices} and not {peers}; give a topology of as many nodes"
    )]
    Vertices {
        /// Vertices of the graph.
        vertices: usize,
        /// Peers asked for.
        peers: usize,
    },
    /// Noise that does not keep the promise: the one asked for is not to be had on this graph with this scheme.
    #[error(
        "this noise gives epsilon = {found} where {asked} was asked for: use NoiseSpec::Pairwise or NoiseSpec::Local, or a graph that stays \
         connected without its colluders"
    )]
    Promise {
        /// What the noise gives, infinite for nothing.
        found: f64,
        /// ε asked for.
        asked: f64,
    },
    /// A program whose releases cannot be counted in whole numbers.
    #[error("one record is charged for {found} releases; noise is planned for at most {most}")]
    Charge {
        /// Releases that one record meets.
        found: f64,
        /// The most there may be.
        most: u32,
    },
}

impl Simulation {
    /// This algorithm over these rows under this promise: one peer per row, a random graph of degree 10, Chebyshev gossip and
    /// pairwise noise, unless said otherwise.
    #[must_use]
    pub fn new(dataset: Dataset, algorithm: AlgorithmSpec, privacy: PrivacySpec) -> Self {
        let (rule, floor) = match dataset.bounds() {
            RowBounds::EqualEntries { degree_floor } => (SensitivityRule::Exact, degree_floor),
            RowBounds::UnitNorm => (SensitivityRule::UnitRow, 1),
            RowBounds::Edges => (SensitivityRule::Exact, 1),
        };
        let adjacency = match privacy {
            PrivacySpec::Budgeted { adjacency, .. } => adjacency,
            PrivacySpec::None if dataset.bounds() == RowBounds::Edges => Adjacency::Edge,
            PrivacySpec::None => Adjacency::User,
        };
        Self {
            sensitivity: SensitivitySpec::new(adjacency, rule, floor, None),
            dataset,
            algorithm,
            privacy,
            noise: NoiseSpec::default(),
            averaging: AveragingSpec::default(),
            peers: None,
            partition: Partition::RoundRobin,
            topology: None,
            noise_topology: None,
        }
    }

    /// So many peers, each with an equal share of the rows.
    #[must_use]
    pub fn peers(mut self, peers: usize) -> Self {
        self.peers = Some(peers);
        self
    }

    /// How rows are dealt to peers.
    #[must_use]
    pub fn partition(mut self, partition: Partition) -> Self {
        self.partition = partition;
        self
    }

    /// On this graph, one node per peer; noise is shared on it too, unless [`Self::noise_topology`] says otherwise.
    #[must_use]
    pub fn topology(mut self, topology: impl Into<Arc<Topology>>) -> Self {
        let topology = topology.into();
        self.peers = Some(topology.graph().nodes());
        self.topology = Some(topology);
        self
    }

    /// Noise is shared on this graph.
    #[must_use]
    pub fn noise_topology(mut self, topology: impl Into<Arc<Topology>>) -> Self {
        self.noise_topology = Some(topology.into());
        self
    }

    /// Inputs are averaged like this.
    #[must_use]
    pub fn averaging(mut self, averaging: impl Into<AveragingSpec>) -> Self {
        self.averaging = averaging.into();
        self
    }

    /// Noise comes from here.
    #[must_use]
    pub fn noise(mut self, noise: NoiseSpec) -> Self {
        self.noise = noise;
        self
    }

    /// A bound of your own for a quantity that only your algorithm releases.
    #[must_use]
    pub fn bound<R: Rule>(mut self) -> Self {
        self.sensitivity = self.sensitivity.with_rule::<R>();
        self
    }

    /// Deals the rows, builds the graph, plans the noise and checks that all of it fits together. Whoever knows the seed can
    /// compute all noise: publish at most one run of a seed, and of one that nobody can guess.
    ///
    /// # Errors
    /// [`SimulationError`] with what does not fit and what to change.
    pub fn build(&self, seed: u64) -> Result<Simulated, SimulationError> {
        let number = seed;
        let seed = Seed::from_u64(number);
        let peers = self.peers.unwrap_or(self.dataset.len());
        let items = self.dataset.items();
        let algorithm = self.algorithm.build(items)?;
        let on_graph = matches!(self.dataset, Dataset::Graph { .. });
        let (spec, algorithm, rows) = match on_graph {
            true if peers != items => {
                let vertices = items;
                return Err(SimulationError::Vertices { vertices, peers });
            }
            true => {
                let algorithm: Arc<dyn Algorithm> = Arc::new(OnGraph::new(algorithm)?);
                let rows = OnGraph::held(&self.dataset.rows()?);
                (AlgorithmSpec::Own(Arc::clone(&algorithm)), algorithm, rows)
            }
            false => {
                let rows = self.dataset.dealt(peers, self.partition, &seed)?;
                (self.algorithm.clone(), algorithm, rows)
            }
        };
        // Nothing is known of rows that an algorithm makes itself but their length.
        let sensitivity = match algorithm.proved().as_held {
            true => self.sensitivity.clone(),
            false => self.sensitivity.clone().of_unit_rows(),
        };
        let releases = algorithm.releases();
        let own = |one: &ReleaseSpec| one.form == Form::OwnCoordinates;
        // Where nothing is summed, every peer adds all of the noise.
        let source = match releases.iter().all(own) {
            true => NoiseSpec::Local,
            false => self.noise,
        };
        let topology = match &self.topology {
            Some(topology) => Arc::clone(topology),
            None => Arc::new(generated(peers, number)?),
        };
        let noise_topology = self.noise_topology.as_ref().unwrap_or(&topology);
        let charge = charged(&releases, |_| 1.0);
        if charge.fract() != 0.0 || charge > f64::from(u32::MAX) {
            return Err(SimulationError::Charge {
                found: charge,
                most: u32::MAX,
            });
        }
        let mut noise = source.plan(&self.privacy, charge as u32, noise_topology, || {
            let range = ring::Range {
                dimension: items,
                peers,
                rows: rows.iter().map(SparseRows::len).max().unwrap_or(0),
            };
            ring::request(&releases, &sensitivity, range, &[], None)
        })?;
        if let (
            true,
            Some((calibrated, plan)),
            PrivacySpec::Budgeted {
                budget, colluders, ..
            },
        ) = (releases.iter().any(own), &mut noise, &self.privacy)
        {
            let asked = (charge as u32, *colluders);
            *plan = plan
                .clone()
                .with_coordinates(calibrated, asked, budget.delta);
        }
        if let (Some((_, plan)), PrivacySpec::Budgeted { budget, .. }) = (&noise, &self.privacy) {
            let (found, asked) = (
                plan.epsilon().unwrap_or(f64::INFINITY),
                budget.epsilon.get(),
            );
            if found > asked * (1.0 + 1e-9) {
                return Err(SimulationError::Promise { found, asked });
            }
        }
        let (sigma_own, sigma_pairwise, z) = match &noise {
            Some((calibrated, plan)) => (plan.sigma_own(), plan.sigma_pairwise(), calibrated.z()),
            None => (0.0, 0.0, 0.0),
        };
        let schedule = self
            .averaging
            .compile(&topology, mixing_bounds(&topology))?;
        let shared = Shared::of(&topology, noise_topology);
        let start = start_block(&seed, items, algorithm.query_columns())?;
        let plan = SessionPlan::new(SessionParameters {
            peers: peers as u32,
            dimension: items,
            algorithm: spec,
            sensitivity,
            sigma_own,
            sigma_pairwise,
            sigma_coordinate: match releases.iter().any(own) {
                true => z,
                false => 0.0,
            },
            ring: noise
                .as_ref()
                .and_then(|(_, plan)| plan.ring().map(of_plan)),
            laplace: None,
            noise_factors: Vec::new(),
            scale_rounds: shared.scale_rounds,
            averaging_rounds: schedule.rounds(),
            values: Values::F64,
            schedule: schedule.digest(),
            topology: shared.topology,
            start: start.digest(),
        })?;
        let session = Session::new(SessionParts {
            plan: Arc::new(plan),
            noise_topology: Arc::clone(noise_topology),
            topology,
            schedule: Arc::new(schedule),
            rows: Arc::new(PeerRows::new(rows)),
            start: Arc::new(start),
            seed,
            sigma_central: z,
            setting: blake3::derive_key("undertone 2026-11 rows in memory v1", &[]),
        })?;
        Ok(Simulated {
            session,
            noise: noise.map(|(_, plan)| plan),
        })
    }
}

/// A random regular graph, or a complete one where there are few peers.
fn generated(peers: usize, seed: u64) -> Result<Topology, TopologyError> {
    let config = if peers > DEGREE + 1 {
        GeneratorConfig::RandomRegular(RandomRegular {
            n: None,
            degree: DEGREE,
            seed,
        })
    } else {
        GeneratorConfig::Complete(Complete { n: None })
    };
    Topology::generate(&config, peers)
}

impl Simulated {
    /// The session, for any engine.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The noise of every peer and what each kind of adversary learns; `None` without noise.
    #[must_use]
    pub fn noise(&self) -> Option<&NoisePlan> {
        self.noise.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::central::{self, SumNoise};
    use crate::engine::event::{self, Latency};
    use crate::engine::{Silent, lockstep};
    use crate::linalg::{subspace_distance, top_eigenvectors};
    use crate::protocol::averaging::AveragingKind;

    fn samples() -> Dataset {
        let mut rows = SparseRows::new(4);
        for i in 0..300 {
            let x = f64::from(i);
            let row = [
                2.0 * x.sin(),
                0.5 * (1.7 * x).cos(),
                0.1,
                0.3 * (0.3 * x).sin(),
            ];
            rows.push_row((0..).zip(row)).expect("ascending");
        }
        Dataset::Samples { rows, radius: 2.2 }
    }

    fn simulation(privacy: PrivacySpec) -> Simulation {
        Simulation::new(samples(), AlgorithmSpec::Covariance { rank: 2 }, privacy).peers(30)
    }

    #[test]
    fn rows_in_memory_run_on_every_engine_and_without_noise_give_the_eigenvectors() {
        let built = simulation(PrivacySpec::None)
            .averaging(AveragingKind::Tree)
            .build(1);
        let built = built.expect("valid");
        assert!(built.noise().is_none());
        let outcome = lockstep::run(built.session(), &mut Silent).expect("runs");
        let exact = top_eigenvectors(&built.session().all_rows(), 2).expect("converges");
        assert!(subspace_distance(outcome.basis(), &exact.vectors) < 1e-7);
        let latency = Latency::Constant { micros: 5 };
        let event = event::run(built.session(), latency, &mut Silent).expect("runs");
        assert_eq!(event.basis(), outcome.basis());
    }

    #[test]
    fn the_noise_is_planned_for_what_one_record_meets() {
        let of = |algorithm| {
            let privacy = PrivacySpec::new(1.0, 1e-5, Adjacency::User).expect("valid");
            let built = Simulation::new(samples(), algorithm, privacy)
                .peers(30)
                .build(1);
            built.expect("valid")
        };
        let one = of(AlgorithmSpec::Covariance { rank: 2 });
        let four = of(AlgorithmSpec::Power {
            rank: 2,
            iterations: 4,
        });
        let sigma = |built: &Simulated| built.noise().expect("noisy").sigma_own();
        assert!((sigma(&four) / sigma(&one) - 2.0).abs() < 1e-9);
        // The promise is the one asked for, and a curator's run has less noise than everybody's.
        let epsilon = one.noise().expect("noisy").epsilon().expect("protected");
        assert!((epsilon - 1.0).abs() < 1e-5, "{epsilon}");
        assert!(central::run(one.session(), SumNoise::Curator, &mut Silent).is_ok());
    }

    #[test]
    fn a_ring_of_rows_in_memory_keeps_the_promise_and_has_the_curator_s_bits() {
        let privacy = PrivacySpec::new(1.0, 1e-5, Adjacency::User).expect("valid");
        let built = simulation(privacy)
            .averaging(AveragingKind::Tree)
            .noise(NoiseSpec::Ring { overhead: 0.01 })
            .build(1)
            .expect("valid");
        let plan = built.noise().expect("noisy");
        let epsilon = plan.epsilon().expect("protected");
        assert!((epsilon - 1.0).abs() < 1e-5, "{epsilon}");
        let ring = plan.ring().expect("a ring");
        // Ten rows of norm at most 1 each, and a sensitivity of 1.
        let rows = ring.clamp() as f64 * ring.grid().step();
        assert!((10.0..10.01).contains(&rows), "{rows}");
        let outcome = lockstep::run(built.session(), &mut Silent).expect("runs");
        let shares = central::run(built.session(), SumNoise::Shares, &mut Silent);
        assert_eq!(outcome.basis(), shares.expect("runs").basis());
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_reason() {
        assert!(PrivacySpec::new(0.0, 1e-5, Adjacency::User).is_err());
        assert!(PrivacySpec::new(f64::NAN, 1e-5, Adjacency::User).is_err());
        // No bound is proved for single interactions of samples.
        let interaction = PrivacySpec::new(1.0, 1e-5, Adjacency::Interaction).expect("valid");
        let refused = simulation(interaction).build(1).expect_err("unproved");
        assert!(refused.to_string().contains("unit-row"), "{refused}");
        let privacy = PrivacySpec::new(1.0, 1e-5, Adjacency::User).expect("valid");
        assert!(simulation(privacy).peers(301).build(1).is_err());
        // Shares without a mask protect nobody where everybody's message is seen.
        let bare = simulation(privacy).noise(NoiseSpec::Independent).build(1);
        assert!(
            matches!(
                bare,
                Err(SimulationError::Privacy(PrivacyError::IndependentInTheOpen))
            ),
            "{bare:?}"
        );
        let gossiped = simulation(privacy)
            .noise(NoiseSpec::Ring { overhead: 0.01 })
            .build(1);
        let gossiped = gossiped.expect_err("integers mod 2^k cannot be divided");
        assert!(gossiped.to_string().contains("tree"), "{gossiped}");
        let wide = AlgorithmSpec::Covariance { rank: 5 };
        assert!(Simulation::new(samples(), wide, privacy).build(1).is_err());
    }
}
