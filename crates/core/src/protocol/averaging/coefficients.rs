//! The numbers of one round of a recurrence.

use serde::{Deserialize, Serialize};

/// The weights of one round: x^{k+1} = mixed · W x^k + current · x^k + previous · x^{k−1}.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coefficients {
    /// Weight of W x^k.
    pub mixed: f64,
    /// Weight of x^k.
    pub current: f64,
    /// Weight of x^{k−1}.
    pub previous: f64,
}
