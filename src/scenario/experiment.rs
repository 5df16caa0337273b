//! The validated experiment: data, network, noise plan and rounds that fit together.
//!
//! An [`Experiment`] is checked as a whole when it is resolved: its σ's follow from its graphs, its ε from its
//! configuration. So nothing of it can be changed afterwards. Change the configuration and resolve it again:
//!
//! ```compile_fail
//! # fn change(mut experiment: undertone::scenario::Experiment) {
//! experiment.config.privacy.epsilon = 0.1;
//! # }
//! ```
//!
//! ```
//! # fn change(experiment: &undertone::scenario::Experiment) -> Result<(), undertone::scenario::ExperimentError> {
//! let mut config = experiment.config().clone();
//! config.privacy.epsilon = 0.1;
//! let stricter = undertone::scenario::Experiment::resolve(config, experiment.base())?;
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::data_summary::DataSummary;
use super::held_out::HeldOut;
use super::in_memory::InMemory;
use super::preconditioning::Preconditioning;
use super::rating_test::RatingTest;
use super::warning::Warning;
use crate::algorithm::{Algorithm, Completion, Form, Prelude, Program, ReleaseSpec};
use crate::config::{Config, resolved};
use crate::data::{self, Interactions};
use crate::engine::PeerRows;
use crate::engine::event::faults::FaultSchedule;
use crate::linalg::{ItemWeights, SparseRows};
use crate::papers::Clip;
use crate::plan::{Plan, mixing_bounds};
use crate::privacy::{
    Calibrated, Delta, GroupLoss, NoisePlan, Scheme, Sensitivity, SensitivitySpec, Statement,
};
use crate::protocol::averaging::{MixingBounds, Schedule};
use crate::topology::Topology;
use crate::vocabulary::{Quantity, ReleaseId};

