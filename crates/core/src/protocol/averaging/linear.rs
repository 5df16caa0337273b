//! Plain linear gossip, x ← W x.

use super::{Coefficients, MixingBounds, Recurrence};

/// Repeated multiplication with the mixing matrix.
///
/// # Claim
/// ‖x^k − x̄‖ ≤ slem^k ‖x⁰ − x̄‖ with slem = max(|λ_min|, |λ₂|), since W is symmetric and fixes the mean.
///
/// # Source
/// L. Xiao & S. Boyd, Fast linear iterations for distributed averaging, 2004.
#[derive(Clone, Copy, Debug)]
pub struct Linear;

impl Recurrence for Linear {
    fn rounds_needed(&self, bounds: MixingBounds, tolerance: f64) -> f64 {
        let slem = slem(bounds);
        if slem == 0.0 {
            1.0
        } else {
            libm::log(tolerance) / libm::log(slem)
        }
    }

    fn shrinks(&self, bounds: MixingBounds, rounds: u32) -> f64 {
        libm::pow(slem(bounds), f64::from(rounds))
    }

    fn coefficients(&self, _bounds: MixingBounds, rounds: u32) -> Vec<Coefficients> {
        vec![
            Coefficients {
                mixed: 1.0,
                current: 0.0,
                previous: 0.0
            };
            rounds as usize
        ]
    }
}

/// The second largest eigenvalue modulus, from its bounds.
fn slem(bounds: MixingBounds) -> f64 {
    bounds.lowest.abs().max(bounds.second.abs())
}
