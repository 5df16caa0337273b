//! `algorithm.kind = "auto"`: a pilot, a choice by what it released, and the run that was chosen with the rest of the budget.
//!
//! 1. A [`Pilot`] spends the share f of μ² (`[pilot] share`): one small release of how many users have how many
//!    interactions, and of what every item has of its users' rows.
//! 2. [`advise`] chooses an algorithm, its iterations and block, a degree floor and an averaging scheme: a function of what the pilot
//!    released and of what is public (the configuration, the graph, the number of users, the item degrees), and of nothing else.
//! 3. The session that was chosen spends 1 − f.
//!
//! Why both together cost what was promised, and what that rests on, is said and proved in [`BudgetShare`](crate::plan::BudgetShare): every session
//! that can be chosen is planned for the budget in the same adjacency, with the bound of its own degree floor.
//!
//! # Who chooses
//! Every peer could: all it takes is what everybody has. A simulation chooses by what peer 0 holds of the pilot's sum. Where averaging ends
//! with the same bits at all peers, they all choose the same; where it does not, someone has to say what was chosen, which costs no privacy.
//!
//! # What is looked at
//! [`Auto::choose`] hands [`advise`] an experiment, and of that only what `advise` says it looks at. Item degrees are among that: a run
//! that was chosen rests on their being public, and its receipt says so.

mod error;
mod sessions;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

use self::sessions::{chosen, ground, of_pilot};
use super::advise::{AdviseOptions, AlgorithmAdvice, Guess, PilotCounts, advise};
use crate::algorithm::AutoTable;
use crate::algorithm::Pilot;
use crate::config::{Config, PilotConfig};
use crate::engine::{Observer, Outcome, Silent};
use crate::run::receipt::{Choice, PilotReceipt, Receipt};
use crate::run::{Report, run, run_engine};
use crate::scenario::PilotTableError;
use crate::scenario::{Experiment, ExperimentError, Materials};
use crate::vocabulary::TAIL_DEGREES;

pub use self::error::AutoError;

/// Which rule chooses. It changes whenever the same numbers could lead to another choice.
pub(crate) const RULE: &str = "advise 6";

/// An experiment whose algorithm is still to be chosen, with everything checked that does not depend on the choice.
pub struct Auto {
    config: Config,
    materials: Materials,
    pilot: Option<Experiment>,
    ground: Experiment,
}

/// What a pilot released.
#[derive(Clone, Debug)]
pub struct Piloted {
    /// The pilot, as an experiment of its own.
    pub experiment: Experiment,
    /// Its run.
    pub outcome: Outcome,
    /// What it counted.
    pub counts: PilotCounts,
}

/// A choice, with what it rests on.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The configuration that left the choice open.
    pub config: Config,
    /// What was released first; `None` where the choice rests on public numbers alone.
    pub pilot: Option<Piloted>,
    /// All candidates, and which is recommended.
    pub advice: AlgorithmAdvice,
    /// The session that was chosen: it spends what the pilot left.
    pub experiment: Experiment,
}

impl Auto {
    /// Whether this configuration leaves the choice open.
    #[must_use]
    pub fn is_meant(config: &Config) -> bool {
        config.algorithm.is_auto()
    }

    /// The same configuration with the choice left open, after a pilot of this share: what is said of the algorithm but its rank and start
    /// is forgotten. `share` stands for the file's own where it is `None`.
    ///
    /// # Errors
    /// [`PilotTableError::Open`] for a P, which no candidate has.
    pub fn opened(mut config: Config, share: Option<f64>) -> Result<Config, PilotTableError> {
        if !config.algorithm.weights().source.is_none() {
            return Err(PilotTableError::Open {
                key: "algorithm.precondition",
                why: "candidates are compared by the eigenvectors of A, not of P A P; leave precondition out, or name the algorithm",
            });
        }
        let mut pilot = config.pilot.unwrap_or_default();
        pilot.share = share.unwrap_or(pilot.share);
        let own = config.algorithm.table();
        config.algorithm = AutoTable {
            rank: own.rank(),
            start: own.requirements().start,
        }
        .into();
        config.pilot = Some(pilot);
        Ok(config)
    }

    /// Checks everything that does not depend on the choice: the pilot, and an algorithm that could follow it.
    ///
    /// # Errors
    /// [`ExperimentError`] as for any experiment, and for keys of an algorithm that is still to be chosen.
    pub fn new(config: Config, base: &Path) -> Result<Self, ExperimentError> {
        Self::from_materials(config, Materials::new(base))
    }

