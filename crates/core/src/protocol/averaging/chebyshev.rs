//! Chebyshev-accelerated gossip.

use super::{Coefficients, MixingBounds, Recurrence};

/// The polynomial of W with p(1) = 1 that is smallest on [lo, hi], by its two-term recurrence.
///
/// With M = (2W − (hi+lo)I)/(hi−lo) and μ = (2−hi−lo)/(hi−lo) (the image of 1), round k applies
/// T_k(M)/T_k(μ). In overflow-free form: x¹ = M x⁰/μ, then ω ← 1/(1 − ω/(4μ²)) from ω = 2 and
/// x^{k+1} = (ω/μ) M x^k + (1−ω) x^{k−1}. Written over W: (ω/μ)M = (2ωW − ω(hi+lo)I)/(2−hi−lo).
///
/// # Claim
/// ‖x^k − x̄‖ ≤ ‖x⁰ − x̄‖ / T_k(μ), because |T_k| ≤ 1 on [−1, 1] and every eigenvalue of M but the
/// image of 1 lies there; T_k(μ) = cosh(k·arccosh μ). The bounds may be loose: that costs rounds, never
/// correctness.
///
/// # Source
/// Chebyshev semi-iteration: G. Golub & R. Varga 1961; rounds measured for gossip: the chapter on averaging of the guide.
#[derive(Clone, Copy, Debug)]
pub struct Chebyshev;

impl Recurrence for Chebyshev {
    fn rounds_needed(&self, bounds: MixingBounds, tolerance: f64) -> f64 {
        libm::acosh(1.0 / tolerance) / libm::acosh(image_of_one(bounds))
    }

    fn shrinks(&self, bounds: MixingBounds, rounds: u32) -> f64 {
        if rounds == 0 {
            return 1.0;
        }
        libm::cosh(f64::from(rounds) * libm::acosh(image_of_one(bounds))).recip()
    }

    fn coefficients(&self, bounds: MixingBounds, rounds: u32) -> Vec<Coefficients> {
        let MixingBounds { lowest, second } = bounds;
        let gap = 2.0 - second - lowest;
        let mu = image_of_one(bounds);
        let mut omega = 2.0;
        (0..rounds)
            .map(|round| {
                if round == 0 {
                    return Coefficients {
                        mixed: 2.0 / gap,
                        current: -(second + lowest) / gap,
                        previous: 0.0,
                    };
                }
                omega = 1.0 / (1.0 - omega / (4.0 * mu * mu));
                Coefficients {
                    mixed: 2.0 * omega / gap,
                    current: -omega * (second + lowest) / gap,
                    previous: 1.0 - omega,
                }
            })
            .collect()
    }
}

/// μ = (2−hi−lo)/(hi−lo) > 1; infinite when both bounds coincide (then one round is exact).
fn image_of_one(bounds: MixingBounds) -> f64 {
    (2.0 - bounds.second - bounds.lowest) / (bounds.second - bounds.lowest)
}
