//! Random damage to good files: every reader ends with rows within its limits, or with an error that names the file.

use rand::{Rng, RngExt};
use rayon::prelude::*;

use super::tests::npy;
use super::*;
use crate::vocabulary::{Label, Seed};

/// Files that are read.
fn good() -> Vec<(MatrixFormat, Vec<u8>)> {
    let numbers: Vec<u8> = (0..12).flat_map(|x| f64::from(x).to_le_bytes()).collect();
    let header = |order: &str| {
        format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': (4, 3), }}      \n")
    };
    vec![
        (
            MatrixFormat::MatrixCsv,
            b"a,b,c\n1,2.5,-3\n4e2,5,6\n,,\n7,8,9\n".to_vec(),
        ),
        (MatrixFormat::MatrixCsv, b"0.5,1\r\n1,0\r\n".to_vec()),
        (MatrixFormat::Npy, npy(1, &header("False"), &numbers)),
        (MatrixFormat::Npy, npy(2, &header("True"), &numbers)),
        (
            MatrixFormat::Npy,
            npy(
                3,
                "{'descr':'<f4','fortran_order':False,'shape':(6,4)}",
                &numbers,
            ),
        ),
    ]
}

/// Pieces that matter somewhere.
const PIECES: [&[u8]; 16] = [
    b",",
    b"\n",
    b"nan",
    b"1e999",
    b"-",
    b"\"",
    b"'",
    b"(",
    b")",
    b"{",
    b"18446744073709551615",
    b"<f8",
    b"True",
    b"\xff\xff\xff\xff",
    b"\x1f\x8b",
    b"PK\x03\x04",
];

fn damaged(mut bytes: Vec<u8>, rng: &mut impl Rng) -> Vec<u8> {
    for _ in 0..rng.random_range(1..5) {
        let at = rng.random_range(0..=bytes.len());
        match rng.random_range(0..6) {
            0 if at < bytes.len() => bytes[at] = rng.random(),
            1 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
            2 => bytes.truncate(at),
            3 => {
                let to = rng.random_range(at..=bytes.len());
                bytes.drain(at..to);
            }
            4 => {
                let from = rng.random_range(0..=at);
                let copied = bytes[from..at].to_vec();
                bytes.splice(at..at, copied);
            }
            _ => {
                let piece = PIECES[rng.random_range(0..PIECES.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
        }
    }
    bytes
}

/// Reads so many damaged files; how many of them were refused.
fn survive(count: usize, seed: u64) -> usize {
    let mut rng = Seed::from_u64(seed).generator(Label::Scenario);
    let files = good();
    let limits = Limits {
        users: 40,
        items: 20,
        ratings: 200,
        bytes: 10_000,
        line_bytes: 400,
        name_bytes: 40,
    };
    let mut refused = 0;
    for number in 0..count {
        let (format, bytes) = &files[number % files.len()];
        let bytes = damaged(bytes.clone(), &mut rng);
        let options = MatrixOptions {
            header: number % 3 == 0,
            drop: match number % 7 {
                0 => vec![Column::Last],
                1 => vec![Column::Number(2)],
                _ => Vec::new(),
            },
        };
        match read_matrix(&*bytes, "fuzzed", *format, &options, limits) {
            Ok(loaded) => {
                let values = loaded.values.expect("numbers");
                assert!(values.len() <= limits.users && values.dimension() <= limits.items);
                assert!(values.entries() <= limits.ratings && !values.is_empty());
                assert_eq!(loaded.interactions.users(), values.len());
                assert_eq!(loaded.interactions.items(), values.dimension());
                for i in 0..values.len() {
                    let (columns, numbers) = values.row(i);
                    assert!(numbers.iter().all(|x| x.is_finite()));
                    assert!(columns.is_empty() || columns.len() == values.dimension());
                }
            }
            Err(error) => {
                refused += 1;
                assert!(error.to_string().starts_with("fuzzed"), "{error}");
            }
        }
    }
    refused
}

/// The same in parts side by side, each with damage of its own.
fn survive_parts(parts: u64) -> usize {
    (0..parts)
        .into_par_iter()
        .map(|part| survive(PART, part))
        .sum()
}

/// Files of a part.
const PART: usize = 10_000;

#[test]
fn a_million_damaged_files_are_read_or_refused() {
    let refused = survive_parts(100);
    // Not all damage is noticed, and not all of it destroys: otherwise nothing was tried.
    assert!((200_000..950_000).contains(&refused), "{refused}");
}

#[test]
#[ignore = "minutes: cargo test --release --lib -- --ignored damaged_files"]
fn a_hundred_million_damaged_files_are_read_or_refused() {
    let refused = survive_parts(10_000);
    assert!((20_000_000..95_000_000).contains(&refused), "{refused}");
}
