//! Where noise comes from, each source with its own numbers and no others.

use serde::{Deserialize, Serialize};

use crate::privacy::ring::Modulus;
use crate::privacy::{OnDisconnect, Scheme};
use crate::vocabulary::Distribution;

/// Where the noise comes from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    rename_all = "kebab-case",
    rename_all_fields = "snake_case",
    deny_unknown_fields
)]
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
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bits: Option<Modulus>,
    },
    /// Laplace noise, with which δ may be 0.
    Laplace {
        /// Who adds what: everybody all of it, or a share, or holders that everybody shares Gaussian noise beside.
        scheme: Scheme,
        /// The peers that draw it, where not everybody does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holders: Option<Holders>,
        /// What to do where a coalition can disconnect the honest peers; refusing is all that is proved.
        on_disconnect: OnDisconnect,
    },
    /// Wishart noise on triangles of the matrix, with which δ is 0.
    Wishart {
        /// Who adds what: everybody all of it, or a number of terms.
        scheme: Scheme,
    },
}

/// Peers that draw Laplace noise, hidden by Gaussian noise that all share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holders {
    /// How many.
    pub count: usize,
    /// The ε of the noise that is shared over that of the Laplace noise.
    pub overhead: f64,
}

/// What may be stated beside a scheme's name: each source takes its own numbers and leaves the others.
#[derive(Clone, Copy, Debug)]
pub struct SchemeNumbers {
    /// β: extra loss allowed for finite pairwise noise, or ε of shared noise over that of the Laplace noise.
    pub overhead: f64,
    /// What to do where a coalition can disconnect the honest peers.
    pub on_disconnect: OnDisconnect,
    /// How many peers draw Laplace noise, where not everybody does.
    pub holders: Option<usize>,
    /// The modulus of integers; `None` for the least that holds the sums.
    pub bits: Option<Modulus>,
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
    /// The noise of a scheme's name, as files and receipts state it.
    pub fn named(distribution: Distribution, scheme: Scheme, numbers: SchemeNumbers) -> Self {
        let SchemeNumbers {
            overhead,
            on_disconnect,
            holders,
            bits,
        } = numbers;
        if distribution == Distribution::Laplace {
            return Self::Laplace {
                scheme,
                holders: holders.map(|count| Holders { count, overhead }),
                on_disconnect,
            };
        }
        if distribution == Distribution::Wishart {
            return Self::Wishart { scheme };
        }
        match scheme {
            Scheme::None => Self::None,
            Scheme::Independent => Self::Independent,
            Scheme::Local => Self::Local,
            Scheme::Pairwise => Self::Pairwise {
                overhead,
                on_disconnect,
            },
            Scheme::Ring => Self::Ring {
                overhead,
                on_disconnect,
                bits,
            },
        }
    }

    /// The noise of a scheme's name with the numbers that nobody stated: an overhead of a hundredth, on a graph that stays connected, drawn by all.
    #[must_use]
    pub fn of(distribution: Distribution, scheme: Scheme) -> Self {
        let numbers = SchemeNumbers {
            overhead: OVERHEAD,
            on_disconnect: OnDisconnect::Refuse,
            holders: None,
            bits: None,
        };
        Self::named(distribution, scheme, numbers)
    }

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
            Self::Laplace { scheme, .. } | Self::Wishart { scheme } => *scheme,
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
            Self::Wishart { .. } => Distribution::Wishart,
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
