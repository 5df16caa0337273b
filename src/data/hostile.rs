//! One table of awkward input for every reader of ratings, titles and ids: each row says per reader what is
//! understood, or with which line and words it is refused. Every case is read plain and compressed.

use super::ids::read_ids;
use super::tests::gzip;
use super::titles::read_titles;
use super::*;

/// Who reads a case.
#[derive(Clone, Copy, Debug)]
enum Reader {
    Ratings(Format),
    Titles,
    Ids,
}

/// What a reader makes of a text: `= u:a,b v:a`, the items of every user by their names (`= a:A` for titles), or
/// `! 2: word`, a refusal whose line and a piece of whose message are these.
struct Case {
    reader: Reader,
    text: Vec<u8>,
    expected: String,
}

fn case(reader: Reader, text: impl Into<Vec<u8>>, expected: &str) -> Case {
    Case {
        reader,
        text: text.into(),
        expected: expected.to_owned(),
    }
}

fn of(format: Format, text: impl Into<Vec<u8>>, expected: &str) -> Case {
    case(Reader::Ratings(format), text, expected)
}

fn triples(text: impl Into<Vec<u8>>, expected: &str) -> Case {
    of(Format::CsvTriples, text, expected)
}

fn ids(text: impl Into<Vec<u8>>, expected: &str) -> Case {
    case(Reader::Ids, text, expected)
}

fn titles(text: impl Into<Vec<u8>>, expected: &str) -> Case {
    case(Reader::Titles, text, expected)
}

const DAT: Format = Format::MovielensDat;
const CSV: Format = Format::MovielensCsv;
const HEADER: &str = "userId,movieId,rating,timestamp\n";

