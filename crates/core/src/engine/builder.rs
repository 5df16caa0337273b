//! A session from rows in memory, with defaults for all that is not said.

use std::sync::Arc;

use super::{Lockstep, NewSessionError, PeerRows, Runner, Simulation};
use crate::algorithm::{
    Algorithm, AlgorithmError, Centred, NotOnGraph, OnGraph, Prelude, Program, Start, Unsupported,
};
use crate::dataset::{Dataset, DatasetError, Partition, RowBounds};
use crate::linalg::SparseRows;
use crate::plan::{Averaging, Network, Plan, PlanError, Promise};
use crate::privacy::{Adjacency, Rule, SensitivityRule, SensitivitySpec};
use crate::protocol::Values;
use crate::topology::{GeneratorConfig, Graph, Provenance, Topology, TopologyError};
use crate::vocabulary::Seed;

/// A simulation in the making.
///
/// ```
/// use undertone_core::algorithm::Covariance;
/// use undertone_core::dataset::Dataset;
/// use undertone_core::engine::{Silent, Simulation};
/// use undertone_core::linalg::SparseRows;
/// use undertone_core::privacy::Adjacency;
/// use undertone_core::plan::Promise;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut rows = SparseRows::new(3);
/// for i in 0..200_u32 {
///     let x = f64::from(i);
///     rows.push_row([(0, x.sin()), (1, 2.0 * x.cos()), (2, 0.1)])?;
/// }
/// let dataset = Dataset::Samples { rows, radius: 2.5 };
/// let promise = Promise::new(1.0, 1e-5, Adjacency::User)?;
/// let simulation = Simulation::new(dataset, Covariance::new(3, 1)?, promise)
///     .peers(20)
///     .seed(7)
///     .build()?;
/// let outcome = simulation.run(&mut Silent)?;
/// assert_eq!(outcome.basis().columns(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SimulationBuilder {
    dataset: Dataset,
    algorithm: Arc<dyn Algorithm>,
    promise: Promise,
    averaging: Averaging,
    peers: Option<usize>,
    partition: Partition,
    topology: Option<Arc<Topology>>,
    noise_topology: Option<Arc<Topology>>,
    runner: Arc<dyn Runner>,
    seed: u64,
    /// The mean that is released first.
    mean: Option<PrivateMean>,
    /// What follows from the rows, and what was given by hand for quantities of an algorithm of your own.
    bounds: SensitivitySpec,
}

/// A mean that is released under noise before everything else.
#[derive(Clone, Copy, Debug)]
struct PrivateMean {
    /// The length that rows less the mean are shortened to, in the unit of the rows.
    radius: f64,
    /// The share of μ² that it spends.
    share: f64,
}

/// Why a simulation cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// Rows that are none, or cannot be dealt.
    #[error(transparent)]
    Data(#[from] DatasetError),
    /// A graph that cannot be made.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A plan that cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A session that cannot be made.
    #[error(transparent)]
    Session(#[from] NewSessionError),
    /// A private mean that cannot be taken.
    #[error("the private mean of `centred`: {why}")]
    Mean {
        /// Why, and what to change.
        why: &'static str,
    },
    /// A program that its runner or its mean does not go with.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// Numbers that make no algorithm.
    #[error(transparent)]
    Algorithm(#[from] AlgorithmError),
    /// An algorithm that does not run on a graph.
    #[error(transparent)]
    OnGraph(#[from] NotOnGraph),
    /// One number of a row as the record, where rows are shortened: all numbers of a row that is too long move with any one of them.
    #[error(
        "adjacency = \"rating\" is about one number, and a row that is shortened changes in all of them: choose \"user\" or \"replace-user\", or \
         name an experiment file with data.ranges"
    )]
    OneNumber,
    /// An algorithm of other items than the rows have.
    #[error("the algorithm is for {found} items, the rows have {expected}: make it for those")]
    Items {
        /// Items of the algorithm.
        found: usize,
        /// Items of the rows.
        expected: usize,
    },
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
        "this noise gives epsilon = {found} where {asked} was asked for: use Noise::Pairwise or Noise::Local, or a graph that stays \
         connected without its colluders"
    )]
    Promise {
        /// What the noise gives, infinite for nothing.
        found: f64,
        /// ε asked for.
        asked: f64,
    },
}

