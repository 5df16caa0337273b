//! A participant's own file of rows, read by a rule that looks at this file and at its owner's options alone.
//!
//! # Why no session has a say
//! Whoever writes a session file chooses all of it, may write as many as he likes, and sees who joins. If what he writes could make the reading of
//! somebody's rows fail, every file would be a question about these rows, answered at no charge. So [`OwnFile::read`] takes nothing of a session:
//! not the format, not a threshold, not whether a first line is a header. What a session asks for afterwards is a total function of what was read.
//!
//! # What a file is
//! With [`OwnFileOptions::format`] it is that. Otherwise the first bytes, or the first line that is not blank, say it:
//!
//! | the first line | the file |
//! | --- | --- |
//! | NumPy's first bytes; an archive of arrays | `npy`; `scipy-npz` |
//! | the header of MovieLens, a banner of Matrix Market, fields between `::` | `movielens-csv`, `matrix-market`, `movielens-dat` |
//! | numbers or blanks between commas | `matrix-csv`, and this is a row |
//! | two or three fields between commas, none of them a number | `csv-triples`, of which this is the header |
//! | any other number of fields between commas, none of them a number | `matrix-csv`, of which this is the header |
//! | anything else | refused: the owner says what it is |
//!
//! A line that mixes numbers and words is refused and not guessed at: it may be a row with a missing value as well as a header with years.

use std::fmt;
use std::io::{Cursor, Read};
use std::path::Path;
use std::str::FromStr;

use super::error::DataError;
use super::ratings::Loaded;
use super::source::{Limits, Lines, is_numpy_archive};
use super::{Format, MatrixFormat, MatrixOptions, opened, read_matrix, read_values};

/// First bytes of an array file of NumPy.
const NUMPY: &[u8] = b"\x93NUMPY";

/// The layout of a file of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Ratings: who interacted with what.
    Ratings(Format),
    /// Rows of numbers.
    Matrix(MatrixFormat),
}

/// How its owner has a file read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnFileOptions {
    /// Its format; found out from the first line where absent.
    pub format: Option<FileFormat>,
    /// Whether the first line of `matrix-csv` names the columns; found out from that line where absent.
    pub header: Option<bool>,
}

/// A participant's file, read whole. `Debug` prints no row.
#[derive(Debug)]
pub struct OwnFile {
    loaded: Loaded,
    format: FileFormat,
    digest: [u8; 32],
}

/// Reason why a participant's own file is not read. No session file has a part in it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OwnFileError {
    /// A file that breaks the rules of its format.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A first line from which the format does not follow.
    #[error("{file}: its first line does not tell the format: say --format and one of {formats}", formats = FileFormat::names())]
    Unknown {
        /// The file.
        file: String,
    },
    /// A first line of numbers and words.
    #[error(
        "{file}: its first line holds numbers and words: say --header yes if it names the columns, or --header no and correct it if it is a row"
    )]
    Header {
        /// The file.
        file: String,
    },
    /// A header of a format that has none to choose.
    #[error("--header is for matrix-csv, and the format is {format}: leave it out")]
    HeaderOf {
        /// The format.
        format: FileFormat,
    },
}

impl FileFormat {
    /// Every format.
    pub fn all() -> impl Iterator<Item = Self> {
        let ratings = Format::all().iter().copied().map(Self::Ratings);
        let matrices = MatrixFormat::all().iter().copied().map(Self::Matrix);
        ratings.chain(matrices)
    }

    /// The name in experiment files and options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ratings(format) => format.name(),
            Self::Matrix(format) => format.name(),
        }
    }

    fn names() -> String {
        let names: Vec<&str> = Self::all().map(Self::name).collect();
        names.join(", ")
    }
}

impl fmt::Display for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FileFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::all().find(|format| format.name() == text);
        found.ok_or_else(|| format!("no such format: choose one of {}", Self::names()))
    }
}

impl OwnFile {
    /// Reads a file, plain or gzipped, under the default [`Limits`].
    ///
    /// # Errors
    /// [`OwnFileError`]: the file is not of the format that it has, or does not tell which.
    pub fn read(path: &Path, options: OwnFileOptions) -> Result<Self, OwnFileError> {
        let (file, name) = opened(path)?;
        Self::from_reader(file, &name, options, Limits::default())
    }

    /// Reads a source that errors call `name`; see [`Self::read`].
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn from_reader(
        mut source: impl Read,
        name: &str,
        options: OwnFileOptions,
        limits: Limits,
    ) -> Result<Self, OwnFileError> {
        let mut head = Vec::new();
        let most = limits.line_bytes.saturating_add(1);
        let outcome = source.by_ref().take(most).read_to_end(&mut head);
        outcome.map_err(|error| DataError::Read {
            file: name.to_owned(),
            line: 1,
            kind: error.kind(),
        })?;
        let is_cut = head.len() as u64 >= most;
        let (format, header) = found(&head, is_cut, name, options, limits)?;
        let whole = Cursor::new(head).chain(source);
        let loaded = match format {
            FileFormat::Ratings(format) => read_values(whole, name, format, limits)?,
            FileFormat::Matrix(format) => {
                let options = MatrixOptions {
                    header,
                    drop: Vec::new(),
                };
                read_matrix(whole, name, format, &options, limits)?
            }
        };
        Ok(Self {
            digest: digest_of(&loaded),
            loaded,
            format,
        })
    }

