//! NumPy array files of two dimensions.
//!
//! ```text
//! file   = 93 "NUMPY" major minor length header data
//! length = 2 bytes (format 1.0) or 4 bytes (2.0 and 3.0), little-endian
//! header = "{" "'descr': '<f8'" "," "'fortran_order': False" "," "'shape': (rows, columns)" [","] "}" blanks
//! data   = rows × columns numbers of 8 or 4 bytes, row after row, or column after column in Fortran order
//! ```
//!
//! What a header claims is checked against the limits before a byte of data is read, and memory grows with the bytes that
//! are there, never with those that are announced.

use std::io::Read;

use super::MatrixOptions;
use crate::data::error::{DataError, excerpt};
use crate::data::matrix_problem::ArrayProblem;
use crate::data::ratings::Loaded;
use crate::data::source::{Limits, open};
use crate::linalg::SparseRows;

/// Longest header read. NumPy writes about 118 bytes for two dimensions.
const MOST_HEADER: usize = 4096;

/// Bytes of data read at once.
const PIECE: usize = 1 << 16;

/// A stream that knows how far it is.
struct Bytes<'a> {
    source: Box<dyn std::io::BufRead + 'a>,
    file: &'a str,
    at: u64,
}

impl Bytes<'_> {
    fn error(&self, problem: ArrayProblem) -> DataError {
        DataError::Array {
            file: self.file.to_owned(),
            byte: self.at,
            problem: Box::new(problem),
        }
    }

    /// Fills `out` from the stream; the number of bytes that there were.
    fn fill(&mut self, out: &mut [u8]) -> Result<usize, DataError> {
        let mut filled = 0;
        while filled < out.len() {
            match self.source.read(&mut out[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.at += filled as u64;
                    return Err(DataError::ReadBytes {
                        file: self.file.to_owned(),
                        byte: self.at,
                        kind: error.kind(),
                    });
                }
            }
        }
        self.at += filled as u64;
        Ok(filled)
    }

    /// Fills all of `out`, the rest of which belongs to `part`.
    fn exactly(&mut self, out: &mut [u8], part: &'static str) -> Result<(), DataError> {
        let found = self.fill(out)?;
        match out.len() - found {
            0 => Ok(()),
            missing => Err(self.error(ArrayProblem::Truncated {
                part,
                missing: missing as u64,
            })),
        }
    }
}

/// What a header says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Header {
    /// Whether entries take 8 bytes and not 4.
    pub(super) wide: bool,
    /// Whether columns come one after the other.
    pub(super) fortran: bool,
    pub(super) rows: u64,
    pub(super) columns: u64,
}

/// Reads the file; see [`super::read_matrix`].
pub(super) fn read(
    reader: impl Read,
    source_name: &str,
    options: &MatrixOptions,
    limits: Limits,
) -> Result<Loaded, DataError> {
    let (source, _) = open(reader, source_name)?;
    let mut bytes = Bytes {
        source,
        file: source_name,
        at: 0,
    };
    let header = header(&mut bytes)?;
    let (rows, columns) = (header.rows, header.columns);
    limits
        .check_array(rows, columns)
        .map_err(|problem| bytes.error(problem))?;
    let kept = options
        .kept(columns as usize)
        .map_err(|problem| bytes.error(problem.into()))?;
    let values = numbers(&mut bytes, &header)?;
    let (rows, columns) = (rows as usize, columns as usize);
    let mut out = SparseRows::new(kept.len());
    for row in 0..rows {
        let value = |column: usize| match header.fortran {
            true => values[column * rows + row],
            false => values[row * columns + column],
        };
        out.push_row((0..).zip(&kept).map(|(to, &from)| (to, value(from))))
            .expect("finite numbers in ascending columns");
    }
    let names = kept.iter().map(|at| (at + 1).to_string()).collect();
    Ok(Loaded::of_rows(out, names, 0))
}

/// Reads up to the data.
fn header(bytes: &mut Bytes<'_>) -> Result<Header, DataError> {
    let mut magic = [0_u8; 8];
    let found = bytes.fill(&mut magic)?;
    let signature = b"\x93NUMPY";
    if found < signature.len() || !magic.starts_with(signature) {
        bytes.at = 0;
        return Err(bytes.error(ArrayProblem::Magic));
    }
    if found < magic.len() {
        return Err(bytes.error(ArrayProblem::Truncated {
            part: "version",
            missing: (magic.len() - found) as u64,
        }));
    }
    let width = match (magic[6], magic[7]) {
        (1, 0) => 2,
        (2 | 3, 0) => 4,
        (major, minor) => return Err(bytes.error(ArrayProblem::Version { major, minor })),
    };
    let mut length = [0_u8; 4];
    bytes.exactly(&mut length[..width], "header length")?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_HEADER {
        return Err(bytes.error(ArrayProblem::HeaderLength {
            found: length as u64,
            most: MOST_HEADER as u64,
        }));
    }
    let start = bytes.at;
    let mut text = vec![0_u8; length];
    bytes.exactly(&mut text, "header")?;
    let parsed = Words { rest: &text }.header();
    parsed.map_err(|problem| {
        bytes.at = start;
        bytes.error(problem)
    })
}

