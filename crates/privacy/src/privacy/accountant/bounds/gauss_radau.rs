//! The degree-aware two-point Gauss–Radau bound.
//!
//! # Statement
//! Let H have n peers, u degree d in H, and λ₂(H) ≥ a ≥ 0. With m₁ = d·n/(n − 1), σ² = m₁(n − 1 − d)/(n − 1),
//! g = m₁ − a > 0 and f(x) = 1/(σ_η² + σ_Δ²x),
//! v_u ≤ 1/(nσ_η²) + (1 − 1/n)·[σ²·f(a) + g²·f(θ)]/(σ² + g²), θ = m₁ + σ²/g.
//! Where g ≤ 0, the λ₂ bound holds: θ is replaced by a.
//!
//! # Proof
//! Let y = e_u − 1/n: ‖y‖² = 1 − 1/n, yᵀLy = d and ‖Ly‖² = d² + d, because L1 = 0, L_uu = d and column u of L holds
//! d and d times −1. The weights w_k = (q_kᵀy)²/‖y‖² over the eigenvalues λ_k ≥ a orthogonal to 1 are a
//! probability measure with mean d/(1 − 1/n) = m₁ and second moment (d² + d)/(1 − 1/n) = m₁(d + 1), so with variance
//! m₁(d + 1 − m₁) = σ². Since v_u = 1/(nσ_η²) + (1 − 1/n)·Σw_k f(λ_k), it remains to bound the expectation of f.
//! Let p be the parabola with p(a) = f(a), p(θ) = f(θ), p′(θ) = f′(θ). The error of this Hermite interpolation is
//! f(x) − p(x) = f‴(ξ)/6·(x − a)(x − θ)², and f‴ < 0, so f ≤ p on [a, ∞) and the expectation of f is at most that of p.
//! That of p depends on two moments alone, and the measure with weight g²/(σ² + g²) on θ and the rest on a has the
//! same two: its mean is a + g²(θ − a)/(σ² + g²) = a + g = m₁, since θ − a = (g² + σ²)/g, and its second central
//! moment σ²·g²/(σ² + g²) + g²·(σ²/g)²/(σ² + g²) = σ². On it p equals f. ∎ (Golub & Meurant 1994 for the general rule)
//!
//! The value does not grow with a: a smaller a only admits more measures, and the bound is their maximum. At a = 0 it
//! is the star bound with h = d, so this bound never loses to the star bound of the same degree.
//!
//! # Over all coalitions
//! n = s − t, a = max(0, λ₂(G) − t), and d is one of deg(u) − t, …, deg(u): the largest of these values.
//!
//! # Rounding
//! Every term is positive; only g is a difference. Where a ≤ m₁/2 it is accurate, and elsewhere f(a) ≤ 2f(m₁), so that
//! the error, at most 2⁻⁵²·m₁·f(a)/σ with σ ≥ √(m₁/n), is below 2⁻⁵⁰·n relative to the result: within the
//! allowance of [`super::outward`].

use super::{PerPeer, PublicGraph};

/// The bound for one peer of degree `degree` among `honest`, a = `connectivity`, per unit of 1/σ_η².
pub(super) fn radau_bound(honest: usize, degree: usize, connectivity: f64, ratio: f64) -> f64 {
    if honest <= 1 {
        return 1.0;
    }
    let n = honest as f64;
    let d = degree as f64;
    let a = connectivity.max(0.0);
    let f = |x: f64| {
        if x > 0.0 {
            1.0 / (1.0 + ratio * x)
        } else {
            1.0
        }
    };
    let mean = d * n / (n - 1.0);
    let gap = mean - a;
    let expectation = if gap > 0.0 {
        let variance = mean * (n - 1.0 - d).max(0.0) / (n - 1.0);
        let square = gap * gap;
        (variance * f(a) + square * f(mean + variance / gap)) / (variance + square)
    } else {
        f(a)
    };
    1.0 / n + (1.0 - 1.0 / n) * expectation
}

/// The largest value over the degrees that a coalition of `colluders` may leave.
pub(super) fn per_peer<'a>(
    public: &'a PublicGraph<'_>,
    ratio: f64,
    colluders: usize,
) -> PerPeer<'a> {
    let honest = public.graph().nodes() - colluders;
    let left = public.connectivity().after(colluders).unwrap_or(0.0);
    public.by_degree(|degree| {
        let most = degree.min(honest - 1);
        let least = degree.saturating_sub(colluders).min(most);
        (least..=most)
            .map(|d| radau_bound(honest, d, left, ratio))
            .reduce(f64::max)
    })
}
