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
mod game;
mod reused;
mod scaled;

#[cfg(test)]
mod tests;

use serde::Serialize;

pub use attackers::AttackerKind;
pub use confidence::{epsilon_lower_bound, gdp_lower_bound, proportion_bounds};

use crate::engine::{EngineError, Observer, Session};
use crate::privacy::{Adjacency, PrivacyError, accountant, gaussian};
use crate::scenario::filters::Choices;
use crate::scenario::{Experiment, ExperimentError, memory};
use crate::topology::PeerNameError;
use crate::vocabulary::{Named, printed};
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

/// What the audit found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audit {
    /// The adjacency unit that was attacked.
    pub adjacency: Adjacency,
    /// The name of the peer that held the canary.
    pub victim: String,
    /// The names of the colluding peers.
    pub coalition: Vec<String>,
    /// Runs per world.
    pub trials: u32,
    /// Probability that an honest implementation fails.
    pub significance: f64,
    /// Items of the canary's rows in the two worlds, and ‖C_1‖_F/Δ_1: 1 is the worst case, more than that a broken promise.
    pub canary: CanaryReport,
    /// μ that the accountant certifies for this victim and coalition, over all iterations.
    pub certified_mu: f64,
    /// The ε of that μ at the experiment's δ.
    pub certified_epsilon: f64,
    /// μ of this pair of worlds, from the change it really made.
    pub pair_mu: f64,
    /// The attacker that did best on the first half of the trials.
    pub attacker: AttackerKind,
    /// Lower confidence bound on μ.
    pub empirical_mu: f64,
    /// Lower confidence bound on ε at the experiment's δ, whatever the law of the noise.
    pub empirical_epsilon: f64,
    /// ε that the experiment promised against a coalition of this size; `None` if it is larger than promised.
    pub promised_epsilon: Option<f64>,
    /// Whether the lower bounds and the loss of this very pair stay below the certificate, and the certificate within
    /// the promise.
    pub passed: bool,
}

/// The canary in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CanaryReport {
    /// Items of the row in world 0, as read.
    pub without: usize,
    /// Items of the row in world 1, as read.
    pub with: usize,
    /// ‖C_1‖_F / Δ_1 with the public X⁰.
    pub tightness: f64,
}

/// Why there is nothing to audit.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// A run failed; the text calls peers by their names.
    #[error(transparent)]
    Engine(Named<EngineError>),
    /// The accountant refuses.
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
    /// Without noise everything leaks.
    #[error("noise.scheme = \"none\" protects nobody: there is nothing to audit")]
    NoNoise,
    /// Only sums are published.
    #[error(
        "engine \"{engine}\" publishes no inputs; audit the lockstep engine (--engine lockstep), whose bits event and swarm share"
    )]
    NoTranscript {
        /// The engine named.
        engine: &'static str,
    },
    /// No canary for this adjacency.
    #[error("the audit plays with adjacencies interaction and user, found {adjacency}")]
    NoCanary {
        /// The adjacency of the experiment.
        adjacency: Adjacency,
    },
    /// Nothing that the canary could be made of.
    #[error(
        "no item of the victim's first user passes the filters, so there is nothing to add or remove: lower \
         evaluation.holdout, keep more items, or choose another --victim"
    )]
    NothingSurvives,
    /// The experiment cannot be laid out again.
    #[error(transparent)]
    Experiment(Box<ExperimentError>),
    /// A victim or colluder that is no peer, or a colluder named twice.
    #[error(transparent)]
    Name(#[from] PeerNameError),
    /// A victim that colludes against itself.
    #[error(
        "the victim {} is in the coalition: choose another victim, or leave it out of the coalition",
        printed(victim)
    )]
    VictimColludes {
        /// The name of the victim.
        victim: String,
    },
    /// A coalition of everybody.
    #[error("the coalition holds all {peers} peers: leave out the one to attack")]
    NobodyHonest {
        /// Number of peers.
        peers: usize,
    },
    /// More memory than the machine has free.
    #[error("an audit runs trials side by side and keeps what they publish; {0}")]
    Memory(#[source] Box<ExperimentError>),
    /// A significance that is none, or beyond the accuracy of the bounds.
    #[error("the significance must lie between 1e-12 and 0.5, found {found}")]
    Significance {
        /// The number given.
        found: f64,
    },
    /// A network whose covariance is too large to solve for the optimal attacker.
    #[error(
        "the optimal attacker is found for up to {most} peers, this network has {peers}; audit a smaller one"
    )]
    TooManyPeers {
        /// Number of peers.
        peers: usize,
        /// The most.
        most: usize,
    },
    /// The covariance of the honest noise cannot be inverted.
    #[error(
        "the covariance of the honest peers' noise is not positive definite to working precision"
    )]
    Covariance,
    /// Too few trials to say anything.
    #[error("an audit needs at least 100 trials per world, found {trials}")]
    Trials {
        /// The number given.
        trials: u32,
    },
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
    memory::check_audit(experiment).map_err(|error| AuditError::Memory(Box::new(error)))?;
    let game = Game::new(experiment, victim, &coalition, choices)?;
    let trials = game.play(options.trials, prepare, observer)?;
    let verdict = attackers::judge(&trials, experiment.delta().get(), options.significance);
    let delta = experiment.delta();
    let certified_epsilon = gaussian::epsilon(game.certified_mu(), delta);
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

/// v_u of the victim against the coalition, per unit sensitivity.
fn variance_factor(
    experiment: &Experiment,
    victim: u32,
    coalition: &[u32],
) -> Result<f64, AuditError> {
    let noise = experiment.noise();
    let factors = accountant::exact_variance_factors(
        experiment.noise_topology().graph(),
        noise.sigma_own().powi(2),
        noise.sigma_pairwise().powi(2),
        coalition,
    )?;
    Ok(factors[victim as usize].expect("the victim is honest"))
}
