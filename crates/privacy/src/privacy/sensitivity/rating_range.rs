//! What is public of one rating.

use serde::{Deserialize, Serialize};

/// What is public of one rating, in units of the largest norm that a row can have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatingRange {
    /// c: one rating moves by at most this.
    pub moves: f64,
    /// b: no rating is larger, in absolute value; one that is not there is 0.
    pub largest: f64,
}
