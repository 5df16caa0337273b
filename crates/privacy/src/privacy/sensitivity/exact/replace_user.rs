//! The tight bound for replacing one user by another.

use std::f64::consts::SQRT_2;

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::{Exact, user};
use crate::privacy::adjacency::{self, Adjacency};

/// One user's row replaced by any other, both with at most m = `degree_cap` interactions: √2 times what one user
/// costs,
///
/// Δ = √2·min(1, m/D)·min(1, √m·D̂), and Δ = √2 without a cap.
///
/// The factor is √2, not the 2 of the triangle inequality.
///
/// # Proof
/// Rows r and r′ with d and d′ items share k of them; N = max(d, D), N′ = max(d′, D), C = rᵀr/N − r′ᵀr′/N′.
///
/// *From ‖X‖₂ = 1.* ‖CX‖_F² ≤ ‖C‖_F² = (d/N)² + (d′/N′)² − 2k²/(NN′) ≤ 2·min(1, m/D)², since d/N and d′/N′ are at most
/// that. Without a cap this is 2.
///
/// *From the rows of X.* It remains to show ‖CX‖_F² ≤ 2m³D̂²/max(m, D)² for all vectors x_j of length at most D̂, any
/// number of them. With A = Σ_{j∈r} x_j and B = Σ_{j∈r′} x_j, by expanding the square,
///
/// ‖CX‖_F² = d‖A‖²/N² + d′‖B‖²/N′² − 2k⟨A, B⟩/(NN′).    (∗)
///
/// An item of length 0 that is put into r alone leaves A, B and k and raises d. While d < D that leaves N, so (∗)
/// does not fall: the worst d and d′ are at least min(m, D). If m ≤ D, then d = d′ = m and N = N′ = D, and (∗) is
/// (m/D)² times its value with N = N′ = m. So let N = d and N′ = d′ from here on; then d, d′ ≤ m.
///
/// (∗) is a convex function of every x_j, so the worst x_j have length D̂, and as a function of w = Σ_{j∈r∩r′} x_j and
/// the two rests v = A − w and v′ = B − w it is convex too, so these have lengths kD̂, lD̂, l′D̂, where l = d − k and
/// l′ = d′ − k. Let c, c′, c″ be the cosines between w and v, w and v′, v and v′. Then
///
/// dd′·(∗)/D̂² = d′(k² + l²) + d(k² + l′²) − 2k³ + 2kll′·(c + c′ − c″),
///
/// because the coefficient of c is 2kl(d′ − k), that of c′ is 2kl′(d − k). Three unit vectors have
/// ‖w/|w| − v/|v| − v′/|v′|‖² = 3 − 2(c + c′ − c″) ≥ 0, so c + c′ − c″ ≤ 3/2. Insert d = k + l, d′ = k + l′:
///
/// dd′·(∗)/D̂² ≤ k(l² + l′²) + k²(l + l′) + ll′(l + l′) + 3kll′ = dd′(d + d′) − 2k³ − 2k²(l + l′) − kll′ ≤ dd′(d + d′).
///
/// So (∗) ≤ (d + d′)·D̂² ≤ 2m·D̂². ∎
///
/// Tight: two users with m ≥ D items each and none in common, X with one column constant on each.
impl Rule for Exact<adjacency::ReplaceUser> {
    const ADJACENCY: Adjacency = Adjacency::ReplaceUser;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const COVERS_CAP: bool = true;

    fn statistic(public: &Public) -> Statistic {
        user::statistic(public)
    }

    fn bound(public: &Public, row_norm: f64) -> f64 {
        SQRT_2 * user::bound(public, row_norm)
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector3;
    use rand::RngExt;

    use super::*;
    use crate::vocabulary::{Label, Seed};

    /// The last line of the proof as integers, and the largest c + c′ − c″ attained at 60°.
    #[test]
    fn the_algebra_of_the_proof_holds() {
        for k in 0_i64..12 {
            for l in 0..12 {
                for m in 0..12 {
                    let (d, e) = (k + l, k + m);
                    let left =
                        e * (k * k + l * l) + d * (k * k + m * m) - 2 * k * k * k + 3 * k * l * m;
                    let right = d * e * (d + e) - 2 * k * k * k - 2 * k * k * (l + m) - k * l * m;
                    assert_eq!(left, right);
                    assert!(left <= d * e * (d + e));
                }
            }
        }
    }

    /// Line (∗) for random directions of the three partial sums, D̂ = 1, against the bound from the rows of X alone.
    #[test]
    fn no_degrees_overlap_or_directions_beat_the_second_part_of_the_proof() {
        let mut rng = Seed::from_u64(61).generator(Label::Scenario);
        let mut best = 0.0_f64;
        for (cap, floor) in (1..7).flat_map(|cap| (1..7).map(move |floor| (cap, floor))) {
            let limit = 2.0 * f64::from(cap).powi(3) / f64::from(cap.max(floor)).powi(2);
            for (d, e) in (0..=cap).flat_map(|d| (0..=cap).map(move |e| (d, e))) {
                for k in 0..=d.min(e) {
                    for _ in 0..200 {
                        let mut sum = |count: i32| {
                            let direction =
                                Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0_f64));
                            direction.normalize() * f64::from(count)
                        };
                        let (w, v, v2) = (sum(k), sum(d - k), sum(e - k));
                        let (a, b) = (w + v, w + v2);
                        let (n, n2) = (f64::from(d.max(floor)), f64::from(e.max(floor)));
                        let found = f64::from(d) * a.norm_squared() / (n * n)
                            + f64::from(e) * b.norm_squared() / (n2 * n2)
                            - 2.0 * f64::from(k) * a.dot(&b) / (n * n2);
                        best = best.max(found / limit);
                    }
                }
            }
        }
        assert!(best <= 1.0 + 1e-12 && best > 0.999, "{best}");
    }

    #[test]
    fn documented_values() {
        let public = Public {
            degree_floor: 20,
            degree_cap: Some(5),
            rank: 2,
            rating: None,
        };
        assert!(
            (Exact::<adjacency::ReplaceUser>::bound(&public, 1.0) - SQRT_2 / 4.0).abs() < 1e-15
        );
    }
}
