//! One table of awkward input for every reader of graphs: each row says per reader what is understood, or with
//! which line and words it is refused. Every case is read plain and compressed.

use std::path::Path;

use super::*;
use lists::{headers_and_comments, separators};

mod lists;

/// What a reader makes of a text: `= a-b b-c`, the edges by the names of their ends in the order of the nodes, or
/// `! 2: word`, a refusal whose line and a piece of whose message are these.
struct Case {
    file: &'static str,
    text: Vec<u8>,
    expected: String,
}

fn edges(text: impl Into<Vec<u8>>, expected: &str) -> Case {
    case("g.edges", text, expected)
}

fn graphml(text: impl Into<Vec<u8>>, expected: &str) -> Case {
    case("g.graphml", text, expected)
}

fn gml(text: impl Into<Vec<u8>>, expected: &str) -> Case {
    case("g.gml", text, expected)
}

fn recipe(text: impl Into<Vec<u8>>, expected: &str) -> Case {
    case("g.toml", text, expected)
}

fn case(file: &'static str, text: impl Into<Vec<u8>>, expected: &str) -> Case {
    Case {
        file,
        text: text.into(),
        expected: expected.to_owned(),
    }
}

/// A GraphML file, whose first line holds all that stands before the body.
fn xml(body: &str) -> String {
    format!("<graphml><graph edgedefault=\"undirected\">{body}</graph></graphml>")
}

/// A path through nodes of these ids, in GraphML.
fn xml_path(ids: &[&str]) -> String {
    let nodes = ids.iter().map(|id| format!("<node id=\"{id}\"/>"));
    let edges = ids
        .windows(2)
        .map(|pair| format!("<edge source=\"{}\" target=\"{}\"/>", pair[0], pair[1]));
    xml(&nodes.chain(edges).collect::<Vec<_>>().join("\n"))
}

/// A path through nodes of these labels, in GML.
fn gml_path(labels: &[&str]) -> String {
    let nodes = (0..labels.len()).map(|i| format!("node [ id {i} label \"{}\" ]", labels[i]));
    let edges = (1..labels.len()).map(|i| format!("edge [ source {} target {i} ]", i - 1));
    let body = nodes.chain(edges).collect::<Vec<_>>().join("\n");
    format!("graph [ {body} ]")
}

const RECIPE: &str =
    "name = \"r\"\ndescription = \"d\"\n[generator]\ngenerator = \"path\"\nn = 3\n";
const XML: &str = "<graphml><graph edgedefault=\"undirected\">\n<node id=\"a\"/><node id=\"b\"/><node id=\"c\"/>\n<edge source=\"a\" target=\"b\"/>\n<edge source=\"b\" target=\"c\"/>\n</graph></graphml>\n";
const GML: &str = "graph [\n  node [ id 0 label \"a\" ]\n  node [ id 1 label \"b\" ]\n  node [ id 2 label \"c\" ]\n  edge [ source 0 target 1 ]\n  edge [ source 1 target 2 ]\n]\n";

/// What all four readers make of one change to a good file of each.
fn each(change: impl Fn(&str) -> String, expected: [&str; 4]) -> Vec<Case> {
    let [in_edges, in_graphml, in_gml, in_recipe] = expected;
    vec![
        edges(change("a b\nb c\n"), in_edges),
        graphml(change(XML), in_graphml),
        gml(change(GML), in_gml),
        recipe(change(RECIPE), in_recipe),
    ]
}

/// `table`, by what is awkward about the row.
fn table() -> Vec<(&'static str, Vec<Case>)> {
    let mut rows = characters();
    rows.extend(separators());
    rows.extend(headers_and_comments());
    rows.extend(identities());
    rows
}

