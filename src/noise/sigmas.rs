//! Standard deviations of a plan's noise.

/// Standard deviations per unit sensitivity. Public.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sigmas {
    /// Of a peer's own noise on a sum.
    pub own: f64,
    /// Of the noise that the two ends of an edge of the noise graph share.
    pub pairwise: f64,
    /// Of the noise a peer adds to coordinates of its own: all that a curator would add.
    pub coordinate: f64,
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
        }
    }

    /// Refuses what no noise has.
    ///
    /// # Errors
    /// [`SigmaError`] for a standard deviation that is negative, NaN or infinite.
    pub fn check(self) -> Result<Self, SigmaError> {
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
