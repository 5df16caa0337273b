//! `[data]` of a rating file that is read as who interacted with what.

use std::num::NonZeroU32;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{KeyRefusal, first, lists};
use crate::config::numbers::RatingValues;
use crate::data::{Format, TableColumns};

/// The keys of a rating file of which a rating above a threshold is an interaction, and every row is divided by its length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InteractionsTable {
    /// The file, relative to the experiment file; `.gz` is read directly.
    #[serde(default)]
    pub(super) path: PathBuf,
    /// Where to get the file; said where it does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) obtain: Option<String>,
    /// Its format.
    pub(super) format: Format,
    /// Which columns of `format = "table"` hold users, items and ratings, by name or by number; the usual names are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) columns: Option<TableColumns>,
    /// Whether the first line of `format = "table"` names the columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) header: Option<bool>,
    /// `"interactions"`, which is what is kept of ratings where the key is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) values: Option<RatingValues>,
    /// An interaction is a rating above this.
    #[serde(default)]
    pub(super) threshold: f64,
    /// Keep the N most rated items; 0 keeps all. Drawn from the data: the list and its order are assumed public.
    #[serde(default)]
    pub(super) items: usize,
    /// Or keep the items of this file, relative to the experiment file: text, plain or gzipped, one name per line, in the
    /// order of the columns. The list says nothing about the data; items of it that nobody has stay as empty columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) items_file: Option<PathBuf>,
    /// BLAKE3 of that list, filled in by a run; where it is given, the file must hold that list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) items_hash: Option<String>,
    /// The users, numbered in the order of this file, relative to the experiment file: text, plain or gzipped, one name per line.
    /// Users of the data that it does not name are left out; users that the data do not name take part with an empty row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) users_file: Option<PathBuf>,
    /// BLAKE3 of that list, filled in by a run; where it is given, the file must hold that list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) users_hash: Option<String>,
    /// A table of ids and titles of items, relative to the experiment file: names for reports. It decides nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) titles: Option<PathBuf>,
    /// D: user rows are divided by √max(d_u, D). 1 divides each row by its own degree.
    #[serde(default = "one")]
    pub(super) degree_floor: NonZeroU32,
    /// d_cap: users keep at most this many interactions (public; tightens user-level sensitivity).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) degree_cap: Option<u32>,
}

impl InteractionsTable {
    pub(super) fn check(&self) -> Result<(), KeyRefusal> {
        lists!(self)
    }
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}
