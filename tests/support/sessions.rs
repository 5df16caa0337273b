//! Sessions put together by hand, for algorithms and noise that no experiment file names.

use std::sync::Arc;

use undertone::algorithm::{Algorithm, LocalData};
use undertone::engine::{PeerRows, Session, SessionError, SessionParts};
use undertone::linalg::{SparseRows, start_block};
use undertone::noise::WishartShares;
use undertone::plan::graphs_digest;
use undertone::privacy::SensitivitySpec;
use undertone::protocol::averaging::Schedule;
use undertone::protocol::{RingParameters, SessionParameters, SessionPlan, Values};
use undertone::topology::Topology;
use undertone::vocabulary::Seed;

/// Everything that makes a session, its peers' rows apart. Noise is shared on the graph that peers talk on.
pub(crate) struct Parts {
    pub(crate) topology: Arc<Topology>,
    pub(crate) schedule: Arc<Schedule>,
    pub(crate) algorithm: Arc<dyn Algorithm>,
    pub(crate) sensitivity: SensitivitySpec,
    /// Own, pairwise and coordinate noise per unit sensitivity.
    pub(crate) sigmas: [f64; 3],
    pub(crate) values: Values,
    pub(crate) ring: Option<RingParameters>,
    /// How own noise is dealt where it is Wishart.
    pub(crate) wishart: Option<WishartShares>,
}

impl Parts {
    /// The session of these peers. Its start is the same for all seeds: runs differ in their noise.
    pub(crate) fn session(self, peers: &[LocalData], seed: u64) -> Result<Session, SessionError> {
        let program = self.algorithm.program();
        let start = start_block(&Seed::from_u64(0), program.items, program.query_columns);
        let start = start.expect("full rank");
        let [sigma_own, sigma_pairwise, sigma_coordinate] = self.sigmas;
        let parameters = SessionParameters {
            peers: peers.len() as u32,
            program: Arc::new(program),
            sensitivity: self.sensitivity,
            sigma_own,
            sigma_pairwise,
            sigma_coordinate,
            ring: self.ring,
            laplace: None,
            wishart: self.wishart,
            noise_factors: Vec::new(),
            scale_rounds: self.topology.diameter_bound().expect("connected"),
            averaging_rounds: self.schedule.rounds(),
            values: self.values,
            schedule: self.schedule.digest(),
            topology: graphs_digest(&self.topology, &self.topology),
            start: start.digest(),
        };
        let plan = SessionPlan::new(parameters, self.algorithm)?;
        Session::new(SessionParts {
            sigma_central: plan.sigma_of_sum(1.0),
            plan: Arc::new(plan),
            noise_topology: Arc::clone(&self.topology),
            topology: self.topology,
            schedule: self.schedule,
            rows: Arc::new(PeerRows::of_local(peers)),
            start: Arc::new(start),
            seed: Seed::from_u64(seed),
            setting: [0; 32],
        })
    }
}

/// Two users per peer, each with a few of so many items, of equal weights.
pub(crate) fn users(peers: usize, items: usize) -> Vec<SparseRows> {
    let rows = (0..peers as u32).map(|u| {
        let mut rows = SparseRows::new(items);
        for k in 0..2_u32 {
            let held = (0..items as u32).filter(|i| (u + 2 * k + i * i + u * i) % 3 == 0);
            let held: Vec<u32> = held.collect();
            let value = 1.0 / (held.len().max(1) as f64).sqrt();
            rows.push_row(held.into_iter().map(|i| (i, value)))
                .expect("ascending");
        }
        rows
    });
    rows.collect()
}
