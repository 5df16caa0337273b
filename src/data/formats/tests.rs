//! Every format: a good sample, and each way a line can be wrong, with its line number.

use super::*;
use crate::data::Interactions;

/// (format, a small good file, users, items as named, rows)
pub(super) type Sample = (
    Format,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static [u32]],
);

fn read_text(format: Format, text: &str) -> Result<Loaded, DataError> {
    read(text.as_bytes(), "sample", format, 0.0, Limits::default())
}

/// The formats of text: all but archives.
fn of_lines() -> impl Iterator<Item = Format> {
    let all = Format::all().iter().copied();
    all.filter(|format| *format != Format::ScipyNpz)
}

fn rows(data: &Interactions) -> Vec<&[u32]> {
    data.rows().collect()
}

/// The problem and line of the error that `text` must give.
#[track_caller]
fn problem(format: Format, text: &str) -> (u64, Problem) {
    match read_text(format, text) {
        Err(DataError::Line {
            line,
            problem,
            file,
        }) => {
            assert_eq!(file, "sample");
            (line, *problem)
        }
        other => panic!("expected an error on a line of {text:?}, got {other:?}"),
    }
}

macro_rules! refused {
    ($format:expr, $text:expr, $line:expr, $pattern:pat) => {
        let (line, problem) = problem($format, $text);
        assert!(matches!(problem, $pattern), "{problem}");
        assert_eq!(line, $line, "{problem}");
    };
}

#[test]
fn a_good_sample_of_every_format_is_read() {
    assert!(SAMPLES.iter().map(|sample| sample.0).eq(of_lines()));
    for &(format, text, users, items, expected) in SAMPLES {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let loaded = read_text(format, &text).unwrap_or_else(|error| panic!("{error}"));
            let data = &loaded.interactions;
            assert_eq!(data.user_names(), users, "{format}");
            assert_eq!(data.item_names(), items, "{format}");
            assert_eq!(rows(data), expected, "{format}");
            let counts = loaded.counts;
            assert_eq!(
                counts.ratings,
                data.len() as u64 + counts.at_or_below_threshold
            );
            assert_eq!(counts.lines, text.lines().count() as u64);
        }
    }
}

#[test]
fn what_is_not_an_interaction_is_counted() {
    let counts = |format| {
        let sample = SAMPLES.iter().find(|sample| sample.0 == format);
        read_text(format, sample.expect("a sample").1)
            .expect("good")
            .counts
    };
    let jester = counts(Format::Jester);
    assert_eq!((jester.ratings, jester.at_or_below_threshold), (7, 3));
    assert_eq!(jester.users_without_interactions, 1);
    assert_eq!(jester.items_without_interactions, 1);
    assert_eq!(counts(Format::CsvTriples).without_value, 1);
    assert_eq!(counts(Format::Lightgcn).without_value, 4);
    let market = counts(Format::MatrixMarket);
    assert_eq!((market.lines, market.skipped_lines), (6, 1));
    assert_eq!(market.declared_but_absent, 1 + 7);
    assert_eq!(market.items_without_interactions, 1);
}

#[test]
fn the_threshold_is_strict() {
    let text = SAMPLES[0].1;
    let length = |threshold| {
        read(
            text.as_bytes(),
            "sample",
            Format::MovielensCsv,
            threshold,
            Limits::default(),
        )
        .map(|loaded| loaded.interactions.len())
    };
    assert_eq!(length(0.0), Ok(3));
    assert_eq!(length(2.5), Ok(1));
    assert_eq!(length(3.0), Ok(0));
    for threshold in [f64::NAN, f64::INFINITY] {
        assert!(matches!(
            length(threshold),
            Err(DataError::Threshold { .. })
        ));
    }
}

#[test]
fn blank_lines_are_skipped_and_counted() {
    for &(format, text, _, _, expected) in SAMPLES {
        let spaced = format!("\n{}\n  \n", text.replace('\n', "\n\n"));
        let loaded = read_text(format, &spaced).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(rows(&loaded.interactions), expected, "{format}");
        let plain = read_text(format, text).expect("good").counts;
        assert_eq!(
            loaded.counts.lines - loaded.counts.skipped_lines,
            plain.lines - plain.skipped_lines
        );
    }
}