/// An experiment with its data read, its topology built and its noise planned.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The configuration, overrides applied.
    pub(super) config: Config,
    /// The folder that relative paths in the configuration start at.
    pub(super) base: PathBuf,
    /// Data and graphs that are in memory and in no file.
    pub(super) in_memory: InMemory,
    /// What was read, before any filter.
    pub(super) loaded: Arc<data::Loaded>,
    /// The interactions left after all filters.
    pub(super) interactions: Arc<Interactions>,
    /// What `[evaluation]` keeps from the peers.
    pub(super) held_out: Option<HeldOut>,
    /// Where a matrix is released of some items only: the same with all.
    pub(super) catalogue: Option<Arc<Interactions>>,
    /// What was read and dropped.
    pub(super) data: DataSummary,
    /// Titles by the ids of items.
    pub(super) titles: Arc<BTreeMap<String, String>>,
    /// Every user's numbers, prepared by public constants but neither centred nor clipped; of ratings centred.
    pub(super) samples: Option<Arc<SparseRows>>,
    /// The ratings that no peer holds, where ratings are to be predicted.
    pub(super) rating_test: Option<Arc<RatingTest>>,
    /// What the algorithm was told of ratings, where it predicts them.
    pub(super) completion: Option<Completion>,
    /// How contributions are clipped; `None` where they are not.
    pub(super) clip: Option<Clip>,
    /// The mean that is released first, where it is private.
    pub(super) centring: Option<Prelude>,
    /// Whether its share is that of the public rule, be it given or left to the rule.
    pub(super) mean_by_rule: bool,
    /// What P is made of, and P, where eigenvectors are those of P A P.
    pub(super) preconditioning: Option<(Preconditioning, Arc<ItemWeights>)>,
    /// Every user's normalised row.
    pub(super) user_rows: Arc<SparseRows>,
    /// The rows each peer holds.
    pub(super) peer_rows: Arc<PeerRows>,
    /// The peer of every user, where a column of the data says it.
    pub(super) placed: Option<Arc<[u32]>>,
    /// Noise, averaging and graphs.
    pub(super) plan: Arc<Plan>,
    /// What is contributed and how the public state advances.
    pub(super) algorithm: Arc<dyn Algorithm>,
    /// How far one person can move what is released, of the first release but a mean.
    pub(super) sensitivity: Sensitivity,
    /// Things the user should know.
    pub(super) warnings: Vec<Warning>,
    /// Wall-clock seconds of each part so far.
    pub(super) seconds: BTreeMap<&'static str, f64>,
    /// The faults of the file. Noise is bound to them, also in the twin of this experiment in which nothing goes wrong.
    pub(super) bound_faults: Option<FaultSchedule>,
}

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

    /// The interactions of the peers' users with everything that can be recommended: more items than the peers' rows have where a
    /// matrix is released of some only, and the same otherwise.
    #[must_use]
    pub fn catalogue(&self) -> &Interactions {
        self.catalogue.as_deref().unwrap_or(&self.interactions)
    }

    /// Titles of items by their ids, of `data.titles`; empty where there is none. Public, and no part of a session: only reports show them. Ids of
    /// other items may be among them.
    #[must_use]
    pub fn titles(&self) -> &BTreeMap<String, String> {
        &self.titles
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

    /// The numbers of every user as public constants prepare them: of a matrix before it is centred, of ratings after it; neither
    /// is clipped. `None` where data are who interacted with what.
    #[must_use]
    pub fn samples(&self) -> Option<&SparseRows> {
        self.samples.as_deref()
    }

    /// How many peers there are, and where a column of the data says it, at which of them each user is.
    pub(crate) fn placed(&self) -> (usize, Option<&[u32]>) {
        (self.topology().graph().nodes(), self.placed.as_deref())
    }

    /// What predictions are measured against, where the algorithm predicts ratings. Private.
    #[must_use]
    pub fn rating_test(&self) -> Option<&RatingTest> {
        self.rating_test.as_deref()
    }

    /// What the algorithm was told of ratings, where it predicts them.
    #[must_use]
    pub fn completion(&self) -> Option<Completion> {
        self.completion
    }

    /// The mean that is released under noise before everything else, where `data.centre = "private"`.
    #[must_use]
    pub fn centring(&self) -> Option<&Prelude> {
        self.centring.as_ref()
    }

    /// What P is made of, where `algorithm.precondition` asks for the eigenvectors of P A P.
    #[must_use]
    pub fn preconditioning(&self) -> Option<&Preconditioning> {
        self.preconditioning.as_ref().map(|(stated, _)| stated)
    }

    /// P, where the eigenvectors are those of P A P.
    #[must_use]
    pub fn precondition_weights(&self) -> Option<&ItemWeights> {
        self.preconditioning.as_ref().map(|(_, weights)| &**weights)
    }

    /// How contributions are clipped; `None` where they are not.
    #[must_use]
    pub fn clip(&self) -> Option<Clip> {
        self.clip
    }

    /// Standard deviation of the noise on every count that the thresholds of a clip follow from; `None` where there are none. Public.
    #[must_use]
    pub fn sigma_of_counts(&self) -> Option<f64> {
        let counts = |quantity| matches!(quantity, Quantity::ClipHistogram | Quantity::ClipCount);
        (1..).zip(self.releases()).find_map(|(number, release)| {
            let block = release.blocks.iter().find(|one| counts(one.quantity))?;
            let bound = self
                .sensitivity_spec()
                .of(block.quantity, block.columns)
                .ok()?;
            let unit = bound.bound(1.0) / block.weight.sqrt();
            Some(unit * self.noise_factor(ReleaseId(number)) * self.noise().sigma_sum())
        })
    }

    /// The rows each peer holds.
    #[must_use]
    pub fn peer_rows(&self) -> &PeerRows {
        &self.peer_rows
    }

    /// The communication graph.
    #[must_use]
    pub fn topology(&self) -> &Topology {
        &self.plan.network().topology
    }

    /// The noise graph: the communication graph, unless the configuration names another.
    #[must_use]
    pub fn noise_topology(&self) -> &Topology {
        &self.plan.network().noise_topology
    }

    /// What is released. Public.
    #[must_use]
    pub fn program(&self) -> &Program {
        self.plan.program()
    }

    /// What is contributed and how the public state advances.
    #[must_use]
    pub fn algorithm(&self) -> &dyn Algorithm {
        self.algorithm.as_ref()
    }

    /// Rows and columns of the largest release.
    #[must_use]
    pub fn widest_shape(&self) -> (usize, usize) {
        widest_shape(self.plan.program())
    }

    /// What is planned: noise, averaging and graphs.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What one record is and how its effect is bounded.
    pub(crate) fn sensitivity_spec(&self) -> &SensitivitySpec {
        &self.plan.promise().bounds
    }

    /// How far one person can move what is released.
    #[must_use]
    pub fn sensitivity(&self) -> Sensitivity {
        self.sensitivity
    }

    /// The noise multiplier and what it spends.
    #[must_use]
    pub fn calibrated(&self) -> &Calibrated {
        self.plan.guarantee().calibrated()
    }

    /// δ of the budget; `None` where it is 0, as of Laplace noise.
    #[must_use]
    pub fn delta(&self) -> Option<Delta> {
        self.plan.promise().delta
    }

    /// σ's per unit sensitivity and the guarantee of every view.
    #[must_use]
    pub fn noise(&self) -> &NoisePlan {
        self.plan.guarantee().noise()
    }

    /// What changes at several peers cost, where one record is a change of one peer's matrix or a person can be in several files.
    #[must_use]
    pub fn groups(&self) -> &[GroupLoss] {
        self.plan.guarantee().groups()
    }

    /// What is exchanged in every averaging round, compiled from the topology.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        self.plan.schedule()
    }

    /// Averaging rounds K.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.plan.schedule().rounds()
    }

    /// The factor by which K rounds shrink the spread between peers.
    #[must_use]
    pub fn contraction(&self) -> f64 {
        self.plan.contraction()
    }

    /// Things the user should know before the run.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// What was read, before any filter.
    pub(crate) fn loaded(&self) -> &data::Loaded {
        &self.loaded
    }

    /// Wall-clock seconds of each part of resolving it.
    pub(crate) fn seconds(&self) -> &BTreeMap<&'static str, f64> {
        &self.seconds
    }

    /// Bounds of the mixing matrix's eigenvalues, which decide how fast averaging converges.
    pub(crate) fn mixing_bounds(&self) -> MixingBounds {
        mixing_bounds(self.topology())
    }

    /// Whether any noise is added.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.config.noise.scheme != Scheme::None
    }

    /// The curator's noise per unit sensitivity: z, k·z for persons at k participants, or 0 without noise.
    #[must_use]
    pub fn sigma_central(&self) -> f64 {
        self.plan.sigma_central()
    }

    /// Whether noise is shared on another graph than messages are sent on.
    #[must_use]
    pub fn has_noise_topology(&self) -> bool {
        !Arc::ptr_eq(
            &self.plan.network().topology,
            &self.plan.network().noise_topology,
        )
    }

    /// What the σ's of a release, from 1, are multiplied by: 1 with an even budget and no private mean.
    #[must_use]
    pub fn noise_factor(&self, release: ReleaseId) -> f64 {
        self.plan.noise_factor(release)
    }

    /// The number of releases of an even budget that cost one record what these do: Σ 1/f_l² over those that it meets, which is their
    /// number up to rounding, and as much for every retry as the dearest of them; of Laplace noise Σ 1/f_l. With v_u the variance factor of factor 1, μ² = Σ v_u/f_l² is this times v_u.
    #[must_use]
    pub fn even_iterations(&self) -> f64 {
        self.plan.guarantee().division().cost()
    }

    /// The same where no release is tried again.
    #[must_use]
    pub fn even_iterations_at_best(&self) -> f64 {
        self.plan.guarantee().division().cost_at_best()
    }

    /// All releases of the program, in order. Every release of an algorithm that files can name is an iteration of its own; a private mean
    /// comes before the first one.
    #[must_use]
    pub fn releases(&self) -> &[ReleaseSpec] {
        &self.plan.program().releases
    }

    /// How many iterations there are: one per release, but for a private mean.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        let last = self.plan.program().releases.last();
        last.map_or(0, |release| release.iteration.0)
    }

    /// Whether every peer fills coordinates of its own in this release.
    #[must_use]
    pub fn is_own(&self, release: ReleaseId) -> bool {
        self.plan.is_own(release)
    }

    /// Whether there is such a release.
    #[must_use]
    pub fn has_own_coordinates(&self) -> bool {
        self.plan.has_own_coordinates()
    }

    /// Whether all releases are of that kind: then nothing is averaged, and all peers hold the same bits.
    #[must_use]
    pub fn has_only_own_coordinates(&self) -> bool {
        let releases = &self.plan.program().releases;
        releases.iter().all(|one| one.form == Form::OwnCoordinates)
    }

    /// Standard deviation, per unit sensitivity and noise factor, of the noise in what everybody learns of this release: that of the sum, or of
    /// every peer's own coordinates.
    #[must_use]
    pub fn sigma_released(&self, release: ReleaseId) -> f64 {
        self.plan.sigma_released(release)
    }

    /// The batch that the row of this user is in, in a stream.
    #[must_use]
    pub fn batch_of_user(&self, user: usize) -> Option<u32> {
        let (arrival, batches) = self.config.algorithm.table().requirements().arrival?;
        Some(arrival.batch(user, self.user_rows.len(), batches))
    }

    /// What one record is and against whom it is protected.
    #[must_use]
    pub fn statement(&self) -> Statement {
        self.config.statement()
    }

    /// At how many peers one person's rows may be; `None` where no more than one was asked for.
    #[must_use]
    pub fn participants(&self) -> Option<usize> {
        self.config.privacy.participants()
    }

    /// The configuration with absolute paths, so that it runs from any folder, and with the share of a private mean as a number. What is in memory
    /// keeps its path: a file in the folder of the configuration.
    #[must_use]
    pub fn portable_config(&self) -> Config {
        let mut config = self.anchored(self.config.clone());
        if let Some(centring) = &self.centring {
            config.data.set_mean_share(Some(centring.share));
        }
        config
    }

    /// A configuration on the same files with absolute paths.
    pub(crate) fn anchored(&self, config: Config) -> Config {
        self.in_memory.anchored(config, &self.base)
    }

    /// The same hash with the seed left out: a seed can be guessed, and with it a simulation's noise.
    pub(crate) fn seedless_hash(&self) -> String {
        hash(&Config {
            seed: 0,
            ..self.config.clone()
        })
    }

    /// BLAKE3 of the configuration as resolved, paths as written, in hexadecimal.
    #[must_use]
    pub fn config_hash(&self) -> String {
        hash(&self.config)
    }
}

/// Rows and columns of the largest release.
pub(super) fn widest_shape(program: &Program) -> (usize, usize) {
    let widest = program.releases.iter().max_by_key(|one| one.values());
    widest.map_or((0, 0), ReleaseSpec::shape)
}

/// BLAKE3 of a configuration, in hexadecimal.
fn hash(config: &Config) -> String {
    let text = resolved(config);
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
