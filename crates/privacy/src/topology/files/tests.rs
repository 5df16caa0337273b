//! What readers accept, and how they refuse the rest.

use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

fn graph(format: Format, text: &str) -> Graph {
    format
        .parse(text.as_bytes())
        .and_then(|parsed| parsed.into_graph(false))
        .unwrap_or_else(|(line, problem)| panic!("line {line}: {problem}"))
}

/// The message of the fault, with its line.
fn fault(format: Format, text: &str) -> String {
    let result = format
        .parse(text.as_bytes())
        .and_then(|parsed| parsed.into_graph(false));
    let (line, problem) = result.expect_err(text);
    format!("{line}: {problem}")
}

fn edges(graph: &Graph) -> Vec<(u32, u32)> {
    graph.edge_list().collect()
}

fn write(folder: &tempfile::TempDir, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("a temporary file");
    path
}

pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, content).expect("to memory");
    encoder.finish().expect("to memory")
}

#[test]
fn contiguous_numbers_stay_numbers_in_any_order() {
    let found = graph(
        Format::Edges,
        "# a comment\n3 1\n\n 0\t1 # here too\r\n2 1\n",
    );
    assert_eq!(edges(&found), [(0, 1), (1, 2), (1, 3)]);
    assert_eq!(found.names(), None);
}

#[test]
fn other_ids_are_names_in_order_of_appearance() {
    let found = graph(Format::Edges, "b a\na c");
    assert_eq!(found.names().expect("names"), ["b", "a", "c"]);
    assert_eq!(edges(&found), [(0, 1), (1, 2)]);
    for gaps in ["1 2\n2 3", "00 1\n1 2", "0 5"] {
        assert!(graph(Format::Edges, gaps).names().is_some(), "{gaps}");
    }
}

#[test]
fn edge_list_faults_name_line_and_remedy() {
    let fault = |text| fault(Format::Edges, text);
    assert!(fault("0 1\n1 1").starts_with("2: a self-loop at node 1; remove"));
    let parallel = fault("0 1\n# x\n1 0\n1 2\n");
    assert!(
        parallel.starts_with("3: the edge 0 - 1 again, first on line 1"),
        "{parallel}"
    );
    assert!(parallel.contains("parallel_edges = \"merge\""));
    assert!(fault("0 1\n0 1 2.5").starts_with("2: found 3 fields, and line 1 has 2"));
    assert!(fault("0 1\n7").starts_with("2: expected two node ids, found 1"));
    assert_eq!(fault(""), "1: the file has no nodes");
    assert!(fault(&format!("0 1\n{}", "x".repeat(5000))).starts_with("2: a line"));
    let (line, problem) = Format::Edges.parse(b"0 1\n0 \xff").expect_err("not text");
    assert_eq!((line, problem), (2, FileProblem::NotText));
}

#[test]
fn an_edge_list_written_reads_back_equal() {
    let names: Vec<String> = ["New York", "Oslo # 2", "a%b", "Zürich"]
        .map(String::from)
        .into();
    let plain = Graph::from_edges(4, &[(0, 3), (2, 1), (3, 1)]).expect("valid");
    let named = plain.clone().with_names(names).expect("four");
    for original in [plain, named] {
        let mut bytes = Vec::new();
        write_edges(&original, &mut bytes).expect("to memory");
        let read = Format::Edges
            .parse(&bytes)
            .and_then(|p| p.into_graph(false))
            .expect("what was written");
        assert_eq!(read, original);
    }
    let lonely = Graph::from_edges(3, &[(0, 1)]).expect("valid");
    assert!(write_edges(&lonely, Vec::new()).is_err());
    let broken = Graph::from_edges(2, &[(0, 1)]).expect("valid");
    let broken = broken
        .with_names(vec!["a\nb".into(), "c".into()])
        .expect("two");
    assert!(write_edges(&broken, Vec::new()).is_err());
}

