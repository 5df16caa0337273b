//! Tight sensitivity bounds for the packed triangle of A, where the matrix itself is released.
//!
//! # Setting
//! Released are the n(n+1)/2 numbers A_ij, i ≤ j. Two contributions that differ by a symmetric C differ by ‖triu(C)‖ in
//! the Euclidean norm of what is released, where ‖triu(C)‖² = Σ_{i≤j} C_ij² = (‖C‖_F² + Σ_i C_ii²)/2. Every bound
//! here is one on ‖triu(C)‖. They hold for this release alone: [`super::exact`] bounds ‖CX‖_F, which is another number.
//!
//! None depends on a basis, so nothing has to be agreed on first: the statistic is [`Statistic::None`].
//!
//! Analyze Gauss (Dwork, Talwar, Thakurta & Zhang 2014) charges Δ = 1 for a row of norm at most 1 that is added or
//! removed, which is what [`user`] gives at D = 1 and the most it ever gives.

use std::marker::PhantomData;

use super::rule::Public;
use super::statistic::Statistic;

mod interaction;
mod matrix;
mod replace_user;
mod swap;
mod user;

/// The tight bound on the packed triangle for an adjacency; one file each.
pub(super) struct Packed<A>(PhantomData<A>);

/// Nothing of X matters.
fn statistic(_: &Public) -> Statistic {
    Statistic::None
}

#[cfg(test)]
fn public(degree_floor: u32, degree_cap: Option<u32>) -> Public {
    Public {
        degree_floor,
        degree_cap,
        rank: 3,
        rating: None,
    }
}
