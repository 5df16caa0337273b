//! What every member of a session may know.

use std::sync::Arc;

use super::{NewSessionError, SessionError};
use crate::algorithm::{Algorithm, LocalData};
use crate::engine::EngineError;
use crate::engine::outcome::Communication;
use crate::linalg::Block;
use crate::noise::PeerNoise;
use crate::plan::{Plan, graphs_digest};
use crate::protocol::averaging::{Load, PeerBytes, Schedule, Traffic};
use crate::protocol::{
    PeerSetup, PlannedRelease, SessionPlan, Values, check_start, regroup::Links,
    regroup::LinksError, wire,
};
use crate::topology::{Graph, Mixing, Topology};
use crate::vocabulary::{PeerIndex, ReleaseId, Span};

/// The public part of a session: what all peers agreed on, both graphs, the averaging and the starting block.
///
/// It has nobody's rows, no seed and no noise. A deployed member makes its peer of it, of its own rows and of noise under its own keys.
///
/// # Invariants
/// [`PublicSession::new`] is the only way to make one: both graphs and the starting block are those that the plan names, the columns of the block are
/// orthonormal, and the averaging is the plan's.
#[derive(Clone, Debug)]
pub struct PublicSession {
    plan: Arc<SessionPlan>,
    topology: Arc<Topology>,
    schedule: Arc<Schedule>,
    noise_topology: Arc<Topology>,
    start: Arc<Block>,
}

impl PublicSession {
    /// Checks that the parts belong together: a plan, who talks to whom and who shares noise with whom, what is exchanged in every averaging round, and
    /// the starting block X⁰.
    ///
    /// # Errors
    /// [`SessionError`] naming the part that does not fit the plan: graphs of another size or hash, another averaging schedule, too few rounds to agree
    /// on the statistic, a starting block that is not the plan's or not orthonormal.
    ///
    /// # Cost
    /// O(edges + n b²); the diameter of a graph is found once per [`Topology`].
    pub fn new(
        plan: Arc<SessionPlan>,
        (topology, noise_topology): (Arc<Topology>, Arc<Topology>),
        schedule: Arc<Schedule>,
        start: Arc<Block>,
    ) -> Result<Self, SessionError> {
        let made = Self::unchecked(plan, (topology, noise_topology), schedule, start);
        made.check()?;
        Ok(made)
    }

    /// The session of a plan, from this public starting block.
    ///
    /// # Errors
    /// [`NewSessionError`] for an algorithm of another program, releases that cannot be run, and a starting block that is not orthonormal.
    pub fn planned(
        plan: &Plan,
        algorithm: &Arc<dyn Algorithm>,
        start: Block,
    ) -> Result<Self, NewSessionError> {
        let network = plan.network();
        let graphs = (
            Arc::clone(&network.topology),
            Arc::clone(&network.noise_topology),
        );
        let agreed = Arc::new(plan.session_plan(algorithm, &start)?);
        let schedule = Arc::clone(plan.schedule());
        Ok(Self::new(agreed, graphs, schedule, Arc::new(start))?)
    }

    /// Whether rounding of contributions of so many rows is small beside the noise.
    ///
    /// # Errors
    /// [`SessionError::Plan`] with [`SessionPlanError::Rounding`](crate::protocol::SessionPlanError::Rounding).
    pub fn check_rounding(&self, rows: usize) -> Result<(), SessionError> {
        let partners = match self.plan.sigmas().pairwise > 0.0 {
            true => self.noise_graph().max_degree(),
            false => 0,
        };
        self.plan.check_rounding(rows, partners)?;
        Ok(())
    }

    /// The same of parts that nobody checked.
    pub(super) fn unchecked(
        plan: Arc<SessionPlan>,
        (topology, noise_topology): (Arc<Topology>, Arc<Topology>),
        schedule: Arc<Schedule>,
        start: Arc<Block>,
    ) -> Self {
        Self {
            plan,
            topology,
            schedule,
            noise_topology,
            start,
        }
    }

    pub(super) fn check(&self) -> Result<(), SessionError> {
        let parameters = self.plan.parameters();
        let peers = parameters.peers;
        for (graph, topology) in [
            ("communication", &self.topology),
            ("noise", &self.noise_topology),
        ] {
            let nodes = topology.graph().nodes();
            if nodes != peers as usize {
                return Err(SessionError::Nodes {
                    graph,
                    nodes,
                    peers,
                });
            }
        }
        if parameters.ring.is_some() && !self.schedule.sums_exactly(&*self.topology) {
            return Err(SessionError::Inexact);
        }
        if self.schedule.extra_values() > 0 && parameters.values != Values::F64 {
            let values = parameters.values;
            return Err(SessionError::MassValues { values });
        }
        if graphs_digest(&self.topology, &self.noise_topology) != parameters.topology {
            return Err(SessionError::Graphs);
        }
        if !self.is_planned() {
            return Err(SessionError::Schedule);
        }
        // Engines that reveal only sums run on graphs that are not connected, too; there nobody exchanges scales.
        if self.plan.releases().iter().any(PlannedRelease::floods)
            && let Some(needed) = self.topology.diameter_bound()
            && parameters.scale_rounds < needed
        {
            return Err(SessionError::ScaleRounds {
                found: parameters.scale_rounds,
                needed,
            });
        }
        check_start(&self.plan, &self.start).map_err(SessionError::Start)
    }

    fn is_planned(&self) -> bool {
        let parameters = self.plan.parameters();
        self.schedule.digest() == parameters.schedule
            && self.schedule.rounds() == parameters.averaging_rounds
    }

