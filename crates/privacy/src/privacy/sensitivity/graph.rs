//! Tight sensitivity bounds for a private graph whose vertices are the peers.
//!
//! # Setting
//! A is the symmetric adjacency matrix, and the peer of vertex s holds row s. Released are A X for a public X with orthonormal columns and
//! rows x_i, of which each peer publishes its own row with a curator's noise, N(0, (zΔ)²) on every coordinate; or vᵀAv for a public vector
//! v of norm 1, to which the peer of s contributes v_s (Av)_s.
//!
//! # Records at two peers
//! An edge is an entry of two rows, at two peers. What is proved here covers that, so that everything else may count with Δ alone:
//!
//! - *Own coordinates.* Their noise is independent, so that changes c_s and c_t at two peers cost exactly
//!   (‖c_s‖² + ‖c_t‖²)/(zΔ)² ≤ 1/z², where Δ² bounds the sum of the squares.
//! - *A sum.* Honest inputs have a covariance Σ (own and shared noise), and changes c_u at several peers cost cᵀΣ⁻¹c. As Σ⁻¹ is positive
//!   definite, √(cᵀΣ⁻¹c) is a norm of c, and by the triangle inequality at most Σ_u |c_u|·√[Σ⁻¹]_uu ≤ Σ_u |c_u|·max_u √[Σ⁻¹]_uu. So Δ has
//!   to bound the sum Σ_u |c_u| of the changes at all peers and not their norm; the plan charges Δ²·max_u [Σ⁻¹]_uu.
//!
//! A coalition that holds an end of an edge knows the edge: the promise is about edges between honest peers.

use std::f64::consts::SQRT_2;
use std::marker::PhantomData;

use super::rule::{Public, Rule, SensitivityRule};
use super::statistic::Statistic;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// The bound on quantity `Q` of a graph for adjacency `A`.
pub(super) struct OfGraph<A, Q>(PhantomData<(A, Q)>);

/// A X, every vertex its own row.
pub(super) struct Product;
/// One half of B X.
pub(super) struct Half;
/// vᵀAv.
pub(super) struct Quotient;

/// One entry of one peer's row changes by at most 1: Δ = max‖x_i‖.
///
/// # Proof
/// With C = α e_s e_tᵀ, |α| ≤ 1, only row s of CX is not 0; it is α x_t. The largest x_t attains it. ∎
impl Rule for OfGraph<adjacency::Entry, Product> {
    const ADJACENCY: Adjacency = Adjacency::Entry;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::GraphProduct;

    fn bound(_: &Public, row_norm: f64) -> f64 {
        row_norm
    }
}

/// One edge {s, t} is there or not: Δ² = ‖x₍₁₎‖² + ‖x₍₂₎‖², the sum of the two largest squared row norms.
///
/// # Proof
/// CX = ±(e_s x_t + e_t x_s): rows s and t of it are x_t and x_s, of two peers, and ‖CX‖² = ‖x_s‖² + ‖x_t‖². The pair of the two longest rows
/// attains it. ∎
///
/// An entry counts twice in an edge, but not √2·max‖x_i‖: where one row is long and all others are short, an edge costs hardly more
/// than an entry.
impl Rule for OfGraph<adjacency::Edge, Product> {
    const ADJACENCY: Adjacency = Adjacency::Edge;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::GraphProduct;

    fn statistic(_: &Public) -> Statistic {
        Statistic::PairOfRows
    }

    fn bound(_: &Public, pair: f64) -> f64 {
        SQRT_2 * pair
    }
}

/// One entry of M by at most 1, the two sides publishing in turns: Δ = max‖x_i‖ in each release.
///
/// # Proof
/// With C = α e_s f_tᵀ only row s of C V changes, by αv_t, where V is what X has on the other side; or only row t of Cᵀ U, by αu_s. The norm
/// of a sum of such changes is convex in them, so that the worst Σ|C_ij| ≤ 1 is a single entry. ∎
impl Rule for OfGraph<adjacency::EntryBipartite, Half> {
    const ADJACENCY: Adjacency = Adjacency::EntryBipartite;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::BipartiteHalf;

