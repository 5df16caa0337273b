//! Changes of the matrix.

use super::super::rule::SensitivityRule;
use super::super::statistic::Statistic;
use super::rule::{Public1, Rule1};
use crate::privacy::Adjacency;
use crate::vocabulary::Quantity;

/// A product under changes C with ‖C‖₂ ≤ 1: Δ₁ = p√n.
///
/// # Proof
/// Every column of CX has norm at most 1 and n entries, which sum to at most √n. ∎
///
/// Attained where n is a power of 2: C = Hadamard's matrix over √n, and X any p coordinate vectors. Hardt & Price 2014, Lemma 4.5, scale
/// their noise to 10 times as much.
pub(super) struct Spectral;

impl Rule1 for Spectral {
    const ADJACENCY: Adjacency = Adjacency::UnitSpectral;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::Product;

    fn bound(public: &Public1, _: f64) -> f64 {
        public.rank() * public.items().sqrt()
    }
}

/// A product under changes of single entries by at most 1: Δ₁ = max_i ‖x_i‖₁, √p times the statistic.
///
/// # Proof
/// A change c of entry (i, j) changes row i by c·x_j alone; changes with Σ|C_ij| ≤ 1 are means of such. ∎ No power of n: √n times less than
/// what a change of unit norm costs.
pub(super) struct SingleEntry;

impl Rule1 for SingleEntry {
    const ADJACENCY: Adjacency = Adjacency::Entry;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::Product;

    fn statistic(_: &Public1) -> Statistic {
        Statistic::MaxRowSum
    }

    fn bound(public: &Public1, row_sum: f64) -> f64 {
        public.rank().sqrt() * row_sum
    }
}
