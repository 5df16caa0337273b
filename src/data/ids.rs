//! Reads lists of ids, one per line, such as a user's own items.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use csv::StringRecord;

use super::error::{DataError, Problem};
use super::formats::fields::split_commas;
use super::names::Names;
use super::source::{Limits, Lines};

/// Longest list read: 16 MiB.
const MOST_BYTES: u64 = 16 << 20;

/// Reads item ids from a plain or gzipped file; see [`read_ids`].
///
/// # Errors
/// [`DataError::Open`] if the file cannot be opened, and everything [`read_ids`] refuses.
pub(crate) fn load_ids(path: &Path) -> Result<Vec<String>, DataError> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => read_ids(file, &name),
        Err(error) => Err(DataError::Open {
            file: name,
            kind: error.kind(),
        }),
    }
}

/// Reads item ids, one per line, in the order of the file and each once.
///
/// A line is one field of the comma-separated rating formats: blanks around it are dropped; an id with commas, or
/// that starts with `#`, `%` or `//`, is quoted. There is no header. Blank lines are skipped.
///
/// # Errors
/// [`DataError`] at the first line of two fields, with an unbalanced quote, with a character that cannot be seen,
/// with an id in another spelling than before, or beyond 16 MiB of text.
pub(crate) fn read_ids(source: impl Read, source_name: &str) -> Result<Vec<String>, DataError> {
    let limits = Limits {
        bytes: MOST_BYTES,
        ..Limits::default()
    };
    let mut lines = Lines::open(source, source_name, limits)?;
    let mut names = Names::new("item", limits.items, limits.name_bytes);
    let mut record = StringRecord::new();
    while lines.advance()? {
        let text = lines.text()?;
        if text.trim().is_empty() {
            continue;
        }
        split_commas(text, &mut record)
            .and_then(|()| match record.len() {
                1 => names.index(&record[0]).map(drop),
                found => Err(Problem::TooManyFields {
                    found,
                    layout: "1: an item id",
                }),
            })
            .map_err(|problem| lines.error(problem))?;
    }
    Ok(names.into_list())
}
