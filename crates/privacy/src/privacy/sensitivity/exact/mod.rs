//! Tight sensitivity bounds: the largest change any record can make, given what is public.

use std::marker::PhantomData;

mod entry;
mod interaction;
mod matrix;
mod replace_user;
mod swap;
mod unit_spectral;
mod user;

/// The tight bound for an adjacency; one file each.
pub(super) struct Exact<A>(PhantomData<A>);
