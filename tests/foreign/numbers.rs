//! Rows of numbers as pandas and numpy write them.

use undertone::data::{Column, Limits, MatrixFormat, MatrixOptions, read_matrix};

fn read(bytes: &[u8], format: MatrixFormat, drop: &[Column]) -> Result<usize, String> {
    let options = MatrixOptions {
        header: true,
        drop: drop.to_vec(),
    };
    let read = read_matrix(bytes, "r", format, &options, Limits::default());
    let columns = read.map(|loaded| loaded.interactions.items());
    columns.map_err(|error| error.to_string())
}

#[test]
fn the_numbers_of_rows_are_no_measurement() {
    let csv = MatrixFormat::MatrixCsv;
    let frame = b"\xef\xbb\xbf,a,b\r\n0,1.5,2\r\n1,2.5,3\r\n";
    let refused = read(frame, csv, &[]).expect_err("an index");
    assert!(
        refused.starts_with("r, line 1: column 1 has no name, as pandas writes an index"),
        "{refused}"
    );
    assert!(refused.contains("`data.drop = [1]`"), "{refused}");
    assert_eq!(read(frame, csv, &[Column::Number(1)]), Ok(2));
    assert_eq!(read(b"a,b\n1.5,2\n", csv, &[]), Ok(2));
}

#[test]
fn other_separators_and_types_are_refused_with_a_remedy() {
    let csv = MatrixFormat::MatrixCsv;
    for (text, separator) in [
        ("a\tb\n1\t2.5\n", "tabs"),
        ("a;b\n1;2.5\n", "semicolons"),
        ("a b\n1  2.5\n", "blanks"),
    ] {
        let refused = read(text.as_bytes(), csv, &[]).expect_err("no commas");
        let words = format!("r, line 2: the numbers stand between {separator}");
        assert!(refused.starts_with(&words), "{refused}");
    }
    let header = "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1), }";
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    array.extend([header.len() as u8, 0]);
    array.extend(header.as_bytes());
    array.extend(7_i64.to_le_bytes());
    let refused = read(&array, MatrixFormat::Npy, &[]).expect_err("whole numbers");
    assert!(refused.contains("x.astype('<f8')"), "{refused}");
}
