//! NumPy array files: a block of numbers written in format 1.0, a basis read in 1.0 and 2.0.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::linalg::Block;

/// Longest header read. NumPy writes about 118 bytes for two dimensions.
const MOST_HEADER: usize = 4096;
/// Largest deviation of XᵀX from the identity that an orthonormal basis may show.
const TOLERANCE: f64 = 1e-6;

/// An array file that is no basis.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}", path = path.display())]
pub struct NpyError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub problem: NpyProblem,
}

/// What is wrong with an array file.
#[derive(Debug, thiserror::Error)]
pub enum NpyProblem {
    /// It cannot be read.
    #[error("cannot be read: {0}; check the path")]
    Unreadable(std::io::Error),
    /// Not NumPy's magic bytes.
    #[error("this is no NumPy array file (.npy): give the basis.npy that `undertone run` wrote")]
    Magic,
    /// A version that is not read.
    #[error(
        "found format version {major}.{minor}, expected 1.0 or 2.0; save it again with numpy.save"
    )]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// A header that is not understood.
    #[error(
        "the header does not say {expected}; save the array as C-ordered little-endian float64 of two \
         dimensions: numpy.save(file, numpy.ascontiguousarray(x, dtype='<f8'))"
    )]
    Header {
        /// What it should say.
        expected: &'static str,
    },
    /// A file that is not as long as its shape says.
    #[error(
        "a {rows} x {columns} array of float64 takes {expected} bytes after the header, found {found}; the file is damaged"
    )]
    Length {
        /// Rows declared.
        rows: usize,
        /// Columns declared.
        columns: usize,
        /// Bytes they take.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// A NaN or an infinite value.
    #[error("row {row} holds a value that is not finite, so this is no basis")]
    NotFinite {
        /// The row, from 0.
        row: usize,
    },
    /// Columns that are not orthonormal.
    #[error(
        "columns {i} and {j} have inner product {found:.3e}, expected {expected} within 1e-6: this is no orthonormal basis"
    )]
    NotOrthonormal {
        /// A column.
        i: usize,
        /// Another or the same.
        j: usize,
        /// Their inner product.
        found: f64,
        /// What it should be.
        expected: u8,
    },
}

/// Reads an n × p basis with orthonormal columns.
///
/// The file must be as long as its header says before anything of that size is held.
///
/// # Errors
/// [`NpyError`] unless it is version 1.0 or 2.0, `<f8`, C order, two-dimensional with n ≥ p ≥ 1, finite and
/// orthonormal within 1e-6.
pub fn read_basis(path: &Path) -> Result<Block, NpyError> {
    let basis = read_block(path)?;
    let failed = |problem| NpyError {
        path: path.to_path_buf(),
        problem,
    };
    check_shape(&basis)
        .and_then(|()| check(&basis))
        .map_err(failed)?;
    Ok(basis)
}

/// Reads an array of any two dimensions, both at least 1.
///
/// The file must be as long as its header says before anything of that size is held.
///
/// # Errors
/// [`NpyError`] unless it is version 1.0 or 2.0, `<f8`, C order, two-dimensional and finite.
pub fn read_block(path: &Path) -> Result<Block, NpyError> {
    let failed = |problem| NpyError {
        path: path.to_path_buf(),
        problem,
    };
    let open = || -> std::io::Result<(File, u64)> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok((file, length))
    };
    let (file, length) = open().map_err(|e| failed(NpyProblem::Unreadable(e)))?;
    parse(file, length).map_err(failed)
}

