//! `[data]`: whose data, as one table for each family of data. A key that another family has is refused with what it is about.

mod interactions;
mod matrix;
mod misplaced;
mod ratings;
mod vertices;

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};

pub(crate) use interactions::InteractionsTable;
pub(crate) use matrix::{MatrixCentre, MatrixTable};
pub(super) use misplaced::{ForeignKey, misplaced};
pub(crate) use ratings::RatingsTable;
pub(crate) use vertices::{BipartiteTable, GraphTable};

use super::numbers::{DataFormat, MeanShare, MeansConfig, RangesConfig};
use super::table_keys::keys_of;
use super::tagged::{TaggedTable, deserialize_tagged};
use crate::data::{
    Column, Generated, MatrixFormat, MatrixOptions, PreparationError, TableColumns, TableOptions,
};

/// Defines the families: their reader, and the keys of each.
macro_rules! families {
    ($($(#[$doc:meta])* $family:ident($table:ident),)+) => {
        /// `[data]`: the keys of one family.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum DataConfig {
            $($(#[$doc])* $family($table),)+
        }

        /// The families.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        pub enum Family {
            $($(#[$doc])* $family,)+
        }

        impl Family {
            pub(super) const ALL: &[Self] = &[$(Self::$family,)+];

            /// As the reader notes it.
            pub(super) fn name(self) -> &'static str {
                match self {
                    $(Self::$family => stringify!($family),)+
                }
            }

            /// The keys that it has.
            pub(super) fn keys(self) -> &'static [&'static str] {
                match self {
                    $(Self::$family => keys_of::<$table>(),)+
                }
            }
        }

        impl DataConfig {
            /// The family.
            #[must_use]
            pub fn family(&self) -> Family {
                match self {
                    $(Self::$family(_) => Family::$family,)+
                }
            }

            /// The file, relative to the experiment file; empty where there is none.
            #[must_use]
            pub fn path(&self) -> &Path {
                match self {
                    $(Self::$family(table) => &table.path,)+
                }
            }

            /// The same, to change.
            pub fn path_mut(&mut self) -> &mut PathBuf {
                match self {
                    $(Self::$family(table) => &mut table.path,)+
                }
            }

            /// The format of the file.
            #[must_use]
            pub fn format(&self) -> DataFormat {
                match self {
                    $(Self::$family(table) => table.format.into(),)+
                }
            }
        }

        impl TaggedTable for DataConfig {
            const TAG: &'static str = FAMILY;
            type Name = Family;

            fn missing() -> String {
                "[data] is read by Config::read and Config::of_table, which find the family of its keys".to_owned()
            }

            fn read<'de, D: Deserializer<'de>>(family: Family, keys: D) -> Result<Self, D::Error> {
                match family {
                    $(Family::$family => Deserialize::deserialize(keys).map(Self::$family),)+
                }
            }
        }
    };
}

/// The key under which the reader notes the family, before all others. No file has it.
pub(super) const FAMILY: &str = "family";

families! {
    /// Rating files, as who interacted with what.
    Interactions(InteractionsTable),
    /// Rating files, as numbers.
    Ratings(RatingsTable),
    /// Matrices whose rows are the records.
    Matrix(MatrixTable),
    /// Matrices whose rows and columns are the peers.
    Bipartite(BipartiteTable),
    /// Private graphs whose vertices are the peers.
    Graph(GraphTable),
}

impl<'de> Deserialize<'de> for DataConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_tagged(
            deserializer,
            "a table with the format of the data and its keys",
        )
    }
}

impl Family {
    /// The family of data of this format, whose ratings are kept so, and whose vertices are the peers or not.
    pub(super) fn of(format: DataFormat, values: Option<&str>, of_vertices: bool) -> Self {
        match format {
            DataFormat::Graph => Self::Graph,
            DataFormat::Matrix(_) | DataFormat::Generated if of_vertices => Self::Bipartite,
            DataFormat::Matrix(_) | DataFormat::Generated => Self::Matrix,
            DataFormat::Ratings(_) if values == Some("ratings") => Self::Ratings,
            DataFormat::Ratings(_) => Self::Interactions,
        }
    }
}

/// A key that is refused.
#[derive(Debug)]
pub(super) struct KeyRefusal {
    pub(super) key: &'static str,
    pub(super) why: String,
}

