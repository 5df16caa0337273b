//! The least of a schedule that keeps a failure.

use super::error::FaultsError;
use super::prepared::Prepared;
use crate::config::FaultsConfig;
use crate::engine::event::faults::{self, FaultSchedule, Fired};
use crate::scenario::Experiment;

/// What a schedule is shrunk to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept<'a> {
    /// That nobody has a result, or that the run cannot go on.
    NoResult,
    /// That this case occurs, by its name in [`Cases::all`](faults::Cases::all).
    Case(&'a str),
}

/// Why a schedule cannot be shrunk.
#[derive(Debug, thiserror::Error)]
pub enum ShrinkError {
    /// An experiment whose peers tolerate nothing.
    #[error("the file has no [dropouts]: there is nothing to shrink")]
    NoDropouts,
    /// A case that there is none of.
    #[error("there is no case \"{name}\"; choose one of {known}")]
    Case {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A schedule that does not do what is to be kept.
    #[error("{0}")]
    Holds(&'static str),
    /// The run where nothing goes wrong fails.
    #[error(transparent)]
    Run(#[from] FaultsError),
}

/// The least of the experiment's faults that keeps this, with peers by name, and how many runs it took to find.
///
/// # Errors
/// [`ShrinkError`].
pub fn shrink(
    experiment: &Experiment,
    kept: Kept<'_>,
) -> Result<(FaultsConfig, usize), ShrinkError> {
    let tolerance = experiment.tolerance().ok_or(ShrinkError::NoDropouts)?;
    let none = Fired::default().cases.all();
    if let Kept::Case(name) = kept
        && !none.iter().any(|(known, _)| *known == name)
    {
        let known: Vec<&str> = none.iter().map(|(known, _)| *known).collect();
        return Err(ShrinkError::Case {
            name: name.to_owned(),
            known: known.join(", "),
        });
    }
    let session = experiment.session(&experiment.root_seed());
    let prepared = Prepared::new(experiment, &session, tolerance)?;
    let keeps = |tried: &FaultSchedule| match (
        faults::run(&prepared.views, &prepared.tolerance, tried),
        kept,
    ) {
        (Err(_), Kept::NoResult) => true,
        (Ok(run), Kept::NoResult) => run.reporter().is_none(),
        (Ok(run), Kept::Case(name)) => {
            let mut cases = run.fired.cases.all().into_iter();
            cases.any(|(known, count)| known == name && count > 0)
        }
        (Err(_), Kept::Case(_)) => false,
    };
    if !keeps(&prepared.schedule) {
        return Err(ShrinkError::Holds(match kept {
            Kept::NoResult => {
                "the run has a result, so there is no failure to keep: name a case of it with --keep"
            }
            Kept::Case(_) => "that case does not occur in the run",
        }));
    }
    let (least, runs) = faults::shrink(&prepared.schedule, keeps);
    Ok((experiment.named_faults(&least), runs))
}