#[test]
fn partial_or_repeated_name_comments_are_only_comments() {
    for text in [
        "# node 0 a\n0 1",
        "# node 0 a\n# node 0 b\n0 1",
        "# node 0 a\n# node 9 b\n0 1",
        "# node 0 a\n# node 1 a\n0 1",
    ] {
        assert_eq!(graph(Format::Edges, text).names(), None, "{text}");
    }
    let named = graph(Format::Edges, "# node 1 b\n# node 0 a\n0 1");
    assert_eq!(named.names().expect("names"), ["a", "b"]);
}

const GRAPHML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="label" attr.type="string"/>
  <key id="d1" for="edge" attr.name="weight" attr.type="double"/>
  <graph edgedefault="undirected">
    <edge source="n0" target="n2"><data key="d1">1.5</data></edge>
    <node id="n0"><data key="d0">A &amp; B</data></node>
    <node id="n1"><data key="d0">C</data></node>
    <node id="n2"><data key="d0">C</data></node>
    <node id="n3"/>
    <edge source="n1" target="n0"/>
    <edge source="n3" target="n0"/>
  </graph>
</graphml>"#;

#[test]
fn graphml_names_come_from_labels_and_stay_distinct() {
    let found = graph(Format::GraphMl, GRAPHML);
    assert_eq!(edges(&found), [(0, 1), (0, 2), (0, 3)]);
    assert_eq!(
        found.names().expect("names"),
        ["A & B", "C (n1)", "C (n2)", "n3"]
    );
}

#[test]
fn directed_graphml_is_read_only_if_symmetric() {
    let text = |body: &str| {
        format!(
            "<graphml>\n<graph edgedefault=\"directed\">\n<node id=\"a\"/><node id=\"b\"/>\n{body}\n</graph></graphml>"
        )
    };
    let there = "<edge source=\"a\" target=\"b\"/>";
    let back = "<edge source=\"b\" target=\"a\"/>";
    assert_eq!(
        graph(Format::GraphMl, &text(&format!("{there}{back}"))).edges(),
        1
    );
    let one_way = fault(Format::GraphMl, &text(&format!("\n{there}")));
    assert!(
        one_way.starts_with("5: the edge a -> b has no reverse"),
        "{one_way}"
    );
    let twice = fault(
        Format::GraphMl,
        &text(&format!("{there}{back}\n{there}{back}")),
    );
    assert!(
        twice.starts_with("5: the edge a - b again, first on line 4"),
        "{twice}"
    );
}

#[test]
fn graphml_faults_name_line_and_remedy() {
    let fault = |body: &str| {
        fault(
            Format::GraphMl,
            &format!(
                "<graphml>\n<graph edgedefault=\"undirected\">\n<node id=\"a\"/>\n{body}\n</graph></graphml>"
            ),
        )
    };
    assert!(fault("<node id=\"a\"/>").starts_with("4: node a is defined a second time"));
    assert!(fault("\n<edge source=\"a\" target=\"z\"/>").starts_with("5: the edge names node z"));
    assert!(fault("<edge source=\"a\"/>").starts_with("4: an edge without `target`"));
    assert!(fault("<node/>").starts_with("4: a node without `id`"));
    assert!(fault("<edge source=\"a\" target=\"a\"/>").starts_with("4: a self-loop at node a"));
    assert!(fault("<graph/>").contains("nested graph"));
    assert!(fault("<hyperedge/>").contains("replace it by edges"));
    assert!(fault("</nonsense>").contains("not well-formed XML"));
    assert!(fault("&leak;").starts_with("4: expected a predefined XML entity, found leak"));
    assert!(fault(&"<x>".repeat(100)).contains("nested more than 64"));
}

const GML: &str = "# comment\nCreator \"me\"\ngraph [\n  directed 0\n  node [ id 5 label \"A\" graphics [ x 1.0 ] ]\n  node [ id 7\n label \"A\" ]\n  node [ id 9 ]\n  edge [ source 5 target 7 ]\n  edge [ target 9 source 7 ]\n]\n";

