//! What an experiment consists of, to look at.
//!
//! An [`Experiment`] is checked as a whole when it is resolved: its σ's follow from its graphs, its ε from its
//! configuration. So nothing of it can be changed afterwards. Change the configuration and resolve it again:
//!
//! ```compile_fail
//! # fn change(mut experiment: undertone::experiment::Experiment) {
//! experiment.config.privacy.epsilon = 0.1;
//! # }
//! ```
//!
//! ```
//! # fn change(experiment: &undertone::experiment::Experiment) -> Result<(), undertone::experiment::ExperimentError> {
//! let mut config = experiment.config().clone();
//! config.privacy.epsilon = 0.1;
//! let stricter = undertone::experiment::Experiment::resolve(config, experiment.base())?;
//! # Ok(())
//! # }
//! ```

use std::path::Path;

use super::config::Config;
use super::evaluation::HeldOut;
use super::resolve::Experiment;
use super::summary::DataSummary;
use crate::data::Interactions;
use crate::engine::PeerRows;
use crate::linalg::SparseRows;
use crate::algorithm::{Algorithm, ReleaseSpec};
use crate::privacy::{Calibrated, Delta, GroupLoss, NoisePlan, Sensitivity};
use crate::protocol::averaging::Program;
use crate::topology::Topology;

impl Experiment {
    /// The configuration, overrides applied and defaults filled in.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The folder that relative paths in the configuration start at.
    #[must_use]
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The interactions that the peers hold: what is left after all filters.
    #[must_use]
    pub fn interactions(&self) -> &Interactions {
        &self.interactions
    }

    /// What `[evaluation]` keeps from the peers.
    #[must_use]
    pub fn held_out(&self) -> Option<&HeldOut> {
        self.held_out.as_ref()
    }

    /// How much was read and dropped.
    #[must_use]
    pub fn data(&self) -> &DataSummary {
        &self.data
    }

    /// Every user's normalised row, users × items.
    #[must_use]
    pub fn user_rows(&self) -> &SparseRows {
        &self.user_rows
    }

    /// The rows each peer holds.
    #[must_use]
    pub fn peer_rows(&self) -> &PeerRows {
        &self.peer_rows
    }

    /// The communication graph.
    #[must_use]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The noise graph: the communication graph, unless the configuration names another.
    #[must_use]
    pub fn noise_topology(&self) -> &Topology {
        &self.noise_topology
    }

    /// What is contributed and how the public state advances.
    #[must_use]
    pub fn algorithm(&self) -> &dyn Algorithm {
        self.algorithm.as_ref()
    }

    /// Rows and columns of the largest release.
    pub(in crate::experiment) fn widest_shape(&self) -> (usize, usize) {
        let releases = self.algorithm.releases();
        let widest = releases.iter().max_by_key(|release| release.values());
        widest.map_or((0, 0), ReleaseSpec::shape)
    }

    /// How far one person can move the sum.
    #[must_use]
    pub fn sensitivity(&self) -> Sensitivity {
        self.sensitivity
    }

    /// The noise multiplier and what it spends.
    #[must_use]
    pub fn calibrated(&self) -> &Calibrated {
        &self.calibrated
    }

    /// δ of the budget.
    #[must_use]
    pub fn delta(&self) -> Delta {
        self.delta
    }

    /// σ's per unit sensitivity and the guarantee of every view.
    #[must_use]
    pub fn noise(&self) -> &NoisePlan {
        &self.noise
    }

    /// What changes at several peers cost, where one record is a change of one peer's matrix.
    #[must_use]
    pub fn groups(&self) -> &[GroupLoss] {
        &self.groups
    }

    /// What is exchanged in every averaging round, compiled from the topology.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Averaging rounds K.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The factor by which K rounds shrink the spread between peers.
    #[must_use]
    pub fn contraction(&self) -> f64 {
        self.contraction
    }

    /// Things the user should know before the run.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
