//! Plays the distinguishing game on real transcripts: is the certified privacy loss honest?
//!
//! Two neighbouring worlds differ in one record of the data **as read**, the *canary*: one user's row before every
//! filter. Both go through the item list, the hold-out and the cap, and are dealt to the peers, as the data of a run is; what
//! is attacked is the whole mechanism. Rows in memory have no filters: their canary is the first row that the victim holds. In each trial the protocol runs with
//! fresh noise in one of them; attackers who see everything that is published, and what a coalition of
//! peers knows, guess which. How well they do bounds the privacy loss from **below**, with stated
//! confidence; the accountant bounds it from **above**. A lower bound above the certificate means that
//! the implementation leaks or the accounting is wrong.
//!
//! The likelihood-ratio attacker is optimal when the implementation is what the plan says, so that the two
//! bounds meet where the theory is tight. The other attackers look for defects the plan does not know: missing, weak or reused
//! noise. The best one is chosen on one half of the trials and judged on the other, so that their number costs no
//! confidence.

mod attackers;
mod canary;
pub(in crate::assess) mod confidence;
mod error;
mod finding;
mod game;
mod integers;
mod reused;
mod scaled;

#[cfg(test)]
mod tests;

pub use error::AuditError;
pub use finding::Audit;

use crate::engine::{Observer, PeerRows, Session, Simulation};
use crate::privacy::AdversaryView;
use crate::scenario::filters::{self, Choices};
use crate::scenario::{Experiment, memory};
use canary::Canary;
use game::Game;

/// The largest network audited: the optimal attacker needs a dense solve.
const MOST_PEERS: usize = 2000;

/// How thorough to be.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditOptions {
    /// Runs in each world. Half of them choose the attacker and its threshold, half judge it.
    pub trials: u32,
    /// Probability that an honest implementation fails the audit.
    pub significance: f64,
    /// The names of the colluding peers; they see what they know besides what everybody sees.
    pub coalition: Vec<String>,
    /// The name of the peer that holds the canary; the first honest peer by default.
    pub victim: Option<String>,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self {
            trials: 2000,
            significance: 1e-3,
            coalition: Vec::new(),
            victim: None,
        }
    }
}

/// What is audited. An experiment's canary is a row of the file, before every filter; a simulation of rows in memory has none, and its
/// canary is the first row that the victim holds.
#[derive(Clone, Copy, Debug)]
pub enum AuditSubject<'a> {
    /// An experiment file.
    Experiment(&'a Experiment),
    /// Rows in memory.
    Simulation(&'a Simulation),
}

impl<'a> From<&'a Experiment> for AuditSubject<'a> {
    fn from(experiment: &'a Experiment) -> Self {
        Self::Experiment(experiment)
    }
}

impl<'a> From<&'a Simulation> for AuditSubject<'a> {
    fn from(simulation: &'a Simulation) -> Self {
        Self::Simulation(simulation)
    }
}

impl AuditSubject<'_> {
    fn simulation(self) -> Simulation {
        match self {
            Self::Experiment(experiment) => experiment.simulation(),
            Self::Simulation(simulation) => simulation.clone(),
        }
    }

    /// ε, and against how many colluders: what a file says and not what was planned for it.
    fn promised(self) -> (f64, usize) {
        match self {
            Self::Experiment(experiment) => {
                let privacy = &experiment.config().privacy;
                (privacy.epsilon, privacy.colluders)
            }
            Self::Simulation(simulation) => {
                let promise = simulation.plan().promise();
                (promise.epsilon.get(), promise.colluders)
            }
        }
    }

    fn check_memory(self) -> Result<(), AuditError> {
        match self {
            Self::Experiment(experiment) => {
                memory::check_audit(experiment).map_err(|error| AuditError::Memory(Box::new(error)))
            }
            Self::Simulation(_) => Ok(()),
        }
    }

    /// The canary in the place of the victim's first row, and the rows that all peers hold in the two worlds.
    fn canary(
        self,
        session: &Session,
        victim: u32,
        choices: Choices,
    ) -> Result<(Canary, [PeerRows; 2]), AuditError> {
        let experiment = match self {
            Self::Experiment(experiment) => experiment,
            Self::Simulation(simulation) => {
                return Canary::of_row(simulation, session, victim as usize);
            }
        };
        let dealt = filters::assignment(
            experiment.config(),
            experiment.interactions(),
            experiment.placed(),
        )
        .map_err(|error| AuditError::Experiment(Box::new(error)))?;
        let first = dealt[victim as usize].first().copied();
        let user = first.ok_or(AuditError::NoUser)? as usize;
        Canary::find(experiment, user, session.start(), choices)
    }
}

