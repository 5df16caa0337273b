//! Where noise comes from, each source with its own numbers and no others.

use crate::privacy::ring::Modulus;
use crate::privacy::{OnDisconnect, Scheme};
use crate::vocabulary::Distribution;

/// Where the noise comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Nowhere: nothing is promised.
    None,
    /// Every peer adds its share, unmasked; private only if nobody but the sum is seen.
    Independent,
    /// Every peer adds all the noise itself.
    Local,
    /// A share of own noise, and noise shared with each noise partner that cancels in the sum.
    Pairwise {
        /// β: extra loss allowed for finite pairwise noise.
        overhead: f64,
        /// What to do where a coalition can disconnect the honest peers.
        on_disconnect: OnDisconnect,
    },
    /// Integers mod 2^k: own noise rounded to integers, and uniform masks shared with each noise partner. Needs an averaging that is exact, such
    /// as a tree.
    Ring {
        /// β: extra loss allowed for rounding.
        overhead: f64,
        /// What to do where a coalition can disconnect the honest peers.
        on_disconnect: OnDisconnect,
        /// k; `None` for the least that holds the sums.
        bits: Option<Modulus>,
    },
    /// Laplace noise, with which δ may be 0.
    Laplace {
        /// Who adds what: everybody all of it, or a share, or holders that everybody shares Gaussian noise beside.
        scheme: Scheme,
        /// The peers that draw it, where not everybody does.
        holders: Option<Holders>,
        /// What to do where a coalition can disconnect the honest peers; refusing is all that is proved.
        on_disconnect: OnDisconnect,
    },
}

/// Peers that draw Laplace noise, hidden by Gaussian noise that all share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Holders {
    /// How many.
    pub count: usize,
    /// The ε of the noise that is shared over that of the Laplace noise.
    pub overhead: f64,
}

/// Of noise that takes none.
const OVERHEAD: f64 = 0.01;

impl Default for Noise {
    /// Pairwise noise that costs at most a hundredth, on a graph that stays connected.
    fn default() -> Self {
        Self::Pairwise {
            overhead: OVERHEAD,
            on_disconnect: OnDisconnect::Refuse,
        }
    }
}

impl Noise {
    /// Pairwise noise with this extra loss, on a graph that stays connected.
    #[must_use]
    pub fn pairwise(overhead: f64) -> Self {
        Self::Pairwise {
            overhead,
            on_disconnect: OnDisconnect::Refuse,
        }
    }

    /// Sums of integers with this extra loss, on a graph that stays connected.
    #[must_use]
    pub fn ring(overhead: f64) -> Self {
        Self::Ring {
            overhead,
            on_disconnect: OnDisconnect::Refuse,
            bits: None,
        }
    }

    /// Laplace noise that every peer adds in full.
    #[must_use]
    pub fn laplace() -> Self {
        Self::Laplace {
            scheme: Scheme::Local,
            holders: None,
            on_disconnect: OnDisconnect::Refuse,
        }
    }

    /// Who adds what.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        match self {
            Self::None => Scheme::None,
            Self::Independent => Scheme::Independent,
            Self::Local => Scheme::Local,
            Self::Pairwise { .. } => Scheme::Pairwise,
            Self::Ring { .. } => Scheme::Ring,
            Self::Laplace { scheme, .. } => *scheme,
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.scheme() == Scheme::None
    }

    /// The law of the noise that hides a sum.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        match self {
            Self::Laplace { .. } => Distribution::Laplace,
            _ => Distribution::Gaussian,
        }
    }

    /// β.
    pub(super) fn overhead(&self) -> f64 {
        match self {
            Self::Pairwise { overhead, .. } | Self::Ring { overhead, .. } => *overhead,
            Self::Laplace { holders, .. } => holders.map_or(OVERHEAD, |held| held.overhead),
            _ => OVERHEAD,
        }
    }

    /// What to do where a coalition can disconnect the honest peers.
    pub(super) fn on_disconnect(&self) -> OnDisconnect {
        match self {
            Self::Pairwise { on_disconnect, .. }
            | Self::Ring { on_disconnect, .. }
            | Self::Laplace { on_disconnect, .. } => *on_disconnect,
            _ => OnDisconnect::Refuse,
        }
    }

    /// The same where nothing is summed, so that no noise is shared: every peer adds all of it.
    pub(super) fn of_own_coordinates(self) -> Self {
        match self {
            Self::None => Self::None,
            _ => Self::Local,
        }
    }
}
