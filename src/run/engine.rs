//! Runs a session on the engine that the experiment names.

use super::faults::{Conducted, FaultsError, conduct};
use crate::config::EngineKind;
use crate::engine::{EngineError, Observer, Outcome, RunnerError, Session};
#[cfg(not(feature = "node"))]
use crate::scenario::NoNode;
use crate::scenario::{Experiment, ExperimentError};
use crate::vocabulary::Named;

/// Why an experiment could not be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The engine failed; its text calls peers by their names.
    #[error(transparent)]
    Engine(Named<EngineError>),
    /// The swarm failed; its text calls peers by their names.
    #[cfg(feature = "node")]
    #[error(transparent)]
    Swarm(Named<crate::node::HostError>),
    /// A runner of your own failed.
    #[error(transparent)]
    Runner(Box<dyn std::error::Error + Send + Sync>),
    /// So much went wrong that a peer cannot go on, or that nobody has a result.
    #[error(transparent)]
    Faults(#[from] FaultsError),
    /// This build has no libp2p.
    #[cfg(not(feature = "node"))]
    #[error(
        "engine.kind = \"swarm\" needs libp2p, which this build leaves out; build with the feature `node`"
    )]
    NoNode,
    /// The method to compare with cannot be run; nothing has been.
    #[error("[compare] {0}")]
    Compared(#[from] Box<ExperimentError>),
}

impl From<RunnerError> for RunError {
    fn from(error: RunnerError) -> Self {
        let other = match error {
            RunnerError::Engine(error) => return Self::Engine(error),
            RunnerError::Other(other) => other,
        };
        #[cfg(feature = "node")]
        let other = match other.downcast::<Named<crate::node::HostError>>() {
            Ok(error) => return Self::Swarm(*error),
            Err(other) => other,
        };
        #[cfg(not(feature = "node"))]
        let Err(other) = other.downcast::<NoNode>() else {
            return Self::NoNode;
        };
        Self::Runner(other)
    }
}

impl RunError {
    /// An engine's error in the words of the session's graph: peers by their names.
    pub(crate) fn engine(session: &Session) -> impl FnOnce(EngineError) -> Self + '_ {
        |error| Self::Engine(Named::new(error, session.graph().names()))
    }
}

/// Runs a session on the engine the experiment names.
///
/// # Errors
/// [`RunError`] of that engine.
pub(crate) fn run_engine(
    experiment: &Experiment,
    session: &Session,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunError> {
    run_tolerant(experiment, session, observer).map(|conducted| conducted.outcome)
}

/// The same, with what went wrong where the session tolerates losses and something does.
///
/// # Errors
/// As [`run_engine`].
pub(crate) fn run_tolerant(
    experiment: &Experiment,
    session: &Session,
    observer: &mut dyn Observer,
) -> Result<Conducted, RunError> {
    let is_event = experiment.config().engine.kind == EngineKind::Event;
    // Where nothing goes wrong peers that tolerate losses publish, bit for bit, what all others do: a transcript is theirs.
    let is_transcribed = observer.wants_transcript() && experiment.config().faults.is_none();
    match experiment
        .tolerance()
        .filter(|_| is_event && !is_transcribed)
    {
        Some(tolerance) => Ok(conduct(experiment, (session, tolerance), observer)?),
        None => run_plain(experiment, session, observer).map(Conducted::from),
    }
}

fn run_plain(
    experiment: &Experiment,
    session: &Session,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunError> {
    let simulation = experiment.simulation();
    Ok(simulation.runner().run(session, observer)?)
}

#[cfg(test)]
mod tests {
    use super::run_engine;
    use crate::engine::Silent;
    use crate::scenario::testing::sim;
    use crate::vocabulary::Seed;

    /// What a quickstart of 12 peers on 40 items publishes as its first noisy sum.
    fn first_sum(set: &[&str]) -> Vec<f64> {
        let common = [
            "peers.count=12",
            "topology.degree=4",
            "data.items=40",
            "algorithm.rank=2",
        ];
        let experiment = sim("../tests/power.toml", &[&common, set].concat()).expect("valid");
        let session = experiment.session(&Seed::from_u64(3));
        let outcome = run_engine(&experiment, &session, &mut Silent).expect("runs");
        outcome.records[0].sum.values().to_vec()
    }

    /// The largest difference of two sums.
    fn apart(a: &[&str], b: &[&str]) -> f64 {
        let pairs = first_sum(a).into_iter().zip(first_sum(b));
        pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
    }

    /// The rows are the same in each pair, and so were the sums: that they were said that no rating lies in between. Noise
    /// of 80 coordinates with σ about 0.8 each that is independent differs by less than 0.5 at all of them with
    /// probability below 1e-30.
    #[test]
    fn settings_that_leave_the_rows_as_they_are_draw_other_noise() {
        for (a, b) in [
            (&["data.threshold=0"][..], &["data.threshold=0.4"][..]),
            (&[], &["evaluation.holdout=1e-12"]),
            (
                &["noise.scheme=local"],
                &["noise.scheme=local", "engine.kind=federated"],
            ),
            (
                &["engine.kind=analytic", "engine.probes=2"],
                &["engine.kind=analytic", "engine.probes=8"],
            ),
        ] {
            assert!(apart(a, b) > 0.5, "{a:?} {b:?}");
        }
        for (a, b) in [
            (&[][..], &["engine.kind=event"][..]),
            (&[], &["name=other"]),
            (&[], &["evaluation.top=7"]),
        ] {
            assert_eq!(apart(a, b), 0.0, "{a:?} {b:?}");
        }
    }
}