/// Audits an experiment, or a simulation of rows in memory.
///
/// # Errors
/// [`AuditError`] if there is nothing to audit or a run fails.
///
/// # Cost
/// 2 · `trials` runs of the lockstep engine, in parallel.
pub fn audit<'a>(
    subject: impl Into<AuditSubject<'a>>,
    options: &AuditOptions,
    observer: &mut dyn Observer,
) -> Result<Audit, AuditError> {
    audit_sessions(subject, options, &|session| session, observer)
}

/// The same with a chance to break each session on purpose, for the tests.
fn audit_sessions<'a>(
    subject: impl Into<AuditSubject<'a>>,
    options: &AuditOptions,
    prepare: &(dyn Fn(Session) -> Session + Sync),
    observer: &mut dyn Observer,
) -> Result<Audit, AuditError> {
    let choices = Choices::default();
    audit_filters(subject.into(), options, choices, prepare, observer)
}

/// The same with a chance to break the filters that the data goes through as well.
fn audit_filters(
    subject: AuditSubject<'_>,
    options: &AuditOptions,
    choices: Choices,
    prepare: &(dyn Fn(Session) -> Session + Sync),
    observer: &mut dyn Observer,
) -> Result<Audit, AuditError> {
    let simulation = subject.simulation();
    let Players { victim, coalition } = check(&simulation, options)?;
    let (plan, promise) = (simulation.plan(), simulation.plan().promise());
    let delta = promise.delta.ok_or(AuditError::Laplace)?;
    subject.check_memory()?;
    let game = Game::new(&simulation, victim, &coalition, |session| {
        subject.canary(session, victim, choices)
    })?;
    let trials = game.play(options.trials, prepare, observer)?;
    let verdict = attackers::judge(&trials, delta.get(), options.significance);
    let noise = plan.guarantee().noise();
    let certified_epsilon = noise.epsilon_of(game.certified_mu(), delta);
    let (epsilon, colluders) = subject.promised();
    let promised_epsilon = (options.coalition.len() <= colluders).then_some(epsilon);
    let kept = promised_epsilon.is_none_or(|promise| certified_epsilon <= promise * (1.0 + 1e-9));
    // Known without any statistics: neighbouring data must not move what peers contribute further than Δ.
    let covered = trials.pair_mu() <= game.certified_mu() * (1.0 + 1e-9);
    let name = |peer: u32| plan.network().topology.graph().name(peer as usize);
    Ok(Audit {
        adjacency: promise.adjacency(),
        victim: name(victim),
        coalition: coalition.iter().map(|&peer| name(peer)).collect(),
        trials: options.trials,
        significance: options.significance,
        canary: game.report(),
        certified_mu: game.certified_mu(),
        certified_epsilon,
        pair_mu: trials.pair_mu(),
        attacker: verdict.attacker,
        empirical_mu: verdict.mu,
        empirical_epsilon: verdict.epsilon,
        promised_epsilon,
        passed: verdict.mu <= game.certified_mu()
            && verdict.epsilon <= certified_epsilon
            && covered
            && kept,
    })
}

/// Who attacks whom, by index.
struct Players {
    victim: u32,
    /// Ascending.
    coalition: Vec<u32>,
}

fn check(simulation: &Simulation, options: &AuditOptions) -> Result<Players, AuditError> {
    let plan = simulation.plan();
    if plan.promise().noise.is_none() {
        return Err(AuditError::NoNoise);
    }
    if !plan.guarantee().noise().is_gaussian() {
        return Err(AuditError::Laplace);
    }
    let runner = simulation.runner();
    if runner.seen() != AdversaryView::Everything || !runner.draws_every_input() {
        let engine = runner.name();
        return Err(AuditError::NoTranscript { engine });
    }
    if !(1e-12..=0.5).contains(&options.significance) {
        return Err(AuditError::Significance {
            found: options.significance,
        });
    }
    let topology = &plan.network().topology;
    let peers = topology.graph().nodes();
    if peers > MOST_PEERS {
        return Err(AuditError::TooManyPeers {
            peers,
            most: MOST_PEERS,
        });
    }
    if options.trials < 100 {
        return Err(AuditError::Trials {
            trials: options.trials,
        });
    }
    let mut coalition = topology.find_all(&options.coalition)?;
    coalition.sort_unstable();
    let victim = match &options.victim {
        Some(name) => topology.find(name)?,
        None => (0..peers as u32)
            .find(|peer| coalition.binary_search(peer).is_err())
            .ok_or(AuditError::NobodyHonest { peers })?,
    };
    if coalition.binary_search(&victim).is_ok() {
        let victim = topology.graph().name(victim as usize);
        return Err(AuditError::VictimColludes { victim });
    }
    Ok(Players { victim, coalition })
}
