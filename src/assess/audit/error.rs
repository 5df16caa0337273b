//! Why there is nothing to audit.

use crate::engine::EngineError;
use crate::privacy::{Adjacency, PrivacyError};
use crate::scenario::ExperimentError;
use crate::topology::PeerNameError;
use crate::vocabulary::{Named, printed};

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
    /// Noise whose likelihood ratios the attackers do not know.
    #[error(
        "the audit's attackers know the likelihood ratios of Gaussian noise, and noise.distribution is \"laplace\" or \"wishart\"; `undertone verify` \
         checks its law"
    )]
    Laplace,
    /// No canary for this adjacency.
    #[error(
        "the audit plays with adjacencies interaction and user, and replace-user of rows of numbers, found {adjacency}"
    )]
    NoCanary {
        /// The adjacency of the experiment.
        adjacency: Adjacency,
    },
    /// A victim that holds nobody's rows, as hashes of names may leave one.
    #[error("the victim holds the rows of no user: choose another --victim")]
    NoUser,
    /// Nothing that the canary could be made of.
    #[error(
        "no item of the victim's first user passes the filters, so there is nothing to add or remove: lower \
         evaluation.holdout, keep more items, or choose another --victim"
    )]
    NothingSurvives,
    /// A row of a simulation that changes nothing, by being there or by being replaced.
    #[error(
        "the first row of the victim changes nothing of what is contributed: choose another victim"
    )]
    SameRow,
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