    /// What every engine looks at again before it runs.
    ///
    /// # Errors
    /// [`EngineError::Start`] and [`EngineError::Schedule`]; never, as long as the invariants hold.
    pub(super) fn admit(&self) -> Result<(), EngineError> {
        check_start(&self.plan, &self.start).map_err(EngineError::Start)?;
        match self.is_planned() {
            true => Ok(()),
            false => Err(EngineError::Schedule),
        }
    }

    /// The same session from another starting block, which its plan then names.
    ///
    /// # Errors
    /// [`SessionError::Start`].
    pub(super) fn with_start(self, start: Arc<Block>) -> Result<Self, SessionError> {
        let mut parameters = self.plan.parameters().clone();
        parameters.start = start.digest();
        let plan = Arc::new(self.plan.with(parameters)?);
        check_start(&plan, &start).map_err(SessionError::Start)?;
        Ok(Self {
            plan,
            start,
            ..self
        })
    }

    /// The same session with this plan, whatever it is.
    pub(super) fn under(self, plan: Arc<SessionPlan>) -> Self {
        Self { plan, ..self }
    }

    /// What all peers agreed on.
    #[must_use]
    pub fn plan(&self) -> &Arc<SessionPlan> {
        &self.plan
    }

    /// Who talks to whom, with the weights of the averaging.
    #[must_use]
    pub fn topology(&self) -> &Arc<Topology> {
        &self.topology
    }

    /// What is exchanged in every averaging round: what the plan names.
    #[must_use]
    pub fn schedule(&self) -> &Arc<Schedule> {
        &self.schedule
    }

    /// Who shares noise with whom.
    #[must_use]
    pub fn noise_topology(&self) -> &Arc<Topology> {
        &self.noise_topology
    }

    /// The starting block X⁰, n × b.
    #[must_use]
    pub fn start(&self) -> &Arc<Block> {
        &self.start
    }

    /// Number of peers.
    #[must_use]
    pub fn peers(&self) -> usize {
        self.topology.graph().nodes()
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

    /// The links of the communication graph.
    ///
    /// # Errors
    /// None for a graph: its edges ascend.
    pub fn links(&self) -> Result<Links, LinksError> {
        let edges = self.graph().edge_list();
        let pairs = edges.map(|(u, v)| (PeerIndex(u), PeerIndex(v)));
        Links::new(self.peers(), pairs.collect())
    }

    /// What peer `index` starts from, with its own rows and its own noise.
    #[must_use]
    pub fn peer_setup(
        &self,
        index: PeerIndex,
        rows: LocalData,
        noise: PeerNoise,
        patience: Option<Span>,
    ) -> PeerSetup {
        let u = index.index();
        let neighbours = |graph: &Graph| {
            let all = graph.neighbours(u).iter();
            all.map(|&v| PeerIndex(v)).collect()
        };
        PeerSetup {
            index,
            plan: Arc::clone(&self.plan),
            neighbours: neighbours(self.graph()),
            schedule: self.schedule.peer(&*self.topology, u),
            rows,
            noise,
            noise_partners: neighbours(self.noise_graph()),
            start: Arc::clone(&self.start),
            patience,
        }
    }

    /// Bytes of the longest message of this session, prefixes included.
    #[must_use]
    pub fn longest_message(&self) -> usize {
        let held = self.plan.most_values() + self.schedule.extra_values();
        wire::framed_block_len(held, self.plan.parameters().values)
    }

    /// What the first so many releases have peers exchange; with `agreed` one agreement more, after which the algorithm was done.
    fn load(&self, releases: usize, agreed: bool) -> Load {
        let flood = u64::from(self.plan.scale_rounds());
        let mut load = Load {
            number_rounds: if agreed { flood } else { 0 },
            ..Load::default()
        };
        for planned in self.plan.releases().iter().take(releases) {
            let values = planned.values();
            if planned.agrees() {
                load.number_rounds += flood;
            }
            if planned.is_own() {
                load.coordinate_rounds += flood;
                let bytes = wire::framed_block_len(values * self.peers(), Values::F64) as u64;
                load.coordinate_bytes += flood * bytes;
            } else {
                let held = values + self.schedule.extra_values();
                let bytes = wire::framed_block_len(held, self.plan.values());
                load.sums.push(bytes as u64);
            }
        }
        load
    }

    /// Messages in all and bytes of every peer of a run of the first so many releases, as [`Self::communication`].
    pub(in crate::engine) fn sent(&self, releases: usize, agreed: bool) -> (u64, Vec<PeerBytes>) {
        let load = self.load(releases, agreed);
        Traffic::sent(&self.schedule, &*self.topology, &load)
    }

    /// What the first so many releases cost to send, derived from the averaging schedule.
    #[must_use]
    pub fn traffic(&self, releases: usize) -> Traffic {
        let load = self.load(releases, false);
        Traffic::of(&self.schedule, &*self.topology, &load)
    }

    /// What a run of the first so many releases communicates. An algorithm that was done before all releases were made may have
    /// had its peers agree on that: `agreed` says so.
    #[must_use]
    pub fn communication(&self, releases: usize, agreed: bool) -> Communication {
        let load = self.load(releases, agreed);
        let all = Traffic::of(&self.schedule, &*self.topology, &load);
        let rounds = (1..=releases as u32).map(|id| self.plan.steps_of_release(ReleaseId(id)));
        Communication::of(all, rounds.collect())
    }
}