fn parse(mut source: impl Read, length: u64) -> Result<Block, NpyProblem> {
    let mut head = [0_u8; 8];
    take(&mut source, &mut head, NpyProblem::Magic)?;
    if !head.starts_with(b"\x93NUMPY") {
        return Err(NpyProblem::Magic);
    }
    let width = match (head[6], head[7]) {
        (1, 0) => 2,
        (2, 0) => 4,
        (major, minor) => return Err(NpyProblem::Version { major, minor }),
    };
    let short = || NpyProblem::Header {
        expected: "its own length, at most 4,096 bytes",
    };
    let mut size = [0_u8; 4];
    take(&mut source, &mut size[..width], short())?;
    let size = u32::from_le_bytes(size) as usize;
    if size > MOST_HEADER {
        return Err(short());
    }
    let mut header = vec![0_u8; size];
    take(&mut source, &mut header, short())?;
    let (rows, columns) = shape(&header)?;
    let found = length.saturating_sub((8 + width + size) as u64);
    let expected = (rows as u64)
        .checked_mul(columns as u64)
        .and_then(|entries| entries.checked_mul(8))
        .unwrap_or(u64::MAX);
    let damaged = |found| NpyProblem::Length {
        rows,
        columns,
        expected,
        found,
    };
    if found != expected {
        return Err(damaged(found));
    }
    if columns == 0 || rows == 0 {
        return Err(NpyProblem::Header {
            expected: "a shape (n, p) with n >= p >= 1",
        });
    }
    let mut bytes = Vec::new();
    let read = source
        .take(expected)
        .read_to_end(&mut bytes)
        .map_err(NpyProblem::Unreadable)? as u64;
    if read != expected {
        return Err(damaged(read));
    }
    let (values, _) = bytes.as_chunks::<8>();
    let values = values.iter().map(|value| f64::from_le_bytes(*value));
    let block = Block::from_values(rows, columns, values.collect());
    if let Some(at) = block.values().iter().position(|value| !value.is_finite()) {
        let row = at / columns;
        return Err(NpyProblem::NotFinite { row });
    }
    Ok(block)
}

fn check_shape(basis: &Block) -> Result<(), NpyProblem> {
    match basis.rows() < basis.columns() {
        true => Err(NpyProblem::Header {
            expected: "a shape (n, p) with n >= p >= 1",
        }),
        false => Ok(()),
    }
}

fn take(source: &mut impl Read, bytes: &mut [u8], short: NpyProblem) -> Result<(), NpyProblem> {
    source
        .read_exact(bytes)
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => short,
            _ => NpyProblem::Unreadable(error),
        })
}

fn check(basis: &Block) -> Result<(), NpyProblem> {
    let gram = basis.transpose_times(basis);
    for i in 0..basis.columns() {
        for j in 0..=i {
            let expected = u8::from(i == j);
            let found = gram[(i, j)];
            if (found - f64::from(expected)).abs() > TOLERANCE {
                return Err(NpyProblem::NotOrthonormal {
                    i,
                    j,
                    found,
                    expected,
                });
            }
        }
    }
    Ok(())
}

/// The shape that a header declares: a Python dictionary of exactly three keys.
fn shape(header: &[u8]) -> Result<(usize, usize), NpyProblem> {
    let bad = |expected| NpyProblem::Header { expected };
    let text = std::str::from_utf8(header).map_err(|_| bad("anything in ASCII"))?;
    let inner = text
        .trim()
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'))
        .ok_or_else(|| bad("a dictionary in braces"))?;
    let value = |key: &str, expected| {
        let (_, rest) = inner
            .split_once(&format!("'{key}'"))
            .ok_or_else(|| bad(expected))?;
        let rest = rest
            .trim_start()
            .strip_prefix(':')
            .ok_or_else(|| bad(expected))?;
        Ok(rest.trim_start())
    };
    let kind = "descr '<f8'";
    if !value("descr", kind)?.starts_with("'<f8'") {
        return Err(bad(kind));
    }
    let order = "fortran_order False";
    if !value("fortran_order", order)?.starts_with("False") {
        return Err(bad(order));
    }
    let two = "a shape of two dimensions";
    let sizes = value("shape", two)?
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .ok_or_else(|| bad(two))?
        .0;
    let sizes: Vec<Option<usize>> = sizes
        .split(',')
        .map(|size| size.trim().parse().ok())
        .collect();
    match sizes[..] {
        [Some(rows), Some(columns)] => Ok((rows, columns)),
        _ => Err(bad(two)),
    }
}

