//! Tight sensitivity bounds for one Rayleigh quotient vᵀAv, where v is a public vector of norm 1.
//!
//! # Setting
//! Released is one number, so that a change C of A moves it by |vᵀCv|. The statistic is h = ‖v‖_∞, the largest entry of v, which is
//! the largest row norm of a query of one column. All bounds are maxima over every v with ‖v‖₂ = 1 and ‖v‖_∞ ≤ h, so they never
//! fall as h grows.
//!
//! A quotient moves less than a product at the same v, because |vᵀCv| ≤ ‖Cv‖. By how much differs: one interaction moves a product
//! by about h and a quotient by about 3h².

use std::marker::PhantomData;

mod interaction;
mod matrix;
mod user;

/// The tight bound on a Rayleigh quotient for an adjacency; one file each.
pub(super) struct Rayleigh<A>(PhantomData<A>);

/// The bound on a Rayleigh quotient over rows of which only a norm of at most 1 is known.
pub(super) struct UnitRowRayleigh<A>(PhantomData<A>);
