//! What a run with faults needs before it begins.

use std::sync::Arc;

use super::error::FaultsError;
use crate::engine::event::faults::{self, FaultSchedule, FaultyError, FaultyOutcome};
use crate::engine::{Session, SessionViews};
use crate::protocol::regroup::Tolerance;
use crate::scenario::Experiment;
use crate::vocabulary::Named;

/// A peer's error in the words of the experiment's graph.
pub(super) fn failed(experiment: &Experiment, error: FaultyError) -> FaultsError {
    FaultsError::Peer(Named::new(error, experiment.topology().graph().names()))
}

/// What a run needs: the sessions of its views, the run where nothing goes wrong, and everything that does, listed.
pub(super) struct Prepared {
    pub(super) views: Arc<SessionViews>,
    pub(super) tolerance: Arc<Tolerance>,
    pub(super) control: FaultyOutcome,
    pub(super) schedule: FaultSchedule,
    /// Whether anything goes wrong.
    pub(super) happens: bool,
}

impl Prepared {
    pub(super) fn new(
        experiment: &Experiment,
        session: &Session,
        tolerance: Tolerance,
    ) -> Result<Self, FaultsError> {
        let tolerance = Arc::new(tolerance);
        let averaging = experiment.plan().network().averaging.clone();
        let views = Arc::new(SessionViews::new(session.clone(), averaging));
        let asked = experiment.faults();
        let quiet = FaultSchedule {
            latency: asked.latency,
            resend_micros: asked.resend_micros,
            notice_micros: asked.notice_micros,
            grace_micros: asked.grace_micros,
            patience_micros: asked.patience_micros,
            ..FaultSchedule::none(asked.seed)
        };
        let failed = |error: FaultyError| failed(experiment, error);
        let control = faults::run(&views, &tolerance, &quiet).map_err(failed)?;
        let links: Vec<(u32, u32)> = session.graph().edge_list().collect();
        let schedule = asked
            .explicit(session.peers(), &links, control.extent)
            .map_err(|error| failed(error.into()))?;
        Ok(Self {
            happens: FaultSchedule {
                deviants: Vec::new(),
                ..schedule.clone()
            } != quiet,
            views,
            tolerance,
            control,
            schedule,
        })
    }
}
