//! Plays the distinguishing game on real transcripts: is the certified privacy loss honest?
//!
//! Two neighbouring worlds differ in one record of the data **as read**, the *canary*: one user's row before every
//! filter. Both go through the item list, the hold-out and the cap, and are dealt to the peers, as the data of a run is; what
//! is attacked is the whole mechanism. In each trial the protocol runs with
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
mod confidence;
mod error;
mod finding;
mod game;
mod integers;
mod reused;
mod scaled;

#[cfg(test)]
mod tests;

pub use attackers::AttackerKind;
pub use confidence::{epsilon_lower_bound, gdp_lower_bound, proportion_bounds};
pub use error::AuditError;
pub use finding::{Audit, CanaryReport};

use crate::engine::{Observer, Session};
use crate::scenario::filters::Choices;
use crate::scenario::{Experiment, memory};
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

/// Audits an experiment.
///
/// # Errors
/// [`AuditError`] if the experiment has nothing to audit or a run fails.
///
/// # Cost
/// 2 · `trials` runs of the lockstep engine, in parallel.
pub fn audit(
    experiment: &Experiment,
    options: &AuditOptions,
    observer: &mut dyn Observer,
) -> Result<Audit, AuditError> {
    audit_sessions(experiment, options, &|session| session, observer)
}

/// The same with a chance to break each session on purpose, for the tests.
fn audit_sessions(
    experiment: &Experiment,
    options: &AuditOptions,
    prepare: &(dyn Fn(Session) -> Session + Sync),
    observer: &mut dyn Observer,
) -> Result<Audit, AuditError> {
    audit_filters(experiment, options, Choices::default(), prepare, observer)
}

/// The same with a chance to break the filters that the data goes through as well.
fn audit_filters(
    experiment: &Experiment,
    options: &AuditOptions,
    choices: Choices,
    prepare: &(dyn Fn(Session) -> Session + Sync),
    observer: &mut dyn Observer,
) -> Result<Audit, AuditError> {
    let Players { victim, coalition } = check(experiment, options)?;
    let delta = experiment.delta().ok_or(AuditError::Laplace)?;
    memory::check_audit(experiment).map_err(|error| AuditError::Memory(Box::new(error)))?;
    let game = Game::new(experiment, victim, &coalition, choices)?;
    let trials = game.play(options.trials, prepare, observer)?;
    let verdict = attackers::judge(&trials, delta.get(), options.significance);
    let certified_epsilon = experiment.noise().epsilon_of(game.certified_mu(), delta);
    let privacy = &experiment.config().privacy;
    let promised_epsilon =
        (options.coalition.len() <= privacy.colluders).then_some(privacy.epsilon);
    let kept = promised_epsilon.is_none_or(|promise| certified_epsilon <= promise * (1.0 + 1e-9));
    // Known without any statistics: neighbouring data must not move what peers contribute further than Δ.
    let covered = trials.pair_mu() <= game.certified_mu() * (1.0 + 1e-9);
    Ok(Audit {
        adjacency: experiment.config().privacy.adjacency,
        victim: experiment.peer_name(victim),
        coalition: coalition
            .iter()
            .map(|&peer| experiment.peer_name(peer))
            .collect(),
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

fn check(experiment: &Experiment, options: &AuditOptions) -> Result<Players, AuditError> {
    if !experiment.is_private() {
        return Err(AuditError::NoNoise);
    }
    if experiment.noise().laplace_noise().is_some() {
        return Err(AuditError::Laplace);
    }
    let engine = experiment.config().engine.kind;
    if engine.reveals_only_sums() || !engine.draws_every_input() {
        return Err(AuditError::NoTranscript {
            engine: engine.name(),
        });
    }
    if !(1e-12..=0.5).contains(&options.significance) {
        return Err(AuditError::Significance {
            found: options.significance,
        });
    }
    let peers = experiment.topology().graph().nodes();
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
    let mut coalition = experiment.peers_named(&options.coalition)?;
    coalition.sort_unstable();
    let victim = match &options.victim {
        Some(name) => experiment.topology().find(name)?,
        None => (0..peers as u32)
            .find(|peer| coalition.binary_search(peer).is_err())
            .ok_or(AuditError::NobodyHonest { peers })?,
    };
    if coalition.binary_search(&victim).is_ok() {
        let victim = experiment.peer_name(victim);
        return Err(AuditError::VictimColludes { victim });
    }
    Ok(Players { victim, coalition })
}