/// The numbers, in the order of the file.
fn numbers(bytes: &mut Bytes<'_>, header: &Header) -> Result<Vec<f64>, DataError> {
    let size = if header.wide { 8 } else { 4 };
    let (rows, columns) = (header.rows, header.columns);
    let mut left = rows * columns * size;
    let mut values: Vec<f64> = Vec::new();
    let mut piece = vec![0_u8; PIECE];
    while left > 0 {
        let wanted = left.min(PIECE as u64) as usize;
        let before = bytes.at;
        bytes.fill(&mut piece[..wanted])?;
        let found = (bytes.at - before) as usize;
        if found < wanted {
            return Err(bytes.error(ArrayProblem::Truncated {
                part: "data",
                missing: left - found as u64,
            }));
        }
        left -= wanted as u64;
        let start = values.len();
        let read = &piece[..wanted];
        match header.wide {
            true => values.extend(
                read.as_chunks::<8>()
                    .0
                    .iter()
                    .map(|x| f64::from_le_bytes(*x)),
            ),
            false => {
                let read = read.as_chunks::<4>().0.iter();
                values.extend(read.map(|x| f64::from(f32::from_le_bytes(*x))));
            }
        }
        if let Some(at) = values[start..].iter().position(|value| !value.is_finite()) {
            let place = (start + at) as u64;
            let (row, column) = match header.fortran {
                true => (place % rows, place / rows),
                false => (place / columns, place % columns),
            };
            bytes.at = before + at as u64 * size;
            return Err(bytes.error(ArrayProblem::NotFinite {
                row: row + 1,
                column: column + 1,
            }));
        }
    }
    if bytes.fill(&mut [0])? > 0 {
        bytes.at -= 1;
        return Err(bytes.error(ArrayProblem::Trailing));
    }
    Ok(values)
}

/// What is left of a header: a Python dictionary of three keys, in any order.
struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    fn blanks(&mut self) {
        while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Takes this sign, if it comes next.
    fn sign(&mut self, sign: u8) -> bool {
        self.blanks();
        match self.rest {
            [first, rest @ ..] if *first == sign => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn expect(&mut self, sign: u8, expected: &'static str) -> Result<(), ArrayProblem> {
        match self.sign(sign) {
            true => Ok(()),
            false => Err(ArrayProblem::Header { expected }),
        }
    }

    /// Takes as many bytes as `part` accepts.
    fn while_in(&mut self, part: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|&byte| !part(byte));
        let (found, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        found
    }

    /// A text between single or double quotes.
    fn quoted(&mut self, expected: &'static str) -> Result<&'a [u8], ArrayProblem> {
        self.blanks();
        let quote = match self.rest {
            [quote @ (b'\'' | b'"'), rest @ ..] => {
                self.rest = rest;
                *quote
            }
            _ => return Err(ArrayProblem::Header { expected }),
        };
        let text = self.while_in(|byte| byte != quote);
        self.expect(quote, expected)?;
        Ok(text)
    }

    fn header(mut self) -> Result<Header, ArrayProblem> {
        const KEYS: &str = "'descr', 'fortran_order' and 'shape', each once";
        let (mut wide, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{', KEYS)?;
        while !self.sign(b'}') {
            let key = self.quoted(KEYS)?;
            self.expect(b':', KEYS)?;
            let again = match key {
                b"descr" => wide.replace(self.width()?).is_some(),
                b"fortran_order" => fortran.replace(self.truth()?).is_some(),
                b"shape" => shape.replace(self.shape()?).is_some(),
                _ => true,
            };
            if again {
                return Err(ArrayProblem::Header { expected: KEYS });
            }
            if !self.sign(b',') {
                self.expect(b'}', KEYS)?;
                break;
            }
        }
        self.blanks();
        match (wide, fortran, shape) {
            (Some(wide), Some(fortran), Some((rows, columns))) if self.rest.is_empty() => {
                Ok(Header {
                    wide,
                    fortran,
                    rows,
                    columns,
                })
            }
            _ => Err(ArrayProblem::Header { expected: KEYS }),
        }
    }

    /// Whether entries take 8 bytes.
    fn width(&mut self) -> Result<bool, ArrayProblem> {
        self.blanks();
        if self.rest.first() == Some(&b'[') {
            let found = "a structure of several fields".to_owned();
            return Err(ArrayProblem::Type { found });
        }
        match self.quoted("the type of its entries as text")? {
            b"<f8" => Ok(true),
            b"<f4" => Ok(false),
            other => Err(ArrayProblem::Type {
                found: excerpt(&String::from_utf8_lossy(other)),
            }),
        }
    }

    fn truth(&mut self) -> Result<bool, ArrayProblem> {
        self.blanks();
        match self.while_in(|byte| byte.is_ascii_alphabetic()) {
            b"True" => Ok(true),
            b"False" => Ok(false),
            _ => Err(ArrayProblem::Header {
                expected: "'fortran_order': True or False",
            }),
        }
    }

    /// Two numbers in brackets.
    fn shape(&mut self) -> Result<(u64, u64), ArrayProblem> {
        const SHAPE: &str = "'shape': (rows, columns), whole numbers below 2^64";
        let wrong = || ArrayProblem::Header { expected: SHAPE };
        self.expect(b'(', SHAPE)?;
        let mut sizes: Vec<u64> = Vec::new();
        while !self.sign(b')') {
            self.blanks();
            let digits = self.while_in(|byte| byte.is_ascii_digit());
            let text = std::str::from_utf8(digits).map_err(|_| wrong())?;
            sizes.push(text.parse().map_err(|_| wrong())?);
            if !self.sign(b',') {
                self.expect(b')', SHAPE)?;
                break;
            }
        }
        match sizes[..] {
            [rows, columns] => Ok((rows, columns)),
            _ => Err(ArrayProblem::Dimensions { found: sizes.len() }),
        }
    }
}
