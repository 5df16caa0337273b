//! Bounds for one interaction where rows are divided by the fourth root of d·max(d, D).

use std::marker::PhantomData;

use super::rule::{Public, Rule, SensitivityRule};
use super::statistic::Statistic;
use super::unit_row::{Isometric, Of, Packed, Product};
use crate::privacy::Adjacency;

/// The tight bound on quantity `Q` for one interaction added or removed, where A = Σ_u w(d_u)·r_uᵀr_u with w(d) = 1/√(d·max(d, D)): rows r_u
/// under a *root floor* D ([`root_floored_rows`](crate::interactions::Interactions::root_floored_rows)).
///
/// # Why
/// A floor D divides every row of d < D interactions by √D, so that such a user enters A with d/D of the weight that floor 1 gives. But
/// what one interaction of such a user moves is then only √(2d−1)/D, where √(2D−1)/D is paid for. With w(d) everybody's interactions move
/// about as much, √(2/D), and such a user enters with √(d/D) of the weight: less bias for the same Δ.
///
/// # Statement
/// With t = √(1 − 1/D):
///
/// | released | Δ² |
/// | --- | --- |
/// | A X, orthonormal columns | max(G/D, [D̂² + min(D·D̂², 1)]/(D+1)), where G = [min(D·D̂², 1) + t²·min((D−1)·D̂², 1)]/(1+t) + t·D̂² |
/// | packed triangle of A | (5/2 − √2)/D for D ≥ 2, and 1 for D = 1 |
/// | isometric triangle of A | (2D − 1 − 2(D−1)·t)/D, below 2/D |
///
/// # Proof
/// Let r = r′ + e_k be the larger row, d = |r|, w = w(d), v = w(d−1) and δ = v − w, where d ≥ 2. Then w falls with d and d·w(d) does not, so that
/// δ ≥ 0 and d·w ≥ (d−1)·v. The change of A (of either sign) is
///
/// C = w·rᵀr − v·r′ᵀr′:  w at (k, k) and at (k, j), (j, k) for j ∈ r′, and −δ at the (d−1)² entries among r′.    (1)
///
/// For d = 1 it is w(1) = 1/√D at (k, k) alone. Let t_d = √((d−1)/d); for d ≤ D the weights are such that
///
/// c = w·(d·w − (d−1)·v) = (1 − t_d)/D,  (d−1)·v·w = t_d/D,  (d−1)·v·δ = (1 − t_d)/D.    (2)
///
/// For d > D also d − 1 ≥ D, and both rows are divided by their own length, as under a floor that is not a root: there
/// [`Exact<Interaction>`](super::exact), [`packed`](super::packed) and [`isometric`](super::isometric) prove ‖CX‖_F² ≤ [D̂² + min(D·D̂², 1)]/(D+1),
/// ‖triu C‖² < 1/D and ‖C‖_F² ≤ 2/(D+1). It remains to bound d ≤ D.
///
/// *The isometric triangle.* ‖C‖_F² = (2d−1)·w² + (d−1)²·δ², with (2) D·‖C‖_F² = f(d) = 2d − 1 − 2(d−1)·t_d, which is 1 for d = 1 as it must be.
/// As a function of a real d it has the derivative 2 − 3t_d + t_d³ = (1 − t_d)²·(2 + t_d) ≥ 0, so that f(D) is the largest. It is no less than
/// 2D/(D+1), which bounds d > D: for D = 1 both are 1; for D ≥ 2, t_D ≤ 1 − 1/(2D) − 1/(8D²) gives
/// f(D) ≥ 2 − 3/(4D) − 1/(4D²) ≥ 2 − 2/(D+1). Tight: d = D.
///
/// *The packed triangle.* It has d entries w and d(d−1)/2 entries −δ. For 2 ≤ d ≤ D, D times its square is
/// g(d) = 1 + d(d−1)/2·(1/√(d−1) − 1/√d)² = d + 1/2 − √(d(d−1)), which falls, since (2d−1)² > 4d(d−1); so g(2) = 5/2 − √2 > 1 is the
/// largest. For d = 1 it is 1. Tight: d = 2, or d = 1 where D = 1.
///
/// *The product.* With x = x_k and y = Σ_{j∈r′} x_j row k of CX is w(x + y), and each of the d−1 rows j ∈ r′ is w·x − δ·y. Hence
///
/// ‖CX‖_F² = w²‖x+y‖² + (d−1)‖w·x − δ·y‖² = c‖x+y‖² + (d−1)·v·(w‖x‖² + δ‖y‖²),    (3)
///
/// by comparing the coefficients of ‖x‖², ‖y‖² and ⟨x, y⟩: none is negative. ‖x‖ ≤ D̂; ‖x+y‖² is at most d²D̂² (triangle inequality) and at most
/// d (‖X‖₂ = 1), and in the same way ‖y‖² ≤ min((d−1)²D̂², d−1). With (2), 1 − t_d = 1/(d(1+t_d)) and (d−1)/d = t_d²,
///
/// D·‖CX‖_F² ≤ G(d) = [φ(d) + t_d²·φ(d−1)]/(1+t_d) + t_d·D̂²,  φ(d) = min(d·D̂², 1).
///
/// For d = 1 that is D̂², as it must be. G does not fall from d to d+1: φ and t do not. For d ≥ 2,
/// G(d+1) − G(d) ≥ φ(d)·[h(t_{d+1}) − h(t_d)] with h(t) = (1+t²)/(1+t), because φ(d+1) ≥ φ(d) ≥ φ(d−1), and h rises from t = √2 − 1 on, which
/// t_2 = √½ is beyond. From d = 1, with D̂² ≤ 1: if 2D̂² ≤ 1, G(2) ≥ 2D̂²/(1+t_2) ≥ D̂²; otherwise
/// G(2) = (1 + D̂²/2)/(1+t_2) + t_2·D̂², where D̂² has the coefficient (1/2)/(1+t_2) + t_2 = 1. So G(D) is the largest. ∎
///
/// Tight where D·D̂² ≤ 1: rows of X that are equal on the D items. At D = 1 this is Δ = D̂.
pub(super) struct RootFloor<Q>(PhantomData<Q>);

