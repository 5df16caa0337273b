//! Sparse matrices in files: the archive that `scipy.sparse.save_npz` writes.
//!
//! ```text
//! file  = ZIP of NumPy arrays, stored or deflated
//! csr   = "format.npy" = "csr", "shape.npy" = (rows, columns), "indptr.npy" (rows + 1), "indices.npy", "data.npy"
//! csc   = the same by columns
//! coo   = "format.npy" = "coo", "shape.npy", "row.npy", "col.npy", "data.npy"
//! ```
//!
//! Indices are signed or unsigned integers of 4 or 8 bytes, values integers, booleans or floating-point numbers of 4 or 8 bytes, little-endian. No size that a file
//! announces is believed: memory grows with the bytes that are there, up to a limit.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

/// Longest header of an array. NumPy writes 118 bytes.
const MOST_HEADER: usize = 4096;

/// The entries of a sparse matrix, as a file lists them.
#[derive(Debug, PartialEq)]
pub struct SparseFile {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Row, column and value.
    pub entries: Vec<(u32, u32, f64)>,
}

/// Bytes that are no sparse matrix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SparseFileProblem {
    /// No ZIP archive, or a damaged one.
    #[error(
        "not an .npz archive, or a damaged one ({reason}): write it with scipy.sparse.save_npz"
    )]
    Archive {
        /// What the reader said.
        reason: String,
    },
    /// An archive of other arrays.
    #[error(
        "there is no array `{array}` in it: save a sparse matrix with scipy.sparse.save_npz, and a dense array with numpy.save"
    )]
    Missing {
        /// The array.
        array: &'static str,
    },
    /// A layout that is not read.
    #[error("a matrix of format `{found}`: convert it with .tocsr() before it is saved")]
    Format {
        /// The name of the format, shortened.
        found: String,
    },
    /// An array that is none, or of another kind of number.
    #[error("the array `{array}` is not read: {reason}")]
    Array {
        /// The array.
        array: &'static str,
        /// What is wrong.
        reason: &'static str,
    },
    /// More than is read.
    #[error(
        "more than {most} bytes of arrays, which is the most that is read: save a smaller matrix, or numbers of 4 bytes"
    )]
    TooLarge {
        /// The limit.
        most: usize,
    },
    /// Indices that point outside the matrix, or do not fit one another.
    #[error(
        "entry {entry} is not in a matrix of {rows} x {columns}, or its arrays differ in length: the file is damaged, write it again"
    )]
    Indices {
        /// Which entry, from 0.
        entry: usize,
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// A value that is not finite.
    #[error("row {row}, column {column}: the value is not finite; correct it, or remove the entry")]
    NotFinite {
        /// The row, from 0.
        row: u32,
        /// The column, from 0.
        column: u32,
    },
    /// Two entries for one place. `SparseFile::read` leaves them to its caller.
    #[error(
        "row {row}, column {column} has two entries: keep one, or add them up with matrix.sum_duplicates() before it is saved"
    )]
    Repeated {
        /// The row, from 0.
        row: u32,
        /// The column, from 0.
        column: u32,
    },
    /// No entry at all, where there must be one.
    #[error("the matrix has no entries: check which one was saved")]
    Empty,
}

use SparseFileProblem as Problem;

impl SparseFile {
    /// Reads a file whose arrays have at most `most` bytes together.
    ///
    /// # Errors
    /// [`SparseFileProblem`].
    pub fn read(bytes: &[u8], most: usize) -> Result<Self, Problem> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| not_read(&error))?;
        let mut arrays = Arrays {
            archive,
            left: most,
            most,
        };
        let format = arrays.text("format.npy")?;
        let shape = arrays.whole("shape.npy")?;
        let [rows, columns] = shape[..] else {
            return Err(Problem::Array {
                array: "shape.npy",
                reason: "it has not two numbers",
            });
        };
        let (major, minor) = match format.as_str() {
            "csr" => {
                let columns = arrays.whole("indices.npy")?;
                (arrays.pointers(rows, columns.len())?, columns)
            }
            "csc" => {
                let rows = arrays.whole("indices.npy")?;
                let columns = arrays.pointers(columns, rows.len())?;
                (rows, columns)
            }
            "coo" => (arrays.whole("row.npy")?, arrays.whole("col.npy")?),
            _ => return Err(Problem::Format { found: format }),
        };
        let values = arrays.numbers("data.npy")?;
        let (rows, columns) = (size(rows)?, size(columns)?);
        let broken = |entry| Problem::Indices {
            entry,
            rows,
            columns,
        };
        if major.len() != minor.len() || major.len() != values.len() {
            return Err(broken(major.len().min(minor.len()).min(values.len())));
        }
        let mut entries = Vec::with_capacity(values.len());
        for (entry, ((row, column), value)) in major.iter().zip(&minor).zip(values).enumerate() {
            let place = |index: i64, below: usize| {
                let index = u32::try_from(index).ok();
                index.filter(|index| (*index as usize) < below)
            };
            let (Some(row), Some(column)) = (place(*row, rows), place(*column, columns)) else {
                return Err(broken(entry));
            };
            if !value.is_finite() {
                return Err(Problem::NotFinite { row, column });
            }
            entries.push((row, column, value));
        }
        Ok(Self {
            rows,
            columns,
            entries,
        })
    }
}

fn size(found: i64) -> Result<usize, Problem> {
    let size = u32::try_from(found).ok().map(|size| size as usize);
    size.ok_or(Problem::Array {
        array: "shape.npy",
        reason: "a side is negative or beyond 4294967295",
    })
}

fn not_read(error: &ZipError) -> Problem {
    Problem::Archive {
        reason: error.to_string().chars().take(200).collect(),
    }
}

