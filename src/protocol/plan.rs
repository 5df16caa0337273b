//! Everything the peers of one session must agree on, and the hash that names it.

use serde::Serialize;

use super::message::{Body, SessionId};
use super::wire;
use crate::algorithm::{Algorithm, AlgorithmKind, Sizes};
use crate::privacy::{Sensitivity, Statistic, even_iterations};
use crate::vocabulary::{Iteration, Release, Round};

/// The public parameters of a session, before validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanParameters {
    /// Number of peers s; the mean is multiplied by it to give the sum.
    pub peers: u32,
    /// Items n: rows of X.
    pub dimension: usize,
    /// Eigenvectors wanted, p.
    pub rank: usize,
    /// Columns b of a query where the algorithm lets them be more than p; p otherwise.
    pub block: usize,
    /// β of [`AlgorithmKind::Momentum`]; the others ignore it.
    pub momentum: f64,
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
    /// f_l: what both standard deviations are multiplied by in iteration l; empty stands for 1 in all. Σ 1/f_l² ≤ L, so
    /// that they spend no more than L iterations of factor 1 (see `privacy::split_budget`).
    pub noise_factors: Vec<f64>,
    /// Rounds of max-consensus: at least the diameter of the communication graph.
    pub scale_rounds: u32,
    /// Averaging rounds K per iteration.
    pub averaging_rounds: u32,
    /// Hash of the averaging program, which compiles the communication graph: what is exchanged in every round.
    pub program: [u8; 32],
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
    /// More coordinates per release than a message holds.
    #[error(
        "algorithm.kind = \"{algorithm}\" on {dimension} items would have every peer release {found} numbers at once, a \
         message holds at most {most}: lower data.items"
    )]
    TooWide {
        /// The algorithm.
        algorithm: &'static str,
        /// Items n.
        dimension: usize,
        /// Coordinates of one release.
        found: usize,
        /// The most a message holds.
        most: usize,
    },
    /// A number of iterations the algorithm cannot run.
    #[error(
        "algorithm.kind = \"{algorithm}\" releases everything in {needed} iteration(s): set algorithm.iterations = {needed}, \
         found {found}"
    )]
    Iterations {
        /// The algorithm.
        algorithm: &'static str,
        /// The only number it runs.
        needed: u32,
        /// The number given.
        found: u32,
    },
    /// A sensitivity bound of something else than what is released.
    #[error(
        "algorithm.kind = \"{algorithm}\" releases {released}, but the sensitivity is a bound for {bounded}: noise scaled by it \
         would protect nothing"
    )]
    Bound {
        /// The algorithm.
        algorithm: &'static str,
        /// What it releases.
        released: Described,
        /// What the bound is for.
        bounded: Described,
    },
    /// Noise factors that are not one per iteration.
    #[error("{found} noise factors for {iterations} iterations: give none or one each")]
    Factors {
        /// How many.
        found: usize,
        /// L.
        iterations: u32,
    },
    /// Noise factors that spend more than the plan's iterations may.
    #[error(
        "the noise factors of {iterations} iterations cost as much as {found} even ones: raise them until the sum of their \
         inverse squares is at most {iterations}"
    )]
    Overspent {
        /// Σ 1/f_l².
        found: f64,
        /// L.
        iterations: u32,
    },
    /// A momentum that is negative, NaN or infinite.
    #[error("algorithm.momentum must be a finite number, at least 0, found {found}")]
    Momentum {
        /// The value given.
        found: f64,
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

/// What is released, and for products of how many columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described {
    /// The quantity.
    pub release: Release,
    /// Columns of X.
    pub columns: usize,
}

impl std::fmt::Display for Described {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.release {
            Release::Product => write!(f, "{} of {} columns", self.release, self.columns),
            Release::PackedTriangle => write!(f, "{}", self.release),
        }
    }
}

/// A validated plan with its session name.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    parameters: PlanParameters,
    /// Hash of the parameters.
    digest: [u8; 32],
    session: SessionId,
    /// Rows and columns of a release.
    shape: (usize, usize),
}

