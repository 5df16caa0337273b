//! Everything the peers of one session must agree on, and the hash that names it.

use serde::Serialize;

use super::averaging::Coefficients;
use super::message::{Body, SessionId};
use super::wire;
use crate::algorithm::AlgorithmKind;
use crate::privacy::{Sensitivity, Statistic};
use crate::vocabulary::{Iteration, Round};

/// The public parameters of a session, before validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanParameters {
    /// Number of peers s; the mean is multiplied by it to give the sum.
    pub peers: u32,
    /// Items n: rows of X.
    pub dimension: usize,
    /// Columns p of X.
    pub rank: usize,
    /// Iterations L.
    pub iterations: u32,
    /// What is contributed and how the state advances.
    pub algorithm: AlgorithmKind,
    /// How far one person can move the sum, as a function of a public statistic of X.
    pub sensitivity: Sensitivity,
    /// Standard deviation of a peer's own noise per unit sensitivity.
    pub sigma_own: f64,
    /// Standard deviation of a pairwise term per unit sensitivity.
    pub sigma_pairwise: f64,
    /// Rounds of max-consensus: at least the diameter of the communication graph.
    pub scale_rounds: u32,
    /// The coefficients of every averaging round.
    pub schedule: Vec<Coefficients>,
    /// Hash of the edges of the communication graph and of the noise graph.
    pub topology: [u8; 32],
    /// Hash of the public starting block.
    pub start: [u8; 32],
}

/// A plan that cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// One of the counts is zero or too large.
    #[error("{what} must lie between {low} and {high}, found {found}")]
    Count {
        /// Which parameter.
        what: &'static str,
        /// Smallest value allowed.
        low: usize,
        /// Largest value allowed.
        high: usize,
        /// The value given.
        found: usize,
    },
    /// A standard deviation that is negative, NaN or infinite.
    #[error("{what} must be a finite standard deviation, at least 0, found {found}")]
    Sigma {
        /// Which parameter.
        what: &'static str,
        /// The value given.
        found: f64,
    },
}

/// A validated plan with its session name.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    parameters: PlanParameters,
    session: SessionId,
}

impl Plan {
    /// Checks the parameters and names the session.
    ///
    /// # Errors
    /// [`PlanError`] for zero or excessive counts, a rank above the dimension and bad noise scales.
    pub fn new(mut parameters: PlanParameters) -> Result<Self, PlanError> {
        let count = |what, low, high, found| {
            if (low..=high).contains(&found) {
                Ok(())
            } else {
                Err(PlanError::Count {
                    what,
                    low,
                    high,
                    found,
                })
            }
        };
        count(
            "the number of peers",
            1,
            u32::MAX as usize,
            parameters.peers as usize,
        )?;
        count(
            "the number of items",
            1,
            u32::MAX as usize,
            parameters.dimension,
        )?;
        count("algorithm.rank", 1, parameters.dimension, parameters.rank)?;
        count(
            "algorithm.iterations",
            1,
            100_000,
            parameters.iterations as usize,
        )?;
        count(
            "averaging rounds",
            1,
            super::averaging::MAX_ROUNDS as usize,
            parameters.schedule.len(),
        )?;
        let values = parameters.dimension.saturating_mul(parameters.rank);
        count("items times rank", 1, wire::MAX_VALUES, values)?;
        for (what, found) in [
            ("the own noise scale", parameters.sigma_own),
            ("the pairwise noise scale", parameters.sigma_pairwise),
        ] {
            if !(found.is_finite() && found >= 0.0) {
                return Err(PlanError::Sigma { what, found });
            }
        }
        if parameters.sensitivity.statistic() == Statistic::None {
            parameters.scale_rounds = 0;
        }
        let session = SessionId(wire::digest(&parameters));
        Ok(Self {
            parameters,
            session,
        })
    }

    /// The session's name.
    #[must_use]
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The public parameters.
    #[must_use]
    pub fn parameters(&self) -> &PlanParameters {
        &self.parameters
    }

    /// n·p: coordinates of every exchanged block.
    #[must_use]
    pub fn values(&self) -> usize {
        self.parameters.dimension * self.parameters.rank
    }

    /// Averaging rounds K per iteration.
    #[must_use]
    pub fn averaging_rounds(&self) -> u32 {
        self.parameters.schedule.len() as u32
    }

    /// Exchanges per iteration: max-consensus rounds, then averaging rounds.
    #[must_use]
    pub fn steps_per_iteration(&self) -> u32 {
        self.parameters.scale_rounds + self.averaging_rounds()
    }

    /// The position of a message in the session's sequence of exchanges, if the plan has it.
    #[must_use]
    pub fn step(&self, iteration: Iteration, round: Round, body: &Body) -> Option<u64> {
        let (before, rounds) = match body {
            Body::Scale(_) => (0, self.parameters.scale_rounds),
            Body::Average(_) => (self.parameters.scale_rounds, self.averaging_rounds()),
        };
        let valid = (1..=self.parameters.iterations).contains(&iteration.0) && round.0 < rounds;
        valid.then(|| {
            let complete = u64::from(iteration.0 - 1) * u64::from(self.steps_per_iteration());
            complete + u64::from(before) + u64::from(round.0)
        })
    }

    /// The bytes every peer sends per neighbour in one iteration, frames and prefixes included.
    #[must_use]
    pub fn bytes_per_edge_end(&self) -> u64 {
        let scale =
            u64::from(self.parameters.scale_rounds) * wire::framed_len(&Body::Scale(0.0)) as u64;
        scale + u64::from(self.averaging_rounds()) * wire::framed_block_len(self.values()) as u64
    }
}