    /// Does what [`Self::new`] does, with what these materials hold already.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_materials(config: Config, materials: Materials) -> Result<Self, ExperimentError> {
        sessions::check(&config)?;
        let table = table(&config);
        let pilot = (table.share != 0.0)
            .then(|| Experiment::resolve_part(of_pilot(&config), &materials))
            .transpose()?;
        let ground = Experiment::resolve_part(ground(&config), &materials)?;
        Ok(Self {
            config,
            materials,
            pilot,
            ground,
        })
    }

    /// The pilot, if there is one.
    #[must_use]
    pub fn pilot(&self) -> Option<&Experiment> {
        self.pilot.as_ref()
    }

    /// What candidates are held against: the data, graphs and privacy of the experiment.
    #[must_use]
    pub fn ground(&self) -> &Experiment {
        &self.ground
    }

    /// Runs the pilot and chooses. `guesses` are what is assumed of the data where the pilot does not say; `epsilon` of the candidates is
    /// that of the configuration.
    ///
    /// Equal configurations choose equally: the pilot's noise is that of the seed.
    ///
    /// # Errors
    /// [`AutoError`] if the pilot fails, nothing fits the bytes allowed, or what was chosen cannot be run.
    pub fn choose(
        &self,
        guesses: &[Guess],
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Chosen, AutoError> {
        let pilot = self.pilot.as_ref().map(piloted).transpose()?;
        let sent = pilot.as_ref().map_or(0, Piloted::bytes_max_peer);
        let options = AdviseOptions {
            bytes: table(&self.config)
                .bytes
                .map(|most| most.saturating_sub(sent)),
            guesses: guesses.to_vec(),
            pilot: pilot.as_ref().map(|pilot| pilot.counts.clone()),
        };
        let advice = advise(&self.ground, &options, progress)?;
        let config = chosen(&self.config, &advice.recommended, advice.reference_floor);
        let experiment = Experiment::resolve_part(config, &self.materials).map_err(Box::new)?;
        Ok(Chosen {
            config: self.config.clone(),
            pilot,
            advice,
            experiment,
        })
    }
}

/// The name, and nothing of the data.
impl fmt::Debug for Auto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auto")
            .field("name", &self.config.name)
            .finish_non_exhaustive()
    }
}

/// `[pilot]`, with its defaults.
fn table(config: &Config) -> PilotConfig {
    config.pilot.unwrap_or_default()
}

/// Runs a pilot.
fn piloted(experiment: &Experiment) -> Result<Piloted, AutoError> {
    let session = experiment.session(&experiment.root_seed());
    let outcome = run_engine(experiment, &session, &mut Silent)?;
    let counts = counted(&outcome)?;
    Ok(Piloted {
        experiment: experiment.clone(),
        outcome,
        counts,
    })
}

/// What a pilot released, as peer 0 holds it.
fn counted(outcome: &Outcome) -> Result<PilotCounts, AutoError> {
    let Some(record) = outcome.records.first() else {
        return Ok(PilotCounts::new(TAIL_DEGREES.to_vec(), Vec::new(), 0.0)?);
    };
    let sigma = |block: usize| record.sigmas.get(block).copied().unwrap_or(0.0);
    let counts = Pilot::tail(&record.sum).to_vec();
    let counts = PilotCounts::new(TAIL_DEGREES.to_vec(), counts, sigma(0))?;
    Ok(counts.with_shares(Pilot::shares(&record.sum).to_vec(), sigma(1))?)
}

impl Piloted {
    /// Bytes that the busiest peer sends in the pilot of a decentralised engine, whatever the engine is.
    #[must_use]
    pub fn bytes_max_peer(&self) -> u64 {
        let session = self.experiment.session(&self.experiment.root_seed());
        session.public().traffic(1).bytes.bytes_max_peer
    }
}

impl Chosen {
    /// The configuration that left the choice open with absolute paths, so that pilot, choice and run are made again from any folder.
    #[must_use]
    pub fn portable_config(&self) -> Config {
        self.experiment.anchored(self.config.clone())
    }

    /// Runs what was chosen. The report's receipt and summary list the pilot's release too, and what was chosen by it.
    ///
    /// # Errors
    /// [`AutoError`] if the run fails.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Report, AutoError> {
        let mut report = run(&self.experiment, observer)?;
        let pilot = self.pilot_receipt();
        report.receipt.choice = Some(self.choice());
        report.summary.choice = Some(self.choice());
        report.receipt.pilot.clone_from(&pilot);
        report.summary.pilot = pilot;
        Ok(report)
    }

    /// What was chosen, and by which rule.
    fn choice(&self) -> Choice {
        Choice {
            rule: RULE.to_owned(),
            chosen: self.advice.recommended.name.clone(),
        }
    }

    /// What the pilot released and what was promised of it.
    fn pilot_receipt(&self) -> Option<PilotReceipt> {
        let pilot = self.pilot.as_ref()?;
        let receipt = Receipt::of(&pilot.experiment, &pilot.outcome);
        PilotReceipt::of(
            receipt,
            (pilot.counts.counts(), pilot.counts.shares()),
            pilot.outcome.communication.bytes_max_peer,
        )
    }
}