impl Plan {
    /// Checks the parameters and names the session.
    ///
    /// # Errors
    /// [`PlanError`] for zero or excessive counts, a rank above the dimension, iterations the algorithm cannot run,
    /// a sensitivity of something else than what it releases, and bad noise scales.
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
            "algorithm.block",
            parameters.rank,
            parameters.dimension,
            parameters.block,
        )?;
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
            parameters.averaging_rounds as usize,
        )?;
        let algorithm = build(&parameters);
        let shape = algorithm.shape();
        let values = shape.0.saturating_mul(shape.1);
        if values > wire::MAX_VALUES {
            return Err(PlanError::TooWide {
                algorithm: parameters.algorithm.name(),
                dimension: parameters.dimension,
                found: values,
                most: wire::MAX_VALUES,
            });
        }
        if let Some(needed) = algorithm.iterations()
            && needed != parameters.iterations
        {
            return Err(PlanError::Iterations {
                algorithm: parameters.algorithm.name(),
                needed,
                found: parameters.iterations,
            });
        }
        let released = Described {
            release: algorithm.release(),
            columns: algorithm.query_columns(),
        };
        let bounded = Described {
            release: parameters.sensitivity.release(),
            columns: parameters.sensitivity.columns(),
        };
        if released != bounded {
            return Err(PlanError::Bound {
                algorithm: parameters.algorithm.name(),
                released,
                bounded,
            });
        }
        for (what, found) in [
            ("the own noise scale", parameters.sigma_own),
            ("the pairwise noise scale", parameters.sigma_pairwise),
        ] {
            if !(found.is_finite() && found >= 0.0) {
                return Err(PlanError::Sigma { what, found });
            }
        }
        check_factors(&parameters)?;
        if !(parameters.momentum.is_finite() && parameters.momentum >= 0.0) {
            return Err(PlanError::Momentum {
                found: parameters.momentum,
            });
        }
        if parameters.sensitivity.statistic() == Statistic::None {
            parameters.scale_rounds = 0;
        } else if parameters.peers > 1 {
            // Without a round every peer would scale its noise by a statistic of its own. A bound on the diameter
            // that comes from an eccentricity is at most twice the diameter.
            count(
                "scale_rounds, the rounds in which peers agree on the statistic of the sensitivity,",
                1,
                (2 * parameters.peers as usize).min(u32::MAX as usize),
                parameters.scale_rounds as usize,
            )?;
        } else {
            parameters.scale_rounds = 0;
        }
        let digest = wire::digest(&parameters);
        let mut session = SessionId([0; 16]);
        session.0.copy_from_slice(&digest[..16]);
        Ok(Self {
            parameters,
            digest,
            session,
            shape,
        })
    }

    /// The session's name.
    #[must_use]
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Hash of all parameters, whose beginning is the session's name. Public.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Standard deviations of own and pairwise noise per unit sensitivity. Public.
    #[must_use]
    pub fn sigmas(&self) -> (f64, f64) {
        (self.parameters.sigma_own, self.parameters.sigma_pairwise)
    }

    /// The public parameters.
    #[must_use]
    pub fn parameters(&self) -> &PlanParameters {
        &self.parameters
    }

    /// The algorithm of the session.
    #[must_use]
    pub fn algorithm(&self) -> Box<dyn Algorithm> {
        build(&self.parameters)
    }

    /// Rows and columns of what every peer releases in an iteration (n × p for the power method), row-major.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// Coordinates of every exchanged block.
    #[must_use]
    pub fn values(&self) -> usize {
        self.shape.0 * self.shape.1
    }

    /// f_l, 1 with an even budget. Public.
    #[must_use]
    pub fn noise_factor(&self, iteration: Iteration) -> f64 {
        let index = iteration.0.saturating_sub(1) as usize;
        let factors = &self.parameters.noise_factors;
        factors.get(index).copied().unwrap_or(1.0)
    }

    /// f_l Δ_l: what every noise term of iteration l is scaled by.
    #[must_use]
    pub fn noise_scale(&self, iteration: Iteration, sensitivity: f64) -> f64 {
        sensitivity * self.noise_factor(iteration)
    }

    /// Standard deviation of the noise on every coordinate of the sum of all peers, where noise is scaled by `scale`
    /// (see [`Self::noise_scale`]): pairwise noise cancels, s own terms are left. Public.
    #[must_use]
    pub fn sigma_of_sum(&self, scale: f64) -> f64 {
        scale * self.parameters.sigma_own * f64::from(self.parameters.peers).sqrt()
    }

    /// Averaging rounds K per iteration.
    #[must_use]
    pub fn averaging_rounds(&self) -> u32 {
        self.parameters.averaging_rounds
    }

    /// The first exchange of an iteration, counted over the session.
    #[must_use]
    pub fn first_step(&self, iteration: Iteration) -> u64 {
        u64::from(iteration.0.saturating_sub(1)) * u64::from(self.steps_per_iteration())
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
        valid.then(|| self.first_step(iteration) + u64::from(before) + u64::from(round.0))
    }
}

fn build(parameters: &PlanParameters) -> Box<dyn Algorithm> {
    parameters.algorithm.build(Sizes {
        dimension: parameters.dimension,
        rank: parameters.rank,
        block: parameters.block,
        momentum: parameters.momentum,
    })
}

/// One factor per iteration or none; together they spend no more than L even iterations. NaN, 0, infinite: refused.
fn check_factors(parameters: &PlanParameters) -> Result<(), PlanError> {
    let (factors, iterations) = (&parameters.noise_factors, parameters.iterations);
    if !factors.is_empty() && factors.len() != iterations as usize {
        let found = factors.len();
        return Err(PlanError::Factors { found, iterations });
    }
    let found = even_iterations(factors, iterations);
    let valid = factors.iter().all(|f| f.is_finite() && *f > 0.0);
    if valid && found <= f64::from(iterations) * (1.0 + 1e-12) {
        Ok(())
    } else {
        Err(PlanError::Overspent { found, iterations })
    }
}