fn characters() -> Vec<(&'static str, Vec<Case>)> {
    const READ: [&str; 4] = ["= a-b b-c", "= a-b b-c", "= a-b b-c", "= 0-1 1-2"];
    let in_name = |hidden: char, word: &str| {
        let expected = format!("! 1: {word}");
        let second = format!("! 2: {word}");
        vec![
            edges(format!("a b\nb{hidden} c\nb c\n"), &second),
            graphml(
                xml_path(&["a", "b"]).replace("\"b\"", &format!("\"b{hidden}\"")),
                &second,
            ),
            gml(gml_path(&["a", &format!("b{hidden}")]), &second),
            recipe(
                format!("name = \"r{hidden}\"\n{}", &RECIPE[11..]),
                &expected,
            ),
        ]
    };
    let mut latin = each(|text| text.replace(['b', 'r'], "é"), ["", "", "", ""]);
    for (case, line) in latin.iter_mut().zip([1, 1, 1, 1]) {
        let text = String::from_utf8_lossy(&case.text).into_owned();
        case.text = text.chars().map(|c| c as u32 as u8).collect();
        case.expected = format!("! {line}: not UTF-8");
    }
    vec![
        ("as it should be", each(str::to_owned, READ)),
        ("CR LF", each(|text| text.replace('\n', "\r\n"), READ)),
        (
            "a lone CR between lines",
            each(
                |text| text.replace('\n', "\r"),
                [
                    "! 1: U+000D",
                    "= a-b b-c",
                    "= a-b b-c",
                    "! 1: not a valid recipe",
                ],
            ),
        ),
        (
            "a lone CR that a comment would hide",
            vec![
                edges("a b\n# x\rb d\nb c\n", "! 2: U+000D"),
                gml(GML.replacen("  edge", "# x\r  edge", 1), "! 5: U+000D"),
            ],
        ),
        (
            "a byte-order mark at the start",
            each(|text| format!("\u{feff}{text}"), READ),
        ),
        (
            "a byte-order mark inside a name",
            in_name('\u{feff}', "byte-order mark"),
        ),
        (
            "a byte-order mark at the start of a later line",
            vec![
                edges("a b\n\u{feff}b c\n", "! 2: byte-order mark"),
                gml(
                    GML.replacen("  edge", "\u{feff}edge", 1),
                    "! 5: expected a key",
                ),
            ],
        ),
        ("NUL inside a name", in_name('\0', "control character")),
        ("ESC inside a name", in_name('\u{1b}', "control character")),
        ("NEL inside a name", in_name('\u{85}', "control character")),
        ("a zero-width space", in_name('\u{200b}', "cannot be seen")),
        ("a zero-width joiner", in_name('\u{200d}', "cannot be seen")),
        (
            "a direction override",
            in_name('\u{202e}', "cannot be seen"),
        ),
        ("a soft hyphen", in_name('\u{ad}', "cannot be seen")),
        ("a line separator", in_name('\u{2028}', "cannot be seen")),
        (
            "a failed conversion",
            in_name('\u{fffd}', "failed conversion"),
        ),
        (
            "a character reference to what cannot be seen",
            vec![
                graphml(xml_path(&["a", "b&#x200b;"]), "! 2: cannot be seen"),
                gml(gml_path(&["a", "b&#x200b;"]), "! 2: cannot be seen"),
            ],
        ),
        (
            "a no-break space between two names",
            vec![edges("a\u{a0}b\n", "! 1: U+00A0")],
        ),
        (
            "a no-break space inside a name",
            vec![
                graphml(xml_path(&["a", "b\u{a0}c"]), "= a-b\u{a0}c"),
                gml(gml_path(&["a", "b\u{a0}c"]), "= a-b\u{a0}c"),
            ],
        ),
        ("Latin-1", latin),
        (
            "UTF-16",
            each(
                |text| text.chars().flat_map(|c| [c, '\0']).collect(),
                [
                    "! 1: control",
                    "! 1: control",
                    "! 1: control",
                    "! 1: control",
                ],
            ),
        ),
        (
            "an encoding that is declared and is not UTF-8",
            vec![
                graphml(
                    format!(
                        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>{}",
                        XML.replace("\"b\"", "\"é\"")
                    ),
                    "! 1: encoding",
                ),
                graphml(
                    format!("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>{XML}"),
                    "= a-b b-c",
                ),
            ],
        ),
        (
            "nothing at all",
            each(
                |_| String::new(),
                [
                    "! 1: no nodes",
                    "! 1: `graph` element",
                    "! 1: `graph [`",
                    "! 1: `name`",
                ],
            ),
        ),
        (
            "only a comment",
            vec![
                edges("# 3 nodes\n", "! 1: no nodes"),
                graphml("<!-- x -->\n", "! 2: `graph` element"),
                gml("# x\n", "! 2: `graph [`"),
                recipe("# x\n", "! 1: `name`"),
            ],
        ),
        (
            "a truncated last line",
            vec![
                edges("a b\nb c\nc", "! 3: found 1 fields"),
                // Nothing tells a name cut short from a short name.
                edges("a bb\nbb c", "= a-bb bb-c"),
                graphml(&XML[..XML.len() - 15], "! 5: not well-formed"),
                gml(&GML[..GML.len() - 3], "! 6: expected `]`"),
                recipe(&RECIPE[..RECIPE.len() - 3], "! 5: not a valid recipe"),
            ],
        ),
    ]
}