impl Simulation {
    /// This algorithm over these rows under this promise: one peer per row, a random graph of degree 10, Chebyshev gossip and
    /// seed 0, run in lockstep, unless said otherwise.
    #[expect(clippy::new_ret_no_self, reason = "what it needs is said step by step")]
    #[must_use]
    pub fn new(
        dataset: Dataset,
        algorithm: impl Algorithm + 'static,
        promise: Promise,
    ) -> SimulationBuilder {
        let (rule, floor) = match dataset.bounds() {
            RowBounds::EqualEntries { degree_floor } => (SensitivityRule::Exact, degree_floor),
            RowBounds::UnitNorm => (SensitivityRule::UnitRow, 1),
            RowBounds::Edges => (SensitivityRule::Exact, 1),
        };
        SimulationBuilder {
            bounds: SensitivitySpec::new(promise.adjacency(), rule, floor, None),
            dataset,
            algorithm: Arc::new(algorithm),
            promise,
            averaging: Averaging::default(),
            peers: None,
            partition: Partition::RoundRobin,
            topology: None,
            noise_topology: None,
            runner: Arc::new(Lockstep),
            seed: 0,
            mean: None,
        }
    }
}

impl SimulationBuilder {
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

    /// On this graph, one node per peer; noise is shared on it too, unless [`Self::noise_topology`] says otherwise.
    #[must_use]
    pub fn graph(self, graph: Graph) -> Self {
        self.topology(Topology::from_graph(graph, Provenance::edges("graph")))
    }

    /// Sessions are run by this.
    #[must_use]
    pub fn runner(mut self, runner: impl Runner + 'static) -> Self {
        self.runner = Arc::new(runner);
        self
    }

    /// All randomness derives from this number, which is 0 unless said: for tests. Whoever knows it can compute all noise: publish at most one
    /// run of a seed, and of one that nobody can guess.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Rows are taken less their mean, which is released first under noise and spends this share of μ²; what is left of a row is shortened to
    /// `radius`, in the unit of the rows. Of samples alone.
    #[must_use]
    pub fn centred(mut self, radius: f64, share: f64) -> Self {
        self.mean = Some(PrivateMean { radius, share });
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
    pub fn averaging(mut self, averaging: impl Into<Averaging>) -> Self {
        self.averaging = averaging.into();
        self
    }

    /// A bound of your own for a quantity that only your algorithm releases.
    #[must_use]
    pub fn bound<R: Rule>(mut self) -> Self {
        self.bounds = self.bounds.with_rule::<R>();
        self
    }

    /// Deals the rows, builds the graph, plans the noise and checks that all of it fits together.
    ///
    /// # Errors
    /// [`SimulationError`] with what does not fit and what to change.
    pub fn build(&self) -> Result<Simulation, SimulationError> {
        let seed = Seed::from_u64(self.seed);
        let peers = self.peers.unwrap_or(self.dataset.len());
        let (algorithm, rows) = self.dealt(peers, &seed)?;
        let program = algorithm.program();
        // Nothing is known of rows that an algorithm makes itself but their length.
        let bounds = match program.proved.as_held {
            true => self.bounds.clone(),
            false => self.bounds.clone().of_unit_rows(),
        };
        let promise = Promise {
            bounds,
            ..self.promise.clone()
        };
        let network = self.network(peers, &rows)?;
        program.check_each(|program, release| self.runner.supports(program, release))?;
        let plan = Plan::of(&program, &promise, &network)?;
        let found = plan.guarantee().noise().epsilon().unwrap_or(f64::INFINITY);
        let asked = promise.epsilon.get();
        if !promise.noise.is_none() && found > asked * (1.0 + 1e-9) {
            return Err(SimulationError::Promise { found, asked });
        }
        let simulation = Simulation::of_parts(
            Arc::new(plan),
            algorithm,
            Arc::new(PeerRows::new(rows)),
            (Start::Random, Arc::from([])),
            blake3::derive_key("undertone 2026-11 rows in memory v1", &[]),
            seed.clone(),
            Arc::clone(&self.runner),
        );
        // Whatever a session can refuse is refused here.
        simulation.try_session(&seed)?;
        Ok(simulation)
    }
}

impl SimulationBuilder {
    /// The algorithm as it runs on these data, and the rows of every peer.
    fn dealt(
        &self,
        peers: usize,
        seed: &Seed,
    ) -> Result<(Arc<dyn Algorithm>, Vec<SparseRows>), SimulationError> {
        let items = self.dataset.items();
        let program = self.algorithm.program();
        if program.items != items {
            return Err(SimulationError::Items {
                found: program.items,
                expected: items,
            });
        }
        let shortened = matches!(self.dataset, Dataset::Samples { .. });
        if shortened && self.promise.adjacency() == Adjacency::Rating {
            return Err(SimulationError::OneNumber);
        }
        if !matches!(self.dataset, Dataset::Graph { .. }) {
            let rows = self.dataset.dealt(peers, self.partition, seed)?;
            return Ok((self.around_mean(&program)?, rows));
        }
        if peers != items {
            let vertices = items;
            return Err(SimulationError::Vertices { vertices, peers });
        }
        let algorithm = OnGraph::new(Arc::clone(&self.algorithm))?;
        Ok((Arc::new(algorithm), OnGraph::held(&self.dataset.rows()?)))
    }