/// The first of these keys that is refused.
fn first<const N: usize>(keys: [(&'static str, bool, &'static str); N]) -> Result<(), KeyRefusal> {
    match keys.into_iter().find(|(_, is_refused, _)| *is_refused) {
        Some((key, _, why)) => Err(KeyRefusal {
            key,
            why: format!("[data] {key} {why}"),
        }),
        None => Ok(()),
    }
}

/// Refuses what is no length.
fn check_length(key: &'static str, found: f64) -> Result<(), KeyRefusal> {
    if found.is_finite() && found > 0.0 && found.recip().is_finite() {
        return Ok(());
    }
    let why = PreparationError::Length { key, found }.to_string();
    Err(KeyRefusal { key, why })
}

/// Refuses a matrix that is both read and generated or neither, and keys that its format has not.
fn check_source(
    format: DataFormat,
    generate: Option<&Generated>,
    header: Option<bool>,
    drop: Option<&Vec<Column>>,
) -> Result<(), KeyRefusal> {
    let generated = format == DataFormat::Generated;
    first([
        (
            "generate",
            generated != generate.is_some(),
            "belongs to format = \"generated\", which belongs to it: give both or neither",
        ),
        (
            "header",
            header.is_some() && format != DataFormat::Matrix(MatrixFormat::MatrixCsv),
            "is a key of formats \"matrix-csv\" and \"table\"; leave it out",
        ),
        (
            "drop",
            drop.is_some() && generated,
            "is a key of formats \"matrix-csv\" and \"npy\"; leave it out",
        ),
    ])
}

/// Refuses lists of a rating file that contradict each other, and keys that its format has not.
macro_rules! lists {
    ($table:expr) => {{
        let table = $table;
        let is_table = table.format == crate::data::Format::Table;
        if table.items_file.is_some() && table.items > 0 {
            let why = format!(
                "[data] give either items (the {} most rated, drawn from the data) or items_file (a list that is public), not \
                 both; a file that should count for less is shortened with a text editor",
                table.items
            );
            return Err(KeyRefusal { key: "items", why });
        }
        first([
            (
                "items_hash",
                table.items_hash.is_some() && table.items_file.is_none(),
                "belongs to items_file, which is missing: give both or leave both out",
            ),
            (
                "users_hash",
                table.users_hash.is_some() && table.users_file.is_none(),
                "belongs to users_file, which is missing: give both or leave both out",
            ),
            (
                "degree_cap",
                table.degree_cap == Some(0),
                "must be at least 1, found 0; leave it out to keep all interactions",
            ),
            (
                "header",
                table.header.is_some() && !is_table,
                "is a key of formats \"matrix-csv\" and \"table\"; leave it out",
            ),
            (
                "columns",
                table.columns.is_some() && !is_table,
                "is a key of format = \"table\"; leave it out, or set the format",
            ),
        ])
    }};
}
use lists;

