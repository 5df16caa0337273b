//! What the network benchmarks share: sessions of any size, and what the kernel says of this process.

pub(crate) mod process;

use std::sync::Arc;

use undertone::algorithm::{Algorithm, PowerMethod};
use undertone::engine::{PeerRows, Session, SessionParts};
use undertone::linalg::{SparseRows, start_block};
use undertone::plan::graphs_digest;
use undertone::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use undertone::protocol::averaging::{AveragingKind, AveragingOptions, Length, MixingBounds};
use undertone::protocol::{SessionParameters, SessionPlan, Values};
use undertone::topology::generators::RandomRegular;
use undertone::topology::{GeneratorConfig, Provenance, Topology};
use undertone::vocabulary::Seed;

/// Bounds that hold for the graphs used here; they only choose the coefficients.
const BOUNDS: MixingBounds = MixingBounds {
    lowest: -0.95,
    second: 0.95,
};

/// The shape of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Number of peers.
    pub(crate) peers: usize,
    /// Neighbours of each.
    pub(crate) degree: usize,
    /// Items n.
    pub(crate) dimension: usize,
    /// Columns p.
    pub(crate) rank: usize,
    /// Power iterations.
    pub(crate) iterations: u32,
    /// Averaging rounds per iteration.
    pub(crate) rounds: u32,
}

impl Shape {
    /// Rounds of max-consensus: at least what sessions ask for on every random regular graph used here.
    pub(crate) const SCALE_ROUNDS: u32 = 16;

    /// Messages of one exchange.
    #[allow(dead_code, reason = "not every benchmark asks")]
    pub(crate) fn messages_per_step(self) -> u64 {
        (self.peers * self.degree) as u64
    }

    /// A session on a random regular graph, one row of a dozen items per peer, noise drawn per edge.
    pub(crate) fn session(self) -> Session {
        let config = GeneratorConfig::RandomRegular(RandomRegular {
            n: None,
            degree: self.degree,
            seed: 1,
        });
        let graph = config.generate(self.peers).expect("such a graph exists");
        let topology = Arc::new(Topology::from_graph(graph, Provenance::edges("benchmark")));
        let seed = Seed::from_u64(1);
        let (adjacency, rule) = (Adjacency::Interaction, SensitivityRule::Exact);
        let start = start_block(&seed, self.dimension, self.rank).expect("full rank");
        let schedule = AveragingKind::Chebyshev
            .compile(
                &*topology,
                BOUNDS,
                Length::Rounds(self.rounds),
                AveragingOptions::default(),
            )
            .expect("contracting bounds");
        let power = PowerMethod::new(self.dimension, self.rank, self.iterations).expect("valid");
        let parameters = SessionParameters {
            peers: self.peers as u32,
            program: Arc::new(power.program()),
            ring: None,
            laplace: None,
            wishart: None,
            noise_factors: Vec::new(),
            sensitivity: SensitivitySpec::new(adjacency, rule, 1, None),
            sigma_coordinate: 0.0,
            sigma_own: 0.02,
            sigma_pairwise: 3.0,
            scale_rounds: Self::SCALE_ROUNDS.min(self.peers as u32),
            averaging_rounds: schedule.rounds(),
            values: Values::F64,
            schedule: schedule.digest(),
            topology: graphs_digest(&topology, &topology),
            start: start.digest(),
        };
        let plan = SessionPlan::new(parameters, Arc::new(power)).expect("valid");
        let rows = (0..self.peers).map(|u| self.row(u)).collect();
        Session::new(SessionParts {
            schedule: Arc::new(schedule),
            noise_topology: Arc::clone(&topology),
            topology,
            rows: Arc::new(PeerRows::new(rows)),
            start: Arc::new(start),
            sigma_central: plan.sigma_of_sum(1.0),
            plan: Arc::new(plan),
            seed,
            setting: [0; 32],
        })
        .expect("fits")
    }

    fn row(self, peer: usize) -> SparseRows {
        let items = 12.min(self.dimension);
        let stride = self.dimension / items;
        let first = (peer * 131) % stride;
        let mut rows = SparseRows::new(self.dimension);
        let row = (0..items).map(|i| ((first + i * stride) as u32, 0.25));
        rows.push_row(row).expect("ascending");
        rows
    }
}
