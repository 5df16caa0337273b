//! The public list of items: which columns the matrix has, and in which order.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use super::Interactions;
use super::error::DataError;
use super::name_list::NameList;
use super::source::Limits;

/// The names of the items, in the order of the columns; no name twice.
///
/// A list is public. One that is read from a file says nothing about the data; one that is drawn from the data
/// ([`Self::most_rated`]) depends on everybody's, and no privacy parameter covers what it reveals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemNames(Vec<String>);

impl ItemNames {
    /// Reads a list, plain or gzipped, under limits of 1 GiB of text and otherwise the default [`Limits`]; see
    /// [`Self::read`].
    ///
    /// # Errors
    /// [`DataError::Open`] if the file cannot be opened, and everything [`Self::read`] refuses.
    pub fn load(path: &Path) -> Result<Self, DataError> {
        NameList::ITEMS.load(path).map(Self)
    }

    /// Reads a list from text: one name per line, in the grammar of other lists of ids: blanks around a name do not count,
    /// a name with a comma stands in double quotes, blank lines are skipped, and there are no comments or further columns.
    ///
    /// # Errors
    /// [`DataError`] at the first line that is not UTF-8, repeats a name, holds a control character, or exceeds
    /// `limits`; [`DataError::EmptyList`] if there is no name at all.
    pub fn read(source: impl Read, source_name: &str, limits: Limits) -> Result<Self, DataError> {
        NameList::ITEMS.read(source, source_name, limits).map(Self)
    }

    /// A list of these names, in this order, under the default [`Limits`].
    ///
    /// # Errors
    /// As [`Self::read`], for a name that is repeated or holds a control character, and for no name at all.
    pub fn named(names: &[String], source_name: &str) -> Result<Self, DataError> {
        NameList::ITEMS.named(names, source_name).map(Self)
    }

    /// The `items` items with the most interactions, in file order; 0, or at least as many as there are, keeps all.
    ///
    /// Among items with equally many interactions the one that appears first in the file is kept. The list depends
    /// on everybody's data: whoever uses it assumes that it is public.
    #[must_use]
    pub fn most_rated(data: &Interactions, items: usize) -> Self {
        let wanted = if items == 0 { data.items() } else { items };
        let degrees = data.item_degrees();
        let mut kept: Vec<u32> = (0..data.items() as u32).collect();
        kept.sort_by_key(|&item| std::cmp::Reverse(degrees[item as usize]));
        kept.truncate(wanted);
        kept.sort_unstable();
        let name = |item: u32| data.item_name(item as usize).to_owned();
        Self(kept.into_iter().map(name).collect())
    }

    /// The items of these interactions, in their order.
    #[must_use]
    pub fn of(data: &Interactions) -> Self {
        Self(data.item_names().to_vec())
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names, in column order.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// BLAKE3 of the number of names and of every name with its length, in hexadecimal: equal for equal lists in
    /// equal order, however their files were written.
    #[must_use]
    pub fn hash(&self) -> String {
        NameList::ITEMS.hash(&self.0)
    }

    /// How many of the list's items these interactions do not name at all.
    #[must_use]
    pub fn unknown_to(&self, data: &Interactions) -> usize {
        let known: BTreeSet<&str> = data.item_names().iter().map(String::as_str).collect();
        let unknown = |name: &&String| !known.contains(name.as_str());
        self.0.iter().filter(unknown).count()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<String>, String> {
        ItemNames::read(bytes, "memory", Limits::default())
            .map(|list| list.as_slice().to_vec())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn order_is_the_files_and_every_line_is_a_name() {
        let text = "\u{feff}b\r\n a \r\n\n07\n8\n\"#1\"\n\"x, \"\"y\"\"\"\nlast";
        let expected = ["b", "a", "07", "8", "#1", "x, \"y\"", "last"];
        assert_eq!(read(text.as_bytes()).expect("good"), expected);
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(text.as_bytes()).expect("into memory");
        let packed = packed.finish().expect("into memory");
        assert_eq!(read(&packed).expect("gzip"), expected);
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_line() {
        for (bytes, words) in [
            (&b""[..], ["no item", "0 lines"]),
            (b"\n \n", ["no item", "2 lines"]),
            (b"a\nb\na\n", ["line 3", "again"]),
            (b"row,item,degree\n0,a,1\n", ["line 1", "one per line"]),
            (b"a\nb\0c\n", ["line 2", "control"]),
            (b"a\nb\tc\n", ["line 2", "tab"]),
            ("a\na\u{200b}\n".as_bytes(), ["line 2", "cannot be seen"]),
            (b"07\n7\n", ["line 2", "another spelling"]),
            (b"a\nb,c\n", ["line 2", "quotes"]),
            (b"a\n\xff\n", ["line 2", "UTF-8"]),
            (b"PK\x03\x04rest", ["zip", "unpack"]),
            (b"\x1f\x8b\x08\0", ["gzip", "truncated"]),
        ] {
            let error = read(bytes).expect_err("refused");
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
        let long = "x".repeat(513);
        assert!(read(long.as_bytes()).expect_err("long").contains("512"));
        let limits = Limits {
            items: 1,
            ..Limits::default()
        };
        let error = ItemNames::read(&b"a\nb\n"[..], "memory", limits).expect_err("two");
        assert!(error.to_string().contains("more than 1 items"), "{error}");
    }

    #[test]
    fn the_hash_is_of_names_and_order_alone() {
        let hash = |text: &str| {
            let list = ItemNames::read(text.as_bytes(), "memory", Limits::default());
            list.expect("good").hash()
        };
        assert_eq!(hash("a\nb\n"), hash(" a\r\n\r\nb"));
        assert_eq!(hash("a\nb\n").len(), 64);
        let all = ["a\nb", "b\na", "ab", "a", "a\nb\nc"].map(hash);
        let distinct: BTreeSet<&String> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
