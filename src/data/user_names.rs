//! The public list of users: who takes part, and in which order.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use super::error::DataError;
use super::name_list::NameList;
use super::source::Limits;
use super::{Interactions, Loaded};
use crate::linalg::SparseRows;

/// The names of the users, in the order in which they are numbered; no name twice.
///
/// A list of a file is public and says nothing about the data. Without one, users are numbered in the order in which
/// the data first name them, so that one line of an event log can renumber everybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserNames(Vec<String>);

impl UserNames {
    /// Reads a list, plain or gzipped, in the grammar and under the limits of [`ItemNames::load`](super::ItemNames::load).
    ///
    /// # Errors
    /// [`DataError::Open`] if the file cannot be opened, and everything [`Self::read`] refuses.
    pub fn load(path: &Path) -> Result<Self, DataError> {
        NameList::USERS.load(path).map(Self)
    }

    /// Reads a list from text: one name per line, see [`ItemNames::read`](super::ItemNames::read).
    ///
    /// # Errors
    /// [`DataError`] at the first line that is no name or repeats one; [`DataError::EmptyList`] if there is no name at all.
    pub fn read(source: impl Read, source_name: &str, limits: Limits) -> Result<Self, DataError> {
        NameList::USERS.read(source, source_name, limits).map(Self)
    }

    /// The names, in order.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Number of users.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// BLAKE3 of the number of names and of every name with its length, in hexadecimal: equal for equal lists in
    /// equal order, however their files were written.
    #[must_use]
    pub fn hash(&self) -> String {
        NameList::USERS.hash(&self.0)
    }
}

impl UserNames {
    /// The rows of the users of this public list, in its order. Users of the list that are not in the data have empty rows,
    /// rows of users that it does not name are left out, and items stay as they are.
    ///
    /// # Neighbours stay neighbours
    /// Row u of the result is the row of the u-th name of the list, or empty. It is a function of that user's row alone, so
    /// data that differ in one user's row differ in at most that row of the result, by the same change. ∎
    #[must_use]
    pub fn restrict(&self, data: &Interactions) -> Interactions {
        let rows = self.places(data);
        let empty: &[u32] = &[];
        Interactions::from_valid_rows(
            rows.into_iter()
                .map(|row| row.map_or(empty, |row| data.row(row))),
            self.0.clone(),
            data.item_names().to_vec(),
        )
    }

    /// The row of each name of the list.
    fn places(&self, data: &Interactions) -> Vec<Option<usize>> {
        let names = (0..data.users()).map(|user| (data.user_name(user), user));
        let rows: BTreeMap<&str, usize> = names.collect();
        let place = |name: &String| rows.get(name.as_str()).copied();
        self.0.iter().map(place).collect()
    }
}

impl Loaded {
    /// What was read of the users of a public list, in its order: see `UserNames::restrict`.
    #[must_use]
    pub fn with_users(&self, list: &UserNames) -> Self {
        let places = list.places(&self.interactions);
        let values = self.values.as_ref().map(|values| {
            let mut rows = SparseRows::new(values.dimension());
            for place in &places {
                match place {
                    Some(row) => rows.append_row(values, *row),
                    None => rows.push_row([]).expect("an empty row fits"),
                }
            }
            rows
        });
        let known: BTreeSet<&str> = list.0.iter().map(String::as_str).collect();
        let read = &self.interactions;
        let unlisted = (0..read.users()).filter(|&user| !known.contains(read.user_name(user)));
        let mut counts = self.counts;
        counts.users_unlisted = unlisted.count() as u64;
        counts.users_unknown = places.iter().filter(|place| place.is_none()).count() as u64;
        Self {
            interactions: list.restrict(read),
            counts,
            values,
            layout: self.layout.clone(),
            // Nobody says where the users of the list are of whom there is no line: the two are refused together.
            peers: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Format, read_values};

    fn list(text: &str) -> UserNames {
        UserNames::read(text.as_bytes(), "memory", Limits::default()).expect("good")
    }

    #[test]
    fn a_list_decides_who_takes_part_and_in_which_order() {
        let log = "user,item,rating\nb,x,1\na,y,2\nb,y,3\nc,x,4\n";
        let loaded = read_values(
            log.as_bytes(),
            "memory",
            Format::CsvTriples,
            Limits::default(),
        );
        let loaded = loaded.expect("good");
        let listed = loaded.with_users(&list("c\nnew\nb\n"));
        let names: Vec<_> = (0..3)
            .map(|u| listed.interactions.user_name(u).to_owned())
            .collect();
        assert_eq!(names, ["c", "new", "b"]);
        let rows: Vec<_> = (0..3).map(|u| listed.interactions.row(u)).collect();
        assert_eq!(rows, [&[0][..], &[], &[0, 1]]);
        let values = listed.values.expect("numbers");
        assert_eq!(values.row(0), (&[0][..], &[4.0][..]));
        assert_eq!(values.row(1), (&[][..], &[][..]));
        assert_eq!(values.row(2), (&[0, 1][..], &[1.0, 3.0][..]));
        let counts = (listed.counts.users_unlisted, listed.counts.users_unknown);
        assert_eq!(counts, (1, 1));
    }

    #[test]
    fn lists_that_are_none_are_refused_in_the_words_of_users() {
        let refused = |text: &str| {
            let read = UserNames::read(text.as_bytes(), "memory", Limits::default());
            read.expect_err("refused").to_string()
        };
        assert!(refused("a\nb\na\n").contains("line 3: user \"a\" is listed again"));
        assert!(refused("\n\n").contains("no user in its 2 lines"));
        assert!(refused("07\n7\n").contains("another spelling"));
        let hash = |text: &str| list(text).hash();
        assert_eq!(hash("a\nb\n"), hash(" a\r\n\r\nb"));
        assert_ne!(hash("a\nb\n"), hash("b\na\n"));
        assert!(!list("a\n").is_empty() && list("a\nb").len() == 2);
    }
}
