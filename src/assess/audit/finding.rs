//! What an audit finds.

use serde::Serialize;

use super::attackers::AttackerKind;
use crate::privacy::Adjacency;

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
