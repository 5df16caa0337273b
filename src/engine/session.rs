//! One session, ready to run on any engine.

use std::sync::Arc;

use crate::linalg::{Block, SparseRows};
use crate::noise::Assignment;
use crate::protocol::averaging::{Program, Traffic};
use crate::protocol::{PeerSetup, Plan};
use crate::topology::{Graph, Mixing, Topology};
use crate::vocabulary::{PeerIndex, Seed, Span};

/// Everything a simulation of one session needs: the plan, the graphs, every peer's rows and noise.
///
/// This is a simulator's view from above. A peer built from it by [`Session::peer_setup`] receives its
/// own part only.
#[derive(Clone, Debug)]
pub struct Session {
    /// What all peers agreed on.
    pub plan: Arc<Plan>,
    /// Who talks to whom, with the weights of the averaging.
    pub topology: Arc<Topology>,
    /// What is exchanged in every round, compiled from the topology; the plan names it.
    pub program: Arc<Program>,
    /// Who shares noise with whom.
    pub noise_topology: Arc<Topology>,
    /// Every peer's private rows.
    pub rows: Arc<Vec<SparseRows>>,
    /// Every peer's noise.
    pub noise: Assignment,
    /// The public starting block X⁰.
    pub start: Arc<Block>,
    /// The seed of this run, for what the engines themselves draw (latencies, curator's noise).
    pub seed: Seed,
    /// The curator's noise standard deviation per unit sensitivity (engine `central`).
    pub sigma_central: f64,
}

impl Session {
    /// Number of peers.
    #[must_use]
    pub fn peers(&self) -> usize {
        self.rows.len()
    }

    /// The communication graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        self.topology.graph()
    }

    /// The weights of the averaging.
    #[must_use]
    pub fn mixing(&self) -> &Mixing {
        self.topology.mixing()
    }

    /// The noise graph.
    #[must_use]
    pub fn noise_graph(&self) -> &Graph {
        self.noise_topology.graph()
    }

    /// The same session from another public starting block, which its plan then names.
    ///
    /// # Panics
    /// Never: a plan stays valid whatever block it names.
    #[must_use]
    pub fn with_start(mut self, start: Arc<Block>) -> Self {
        let mut parameters = self.plan.parameters().clone();
        parameters.start = start.digest();
        self.plan = Arc::new(Plan::new(parameters).expect("valid under another block"));
        self.start = start;
        self
    }

    /// What peer `index` starts from.
    #[must_use]
    pub fn peer_setup(&self, index: PeerIndex, patience: Option<Span>) -> PeerSetup {
        let u = index.index();
        let neighbours = self.graph().neighbours(u).iter();
        PeerSetup {
            index,
            plan: Arc::clone(&self.plan),
            neighbours: neighbours.map(|&v| PeerIndex(v)).collect(),
            program: self.program.peer(&*self.topology, u),
            rows: self.rows[u].clone(),
            noise: self.noise.peer(index, self.noise_graph()),
            noise_partners: self
                .noise_graph()
                .neighbours(u)
                .iter()
                .map(|&v| PeerIndex(v))
                .collect(),
            start: Arc::clone(&self.start),
            patience,
        }
    }

    /// What one iteration costs to send, derived from the averaging program.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        let scale_rounds = self.plan.parameters().scale_rounds;
        Traffic::of(
            &self.program,
            &*self.topology,
            scale_rounds,
            self.plan.values(),
        )
    }

    /// Whether the averaging program is the one the plan names.
    #[must_use]
    pub fn has_planned_program(&self) -> bool {
        let parameters = self.plan.parameters();
        self.program.digest() == parameters.program
            && self.program.rounds() == parameters.averaging_rounds
    }

    /// The rows of all peers in one matrix, in peer order.
    #[must_use]
    pub fn all_rows(&self) -> SparseRows {
        let mut all = SparseRows::new(self.plan.parameters().dimension);
        for rows in self.rows.iter() {
            all.append(rows);
        }
        all
    }
}