#[test]
fn files_without_ratings_are_empty_in_every_format() {
    for format in of_lines() {
        for text in ["", "\n\n"] {
            assert_eq!(
                read_text(format, text),
                Err(DataError::Empty {
                    file: "sample".to_owned(),
                    lines: text.len() as u64,
                    format: format.name(),
                })
            );
        }
    }
    for (format, header) in [
        (Format::MovielensCsv, "userId,movieId,rating,timestamp\n"),
        (Format::CsvTriples, "user,item\n"),
        (
            Format::MatrixMarket,
            "%%MatrixMarket matrix coordinate pattern general\n",
        ),
    ] {
        assert!(matches!(
            read_text(format, header),
            Err(DataError::Empty { lines: 1, .. })
        ));
    }
}

#[test]
fn a_file_of_another_format_is_named_for_every_pair_of_formats() {
    for &(actual, text, ..) in SAMPLES {
        for &declared in Format::all() {
            // These are tables, too.
            let is_table = [
                Format::MovielensCsv,
                Format::CsvTriples,
                Format::Jester,
                Format::Eachmovie,
            ];
            if declared == actual || declared == Format::Table && is_table.contains(&actual) {
                continue;
            }
            let (line, problem) = problem(declared, text);
            assert_eq!(line, 1);
            assert!(
                matches!(problem, Problem::WrongFormat { looks_like, .. } if looks_like == actual.name()),
                "{actual} as {declared}: {problem}"
            );
        }
    }
}

#[test]
fn a_message_names_file_line_finding_expectation_and_remedy() {
    let error = read_text(Format::MovielensCsv, SAMPLES[1].1).expect_err("wrong format");
    assert_eq!(
        error.to_string(),
        "sample, line 1: found \"9::31::2.5::126\", which looks like format movielens-dat, \
         not movielens-csv; set format = \"movielens-dat\" or give another file"
    );
    let error = read_text(Format::Lightgcn, "0 1 2\n1 2 x\n").expect_err("not a number");
    assert_eq!(
        error.to_string(),
        "sample, line 2: found \"x\" as item, expected an integer of digits only, \
         at most 64 bits; correct or remove the line"
    );
}

#[test]
fn malformed_movielens_lines_are_refused() {
    let header = "userId,movieId,rating,timestamp\n1,2,3,4\n";
    let (format, dat) = (Format::MovielensCsv, Format::MovielensDat);
    let csv = |line: &str| format!("{header}{line}\n");
    let both = |line: &str| {
        let with_colons = line.replace(',', "::");
        let in_csv = problem(format, &csv(line));
        let in_dat = problem(dat, &format!("\n1::2::3::4\n{with_colons}\n"));
        assert_eq!(in_csv, in_dat);
        assert_eq!(in_csv.0, 3);
        in_csv.1
    };
    for (short, fields) in [("1", 1), ("1,3", 2), ("1,3,4.0", 3)] {
        let problem = both(short);
        assert!(
            matches!(problem, Problem::TooFewFields { found, .. } if found == fields),
            "{problem}"
        );
    }
    assert!(matches!(
        both("1,3,4,5,6"),
        Problem::TooManyFields { found: 5, .. }
    ));
    assert!(matches!(
        both("1,3,four,5"),
        Problem::NotANumber { what: "rating", .. }
    ));
    assert!(matches!(
        both("1,3,,5"),
        Problem::NotANumber { what: "rating", .. }
    ));
    assert!(matches!(
        both("1,3,4,noon"),
        Problem::NotANumber {
            what: "timestamp",
            ..
        }
    ));
    assert!(matches!(both("1,3,NaN,5"), Problem::NotFinite { .. }));
    assert!(matches!(both("1,3,-inf,5"), Problem::NotFinite { .. }));
    assert_eq!(both(",3,4,5"), Problem::EmptyId { what: "user" });
    assert_eq!(both("1,,4,5"), Problem::EmptyId { what: "item" });
    assert!(matches!(
        both("1,2,4,5"),
        Problem::RepeatedPair { first: 2, .. }
    ));
    refused!(format, &csv("\"1,2,3,4"), 3, Problem::OpenQuote);
    refused!(format, "user,movie\n1,2\n", 1, Problem::WrongFormat { .. });
    refused!(format, "1,2,3.0,4\n", 1, Problem::Header { .. });
}

#[test]
fn malformed_lightgcn_lines_are_refused() {
    let format = Format::Lightgcn;
    refused!(format, "0 1\n1\n", 2, Problem::EmptyUser { .. });
    refused!(format, "0 1\n1 2 -3\n", 2, Problem::NotANumber { .. });
    refused!(format, "0 1\n1 2.0\n", 2, Problem::NotANumber { .. });
    refused!(format, "0 1\nanna 2\n", 2, Problem::NotANumber { .. });
    refused!(
        format,
        "0 99999999999999999999\n",
        1,
        Problem::NotANumber { .. }
    );
    refused!(
        format,
        "0 1\n\n3 1 2 1\n",
        3,
        Problem::RepeatedPair { first: 3, .. }
    );
    refused!(
        format,
        "0 1\n3 4\n0 2\n",
        3,
        Problem::RepeatedUser { first: 1, .. }
    );
}

