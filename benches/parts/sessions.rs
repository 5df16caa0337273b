//! Sessions of any size without data files.

use std::sync::Arc;

use undertone::algorithm::{Algorithm, PowerMethod};
use undertone::engine::{PeerRows, Session, SessionParts};
use undertone::linalg::{SparseRows, start_block};
use undertone::plan::graphs_digest;
use undertone::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use undertone::protocol::averaging::{AveragingKind, AveragingOptions, Length, MixingBounds};
use undertone::protocol::{SessionParameters, SessionPlan, Values};
use undertone::topology::generators::RandomRegular;
use undertone::topology::{GeneratorConfig, Topology};
use undertone::vocabulary::Seed;

/// A random 10-regular topology.
pub(crate) fn topology(peers: usize) -> Topology {
    let config = GeneratorConfig::RandomRegular(RandomRegular {
        n: None,
        degree: 10,
        seed: 1,
    });
    Topology::generate(&config, peers).expect("a regular graph")
}

/// The size of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) items: usize,
    pub(crate) rank: usize,
    pub(crate) iterations: u32,
    pub(crate) rounds: u32,
}

/// A session with one row of about 20 items (or all of them) per peer.
pub(crate) fn session(topology: Arc<Topology>, size: Size) -> Session {
    let peers = topology.graph().nodes();
    let seed = Seed::from_u64(11);
    let rows = (0..peers)
        .map(|u| {
            let stride = (size.items / 20).max(1);
            let items = (0..size.items).filter(|i| (i + u * 7) % stride == 0);
            let count = items.clone().count() as f64;
            let mut rows = SparseRows::new(size.items);
            rows.push_row(items.map(|i| (i as u32, ((u + i) as f64).sin() / count.sqrt())))
                .expect("ascending");
            rows
        })
        .collect();
    let bounds = MixingBounds {
        lowest: topology.spectrum().mixing_smallest.low,
        second: topology.spectrum().mixing_second.high,
    };
    let start = start_block(&seed, size.items, size.rank).expect("full rank");
    let schedule = AveragingKind::Chebyshev
        .compile(
            &*topology,
            bounds,
            Length::Rounds(size.rounds),
            AveragingOptions::default(),
        )
        .expect("an expander contracts");
    let power = PowerMethod::new(size.items, size.rank, size.iterations).expect("valid");
    let parameters = SessionParameters {
        peers: peers as u32,
        program: Arc::new(power.program()),
        ring: None,
        laplace: None,
        wishart: None,
        noise_factors: Vec::new(),
        sensitivity: SensitivitySpec::new(Adjacency::Interaction, SensitivityRule::Exact, 1, None),
        sigma_coordinate: 0.0,
        sigma_own: 0.02,
        sigma_pairwise: 0.5,
        scale_rounds: topology.diameter_bound().expect("connected"),
        averaging_rounds: schedule.rounds(),
        values: Values::F64,
        schedule: schedule.digest(),
        topology: graphs_digest(&topology, &topology),
        start: start.digest(),
    };
    let plan = SessionPlan::new(parameters, Arc::new(power)).expect("valid");
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
