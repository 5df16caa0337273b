//! Sparse matrices of ratings, as scipy saves them.

use undertone::data::{
    FileFormat, Format, MatrixFormat, MatrixOptions, OwnFile, OwnFileOptions, TableOptions, load,
    load_matrix, load_table, load_values,
};

use crate::support::repository;

/// Users, items and ratings of an archive, or words of its refusal.
type Expected = Result<(usize, usize, u64), &'static str>;

/// The archives that `write_ratings.py` has written.
pub(super) const ARCHIVES: [(&str, Expected); 8] = [
    ("scipy_csr.npz", Ok((4, 5, 8))),
    ("scipy_csc.npz", Ok((4, 5, 8))),
    ("scipy_coo.npz", Ok((4, 5, 8))),
    ("scipy_zero.npz", Ok((4, 5, 9))),
    (
        "scipy_twice.npz",
        Err("row 2, column 2 has two entries: keep one, or add them up"),
    ),
    (
        "scipy_nan.npz",
        Err("row 0, column 0: the value is not finite; correct it"),
    ),
    (
        "scipy_cut.npz",
        Err("not an .npz archive, or a damaged one"),
    ),
    (
        "numpy_dense.npz",
        Err(
            "there is no array `format.npy` in it: save a sparse matrix with scipy.sparse.save_npz",
        ),
    ),
];

#[test]
fn sparse_matrices_are_read_or_refused_with_a_remedy() {
    for (name, expected) in &ARCHIVES {
        let path = repository("tests/foreign/ratings").join(name);
        match (expected, load_values(&path, Format::ScipyNpz)) {
            (Ok(sizes), Ok(loaded)) => {
                let read = &loaded.interactions;
                let found = (read.users(), read.items(), loaded.counts.ratings);
                assert_eq!(found, *sizes, "{name}");
                let users: Vec<&str> = (0..4).map(|user| read.user_name(user)).collect();
                let items: Vec<&str> = (0..5).map(|item| read.item_name(item)).collect();
                assert_eq!(users, ["0", "1", "2", "3"], "{name}");
                assert_eq!(items, ["0", "1", "2", "3", "4"], "{name}");
                assert_eq!(loaded.counts.declared_but_absent, 2, "{name}");
                let values = loaded.values.as_ref().expect("all ratings");
                assert_eq!(values.row(0), (&[0, 4][..], &[5.0, 1.0][..]), "{name}");
                // A zero that is stored is a rating, and no interaction.
                let above = load(&path, Format::ScipyNpz, 0.0).expect("as before");
                assert_eq!(above.interactions.len(), 8, "{name}");
            }
            (Err(words), Err(error)) => {
                let found = error.to_string();
                assert!(found.contains(words), "{name}: {found}");
            }
            (_, found) => panic!("{name}: {found:?}"),
        }
    }
}

#[test]
fn layouts_of_one_matrix_are_one_data_set() {
    let read = |name: &str| {
        let path = repository("tests/foreign/ratings").join(name);
        load_values(&path, Format::ScipyNpz).expect(name)
    };
    assert_eq!(read("scipy_csr.npz"), read("scipy_csc.npz"));
    assert_eq!(read("scipy_csr.npz"), read("scipy_coo.npz"));
}

#[test]
fn an_archive_with_another_format_is_told_its_own() {
    let path = repository("tests/foreign/ratings/scipy_csr.npz");
    let said = |error: undertone::data::DataError| error.to_string();
    let table = load_table(&path, &TableOptions::default(), None).map_err(said);
    let ratings = load(&path, Format::CsvTriples, 0.0).map_err(said);
    let numbers = load_matrix(&path, MatrixFormat::Npy, &MatrixOptions::default()).map_err(said);
    for words in [table, ratings, numbers].map(|read| read.expect_err("an archive")) {
        assert!(words.contains("the format is \"scipy-npz\""), "{words}");
    }
    let own = OwnFile::read(&path, OwnFileOptions::default()).expect("its first bytes say it");
    assert_eq!(own.format(), FileFormat::Ratings(Format::ScipyNpz));
    let text = repository("tests/foreign/ratings/pandas.csv");
    let words = load(&text, Format::ScipyNpz, 0.0)
        .map_err(said)
        .expect_err("text");
    assert!(words.contains("set format = \"movielens-csv\""), "{words}");
}
