//! Gaussian noise in whole numbers: what a peer adds in a ring, and what both ends of an edge must draw to the same bit.
//!
//! [`RoundedGaussian`] draws round(N(0, σ²)), x rounded to the nearest whole number, for any σ from ½ to 2⁴⁰. Rounding is
//! post-processing, so whoever adds such noise to whole numbers keeps the Gaussian's privacy curve, which the discrete
//! Gaussian does not. Floating-point noise has neither guarantee: its last bits give away what it was added to (Mironov
//! 2012), and the mathematical libraries of two platforms may differ. Here only whole numbers are added, multiplied and
//! compared, on the way to the tables too, and the distance from the law that the accounting assumes is proven.
//!
//! # Decomposition
//! Write D_σ for the discrete Gaussian, P(J = j) ∝ exp(−j²/(2σ²)) on the whole numbers.
//!
//! - σ ≤ 96: a table of P(|R| ≤ k), R = round(N(0, σ²)).
//! - σ > 96: R₀ + Σ_i k_i·J_i + K·J', R₀ = round(N(0, 64²)), J_i ~ D_64, J' ~ D_τ independent, with whole k_i and K ≥ 1,
//!   48 < τ ≤ 96, chosen so that 64² + Σ k_i²·64² + K²τ² = σ² exactly: two tables up to σ = 2560, four at 2²⁰, eight at
//!   2⁴⁰.
//!
//! **Theorem.** A value made of d tables is within d·2⁻¹¹³ in total variation of round(N(0, σ²)).
//!
//! *Lemma* (one level). Let J ~ D_τ and W ~ N(0, s²) be independent, K > 0, t² = s² + K²τ² and h = τs/t. The density f of
//! KJ + W satisfies, at every x, (1 − ε(h))/(1 + ε(τ)) ≤ f(x)/φ_t(x) ≤ 1 + ε(h), where φ_t is the density of N(0, t²) and
//! ε(h) = 2Σ_{m≥1} exp(−2π²h²m²).
//!
//! *Proof.* With v = Kh and y = xK²τ²/t², completing the square gives j²/(2τ²) + (x − Kj)²/(2s²) = x²/(2t²) + (Kj −
//! y)²/(2v²). So f(x) = φ_t(x)·(t/(s·Z))·Σ_j exp(−(Kj − y)²/(2v²)), Z = Σ_j exp(−j²/(2τ²)). By Poisson's summation
//! formula the sum is √(2π)·h·(1 + 2Σ_{m≥1} exp(−2π²h²m²)·cos(2πmy/K)), within √(2π)·h·(1 ± ε(h)), and Z = √(2π)·τ·(1 +
//! ε(τ)). Since t·h/(s·τ) = 1, the claim follows. ∎
//!
//! *Proof of the theorem.* Whole numbers may be added before or after rounding, so the sum is the rounding of W + Σ
//! k_i·J_i + K·J' with W ~ N(0, 64²), and rounding never adds distance. Level by level, from the bottom: the sum below is
//! as near to N(0, s²) as shown so far, adding kJ to both keeps them as near, and kJ + N(0, s²) is as near to N(0, t²) as
//! half the mean of |f/φ_t − 1|, at most (ε(h) + ε(τ))/2. The levels are chosen with h ≥ 2, and τ ≥ 48 makes ε(τ) <
//! 2⁻⁶⁰⁰⁰⁰, so a level costs less than 1.0001·exp(−8π²) < 2⁻¹¹³·⁹. A table differs from its law by rounding cumulative
//! probabilities to multiples of 2⁻¹²⁶, at most 2⁻¹²⁷ each and a little for how they were computed, in at most 1,200
//! entries, and by what lies beyond 12.5 standard deviations, less than 2⁻¹¹⁶·⁶: together below 2⁻¹¹⁵. A level and its
//! table cost less than 2⁻¹¹³·⁹ + 2⁻¹¹⁵ < 2⁻¹¹³, the table at the bottom less than 2⁻¹¹⁵. ∎
//!
//! Tests hold every part of this against exact arithmetic: tables entry by entry, sums of two tables value by value, and
//! the lemma on small laws, where it is tight.
//!
//! What such a distance costs: n values within d each are within n·d of ideal ones, whatever is done with them. Take 2⁴⁰
//! values at eight tables: 2⁻⁷⁰.
//!
//! # The same numbers, fast or in constant time
//! A draw is the number of thresholds at most a uniform number of 126 bits. [`RoundedGaussian::fill`] reads 31 of the
//! bits and finds the place in a guide; only if those 31 are a threshold's own, once in a million draws, it opens the
//! other 95. [`RoundedGaussian::fill_in_constant_time`] reads all bits and compares with all thresholds. Both give the
//! same numbers, so what is simulated is what is deployed. Values are addressed by a stream, a release and a chunk of
//! coordinates, as all noise here is. One address gives the same uniform numbers for every σ: never draw from one address
//! for two purposes.
//!
//! # Constant time
//! Constant in [`RoundedGaussian::fill_in_constant_time`]: the instructions, the addresses read and written and the
//! random bytes, for one σ and one number of values. σ, the number of values, the stream's address and its cipher's
//! blocks' positions are public and do matter. It has one loop over a whole table per draw; a comparison is the first bit
//! of a difference, and a sign is an exclusive or. Products of 64 bits take the same time whatever the factors on the
//! processors of the last decade, except some small ones without a full multiplier. Not covered: what happens before the
//! numbers are drawn and after, what the compiler of another version or target makes of it, and power or radiation.
//! Checked by counting under valgrind (a test that is run by hand): instructions, reads, writes, conditional jumps, and
//! the misses of a simulated cache and of a simulated predictor are equal for different streams, and those of the fast
//! way are not.
//!
//! # Cost
//! A table of one's own is computed once per σ, in 0.2 to 10 ms. A value costs one draw per table: a multiplication, two
//! reads and 4 random bytes the fast way; 16 random bytes and 800 to 1,200 comparisons of 126 bits in constant time.
//! `benches/RESULTS.md` has what that comes to.
//!
//! # Which law
//! [`DiscreteGaussian`] is exact, with an expected constant number of random words per draw and no promise about time.
//! Sums of independent discrete Gaussians are not discrete Gaussians and keep Rényi bounds only; sums of rounded
//! Gaussians are what they are for Gaussians, up to rounding. Below σ = ½ neither behaves like a Gaussian when many are
//! added, and both are refused.
//!
//! # Sources
//! D. Micciancio and M. Walter, *Gaussian sampling over the integers: efficient, generic, constant-time* (2017):
//! convolution of narrow laws, tables in constant time. A. Hülsing, T. Lange and K. Smeets, *Rounded Gaussians* (2018).
//! C. Canonne, G. Kamath and T. Steinke, *The discrete Gaussian for differential privacy* (2020). C. Karney, *Sampling
//! exactly from the normal distribution* (2016). I. Mironov, *On significance of the least significant bits for
//! differential privacy* (2012).

mod discrete;
mod fixed;
mod law;
mod levels;
mod probability;
mod rounded;
mod table;
mod words;

pub use discrete::DiscreteGaussian;
pub use rounded::{
    LARGEST_DISTANCE, LARGEST_DRAW, LARGEST_SIGMA, RoundedGaussian, SMALLEST_SIGMA,
    UnsupportedSigma,
};

#[cfg(test)]
mod tests;
