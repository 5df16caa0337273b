//! Sums of integers mod 2^k: what rounded Gaussian noise under uniform masks costs, exactly accounted.
//!
//! # The mechanism
//! Coordinates of a contribution are counted in steps of a **grid**, a fraction γ of the sensitivity ([`Grid`]), and rounded to
//! integers. Every peer v adds its own noise η_v, independent N(0, σ²) **rounded to integers** on every coordinate, and, for
//! every noise partner, a uniform element of ℤ mod 2^k that the two share: added at the lower end of the edge, subtracted at the
//! upper one. What peers publish is a vector mod 2^k, and the sum of all of them is Σ(x_v + η_v) mod 2^k.
//!
//! # Masks hide everything but the sum of a piece
//! A coalition C sees every published vector and knows every mask with an end in C. Let H be a connected component of the noise
//! graph without C, its **piece**, of n honest peers. *Statement:* given all contributions and all own noise, what the coalition
//! sees of H is uniform on {y : Σ_{v∈H} y_v = S mod 2^k}, S = Σ_{v∈H} (x_v + η_v), and independent of every other piece.
//! *Proof:* subtract the masks that C knows. What is left is y = x + η + B m with m uniform on ℤ_{2^k}^{edges of H} and B the
//! incidence matrix. B maps onto the vectors of sum 0: along a spanning tree, from the leaves, every such vector has a
//! preimage (one mask per tree edge, whatever those of the other edges are). A linear map of groups sends the uniform law to
//! the uniform law of its image. Different pieces share no masks. ∎ So the view is a function of the public numbers, of S mod 2^k for
//! every piece, and of coins that do not depend on data: post-processing of the piece sums. There is no overhead for finite
//! masks, and where a graph falls apart every piece is accounted for by itself (`ring/shift.rs`).
//!
//! Wrapping is post-processing as well: it can spoil a sum, never its privacy. That it cannot happen is checked before a run
//! ([`Modulus`]).
//!
//! # What the sampler and the masks are assumed to be
//! The law of the own noise is round(N(0, σ²)) up to a certified distance, which is paid for in δ (`ring/distance.rs`). Masks come from
//! a key that two peers share; as with every other scheme here, a stream cipher's output counts as uniform, so that guarantees
//! are computational to the extent that the cipher is.
//!
//! # Noise is drawn for one set of inputs
//! If a sum were tried again without peer v, from the same noise, the two sums would differ by x_v + η_v, and v would be protected
//! by its own noise alone. Noise keys are bound to the plan and to the rows of all peers, so that another set of
//! peers draws other noise.

// For plans and reports.
#[doc(hidden)]
pub mod distance;
mod grid;
mod modulus;
pub(crate) mod shift;

#[cfg(test)]
pub(super) mod tests;

pub use grid::Grid;
pub use modulus::Modulus;
