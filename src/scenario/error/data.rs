//! What can be wrong with the `[data]` table, or with what its file holds.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::data::DataError;
use crate::privacy::{Adjacency, SensitivityRule};
use crate::topology::{PeerNameError, TopologyError};

/// Why the `[data]` table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataTableError {
    /// The data cannot be used.
    #[error("[data] {0}")]
    Data(#[from] DataError),
    /// The graph cannot be read.
    #[error("[data] {0}")]
    Graph(TopologyError),
    /// A key that does not go with the others.
    #[error("[data] {key} {why}")]
    Key {
        /// The key.
        key: &'static str,
        /// Why, and what to change.
        why: &'static str,
    },
    /// A peer of the data that the graph does not have.
    #[error("[data] {}, line {line}: {error}; data.columns.peer names the node of every user: correct the name, or the graph", path.display())]
    UnknownPeer {
        /// The file.
        path: PathBuf,
        /// The line on which the data name it first, from 1.
        line: u64,
        /// What the peers are called.
        error: Box<PeerNameError>,
    },
    /// Rows of numbers under an adjacency or a rule that is about something else.
    #[error(
        "privacy.adjacency = \"{adjacency}\" with privacy.sensitivity = \"{rule}\" does not bound what rows of numbers can do: one record \
         is a whole row, so set adjacency = \"user\" (a row is there or not) or \"replace-user\" (a row is any other) and sensitivity = \
         \"unit-row\"; \"matrix\" and \"unit-spectral\" are about changes of the matrix, and know no private mean"
    )]
    NumbersAdjacency {
        /// The adjacency.
        adjacency: Adjacency,
        /// The rule.
        rule: SensitivityRule,
    },
    /// Rows that could be shortened, which would move all ratings of a user at once.
    #[error(
        "[data] row_clip = {clip} may shorten a row, whose ratings then all move with any one of them: under privacy.adjacency = \"rating\" set it to \
         at least {longest}, the length of a row with all ratings at the end of their range, or keep fewer items"
    )]
    RatingClip {
        /// R.
        clip: f64,
        /// √n times the largest rating.
        longest: f64,
    },
    /// A file of data does not exist.
    #[error(
        "[{table}] there is no file {path}: put it there, or set {key} to where it is{obtain}",
        table = key.split('.').next().unwrap_or_default(), path = path.display(), obtain = obtained(obtain.as_deref())
    )]
    MissingData {
        /// The key that names it.
        key: &'static str,
        /// The file as looked for.
        path: PathBuf,
        /// `data.obtain`: where to get it.
        obtain: Option<String>,
    },
    /// An image that is no row of the matrix.
    #[error(
        "[data] image = [{}, {}] is not the shape of a row of {columns} numbers: give rows and columns whose product is {columns}, at most \
         {most}, or leave it out", shape[0], shape[1]
    )]
    Image {
        /// `data.image`.
        shape: [usize; 2],
        /// Columns of the matrix.
        columns: usize,
        /// Cells of the largest picture.
        most: usize,
    },
    /// Nothing left to compute with, and no noise either. Under noise such a run is like any other.
    #[error(
        "[data] no interaction is left: all {ratings} ratings lie at or below data.threshold = {threshold}; lower it"
    )]
    NoInteractions {
        /// Ratings read.
        ratings: u64,
        /// The threshold.
        threshold: f64,
    },
    /// A list of users other than the one the configuration was made with.
    #[error(
        "[data] users_file {path} holds another list than users_hash says (found {found}, stated {stated}): restore the file, \
         or leave users_hash out to accept this one",
        path = path.display()
    )]
    UsersHash {
        /// The file.
        path: PathBuf,
        /// `data.users_hash`.
        stated: String,
        /// The hash of the list in the file.
        found: String,
    },
    /// A list of items other than the one the configuration was made with.
    #[error(
        "[data] items_file {path} holds another list than items_hash says (found {found}, stated {stated}): restore the file, \
         or leave items_hash out to accept this one",
        path = path.display()
    )]
    ItemsHash {
        /// The file.
        path: PathBuf,
        /// `data.items_hash`.
        stated: String,
        /// The hash of the list in the file.
        found: String,
    },
}

impl DataTableError {
    /// [`Self::MissingData`] if this error says that the file is not there.
    pub(in crate::scenario) fn missing(
        error: &DataError,
        key: &'static str,
        path: &Path,
        obtain: Option<&str>,
    ) -> Option<Self> {
        let is_missing = matches!(
            error,
            DataError::Open {
                kind: ErrorKind::NotFound,
                ..
            }
        );
        is_missing.then(|| Self::MissingData {
            key,
            path: tidied(path),
            obtain: obtain.map(str::to_owned),
        })
    }
}

/// The same place without `..`, and relative to the current directory if it lies in it.
pub(crate) fn tidied(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // What exists may be a link: only the system knows where `..` leads from it.
    let found = whole.ancestors().find_map(|ancestor| {
        let known = ancestor.canonicalize().ok()?;
        Some((known, whole.strip_prefix(ancestor).ok()?))
    });
    let Some((mut tidy, rest)) = found else {
        return whole;
    };
    for part in rest.components() {
        match part {
            Component::ParentDir => drop(tidy.pop()),
            part => tidy.push(part),
        }
    }
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let inside = here.ok().and_then(|here| tidy.strip_prefix(here).ok());
    inside.map(Path::to_owned).unwrap_or(tidy)
}

/// `data.obtain` as the end of a message, on one line.
pub(crate) fn obtained(obtain: Option<&str>) -> String {
    obtain.map_or_else(String::new, |text| {
        let words: Vec<&str> = text.split_whitespace().collect();
        format!("; to obtain it: {}", words.join(" "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_tidied_through_what_exists_and_what_does_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it exists");
        std::fs::create_dir(root.join("sims")).expect("a folder");
        let cases = [
            ("sims/../../gone/rows.csv", None),
            ("sims/../data/./rows.csv", Some("data/rows.csv")),
            ("gone/../rows.csv", Some("rows.csv")),
        ];
        for (path, tidy) in cases {
            let expected = match tidy {
                Some(tidy) => root.join(tidy),
                None => root.with_file_name("gone").join("rows.csv"),
            };
            assert_eq!(tidied(&root.join(path)), expected, "{path}");
        }
        let inside = tidied(Path::new("sims/../sims/gone.csv"));
        assert_eq!(inside, Path::new("sims/gone.csv"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_before_their_parents_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it exists");
        std::fs::create_dir_all(root.join("a/b")).expect("folders");
        std::os::unix::fs::symlink(root.join("a/b"), root.join("link")).expect("a link");
        assert_eq!(
            tidied(&root.join("link/../rows.csv")),
            root.join("a/rows.csv")
        );
    }
}
