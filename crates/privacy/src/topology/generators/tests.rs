//! Conformance of every family, and what single families promise.

use super::*;

fn edges(graph: &Graph) -> Vec<(u32, u32)> {
    graph.edge_list().collect()
}

fn parse(text: &str) -> Result<GeneratorConfig, toml::de::Error> {
    toml::from_str(text)
}

fn generate(text: &str, nodes: usize) -> Result<Graph, TopologyError> {
    parse(text).expect("a valid configuration").generate(nodes)
}

#[test]
fn every_family_gives_the_same_connected_graph_for_the_same_seed() {
    for entry in REGISTRY {
        let (config, nodes) = (entry.example)(7);
        assert_eq!(config.name(), entry.name);
        let graph = config.generate(nodes).expect(entry.name);
        assert_eq!(graph.nodes(), nodes, "{}", entry.name);
        assert!(graph.is_connected(), "{}", entry.name);
        assert_eq!(graph, config.generate(nodes).expect(entry.name));
        let other = (entry.example)(8).0.generate(nodes).expect(entry.name);
        assert_eq!(
            edges(&graph) != edges(&other),
            config.is_random(),
            "{}: another seed gives another graph exactly if the family is random",
            entry.name
        );
    }
}

#[test]
fn every_family_is_written_and_read_as_a_table_with_its_name() {
    for entry in REGISTRY {
        let (config, _) = (entry.example)(7);
        let text = toml::to_string(&config).expect(entry.name);
        assert!(text.contains(&format!("generator = \"{}\"", entry.name)));
        assert_eq!(parse(&text).expect(entry.name), config);
        let error = parse(&format!("{text}\nspeed = 3\n")).expect_err("an unknown key");
        assert!(error.to_string().contains("speed"), "{error}");
    }
    assert!(parse("generator = \"moebius\"").is_err());
    let config =
        parse("generator = \"random-regular\"\ndegree = 10\nseed = 1\nn = 50").expect("valid");
    assert_eq!(config.nodes(), Some(50));
}

#[test]
fn every_family_refuses_absurd_numbers_of_nodes_and_disagreeing_ones() {
    for entry in REGISTRY {
        let (config, nodes) = (entry.example)(7);
        for absurd in [0, MAX_NODES + 1, usize::MAX] {
            assert!(config.generate(absurd).is_err(), "{} {absurd}", entry.name);
        }
        let text = toml::to_string(&config).expect(entry.name);
        let fixed = parse(&format!("{text}n = {nodes}")).expect(entry.name);
        assert!(matches!(
            fixed.generate(nodes + 1),
            Err(TopologyError::NodeCountMismatch { declared, wanted })
                if declared == nodes && wanted == nodes + 1
        ));
    }
}

#[test]
fn every_family_survives_every_small_number_of_nodes() {
    for entry in REGISTRY {
        for nodes in 1..=16 {
            if let Ok(graph) = (entry.example)(3).0.generate(nodes) {
                assert_eq!(graph.nodes(), nodes);
                assert!(graph.is_connected());
            }
        }
    }
}

#[test]
fn random_regular_graphs_are_regular_sparse_or_dense() {
    for (nodes, degree) in [
        (2, 1),
        (10, 3),
        (10, 9),
        (11, 8),
        (40, 30),
        (9, 2),
        (600, 60),
    ] {
        let graph = generate(
            &format!("generator = \"random-regular\"\ndegree = {degree}\nseed = 4"),
            nodes,
        )
        .expect("valid");
        assert_eq!((graph.min_degree(), graph.max_degree()), (degree, degree));
    }
    assert!(matches!(
        generate("generator = \"random-regular\"\ndegree = 3\nseed = 1", 9),
        Err(TopologyError::OddDegreeSum {
            nodes: 9,
            degree: 3,
            ..
        })
    ));
    assert!(matches!(
        generate("generator = \"random-regular\"\ndegree = 9\nseed = 1", 9),
        Err(TopologyError::DegreeOutOfRange {
            found: 9,
            most: 8,
            ..
        })
    ));
}

#[test]
fn k_out_degrees_are_at_least_k_and_average_as_they_should() {
    let graph = generate("generator = \"k-out\"\nk = 20\nseed = 2", 1000).expect("valid");
    assert!(graph.min_degree() >= 20);
    // The number of coincident picks is about Poisson of mean 200: six standard deviations are 85
    // edges, 0.17 of mean degree; false alarm below 1e-8.
    let mean = 2.0 * graph.edges() as f64 / 1000.0;
    assert!((mean - (40.0 - 400.0 / 999.0)).abs() < 0.17, "{mean}");
}

