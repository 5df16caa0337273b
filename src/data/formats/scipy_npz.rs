//! A sparse matrix of ratings, users × items, as `scipy.sparse.save_npz` writes it: see [`SparseFile`].
//!
//! Users and items are the rows and columns that have entries. Their names are their numbers from 0, in ascending order, so that the layout of the archive
//! (`csr`, `csc` or `coo`) decides nothing. The value of an entry is a rating, and a zero that is stored is a rating of 0. Rows and columns without entries
//! are counted and left out: a file that claims 10⁹ users costs as much as the entries it holds.

use std::io::Read;

use super::{Format, Kept, Limits, Loaded, Ratings};
use crate::data::error::DataError;
use crate::data::source::{Lines, SourceReader, unpacked};
use crate::linalg::{SparseFile, SparseFileProblem};

pub(super) const NAME: &str = "scipy-npz";

/// Most bytes of an archive, and of the arrays in it: about 80 million ratings.
const MOST: u64 = 1 << 30;

/// Reads the matrix; see [`super::read`].
pub(super) fn read(
    reader: impl Read,
    source_name: &str,
    kept: Kept,
    limits: Limits,
) -> Result<Loaded, DataError> {
    let most = limits.bytes.min(MOST);
    let mut bytes = Vec::new();
    let SourceReader { reader, .. } = unpacked(reader, source_name)?;
    let outcome = reader.take(most + 1).read_to_end(&mut bytes);
    outcome.map_err(|error| DataError::ReadBytes {
        file: source_name.to_owned(),
        byte: bytes.len() as u64,
        kind: error.kind(),
    })?;
    let wrong = |problem| DataError::Sparse {
        file: source_name.to_owned(),
        problem: Box::new(problem),
    };
    if bytes.len() as u64 > most {
        let most = most as usize;
        return Err(wrong(SparseFileProblem::TooLarge { most }));
    }
    let read = SparseFile::read(&bytes, most as usize);
    let matrix = read.map_err(|problem| of_lines(&bytes, source_name, limits, wrong(problem)))?;
    let mut entries = matrix.entries;
    entries.sort_unstable_by_key(|&(row, column, _)| (row, column));
    let same = |pair: &&[(u32, u32, f64)]| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1);
    if let Some(pair) = entries.windows(2).find(same) {
        let (row, column, _) = pair[0];
        return Err(wrong(SparseFileProblem::Repeated { row, column }));
    }
    if entries.is_empty() {
        return Err(wrong(SparseFileProblem::Empty));
    }
    let mut columns: Vec<u32> = entries.iter().map(|&(_, column, _)| column).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut ratings = Ratings::new(kept, &limits);
    let on = |line: u64| {
        move |problem| DataError::Line {
            file: source_name.to_owned(),
            line,
            problem: Box::new(problem),
        }
    };
    for column in columns {
        ratings.item(&column.to_string()).map_err(on(1))?;
    }
    for (line, &(row, column, rating)) in (1..).zip(&entries) {
        let mut add = || {
            ratings.start_line(line)?;
            let user = ratings.user(&row.to_string())?;
            let item = ratings.item(&column.to_string())?;
            ratings.add(user, item, Some(rating))
        };
        add().map_err(on(line))?;
    }
    let absent = matrix.rows - ratings.user_count() + matrix.columns - ratings.item_count();
    ratings.set_declared_but_absent(absent as u64);
    let read = ratings.finish(entries.len() as u64);
    read.map_err(|(line, problem)| on(line)(problem))
}