/// A quantity with a bound under a root floor.
pub(super) trait Bounded: Of {
    /// Whether the bound takes D̂.
    const OF_QUERY: bool;

    /// Δ for this floor and D̂ in (0, 1].
    fn bound(floor: f64, row_norm: f64) -> f64;
}

impl Bounded for Product {
    const OF_QUERY: bool = true;

    /// In units of D̂², so that nothing underflows.
    fn bound(floor: f64, row_norm: f64) -> f64 {
        let t = (1.0 - floor.recip()).sqrt();
        let longest = (row_norm * row_norm).recip();
        let phi = |d: f64| d.min(longest);
        let within = ((phi(floor) + t * t * phi(floor - 1.0)) / (1.0 + t) + t) / floor;
        let beyond = (1.0 + phi(floor)) / (floor + 1.0);
        row_norm * within.max(beyond).sqrt()
    }
}

impl Bounded for Packed {
    const OF_QUERY: bool = false;

    fn bound(floor: f64, _: f64) -> f64 {
        let most = if floor < 2.0 {
            1.0
        } else {
            2.5 - std::f64::consts::SQRT_2
        };
        (most / floor).sqrt()
    }
}

impl Bounded for Isometric {
    const OF_QUERY: bool = false;

    /// (D−1)·(1−t) = t²/(1+t), so that nothing cancels: f(D) = 1 + 2t²/(1+t).
    fn bound(floor: f64, _: f64) -> f64 {
        let t = (1.0 - floor.recip()).sqrt();
        ((1.0 + 2.0 * t * t / (1.0 + t)) / floor).sqrt()
    }
}

impl<Q: Bounded> Rule for RootFloor<Q> {
    const ADJACENCY: Adjacency = Adjacency::Interaction;
    const RULE: SensitivityRule = SensitivityRule::RootFloor;
    const QUANTITY: crate::vocabulary::Quantity = Q::QUANTITY;

    fn statistic(_: &Public) -> Statistic {
        match Q::OF_QUERY {
            true => Statistic::MaxRowNorm,
            false => Statistic::None,
        }
    }

    fn bound(public: &Public, row_norm: f64) -> f64 {
        Q::bound(f64::from(public.degree_floor), row_norm)
    }
}

/// The bound `R` on a quantity that does not look at what rows are divided by, where they are divided by a root floor: the proof of `R` is about the
/// interactions of a user and their number, and about nothing else.
pub(super) struct UnderRoot<R>(PhantomData<R>);

