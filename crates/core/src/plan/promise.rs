//! What is promised, of which neighbouring data, against whom, and with which noise.

use serde::{Deserialize, Serialize};

use super::{BudgetShare, Noise};
use crate::privacy::{
    Adjacency, AdversaryView, Budget, BudgetSplit, Calibration, Delta, Epsilon, PrivacyError,
    SensitivityRule, SensitivitySpec, Statement,
};

/// (ε, δ)-differential privacy for neighbouring data, against an adversary, with this noise.
///
/// It is data before validation: [`Guarantee::of`](super::Guarantee::of) refuses what cannot be promised. In JSON it has all fields but bounds of your own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// ε of the whole run. Without noise it is promised to nobody.
    pub epsilon: Epsilon,
    /// δ of the whole run; `None` for 0, as Laplace noise alone allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    /// What one record is, and how its effect on whatever is released is bounded.
    pub bounds: SensitivitySpec,
    /// How (ε, δ) becomes a noise multiplier.
    pub calibration: Calibration,
    /// How the budget is divided over the releases, where they have no shares of their own.
    pub split: BudgetSplit,
    /// The part of μ² that is spent, beside another session under the same budget; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<BudgetShare>,
    /// Where the noise comes from.
    pub noise: Noise,
    /// t: the coalition size to withstand; 0 is an outside observer.
    pub colluders: usize,
    /// How many may be lost, and what it costs; `None` where the loss of a peer ends the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub losses: Option<LossTolerance>,
    /// At how many participants one person's rows may be; `None` where one data set is dealt to all peers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participants: Option<usize>,
    /// What the adversary observes. Whatever runs the session may show less, never more.
    pub seen: AdversaryView,
}

/// How many peers may be lost, and how often a release may be tried again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossTolerance {
    /// f: how many peers may be lost for good.
    pub tolerate: usize,
    /// How often a release may be tried again, at the price of one release more each time.
    pub retries: u32,
}

impl Promise {
    /// (ε, δ) for these neighbours, exactly calibrated, against anybody who sees every message and any one curious peer, with pairwise noise.
    ///
    /// # Errors
    /// [`PrivacyError`] unless ε is finite and above 0 and δ lies strictly between 0 and 1.
    pub fn new(epsilon: f64, delta: f64, adjacency: Adjacency) -> Result<Self, PrivacyError> {
        let Budget { epsilon, delta } = Budget::new(epsilon, delta)?;
        Ok(Self::of(epsilon, Some(delta), adjacency))
    }

    /// (ε, 0) for these neighbours against anybody who sees every message: Laplace noise that every peer adds in full.
    ///
    /// # Errors
    /// [`PrivacyError`] unless ε is finite and above 0.
    pub fn pure(epsilon: f64, adjacency: Adjacency) -> Result<Self, PrivacyError> {
        let promise = Self::of(Epsilon::new(epsilon)?, None, adjacency);
        Ok(promise.with_noise(Noise::laplace()))
    }

    /// No noise, and nothing promised.
    #[must_use]
    pub fn none(adjacency: Adjacency) -> Self {
        let epsilon = Epsilon::new(1.0).expect("above 0");
        let delta = Delta::new(0.5).ok();
        Self::of(epsilon, delta, adjacency).with_noise(Noise::None)
    }

    fn of(epsilon: Epsilon, delta: Option<Delta>, adjacency: Adjacency) -> Self {
        Self {
            epsilon,
            delta,
            bounds: SensitivitySpec::new(adjacency, SensitivityRule::Exact, 1, None),
            calibration: Calibration::Analytic,
            split: BudgetSplit::Even,
            part: None,
            noise: Noise::default(),
            colluders: 1,
            losses: None,
            participants: None,
            seen: AdversaryView::Everything,
        }
    }

    /// The same with noise from here.
    #[must_use]
    pub fn with_noise(self, noise: Noise) -> Self {
        Self { noise, ..self }
    }

    /// The same against any coalition of so many peers.
    #[must_use]
    pub fn against(self, colluders: usize) -> Self {
        Self { colluders, ..self }
    }

    /// The same of a session that goes on where peers are lost.
    #[must_use]
    pub fn tolerating(self, losses: LossTolerance) -> Self {
        Self {
            losses: Some(losses),
            ..self
        }
    }

    /// What one record is.
    #[must_use]
    pub fn adjacency(&self) -> Adjacency {
        self.bounds.adjacency()
    }

    /// Whom noise must withstand: whoever is lost hides nobody, as if it colluded.
    #[must_use]
    pub fn withstood(&self) -> usize {
        let lost = self.losses.map_or(0, |one| one.tolerate);
        self.colluders.saturating_add(lost)
    }

    /// How often a release may be tried again.
    pub(super) fn retries(&self) -> u32 {
        self.losses.map_or(0, |one| one.retries)
    }

    /// Whether nobody sees more than sums.
    pub(super) fn hides_inputs(&self) -> bool {
        self.seen != AdversaryView::Everything
    }

    /// What is promised, in words.
    #[must_use]
    pub fn statement(&self) -> Statement {
        Statement {
            adjacency: self.adjacency(),
            seen: self.seen,
            colluders: self.colluders,
            lost: self.losses.map(|one| one.tolerate),
            distribution: self.noise.distribution(),
            participants: self.participants,
        }
    }
}

// For the other crates of Undertone.
#[doc(hidden)]
impl Promise {
    /// ε and δ of Gaussian noise.
    ///
    /// # Errors
    /// [`PrivacyError`] for a δ of 0.
    pub fn budget(&self) -> Result<Budget, PrivacyError> {
        Budget::new(self.epsilon.get(), self.delta.map_or(0.0, Delta::get))
    }

    /// Refuses the protection of persons at several of so many peers where it has no meaning or no proof. `searches`: whether thresholds are
    /// searched for.
    ///
    /// # Errors
    /// [`PrivacyError::Participants`] and [`PrivacyError::ParticipantsOfPeers`].
    pub fn check_participants(&self, peers: usize, searches: bool) -> Result<(), PrivacyError> {
        let Some(found) = self.participants.filter(|k| *k != 1) else {
            return Ok(());
        };
        let refuse = |problem| Err(PrivacyError::Participants { found, problem });
        if found == 0 {
            return refuse(
                "a person's rows are at one participant or more: set it to 1, or leave it out",
            );
        }
        if !self.adjacency().is_of_rows() {
            return refuse(
                "privacy.adjacency is not about rows of persons: choose \"user\", \"replace-user\", \"interaction\", \"swap\" or \"rating\", or leave it \
                 out",
            );
        }
        if matches!(
            self.noise,
            Noise::Laplace {
                holders: Some(_),
                ..
            }
        ) {
            return refuse(
                "noise.holders hide what one peer changes, and nothing is proved of several: leave one of the two out",
            );
        }
        if searches {
            return refuse(
                "what algorithm.clip = \"sparse-vector\" searches for is proved to hide one record: choose another clip, or leave it out",
            );
        }
        match found > peers {
            true => Err(PrivacyError::ParticipantsOfPeers { found, peers }),
            false => Ok(()),
        }
    }
}
