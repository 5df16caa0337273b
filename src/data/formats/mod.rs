//! Rating file formats: one file each, and one line of `formats!`.
//!
//! The grammar of each stands in its file. Common to all: UTF-8 with or without a byte-order mark, plain or gzip,
//! lines that end with LF or CR LF, blank lines skipped, no control character but the tab and no character that
//! cannot be seen anywhere. Ids are compared byte by byte, and two that are one id in two spellings are refused
//! ([`Spellings`](crate::vocabulary::Spellings)).

mod csv_triples;
mod eachmovie;
pub(in crate::data) mod fields;
mod jester;
mod lightgcn;
mod matrix_market;
mod movielens_csv;
mod movielens_dat;
mod scipy_npz;
mod table;
#[cfg(test)]
pub(super) mod tests;

use std::fmt;
use std::io::Read;

use serde::{Deserialize, Serialize};

use super::error::{DataError, Problem, excerpt};
use super::ratings::{Kept, Loaded, Ratings};
use super::source::{Limits, Lines};
pub(super) use table::{ITEMS, plain, without_type};
pub use table::{TableColumn, TableColumns, TableOptions};

/// Defines the formats: those of lines, one file each, and the one that is an archive.
macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident = $file:ident,)+) => {
        /// The layout of a rating file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Format {
            $($(#[$doc])* $variant,)+
            /// A sparse matrix of users × items, as `scipy.sparse.save_npz` writes it: an archive and no text.
            ScipyNpz,
        }

        impl Format {
            const ALL: &[Self] = &[$(Self::$variant,)+ Self::ScipyNpz];

            /// What is known of a format of lines.
            fn description(self) -> Option<&'static Description> {
                match self {
                    $(Self::$variant => Some(&$file::DESCRIPTION),)+
                    Self::ScipyNpz => None,
                }
            }
        }

        /// A small good file of every format of lines.
        #[cfg(test)]
        pub(in crate::data) const SAMPLES: &[tests::Sample] = &[$($file::tests::SAMPLE),+];
    };
}

formats! {
    /// MovieLens since 2015: header `userId,movieId,rating,timestamp`, then one rating per line.
    MovielensCsv = movielens_csv,
    /// MovieLens 1M and 10M: `user::movie::rating::timestamp`, no header.
    MovielensDat = movielens_dat,
    /// A table with a column of users, one of items and perhaps one of ratings: [`TableColumns`].
    Table = table,
    /// One line per user, `user item item …`, as published with LightGCN (He et al. 2020).
    Lightgcn = lightgcn,
    /// Jester (Goldberg et al. 2001): one line per user, the number of ratings, then one of −10 to 10 per
    /// joke with 99 for none; no header.
    Jester = jester,
    /// A header line, then `user,item` or `user,item,rating`; ids are any text, blanks around them are dropped.
    CsvTriples = csv_triples,
    /// NIST Matrix Market coordinate files, general, with real, integer or pattern entries
    /// (Boisvert, Pozo and Remington 1996): rows are users, columns are items.
    MatrixMarket = matrix_market,
    /// EachMovie's `Vote.txt` (DEC 1997, withdrawn in 2004): person, movie, score of 0 to 1, weight, date,
    /// separated by white space; no header.
    Eachmovie = eachmovie,
}

/// What the registry knows of a format.
struct Description {
    name: &'static str,
    /// Whether a line could be the first of such a file; used to name the right format in errors.
    recognises: fn(&str) -> bool,
    reader: fn() -> Box<dyn LineReader>,
}

/// Reads one file of one format, line by line.
trait LineReader {
    /// Takes the next line that is not blank.
    fn line(&mut self, text: &str, ratings: &mut Ratings) -> Result<(), Problem>;

    /// Checks at the end of the file what could not be checked before; by default nothing.
    fn finish(&mut self, _ratings: &mut Ratings) -> Result<(), Problem> {
        Ok(())
    }

    /// What the file showed of its own layout, in words.
    fn layout(&self) -> Option<String> {
        None
    }
}