/// Keys that some families have: nothing for the others.
macro_rules! keys {
    ($($(#[$doc:meta])* $key:ident: $type:ty, of $($family:ident)+;)+) => {
        impl DataConfig {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $key(&self) -> Option<&$type> {
                    #[allow(unreachable_patterns)]
                    match self {
                        $(Self::$family(table) => table.$key.as_ref(),)+
                        _ => None,
                    }
                }
            )+
        }
    };
}

keys! {
    /// Where to get the file.
    obtain: String, of Interactions Ratings Matrix Bipartite Graph;
    /// A table of ids and titles of items.
    titles: PathBuf, of Interactions Ratings Matrix Bipartite Graph;
    /// Which columns of a table hold what.
    columns: TableColumns, of Interactions Ratings;
    /// Whether a first line names the columns.
    header: bool, of Interactions Ratings Matrix Bipartite;
    /// A public list of items.
    items_file: PathBuf, of Interactions Ratings;
    /// Its BLAKE3.
    items_hash: String, of Interactions Ratings;
    /// A public list of users.
    users_file: PathBuf, of Interactions Ratings;
    /// Its BLAKE3.
    users_hash: String, of Interactions Ratings;
    /// d_cap.
    degree_cap: u32, of Interactions Ratings;
    /// Columns that are left out.
    drop: Vec<Column>, of Matrix Bipartite;
    /// The matrix that is made.
    generate: Generated, of Matrix Bipartite;
    /// Rows and columns of the image that a row is.
    image: [usize; 2], of Matrix;
    /// The public ranges that numbers are clipped to.
    ranges: RangesConfig, of Ratings Matrix Bipartite;
    /// The length that no row of the file exceeds.
    row_limit: f64, of Ratings Matrix;
}

impl DataConfig {
    /// Refuses keys that contradict each other.
    pub(super) fn check(&self) -> Result<(), KeyRefusal> {
        match self {
            Self::Interactions(table) => table.check(),
            Self::Ratings(table) => table.check(),
            Self::Matrix(table) => table.check(),
            Self::Bipartite(table) => table.check(),
            Self::Graph(_) => Ok(()),
        }
    }

    /// Whether it is about numbers, whose rows are shortened, and not about who interacted with what.
    #[must_use]
    pub fn is_of_numbers(&self) -> bool {
        !matches!(self, Self::Interactions(_))
    }

    /// Whether it is a rating file, whose users and items have names.
    #[must_use]
    pub fn is_of_ratings(&self) -> bool {
        matches!(self, Self::Interactions(_) | Self::Ratings(_))
    }

    /// Whether it is a private graph.
    #[must_use]
    pub fn is_graph(&self) -> bool {
        matches!(self, Self::Graph(_))
    }

    /// Whether it is a matrix whose rows and columns are the peers.
    #[must_use]
    pub fn is_bipartite(&self) -> bool {
        matches!(self, Self::Bipartite(_))
    }

    /// The rating above which an interaction is; 0 of numbers.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        match self {
            Self::Interactions(table) => table.threshold,
            _ => 0.0,
        }
    }

    /// How many items are kept, the most rated; 0 for all.
    #[must_use]
    pub fn items(&self) -> usize {
        match self {
            Self::Interactions(table) => table.items,
            Self::Ratings(table) => table.items,
            _ => 0,
        }
    }

    /// D; 1 of numbers.
    #[must_use]
    pub fn floor(&self) -> NonZeroU32 {
        match self {
            Self::Interactions(table) => table.degree_floor,
            _ => NonZeroU32::MIN,
        }
    }

    /// The same, as a number.
    #[must_use]
    pub fn degree_floor(&self) -> u32 {
        self.floor().get()
    }

    /// R of rows of numbers.
    #[must_use]
    pub fn row_clip(&self) -> Option<f64> {
        match self {
            Self::Ratings(table) => Some(table.row_clip),
            Self::Matrix(table) => Some(table.row_clip),
            _ => None,
        }
    }

    /// Public means of the columns of a matrix.
    #[must_use]
    pub fn means(&self) -> Option<&MeansConfig> {
        match self {
            Self::Matrix(table) => table.means.as_ref(),
            _ => None,
        }
    }

    /// Whether a mean is released first.
    #[must_use]
    pub fn has_private_mean(&self) -> bool {
        self.raw_clip().is_some()
    }

    /// R_raw of a mean that is released first.
    #[must_use]
    pub fn raw_clip(&self) -> Option<f64> {
        match self {
            Self::Matrix(table) => table.raw_clip,
            _ => None,
        }
    }

    /// The share of the budget that a mean is given which is released first.
    #[must_use]
    pub fn mean_share(&self) -> Option<MeanShare> {
        match self {
            Self::Matrix(table) => table.mean_share,
            _ => None,
        }
    }

    /// How a file of numbers is read.
    #[must_use]
    pub fn matrix_options(&self) -> MatrixOptions {
        MatrixOptions {
            header: self.header().copied().unwrap_or(false),
            drop: self.drop().cloned().unwrap_or_default(),
        }
    }

    /// How a table is read.
    #[must_use]
    pub fn table_options(&self) -> TableOptions {
        TableOptions {
            columns: self.columns().cloned().unwrap_or_default(),
            header: self.header().copied(),
        }
    }

    /// Divides rows of interactions by another floor, at least 1.
    pub(crate) fn set_degree_floor(&mut self, floor: u32) {
        if let Self::Interactions(table) = self {
            table.degree_floor = NonZeroU32::new(floor).unwrap_or(NonZeroU32::MIN);
        }
    }

    /// Keeps all interactions of a user.
    pub(crate) fn remove_degree_cap(&mut self) {
        match self {
            Self::Interactions(table) => table.degree_cap = None,
            Self::Ratings(table) => table.degree_cap = None,
            _ => {}
        }
    }

    /// Notes the share of the budget that a private mean has.
    pub(crate) fn set_mean_share(&mut self, share: Option<f64>) {
        if let Self::Matrix(table) = self {
            table.mean_share = share.map(MeanShare::Share);
        }
    }

    /// The list of items and of users, each with its hash, to change.
    fn lists_mut(&mut self) -> Option<[(&mut Option<PathBuf>, &mut Option<String>); 2]> {
        match self {
            Self::Interactions(table) => Some([
                (&mut table.items_file, &mut table.items_hash),
                (&mut table.users_file, &mut table.users_hash),
            ]),
            Self::Ratings(table) => Some([
                (&mut table.items_file, &mut table.items_hash),
                (&mut table.users_file, &mut table.users_hash),
            ]),
            _ => None,
        }
    }

    /// Notes the hash of the list of items.
    pub(crate) fn set_items_hash(&mut self, hash: String) {
        if let Some([(_, items), _]) = self.lists_mut() {
            *items = Some(hash);
        }
    }

    /// Notes the hash of the list of users.
    pub(crate) fn set_users_hash(&mut self, hash: String) {
        if let Some([_, (_, users)]) = self.lists_mut() {
            *users = Some(hash);
        }
    }

    /// Leaves out the list of items, whose hash is what it gives.
    pub(crate) fn take_items_hash(&mut self) -> Option<String> {
        let [(file, hash), _] = self.lists_mut()?;
        *file = None;
        hash.take()
    }

    /// The files beside that of the data.
    pub(super) fn side_files_mut(&mut self) -> Vec<&mut PathBuf> {
        let (lists, titles, constants): (_, _, [Option<&mut PathBuf>; 2]) = match self {
            Self::Interactions(table) => (
                [&mut table.items_file, &mut table.users_file].map(Option::as_mut),
                &mut table.titles,
                [None, None],
            ),
            Self::Ratings(table) => (
                [&mut table.items_file, &mut table.users_file].map(Option::as_mut),
                &mut table.titles,
                [table.ranges.as_mut().and_then(RangesConfig::file_mut), None],
            ),
            Self::Matrix(table) => (
                [None, None],
                &mut table.titles,
                [
                    table.ranges.as_mut().and_then(RangesConfig::file_mut),
                    table.means.as_mut().and_then(MeansConfig::file_mut),
                ],
            ),
            Self::Bipartite(table) => (
                [None, None],
                &mut table.titles,
                [table.ranges.as_mut().and_then(RangesConfig::file_mut), None],
            ),
            Self::Graph(table) => ([None, None], &mut table.titles, [None, None]),
        };
        let all = lists.into_iter().chain([titles.as_mut()]).chain(constants);
        all.flatten().collect()
    }

    /// The files that hold public constants.
    #[must_use]
    pub(crate) fn constants(&self) -> Vec<PathBuf> {
        let ranges = self.ranges().and_then(RangesConfig::file);
        let means = self.means().and_then(MeansConfig::file);
        ranges.into_iter().chain(means).cloned().collect()
    }

    /// The same settings without the names of files and what reports show: what is in files is told by the rows.
    #[must_use]
    pub(crate) fn without_paths(&self) -> Self {
        let mut copy = self.clone();
        *copy.path_mut() = PathBuf::new();
        for path in copy.side_files_mut() {
            *path = PathBuf::new();
        }
        match &mut copy {
            Self::Interactions(table) => {
                (table.obtain, table.titles) = (None, None);
                (table.items_file, table.users_file) = (None, None);
            }
            Self::Ratings(table) => {
                (table.obtain, table.titles) = (None, None);
                (table.items_file, table.users_file) = (None, None);
            }
            Self::Matrix(table) => (table.obtain, table.titles, table.image) = (None, None, None),
            Self::Bipartite(table) => (table.obtain, table.titles) = (None, None),
            Self::Graph(table) => (table.obtain, table.titles) = (None, None),
        }
        copy
    }
}
