//! What moving a sum of rounded Gaussians by integers costs.
//!
//! # Statement
//! Let n ≥ 1, η_1 … η_n independent with η_v = round(N(0, σ²)) on every one of D coordinates, σ > 0, and K ∈ ℤ^D. Then telling
//! Σ_v η_v and K + Σ_v η_v apart is no easier than telling N(0, 1) and N(μ, 1) apart (μ-GDP), where
//!
//! **μ² = Σ_j (K_j² + r_j(n − r_j)) / (n σ²), r_j = K_j mod n.**
//!
//! # Proof
//! Divide every K_j into n integers that differ by at most 1: r_j of them are q_j + 1 and n − r_j are q_j, K_j = n q_j + r_j. Let k_v be the
//! vector of the v-th parts, so that Σ_v k_v = K. For an integer k, round(x + k) = round(x) + k: hence
//! K + Σ_v round(g_v) = Σ_v round(g_v + k_v), and both sums are one function of n·D normals of standard deviation σ, which are shifted
//! by (k_1, …, k_n) or not. That function is post-processing of a Gaussian mechanism of
//! μ² = Σ_v ‖k_v‖²/σ². On one coordinate Σ_v k_v² = n q² + 2 q r + r, and n(n q² + 2 q r + r) = (n q + r)² + r(n − r) = K² + r(n − r). ∎
//!
//! # What follows
//! - Whoever is told the noise of n − m of the peers learns no less, so that the bound holds with any m ≤ n in place of n. (It
//!   never rises with n: n parts are m parts and zeros.) With m = 1 it is **μ ≤ ‖K‖/σ**, what own noise alone gives.
//! - r(m − r) ≤ m²/4, and 0 for m = 1. So for every K of norm at most κ, **μ² ≤ (κ²/m + D m/4)/σ²** for every m from 2 to n. For κ
//!   much larger than n√D and m = n this is κ²/(n σ²), what real numbers would give.
//! - Both hold given everything published before; releases compose to μ² = Σ μ_l² (Dong, Roth & Su 2022, Corollary 3.3).
//!
//! The remainder is not slack of the proof alone: without r(n − r), σ = ¼, n = 4 and K = 1 would have δ(1) = 0.51 where the
//! truth is 0.69 (a test computes both). Where σ is a fraction of a grid step the sum is nearly always 0, and one step shows.

/// At least μ²σ² of every integer shift of Euclidean norm at most κ = `norm` on D = `coordinates` coordinates of a sum over
/// n = `peers` rounded Gaussians: the least of κ² and κ²/m + D m/4 over 2 ≤ m ≤ n. It never rises with n. Infinite for a norm that
/// is no number, and for no peers.
#[must_use]
pub(crate) fn most(norm: f64, coordinates: usize, peers: usize) -> f64 {
    if !(norm >= 0.0 && norm.is_finite()) || peers == 0 {
        return f64::INFINITY;
    }
    let spread = |m: usize| match m {
        1 => norm * norm,
        _ => norm * norm / m as f64 + coordinates as f64 * m as f64 / 4.0,
    };
    // The least is beside the m at which both terms are equal; every m is valid.
    let even = (2.0 * norm / (coordinates.max(1) as f64).sqrt()).min(peers as f64) as usize;
    let tried = [1, even, even + 1, peers].map(|m| spread(m.clamp(1, peers)));
    // A few roundings of positive terms.
    tried.into_iter().fold(f64::INFINITY, f64::min) * (1.0 + 8.0 * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::ring::tests::cost;

    #[test]
    fn a_shift_costs_what_its_parts_cost() {
        for peers in 1..=9_usize {
            for k in -30..=30_i64 {
                // Dealt out one by one, round after round.
                let mut parts = vec![0_i64; peers];
                for step in 0..k.unsigned_abs() as usize {
                    parts[step % peers] += k.signum();
                }
                let squares: i64 = parts.iter().map(|part| part * part).sum();
                assert_eq!(cost(&[k], peers), squares as f64, "{k} over {peers}");
                let r = k.rem_euclid(peers as i64);
                let stated = (k * k + r * (peers as i64 - r)) as f64 / peers as f64;
                assert!((cost(&[k], peers) - stated).abs() < 1e-9);
            }
        }
        assert_eq!(cost(&[3, -3, 0], 2), 10.0);
        assert_eq!(cost(&[1], 0), f64::INFINITY);
        assert!(cost(&[i64::MIN, i64::MAX], 1).is_finite());
    }

    #[test]
    fn no_shift_of_a_norm_costs_more_than_the_most() {
        for peers in [1, 2, 3, 5, 8, 40] {
            for coordinates in 1..=3 {
                let mut attained = 0.0_f64;
                for code in 0..13_i64.pow(coordinates as u32) {
                    let shift: Vec<i64> = (0..coordinates as u32)
                        .map(|j| code / 13_i64.pow(j) % 13 - 6)
                        .collect();
                    let norm = shift.iter().map(|&k| (k * k) as f64).sum::<f64>().sqrt();
                    let bound = most(norm, coordinates, peers);
                    let exact = cost(&shift, peers);
                    assert!(exact <= bound, "{shift:?} over {peers}: {exact} > {bound}");
                    if norm > 0.0 {
                        attained = attained.max(exact / bound);
                    }
                }
                assert!(attained > 0.99, "{coordinates} over {peers}: {attained}");
            }
        }
        assert_eq!(most(f64::NAN, 1, 1), f64::INFINITY);
        assert_eq!(most(1.0, 1, 0), f64::INFINITY);
        assert_eq!(most(-1.0, 1, 1), f64::INFINITY);
    }
}