#[test]
fn gml_names_come_from_labels_and_stay_distinct() {
    let found = graph(Format::Gml, GML);
    assert_eq!(edges(&found), [(0, 1), (1, 2)]);
    assert_eq!(found.names().expect("names"), ["A (5)", "A (7)", "9"]);
    let crossed = "graph [ node [ id 1 label \"A\" ] node [ id 2 label \"A\" ] node [ id 3 label \"A (1)\" ] edge [ source 1 target 2 ] edge [ source 2 target 3 ] ]";
    let names = graph(Format::Gml, crossed);
    assert_eq!(
        names.names().expect("names"),
        ["A (1) (1)", "A (2)", "A (1)"]
    );
}

#[test]
fn gml_faults_name_line_and_remedy() {
    let fault = |text: &str| fault(Format::Gml, text);
    let body = |body: &str| format!("graph [\n node [ id 1 ]\n node [ id 2 ]\n{body}\n]");
    assert!(fault(&body("edge [ source 1 target 3 ]")).starts_with("4: the edge names node 3"));
    assert!(fault(&body("edge [ source 1 ]")).starts_with("4: an edge without `target`"));
    assert!(fault(&body("edge [ source 1 target 1 ]")).starts_with("4: a self-loop"));
    assert!(fault(&body("node [ id 1 ]")).starts_with("4: node 1 is defined a second"));
    assert!(fault(&body("node [ label \"x\" ]")).starts_with("4: a node without `id`"));
    assert!(
        fault(&body("directed 1\nedge [ source 1 target 2 ]"))
            .starts_with("5: the edge 1 -> 2 has no reverse")
    );
    assert!(fault(&body("directed maybe")).starts_with("4: expected `directed 0`"));
    assert!(fault("graph [").starts_with("1: expected `]`"));
    assert!(fault("]").starts_with("1: expected a key"));
    assert!(fault("graph [ label \"x").contains("closing quote"));
    assert!(fault("a 1\nb 2").starts_with("2: expected `graph [`"));
    assert!(fault("graph [ ]\ngraph [ ]").starts_with("2: a second graph"));
    assert!(fault(&"a [ ".repeat(100)).contains("nested more than 64"));
    assert!(fault(&format!("a \"{}\"", "x".repeat(70_000))).contains("65536 bytes"));
}

#[test]
fn disconnected_files_need_the_option_and_then_keep_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(&folder, "two.edges", b"0 1\n2 3\n3 4\n");
    let error = load(&path, LoadOptions::default())
        .expect_err("disconnected")
        .to_string();
    assert!(
        error.contains("2 components, the largest with 3 of 5")
            && error.contains("largest_component = true"),
        "{error}"
    );
    let options = LoadOptions {
        largest_component: true,
        ..LoadOptions::default()
    };
    let topology = load(&path, options).expect("connected");
    assert_eq!(topology.graph().names().expect("names"), ["2", "3", "4"]);
    assert_eq!(topology.provenance().dropped_nodes, 2);
    assert_eq!(topology.provenance().name, "two");
}

#[test]
fn a_graph_that_falls_apart_is_taken_as_it_is_where_nobody_sends_along_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(&folder, "two.edges", b"0 1\n2 3\n");
    assert!(load_graph(&path, LoadOptions::default()).is_err());
    let options = LoadOptions {
        disconnected: true,
        ..LoadOptions::default()
    };
    let (graph, _) = load_graph(&path, options).expect("any graph");
    assert_eq!((graph.nodes(), graph.edges()), (4, 2));
}

