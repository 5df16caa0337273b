//! Gaussian noise in whole numbers: what a peer adds in a ring, and what both ends of an edge must draw to the same bit.
//!
//! [`RoundedGaussian`] draws round(N(0, σ²)), x rounded to the nearest whole number, for any σ from ½ to 2⁴⁰. Rounding is
//! post-processing, so whoever adds such noise to whole numbers keeps the Gaussian's privacy curve, which the discrete
//! Gaussian does not. Floating-point noise has neither guarantee: its last bits give away what it was added to (Mironov 2012), and the
//! mathematical libraries of two platforms may differ. Here only whole numbers are added, multiplied and compared, on the way to the tables too, and
//! the distance from the law that the accounting assumes is proven.
//!
//! # Decomposition
//! Write D_σ for the discrete Gaussian, P(J = j) ∝ exp(−j²/(2σ²)) on the whole numbers.
//!
//! - σ ≤ 96: a table of P(|R| ≤ k), R = round(N(0, σ²)).
//! - σ > 96: R₀ + Σ_i k_i·J_i + K·J', R₀ = round(N(0, 64²)), J_i ~ D_64, J' ~ D_τ independent, with whole k_i and K ≥ 1, 48 < τ ≤ 96, chosen so that
//!   64² + Σ k_i²·64² + K²τ² = σ² exactly: two tables up to σ = 2560, four at 2²⁰, eight at 2⁴⁰.
//!
//! **Theorem.** A value of a sum of d tables is within d·2⁻¹¹³ in total variation of round(N(0, σ²)).
//!
//! *Lemma* (one level; a Gaussian form of the convolutions of Micciancio & Walter 2017). Let J ~ D_τ and W ~ N(0, s²) be independent, K > 0,
//! t² = s² + K²τ² and h = τs/t. The density f of KJ + W satisfies, at every x,
//! (1 − ε(h))/(1 + ε(τ)) ≤ f(x)/φ_t(x) ≤ 1 + ε(h), where φ_t is the density of N(0, t²) and ε(h) = 2Σ_{m≥1} exp(−2π²h²m²).
//!
//! *Proof.* With v = Kh and y = xK²τ²/t², completing the square gives j²/(2τ²) + (x − Kj)²/(2s²) = x²/(2t²) + (Kj − y)²/(2v²). So
//! f(x) = φ_t(x)·(t/(s·Z))·Σ_j exp(−(Kj − y)²/(2v²)), Z = Σ_j exp(−j²/(2τ²)). By Poisson's summation formula the sum is
//! √(2π)·h·(1 + 2Σ_{m≥1} exp(−2π²h²m²)·cos(2πmy/K)), within √(2π)·h·(1 ± ε(h)), and Z = √(2π)·τ·(1 + ε(τ)). Since t·h/(s·τ) = 1, the claim follows. ∎
//!
//! *Proof of the theorem.* Whole numbers may be added before or after rounding: the sum is the rounding of
//! W₀ + Σ k_i·J_i + K·J' with W₀ ~ N(0, 64²). A pointwise bound on the ratio of two densities survives the addition of an independent number, so level by level the
//! ratios of the lemma multiply. The levels are chosen with h ≥ 2 (and τ ≥ h), where each ratio is within 1 ± 2.01·exp(−8π²)·2; more exactly, total variation is half the mean of |f/φ_t − 1| ≤
//! (ε(h) + ε(τ))/2 with ε(2) < 2.0001·exp(−8π²) < 2⁻¹¹²·⁹ and ε(48) = 0 for all purposes, so a level adds less than 2⁻¹¹³·⁹, and rounding adds nothing. A table differs from its law by rounding
//! cumulative probabilities to multiples of 2⁻¹²⁶, which moves at most 2⁻¹²⁶ per entry of at most 1201, and by what lies beyond 12.5 standard
//! deviations, less than 2⁻¹¹⁶: together below 2⁻¹¹⁵. A table and its level are 2⁻¹¹³·⁹ + 2⁻¹¹⁵ < 2⁻¹¹³. ∎

mod fixed;
mod law;
mod levels;
mod rounded;
mod table;
mod words;

pub use rounded::{RoundedGaussian, UnsupportedSigma};
