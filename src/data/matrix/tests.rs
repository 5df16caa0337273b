//! Both formats read the same numbers, and whatever is no matrix is refused with its place.

use super::*;
use crate::data::matrix_problem::ArrayProblem;
use crate::data::tests::gzip;

/// The bytes of an array file with this header and these numbers.
pub(super) fn npy(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    let length = header.len() as u32;
    match version {
        1 => bytes.extend((length as u16).to_le_bytes()),
        _ => bytes.extend(length.to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn header(descr: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}          \n")
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn read(bytes: &[u8], format: MatrixFormat, options: &MatrixOptions) -> Result<Loaded, DataError> {
    read_matrix(bytes, "memory", format, options, Limits::default())
}

fn rows(loaded: &Loaded) -> Vec<Vec<f64>> {
    let values = loaded.values.as_ref().expect("a matrix");
    (0..values.len())
        .map(|i| values.row(i).1.to_vec())
        .collect()
}

fn refused(bytes: &[u8], format: MatrixFormat) -> String {
    let error = read(bytes, format, &MatrixOptions::default()).expect_err("no matrix");
    error.to_string()
}

#[test]
fn every_layout_of_the_same_numbers_reads_the_same() {
    let expected = [vec![1.0, -2.5, 0.0], vec![4.0, 5.0, 1e-3]];
    let flat: Vec<f64> = expected.concat();
    let across: Vec<f64> = (0..3).flat_map(|j| [flat[j], flat[3 + j]]).collect();
    let single: Vec<u8> = flat
        .iter()
        .flat_map(|x| (*x as f32).to_le_bytes())
        .collect();
    let csv = b"1,-2.5,0\r\n\n 4 , 5.0,1e-3\n".to_vec();
    let files = [
        (MatrixFormat::MatrixCsv, csv),
        (
            MatrixFormat::Npy,
            npy(1, &header("<f8", "False", "(2, 3)"), &doubles(&flat)),
        ),
        (
            MatrixFormat::Npy,
            npy(2, &header("<f8", "True", "(2, 3)"), &doubles(&across)),
        ),
        (
            MatrixFormat::Npy,
            npy(
                3,
                "{\"shape\":(2,3,),'fortran_order':False,'descr':\"<f4\"}",
                &single,
            ),
        ),
    ];
    for (format, bytes) in files {
        for bytes in [gzip(&bytes), bytes] {
            let loaded = read(&bytes, format, &MatrixOptions::default()).expect("a matrix");
            for (found, expected) in rows(&loaded).concat().iter().zip(&flat) {
                assert!(
                    (found - expected).abs() <= 1e-10,
                    "{format}: {found} {expected}"
                );
            }
            let names = &loaded.interactions;
            assert_eq!((names.users(), names.items(), names.len()), (2, 3, 0));
            assert_eq!((names.user_name(1), names.item_name(2)), ("2", "3"));
        }
    }
}

#[test]
fn columns_are_named_and_left_out() {
    let options = MatrixOptions {
        header: true,
        drop: vec![Column::Last, Column::Number(1)],
    };
    let of = |text: &str| read(text.as_bytes(), MatrixFormat::MatrixCsv, &options).expect("rows");
    let named = of("id,\"a, b\",c,label\n1,2,3,4\n");
    assert_eq!(rows(&named), [[2.0, 3.0]]);
    assert_eq!(named.interactions.item_name(0), "a, b");
    // A header of other fields than the rows, or with a name twice, names nothing.
    for header in ["569,30,malignant", "a,b,b,c"] {
        let numbered = of(&format!("{header}\n1,2,3,4\n"));
        assert_eq!(numbered.interactions.item_name(1), "3", "{header}");
    }
    let drop = |column| MatrixOptions {
        header: false,
        drop: vec![column],
    };
    for (bytes, format) in [
        (b"1\n".to_vec(), MatrixFormat::MatrixCsv),
        (
            npy(1, &header("<f8", "False", "(1, 1)"), &doubles(&[1.0])),
            MatrixFormat::Npy,
        ),
    ] {
        let gone = read(&bytes, format, &drop(Column::Last)).expect_err("nothing left");
        assert!(gone.to_string().contains("leaves none of the 1"), "{gone}");
        let none = read(&bytes, format, &drop(Column::Number(2))).expect_err("not there");
        assert!(none.to_string().contains("names column 2"), "{none}");
    }
}

#[test]
fn an_empty_slot_is_a_row_without_entries_and_not_a_row_of_zeros() {
    let loaded = read(
        b"1,2\n , \n0,0\n",
        MatrixFormat::MatrixCsv,
        &MatrixOptions::default(),
    );
    assert_eq!(
        rows(&loaded.expect("rows")),
        [vec![1.0, 2.0], vec![], vec![0.0, 0.0]]
    );
}

#[test]
fn a_line_that_is_no_row_is_named() {
    for (text, words) in [
        ("1,2\n3\n", "line 2: found 1 columns, expected 2"),
        ("1,2\n3,4,5\n", "line 2: found 3 columns, expected 2"),
        ("1,2\n3,x\n", "line 2: column 2: found \"x\""),
        ("1,2\n\n3,nan\n", "line 3: column 2: found \"nan\""),
        ("1,inf\n", "line 1: column 2"),
        ("1,1e999\n", "line 1: column 2"),
        ("1,\n", "line 1: column 2 is empty"),
        ("a,b\n1,2\n", "line 1: column 1: found \"a\""),
        ("\n \n", "no ratings in its 2 lines"),
        ("", "format matrix-csv"),
        ("1,2\n3,\u{feff}4\n", "line 2"),
    ] {
        let message = refused(text.as_bytes(), MatrixFormat::MatrixCsv);
        assert!(message.contains(words), "{text:?}: {message}");
    }
    assert!(refused(b"1,2\n\xff,1\n", MatrixFormat::MatrixCsv).contains("line 2"));
}

#[test]
fn a_byte_that_is_no_array_is_named_before_anything_is_held() {
    let one = |text: &str| npy(1, text, &[]);
    let good = header("<f8", "False", "(2, 1)");
    let data = doubles(&[1.0, f64::NAN]);
    let long = npy(1, &good, &doubles(&[1.0, 2.0, 3.0]));
    let end = 10 + good.len();
    let mut huge = b"\x93NUMPY\x02\x00".to_vec();
    huge.extend(u32::MAX.to_le_bytes());
    let cases: Vec<(Vec<u8>, String)> = vec![
        (b"PAR1".to_vec(), "byte 0: this is no NumPy".to_owned()),
        (Vec::new(), "byte 0: this is no NumPy".to_owned()),
        (
            b"\x93NUMPY".to_vec(),
            "2 bytes before its version".to_owned(),
        ),
        (
            b"\x93NUMPY\x04\x00".to_vec(),
            "byte 8: found format version 4.0".to_owned(),
        ),
        (
            b"\x93NUMPY\x01\x00\x00".to_vec(),
            "1 bytes before its header length".to_owned(),
        ),
        (
            huge,
            "byte 12: the header says it takes 4294967295 bytes".to_owned(),
        ),
        (
            npy(1, &good, &[])[..40].to_vec(),
            "before its header does".to_owned(),
        ),
        (
            one(&header("<i8", "False", "(2, 1)")),
            "type \"<i8\"".to_owned(),
        ),
        (
            one(&header(">f8", "False", "(2, 1)")),
            "type \">f8\"".to_owned(),
        ),
        (
            one("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}"),
            "several fields".to_owned(),
        ),
        (
            one(&header("<f8", "Maybe", "(2, 1)")),
            "True or False".to_owned(),
        ),
        (
            one(&header("<f8", "False", "(2,)")),
            "1 dimensions".to_owned(),
        ),
        (
            one(&header("<f8", "False", "(2, 1, 1)")),
            "3 dimensions".to_owned(),
        ),
        (
            one(&header("<f8", "False", "(-2, 1)")),
            "whole numbers".to_owned(),
        ),
        (
            one(&header("<f8", "False", "(0, 4)")),
            "0 x 4 matrix holds no number".to_owned(),
        ),
        (
            one(&header("<f8", "False", "(9223372036854775808, 1)")),
            "more than 50000000 rows".to_owned(),
        ),
        (
            one(&header("<f8", "False", "(4294967296, 4294967296)")),
            "more than 50000000 rows".to_owned(),
        ),
        (
            one(&header("<f8", "False", "(99999999999999999999, 1)")),
            "whole numbers".to_owned(),
        ),
        (
            one(&header("<f8", "False", "(40000000, 40000000)")),
            "more than 500000000 numbers".to_owned(),
        ),
        (
            one(&header("<f8", "False", "(20000000, 20)")),
            "the file ends here, 3200000000 bytes before its data".to_owned(),
        ),
        (
            one("{'descr': '<f8', 'fortran_order': False}"),
            "each once".to_owned(),
        ),
        (
            one("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 1)}"),
            "each once".to_owned(),
        ),
        (
            one("not a dictionary"),
            "byte 10: the header does not say".to_owned(),
        ),
        (
            npy(1, &good, &data),
            format!("byte {}: row 2, column 1 is not finite", end + 8),
        ),
        (
            npy(1, &good, &data[..12]),
            format!(
                "byte {}: the file ends here, 4 bytes before its data",
                end + 12
            ),
        ),
        (
            long,
            format!("byte {}: the data ends here and the file goes on", end + 16),
        ),
    ];
    for (bytes, words) in cases {
        let message = refused(&bytes, MatrixFormat::Npy);
        assert!(message.contains(&words), "{words}: {message}");
    }
}

#[test]
fn what_is_read_is_limited_by_rows_columns_and_numbers() {
    let limits = |users, items, ratings| Limits {
        users,
        items,
        ratings,
        ..Limits::default()
    };
    let shape = npy(1, &header("<f8", "False", "(2, 2)"), &doubles(&[1.0; 4]));
    let files = [
        (MatrixFormat::MatrixCsv, b"1,2\n3,4\n".to_vec()),
        (MatrixFormat::Npy, shape),
    ];
    for (format, bytes) in files {
        let read =
            |limits| read_matrix(&*bytes, "memory", format, &MatrixOptions::default(), limits);
        assert!(read(limits(2, 2, 4)).is_ok(), "{format}");
        for (limits, what) in [
            (limits(1, 2, 4), "rows"),
            (limits(2, 1, 4), "columns"),
            (limits(2, 2, 3), "numbers"),
        ] {
            let message = read(limits).expect_err("too much").to_string();
            assert!(message.contains(what), "{format}: {message}");
        }
    }
}

#[test]
fn public_ranges_clip_and_map_every_number() {
    let mut values = SparseRows::new(2);
    values.push_row([(0, -3.0), (1, 12.0)]).expect("valid");
    values.push_row([]).expect("empty");
    values.push_row([(0, 5.0), (1, 99.0)]).expect("valid");
    let prepared = |ranges: &[(f64, f64)], limit| {
        Preparation::new(ranges.to_vec(), (0.0, 1.0), limit, 2).map(|preparation| {
            assert_eq!(preparation.is_unit_box(), !ranges.is_empty());
            preparation.rows(&values).expect("short rows")
        })
    };
    let found = prepared(&[(0.0, 10.0), (10.0, 20.0)], None).expect("valid");
    assert_eq!(found.row(0).1, [0.0, 0.2]);
    assert!(found.row(1).1.is_empty());
    assert_eq!(found.row(2).1, [0.5, 1.0]);
    assert_eq!(
        prepared(&[(0.0, 10.0)], None).expect("valid").row(0).1,
        [0.0, 1.0]
    );
    assert_eq!(prepared(&[], None).expect("valid"), values);
    for bad in [
        &[(1.0, 1.0)][..],
        &[(0.0, f64::NAN)],
        &[(2.0, 1.0)],
        &[(-f64::MAX, f64::MAX)],
        &[(0.0, 1.0); 3],
    ] {
        assert!(prepared(bad, None).is_err(), "{bad:?}");
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(prepared(&[], Some(bad)).is_err(), "{bad}");
    }
    let limited = Preparation::new(Vec::new(), (0.0, 1.0), Some(50.0), 2).expect("valid");
    let error = limited.rows(&values).expect_err("99 is longer");
    assert_eq!(
        error,
        DataError::LongRow {
            row: 3,
            limit: 50.0
        }
    );
}

#[test]
fn centring_fills_every_column_of_a_row_that_is_there() {
    let mut values = SparseRows::new(3);
    values.push_row([(1, 2.0)]).expect("valid");
    values.push_row([]).expect("empty");
    let found = centred(&values, &[0.5, 0.5, -1.0]);
    assert_eq!(found.row(0), (&[0, 1, 2][..], &[-0.5, 1.5, 1.0][..]));
    assert!(found.row(1).0.is_empty());
}

#[test]
fn generated_matrices_have_the_spectrum_of_their_family() {
    let family = Generated::LowerBound {
        size: 40,
        coherence: 4,
        seed: 3,
    };
    let values = family.load().expect("valid").values.expect("numbers");
    let top = crate::linalg::top_eigenvectors(&values, 1).expect("converges");
    // σ₁ = n/√(2C).
    assert!((top.values[0].sqrt() - 40.0 / 8.0_f64.sqrt()).abs() < 1e-9);
    let spiked = Generated::Spiked {
        rows: 4000,
        columns: 20,
        strengths: vec![2.0, 1.0],
        noise: 0.1,
        seed: 3,
    };
    let values = spiked.load().expect("valid").values.expect("numbers");
    let top = crate::linalg::top_eigenvectors(&values, 3).expect("converges");
    // Sample eigenvalues of 4,000 rows are within 15 % of λ² + σ² but for a probability below 1e-10 (relative sd √(2/4000) = 0.022).
    for (found, expected) in top.values.iter().zip([4.01, 1.01, 0.01]) {
        let ratio = found / 4000.0 / expected;
        assert!((0.8..1.25).contains(&ratio), "{ratio}");
    }
    for bad in [
        Generated::LowerBound {
            size: 40,
            coherence: 3,
            seed: 1,
        },
        Generated::LowerBound {
            size: 0,
            coherence: 1,
            seed: 1,
        },
        Generated::Spiked {
            rows: 2,
            columns: 1,
            strengths: vec![1.0, 1.0],
            noise: 0.0,
            seed: 1,
        },
        Generated::Spiked {
            rows: 2,
            columns: 2,
            strengths: vec![f64::NAN],
            noise: 0.0,
            seed: 1,
        },
        Generated::Spiked {
            rows: usize::MAX,
            columns: 2,
            strengths: vec![],
            noise: 0.0,
            seed: 1,
        },
    ] {
        assert!(bad.load().is_err(), "{bad:?}");
    }
}

#[test]
fn an_array_problem_says_what_to_do() {
    let text = ArrayProblem::Trailing.to_string();
    assert!(text.contains("fetch or copy it again"), "{text}");
}

#[test]
fn columns_may_be_left_out_after_reading() {
    let text = "a,b,c,d\n1,2,3,4\n,,,\n5,6,7,8\n";
    let with = |drop: Vec<Column>| {
        let options = MatrixOptions { header: true, drop };
        let limits = Limits::default();
        read_matrix(
            text.as_bytes(),
            "x",
            MatrixFormat::MatrixCsv,
            &options,
            limits,
        )
    };
    let all = with(Vec::new()).expect("valid");
    for drop in [
        vec![],
        vec![Column::Last],
        vec![Column::Number(1), Column::Number(3)],
    ] {
        let after = all.without_columns(&drop).expect("there");
        assert_eq!(after, with(drop).expect("valid"));
    }
    for drop in [
        vec![Column::Number(5)],
        (1..=4).map(Column::Number).collect(),
    ] {
        assert!(all.without_columns(&drop).is_err(), "{drop:?}");
    }
}