impl Format {
    /// Every format.
    #[must_use]
    pub fn all() -> &'static [Self] {
        Self::ALL
    }

    /// The name in an experiment file.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.description()
            .map_or(scipy_npz::NAME, |described| described.name)
    }

    fn line_reader(self) -> Option<Box<dyn LineReader>> {
        self.description().map(|described| (described.reader)())
    }

    /// Whether a line could be the first of such a file.
    pub(super) fn recognises(self, line: &str) -> bool {
        self.description()
            .is_some_and(|described| (described.recognises)(line))
    }

    /// That a file whose first line is `text` looks like one of another format.
    fn mistake(self, text: &str) -> Option<Problem> {
        let other = self.mistaken_for(text)?;
        Some(Problem::WrongFormat {
            declared: self.name(),
            looks_like: other.name(),
            found: excerpt(text),
        })
    }

    /// The other format that `text` could be the first line of.
    fn mistaken_for(self, text: &str) -> Option<Self> {
        // A table may look like each of these.
        let tables = [
            Self::MovielensCsv,
            Self::CsvTriples,
            Self::Jester,
            Self::Eachmovie,
        ];
        let is_other =
            |other: &Self| *other != self && !(self == Self::Table && tables.contains(other));
        let mut others = Self::ALL.iter().copied().filter(is_other);
        others.find(|other| other.recognises(text))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Reads ratings and keeps as interactions those strictly above `threshold`.
///
/// Plain text or gzip, told apart by the first bytes. Users and items are numbered in the order in which
/// the file names them first (of [`Format::ScipyNpz`] in ascending order); those without a rating above the threshold stay, so that neither the
/// number of peers nor the dimension depends on the threshold. `source_name` is what errors call the
/// source.
///
/// # Errors
/// [`DataError`] at the first line that breaks the format, holds a repeated (user, item) pair or exceeds
/// `limits`, if the source fails or is truncated, if there are no ratings, or if `threshold` is not
/// finite.
///
/// # Cost
/// O(ratings · log items) time; memory as documented at [`Limits`], never sized by what the file claims.
pub fn read(
    reader: impl Read,
    source_name: &str,
    format: Format,
    threshold: f64,
    limits: Limits,
) -> Result<Loaded, DataError> {
    read_keeping(reader, source_name, format, above(threshold)?, limits)
}

fn above(threshold: f64) -> Result<Kept, DataError> {
    match threshold.is_finite() {
        true => Ok(Kept::Above(threshold)),
        false => Err(DataError::Threshold { threshold }),
    }
}

/// Reads a table; ratings as [`read`] takes them, or as [`read_values`] without a threshold.
///
/// # Errors
/// As [`read`].
pub fn read_table(
    reader: impl Read,
    source_name: &str,
    options: &TableOptions,
    threshold: Option<f64>,
    limits: Limits,
) -> Result<Loaded, DataError> {
    let kept = threshold.map_or(Ok(Kept::Values), above)?;
    let reading = Box::new(table::Reader::new(options.clone()));
    read_lines(reader, source_name, (Format::Table, reading), kept, limits)
}

/// Reads ratings and keeps all of them as numbers, in [`Loaded::values`]; every rating is an interaction.
///
/// # Errors
/// As [`read`], without a threshold.
pub fn read_values(
    reader: impl Read,
    source_name: &str,
    format: Format,
    limits: Limits,
) -> Result<Loaded, DataError> {
    read_keeping(reader, source_name, format, Kept::Values, limits)
}

fn read_keeping(
    reader: impl Read,
    source_name: &str,
    format: Format,
    kept: Kept,
    limits: Limits,
) -> Result<Loaded, DataError> {
    match format.line_reader() {
        Some(reading) => read_lines(reader, source_name, (format, reading), kept, limits),
        None => scipy_npz::read(reader, source_name, kept, limits),
    }
}

fn read_lines(
    reader: impl Read,
    source_name: &str,
    (format, mut reading): (Format, Box<dyn LineReader>),
    kept: Kept,
    limits: Limits,
) -> Result<Loaded, DataError> {
    let mut lines = Lines::open(reader, source_name, limits)?;
    let mut ratings = Ratings::new(kept, &limits);
    let mut first = true;
    while lines.advance()? {
        ratings
            .start_line(lines.number())
            .map_err(|problem| lines.error(problem))?;
        let text = lines.text()?;
        if text.trim().is_empty() {
            ratings.skip_line();
            continue;
        }
        if let Err(problem) = reading.line(text, &mut ratings) {
            let other = format.mistake(text).filter(|_| first);
            return Err(lines.error(other.unwrap_or(problem)));
        }
        first = false;
    }
    reading
        .finish(&mut ratings)
        .map_err(|problem| lines.error(problem))?;
    if ratings.rating_count() == 0 {
        return Err(DataError::Empty {
            file: lines.file().to_owned(),
            lines: lines.number(),
            format: format.name(),
        });
    }
    let loaded = ratings
        .finish(lines.number())
        .map_err(|(line, problem)| lines.error_on(line, problem))?;
    let layout = reading.layout();
    Ok(Loaded { layout, ..loaded })
}