/// What the numbers of an array are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signed,
    Unsigned,
    Float,
    Boolean,
    Bytes,
    Unicode,
}

struct Arrays<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Bytes that may still be read.
    left: usize,
    most: usize,
}

impl Arrays<'_> {
    /// The numbers of an array, and of which kind and how wide they are.
    fn read(&mut self, array: &'static str) -> Result<(Kind, usize, Vec<u8>), Problem> {
        let file = match self.archive.by_name(array) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Err(Problem::Missing { array }),
            Err(error) => return Err(not_read(&error)),
        };
        let mut bytes = Vec::new();
        let read = file.take(self.left as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| Problem::Archive {
            reason: error.to_string().chars().take(200).collect(),
        })?;
        let most = self.most;
        self.left = self
            .left
            .checked_sub(bytes.len())
            .ok_or(Problem::TooLarge { most })?;
        let wrong = |reason| Problem::Array { array, reason };
        let (header, data) = split(&bytes).ok_or(wrong("it is no NumPy array"))?;
        let kind = described(header).ok_or(wrong("its numbers are of a kind that is not read"))?;
        match data.len().checked_rem(kind.1) {
            Some(0) => Ok((kind.0, kind.1, data.to_vec())),
            _ => Err(wrong("it ends in the middle of a number")),
        }
    }

    fn text(&mut self, array: &'static str) -> Result<String, Problem> {
        let (kind, _, data) = self.read(array)?;
        let step = match kind {
            Kind::Bytes => 1,
            Kind::Unicode => 4,
            _ => {
                return Err(Problem::Array {
                    array,
                    reason: "it holds no text",
                });
            }
        };
        let letters = data.iter().step_by(step).filter(|byte| **byte != 0);
        let letters = letters.take(16).map(|byte| match byte.is_ascii_graphic() {
            true => char::from(*byte),
            false => '?',
        });
        Ok(letters.collect())
    }

    /// An array of whole numbers.
    fn whole(&mut self, array: &'static str) -> Result<Vec<i64>, Problem> {
        let (kind, width, data) = self.read(array)?;
        if !matches!(kind, Kind::Signed | Kind::Unsigned) {
            return Err(Problem::Array {
                array,
                reason: "it holds no whole numbers",
            });
        }
        let number = |bytes: &[u8]| whole(kind, bytes);
        Ok(data.chunks_exact(width).map(number).collect())
    }

    /// An array of numbers.
    fn numbers(&mut self, array: &'static str) -> Result<Vec<f64>, Problem> {
        let (kind, width, data) = self.read(array)?;
        let number = |bytes: &[u8]| match (kind, bytes) {
            (Kind::Float, [a, b, c, d]) => Some(f64::from(f32::from_le_bytes([*a, *b, *c, *d]))),
            (Kind::Float, bytes) => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
            (Kind::Bytes | Kind::Unicode, _) => None,
            _ => Some(whole(kind, bytes) as f64),
        };
        let numbers: Option<Vec<f64>> = data.chunks_exact(width).map(number).collect();
        numbers.ok_or(Problem::Array {
            array,
            reason: "it holds no numbers",
        })
    }

    /// The row (or column) of each of the `entries`, from where each of `sides` begins.
    fn pointers(&mut self, sides: i64, entries: usize) -> Result<Vec<i64>, Problem> {
        let array = "indptr.npy";
        let pointers = self.whole(array)?;
        let wrong = |reason| Problem::Array { array, reason };
        if pointers.first() != Some(&0) || pointers.len() as i64 - 1 != sides {
            return Err(wrong("it has not one number more than the matrix has rows"));
        }
        let last = pointers.last().copied().unwrap_or(0);
        if usize::try_from(last) != Ok(entries) || !pointers.is_sorted() {
            return Err(wrong("its numbers go back, or do not end with all entries"));
        }
        let mut of = Vec::with_capacity(entries);
        for (side, ends) in (0_i64..).zip(pointers.windows(2)) {
            of.resize(ends[1] as usize, side);
        }
        Ok(of)
    }
}

fn whole(kind: Kind, bytes: &[u8]) -> i64 {
    let negative = kind == Kind::Signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut all = if negative { [0xFF; 8] } else { [0; 8] };
    all[..bytes.len()].copy_from_slice(bytes);
    match kind {
        // Beyond what any index may be, and stays so.
        Kind::Unsigned => i64::try_from(u64::from_le_bytes(all)).unwrap_or(i64::MAX),
        _ => i64::from_le_bytes(all),
    }
}

/// The header and the data of a NumPy array.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        _ => return None,
    };
    if length > MOST_HEADER {
        return None;
    }
    let (header, data) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

/// Kind and width of the numbers that a header describes.
fn described(header: &str) -> Option<(Kind, usize)> {
    let (_, rest) = header.split_once("'descr':")?;
    let name = rest.trim_start().strip_prefix('\'')?.split('\'').next()?;
    let kind = match name.strip_prefix(['<', '|', '='])? {
        "i1" => (Kind::Signed, 1),
        "i2" => (Kind::Signed, 2),
        "i4" => (Kind::Signed, 4),
        "i8" => (Kind::Signed, 8),
        "u1" => (Kind::Unsigned, 1),
        "u2" => (Kind::Unsigned, 2),
        "u4" => (Kind::Unsigned, 4),
        "u8" => (Kind::Unsigned, 8),
        "f4" => (Kind::Float, 4),
        "f8" => (Kind::Float, 8),
        "b1" => (Kind::Boolean, 1),
        text if text.starts_with('S') => (Kind::Bytes, 1),
        text if text.starts_with('U') => (Kind::Unicode, 4),
        _ => return None,
    };
    Some(kind)
}