impl<R: Rule> Rule for UnderRoot<R> {
    const ADJACENCY: Adjacency = {
        assert!(matches!(R::ADJACENCY, Adjacency::Interaction));
        R::ADJACENCY
    };
    const RULE: SensitivityRule = SensitivityRule::RootFloor;
    const QUANTITY: crate::vocabulary::Quantity = R::QUANTITY;
    const COVERS_CAP: bool = R::COVERS_CAP;

    fn statistic(public: &Public) -> Statistic {
        R::statistic(public)
    }

    fn bound(public: &Public, statistic: f64) -> f64 {
        R::bound(public, statistic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(d: u32, floor: u32) -> f64 {
        (f64::from(d) * f64::from(d.max(floor))).sqrt().recip()
    }

    /// The entries of a change, over all degrees to 500 beyond the floor: how many entries of its triangle are on the diagonal among
    /// r′, off it, and at k, with their sizes. Counted, not the closed forms.
    fn entries(d: u32, floor: u32) -> [(f64, f64); 4] {
        let (w, before) = (weight(d, floor), f64::from(d - 1));
        let fallen = if d > 1 { weight(d - 1, floor) - w } else { 0.0 };
        let pairs = before * (before - 1.0) / 2.0;
        // Diagonal: of r′ and k; above it: among r′ and with k.
        [(before, fallen), (1.0, w), (pairs, fallen), (before, w)]
    }

    #[test]
    fn the_closed_forms_of_triangles_are_the_enumerated_maxima() {
        for floor in [1_u32, 2, 3, 5, 20, 100, 1000] {
            let (mut packed, mut isometric) = (0.0_f64, 0.0_f64);
            for d in 1..floor + 500 {
                let [a, b, above, beside] = entries(d, floor);
                let squares = |(count, size): (f64, f64)| count * size * size;
                let on = squares(a) + squares(b);
                let off = squares(above) + squares(beside);
                packed = packed.max(on + off);
                isometric = isometric.max(on + 2.0 * off);
            }
            let floor = f64::from(floor);
            let closed = <Packed as Bounded>::bound(floor, f64::NAN);
            assert!((closed / packed.sqrt() - 1.0).abs() < 1e-12, "{floor}");
            let closed = <Isometric as Bounded>::bound(floor, f64::NAN);
            assert!((closed / isometric.sqrt() - 1.0).abs() < 1e-12, "{floor}");
            assert!(closed < (2.0 / floor).sqrt());
        }
    }

    /// (3) with its own bounds on the three vectors, over all degrees: the closed form is the largest, to rounding.
    #[test]
    fn the_closed_form_of_products_is_the_enumerated_maximum() {
        for floor in [1_u32, 2, 3, 5, 20, 100, 400] {
            for step in 1..=200 {
                let row_norm = 0.005 * f64::from(step);
                let q = row_norm * row_norm;
                let term = |d: u32| {
                    let (w, n) = (weight(d, floor), f64::from(d));
                    let whole = (n * n * q).min(n);
                    if d == 1 {
                        return w * w * whole;
                    }
                    let v = weight(d - 1, floor);
                    let rest = ((n - 1.0) * (n - 1.0) * q).min(n - 1.0);
                    let c = w * (n * w - (n - 1.0) * v);
                    c * whole + (n - 1.0) * v * (w * q + (v - w) * rest)
                };
                let full = (1..floor + 3000).map(term).fold(0.0, f64::max).sqrt();
                let closed = <Product as Bounded>::bound(f64::from(floor), row_norm);
                assert!((closed / full - 1.0).abs() < 1e-9, "{floor} {row_norm}");
            }
        }
    }

    #[test]
    fn documented_values() {
        let product = <Product as Bounded>::bound;
        assert_eq!(product(1.0, 0.37), 0.37);
        assert!(product(7.0, 1e-200) > 1e-200);
        assert_eq!(<Isometric as Bounded>::bound(1.0, 1.0), 1.0);
        // D = 2: 3 − √2 over 2.
        let two = <Isometric as Bounded>::bound(2.0, 1.0);
        assert!((two * two - (3.0 - 2.0_f64.sqrt()) / 2.0).abs() < 1e-15);
        // Huge floors neither cancel nor overflow.
        let huge = f64::from(u32::MAX);
        assert!(
            (<Isometric as Bounded>::bound(huge, 1.0) * (huge / 2.0).sqrt() - 1.0).abs() < 1e-9
        );
    }
}
