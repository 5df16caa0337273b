//! Reads one user's own ratings: `item,rating`, one per line.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use csv::StringRecord;

use super::error::{DataError, Problem};
use super::formats::fields::{number, split_commas};
use super::names::Names;
use super::source::{Limits, Lines};

/// Longest file read: 16 MiB.
const MOST_BYTES: u64 = 16 << 20;

const LAYOUT: &str = "2: item, rating";

/// Reads a user's own ratings from a plain or gzipped file; see [`read_own_ratings`].
///
/// # Errors
/// [`DataError::Open`] if the file cannot be opened, and everything [`read_own_ratings`] refuses.
pub(crate) fn load_own_ratings(path: &Path) -> Result<Vec<(String, f64)>, DataError> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => read_own_ratings(file, &name),
        Err(error) => Err(DataError::Open {
            file: name,
            kind: error.kind(),
        }),
    }
}

/// Reads a user's own ratings, one per line in the fields of the comma-separated rating formats, without a header, in the order of
/// the file.
///
/// # Errors
/// [`DataError`] at the first line without exactly an item and a finite number, with an item that was rated before or in another spelling,
/// or beyond 16 MiB of text.
pub(crate) fn read_own_ratings(
    source: impl Read,
    source_name: &str,
) -> Result<Vec<(String, f64)>, DataError> {
    let limits = Limits {
        bytes: MOST_BYTES,
        ..Limits::default()
    };
    let mut lines = Lines::open(source, source_name, limits)?;
    let mut names = Names::new("item", limits.items, limits.name_bytes);
    let mut ratings: Vec<f64> = Vec::new();
    let mut record = StringRecord::new();
    while lines.advance()? {
        let text = lines.text()?;
        if text.trim().is_empty() {
            continue;
        }
        let mut rating = || {
            split_commas(text, &mut record)?;
            let found = record.len();
            if found < 2 {
                return Err(Problem::TooFewFields {
                    found,
                    layout: LAYOUT,
                });
            }
            if found > 2 {
                return Err(Problem::TooManyFields {
                    found,
                    layout: LAYOUT,
                });
            }
            let item = names.index(&record[0])? as usize;
            if item < ratings.len() {
                let item = record[0].to_owned();
                return Err(Problem::RepeatedItem { item });
            }
            number(&record[1], "rating")
        };
        let rating = rating().map_err(|problem| lines.error(problem))?;
        ratings.push(rating);
    }
    Ok(names.into_list().into_iter().zip(ratings).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_are_read_and_what_is_none_is_refused_by_line() {
        let read = |text: &str| read_own_ratings(text.as_bytes(), "own");
        let found = read("7, -2.5\n\n\"a, b\",4\n").expect("two ratings");
        assert_eq!(found, [("7".to_owned(), -2.5), ("a, b".to_owned(), 4.0)]);
        assert_eq!(read("\n").expect("none"), []);
        for (text, words) in [
            ("7,1\n8\n", "line 2"),
            ("7,1,2\n", "line 1"),
            ("7,x\n", "rating"),
            ("7,inf\n", "rating"),
            ("7,1\n8,2\n7,1\n", "line 3"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