#[test]
fn options_merge_edges_and_compare_node_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(&folder, "p.edges.gz", &gzip(b"0 1\n1 2\n2 1\n"));
    let error = load(&path, LoadOptions::default())
        .expect_err("parallel")
        .to_string();
    assert!(
        error.contains("p.edges.gz:3: the edge 1 - 2 again"),
        "{error}"
    );
    let options = LoadOptions {
        merge_parallel: true,
        nodes: Some(3),
        ..LoadOptions::default()
    };
    let topology = load(&path, options).expect("merged");
    assert_eq!(
        (topology.graph().edges(), topology.provenance().merged_edges),
        (2, 1)
    );
    let error = load(
        &path,
        LoadOptions {
            nodes: Some(4),
            ..options
        },
    )
    .expect_err("mismatch");
    assert!(matches!(
        error,
        TopologyError::NodeCountMismatch {
            declared: 3,
            wanted: 4
        }
    ));
}

#[test]
fn unreadable_files_are_reported_and_large_ones_not_read_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let absent = load(&folder.path().join("absent.edges"), LoadOptions::default());
    assert!(matches!(absent, Err(TopologyError::Unreadable { .. })));
    let strange = load(&folder.path().join("graph.dot"), LoadOptions::default());
    assert!(
        strange
            .expect_err("unknown")
            .to_string()
            .contains(".graphml")
    );
    let broken = write(&folder, "broken.edges.gz", b"0 1\n");
    assert!(matches!(
        load(&broken, LoadOptions::default()),
        Err(TopologyError::File {
            problem: FileProblem::CorruptGzip | FileProblem::TruncatedGzip,
            ..
        })
    ));
    let bomb = write(&folder, "bomb.edges.gz", &gzip(&vec![b'\n'; 3 << 20]));
    assert!(
        read(&bomb, true, 1 << 20)
            .expect_err("too large")
            .to_string()
            .contains("1048576 bytes")
    );
    let recipe = write(&folder, "long.toml", &vec![b'#'; MAX_RECIPE + 1]);
    assert!(load(&recipe, LoadOptions::default()).is_err());
}

#[test]
fn recipes_generate_or_point_to_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let load =
        |name: &str, text: &str, options| load(&write(&folder, name, text.as_bytes()), options);
    let head = "name = \"r\"\ndescription = \"d\"\n";
    let ring = format!("{head}[generator]\ngenerator = \"ring\"\n");
    let any = LoadOptions::default();
    assert!(matches!(
        load("a.toml", &ring, any),
        Err(TopologyError::NodeCountUnknown { .. })
    ));
    let eight = LoadOptions {
        nodes: Some(8),
        ..any
    };
    assert_eq!(
        load("a.toml", &ring, eight)
            .expect("a ring")
            .graph()
            .edges(),
        8
    );
    let nine = load("b.toml", &format!("{ring}n = 9\n"), eight);
    assert!(matches!(
        nine,
        Err(TopologyError::NodeCountMismatch {
            declared: 9,
            wanted: 8
        })
    ));
    write(&folder, "g.edges", b"0 1\n1 0\n2 3\n");
    let file =
        format!("{head}file = \"g.edges\"\nlargest_component = true\nparallel_edges = \"merge\"\n");
    let topology = load("c.toml", &file, any).expect("both options");
    assert_eq!((topology.graph().nodes(), topology.graph().edges()), (2, 1));
    let expected =
        "[expected]\nnodes = 3\nedges = 1\nspectral_gap = 1.0\nalgebraic_connectivity = 2.0\n";
    let wrong = load("d.toml", &format!("{file}{expected}"), any)
        .expect_err("not 3")
        .to_string();
    assert!(
        wrong.contains("expects 3 nodes, the graph has 2"),
        "{wrong}"
    );
}

