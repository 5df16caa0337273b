//! One whole user of an interaction matrix.

use std::marker::PhantomData;

use super::super::rule::{Public, SensitivityRule};
use super::NuclearRule;
use crate::privacy::adjacency::{self, Adjacency};

/// The bound for users with at most m = `degree_cap` interactions, rows r/√max(d, D), under adjacency `A`.
pub(super) struct Counted<A>(PhantomData<A>);

/// ‖r̂‖² at its largest.
fn largest_square(public: &Public) -> f64 {
    let floor = f64::from(public.degree_floor);
    let cap = public.degree_cap.map_or(floor, f64::from);
    floor.min(cap) / floor
}

/// A user there or not: Δ_* = min(m, D)/D, which without a cap is 1.
///
/// # Proof
/// ‖r̂r̂ᵀ‖_* = ‖r̂‖² = d/max(d, D): it increases with d up to d = D and is 1 from there on. ∎ Attained by a user with d = min(m, D).
impl NuclearRule for Counted<adjacency::User> {
    const ADJACENCY: Adjacency = Adjacency::User;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const COVERS_CAP: bool = true;

    fn bound(public: &Public) -> f64 {
        largest_square(public)
    }
}

/// One user in place of another: twice that.
///
/// # Proof
/// The nuclear norm of a difference is at most the sum of the two. ∎ Attained by two users with d = min(m, D) and no common item.
impl NuclearRule for Counted<adjacency::ReplaceUser> {
    const ADJACENCY: Adjacency = Adjacency::ReplaceUser;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const COVERS_CAP: bool = true;

    fn bound(public: &Public) -> f64 {
        2.0 * largest_square(public)
    }
}
