//! Ratings that predictions are measured against.

use std::fmt;

use super::rating_scale::RatingScale;
use crate::linalg::SparseRows;

/// Ratings that no peer holds, and what predictions of them are made of that only the user knows.
///
/// All of it is private but the scale. It exists in simulations alone, to measure predictions by; `Debug` prints sizes.
#[derive(Clone, PartialEq)]
pub struct RatingTest {
    /// How ratings are mapped.
    pub(super) scale: RatingScale,
    /// What was taken from the ratings of every user.
    pub(super) centres: Vec<f64>,
    /// Users × items.
    pub(super) ratings: SparseRows,
}

impl RatingTest {
    /// How ratings are mapped, and what is taken from a user's. Public.
    #[must_use]
    pub fn scale(&self) -> &RatingScale {
        &self.scale
    }

    /// What was taken from the ratings of this user that the peer holds.
    #[must_use]
    pub fn centre(&self, user: usize) -> f64 {
        self.centres[user]
    }

    /// The ratings kept aside, users × items, as they are mapped and not centred.
    #[must_use]
    pub fn ratings(&self) -> &SparseRows {
        &self.ratings
    }
}

impl fmt::Debug for RatingTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (users, aside) = (self.centres.len(), self.ratings.entries());
        write!(f, "RatingTest({users} users, {aside} ratings kept aside)")
    }
}