    /// What was read: all ratings, or all numbers, in [`Loaded::values`].
    #[must_use]
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// The format that it was read in.
    #[must_use]
    pub fn format(&self) -> FileFormat {
        self.format
    }

    /// BLAKE3 of the names of the columns and of all rows. It is a secret like the rows: whoever has it can compare guesses with it.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

fn digest_of(loaded: &Loaded) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 own rows v1");
    let number = |number: u64, hasher: &mut blake3::Hasher| {
        hasher.update(&number.to_le_bytes());
    };
    let names = loaded.interactions.item_names();
    number(names.len() as u64, &mut hasher);
    for name in names {
        number(name.len() as u64, &mut hasher);
        hasher.update(name.as_bytes());
    }
    if let Some(rows) = &loaded.values {
        number(rows.len() as u64, &mut hasher);
        for (columns, values) in (0..rows.len()).map(|row| rows.row(row)) {
            number(columns.len() as u64, &mut hasher);
            for (column, value) in columns.iter().zip(values) {
                number(u64::from(*column), &mut hasher);
                number(value.to_bits(), &mut hasher);
            }
        }
    }
    *hasher.finalize().as_bytes()
}

/// Format and header of a file that begins with these bytes.
fn found(
    head: &[u8],
    is_cut: bool,
    name: &str,
    options: OwnFileOptions,
    limits: Limits,
) -> Result<(FileFormat, bool), OwnFileError> {
    let csv = FileFormat::Matrix(MatrixFormat::MatrixCsv);
    // What is said decides, and the first line only what is left open.
    let said = match (options.format, options.header) {
        (None, Some(_)) => Some(csv),
        (format, _) => format,
    };
    match (said, options.header) {
        (Some(format), Some(_)) if format != csv => {
            return Err(OwnFileError::HeaderOf { format });
        }
        (Some(format), Some(header)) => return Ok((format, header)),
        (Some(format), None) if format != csv => return Ok((format, false)),
        _ => {}
    }
    let unknown = || OwnFileError::Unknown {
        file: name.to_owned(),
    };
    if said.is_none() && is_numpy_archive(head) {
        return Ok((FileFormat::Ratings(Format::ScipyNpz), false));
    }
    if said.is_none() && is_numpy(head, name)? {
        return Ok((FileFormat::Matrix(MatrixFormat::Npy), false));
    }
    let Some(line) = first_line(head, is_cut, name, limits)? else {
        return match said {
            // Without a line there is no header either.
            Some(format) if !is_cut => Ok((format, false)),
            _ => Err(unknown()),
        };
    };
    if said.is_none()
        && let Some(format) = Format::by_signature(&line)
    {
        return Ok((FileFormat::Ratings(format), false));
    }
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    // What is no finite number is one here, so that the reader refuses it and no rule takes it for a name.
    let is_number = |field: &&str| field.parse::<f64>().is_ok();
    let numbers = fields.iter().filter(|field| is_number(field)).count();
    let blanks = fields.iter().filter(|field| field.is_empty()).count();
    match (numbers + blanks, numbers, fields.len()) {
        (all, _, count) if all == count => Ok((csv, false)),
        (_, 0, _) if said.is_some() => Ok((csv, true)),
        (_, 0, 1) => Err(unknown()),
        (_, 0, 2 | 3) => Ok((FileFormat::Ratings(Format::CsvTriples), false)),
        (_, 0, _) => Ok((csv, true)),
        _ => Err(OwnFileError::Header {
            file: name.to_owned(),
        }),
    }
}

/// Whether an array of NumPy begins like this, packed or not.
fn is_numpy(head: &[u8], name: &str) -> Result<bool, DataError> {
    let (mut reader, _) = super::source::open(head, name)?;
    let mut first = [0; NUMPY.len()];
    Ok(reader.read_exact(&mut first).is_ok() && first == NUMPY)
}

/// The first line that is not blank; `None` if there is none, or none that ends before the head is cut.
fn first_line(
    head: &[u8],
    is_cut: bool,
    name: &str,
    limits: Limits,
) -> Result<Option<String>, DataError> {
    let mut lines = Lines::open(head, name, limits)?;
    loop {
        match lines.advance() {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(_) if is_cut => return Ok(None),
            Err(error) => return Err(error),
        }
        let text = lines.text()?;
        if !text.trim().is_empty() {
            let line = text.to_owned();
            let is_whole = !is_cut || matches!(lines.advance(), Ok(true));
            return Ok(is_whole.then_some(line));
        }
    }
}