#[test]
fn malformed_eachmovie_lines_are_refused() {
    let format = Format::Eachmovie;
    let with = |line: &str| format!("1 2 0.4 1 5/3/96\n{line}\n");
    for (short, fields) in [("1", 1), ("1 3", 2), ("1\t3\t0.4", 3)] {
        let (line, problem) = problem(format, &with(short));
        assert!(
            matches!(problem, Problem::TooFewFields { found, .. } if found == fields),
            "{problem}"
        );
        assert_eq!(line, 2);
    }
    for (line, wrong) in [
        ("x 3 0.4 1", "person"),
        ("1 -3 0.4 1", "movie"),
        ("1 3 good 1", "score"),
        ("1 3 0.4 sure", "weight"),
    ] {
        let (_, problem) = problem(format, &with(line));
        assert!(
            matches!(problem, Problem::NotANumber { what, .. } if what == wrong),
            "{problem}"
        );
    }
    for outside in ["1 3 1.2 1", "1 3 -0.2 1", "1 3 0.4 5"] {
        refused!(format, &with(outside), 2, Problem::RatingOutOfRange { .. });
    }
    refused!(format, &with("1 3 NaN 1"), 2, Problem::NotFinite { .. });
    refused!(format, &with("1 3 0.4 inf"), 2, Problem::NotFinite { .. });
    refused!(
        format,
        &with("1 2 0.8 1"),
        2,
        Problem::RepeatedPair { first: 1, .. }
    );
}

#[test]
fn malformed_jester_lines_are_refused() {
    let format = Format::Jester;
    let good = "2,1,2,99\n";
    let with = |line: &str| format!("{good}{line}\n");
    refused!(
        format,
        &with("2,1,2"),
        2,
        Problem::ColumnCount {
            found: 3,
            expected: 4
        }
    );
    refused!(
        format,
        &with("3,1,2,3,4"),
        2,
        Problem::ColumnCount { found: 5, .. }
    );
    refused!(
        format,
        &with("2,1,x,99"),
        2,
        Problem::NotANumber { what: "rating", .. }
    );
    refused!(
        format,
        &with("2,1,,99"),
        2,
        Problem::NotANumber { what: "rating", .. }
    );
    refused!(format, &with("2.5,1,2,99"), 2, Problem::NotANumber { .. });
    refused!(format, &with("2,1,nan,99"), 2, Problem::NotFinite { .. });
    for off_scale in ["10.01", "-10.01", "98.9", "100"] {
        let line = format!("2,1,{off_scale},99");
        refused!(format, &with(&line), 2, Problem::RatingOutOfRange { .. });
    }
    refused!(
        format,
        &with("3,1,2,99"),
        2,
        Problem::RatedCount {
            declared: 3,
            found: 2
        }
    );
    refused!(format, &with("0,99,99,99"), 2, Problem::EmptyUser { .. });
    refused!(format, "5\n", 1, Problem::TooFewFields { found: 1, .. });
}

#[test]
fn malformed_csv_triples_are_refused() {
    let format = Format::CsvTriples;
    let with = |line: &str| format!("user,item,rating\na,b,1\n{line}\n");
    refused!(
        format,
        &with("a"),
        3,
        Problem::TooFewFields { found: 1, .. }
    );
    refused!(
        format,
        &with("a,c,1,2"),
        3,
        Problem::TooManyFields { found: 4, .. }
    );
    refused!(
        format,
        "user,item\na,b\na,c,4\n",
        3,
        Problem::TooManyFields { found: 3, .. }
    );
    refused!(format, &with("a,c,"), 3, Problem::NotANumber { .. });
    refused!(format, &with("a,c,good"), 3, Problem::NotANumber { .. });
    refused!(format, &with("a,c,inf"), 3, Problem::NotFinite { .. });
    refused!(
        format,
        &with("a,b,0"),
        3,
        Problem::RepeatedPair { first: 2, .. }
    );
    refused!(
        format,
        &with("\"a\",\"b\""),
        3,
        Problem::RepeatedPair { first: 2, .. }
    );
    refused!(format, &with(",c"), 3, Problem::EmptyId { what: "user" });
    refused!(
        format,
        &with("a,\"\""),
        3,
        Problem::EmptyId { what: "item" }
    );
    refused!(format, &with("a,\"c"), 3, Problem::OpenQuote);
    // Without a header the first rating would be taken for one.
    refused!(format, "a,b,1\na,c,1\n", 1, Problem::Header { .. });
    refused!(format, "1,2\n1,3\n", 1, Problem::Header { .. });
}

