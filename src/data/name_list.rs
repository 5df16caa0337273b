//! Public lists of names in files: one name per line, of items or of users.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use csv::StringRecord;

use super::error::{DataError, Problem, excerpt};
use super::formats::fields::split_commas;
use super::names::Names;
use super::source::{Limits, Lines};

/// First line of the `items.csv` that a run writes: a table and no list.
const TABLE: &str = "row,item,degree";

/// The kind of names in a list.
#[derive(Clone, Copy)]
pub(super) struct NameList {
    /// One name, in errors.
    what: &'static str,
    /// Domain of the hash.
    context: &'static str,
}

impl NameList {
    /// Names of items.
    pub(super) const ITEMS: Self = Self {
        what: "item",
        context: "undertone 2026-11 item list v1",
    };

    /// Names of users.
    pub(super) const USERS: Self = Self {
        what: "user",
        context: "undertone 2026-11 user list v1",
    };

    /// Reads a list, plain or gzipped, under limits of 1 GiB of text and otherwise the default [`Limits`].
    ///
    /// # Errors
    /// [`DataError::Open`] if the file cannot be opened, and everything [`Self::read`] refuses.
    pub(super) fn load(self, path: &Path) -> Result<Vec<String>, DataError> {
        let name = path.display().to_string();
        let limits = Limits {
            bytes: 1 << 30,
            ..Limits::default()
        };
        match File::open(path) {
            Ok(file) => self.read(file, &name, limits),
            Err(error) => Err(DataError::Open {
                file: name,
                kind: error.kind(),
            }),
        }
    }

    /// Reads a list from text.
    ///
    /// # Errors
    /// [`DataError`] at the first line that is no name or repeats one; [`DataError::EmptyList`] if there is no name.
    pub(super) fn read(
        self,
        source: impl Read,
        source_name: &str,
        limits: Limits,
    ) -> Result<Vec<String>, DataError> {
        let mut lines = Lines::open(source, source_name, limits)?;
        let mut names = self.names(limits);
        let mut record = StringRecord::new();
        while lines.advance()? {
            let line = lines.text()?.trim();
            if line.is_empty() {
                continue;
            }
            let added = match line {
                TABLE => Err(Problem::Unsupported {
                    found: TABLE.to_owned(),
                    supported: "a list of names, one per line, without header and further columns",
                }),
                _ => split_commas(line, &mut record).and_then(|()| match record.len() {
                    1 => self.add(&mut names, &record[0]),
                    found => Err(Problem::TooManyFields {
                        found,
                        layout: "1: a name, in quotes if it has a comma",
                    }),
                }),
            };
            added.map_err(|problem| lines.error(problem))?;
        }
        self.whole(names, source_name, lines.number())
    }

    /// A list of these names, in this order, under the default [`Limits`].
    ///
    /// # Errors
    /// Like [`Self::read`].
    pub(super) fn named(
        self,
        names: &[String],
        source_name: &str,
    ) -> Result<Vec<String>, DataError> {
        let mut list = self.names(Limits::default());
        for (line, name) in (1..).zip(names) {
            self.add(&mut list, name)
                .map_err(|problem| DataError::Line {
                    file: source_name.to_owned(),
                    line,
                    problem: Box::new(problem),
                })?;
        }
        self.whole(list, source_name, 0)
    }

    /// BLAKE3 of the number of names and of every name with its length, in hexadecimal.
    pub(super) fn hash(self, names: &[String]) -> String {
        let mut hasher = blake3::Hasher::new_derive_key(self.context);
        hasher.update(&(names.len() as u64).to_le_bytes());
        for name in names {
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    fn names(self, limits: Limits) -> Names {
        let most = match self.what {
            "user" => limits.users,
            _ => limits.items,
        };
        Names::new(self.what, most.min(u32::MAX as usize), limits.name_bytes)
    }

    fn add(self, names: &mut Names, name: &str) -> Result<(), Problem> {
        let before = names.len();
        let index = names.index(name)? as usize;
        match index < before {
            true => Err(Problem::ListedTwice {
                what: self.what,
                name: excerpt(name),
            }),
            false => Ok(()),
        }
    }

    fn whole(self, names: Names, file: &str, lines: u64) -> Result<Vec<String>, DataError> {
        match names.len() {
            0 => Err(DataError::EmptyList {
                file: file.to_owned(),
                what: self.what,
                lines,
            }),
            _ => Ok(names.into_list()),
        }
    }
}
