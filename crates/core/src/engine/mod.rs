//! How values move: engines that run one session and report the same outcome.
//!
//! | engine | what moves | for |
//! | --- | --- | --- |
//! | [`central`] | nothing: a trusted curator holds all rows | the baseline (P1 Alg. 1) |
//! | [`Federated`] | noisy products to an ideal secure sum | P1 Alg. 2 |
//! | [`lockstep`] | flat arrays, tile by tile, the protocol's kernels | 10⁴–10⁶ peers, sweeps |
//! | [`analytic`] | nothing: the estimates of some peers are drawn from their joint law | larger still |
//! | [`event`] | messages between [`Peer`](crate::protocol::Peer)s in virtual time | latency, faults |
//! | `swarm`, in the module `node` | frames over libp2p | real connections |
//!
//! Lockstep, event and swarm give equal bits for equal seeds.

pub mod analytic;
mod builder;
pub mod central;
mod course;
// For faults that a program injects.
#[doc(hidden)]
pub mod deviants;
pub mod event;
mod federated;
pub mod lockstep;
mod losses;
// For the other crates of Undertone.
#[doc(hidden)]
pub mod noise;
mod outcome;
mod record;
mod rows;
mod runner;
mod session;
mod simulation;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;
mod threshold;

pub use builder::{SimulationBuilder, SimulationError};
pub use outcome::{
    Communication, Consensus, Inputs, Observer, Outcome, ReleaseRecord, Silent, Standing, Totals,
    Transcript,
};
pub use runner::{Analytic, Central, Event, Federated, Lockstep, Runner, RunnerError};
pub use session::{NewSessionError, Session, SessionError};
pub use simulation::Simulation;
pub(crate) use {outcome::StepTotals, session::ViewError};
// For the other crates of Undertone.
#[doc(hidden)]
pub use {
    record::Collector, rows::PeerRows, session::PublicSession, session::PublicViews,
    session::SessionParts, session::SessionViews,
};

use crate::linalg::NotFullRank;
use crate::protocol::{Fault, PeerError, QueryError, ReleaseError};
use crate::vocabulary::{PeerIndex, Quantity, ReleaseId};

/// Why a run ended without an outcome.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EngineError {
    /// A peer could not be built or could not go on.
    #[error(transparent)]
    Peer(#[from] PeerError),
    /// A peer reported a neighbour. Between honest peers on lossless links this cannot happen.
    #[error("{reporter} reports {fault}")]
    Fault {
        /// Who reports.
        reporter: PeerIndex,
        /// What and whom.
        fault: Fault,
    },
    /// A starting block that the plan does not name or the sensitivity does not bound.
    #[error("the session cannot start: {0}")]
    Start(#[source] QueryError),
    /// Parts that make no session.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Noise that is not the plan's: nobody may publish with it.
    #[error(
        "the noise of the session is not what its plan calls for: build the session with Session::new"
    )]
    Noise,
    /// An algorithm that only somebody who sees all rows can run.
    #[error(
        "the algorithm searches for a threshold by comparing a secret count with a secret limit, which is no noisy sum: use engine \
         \"central\" with a curator's own noise"
    )]
    CuratorOnly,
    /// The analytic engine draws real numbers.
    #[error(
        "the analytic engine draws sums of real numbers, and the plan's are integers mod 2^k: use engine \"lockstep\""
    )]
    Integers,
    /// The analytic engine draws from a Gaussian law.
    #[error(
        "the analytic engine draws estimates from a Gaussian law, and the plan's noise is Laplace or Wishart: use engine \"lockstep\""
    )]
    Laplace,
    /// A public query of an engine without peers that the sensitivity does not bound.
    #[error("{release} cannot begin: {source}")]
    Query {
        /// The release.
        release: ReleaseId,
        /// Why.
        source: QueryError,
    },
    /// The noisy sum of an engine without peers has no unique basis.
    #[error("{release} cannot advance: {source}")]
    NotFullRank {
        /// The release.
        release: ReleaseId,
        /// Why.
        source: NotFullRank,
    },
    /// The sum of an engine without peers is not finite.
    #[error("the values of {release} overflowed")]
    Overflow {
        /// The release.
        release: ReleaseId,
    },
    /// The algorithm asked for what it has not declared.
    #[error("{release} cannot begin: {source}")]
    OutOfOrder {
        /// The release that is next.
        release: ReleaseId,
        /// Why.
        source: ReleaseError,
    },
    /// The analytic engine was given an algorithm whose contributions are not linear in X.
    #[error(
        "the analytic engine draws sums of products A X, but the algorithm releases {released}: use engine \"lockstep\""
    )]
    NotProduct {
        /// What the algorithm releases.
        released: Quantity,
    },
    /// An averaging schedule that the plan does not name.
    #[error(
        "the averaging schedule is not the one the plan names: compile it from the session's own topology"
    )]
    Schedule,
    /// The analytic engine was given an averaging schedule whose estimates are not the sum plus what cancels over the peers.
    #[error(
        "the analytic engine needs an averaging that returns s times a value that all peers hold; at {peer} this program is off \
         by {found:e} of it: use engine \"lockstep\""
    )]
    Unbalanced {
        /// The first probe whose weights do not add up to s.
        peer: PeerIndex,
        /// Σ_v D_uv / s.
        found: f64,
    },
    /// The analytic engine was given an averaging schedule whose turns come near the sum in different ways.
    #[error(
        "the analytic engine needs an averaging whose turns all deviate from the sum in the same way: use engine \"lockstep\", or \
         averaging.rotate = 1"
    )]
    Turns,
    /// The analytic engine was given averaging that is made for lost messages.
    #[error(
        "the analytic engine knows the law of averaging that loses nothing, and the session's is made for losing {} % of the messages: use \
         engine \"event\" or \"lockstep\", or set engine.loss = 0",
        100.0 * loss
    )]
    Lossless {
        /// The fraction of messages that should be lost.
        loss: f64,
    },
    /// Nothing is left to deliver and peers are still waiting: is the topology connected?
    #[error("{waiting} of {peers} peers wait for messages that nobody will send")]
    Stalled {
        /// Peers that have not finished.
        waiting: usize,
        /// All peers.
        peers: usize,
    },
}

impl EngineError {
    /// That an engine without peers could not get over this release.
    fn at(release: ReleaseId, error: ReleaseError) -> Self {
        match error {
            ReleaseError::Overflow | ReleaseError::Incomplete { .. } => Self::Overflow { release },
            ReleaseError::NotFullRank(source) => Self::NotFullRank { release, source },
            // What is refused is the next contribution.
            ReleaseError::Query(source) => Self::Query {
                release: release.next(),
                source,
            },
            source @ ReleaseError::OutOfOrder => Self::OutOfOrder { release, source },
        }
    }
}
