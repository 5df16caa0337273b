//! Quadrature for graphs with hubs: every row of Σ divided by its size first.
//!
//! A hub with 400 neighbours, all edges of weight w, puts an eigenvalue of 400w beside the many of a few w, and Krylov spaces spend their steps
//! on that range. With n_i = Σ_ii and S_ij = Σ_ij/√(n_in_j) all eigenvalues lie in (0, 2), however unequal the degrees.
//!
//! # What is left out
//! The diagonal d of D is not an eigenvector of S, so the common part cannot be deflated; it is lifted instead, as in
//! [`super::super::dense`]: M = Σ + τddᵀ has Σ⁻¹ = M⁻¹ + τ11ᵀ/(1 + τ·tr D). With g_i = d_i/√n_i and
//! τ = 1/Σg_i² the scaled matrix is S + ĝĝᵀ, ĝ = g/‖g‖, and
//! **v_u = [(S + ĝĝᵀ)⁻¹]_uu/n_u + 1/(tr D + 1/τ)**: the second term is nearly all where K is much larger than D.
//!
//! # A lower bound on S + ĝĝᵀ
//! S ⪰ K̂ = N^{-1/2}KN^{-1/2}, N = diag(n), whose null vector is p ∝ √n, and K̂ ⪰ ν(I − ppᵀ) for a ν that [`super::floor`]
//! proves: for D = ηN its operator is K̂/η, and it bounds 1 + λ₂(K̂)/η from below. With c = ĝᵀp ≤ 1,
//! **λ_min(S + ĝĝᵀ) ≥ 2c²ν/(1 + ν + √((1 + ν)² − 4c²ν)) =: a**.
//!
//! *Proof.* ν(I − ppᵀ) + ĝĝᵀ acts as ν off the span of p and ĝ and as ((c², cs), (cs, ν + s²)) on it, s² = 1 − c²: trace 1 + ν,
//! determinant c²ν, smaller eigenvalue a, which is at most ν (at ν the characteristic polynomial is ν(c² − 1) ≤ 0). ∎
//! c = tr D/√(tr N·Σd_i²/n_i) by the definitions.

use super::super::matrix::ShiftedLaplacian;
use super::floor;
use super::operator::Operator;
use super::precision::{DOUBLE, SINGLE, SINGLE_FROM, Target, with_precision};
use super::view::View;
use crate::linalg::bracket::Bracket;

/// From this quotient of the largest and the smallest Σ_ii on: below, deflation is cheaper.
const UNEQUAL: f64 = 8.0;

/// η: small, so that the bound on 1 + λ₂(K̂)/η is one on λ₂(K̂); a power of two.
const OWN: f64 = 1.0 / (1_u64 << 40) as f64;

/// Relative allowance on c² and ν: sums of a term per row, and a few roundings.
fn downwards(rows: usize) -> f64 {
    1.0 - 16.0 * (rows as f64 + 64.0) * f64::EPSILON
}

/// As [`super::inverse_diagonal`]; `None` also where the rows are of about equal size, or no bound is found.
pub(super) fn inverse_diagonal(
    sigma: &ShiftedLaplacian,
    target: Target,
) -> Option<(Vec<Bracket>, usize)> {
    let diagonal = sigma.diagonal();
    let largest = diagonal.iter().copied().fold(0.0, f64::max);
    let smallest = diagonal.iter().copied().fold(f64::INFINITY, f64::min);
    // NaN is not unequal.
    let unequal = largest >= UNEQUAL * smallest;
    if !unequal {
        return None;
    }
    let limit = target.steps.clamp(1, sigma.len());
    let (lift, square) = lift(sigma, &diagonal);
    let floor = bound(sigma, &diagonal, square, limit);
    if floor <= 0.0 {
        return None;
    }
    let common = 1.0 / (sigma.total_own() + square);
    let view = View {
        sigma,
        // `square` itself defines τ; only the sum and the quotient round.
        common: Bracket::rounded(common),
        divisors: diagonal.clone(),
        epsilon: 0.0,
        floor,
    };
    if target.gap >= SINGLE_FROM {
        let operator = Operator::<f32>::equilibrated(sigma, &diagonal, &lift);
        let found = with_precision::<f32, SINGLE>(&view, &operator, target, limit);
        let reached = |found: &(Vec<Bracket>, usize)| {
            let mut gaps = found.0.iter().map(Bracket::gap);
            gaps.all(|gap| gap <= target.gap)
        };
        if let Some(found) = found.filter(reached) {
            return Some(found);
        }
    }
    let operator = Operator::<f64>::equilibrated(sigma, &diagonal, &lift);
    with_precision::<f64, DOUBLE>(&view, &operator, target, limit)
}

/// ĝ and 1/τ = ‖g‖².
pub(super) fn lift(sigma: &ShiftedLaplacian, diagonal: &[f64]) -> (Vec<f64>, f64) {
    let mut lift: Vec<f64> = sigma
        .own
        .iter()
        .zip(diagonal)
        .map(|(own, n)| own / n.sqrt())
        .collect();
    let square = lift.iter().map(|g| g * g).sum::<f64>();
    let length = square.sqrt();
    lift.iter_mut().for_each(|g| *g /= length);
    (lift, square)
}

/// a, or 0 where ν is not found.
pub(super) fn bound(sigma: &ShiftedLaplacian, diagonal: &[f64], square: f64, limit: usize) -> f64 {
    let own = diagonal.iter().map(|n| n * OWN).collect();
    let rows = (0..sigma.len()).map(|i| {
        let row = sigma.row(i);
        row.map(|(j, weight)| (j as u32, weight)).collect()
    });
    let scaled = ShiftedLaplacian::new(own, rows);
    let operator = Operator::<f64>::new(&scaled);
    // In units of s, of 1/s + B = (1 + K̂/η)/s.
    let found = floor::certified::<f64, DOUBLE>(&scaled, &operator, limit) * operator.scale;
    let safe = downwards(sigma.len());
    let nu = ((found * safe - 1.0) * OWN).min(1.0);
    if nu.is_nan() || nu <= 0.0 {
        return 0.0;
    }
    let total = sigma.total_own();
    let cosine = total / diagonal.iter().sum::<f64>() * (total / square);
    least_eigenvalue((cosine * safe).min(1.0), nu * safe) * safe
}

/// The smaller eigenvalue of ((c², cs), (cs, ν + s²)).
fn least_eigenvalue(cosine_squared: f64, nu: f64) -> f64 {
    let trace = 1.0 + nu;
    let determinant = cosine_squared * nu;
    let root = (trace * trace - 4.0 * determinant).max(0.0).sqrt();
    2.0 * determinant / (trace + root)
}
