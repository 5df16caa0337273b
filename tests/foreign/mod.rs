//! Files as other programs write them: read with the right numbers, or refused with line and remedy.

mod archives;
mod numbers;
mod peers;

use undertone::data::{Format, TableOptions, load, load_table};
use undertone::topology::{LoadOptions, load_graph};

use crate::support::repository;

/// What becomes of a graph file: nodes, edges and what is left out, or line and words of the refusal.
enum Graph {
    Read(usize, usize, &'static str),
    Refused(&'static str),
}
use Graph::{Read, Refused};

/// The graphs that `write_graphs.py` has written: Petersen's, and the Florentine families with weights and kinds.
const GRAPHS: [(&str, Graph); 26] = [
    ("networkx.edgelist", Read(10, 15, "the attributes of edges")),
    (
        "networkx_attributes.edges",
        Read(15, 20, "the attributes of edges"),
    ),
    ("networkx_weighted.txt", Read(10, 15, "a column of numbers")),
    (
        "networkx_adjlist.txt",
        Refused(":5: found 3 fields, and line 4 has 4"),
    ),
    ("networkx.gexf", Read(15, 20, "")),
    ("networkx_links.json", Read(15, 20, "")),
    ("networkx_edges.json", Read(15, 20, "")),
    ("networkx_one_way.json", Refused("add the reverse")),
    ("igraph.graphml", Read(15, 20, "")),
    ("igraph_ncol.txt", Read(15, 20, "a column of numbers")),
    ("igraph.edges", Read(15, 20, "")),
    ("rustworkx.json", Read(10, 15, "")),
    ("pandas.csv", Read(15, 20, "column weight, column kind")),
    (
        "pandas_index.csv",
        Read(
            15,
            20,
            "column 1, which has no name, column weight, column kind",
        ),
    ),
    (
        "pandas_excel.csv",
        Read(15, 20, "column weight, column kind"),
    ),
    (
        "pandas_unknown_names.csv",
        Refused(":1: person friend looks like names of columns: call those"),
    ),
    ("polars_semicolons.csv", Read(15, 20, "column weight")),
    ("polars.tsv", Read(10, 15, "")),
    ("scipy_csr.npz", Read(10, 15, "the values of entries")),
    ("scipy_coo.npz", Read(10, 15, "")),
    (
        "scipy_one_way.npz",
        Refused("the edge 1 -> 2 has no reverse"),
    ),
    (
        "scipy_truncated.npz",
        Refused("not an .npz archive, or a damaged one"),
    ),
    ("snap.txt", Read(10, 15, "")),
    ("konect.txt", Read(10, 15, "2 columns of numbers")),
    ("decentralizepy.edges", Read(10, 15, "")),
    (
        "decentralizepy_cut.edges",
        Refused("8 is none of these: correct it"),
    ),
];

#[test]
fn graphs_of_other_programs_are_read_or_refused_with_a_remedy() {
    for (name, expected) in &GRAPHS {
        let path = repository("tests/foreign/graphs").join(name);
        let found = load_graph(&path, LoadOptions::default());
        match (expected, found) {
            (Read(nodes, edges, left_out), Ok((graph, provenance))) => {
                let left = provenance.left_out.unwrap_or_default();
                let found = (
                    graph.nodes(),
                    graph.edges(),
                    left.as_str(),
                    provenance.merged_edges,
                );
                assert_eq!(found, (*nodes, *edges, *left_out, 0), "{name}");
            }
            (Refused(words), Err(error)) => {
                let found = error.to_string();
                assert!(found.contains(words), "{name}: {found}");
            }
            (_, found) => panic!("{name}: {found:?}"),
        }
    }
    let stored = std::fs::read_dir(repository("tests/foreign/graphs")).expect("a folder");
    assert_eq!(
        stored.count(),
        GRAPHS.len() + 1,
        "matrix_market.edges is the one below"
    );
}

#[test]
fn a_matrix_market_file_is_no_edge_list() {
    let path = repository("tests/foreign/graphs/matrix_market.edges");
    let error = load_graph(&path, LoadOptions::default()).expect_err("of another format");
    assert!(
        error.to_string().contains("the start of another format"),
        "{error}"
    );
}

/// What becomes of a rating file as a `table`: users, items, ratings, or words of the refusal.
enum Table {
    Rated(usize, usize, u64),
    Unread(&'static str),
}
use Table::{Rated, Unread};

/// The tables that `write_ratings.py` has written.
const TABLES: [(&str, Table); 20] = [
    ("pandas.csv", Rated(4, 5, 8)),
    (
        "pandas_index.csv",
        Unread(
            "line 1: column 1 has no name, as pandas writes an index: write the frame with `index=False`",
        ),
    ),
    ("pandas.tsv", Rated(4, 5, 8)),
    ("pandas.csv.gz", Rated(4, 5, 8)),
    ("excel.csv", Rated(4, 5, 8)),
    (
        "excel_commas.csv",
        Unread("line 2: found \"3,0\" as rating, expected a number such as 3.5"),
    ),
    ("pandas_names.csv", Rated(4, 5, 8)),
    ("quoted.csv", Rated(4, 5, 8)),
    ("hospitals.csv", Rated(4, 5, 8)),
    ("two_hospitals.csv", Rated(4, 5, 8)),
    ("reordered.csv", Rated(4, 5, 8)),
    (
        "unknown_names.csv",
        Unread(
            "line 1: no column is known to hold the users; the columns are who, what, how, when: say which with `data.columns",
        ),
    ),
    ("implicit.csv", Rated(4, 5, 8)),
    ("polars.csv", Rated(4, 5, 8)),
    ("u.data", Rated(4, 5, 8)),
    ("recbole.inter", Rated(4, 5, 8)),
    ("book_crossings.csv", Rated(4, 5, 8)),
    ("empty_last_line.csv", Rated(4, 5, 8)),
    (
        "cut.csv",
        Unread("line 9: found 2 fields, and the first line has 4"),
    ),
    (
        "headings_twice.csv",
        Unread("line 10: \"userId\" stands in the first line too"),
    ),
];

#[test]
fn ratings_of_other_programs_are_read_or_refused_with_a_remedy() {
    let options = TableOptions::default();
    for (name, expected) in &TABLES {
        let path = repository("tests/foreign/ratings").join(name);
        let found = load_table(&path, &options, None);
        match (expected, found) {
            (Rated(users, items, ratings), Ok(loaded)) => {
                let read = &loaded.interactions;
                let found = (read.users(), read.items(), loaded.counts.ratings);
                assert_eq!(found, (*users, *items, *ratings), "{name}");
                let first = loaded.values.expect("all ratings").row(0).1.to_vec();
                let whole = if *name == "implicit.csv" {
                    [1.0, 1.0]
                } else {
                    [3.0, 4.0]
                };
                assert_eq!(first, whole, "{name}");
            }
            (Unread(words), Err(error)) => {
                let found = error.to_string();
                assert!(found.contains(words), "{name}: {found}");
            }
            (_, found) => panic!("{name}: {found:?}"),
        }
    }
    let stored = std::fs::read_dir(repository("tests/foreign/ratings")).expect("a folder");
    assert_eq!(stored.count(), TABLES.len() + archives::ARCHIVES.len());
}

/// The commonest file of all, with a format that it is not of.
#[test]
fn the_right_format_of_movielens_100k_is_named() {
    let path = repository("tests/foreign/ratings/u.data");
    for format in Format::all()
        .iter()
        .filter(|format| **format != Format::Table)
    {
        let refused = load(&path, *format, 0.0).expect_err("a table");
        let words = refused.to_string();
        assert!(
            words.contains("set format = \"table\""),
            "{format}: {words}"
        );
    }
}

/// How many files there are, and how many of them are refused.
#[test]
fn as_many_files_are_stored_as_promised() {
    let refused = GRAPHS.iter().filter(|(_, of)| matches!(of, Refused(_)));
    let unread = TABLES.iter().filter(|(_, of)| matches!(of, Unread(_)));
    let broken = archives::ARCHIVES.iter().filter(|(_, of)| of.is_err());
    assert!(GRAPHS.len() >= 16 && TABLES.len() + archives::ARCHIVES.len() >= 14);
    assert!(refused.count() + unread.count() + broken.count() >= 8);
}

#[test]
fn columns_are_said_by_name_or_by_number() {
    let by_name = "user = \"who\"\nitem = \"what\"\nrating = \"how\"";
    for (file, columns) in [
        ("unknown_names.csv", by_name),
        ("unknown_names.csv", "user = 1\nitem = 2\nrating = 3"),
        ("u.data", "user = 1\nitem = 2\nrating = 3"),
    ] {
        let options = TableOptions {
            columns: toml::from_str(columns).expect("columns"),
            header: None,
        };
        let path = repository("tests/foreign/ratings").join(file);
        let loaded = load_table(&path, &options, None).expect(file);
        let read = &loaded.interactions;
        assert_eq!(
            (read.users(), read.items(), loaded.counts.ratings),
            (4, 5, 8),
            "{file}"
        );
    }
}