/// The error of bytes that are no archive: if their first line is one of another format, that says so.
fn of_lines(bytes: &[u8], file: &str, limits: Limits, otherwise: DataError) -> DataError {
    let Ok(mut lines) = Lines::open(bytes, file, limits) else {
        return otherwise;
    };
    while let Ok(true) = lines.advance() {
        match lines.text() {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => {
                let other = Format::ScipyNpz.mistake(text);
                return other.map_or(otherwise, |problem| lines.error(problem));
            }
            Err(_) => return otherwise,
        }
    }
    otherwise
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    const TIGHT: Limits = Limits {
        bytes: 4096,
        line_bytes: 64,
        name_bytes: 12,
        users: 6,
        items: 6,
        ratings: 20,
    };

    fn array(kind: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ()}}");
        let length = [header.len() as u8, 0];
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
    }

    fn numbers(all: &[i64]) -> Vec<u8> {
        array(
            "<i8",
            &all.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>(),
        )
    }

    fn archive(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            let options = SimpleFileOptions::default();
            writer.start_file(*name, options).expect("into memory");
            writer.write_all(bytes).expect("into memory");
        }
        writer.finish().expect("into memory").into_inner()
    }

    /// A matrix of 3 x 4 with these rows, columns and values.
    fn coo(rows: &[i64], columns: &[i64], values: &[f64]) -> Vec<(&'static str, Vec<u8>)> {
        let values: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        vec![
            ("row.npy", numbers(rows)),
            ("col.npy", numbers(columns)),
            ("format.npy", array("|S3", b"coo")),
            ("shape.npy", numbers(&[3, 4])),
            ("data.npy", array("<f8", &values)),
        ]
    }

    fn refused(bytes: &[u8]) -> String {
        let read = read(bytes, "r.npz", Kept::Values, TIGHT);
        read.expect_err("refused").to_string()
    }

    #[test]
    fn a_matrix_is_its_entries_and_no_more() {
        let good = archive(&coo(&[2, 0, 2], &[3, 1, 1], &[4.0, 0.0, -1.5]));
        let read = read(&good[..], "r.npz", Kept::Above(-1.0), TIGHT).expect("good");
        assert_eq!(read.interactions.user_names(), ["0", "2"]);
        assert_eq!(read.interactions.item_names(), ["1", "3"]);
        assert_eq!(
            read.interactions.rows().collect::<Vec<_>>(),
            [&[0][..], &[1]]
        );
        let counts = read.counts;
        assert_eq!((counts.ratings, counts.at_or_below_threshold), (3, 1));
        assert_eq!(counts.declared_but_absent, 1 + 2);
    }

    #[test]
    fn damaged_and_hostile_archives_are_refused() {
        let good = archive(&coo(&[2, 0, 2], &[3, 1, 1], &[4.0, 0.0, -1.5]));
        for end in 0..good.len() {
            assert!(refused(&good[..end]).starts_with("r.npz"), "{end}");
        }
        let mut turned = good.clone();
        for at in 0..good.len() {
            turned[at] ^= 0xFF;
            if let Err(error) = read(&turned[..], "r.npz", Kept::Values, TIGHT) {
                assert!(error.to_string().len() < 500, "{at}: {error}");
            }
            turned[at] ^= 0xFF;
        }
        let nested = archive(&[("inner.npz", good.clone())]);
        assert!(refused(&nested).contains("there is no array `format.npy` in it"));
        // Bit 0 of the flags, at byte 6 of a file's header and at byte 8 of its entry in the directory, means encrypted.
        let mut locked = good.clone();
        for at in 0..good.len() - 4 {
            match &good[at..at + 4] {
                b"PK\x03\x04" => locked[at + 6] |= 1,
                b"PK\x01\x02" => locked[at + 8] |= 1,
                _ => {}
            }
        }
        let words = refused(&locked);
        assert!(
            words.contains("Password") && words.contains("scipy.sparse.save_npz"),
            "{words}"
        );
        let mut bomb = coo(&[2], &[3], &[4.0]);
        bomb[4].1 = array("<f8", &[0; 1 << 20]);
        let bomb = archive(&bomb);
        assert!(bomb.len() < 4096, "{}", bomb.len());
        assert!(refused(&bomb).contains("more than 4096 bytes of arrays"));
        for (rows, columns, values, words) in [
            (
                &[0, 0][..],
                &[1, 1][..],
                &[1.0, 2.0][..],
                "row 0, column 1 has two entries",
            ),
            (
                &[0],
                &[1],
                &[f64::INFINITY],
                "row 0, column 1: the value is not finite",
            ),
            (&[3], &[1], &[1.0], "entry 0 is not in a matrix of 3 x 4"),
            (&[-1], &[1], &[1.0], "entry 0 is not in a matrix of 3 x 4"),
            (&[0, 1], &[1], &[1.0], "its arrays differ in length"),
            (&[], &[], &[], "the matrix has no entries"),
        ] {
            let found = refused(&archive(&coo(rows, columns, values)));
            assert!(found.contains(words), "{found}");
        }
    }

    #[test]
    fn pointers_that_claim_more_than_there_is_are_refused() {
        for pointers in [[0, 1, 1, 1 << 40], [0, 1, 0, 1], [0, 1, 1, 2]] {
            let mut files = coo(&[], &[], &[4.0]);
            files[0] = ("indptr.npy", numbers(&pointers));
            files[1] = ("indices.npy", numbers(&[3]));
            files[2].1 = array("|S3", b"csr");
            let found = refused(&archive(&files));
            assert!(
                found.contains("its numbers go back, or do not end with all entries"),
                "{found}"
            );
        }
    }
}