#[test]
fn malformed_matrix_market_lines_are_refused() {
    let format = Format::MatrixMarket;
    let market = |kind: &str, rest: &str| format!("%%MatrixMarket matrix {kind}\n{rest}");
    let real = |rest: &str| market("coordinate real general", rest);
    let unsupported = [
        "coordinate real symmetric",
        "coordinate complex general",
        "array real general",
        "coordinate pattern skew-symmetric",
    ];
    for kind in unsupported {
        refused!(format, &market(kind, ""), 1, Problem::Unsupported { .. });
    }
    refused!(format, &market("coordinate", ""), 1, Problem::Header { .. });
    refused!(format, "3 3 1\n", 1, Problem::WrongFormat { .. });
    refused!(format, &real("3 3\n"), 2, Problem::TooFewFields { .. });
    refused!(format, &real("3 3 1 1\n"), 2, Problem::TooManyFields { .. });
    refused!(format, &real("3 -3 1\n"), 2, Problem::NotANumber { .. });
    refused!(
        format,
        &real("3 99999999999999999999 1\n"),
        2,
        Problem::NotANumber { .. }
    );
    refused!(
        format,
        &real("3 3 1\n1 1\n"),
        3,
        Problem::TooFewFields { .. }
    );
    refused!(
        format,
        &real("3 3 1\n1 1 1 1\n"),
        3,
        Problem::TooManyFields { .. }
    );
    refused!(
        format,
        &real("3 3 1\n1 1 x\n"),
        3,
        Problem::NotANumber { .. }
    );
    refused!(
        format,
        &real("3 3 1\n1 1 nan\n"),
        3,
        Problem::NotFinite { .. }
    );
    refused!(
        format,
        &market("coordinate integer general", "3 3 1\n1 1 1.5\n"),
        3,
        Problem::NotANumber { .. }
    );
    refused!(
        format,
        &market("coordinate pattern general", "3 3 1\n1 1 1\n"),
        3,
        Problem::TooManyFields { .. }
    );
    for (entry, what, found) in [
        ("0 1 1", "row", 0),
        ("4 1 1", "row", 4),
        ("3 9 1", "column", 9),
    ] {
        let (line, problem) = problem(format, &real(&format!("3 3 1\n{entry}\n")));
        assert_eq!(line, 3);
        assert_eq!(
            problem,
            Problem::IdOutOfRange {
                what,
                found,
                limit: 3
            }
        );
    }
    refused!(
        format,
        &real("3 3 2\n1 1 1\n\n01 1 2\n"),
        5,
        Problem::RepeatedPair { first: 3, .. }
    );
    refused!(
        format,
        &real("3 3 1\n1 1 1\n1 2 1\n"),
        4,
        Problem::EntryCount {
            declared: 1,
            found: 2
        }
    );
    refused!(
        format,
        &real("3 3 3\n1 1 1\n1 2 1\n"),
        4,
        Problem::EntryCount {
            declared: 3,
            found: 2
        }
    );
}

#[test]
fn declared_sizes_are_not_what_memory_is_sized_by() {
    let huge = 1_000_000_000_000_000_000_u64;
    let text = format!(
        "%%MatrixMarket matrix coordinate pattern general\n{huge} {huge} {huge}\n1 {huge}\n"
    );
    assert_eq!(
        problem(Format::MatrixMarket, &text),
        (
            3,
            Problem::EntryCount {
                declared: huge,
                found: 1
            }
        )
    );
    let sparse = text.replacen(
        &format!("{huge} {huge} {huge}"),
        &format!("{huge} {huge} 1"),
        1,
    );
    let loaded = read_text(Format::MatrixMarket, &sparse).expect("one entry");
    assert_eq!(loaded.interactions.items(), 1);
    assert_eq!(loaded.counts.declared_but_absent, 2 * (huge - 1));
}

#[test]
fn formats_have_the_names_of_the_experiment_file() {
    for &format in Format::all() {
        let name = format!("\"{format}\"");
        assert_eq!(serde_json::to_string(&format).expect("a name"), name);
        assert_eq!(
            serde_json::from_str::<Format>(&name).expect("known"),
            format
        );
    }
}