impl Format {
    /// The format whose files alone begin with such a line.
    fn by_signature(line: &str) -> Option<Self> {
        [Self::MovielensCsv, Self::MatrixMarket, Self::MovielensDat]
            .into_iter()
            .find(|format| format.recognises(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], options: OwnFileOptions) -> Result<OwnFile, OwnFileError> {
        OwnFile::from_reader(text, "rows", options, Limits::default())
    }

    fn kind(text: &str) -> Result<(&'static str, usize), OwnFileError> {
        let file = read(text.as_bytes(), OwnFileOptions::default())?;
        Ok((file.format().name(), file.loaded().interactions.users()))
    }

    #[test]
    fn the_first_line_tells_what_a_file_is() {
        for (text, expected) in [
            ("1,2,3\n4,5,6\n", ("matrix-csv", 2)),
            ("\n\n1,2\n", ("matrix-csv", 1)),
            (",,\n1,2,3\n", ("matrix-csv", 2)),
            ("7\n8\n", ("matrix-csv", 2)),
            ("a,b,c,d\n1,2,3,4\n", ("matrix-csv", 1)),
            ("user,item,rating\nu,i,3\n", ("csv-triples", 1)),
            ("user,item\nu,i\nv,i\n", ("csv-triples", 2)),
            (
                "userId,movieId,rating,timestamp\n1,2,3,4\n",
                ("movielens-csv", 1),
            ),
            ("1::2::3::4\n", ("movielens-dat", 1)),
            (
                "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2.5\n",
                ("matrix-market", 1),
            ),
        ] {
            assert_eq!(kind(text), Ok(expected), "{text}");
        }
        let mut array = crate::linalg::Block::zeros(3, 2);
        array.values_mut().fill(1.5);
        let header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}";
        let mut bytes = [&b"\x93NUMPY\x01\x00"[..], &[header.len() as u8, 0], header].concat();
        array
            .values()
            .iter()
            .for_each(|x| bytes.extend(x.to_le_bytes()));
        let file = read(&bytes, OwnFileOptions::default());
        assert_eq!(file.map(|file| file.format().name()), Ok("npy"));
    }

    #[test]
    fn what_does_not_follow_from_the_first_line_its_owner_says() {
        let name = || "rows".to_owned();
        let unknown = Err(OwnFileError::Unknown { file: name() });
        for text in ["0 1 5 7\n", "weight\n1\n", "", "\n \n"] {
            assert_eq!(kind(text), unknown, "{text}");
        }
        let mixed = Err(OwnFileError::Header { file: name() });
        for text in ["2019,2020,total\n1,2,3\n", "0.5,NA,0.25\n1,2,3\n"] {
            assert_eq!(kind(text), mixed, "{text}");
        }
        // A row with a number that is none is no header.
        for text in ["0.5,nan,0.25\n1,2,3\n", "inf,nan,nan,nan\n1,2,3,4\n"] {
            assert!(matches!(kind(text), Err(OwnFileError::Data(_))), "{text}");
        }
        let with = |format: &str, header| OwnFileOptions {
            format: (!format.is_empty()).then(|| format.parse().expect("a format")),
            header,
        };
        for (text, options, users) in [
            ("0 1 5 7\n", with("lightgcn", None), 1),
            ("2019,2020\n1,2\n", with("", Some(true)), 1),
            ("2019,2020\n1,2\n", with("", Some(false)), 2),
            ("a,b\n1,2\n", with("matrix-csv", None), 1),
            ("1,-7.5,99,99\n", with("jester", None), 1),
        ] {
            let file = read(text.as_bytes(), options).expect("well-formed");
            assert_eq!(file.loaded().interactions.users(), users, "{text}");
        }
        let refused = read(b"0 1\n", with("lightgcn", Some(true)));
        assert!(matches!(refused, Err(OwnFileError::HeaderOf { .. })));
        assert!("csv".parse::<FileFormat>().is_err());
    }

    #[test]
    fn a_line_that_does_not_end_where_one_looks_is_not_guessed_at() {
        let limits = Limits {
            line_bytes: 8,
            ..Limits::default()
        };
        let read = |text: &str| {
            OwnFile::from_reader(text.as_bytes(), "rows", OwnFileOptions::default(), limits)
        };
        assert!(read("1,2\n3,4\n5,6\n").is_ok());
        let unknown = read("1,2,3,4e5\n").expect_err("cut");
        assert!(matches!(unknown, OwnFileError::Unknown { .. }), "{unknown}");
    }

    #[test]
    fn rows_and_names_are_what_a_digest_is_of() {
        let digest = |text: &str| {
            let file = read(text.as_bytes(), OwnFileOptions::default()).expect("well-formed");
            *file.digest()
        };
        let one = digest("1,2\n3,4\n");
        assert_eq!(one, digest("1.0, 2\n\n3,4\r\n"));
        for other in ["1,2\n3,5\n", "1,2\n", "3,4\n1,2\n", "1,2,3\n4,5,6\n"] {
            assert_ne!(one, digest(other), "{other}");
        }
        assert_ne!(digest("a,b,c,d\n1,2,3,4\n"), digest("a,b,c,e\n1,2,3,4\n"));
    }
}
