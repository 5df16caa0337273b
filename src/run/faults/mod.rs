//! Runs a session that tolerates losses, under the faults of its file, and says what came of it.

mod cost;
mod deviants;
mod error;
mod prepared;
mod shrinking;
mod story;
mod told;

use crate::engine::event::faults::{self, FaultyError, FaultyOutcome};
use crate::engine::{Observer, Session};
use crate::protocol::regroup::Tolerance;
use crate::scenario::Experiment;
use prepared::{Prepared, failed};
use story::Story;

pub(super) use cost::{Squares, squares};
pub use error::FaultsError;

// For the command `undertone faults`.
#[doc(hidden)]
pub use shrinking::{Kept, ShrinkError, shrink};

#[cfg(feature = "report")]
pub(crate) use deviants::DeviantsSummary;
pub(crate) use error::NoResult;
#[cfg(feature = "report")]
pub(crate) use told::listed;
pub(crate) use told::{Conducted, FaultsSummary, Faulty};

/// Runs a session whose peers tolerate losses, under the faults of the experiment's file.
///
/// # Errors
/// [`FaultsError::Peer`] if a peer cannot go on, [`FaultsError::NoResult`] if nobody has all sums in the end.
///
/// # Cost
/// That of two runs where anything goes wrong: faults that are drawn are drawn within what a run does where nothing goes wrong.
pub(super) fn conduct(
    experiment: &Experiment,
    (session, tolerance): (&Session, Tolerance),
    observer: &mut dyn Observer,
) -> Result<Conducted, FaultsError> {
    let prepared = Prepared::new(experiment, session, tolerance)?;
    let Prepared {
        views,
        tolerance,
        control,
        schedule,
        happens,
    } = &prepared;
    let failed = |error: FaultyError| failed(experiment, error);
    let run = match happens {
        true => {
            let run = faults::run_watched(views, tolerance, schedule, observer);
            Some(run.map_err(failed)?)
        }
        false => None,
    };
    let outcome = |run: &FaultyOutcome| run.outcome(views).map_err(|error| failed(error.into()));
    let happened = run.as_ref().unwrap_or(control);
    let story = Story {
        experiment,
        views,
        tolerance,
        run: happened,
    };
    let realised = story.realised();
    let mut summary = story.summary(realised.as_ref(), control);
    summary.deviants = deviants::told(experiment, session, schedule)?;
    let faulty = Faulty {
        summary,
        schedule: experiment.named_faults(schedule),
        moments: story.moments(),
        curves: story.curves(),
        fault_free: match happens {
            true => outcome(control)?,
            false => None,
        },
        realised,
    };
    match outcome(happened)? {
        Some(outcome) => {
            outcome
                .records
                .iter()
                .for_each(|record| observer.released(record));
            Ok(Conducted {
                outcome,
                faults: Some(faulty),
            })
        }
        None => Err(FaultsError::NoResult(NoResult {
            faulty: Box::new(faulty),
        })),
    }
}
