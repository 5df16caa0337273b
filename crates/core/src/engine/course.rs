//! The course of a session: the one loop that takes every engine without peers from release to release.

use super::outcome::{Observer, ReleaseRecord};
use super::{EngineError, Session};
use crate::algorithm::{Next, PublicState};
use crate::protocol::{PlannedRelease, ReleaseError, Terms};
use crate::vocabulary::ReleaseId;

/// A release that is about to be made.
#[derive(Clone, Copy)]
pub(super) struct Current<'a> {
    pub(super) id: ReleaseId,
    pub(super) planned: &'a PlannedRelease,
    pub(super) terms: &'a Terms,
}

/// What an engine does in a release: make contributions, sum them, advance what it holds of public state.
pub(super) trait Engine {
    /// The public state that decides what comes next: peer 0's.
    fn front(&self) -> &PublicState;

    /// Lets everybody propose a number and agree on the largest.
    fn agree(&mut self, planned: &PlannedRelease) -> f64;

    /// Makes a release and advances all states.
    fn release(
        &mut self,
        current: Current<'_>,
        observer: &mut dyn Observer,
    ) -> Result<ReleaseRecord, EngineError>;
}

/// Takes an engine through the program of its session.
///
/// # Errors
/// Those of [`Session::admit`] and of the engine.
pub(super) fn run(
    session: &Session,
    engine: &mut dyn Engine,
    observer: &mut dyn Observer,
) -> Result<Vec<ReleaseRecord>, EngineError> {
    let plan = session.plan();
    let mut records = Vec::new();
    loop {
        let state = engine.front();
        let id = ReleaseId(state.released).next();
        let agreed = state.agreed.unwrap_or(0.0);
        let next = plan
            .next(state)
            .map_err(|error| EngineError::at(id, error))?;
        let Some(planned) = plan.release(id) else {
            return Ok(records);
        };
        match next {
            Next::Done => return Ok(records),
            Next::Agree => {
                if !engine.agree(planned).is_finite() {
                    return Err(EngineError::at(id, ReleaseError::Overflow));
                }
            }
            Next::Release(_) => {
                let terms = planned.terms(agreed);
                let current = Current {
                    id,
                    planned,
                    terms: &terms,
                };
                let record = engine.release(current, observer)?;
                observer.released(&record);
                records.push(record);
            }
        }
    }
}
