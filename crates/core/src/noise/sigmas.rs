//! Standard deviations of a plan's noise.

use super::laplace::LaplaceShares;
use super::wishart::WishartShares;
use crate::vocabulary::PeerIndex;

/// Standard deviations per unit sensitivity. Public.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sigmas {
    /// Of a peer's own noise on a sum; of Wishart noise that of one term.
    pub own: f64,
    /// Of the noise that the two ends of an edge of the noise graph share.
    pub pairwise: f64,
    /// Of the noise a peer adds to coordinates of its own: all that a curator would add.
    pub coordinate: f64,
    /// How own noise is dealt where it adds up to Laplace noise; `None` where it is normal.
    pub laplace: Option<LaplaceShares>,
    /// How the terms of own noise are dealt where it adds up to Wishart noise.
    pub wishart: Option<WishartShares>,
}

/// A standard deviation that no noise has.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{what} must be a finite standard deviation, at least 0, found {found}")]
pub struct SigmaError {
    /// Which one.
    pub what: &'static str,
    /// The value given.
    pub found: f64,
}

impl Sigmas {
    /// Those of sums, without own coordinates.
    #[must_use]
    pub fn of_sums(own: f64, pairwise: f64) -> Self {
        Self {
            own,
            pairwise,
            coordinate: 0.0,
            laplace: None,
            wishart: None,
        }
    }

    /// Standard deviation of the own noise of this peer: 0 where others hold all of it.
    #[must_use]
    pub fn own_of(&self, peer: PeerIndex) -> f64 {
        match self.laplace {
            Some(shares) if !shares.draws(peer) => 0.0,
            _ => self.own,
        }
    }

    /// Refuses what no noise has.
    ///
    /// # Errors
    /// [`SigmaError`] for a standard deviation that is negative, NaN or infinite, and for the shape of a share that is not
    /// above 0 and at most 1.
    pub fn check(self) -> Result<Self, SigmaError> {
        if let Some(shares) = self.laplace
            && !(shares.shape > 0.0 && shares.shape <= 1.0)
        {
            return Err(SigmaError {
                what: "the shape of a share of Laplace noise, which is above 0 and at most 1,",
                found: shares.shape,
            });
        }
        if let Some(shape) = self.wishart.and_then(|shares| shares.mean)
            && !(shape > 0.0 && shape <= 1.0)
        {
            return Err(SigmaError {
                what: "the shape of a share of the Laplace noise on a mean, which is above 0 and at most 1,",
                found: shape,
            });
        }
        for (what, found) in [
            ("the own noise scale", self.own),
            ("the pairwise noise scale", self.pairwise),
            ("the noise scale of own coordinates", self.coordinate),
        ] {
            if !(found.is_finite() && found >= 0.0) {
                return Err(SigmaError { what, found });
            }
        }
        Ok(self)
    }
}
