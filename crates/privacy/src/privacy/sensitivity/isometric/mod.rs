//! Tight bounds for the isometric triangle of A: what one record moves when the matrix itself is released so that norms stay.
//!
//! # Setting
//! Released are A_ii and √2·A_ij for i < j. For a symmetric change C their Euclidean norm is ‖C‖_F, with no distinction
//! between what lies on the diagonal and what does not. None of the bounds depends on a basis, so the statistic is
//! [`Statistic::None`].
//!
//! Against the plain triangle ([`super::packed`]) the bound is larger by up to √2, but the noise on an entry off the diagonal is
//! smaller by √2 once the coordinate is divided by it again: the noise matrix has norm about √2·σ√n and not 2σ√n.

use std::marker::PhantomData;

use super::rule::Public;
use super::statistic::Statistic;

mod interaction;
mod replace_user;
mod swap;
mod user;

/// The tight bound on the isometric triangle for an adjacency; one file each.
pub(super) struct Isometric<A>(PhantomData<A>);

/// Nothing of X matters.
fn statistic(_: &Public) -> Statistic {
    Statistic::None
}