    /// The graphs and the averaging on them, where every peer holds these rows.
    fn network(&self, peers: usize, rows: &[SparseRows]) -> Result<Network, SimulationError> {
        let topology = match &self.topology {
            Some(topology) => Arc::clone(topology),
            None => {
                let usual = GeneratorConfig::usual(peers, self.seed);
                Arc::new(Topology::generate(&usual, peers)?)
            }
        };
        Ok(Network {
            noise_topology: Arc::clone(self.noise_topology.as_ref().unwrap_or(&topology)),
            topology,
            averaging: self.averaging.clone(),
            values: Values::F64,
            most_rows: rows.iter().map(SparseRows::len).max().unwrap_or(0),
        })
    }

    /// The algorithm, on rows less their private mean where that is asked for.
    fn around_mean(&self, program: &Program) -> Result<Arc<dyn Algorithm>, SimulationError> {
        let inner = Arc::clone(&self.algorithm);
        let Some(PrivateMean { radius, share }) = self.mean else {
            return Ok(inner);
        };
        let refuse = |why| Err(SimulationError::Mean { why });
        let Dataset::Samples { radius: raw, .. } = self.dataset else {
            return refuse("only samples have one: give Dataset::Samples, or leave centred out");
        };
        if program.check_each(Centred::supports).is_err() {
            return refuse(
                "nothing is proved of this algorithm on rows less a mean: use one that is about the matrix alone, such as PowerMethod, \
                 Krylov or IsometricCovariance",
            );
        }
        // Written so that NaN is refused too.
        if !(radius > 0.0 && radius.is_finite() && share > 0.0 && share < 1.0) {
            return refuse("its radius is a length above 0, and its share lies between 0 and 1");
        }
        let prelude = Prelude {
            slots: self.dataset.len(),
            // Rows are held in units of their own radius.
            raw_clip: 1.0,
            radius: radius / raw,
            unit_box: false,
            share,
        };
        Ok(Arc::new(Centred::new(inner, prelude)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Covariance, PowerMethod};
    use crate::engine::central::{self, SumNoise};
    use crate::engine::event::{self, Latency};
    use crate::engine::{Analytic, Silent, lockstep};
    use crate::linalg::{subspace_distance, top_eigenvectors};
    use crate::plan::Noise;
    use crate::privacy::PrivacyError;
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

    fn covariance() -> Covariance {
        Covariance::new(4, 2).expect("valid")
    }

    fn simulation(promise: Promise) -> SimulationBuilder {
        Simulation::new(samples(), covariance(), promise).peers(30)
    }

    #[test]
    fn rows_in_memory_run_on_every_engine_and_without_noise_give_the_eigenvectors() {
        let built = simulation(Promise::none(Adjacency::User))
            .averaging(AveragingKind::Tree)
            .seed(1)
            .build();
        let built = built.expect("valid");
        assert!(built.noise().is_none());
        let outcome = lockstep::run(&built.own_session(), &mut Silent).expect("runs");
        let exact = top_eigenvectors(&built.own_session().all_rows(), 2).expect("converges");
        assert!(subspace_distance(outcome.basis(), &exact.vectors) < 1e-7);
        let latency = Latency::Constant { micros: 5 };
        let event = event::run(&built.own_session(), latency, &mut Silent).expect("runs");
        assert_eq!(event.basis(), outcome.basis());
    }

    #[test]
    fn the_noise_is_planned_for_what_one_record_meets() {
        let of = |algorithm: Arc<dyn Algorithm>| {
            let privacy = Promise::new(1.0, 1e-5, Adjacency::User).expect("valid");
            let built = Simulation::new(samples(), algorithm, privacy)
                .peers(30)
                .seed(1)
                .build();
            built.expect("valid")
        };
        let one = of(Arc::new(covariance()));
        let four = of(Arc::new(PowerMethod::new(4, 2, 4).expect("valid")));
        let sigma = |built: &Simulation| built.noise().expect("noisy").sigma_own();
        assert!((sigma(&four) / sigma(&one) - 2.0).abs() < 1e-9);
        // The promise is the one asked for, and a curator's run has less noise than everybody's.
        let epsilon = one.noise().expect("noisy").epsilon().expect("protected");
        assert!((epsilon - 1.0).abs() < 1e-5, "{epsilon}");
        assert!(central::run(&one.own_session(), SumNoise::Curator, &mut Silent).is_ok());
    }

    #[test]
    fn a_ring_of_rows_in_memory_keeps_the_promise_and_has_the_curator_s_bits() {
        let privacy = Promise::new(1.0, 1e-5, Adjacency::User).expect("valid");
        let built = simulation(privacy.with_noise(Noise::ring(0.01)))
            .averaging(AveragingKind::Tree)
            .seed(1)
            .build()
            .expect("valid");
        let plan = built.noise().expect("noisy");
        let epsilon = plan.epsilon().expect("protected");
        assert!((epsilon - 1.0).abs() < 1e-5, "{epsilon}");
        let ring = plan.ring().expect("a ring");
        // Ten rows of norm at most 1 each, and a sensitivity of 1.
        let rows = ring.clamp() as f64 * ring.grid().step();
        assert!((10.0..10.01).contains(&rows), "{rows}");
        let outcome = lockstep::run(&built.own_session(), &mut Silent).expect("runs");
        let shares = central::run(&built.own_session(), SumNoise::Shares, &mut Silent);
        assert_eq!(outcome.basis(), shares.expect("runs").basis());
    }

    #[test]
    fn a_program_is_refused_by_a_runner_that_cannot_run_it() {
        let promise = Promise::new(1.0, 1e-5, Adjacency::User).expect("valid");
        let runner = Analytic {
            probes: 2,
            contraction: 1e-6,
        };
        let refused = simulation(promise).runner(runner).build();
        let refused = refused.expect_err("a triangle is no product").to_string();
        assert!(
            refused.contains("analytic") && refused.contains("lockstep"),
            "{refused}"
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_reason() {
        assert!(Promise::new(0.0, 1e-5, Adjacency::User).is_err());
        assert!(Promise::new(f64::NAN, 1e-5, Adjacency::User).is_err());
        // No bound is proved for single interactions of samples.
        let interaction = Promise::new(1.0, 1e-5, Adjacency::Interaction).expect("valid");
        let refused = simulation(interaction)
            .seed(1)
            .build()
            .expect_err("unproved");
        assert!(refused.to_string().contains("unit-row"), "{refused}");
        // Shortening a row changes all of its numbers, so one of them is no record.
        let rating = Promise::new(1.0, 1e-5, Adjacency::Rating).expect("valid");
        let refused = simulation(rating).seed(1).build();
        assert!(matches!(refused, Err(SimulationError::OneNumber)));
        let privacy = Promise::new(1.0, 1e-5, Adjacency::User).expect("valid");
        assert!(
            simulation(privacy.clone())
                .peers(301)
                .seed(1)
                .build()
                .is_err()
        );
        // Shares without a mask protect nobody where everybody's message is seen.
        let bare = privacy.clone().with_noise(Noise::Independent);
        let bare = simulation(bare).seed(1).build();
        assert!(
            matches!(
                bare,
                Err(SimulationError::Plan(PlanError::Privacy(
                    PrivacyError::IndependentInTheOpen
                )))
            ),
            "{bare:?}"
        );
        let gossiped = privacy.clone().with_noise(Noise::ring(0.01));
        let gossiped = simulation(gossiped).seed(1).build();
        let gossiped = gossiped.expect_err("integers mod 2^k cannot be divided");
        assert!(gossiped.to_string().contains("tree"), "{gossiped}");
        let wide = Covariance::new(5, 5).expect("valid");
        let refused = Simulation::new(samples(), wide, privacy).seed(1).build();
        assert!(matches!(refused, Err(SimulationError::Items { .. })));
    }
}
