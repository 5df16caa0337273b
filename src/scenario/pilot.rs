//! What a pilot and what is chosen by it take of an experiment, and what they do not go with. Why both together cost what was promised:
//! [`BudgetShare`].

use super::completion;
use super::error::{ExperimentError, PilotTableError};
use super::experiment::Experiment;
use super::rules::{Rule, keep};
use crate::config::Config;
use crate::plan::{self, BudgetShare};
use crate::privacy::{Scheme, SensitivitySpec};
use crate::vocabulary::{Distribution, Quantity, Seed};

impl Experiment {
    /// The part of μ² that this experiment spends; `None` where it has no pilot and spends all.
    #[must_use]
    pub fn part(&self) -> Option<BudgetShare> {
        share(&self.config)
    }

    /// [`Self::even_iterations`] with those of the pilot before it, if there is one: what μ² is this times v_u of. A pilot whose calibration spends
    /// less or more on one release than on many counts for what it spends.
    #[must_use]
    pub fn promised_iterations(&self) -> f64 {
        let own = self.even_iterations();
        let part = match self.part() {
            Some(part) if !self.config.algorithm.is_pilot() => part.get(),
            _ => return own,
        };
        let ratio = plan::multiplier(self.plan.promise(), 1)
            .map_or(1.0, |alone| alone.mu_total() / self.calibrated().mu_total());
        own / part * (part + (1.0 - part) * ratio.powi(2))
    }

    /// The root of all random streams of this experiment's sessions. A pilot has one of its own.
    #[must_use]
    pub fn root_seed(&self) -> Seed {
        let seed = Seed::from_u64(self.config.seed);
        match self.config.algorithm.is_pilot() {
            true => seed.pilot(),
            false => seed,
        }
    }
}

/// The part of the budget that this configuration spends, without a look at what it goes with; `None` for all of it.
pub(super) fn share(config: &Config) -> Option<BudgetShare> {
    let share = config.pilot?.share;
    match config.algorithm.is_pilot() {
        true => BudgetShare::of_pilot(share),
        false => BudgetShare::after_pilot(share),
    }
}

/// Refuses a pilot before an algorithm that was not chosen by it: the rest of the budget would be spent without the pilot's release.
pub(super) fn check_alone(config: &Config) -> Result<(), PilotTableError> {
    let algorithm = &config.algorithm;
    let alone = algorithm.is_auto() || algorithm.is_pilot();
    let kind = algorithm.name();
    match config.pilot {
        Some(_) if !alone => Err(PilotTableError::NotChosen { kind }),
        _ => Ok(()),
    }
}

/// The part of the budget that this experiment spends; `None` for all of it.
///
/// # Errors
/// [`PilotTableError`] for a share that is none, and for what two sessions under one budget do not go with.
pub(super) fn part(config: &Config) -> Result<Option<BudgetShare>, ExperimentError> {
    if config.algorithm.is_pilot() {
        check_counts(config)?;
    }
    let Some(pilot) = config.pilot else {
        return Ok(None);
    };
    let share = pilot.share;
    if !(0.0..1.0).contains(&share) {
        return Err(PilotTableError::Share { found: share }.into());
    }
    if share == 0.0 {
        return match config.algorithm.is_pilot() {
            true => Err(PilotTableError::Nothing.into()),
            false => Ok(None),
        };
    }
    check_counts(config)?;
    check_composition(config)?;
    Ok(self::share(config))
}

/// Refuses data of which a pilot can say nothing, and adjacencies under which it may not.
fn check_counts(config: &Config) -> Result<(), PilotTableError> {
    let with = |key, why| Err(PilotTableError::With { key, why });
    if config.data.is_of_numbers() || completion::is_meant(config) {
        return with(
            "rows of numbers",
            "a pilot counts interactions; leave [pilot] out",
        );
    }
    let privacy = &config.privacy;
    let spec = SensitivitySpec::new(
        privacy.adjacency,
        privacy.sensitivity(),
        1,
        config.data.degree_cap().copied(),
    );
    let bounds = [Quantity::TailCounts, Quantity::ItemShares].map(|quantity| spec.of(quantity, 1));
    let unproved = bounds.into_iter().find_map(Result::err);
    unproved.map_or(Ok(()), |why| Err(PilotTableError::Unproved(why)))
}

/// What two sessions under one budget have not been shown to go with.
const COMPOSED: &[Rule] = &[
    (
        "noise.distribution = \"laplace\"",
        |config| config.noise.distribution == Distribution::Laplace,
        "counts of users have no bound in absolute values; set noise.distribution = \"gaussian\"",
    ),
    (
        "noise.distribution = \"wishart\"",
        |config| config.noise.distribution == Distribution::Wishart,
        "counts of users are no triangle of a matrix; set noise.distribution = \"gaussian\"",
    ),
    (
        "noise.scheme = \"ring\"",
        |config| config.noise.scheme == Scheme::Ring,
        "what samplers of integers deviate is charged for one session; set noise.scheme = \"pairwise\" or share = 0",
    ),
];

/// Refuses what two sessions under one budget have not been shown to go with.
fn check_composition(config: &Config) -> Result<(), PilotTableError> {
    keep(COMPOSED, config, |key, why| PilotTableError::With {
        key,
        why,
    })?;
    let kind = config.algorithm.name();
    let sketch = config.algorithm.table().sketch();
    let follows = sketch.is_some_and(|program| program.check_each(BudgetShare::supports).is_ok());
    match follows {
        true => Ok(()),
        false => Err(PilotTableError::Follows { kind }),
    }
}
