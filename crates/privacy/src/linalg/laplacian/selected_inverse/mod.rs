//! The diagonal of (D + K)⁻¹ by a sparse factorisation and selected inversion, for graphs whose elimination fills little.
//!
//! Rows are eliminated in minimum degree order ([`elimination`]) until what is left is dense ([`dense_core`]); then the entries
//! of the inverse on the pattern of the factor follow backwards (Takahashi, Fagan & Chin 1973).
//!
//! # No subtraction anywhere
//! Let A = D + K have weights w_ij ≥ 0 and own entries d_i > 0. With p = d_u + Σ_j w_uj and l_j = w_uj/p, the Schur
//! complement without row u is of the same kind (Grassmann, Taksar & Heyman 1985):
//! w′_ij = w_ij + l_i·w_uj and d′_i = d_i + l_i·d_u. Backwards, with Z the inverse of the Schur complement,
//! z_iu = Σ_j l_j·z_ij and z_uu = 1/p + Σ_j l_j·z_ju, and Z ≥ 0. Every operation adds, multiplies or divides numbers that
//! are not negative, so its relative error is at most ε = 2⁻⁵³, however far D and K are apart.
//!
//! # Statement
//! Let N be the number of rows, and c_u count the roundings on the way to z_uu as below. If ε·(8N + c_u) ≤ 10⁻⁶, the computed
//! ẑ_uu satisfies |ẑ_uu − [A⁻¹]_uu| ≤ 1.01·ε·(8N + c_u)·ẑ_uu.
//!
//! # Proof
//! *Forwards.* Let Â_k be the computed matrix before step k, S_k its exact Schur complement. p is a compensated sum, off by
//! at most 2ε relatively ([`pivot`]), l by 3ε, and every w′_ij and d′_i by at most 7ε. So every weight
//! and own entry of Â_{k+1} is that of S_k times 1 + θ, |θ| ≤ 7ε; both matrices are sums of those times fixed positive semidefinite
//! ones, hence (1 − 7ε)S_k ⪯ Â_{k+1} ⪯ (1 + 7ε)S_k.
//! Let X_k be what the exact backward formulas give from X_{k+1} with the exact p and l of Â_k. They are
//! X_k = FᵀX′F for a fixed F, X′ = diag(1/p, X_{k+1}), and give Â_k⁻¹ for X_{k+1} = S_k⁻¹: they keep Loewner's order. By induction from
//! the last row, (1 + 7ε)^{k−N}·Â_k⁻¹ ⪯ X_k ⪯ (1 − 7ε)^{k−N}·Â_k⁻¹, and so for the diagonal of X_1 and A⁻¹.
//! *Backwards.* The computed entries are those of X_1 times 1 + θ, and a sum of products that are not negative is off by at
//! most the largest error of its terms plus one rounding per addition. With l and 1/p off by 4ε each, entries of a
//! column with m others, all known up to c roundings, are known up to c + 2m + 12: c_u is the longest such path. For
//! blocks of the core see [`dense_core`].
//! *Underflow.* Own entries are at least 2⁻³⁴⁰ and all entries at most 2³⁴⁰ ([`LEAST`], [`LARGEST`]), or nothing is computed.
//! An operation that underflows is off by at most 2⁻¹⁰⁷⁴. Carried into A or the diagonal of the inverse that is at
//! most 2⁻³⁰⁰ relatively: own entries only grow, pivots are below 2⁴⁰⁰, and Σl ≤ 1 lets no error grow. The eighth ε per step
//! pays for all of them. ∎

mod dense_core;
mod elimination;
mod pivot;

#[cfg(test)]
mod tests;

use super::matrix::ShiftedLaplacian;
use crate::linalg::bracket::Bracket;

/// The least own entry and the largest entry for which underflow is harmless: 2⁻³⁴⁰ and 2³⁴⁰.
const LEAST: f64 = f64::from_bits((1023 - 340) << 52);
const LARGEST: f64 = f64::from_bits((1023 + 340) << 52);

/// Half a unit in the last place of 1.
const UNIT: f64 = f64::EPSILON / 2.0;

/// Roundings per row of the forward part.
const FORWARDS: f64 = 8.0;

/// The dense core may be this share of all rows. Beyond, quadrature is faster.
const LARGEST_CORE: f64 = 0.3;

/// The largest relative error that is accepted.
const WORST_ERROR: f64 = 1e-6;

/// [Σ⁻¹]_uu of every row u, in order; `None` where elimination fills too much, or an entry is outside of what the
/// proof covers.
///
/// # Cost
/// Linear but for logarithms on trees, about 31·n^{3/2} multiplications on planar graphs, ⅔m³ more for a core of m rows. Where it gives up,
/// a small part of what quadrature takes.
pub(crate) fn inverse_diagonal(sigma: &ShiftedLaplacian) -> Option<Vec<Bracket>> {
    inverse_diagonal_with(sigma, LARGEST_CORE)
}

/// Like [`inverse_diagonal`], with a dense core of at most this share of the rows.
fn inverse_diagonal_with(sigma: &ShiftedLaplacian, largest_core: f64) -> Option<Vec<Bracket>> {
    let n = sigma.len();
    let weights = (0..n).flat_map(|i| sigma.row(i).map(|(_, weight)| weight));
    let in_range = |own: f64| (LEAST..=LARGEST).contains(&own);
    // Written so that NaN is refused too.
    if !(sigma.own.iter().all(|&own| in_range(own)) && { weights }.all(|w| w <= LARGEST)) {
        return None;
    }
    let eliminated = elimination::eliminate(sigma, largest_core)?;
    let (diagonal, roundings) = eliminated.inverse_diagonal();
    diagonal
        .into_iter()
        .zip(roundings)
        .map(|(entry, backwards)| {
            let error = 1.01 * UNIT * (FORWARDS * n as f64 + backwards);
            let bracket = Bracket::new(entry * (1.0 - error), entry, entry * (1.0 + error));
            // `times` rounds outwards, the two products above included.
            (error <= WORST_ERROR).then(|| bracket.times(1.0 / sigma.unit))
        })
        .collect()
}
