//! What a simulation is asked for, each choice with its own numbers and no others.

use std::sync::Arc;

use super::error::AveragingTableError;
use crate::config::AveragingConfig;
use crate::privacy::{
    self, Adjacency, Budget, Calibrated, Calibration, NoisePlan, NoiseRequest, OnDisconnect,
    PrivacyError, RingRequest, Scheme,
};
use crate::protocol::averaging::{
    AveragingError, AveragingKind, AveragingOptions, AveragingScheme, Length, Loss, MAX_ROUNDS,
    MixingBounds, Schedule,
};
use crate::topology::Topology;

/// What is promised to whom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PrivacySpec {
    /// Nothing: no noise is added.
    None,
    /// (ε, δ) for neighbouring data, against anybody who sees every message and any coalition of so many peers.
    Budgeted {
        /// ε and δ of the whole run, validated.
        budget: Budget,
        /// Which data are neighbours.
        adjacency: Adjacency,
        /// How (ε, δ) becomes a noise multiplier.
        calibration: Calibration,
        /// t: the coalition size to withstand; 0 is an outside observer.
        colluders: usize,
        /// What to do where a coalition can disconnect the honest peers.
        on_disconnect: OnDisconnect,
    },
}

impl PrivacySpec {
    /// (ε, δ) for these neighbours, exactly calibrated, against any one curious peer.
    ///
    /// # Errors
    /// [`PrivacyError`] unless ε is finite and above 0 and δ lies strictly between 0 and 1.
    pub fn new(epsilon: f64, delta: f64, adjacency: Adjacency) -> Result<Self, PrivacyError> {
        Ok(Self::Budgeted {
            budget: Budget::new(epsilon, delta)?,
            adjacency,
            calibration: Calibration::Analytic,
            colluders: 1,
            on_disconnect: OnDisconnect::Refuse,
        })
    }
}

/// Where the noise comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoiseSpec {
    /// Every peer adds its share, unmasked; private only if nobody but the sum is seen.
    Independent,
    /// A share of own noise, and noise shared with each noise partner that cancels in the sum.
    Pairwise {
        /// β: extra loss allowed for finite pairwise noise.
        overhead: f64,
    },
    /// Every peer adds all the noise itself.
    Local,
    /// Integers mod 2^k: own noise rounded to integers, and uniform masks shared with each noise partner. Needs an
    /// averaging that is exact, such as `AveragingKind::Tree`.
    Ring {
        /// β: extra loss allowed for rounding.
        overhead: f64,
    },
}

impl Default for NoiseSpec {
    fn default() -> Self {
        Self::Pairwise { overhead: 0.01 }
    }
}

impl NoiseSpec {
    fn scheme(self) -> Scheme {
        match self {
            Self::Independent => Scheme::Independent,
            Self::Pairwise { .. } => Scheme::Pairwise,
            Self::Local => Scheme::Local,
            Self::Ring { .. } => Scheme::Ring,
        }
    }

    fn overhead(self) -> f64 {
        match self {
            Self::Pairwise { overhead } | Self::Ring { overhead } => overhead,
            Self::Independent | Self::Local => 0.01,
        }
    }

    /// The noise of `releases` releases on this noise graph; the multiplier too.
    pub(super) fn plan(
        self,
        privacy: &PrivacySpec,
        releases: u32,
        noise_topology: &Topology,
        ring: impl FnOnce() -> Result<RingRequest, PrivacyError>,
    ) -> Result<Option<(Calibrated, NoisePlan)>, PrivacyError> {
        let &PrivacySpec::Budgeted {
            budget,
            calibration,
            colluders,
            on_disconnect,
            ..
        } = privacy
        else {
            return Ok(None);
        };
        let ring = matches!(self, Self::Ring { .. }).then(ring).transpose()?;
        let distance = ring.map_or(0.0, |ring| ring.distance);
        let reduced = privacy::ring::distance::reduced(budget, distance)?;
        let calibrated = privacy::calibrate(calibration, reduced, releases)?;
        let plan = NoisePlan::new(&NoiseRequest {
            graph: noise_topology.graph(),
            scheme: self.scheme(),
            noise_multiplier: calibrated.z(),
            iterations: releases,
            delta: budget.delta,
            colluders,
            overhead: self.overhead(),
            trusted_sum: false,
            connectivity: noise_topology.spectrum().algebraic_connectivity.into(),
            on_disconnect,
            ring,
        })?;
        Ok(Some((calibrated, plan)))
    }
}

/// How inputs become a sum.
#[derive(Clone)]
pub enum AveragingSpec {
    /// A scheme that files can name, for as long as it takes.
    Named {
        /// Which.
        scheme: AveragingKind,
        /// How long.
        length: Length,
        /// What else it was told.
        options: AveragingOptions,
    },
    /// A scheme of your own.
    Own {
        /// What compiles the graph.
        scheme: Arc<dyn AveragingScheme + Send + Sync>,
        /// How long.
        length: Length,
    },
}

impl Default for AveragingSpec {
    fn default() -> Self {
        AveragingKind::Chebyshev.into()
    }
}

/// A scheme for as long as it takes by itself.
impl From<AveragingKind> for AveragingSpec {
    fn from(scheme: AveragingKind) -> Self {
        Self::Named {
            scheme,
            length: Length::Own,
            options: AveragingOptions::default(),
        }
    }
}

impl AveragingSpec {
    /// What the table `[averaging]` asks for, over the peers of this topology, where so many messages are lost.
    pub(super) fn of(
        config: &AveragingConfig,
        loss: Loss,
        topology: &Topology,
    ) -> Result<Self, AveragingTableError> {
        let length = match (config.tolerance, config.rounds) {
            (Some(_), Some(_)) => return Err(AveragingTableError::ToleranceAndRounds),
            (Some(tolerance), None) => Length::Tolerance(tolerance),
            (None, Some(rounds)) => Length::Rounds(checked_rounds(rounds)?),
            (None, None) => Length::Own,
        };
        let mut options = AveragingOptions::default().with_loss(loss);
        if let Some(name) = &config.root {
            options = options.with_root(topology.find(name)?);
        }
        if let Some(seed) = config.seed {
            options = options.with_seed(seed);
        }
        if let Some(fan_in) = config.fan_in {
            options = options.with_fan_in(fan_in)?;
        }
        if let Some(turns) = config.rotate {
            options = options.with_rotate(turns)?;
        }
        if let Some(base) = config.base {
            options = options.with_base(base)?;
        }
        Ok(Self::Named {
            scheme: config.scheme,
            length,
            options,
        })
    }

    pub(super) fn compile(
        &self,
        topology: &Topology,
        bounds: MixingBounds,
    ) -> Result<Schedule, AveragingError> {
        match self {
            Self::Named {
                scheme,
                length,
                options,
            } => scheme.compile(topology, bounds, *length, *options),
            Self::Own { scheme, length } => {
                scheme.compile(topology, bounds, *length, AveragingOptions::default())
            }
        }
    }
}

fn checked_rounds(rounds: u32) -> Result<u32, AveragingTableError> {
    if (1..=MAX_ROUNDS).contains(&rounds) {
        Ok(rounds)
    } else {
        Err(AveragingTableError::Rounds {
            found: rounds,
            limit: MAX_ROUNDS,
        })
    }
}

impl std::fmt::Debug for AveragingSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named {
                scheme,
                length,
                options,
            } => write!(f, "{scheme:?} ({length:?}, {options:?})"),
            Self::Own { length, .. } => write!(f, "a scheme of your own ({length:?})"),
        }
    }
}
