//! Parts that make no session.

use crate::linalg::NotFullRank;
use crate::noise::SigmaError;
use crate::plan::PlanError;
use crate::protocol::averaging::ScheduleError;
use crate::protocol::{QueryError, SessionPlanError, Values};
use crate::topology::GraphError;
use crate::vocabulary::PeerIndex;

/// Reason why a plan makes no session.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NewSessionError {
    /// A starting block that cannot be drawn.
    #[error(transparent)]
    Start(#[from] NotFullRank),
    /// A plan that cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Parts that make no session.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// Parts that make no session.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// A graph of another size than the plan's network.
    #[error(
        "the {graph} graph has {nodes} nodes, the plan {peers} peers: give it one node per peer"
    )]
    Nodes {
        /// Which graph.
        graph: &'static str,
        /// Its nodes.
        nodes: usize,
        /// Peers of the plan.
        peers: u32,
    },
    /// Running totals in values that are too short for them.
    #[error(
        "averaging.values = \"{values}\" does not go with averaging.scheme = \"push-sum\" or \"pairwise\": running totals would lose mass to \
         rounding; set averaging.values = \"f64\""
    )]
    MassValues {
        /// What the plan exchanges.
        values: Values,
    },
    /// Rows for more or fewer peers than the plan has.
    #[error("rows are given for {found} peers, the plan has {peers}: give one entry per peer")]
    Rows {
        /// Entries found.
        found: usize,
        /// Peers of the plan.
        peers: u32,
    },
    /// Rows over other items than the plan's.
    #[error(
        "the rows of {peer} have {found} items, the plan {dimension}: deal all peers rows of the same matrix"
    )]
    Dimension {
        /// The first such peer.
        peer: PeerIndex,
        /// Its items.
        found: usize,
        /// Items of the plan.
        dimension: usize,
    },
    /// Rows without batch numbers under an algorithm that works batch by batch: they would never contribute.
    #[error(
        "the algorithm works batch by batch, and the rows of {peer} have no batch numbers: give every slot one with \
         LocalData::in_batches and PeerRows::of_local"
    )]
    Batches {
        /// The first such peer.
        peer: PeerIndex,
    },
    /// Own coordinates with less noise than a curator's.
    #[error(
        "sigma_coordinate = {found} is below sigma_central = {needed}: nobody else's noise covers own coordinates, so they need \
         all that a curator would add"
    )]
    Coordinates {
        /// The plan's.
        found: f64,
        /// A curator's.
        needed: f64,
    },
    /// Graphs that the plan was not made for.
    #[error(
        "the graphs are not those whose hash is in the plan: put graphs_digest of both into SessionParameters::topology"
    )]
    Graphs,
    /// An averaging schedule that the plan does not name.
    #[error(
        "the averaging schedule is not the one the plan names: compile it from the session's own topology, and put its \
         digest and rounds into SessionParameters"
    )]
    Schedule,
    /// An averaging schedule that does not add integers exactly.
    #[error(
        "sums mod 2^k need an averaging that adds up every input exactly once: integers mod 2^k cannot be divided, and gossip takes means; set \
         averaging.scheme = \"tree\""
    )]
    Inexact,
    /// Steps that are no averaging schedule.
    #[error(transparent)]
    Steps(#[from] ScheduleError),
    /// Too few rounds for all peers to agree on the statistic that scales their noise.
    #[error(
        "scale_rounds = {found}, but a value needs up to {needed} hops to reach every peer: peers would scale their noise \
         by different statistics; set scale_rounds to {needed} or more"
    )]
    ScaleRounds {
        /// Rounds of the plan.
        found: u32,
        /// A bound on the diameter.
        needed: u32,
    },
    /// A starting block that the plan does not name or the sensitivity does not bound.
    #[error("the session cannot start: {0}")]
    Start(#[source] QueryError),
    /// A curator's noise that does not go with the plan's.
    #[error(
        "sigma_central = {found}: a curator's noise is a finite standard deviation above 0 and at most {most}, what the \
         peers' own noise adds up to"
    )]
    Curator {
        /// The value given.
        found: f64,
        /// √s·σ_η; infinite where peers add no noise.
        most: f64,
    },
    /// A changed plan that is none.
    #[error(transparent)]
    Plan(#[from] SessionPlanError),
    /// Standard deviations that no noise has.
    #[error(transparent)]
    Sigma(#[from] SigmaError),
    /// A graph that is none.
    #[error(transparent)]
    Graph(#[from] GraphError),
}
