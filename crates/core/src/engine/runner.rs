//! What runs a session: an engine with its own settings and no others.

use std::error::Error;
use std::fmt;

use super::analytic::AnalyticOptions;
use super::central::SumNoise;
use super::event::Latency;
use super::{
    EngineError, Observer, Outcome, Session, analytic, central, event, federated, lockstep,
};
use crate::algorithm::{Program, ReleaseSpec, Unsupported};
use crate::privacy::AdversaryView;
use crate::vocabulary::Named;

/// What runs a session.
///
/// One of your own runs every session that shows no less than the runner does, and can be verified: it tells
/// [`Observer::transcript`] of every release, if the observer wants it, and returns an [`Outcome`].
pub trait Runner: fmt::Debug + Send + Sync {
    /// The name in files and reports.
    fn name(&self) -> &'static str;

    /// What an adversary sees of a run.
    fn seen(&self) -> AdversaryView;

    /// Whether every peer's published input exists in the run: not where the sum's noise is drawn as a whole.
    fn draws_every_input(&self) -> bool {
        true
    }

    /// Whether a session of this program can be run, as far as this release of it goes.
    ///
    /// # Errors
    /// [`Unsupported`] with what cannot be run and what to change.
    fn supports(&self, program: &Program, _: &ReleaseSpec) -> Result<(), Unsupported> {
        no_search(self.name(), program)
    }

    /// Runs the session.
    ///
    /// # Errors
    /// [`RunnerError`] of the engine.
    fn run(&self, session: &Session, observer: &mut dyn Observer) -> Result<Outcome, RunnerError>;
}

/// Refuses a search for a threshold, for which somebody has to see all rows.
fn no_search(runner: &str, program: &Program) -> Result<(), Unsupported> {
    match program.search {
        None => Ok(()),
        Some(_) => Err(Unsupported {
            who: format!("engine \"{runner}\"").into(),
            what: "a search for a threshold that compares secret counts".into(),
            change: "use engine \"central\", or a clip by \"histogram\" or \"geometric\"",
        }),
    }
}

/// Why a session did not end with an outcome.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// An engine of this crate failed; its text calls peers by their names.
    #[error(transparent)]
    Engine(Named<EngineError>),
    /// A runner of another kind failed.
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}

impl RunnerError {
    /// An engine's error in the words of the session's graph: peers by their names.
    pub(crate) fn engine(session: &Session) -> impl FnOnce(EngineError) -> Self + '_ {
        |error| Self::Engine(Named::new(error, session.graph().names()))
    }
}

/// A trusted curator who holds all rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Central;

/// A server and an ideal secure sum: every client adds its own share of noise, and an ideal secure aggregation reveals the sum alone.
///
/// The sum is Σ_u (f_u(X) + η_u), which is what a curator would compute with the clients' shares as its
/// noise. Bytes count one noisy block up and one public block down per client and release; what a real
/// secure-aggregation protocol adds to that is not modelled. Own coordinates go up as they are, and all of them down.
///
/// # Source
/// P1 Algorithm 2. Clients know their own noise, so that the budget is that of the s − t shares a coalition does not know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Federated;

/// All peers over flat arrays.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lockstep;

/// The estimates of some peers, drawn from their joint law: see [`analytic`].
///
/// Sum, basis and query of a record are probe 0's. Its disagreement is the worst probe's; `initial_spread` is the root
/// mean square over the noise, exact for the contributions as they are. Communication is what all peers would send.
///
/// # Cost
/// Time O(m·K·edges + m²(peers + noise edges) + L·(m·entries·p + m·n p²)); memory a few (m + 1) × n·p arrays, one of
/// peers × (m + 1) and the projections of all rows.
#[derive(Clone, Copy, Debug)]
pub struct Analytic {
    /// Number of probe peers m, peer 0 and others evenly spaced: peer ⌊i·s/m⌋ for i < m. Clamped to 1..=min(s, [`Self::MAX_PROBES`]).
    pub probes: usize,
    /// The factor by which the plan's rounds shrink the spread between peers, for [`Consensus::approximation`](super::Consensus::approximation).
    pub contraction: f64,
}

impl Analytic {
    /// The most probes a run may have: their covariance is dense.
    pub const MAX_PROBES: usize = analytic::MAX_PROBES;
}

/// Messages between peers in virtual time.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// How long messages take.
    pub latency: Latency,
}

impl Runner for Central {
    fn name(&self) -> &'static str {
        "central"
    }

    fn seen(&self) -> AdversaryView {
        AdversaryView::CuratorOutput
    }

    fn supports(&self, _: &Program, _: &ReleaseSpec) -> Result<(), Unsupported> {
        Ok(())
    }

    fn run(&self, session: &Session, observer: &mut dyn Observer) -> Result<Outcome, RunnerError> {
        central::run(session, SumNoise::Curator, observer).map_err(RunnerError::engine(session))
    }
}

impl Runner for Federated {
    fn name(&self) -> &'static str {
        "federated"
    }

    fn seen(&self) -> AdversaryView {
        AdversaryView::SecureSum
    }

    fn run(&self, session: &Session, observer: &mut dyn Observer) -> Result<Outcome, RunnerError> {
        federated::run(session, observer).map_err(RunnerError::engine(session))
    }
}

impl Runner for Lockstep {
    fn name(&self) -> &'static str {
        "lockstep"
    }

    fn seen(&self) -> AdversaryView {
        AdversaryView::Everything
    }

    fn run(&self, session: &Session, observer: &mut dyn Observer) -> Result<Outcome, RunnerError> {
        lockstep::run(session, observer).map_err(RunnerError::engine(session))
    }
}

impl Runner for Analytic {
    fn name(&self) -> &'static str {
        "analytic"
    }

    fn seen(&self) -> AdversaryView {
        AdversaryView::Everything
    }

    fn draws_every_input(&self) -> bool {
        false
    }

    fn supports(&self, program: &Program, release: &ReleaseSpec) -> Result<(), Unsupported> {
        no_search(self.name(), program)?;
        match analytic::is_product(release) {
            true => Ok(()),
            false => Err(Unsupported {
                who: "engine \"analytic\"".into(),
                what: match release.blocks.first() {
                    Some(block) => format!("a release of {}", block.quantity).into(),
                    None => "a release of nothing".into(),
                },
                change: "it draws sums of products A X over all rows; use engine \"lockstep\"",
            }),
        }
    }

    fn run(&self, session: &Session, observer: &mut dyn Observer) -> Result<Outcome, RunnerError> {
        let options = AnalyticOptions {
            probes: self.probes,
            contraction: self.contraction,
        };
        analytic::run(session, options, observer).map_err(RunnerError::engine(session))
    }
}

impl Runner for Event {
    fn name(&self) -> &'static str {
        "event"
    }

    fn seen(&self) -> AdversaryView {
        AdversaryView::Everything
    }

    fn run(&self, session: &Session, observer: &mut dyn Observer) -> Result<Outcome, RunnerError> {
        event::run(session, self.latency, observer).map_err(RunnerError::engine(session))
    }
}
