//! Who averaged wrongly: a test of every peer's arithmetic from one random projection of what it held, once a sum is out.
//!
//! Noise needs no test here: privacy holds against colluders that do what they like. The sum does not: whoever mixes wrongly, hands on an
//! old block, or tells two neighbours two things, spoils it for everybody, and nobody sees by whom. This module names them.
//!
//! # Steps
//! After the averaging of a release, with nonces that had been committed to before it:
//!
//! 1. Everybody reveals its [`Nonce`]. All of them together are the seed of the [`Probe`] ρ, two vectors with entries uniform in
//!    \[−1, 1): nobody knew ρ while anybody still averaged, since whoever is not done has not revealed.
//! 2. Everybody publishes its [`Account`]: the [`Reading`]s ⟨ρ, x⟩ of its value before each of its steps and after the last.
//! 3. Everybody compares the accounts of its neighbours with what they had sent, to the bit, and [shows](Exhibit) the signed block where they
//!    differ, or where there is no account. What it does not show otherwise it accepts.
//! 4. Anybody [judges](Rules::judge): averaging is linear, so the readings of a peer must follow from its own and its neighbours' as its
//!    values do from theirs (Freivalds 1977), up to rounding.
//!
//! # Why it names the right one
//! *An honest peer is never named.* Its account holds the readings of what it held, and it held what follows from what its neighbours sent. Their readings are
//! those of what came, or it shows what came; so its own follow within [the bound on rounding](Rules::slack). It signs one block per
//! round, so nobody can show another one with its signature; and the blocks that it shows are signed.
//!
//! *A peer that deviates is named, or goes unnoticed with probability (τ/e)² at most,* where e is the largest entry of the error and τ the
//! bound on rounding. Let v send x' to an honest neighbour and be silent about no step. If its account has another reading than ⟨ρ, x'⟩ the
//! neighbour shows x'. Otherwise ⟨ρ, x'⟩ must follow from the readings that v accepted. These are fixed by blocks that were sent before ρ was
//! known, so x' − (what follows from them) = E is fixed too, and its reading must be at most τ. Given all entries of ρ but the one at
//! the largest entry of E, ⟨ρ, E⟩ is uniform on an interval of length 2e, so it is in \[−τ, τ] with probability τ/e at most; the two
//! vectors are independent. ∎
//!
//! # What it costs, and what it does not see
//! Everything here is a function of noisy blocks that were sent anyway: privacy is as before. A peer keeps the blocks that it heard until the
//! release is judged, and floods 32 bytes per step. What a peer published is taken as it is: another contribution than that of its rows, or noise
//! that is not what the plan says, is no deviation that this test can see. Colluders among themselves count as one peer: what
//! passes between them is nobody else's business, and what leaves them must follow from what they claim among themselves.
//!
//! Sums of real numbers by a recurrence or a list of steps. Integers mod 2^k and mass that is passed on are refused: [`Unprobed`].
//!
//! The idea of random projections as checks: R. Freivalds, *Probabilistic machines can use less running time*, IFIP 1977.

mod account;
mod judgement;
mod reading;
mod rules;
#[cfg(test)]
mod tests;
mod witness;

pub use account::{Account, Exhibit};
pub use judgement::{Finding, Verdict};
pub use reading::{Nonce, NonceCommitment, Probe, Reading};
pub use rules::{Place, Rules, Unprobed};
pub use witness::Witness;