    fn bound(_: &Public, row_norm: f64) -> f64 {
        row_norm
    }
}

/// The same with both sides publishing at once: Δ² = ‖x₍₁₎‖² + ‖x₍₂₎‖², as for an edge. Twice one half would be 2·max‖x_i‖. ∎
impl Rule for OfGraph<adjacency::EntryBipartite, Product> {
    const ADJACENCY: Adjacency = Adjacency::EntryBipartite;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::GraphProduct;

    fn statistic(_: &Public) -> Statistic {
        Statistic::PairOfRows
    }

    fn bound(_: &Public, pair: f64) -> f64 {
        SQRT_2 * pair
    }
}

/// One entry: Δ = max v_i², because |vᵀCv| = |α v_s v_t|, at the peer of s alone. An entry on the diagonal attains it; the rows of a graph
/// have none, so that the two largest entries attain it to |v₍₂₎/v₍₁₎|. ∎
impl Rule for OfGraph<adjacency::Entry, Quotient> {
    const ADJACENCY: Adjacency = Adjacency::Entry;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::GraphQuotient;

    fn bound(_: &Public, entry: f64) -> f64 {
        (entry * entry).max(f64::MIN_POSITIVE)
    }
}

/// One edge: Δ = 2|v₍₁₎v₍₂₎|, the product of the two largest entries twice, and at most 1.
///
/// # Proof
/// The peers of s and t change what they contribute by |v_s v_t| each. Both the change of the sum and the sum of the changes, which is what
/// records at two peers ask for, are 2|v_s v_t| ≤ 2|v₍₁₎v₍₂₎|, and 2ab ≤ a² + b² ≤ ‖v‖² = 1. ∎
impl Rule for OfGraph<adjacency::Edge, Quotient> {
    const ADJACENCY: Adjacency = Adjacency::Edge;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::GraphQuotient;

    fn statistic(_: &Public) -> Statistic {
        Statistic::PairProduct
    }

    fn bound(_: &Public, pair: f64) -> f64 {
        (2.0 * pair * pair).clamp(f64::MIN_POSITIVE, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;

    /// Ring of ten peers with shared noise: the loss of an edge's two changes in a sum against what is charged, for every pair of peers.
    /// Charging the change of one peer alone would say a quarter of it.
    #[test]
    fn changes_at_two_peers_of_a_sum_cost_no_more_than_is_charged() {
        let covariance = DMatrix::from_fn(10, 10, |u, v| match (10 + u - v) % 10 {
            0 => 1.0 + 2.0 * 100.0,
            1 | 9 => -100.0,
            _ => 0.0,
        });
        let inverse = covariance.try_inverse().expect("own noise everywhere");
        let most = inverse.diagonal().max();
        let mut worst = 0.0_f64;
        for s in 0..10 {
            for t in 0..s {
                let mut change = DVector::zeros(10);
                (change[s], change[t]) = (1.0, 1.0);
                let cost = change.dot(&(&inverse * &change));
                // Δ = 2: the two changes together.
                assert!(cost <= 4.0 * most * (1.0 + 1e-12), "{s} {t}");
                worst = worst.max(cost / most);
            }
        }
        assert!(worst > 3.9, "one peer's charge would not do: {worst}");
    }

    #[test]
    fn documented_values() {
        let public = Public {
            degree_floor: 1,
            degree_cap: None,
            rank: 1,
            rating: None,
        };
        let half = 0.5_f64.sqrt();
        let product = OfGraph::<adjacency::Edge, Product>::bound(&public, half);
        assert!((product - 1.0).abs() < 1e-15);
        let quotient = OfGraph::<adjacency::Edge, Quotient>::bound;
        assert!((quotient(&public, half) - 1.0).abs() < 1e-15);
        assert_eq!(quotient(&public, 1.0), 1.0);
        assert!(quotient(&public, 1e-200) > 0.0);
    }
}