#[test]
fn recipe_faults_name_line_and_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let message = |text: &str| {
        load(
            &write(&folder, "r.toml", text.as_bytes()),
            LoadOptions::default(),
        )
        .expect_err(text)
        .to_string()
    };
    let head = "name = \"r\"\ndescription = \"d\"\n";
    assert!(message(&format!("{head}colour = 1\n")).contains("r.toml:3: not a valid recipe"));
    assert!(
        message(&format!(
            "{head}\n[generator]\ngenerator = \"ring\"\nk = 2\n"
        ))
        .contains("`k`")
    );
    assert!(message(head).contains("found neither"));
    for file in ["/etc/graph.edges", "other.toml", "graph.png"] {
        let text = message(&format!("{head}file = \"{file}\"\n"));
        assert!(text.contains("relative to the recipe"), "{text}");
    }
}

const FORMATS: [Format; 3] = [Format::Edges, Format::GraphMl, Format::Gml];

#[test]
fn a_stated_number_of_nodes_is_the_only_one_above_the_length_of_a_file() {
    survive(b"2");
    survive(b"4000000");
    survive(b"4000001");
    survive(b"# node 0 a\n031\n1 2\n2 0\n");
}

fn survive(bytes: &[u8]) {
    for format in FORMATS {
        for merge in [false, true] {
            if let Ok(graph) = format.parse(bytes).and_then(|p| p.into_graph(merge)) {
                // An edge list may say how many nodes there are, on its first line that is no comment.
                let text = String::from_utf8_lossy(bytes);
                let first = text
                    .lines()
                    .map(str::trim)
                    .find(|line| !line.is_empty() && !line.starts_with('#'));
                let first = first.and_then(|line| line.split_whitespace().next());
                let said = first.and_then(|first| first.parse().ok()) == Some(graph.nodes());
                assert!(graph.nodes() <= bytes.len() || (said && format == Format::Edges));
                assert!(graph.edges() <= bytes.len());
            }
        }
    }
    let _ = recipe::parse(bytes);
}

proptest! {
    #[test]
    fn no_reader_panics_on_arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        survive(&bytes);
    }

    #[test]
    fn no_reader_panics_on_damaged_files(
        which in 0_usize..3,
        cut in any::<prop::sample::Index>(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let text = [GRAPHML, GML, "# node 0 a\n0 1\n1 2\n2 0\n"][which];
        let mut bytes = text.as_bytes().to_vec();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        survive(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        survive(&bytes);
    }

    #[test]
    fn no_reader_panics_on_plausible_tokens(
        tokens in proptest::collection::vec(
            prop::sample::select(vec![
                "graph", "[", "]", "node", "edge", "id", "source", "target", "label", "directed",
                "0", "1", "2", "\"a\"", "\n", "#", "<graph>", "</graph>", "<node id=\"0\"/>", "<node id=\"1\">",
                "</node>", "<edge source=\"0\" target=\"1\"/>", "<data key=\"d\">", "</data>", "&amp;", "&#0;",
                "<![CDATA[x]]>", "<!DOCTYPE x [<!ENTITY a \"b\">]>", "<key id=\"d\" for=\"node\" attr.name=\"name\"/>",
            ]),
            0..60,
        ),
    ) {
        survive(tokens.join(" ").as_bytes());
    }

    #[test]
    fn any_graph_survives_writing_and_reading(
        n in 2_u32..12,
        extra in proptest::collection::vec((0_u32..12, 0_u32..12), 0..20),
        named in any::<bool>(),
    ) {
        let mut list: Vec<(u32, u32)> = (1..n).map(|v| (v - 1, v)).collect();
        list.extend(extra.into_iter().filter(|(u, v)| u < v && *v < n));
        list.sort_unstable();
        list.dedup();
        let mut original = Graph::from_edges(n as usize, &list).expect("simple");
        if named {
            let names = (0..n).map(|u| format!("node number {u}")).collect();
            original = original.with_names(names).expect("one each");
        }
        let mut bytes = Vec::new();
        write_edges(&original, &mut bytes).expect("to memory");
        let read = Format::Edges.parse(&bytes).and_then(|p| p.into_graph(false)).expect("valid");
        prop_assert_eq!(read, original);
    }
}