#[test]
fn edge_counts_are_those_of_the_models() {
    let count = |text: &str, nodes| generate(text, nodes).expect("valid").edges();
    assert_eq!(count("generator = \"complete\"", 16), 120);
    assert_eq!(count("generator = \"hypercube\"", 64), 192);
    assert_eq!(count("generator = \"torus\"\nrows = 8", 64), 128);
    assert_eq!(count("generator = \"grid\"\ncolumns = 8", 64), 112);
    assert_eq!(
        count(
            "generator = \"barabasi-albert\"\nedges_per_node = 3\nseed = 1",
            200
        ),
        3 * 197
    );
    assert_eq!(
        count(
            "generator = \"barabasi-albert\"\nedges_per_node = 1\nseed = 1",
            200
        ),
        199
    );
    assert_eq!(
        count(
            "generator = \"watts-strogatz\"\ndegree = 6\nrewire = 0.5\nseed = 1",
            200
        ),
        600
    );
    // Binomial(19900, 0.1): standard deviation 42.3; six of them, false alarm 2e-9.
    let edges = count(
        "generator = \"erdos-renyi\"\nprobability = 0.1\nseed = 1",
        200,
    );
    assert!(edges.abs_diff(1990) < 254, "{edges}");
}

#[test]
fn watts_strogatz_interpolates_between_a_lattice_and_a_random_graph() {
    let graph = |rewire| {
        generate(
            &format!("generator = \"watts-strogatz\"\ndegree = 4\nrewire = {rewire}\nseed = 5"),
            200,
        )
        .expect("valid")
    };
    let lattice = graph("0.0");
    assert!((0..200_u32).all(|u| (1..=2).all(|d| lattice.has_edge(u, (u + d) % 200))));
    let kept = |g: &Graph| {
        (0..200_u32)
            .flat_map(|u| (1..=2).map(move |d| (u, (u + d) % 200)))
            .filter(|&(u, v)| g.has_edge(u, v))
            .count()
    };
    // 400 edges moved with probability 0.25: kept 300 ± 8.7 (a few return by chance); six deviations.
    assert!(kept(&graph("0.25")).abs_diff(302) < 55);
    assert!(kept(&graph("1.0")) < 30);
}

#[test]
fn errors_say_what_to_change() {
    let message = |text: &str, nodes| generate(text, nodes).expect_err(text).to_string();
    let hypercube = message("generator = \"hypercube\"", 100);
    assert!(hypercube.contains("128"), "{hypercube}");
    let sparse = message(
        "generator = \"erdos-renyi\"\nprobability = 0.001\nseed = 1",
        100,
    );
    assert!(
        sparse.contains("100 random graphs") && sparse.contains("`probability`"),
        "{sparse}"
    );
    let radius = message(
        "generator = \"random-geometric\"\nradius = 0.01\nseed = 1",
        50,
    );
    assert!(radius.contains("`radius`"), "{radius}");
    let torus = message("generator = \"torus\"", 14);
    assert!(
        torus.contains("2 rows × 7 columns") && torus.contains("at least 3"),
        "{torus}"
    );
    let grid = message("generator = \"grid\"\nrows = 3\ncolumns = 3", 9 + 1);
    assert!(
        grid.contains("9 nodes") && grid.contains("10 peers"),
        "{grid}"
    );
    let prime = message("generator = \"grid\"", 13);
    assert!(prime.contains("1 rows × 13"), "{prime}");
    let complete = message("generator = \"complete\"", 100_000);
    assert!(complete.contains("4999950000 edges"), "{complete}");
    for nan in ["nan", "-1.0", "1.5", "inf"] {
        for family in ["erdos-renyi\"\nprobability", "random-geometric\"\nradius"] {
            assert!(generate(&format!("generator = \"{family} = {nan}\nseed = 1"), 5).is_err());
        }
        let ws = format!("generator = \"watts-strogatz\"\ndegree = 2\nrewire = {nan}\nseed = 1");
        assert!(generate(&ws, 5).is_err());
    }
}

#[test]
fn a_disconnected_draw_is_returned_only_when_asked_for() {
    let config =
        parse("generator = \"erdos-renyi\"\nprobability = 0.001\nseed = 1").expect("valid");
    let graph = config.generate_any(100).expect("one draw");
    assert!(!graph.is_connected());
}

#[test]
#[ignore = "a measurement"]
fn large_graphs_take_reasonable_time() {
    for (text, nodes) in [
        ("random-regular\"\ndegree = 10\nseed = 1", 25_000),
        ("random-regular\"\ndegree = 10\nseed = 1", 100_000),
        ("random-regular\"\ndegree = 10\nseed = 1", 1_000_000),
        ("random-regular\"\ndegree = 60\nseed = 1", 2_000),
        ("random-regular\"\ndegree = 300\nseed = 1", 1_000),
        ("ring\"", 1_000_000),
        ("k-out\"\nk = 10\nseed = 1", 1_000_000),
        ("barabasi-albert\"\nedges_per_node = 5\nseed = 1", 1_000_000),
        (
            "watts-strogatz\"\ndegree = 10\nrewire = 0.1\nseed = 1",
            1_000_000,
        ),
        ("random-geometric\"\nradius = 0.02\nseed = 1", 20_000),
        ("erdos-renyi\"\nprobability = 0.00002\nseed = 1", 1_000_000),
    ] {
        let start = std::time::Instant::now();
        let graph = generate(&format!("generator = \"{text}"), nodes).expect(text);
        eprintln!(
            "{text:?} {nodes}: {} edges, {:?}",
            graph.edges(),
            start.elapsed()
        );
    }
}
