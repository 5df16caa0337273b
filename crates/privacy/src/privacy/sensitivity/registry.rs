//! The registered bounds: one line each.

use super::clipped::{self, Clipped};
use super::exact::Exact;
use super::graph::{self, OfGraph};
use super::isometric::Isometric;
use super::item_shares::ItemShares;
use super::margins::{self, Margins};
use super::max_entry::MaxEntry;
use super::packed::Packed;
use super::rating::OneRating;
use super::rayleigh::{Rayleigh, UnitRowRayleigh};
use super::root_floor::{RootFloor, UnderRoot};
use super::row_norm::RowNorm;
use super::row_sum::{self, RowSum};
use super::rule::{Proved, SensitivityRule};
use super::tail_counts::TailCounts;
use super::unit_row::{self, UnitRow};
use super::worst_case::WorstCase;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// The combinations that have a proof; the text of [`PrivacyError::Unproved`](crate::privacy::PrivacyError::Unproved).
pub(super) static PROVED: &[Proved] = &[
    Proved::of::<Exact<adjacency::Interaction>>(),
    Proved::of::<RowNorm<adjacency::Interaction>>(),
    Proved::of::<MaxEntry<adjacency::Interaction>>(),
    Proved::of::<WorstCase<adjacency::Interaction>>(),
    Proved::of::<Exact<adjacency::User>>(),
    Proved::of::<Exact<adjacency::Swap>>(),
    Proved::of::<Exact<adjacency::ReplaceUser>>(),
    Proved::of::<Exact<adjacency::MatrixChange>>(),
    Proved::of::<RowNorm<adjacency::MatrixChange>>(),
    Proved::of::<MaxEntry<adjacency::MatrixChange>>(),
    Proved::of::<WorstCase<adjacency::MatrixChange>>(),
    Proved::of::<Exact<adjacency::UnitSpectral>>(),
    Proved::of::<Exact<adjacency::Entry>>(),
    Proved::of::<Packed<adjacency::Interaction>>(),
    Proved::of::<Packed<adjacency::User>>(),
    Proved::of::<Packed<adjacency::Swap>>(),
    Proved::of::<Packed<adjacency::ReplaceUser>>(),
    Proved::of::<Packed<adjacency::MatrixChange>>(),
    Proved::of::<Isometric<adjacency::Interaction>>(),
    Proved::of::<Isometric<adjacency::User>>(),
    Proved::of::<Isometric<adjacency::Swap>>(),
    Proved::of::<Isometric<adjacency::ReplaceUser>>(),
    Proved::of::<Margins<margins::Plain>>(),
    Proved::of::<Margins<margins::Root>>(),
    Proved::of::<UnitRow<adjacency::User, unit_row::Product>>(),
    Proved::of::<UnitRow<adjacency::ReplaceUser, unit_row::Product>>(),
    Proved::of::<UnitRow<adjacency::User, unit_row::Packed>>(),
    Proved::of::<UnitRow<adjacency::ReplaceUser, unit_row::Packed>>(),
    Proved::of::<UnitRow<adjacency::User, unit_row::Isometric>>(),
    Proved::of::<UnitRow<adjacency::ReplaceUser, unit_row::Isometric>>(),
    Proved::of::<RowSum<adjacency::User, row_sum::AnySign>>(),
    Proved::of::<RowSum<adjacency::ReplaceUser, row_sum::AnySign>>(),
    Proved::of::<RowSum<adjacency::User, row_sum::Nonnegative>>(),
    Proved::of::<RowSum<adjacency::ReplaceUser, row_sum::Nonnegative>>(),
    Proved::of::<Clipped<adjacency::User, clipped::Product>>(),
    Proved::of::<Clipped<adjacency::ReplaceUser, clipped::Product>>(),
    Proved::of::<Clipped<adjacency::User, clipped::Histogram>>(),
    Proved::of::<Clipped<adjacency::ReplaceUser, clipped::Histogram>>(),
    Proved::of::<Clipped<adjacency::User, clipped::Count>>(),
    Proved::of::<Clipped<adjacency::ReplaceUser, clipped::Count>>(),
    Proved::of::<Rayleigh<adjacency::Interaction>>(),
    Proved::of::<Rayleigh<adjacency::User>>(),
    Proved::of::<Rayleigh<adjacency::ReplaceUser>>(),
    Proved::of::<Rayleigh<adjacency::MatrixChange>>(),
    Proved::of::<Rayleigh<adjacency::UnitSpectral>>(),
    Proved::of::<Rayleigh<adjacency::Entry>>(),
    Proved::of::<UnitRowRayleigh<adjacency::User>>(),
    Proved::of::<UnitRowRayleigh<adjacency::ReplaceUser>>(),
    Proved::of::<OfGraph<adjacency::Entry, graph::Product>>(),
    Proved::of::<OfGraph<adjacency::Edge, graph::Product>>(),
    Proved::of::<OfGraph<adjacency::EntryBipartite, graph::Half>>(),
    Proved::of::<OfGraph<adjacency::EntryBipartite, graph::Product>>(),
    Proved::of::<OfGraph<adjacency::Entry, graph::Quotient>>(),
    Proved::of::<OfGraph<adjacency::Edge, graph::Quotient>>(),
    Proved::of::<OneRating<unit_row::Product>>(),
    Proved::of::<OneRating<unit_row::Packed>>(),
    Proved::of::<OneRating<unit_row::Isometric>>(),
    Proved::of::<RootFloor<unit_row::Product>>(),
    Proved::of::<RootFloor<unit_row::Packed>>(),
    Proved::of::<RootFloor<unit_row::Isometric>>(),
    Proved::of::<TailCounts<adjacency::Interaction>>(),
    Proved::of::<TailCounts<adjacency::User>>(),
    Proved::of::<TailCounts<adjacency::Swap>>(),
    Proved::of::<TailCounts<adjacency::ReplaceUser>>(),
    Proved::of::<ItemShares<adjacency::Interaction>>(),
    Proved::of::<ItemShares<adjacency::User>>(),
    Proved::of::<ItemShares<adjacency::Swap>>(),
    Proved::of::<ItemShares<adjacency::ReplaceUser>>(),
    Proved::of::<UnderRoot<TailCounts<adjacency::Interaction>>>(),
    Proved::of::<UnderRoot<ItemShares<adjacency::Interaction>>>(),
];

/// The line for this combination, if it has a proof.
pub(super) fn proved(
    quantity: Quantity,
    adjacency: Adjacency,
    rule: SensitivityRule,
) -> Option<&'static Proved> {
    PROVED
        .iter()
        .find(|line| (line.quantity, line.adjacency, line.rule) == (quantity, adjacency, rule))
}
