//! One item for another.

use super::super::rule::{Public, SensitivityRule};
use super::NuclearRule;
use crate::privacy::Adjacency;

/// One item of a user exchanged for another, or one added or removed, rows r/√max(d, D): Δ_* = 2√(2D − 1)/D.
///
/// # Proof
/// An exchange keeps the number d of items and the divisor N = max(d, D). Both rows have the squared norm d/N, and d − 1 items in common,
/// ⟨x, y⟩ = (d − 1)/N. The identity gives ‖C‖_*² = [4d² − 4(d − 1)²]/N² = 4(2d − 1)/N². For d ≤ D that is at most 4(2D − 1)/D²; for
/// d ≥ D it is 4(2d − 1)/d², which falls. One item more or less moves A by at most √(4D − 3)/D or 2/√(D + 1)
/// ([`Floored`](super::interaction::Floored)): the first is no more since 4D − 3 ≤ 8D − 4, the second since
/// D² ≤ (2D − 1)(D + 1) = 2D² + D − 1. A cap only excludes rows. ∎
///
/// Attained at d = D.
pub(super) struct Exchanged;

impl NuclearRule for Exchanged {
    const ADJACENCY: Adjacency = Adjacency::Swap;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const COVERS_CAP: bool = true;

    fn bound(public: &Public) -> f64 {
        let floor = f64::from(public.degree_floor);
        2.0 * (2.0 * floor - 1.0).sqrt() / floor
    }
}