/// A good file of every reader, and what it means.
fn good() -> [(Reader, String, &'static str); 9] {
    [
        (
            Reader::Ratings(CSV),
            format!("{HEADER}1,5,2,9\n1,6,3,9\n2,5,4,9\n"),
            "= 1:5,6 2:5",
        ),
        (
            Reader::Ratings(DAT),
            "1::5::2::9\n1::6::3::9\n2::5::4::9\n".to_owned(),
            "= 1:5,6 2:5",
        ),
        (
            Reader::Ratings(Format::Lightgcn),
            "1 5 6\n2 5\n".to_owned(),
            "= 1:5,6 2:5",
        ),
        (
            Reader::Ratings(Format::Jester),
            "2,1,3,99\n1,2,99,99\n".to_owned(),
            "= 1:1,2 2:1",
        ),
        (
            Reader::Ratings(Format::CsvTriples),
            "user,item,rating\n1,5,2\n1,6,3\n2,5,4\n".to_owned(),
            "= 1:5,6 2:5",
        ),
        (
            Reader::Ratings(Format::MatrixMarket),
            "%%MatrixMarket matrix coordinate real general\n2 6 3\n1 5 2\n1 6 3\n2 5 4\n"
                .to_owned(),
            "= 1:5,6 2:5",
        ),
        (
            Reader::Ratings(Format::Eachmovie),
            "1\t5\t0.8\t1\t5/3/96\n1\t6\t1\t1\n2\t5\t1\t1\n".to_owned(),
            "= 1:5,6 2:5",
        ),
        (
            Reader::Titles,
            "movieId,title\n5,Five\n6,\"Six, or so\"\n".to_owned(),
            "= 5:Five 6:Six, or so",
        ),
        (
            Reader::Ids,
            "5\n\"Six, or so\"\n7\n5\n".to_owned(),
            "= 5 Six, or so 7",
        ),
    ]
}

/// What every reader makes of one change to its good file: the same as before where `expected` is empty.
fn each(change: impl Fn(&str) -> String, expected: &str) -> Vec<Case> {
    let one = |(reader, text, meaning): (Reader, String, &'static str)| {
        let expected = if expected.is_empty() {
            meaning
        } else {
            expected
        };
        case(reader, change(&text), expected)
    };
    good().into_iter().map(one).collect()
}

fn table() -> Vec<(&'static str, Vec<Case>)> {
    let mut rows = characters();
    rows.extend(separators());
    rows.extend(headers_and_comments());
    rows.extend(identities());
    rows
}

fn characters() -> Vec<(&'static str, Vec<Case>)> {
    let in_every_last_line = |hidden: char, word: &str| {
        good()
            .into_iter()
            .map(|(reader, text, _)| {
                let line = text.lines().count();
                let before = text.trim_end().len() - 1;
                let text = format!("{}{hidden}{}", &text[..before], &text[before..]);
                case(reader, text, &format!("! {line}: {word}"))
            })
            .collect::<Vec<_>>()
    };
    vec![
        ("as it should be", each(str::to_owned, "")),
        ("CR LF", each(|text| text.replace('\n', "\r\n"), "")),
        (
            "a lone CR between lines",
            each(|text| text.replace('\n', "\r"), "! 1: U+000D"),
        ),
        (
            "a byte-order mark at the start",
            each(|text| format!("\u{feff}{text}"), ""),
        ),
        (
            "a byte-order mark inside",
            in_every_last_line('\u{feff}', "byte-order mark"),
        ),
        ("NUL", in_every_last_line('\0', "control character")),
        ("ESC", in_every_last_line('\u{1b}', "control character")),
        ("NEL", in_every_last_line('\u{85}', "control character")),
        (
            "a zero-width space",
            in_every_last_line('\u{200b}', "cannot be seen"),
        ),
        (
            "a direction override",
            in_every_last_line('\u{202e}', "cannot be seen"),
        ),
        (
            "a soft hyphen",
            in_every_last_line('\u{ad}', "cannot be seen"),
        ),
        (
            "a failed conversion",
            in_every_last_line('\u{fffd}', "failed conversion"),
        ),
        (
            "UTF-16",
            each(
                |text| text.chars().flat_map(|c| [c, '\0']).collect(),
                "! 1: control character",
            ),
        ),
        (
            "Latin-1",
            vec![
                triples(&b"user,item\n1,\xe9\n"[..], "! 2: not UTF-8"),
                titles(&b"id,title\n1,\xe9\n"[..], "= 1:\u{e9}"),
            ],
        ),
        (
            "a no-break space",
            vec![
                triples("user,item\n1,a\u{a0}b\n", "= 1:a\u{a0}b"),
                triples("user,item\n1,a\u{a0}b\n1,a b\n", "! 3: spell"),
                triples("user,item\n1,a\u{a0}\n", "! 2: blank"),
                of(DAT, "1::\u{a0}5::2::9\n", "! 1: "),
            ],
        ),
        (
            "a tab inside a name",
            vec![triples("user,item\n1,a\tb\n", "! 2: tab")],
        ),
        (
            "a truncated last line",
            vec![
                of(
                    CSV,
                    format!("{HEADER}1,5,2,9\n1,6,3"),
                    "! 3: found 3 fields",
                ),
                of(DAT, "1::5::2::9\n1::6", "! 2: found 2 fields"),
                of(Format::Lightgcn, "1 5\n2", "! 2: no items"),
                of(Format::Jester, "2,1,3,99\n1,2,99", "! 2: found 3 columns"),
                triples("user,item,rating\n1,5,2\n1", "! 3: found 1 fields"),
                of(Format::Eachmovie, "1 5 0.8 1\n1 6 1", "! 2: found 3 fields"),
                titles("id,title\n5,Five\n6", "! 3: found 1 fields"),
            ],
        ),
        (
            "entries cut off",
            vec![of(
                Format::MatrixMarket,
                "%%MatrixMarket matrix coordinate real general\n2 6 3\n1 5 2\n",
                "! 3: declares 3 entries",
            )],
        ),
    ]
}

fn separators() -> Vec<(&'static str, Vec<Case>)> {
    vec![
        (
            "blanks around the separators",
            vec![
                of(CSV, format!("{HEADER}1, 5, 2, 9\n1 ,6 ,3 ,9\n"), "= 1:5,6"),
                of(DAT, "1 :: 5 :: 2 :: 9\n 1::6::3::9 \n", "= 1:5,6"),
                of(Format::Jester, "2, 1, 3, 99\n1 ,2 ,99 ,99\n", "= 1:1,2 2:1"),
                triples(
                    "user,item,rating\n1,5,2\n1, 6 ,3\n2 , 5, 4\n",
                    "= 1:5,6 2:5",
                ),
                of(Format::Lightgcn, "1  5\t6 \n 2 5\n", "= 1:5,6 2:5"),
                of(Format::Eachmovie, " 1  5 0.8\t1\n", "= 1:5"),
                titles("id, title\n 5 , Five\n", "= 5:Five"),
                titles("5 :: Five\n", "= 5:Five"),
                ids(" 5 \n\t6\n", "= 5 6"),
            ],
        ),
        (
            "a separator too many",
            vec![
                of(CSV, format!("{HEADER}1,5,2,9,\n"), "! 2: found 5 fields"),
                of(DAT, "1::5::2::9::\n", "! 1: found 5 fields"),
                of(DAT, "1:::5::2::9\n", "! 1: "),
                of(Format::Jester, "2,1,3,99,\n", "! 1: "),
                triples("user,item\n1,5,\n", "! 2: found 3 fields"),
                triples("user,item,rating\n1,5,\n", "! 2: "),
                triples("user,item\n1,,5\n", "! 2: found 3 fields"),
            ],
        ),
        (
            "mixed and other separators",
            vec![
                of(CSV, format!("{HEADER}1;5;2;9\n"), "! 2: found 1 fields"),
                of(CSV, format!("{HEADER}1,5;2,9\n"), "! 2: found 3 fields"),
                of(DAT, "1,5,2,9\n", "! 1: "),
                of(DAT, "1::5::2::9\n1:5:2:9\n", "! 2: found 1 fields"),
                of(Format::Lightgcn, "1 5\n2 5, 6\n", "! 2: \"5,\""),
                of(Format::Lightgcn, "1,5,6\n", "! 1: \"1,5,6\""),
                of(Format::Jester, "2;1;3;99\n", "! 1: "),
                of(Format::Eachmovie, "1,5,0.8,1\n", "! 1: found 1 fields"),
                triples("user;item;rating\n1;5;2\n", "! 1: header"),
                triples("user,item,rating\n1;5;2\n", "! 2: found 1 fields"),
                triples("user\titem\n1\t5\n", "! 1: header"),
                titles("id;title\n1;5\n", "= 1:5"),
                ids("5,6\n", "! 1: found 2 fields"),
                ids("5,\n", "! 1: found 2 fields"),
            ],
        ),
        (
            "quotes and brackets",
            vec![
                of(
                    CSV,
                    format!("{HEADER}\"1\",\"5\",2,9\n1,\"6\",3,9\n"),
                    "= 1:5,6",
                ),
                of(CSV, format!("{HEADER}[1,5,2,9]\n"), "! 2: \"[1\""),
                of(DAT, "\"1\"::5::2::9\n", "! 1: \"1\""),
                of(Format::Lightgcn, "\"1\" 5\n", "! 1: \"1\""),
                of(Format::Lightgcn, "1 [5 6]\n", "! 1: \"[5\""),
                triples("user,item\n\"1\", \"a, b\"\n1,c\n", "= 1:a, b,c"),
                triples("user,item\n1,\"a\n", "! 2: quote"),
                triples("user,item\n1,a\"b\"\n", "! 2: quote"),
                triples("user,item\n1,\"a\"b\n", "! 2: quote"),
                triples("user,item\n1,\"a \"\"b\"\"\"\n", "= 1:a \"b\""),
                triples("user,item\n1,\"a\nb\"\n", "! 2: quote"),
                titles("id,title\n1,\"A\"B\n", "! 2: quote"),
            ],
        ),
    ]
}

fn headers_and_comments() -> Vec<(&'static str, Vec<Case>)> {
    let mut rows = vec![
        (
            "nothing at all",
            good()[..7]
                .iter()
                .map(|(reader, ..)| case(*reader, "", "! no ratings"))
                .chain([titles("", "= "), ids("", "= ")])
                .collect(),
        ),
        (
            "no header",
            vec![
                of(CSV, "1,5,2,9\n", "! 1: header"),
                triples("1,5\n1,6\n", "! 1: header"),
                triples("anna,Emma\nanna,Ulysses\n", "! 2: header"),
                triples("anna,Emma\nbo,Emma\n", "! 2: header"),
                titles("1,One\n2,Two\n", "= 1:One 2:Two"),
                titles("one,One\ntwo,Two\n", "! 1: header"),
            ],
        ),
        (
            "a header twice",
            vec![
                of(CSV, format!("{HEADER}{HEADER}1,5,2,9\n"), "! 2: "),
                triples("user,item\n1,5\nuser,item\n2,5\n", "! 3: header"),
                titles("id,title\n1,A\nid,title\n", "! 3: header"),
            ],
        ),
        (
            "a header where there is none",
            vec![
                of(
                    DAT,
                    "UserID::MovieID::Rating::Timestamp\n1::5::2::9\n",
                    "! 1: ",
                ),
                of(Format::Lightgcn, "user items\n1 5\n", "! 1: "),
                of(Format::Jester, "count,j1,j2,j3\n2,1,3,99\n", "! 1: "),
                of(Format::Eachmovie, "person movie score weight\n", "! 1: "),
            ],
        ),
    ];
    for sign in ["#", "%", "//"] {
        rows.push((
            "comments, which only matrix-market has",
            vec![
                of(
                    CSV,
                    format!("{HEADER}{sign} a, b, c, d\n1,5,2,9\n"),
                    "! 2: ",
                ),
                of(DAT, format!("1::5::2::9\n{sign} a\n"), "! 2: "),
                of(Format::Lightgcn, format!("1 5\n{sign} 7\n"), "! 2: "),
                of(Format::Jester, format!("2,1,3,99\n{sign} a\n"), "! 2: "),
                of(
                    Format::Eachmovie,
                    format!("1 5 .8 1\n{sign} 5 .8 1\n"),
                    "! 2: ",
                ),
                triples(format!("{sign} a, b\nuser,item\n1,5\n"), "! 1: comment"),
                triples(format!("user,item\n{sign} a, b\n1,5\n"), "! 2: comment"),
                triples(
                    format!("user,item\n\"{sign} a\",b\n"),
                    &format!("= {sign} a:b"),
                ),
                triples(
                    format!("user,item\n1,a {sign} b\n"),
                    &format!("= 1:a {sign} b"),
                ),
                titles(format!("id,title\n{sign} a, b\n"), "! 2: comment"),
                ids(format!("5\n{sign} a\n"), "! 2: comment"),
                ids(format!("\"{sign} a\"\n"), &format!("= {sign} a")),
            ],
        ));
    }
    let market = "%%MatrixMarket matrix coordinate pattern general\n";
    rows.push((
        "comments of matrix-market",
        vec![
            of(
                Format::MatrixMarket,
                format!("{market}% x\n1 1 1\n% y\n1 1\n"),
                "= 1:1",
            ),
            of(
                Format::MatrixMarket,
                format!("{market}# x\n1 1 1\n1 1\n"),
                "! 2: ",
            ),
            of(
                Format::MatrixMarket,
                format!("{market}1 1 1\n1 1 % x\n"),
                "! 3: ",
            ),
        ],
    ));
    rows
}

fn identities() -> Vec<(&'static str, Vec<Case>)> {
    let mut rows = vec![(
        "one number in two spellings",
        vec![
            of(CSV, format!("{HEADER}1,5,2,9\n1,05,3,9\n"), "! 3: spell"),
            of(CSV, format!("{HEADER}1,5,2,9\n1,6.0,3,9\n"), "! 3: \"6.0\""),
            of(DAT, "1::5::2::9\n01::6::3::9\n", "! 2: spell"),
            of(Format::Lightgcn, "1 5\n2 05\n", "! 2: spell"),
            of(Format::Lightgcn, "1 5\n2 6.0\n", "! 2: \"6.0\""),
            of(Format::Eachmovie, "1 5 .8 1\n01 6 .8 1\n", "! 2: spell"),
            of(
                Format::MatrixMarket,
                "%%MatrixMarket matrix coordinate pattern general\n1 2 2\n1 1\n01 02\n",
                "= 1:1,2",
            ),
            titles("id,title\n1,A\n01,B\n", "! 3: spell"),
            ids("1\n1.0\n", "! 2: spell"),
            ids("Zu\u{308}rich\nZürich\n", "! 2: spell"),
        ],
    )];
    for (what, first, second, clash) in [
        ("one number as text", "1", "01", true),
        ("a number and its decimal form", "1", "1.0", true),
        (
            "accents composed and decomposed",
            "Zu\u{308}rich",
            "Zürich",
            true,
        ),
        ("full-width and plain digits", "１", "1", true),
        ("one blank and two", "a b", "a  b", false),
        ("quoted and plain", "\"a\"", "a", false),
        ("letters of two alphabets", "a", "а", false),
        ("upper and lower case", "a", "A", false),
        ("numbers beside words", "1", "one", false),
        (
            "huge numbers",
            "99999999999999999999",
            "99999999999999999998",
            false,
        ),
    ] {
        let (bare, text) = (first.trim_matches('"'), |one: &str, two: &str| {
            format!("user,item\n{one},x\n{two},y\n")
        });
        let as_users = match (clash, bare == second) {
            (true, _) => "! 3: spell".to_owned(),
            (false, true) => format!("= {bare}:x,y"),
            (false, false) => format!("= {bare}:x {second}:y"),
        };
        let as_items = match (clash, bare == second) {
            (true, _) => "! 3: spell".to_owned(),
            (false, true) => "! 3: again".to_owned(),
            (false, false) => format!("= x:{bare},{second}"),
        };
        rows.push((
            what,
            vec![
                triples(text(first, second), &as_users),
                triples(format!("user,item\nx,{first}\nx,{second}\n"), &as_items),
            ],
        ));
    }
    rows
}

fn outcome(reader: Reader, bytes: &[u8]) -> String {
    let refused = |error: DataError| match error {
        DataError::Line { line, problem, .. } => format!("! {line}: {problem}"),
        other => format!("! {other}"),
    };
    let parts = match reader {
        Reader::Titles => read_titles(bytes, "text").map(|titles| {
            let one = |(id, title): (String, String)| format!("{id}:{title}");
            titles.into_iter().map(one).collect::<Vec<_>>()
        }),
        Reader::Ids => read_ids(bytes, "text"),
        Reader::Ratings(format) => {
            read(bytes, "text", format, 0.0, Limits::default()).map(|read| {
                let data = read.interactions;
                let items = |user| {
                    let names = data
                        .row(user)
                        .iter()
                        .map(|&item| data.item_name(item as usize));
                    names.collect::<Vec<_>>().join(",")
                };
                let one = |user| format!("{}:{}", data.user_name(user), items(user));
                (0..data.users()).map(one).collect()
            })
        }
    };
    parts.map_or_else(refused, |parts| format!("= {}", parts.join(" ")))
}

/// Whether an outcome is the one of the table.
fn agrees(found: &str, expected: &str) -> bool {
    let Some(refusal) = expected.strip_prefix("! ") else {
        return found == expected;
    };
    match refusal.split_once(": ") {
        Some((line, word)) => found.starts_with(&format!("! {line}: ")) && found.contains(word),
        None => found.starts_with("! ") && found.contains(refusal),
    }
}

#[test]
fn every_reader_of_ratings_understands_or_refuses_every_row() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (what, cases) in table() {
        for Case {
            reader,
            text,
            expected,
        } in cases
        {
            count += 1;
            let found = outcome(reader, &text);
            if !agrees(&found, &expected) || outcome(reader, &gzip(&text)) != found {
                let text = String::from_utf8_lossy(&text);
                wrong.push(format!(
                    "{what}, {reader:?} {text:?}\n  expected {expected}\n  found    {found}"
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_truncated_gzip_file_is_refused_by_every_reader() {
    for (reader, text, _) in good() {
        let whole = gzip(text.as_bytes());
        for cut in 2..whole.len() {
            let found = outcome(reader, &whole[..cut]);
            assert!(
                found.starts_with("! ") && found.contains("gzip"),
                "{reader:?} {cut}: {found}"
            );
        }
    }
}