fn identities() -> Vec<(&'static str, Vec<Case>)> {
    let two = |first: &str, second: &str, in_edges: &str, in_others: &str| {
        vec![
            edges(format!("x {first}\nx {second}\n"), in_edges),
            graphml(xml_path(&["x", first, second]), in_others),
            gml(gml_path(&["x", first, second]), in_others),
        ]
    };
    vec![
        (
            "one number in two spellings",
            [("1", "01"), ("1.0", "1"), ("1", "+1"), ("007", "7.00")]
                .into_iter()
                .flat_map(|(a, b)| two(a, b, "! 2: spell", "! 3: spell"))
                .collect(),
        ),
        (
            "numbers beside words",
            two("1", "one", "= x-1 x-one", "= x-1 1-one"),
        ),
        (
            "huge numbers",
            two(
                "99999999999999999999",
                "99999999999999999998",
                "= x-99999999999999999999 x-99999999999999999998",
                "= x-99999999999999999999 99999999999999999999-99999999999999999998",
            ),
        ),
        (
            "composed and decomposed accents",
            two("Zu\u{308}rich", "Zürich", "! 2: spell", "! 3: spell"),
        ),
        (
            "full-width and plain digits",
            two("１", "1", "! 2: spell", "! 3: spell"),
        ),
        (
            "letters of two alphabets, compared by their bytes",
            two("a", "а", "= x-a x-а", "= x-a a-а"),
        ),
        (
            "upper and lower case",
            two("a", "A", "= x-a x-A", "= x-a a-A"),
        ),
        (
            "names that differ in blanks, of which no-break ones are blanks in another spelling",
            vec![
                gml(gml_path(&["New York", "New  York"]), "= New York-New  York"),
                gml(gml_path(&["a", "b", "a "]), "= a-b b-a "),
                edges(
                    "# node 0 New York\n# node 1 New\u{a0}York\n0 1\n",
                    "! 2: spell",
                ),
                edges(
                    "# node 0 a\u{200b}\n# node 1 a\n0 1\n",
                    "! 1: cannot be seen",
                ),
            ],
        ),
        (
            "an end that is the id in another spelling",
            vec![
                graphml(
                    XML.replace("source=\"a\"", "source=\"a \""),
                    "! 3: not defined",
                ),
                gml(GML.replace("source 0", "source 00"), "! 5: not defined"),
            ],
        ),
    ]
}

fn outcome(path: &Path) -> String {
    match load_graph(path, LoadOptions::default()) {
        Ok((graph, _)) => {
            let pairs = graph.edge_list();
            let names = pairs
                .map(|(u, v)| format!("{}-{}", graph.name(u as usize), graph.name(v as usize)));
            format!("= {}", names.collect::<Vec<_>>().join(" "))
        }
        Err(TopologyError::File { line, problem, .. }) => format!("! {line}: {problem}"),
        Err(other) => format!("! {other}"),
    }
}

/// Whether an outcome is the one of the table.
fn agrees(found: &str, expected: &str) -> bool {
    match expected.strip_prefix("! ") {
        Some("") => found.starts_with("! "),
        Some(refusal) => {
            let (line, word) = refusal.split_once(": ").expect("a line and a word");
            found.starts_with(&format!("! {line}: ")) && found.contains(word)
        }
        None => found == expected,
    }
}

#[test]
fn every_reader_of_graphs_understands_or_refuses_every_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (what, cases) in table() {
        for Case {
            file,
            text,
            expected,
        } in cases
        {
            count += 1;
            let plain = folder.path().join(file);
            std::fs::write(&plain, &text).expect("a temporary file");
            let zipped = folder.path().join(format!("{file}.gz"));
            std::fs::write(&zipped, tests::gzip(&text)).expect("a temporary file");
            let found = outcome(&plain);
            if !agrees(&found, &expected) || outcome(&zipped) != found {
                let text = String::from_utf8_lossy(&text);
                wrong.push(format!(
                    "{what}, {file} {text:?}\n  expected {expected}\n  found    {found}"
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
fn a_truncated_or_false_gzip_file_is_refused_by_every_reader() {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, text) in [
        ("g.edges", "a b\nb c\n"),
        ("g.graphml", XML),
        ("g.gml", GML),
        ("g.toml", RECIPE),
    ] {
        let path = folder.path().join(format!("{file}.gz"));
        let whole = tests::gzip(text.as_bytes());
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("a temporary file");
            let found = outcome(&path);
            assert!(
                found.starts_with("! ") && found.contains("gzip"),
                "{file} cut at {cut}: {found}"
            );
        }
        std::fs::write(&path, text).expect("a temporary file");
        assert!(
            outcome(&path).contains("gzip"),
            "{file}: {}",
            outcome(&path)
        );
        // Compressed and not called so.
        let plain = folder.path().join(file);
        std::fs::write(&plain, &whole).expect("a temporary file");
        assert!(
            outcome(&plain).starts_with("! 1: "),
            "{file}: {}",
            outcome(&plain)
        );
    }
}

/// The karate club with a comma and a blank between the ends: 34 nodes, where 51 were read.
#[test]
fn the_karate_club_survives_other_separators_and_no_header() {
    let file =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("topologies/karate.edges");
    let text = std::fs::read_to_string(file).expect("in the repository");
    let edges = || text.lines().filter(|line| !line.starts_with('#'));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("k.edges");
    let read = |lines: Vec<String>| {
        std::fs::write(&path, lines.join("\n")).expect("a temporary file");
        load_graph(&path, LoadOptions::default()).map(|(graph, _)| (graph.nodes(), graph.edges()))
    };
    for separator in [", ", ",", "\t", " , "] {
        let lines = edges().map(|line| line.replace(' ', separator)).collect();
        assert_eq!(read(lines).expect(separator), (34, 78), "{separator:?}");
    }
    let header = std::iter::once("34 78".to_owned()).chain(edges().map(str::to_owned));
    let error = read(header.collect()).expect_err("a header").to_string();
    assert!(
        error.contains("k.edges:1: ") && error.contains("header"),
        "{error}"
    );
}
