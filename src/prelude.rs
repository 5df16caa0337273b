//! What a simulation and its test are made of, for `use undertone::prelude::*`.
//!
//! | part | names |
//! | --- | --- |
//! | rows | [`SparseRows`], [`Dataset`], [`Partition`] |
//! | graph | [`Graph`], [`Topology`], [`Provenance`], [`GeneratorConfig`] |
//! | promise | [`Promise`], [`Adjacency`], [`Noise`], [`LossTolerance`] |
//! | algorithm | [`PowerMethod`], [`Krylov`], [`Covariance`] and others; [`Algorithm`] with [`Program`], [`ReleaseSpec`], [`Quantity`] for one of your own, [`Rule`] for its bound |
//! | simulation | [`Simulation`], [`SimulationBuilder`], [`Averaging`], [`AveragingKind`] |
//! | runners | [`Lockstep`], [`Event`], [`Central`], [`Federated`], [`Analytic`], and `Swarm` with the feature `node` |
//! | what comes out | [`Outcome`], [`Block`], [`subspace_distance`]; [`Observer`] and [`Silent`], who watches nothing |
//! | is it private | [`verify`], [`VerifyOptions`], [`Verification`]; [`audit`], [`AuditOptions`], [`Audit`] |
//! | experiment files | [`Experiment`], [`Config`], [`read_config`] |
//! | errors | [`SimulationError`], [`PlanError`], [`RunnerError`], [`VerifyError`], [`ExperimentError`] |

pub use crate::algorithm::{
    Algorithm, Covariance, History, IsometricCovariance, Krylov, Momentum, PowerMethod, Program,
    PublicState, RakedCovariance, ReleaseSpec, Streaming,
};
pub use crate::assess::audit::{Audit, AuditError, AuditOptions, audit};
pub use crate::assess::verification::{Verification, VerifyError, VerifyOptions, verify};
pub use crate::config::{Config, read_config};
pub use crate::data::{Dataset, Partition};
pub use crate::engine::event::Latency;
pub use crate::engine::{
    Analytic, Central, Event, Federated, Lockstep, Observer, Outcome, Runner, RunnerError, Session,
    Silent, Simulation,
};
pub use crate::engine::{SimulationBuilder, SimulationError};
pub use crate::linalg::{
    Block, NotFullRank, SparseRows, orthonormalise, subspace_distance, top_eigenvectors,
};
#[cfg(feature = "node")]
pub use crate::node::Swarm;
pub use crate::papers::{Deflation, PrivatePowerIteration};
pub use crate::plan::{Averaging, LossTolerance, Noise, Plan, PlanError, Promise};
pub use crate::privacy::{Adjacency, Public, Rule, Statistic};
pub use crate::protocol::averaging::AveragingKind;
pub use crate::scenario::{Experiment, ExperimentError};
pub use crate::topology::{GeneratorConfig, Graph, Provenance, Topology, TopologyError};
pub use crate::vocabulary::{Quantity, ReleaseId, Seed};
