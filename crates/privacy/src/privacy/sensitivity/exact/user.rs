//! The tight bound for a whole user, there or not.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::Exact;
use crate::privacy::adjacency::{self, Adjacency};

/// A whole user zeroed out or added, with at most m = `degree_cap` interactions:
///
/// Δ = min(1, m/D)·min(1, √m·D̂), and Δ = 1 without a cap.
///
/// # Proof
/// C = r̂ᵀr̂ has rank one: ‖CX‖_F = ‖r̂‖·‖r̂X‖, whatever p is. With d interactions and N = max(d, D),
/// ‖r̂‖² = d/N, and ‖r̂X‖ is at most ‖r̂‖·‖X‖₂ = √(d/N) and at most d·D̂/√N (triangle inequality). So
/// ‖CX‖_F ≤ min(d/N, √d·d·D̂/N) = (d/N)·min(1, √d·D̂), and both factors increase with d: the worst is d = m.
/// Without a cap d/N ≤ 1 gives 1. ∎
///
/// Tight: X with a column proportional to r attains the first term; X constant on m items, √m·D̂ ≤ 1, the
/// second. Replacing a user instead of zeroing it out costs √2 times as much and is another adjacency.
impl Rule for Exact<adjacency::User> {
    const ADJACENCY: Adjacency = Adjacency::User;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const COVERS_CAP: bool = true;

    fn statistic(public: &Public) -> Statistic {
        statistic(public)
    }

    fn bound(public: &Public, row_norm: f64) -> f64 {
        bound(public, row_norm)
    }
}

/// The statistic of the rule: D̂ under a cap, nothing without one.
pub(super) fn statistic(public: &Public) -> Statistic {
    match public.degree_cap {
        Some(_) => Statistic::MaxRowNorm,
        None => Statistic::None,
    }
}

/// Δ of one whole user.
pub(super) fn bound(public: &Public, row_norm: f64) -> f64 {
    public.degree_cap.map_or(1.0, |cap| {
        let cap = f64::from(cap);
        (cap / f64::from(public.degree_floor)).min(1.0) * (cap.sqrt() * row_norm).min(1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_values() {
        let at = |row_norm, degree_floor, degree_cap| {
            let rank = 4;
            let public = Public {
                degree_floor,
                degree_cap,
                rank,
                rating: None,
            };
            bound(&public, row_norm)
        };
        assert_eq!(at(0.1, 1, None), 1.0);
        assert!((at(0.1, 20, Some(25)) - 0.5).abs() < 1e-15);
        assert!((at(1.0, 20, Some(5)) - 0.25).abs() < 1e-15);
    }
}
