//! The tight bound for one interaction.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::Exact;
use crate::privacy::adjacency::{self, Adjacency};

/// One interaction added or removed, rows normalised with degree floor D:
///
/// Δ² = min(D̂², 1/D) + (D−1)·D̂²/D².
///
/// # Proof
/// Let r = r′ + e_k be the larger row, d = |r| its number of interactions, C the change of A. (The same C
/// with the opposite sign is the removal.)
///
/// *d ≤ D.* Both rows are divided by √D, so C = (rᵀr − r′ᵀr′)/D. Row k of C is r/D, since k ∉ r′, and each of
/// the d−1 rows j ∈ r′ is e_k/D. So ‖CX‖_F² = (‖Σ_{j∈r} x_j‖² + (d−1)‖x_k‖²)/D², and ‖Σ_{j∈r} x_j‖ is at most
/// d·D̂ (triangle inequality) and at most ‖r‖·‖X‖₂ = √d. The bound [min(d²D̂², d) + (d−1)D̂²]/D² increases with d:
/// the worst is d = D, which gives Δ².
///
/// *d > D.* Then d − 1 ≥ D ≥ 1 and both rows have norm 1, so C = P_r − P_{r′} is a difference of projectors
/// onto two lines with cos²θ = (d−1)/d. Its square is sin²θ·Π = Π/d, Π the projector on span{r, r′} =
/// span{e_k, r′}, hence ‖CX‖_F² = ‖ΠX‖_F²/d = (‖x_k‖² + ‖Σ_{j∈r′} x_j‖²/(d−1))/d, and ‖Σ_{j∈r′} x_j‖² is at
/// most (d−1)²D̂² and at most d−1. This gives g(d) = [D̂² + min((d−1)D̂², 1)]/d. While (d−1)D̂² ≤ 1 it is D̂²;
/// from then on it is (D̂² + 1)/d, which decreases and equals D̂² where the two meet. So g never increases and
/// the worst is g(D+1).
///
/// *The first case is the worse.* If D·D̂² ≤ 1, g(D+1) = D̂² ≤ D̂²(1 + (D−1)/D²) = Δ². Otherwise
/// Δ² − g(D+1) = 1/D + (D−1)D̂²/D² − (D̂² + 1)/(D+1) = (D − D̂²)/(D²(D+1)) ≥ 0, since D̂² ≤ 1 ≤ D. ∎
///
/// At D = 1 this is Δ = D̂, without P1's factor √2.
/// Tight where D·D̂² ≤ 1: rows of X that are equal on the D items.
impl Rule for Exact<adjacency::Interaction> {
    const ADJACENCY: Adjacency = Adjacency::Interaction;
    const RULE: SensitivityRule = SensitivityRule::Exact;

    fn bound(public: &Public, row_norm: f64) -> f64 {
        bound(row_norm, public.degree_floor)
    }
}

fn bound(row_norm: f64, degree_floor: u32) -> f64 {
    let floor = f64::from(degree_floor);
    // As a hypotenuse: no underflow, and exactly D̂ at D = 1.
    let row = row_norm.min(1.0 / floor.sqrt());
    libm::hypot(row, (floor - 1.0).sqrt() / floor * row_norm)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula with both maxima enumerated.
    fn enumerated(row_norm: f64, floor: u32) -> f64 {
        let square = row_norm * row_norm;
        let big = f64::from(floor);
        let within = (1..=floor)
            .map(f64::from)
            .map(|d| ((d * d * square).min(d) + (d - 1.0) * square) / (big * big));
        let beyond = (floor + 1..floor + 5000)
            .map(f64::from)
            .map(|d| (square + ((d - 1.0) * square).min(1.0)) / d);
        within.chain(beyond).fold(0.0, f64::max).sqrt()
    }

    #[test]
    fn the_closed_form_is_the_enumerated_maximum() {
        for floor in [1, 2, 3, 5, 20, 100] {
            for step in 1..=200 {
                let row_norm = 0.005 * f64::from(step);
                let (closed, full) = (bound(row_norm, floor), enumerated(row_norm, floor));
                assert!((closed / full - 1.0).abs() < 1e-12, "{floor} {row_norm}");
            }
        }
    }

    #[test]
    fn documented_values() {
        assert_eq!(bound(0.37, 1), 0.37);
        assert!(bound(1.0, 20) <= 0.3123);
    }
}