/// A block as a NumPy array file, version 1.0: C order, little-endian f64, shape (n, p).
#[must_use]
pub fn npy(block: &Block) -> Vec<u8> {
    let mut header = format!(
        "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}",
        block.rows(),
        block.columns()
    );
    // Magic (6), version (2), length (2), header and newline together fill a multiple of 64 bytes.
    let padding = 64 - (10 + header.len() + 1) % 64;
    header.extend(std::iter::repeat_n(' ', padding % 64));
    header.push('\n');
    let mut bytes = Vec::with_capacity(10 + header.len() + 8 * block.values().len());
    bytes.extend_from_slice(b"\x93NUMPY\x01\x00");
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    for value in block.values() {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::start_block;
    use crate::vocabulary::Seed;

    fn basis() -> Block {
        start_block(&Seed::from_u64(4), 7, 3).expect("7 rows")
    }

    fn read(bytes: &[u8]) -> Result<Block, String> {
        let basis = parse(bytes, bytes.len() as u64).and_then(|basis| {
            check_shape(&basis)?;
            check(&basis).map(|()| basis)
        });
        basis.map_err(|problem| problem.to_string())
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = npy(&basis());
        assert_eq!(read(&bytes), Ok(basis()));
        // The same in version 2.0, whose header length has four bytes.
        let mut second = b"\x93NUMPY\x02\x00".to_vec();
        second.extend_from_slice(&bytes[8..10]);
        second.extend_from_slice(&[0, 0]);
        second.extend_from_slice(&bytes[10..]);
        assert_eq!(read(&second), Ok(basis()));
    }

    #[test]
    fn what_is_no_basis_is_refused_and_says_why() {
        let good = npy(&basis());
        let edited = |from: &str, to: &str| {
            let header = String::from_utf8(good[10..128].to_vec()).expect("ASCII");
            assert!(header.contains(from));
            let mut bytes = good[..10].to_vec();
            let new = header.replacen(from, to, 1);
            bytes[8..10].copy_from_slice(&(new.len() as u16).to_le_bytes());
            bytes.extend_from_slice(new.as_bytes());
            bytes.extend_from_slice(&good[128..]);
            bytes
        };
        let twice = |i: usize, value: f64| {
            let mut block = basis();
            block.values_mut()[i] = value;
            npy(&block)
        };
        let cases: [(Vec<u8>, &str); 15] = [
            (Vec::new(), "no NumPy array"),
            (b"PK\x03\x04rest of it".to_vec(), "no NumPy array"),
            (b"\x93NUMPY\x03\x00\x10\x00\x00\x00".to_vec(), "version 3.0"),
            (b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(), "4,096"),
            (good[..60].to_vec(), "4,096"),
            (edited("'<f8'", "'>f8'"), "'<f8'"),
            (edited("'<f8'", "'<f4'"), "'<f8'"),
            (edited("False", "True"), "fortran_order False"),
            (edited("(7, 3)", "(21,)"), "two dimensions"),
            (edited("(7, 3)", "(-7, 3)"), "two dimensions"),
            (edited("(7, 3)", "(9999999999999999, 99999)"), "damaged"),
            (good[..good.len() - 1].to_vec(), "167"),
            ([&good[..], b"x"].concat(), "169"),
            (twice(4, f64::NAN), "row 1"),
            (twice(0, 2.0), "orthonormal"),
        ];
        for (bytes, word) in cases {
            let message = read(&bytes).expect_err(word);
            assert!(message.contains(word), "{word}: {message}");
        }
        assert!(
            read(&edited("(7, 3)", "(3, 7)"))
                .expect_err("wide")
                .contains("n >= p")
        );
    }

    #[test]
    fn the_array_file_has_numpys_layout() {
        let bytes = npy(&Block::from_values(
            2,
            3,
            vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.5],
        ));
        let header_len = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        assert_eq!((10 + header_len) % 64, 0);
        let header = std::str::from_utf8(&bytes[10..10 + header_len]).expect("ASCII");
        assert!(header.starts_with("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"));
        assert!(header.ends_with('\n'));
        assert_eq!(bytes.len(), 10 + header_len + 48);
        assert_eq!(&bytes[bytes.len() - 8..], 6.5_f64.to_le_bytes());
    }
}
