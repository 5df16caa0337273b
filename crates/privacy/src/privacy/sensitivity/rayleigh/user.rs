//! One whole user, there or not, or in the place of another.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::{Rayleigh, UnitRowRayleigh};
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// A whole user zeroed out or added, with at most m = `degree_cap` interactions:
///
/// Δ = min(1, m/D)·min(1, m h²), and Δ = 1 without a cap.
///
/// # Proof
/// |vᵀr̂ᵀr̂v| = (r̂v)². With d interactions and N = max(d, D), |Σ_{j∈r} v_j| is at most d·h and, by Cauchy's inequality, at most √d.
/// So (r̂v)² ≤ min(d, d²h²)/N = (d/N)·min(1, d h²). Both factors increase with d: the worst is d = m. Without a cap d/N ≤ 1. ∎
///
/// Tight: v equal on m items, to h where m h² ≤ 1 and to 1/√m otherwise.
impl Rule for Rayleigh<adjacency::User> {
    const ADJACENCY: Adjacency = Adjacency::User;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::RayleighQuotient;
    const COVERS_CAP: bool = true;

    fn statistic(public: &Public) -> Statistic {
        statistic(public)
    }

    fn bound(public: &Public, entry: f64) -> f64 {
        bound(public, entry)
    }
}

/// One user's row replaced by any other: what one user costs, without a factor.
///
/// # Proof
/// The quotient moves by (r̂v)² − (r̂′v)². Both terms lie between 0 and the bound for one user. ∎
impl Rule for Rayleigh<adjacency::ReplaceUser> {
    const ADJACENCY: Adjacency = Adjacency::ReplaceUser;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::RayleighQuotient;
    const COVERS_CAP: bool = true;

    fn statistic(public: &Public) -> Statistic {
        statistic(public)
    }

    fn bound(public: &Public, entry: f64) -> f64 {
        bound(public, entry)
    }
}

/// Rows of norm at most 1: Δ = 1, there or not and one in place of another alike, because 0 ≤ (rv)² ≤ ‖r‖²‖v‖² ≤ 1. ∎
impl Rule for UnitRowRayleigh<adjacency::User> {
    const ADJACENCY: Adjacency = Adjacency::User;
    const RULE: SensitivityRule = SensitivityRule::UnitRow;
    const QUANTITY: Quantity = Quantity::RayleighQuotient;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        1.0
    }
}

/// As for a row that is there or not.
impl Rule for UnitRowRayleigh<adjacency::ReplaceUser> {
    const ADJACENCY: Adjacency = Adjacency::ReplaceUser;
    const RULE: SensitivityRule = SensitivityRule::UnitRow;
    const QUANTITY: Quantity = Quantity::RayleighQuotient;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        1.0
    }
}

/// The largest entry under a cap, nothing without one.
fn statistic(public: &Public) -> Statistic {
    match public.degree_cap {
        Some(_) => Statistic::MaxRowNorm,
        None => Statistic::None,
    }
}

fn bound(public: &Public, entry: f64) -> f64 {
    public.degree_cap.map_or(1.0, |cap| {
        let cap = f64::from(cap);
        (cap / f64::from(public.degree_floor)).min(1.0) * (cap * entry * entry).min(1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_values() {
        let at = |entry, degree_floor, degree_cap| {
            let rank = 1;
            let public = Public {
                degree_floor,
                degree_cap,
                rank,
                rating: None,
            };
            bound(&public, entry)
        };
        assert_eq!(at(0.1, 1, None), 1.0);
        assert!((at(0.1, 20, Some(25)) - 0.25).abs() < 1e-15);
        assert_eq!(at(1.0, 20, Some(5)), 0.25);
    }
}
