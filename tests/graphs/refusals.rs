//! What does not go with a private graph is refused, with what to change.

use undertone::config::read_config;
use undertone::scenario::Experiment;

use crate::support::repository;

fn refused(file: &str, set: &[&str]) -> String {
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    let path = repository("sims").join(file);
    let mut config = match read_config(&path, &set) {
        Ok(config) => config,
        Err(error) => return error.to_string(),
    };
    config.sweep = None;
    let resolved = Experiment::resolve(config, &repository("sims"));
    resolved.expect_err("refused").to_string()
}

#[test]
fn keys_that_do_not_fit_a_graph_are_refused_with_what_to_change() {
    for (set, says) in [
        (&["peers.count=77"][..], "peers.count = \"vertices\""),
        (&["peers.count=users"], "peers.count = \"vertices\""),
        (&["peers.partition=random"], "leave peers.partition out"),
        (&["data.threshold=1"], "threshold is about ratings"),
        (&["data.degree_floor=3"], "degree_floor is about ratings"),
        (&["data.row_clip=3"], "row_clip is about ratings"),
        (&["privacy.adjacency=user"], "privacy.adjacency = \"edge\""),
        (
            &["privacy.sensitivity=row-norm"],
            "leave privacy.sensitivity at \"exact\"",
        ),
        (
            &["algorithm.kind=krylov"],
            "\"power\", \"ppi\" and \"deflation\"",
        ),
        (
            &["algorithm.kind=covariance", "algorithm.iterations=1"],
            "\"deflation\"",
        ),
        (&["algorithm.start=popularity"], "leave algorithm.start"),
        (&["noise.scheme=ring"], "noise.scheme = \"local\""),
        (&["evaluation.diagnostics=true"], "leave [evaluation] out"),
        (&["engine.kind=analytic"], "engine.kind = \"lockstep\""),
        (
            &["privacy.adjacency=entry-bipartite"],
            "a format of matrices",
        ),
    ] {
        let text = refused("graph-eigenvector.toml", set);
        assert!(text.contains(says), "{set:?}: {text}");
    }
    for (set, says) in [
        (
            &["algorithm.iterations=9"][..],
            "an even number of algorithm.iterations",
        ),
        (&["algorithm.kind=deflation"], "\"power\" or \"ppi\""),
        (
            &["privacy.adjacency=entry"],
            "privacy.adjacency = \"entry-bipartite\"",
        ),
        (&["data.row_clip=2"], "row_clip is about ratings or rows"),
    ] {
        let text = refused("lower-bound.toml", set);
        assert!(text.contains(says), "{set:?}: {text}");
    }
    let ratings = [
        "data.values=ratings",
        "data.degree_floor=1",
        "data.ranges=[0.5, 5]",
        "data.scale=[-0.5, 0.5]",
        "data.items=100",
        "privacy.sensitivity=unit-row",
        "privacy.adjacency=rating",
        "algorithm.kind=isometric-covariance",
        "algorithm.iterations=1",
    ];
    let with = |more: &[&str]| refused("quickstart.toml", &[&ratings[..], more].concat());
    let text = with(&["data.row_clip=4.9"]);
    assert!(text.contains("set it to at least 5"), "{text}");
    let text = with(&["data.row_clip=5", "data.centre=user"]);
    assert!(text.contains("set a number, or adjacency"), "{text}");
    let text = with(&["data.row_clip=5", "data.degree_cap=20"]);
    assert!(text.contains("degree_cap"), "{text}");
    let text = refused("quickstart.toml", &["privacy.adjacency=rating"]);
    assert!(text.contains("is not \"ratings\""), "{text}");
    let text = refused("quickstart.toml", &["privacy.adjacency=edge"]);
    assert!(
        text.contains("set that format, or another adjacency"),
        "{text}"
    );
    let text = refused("quickstart.toml", &["peers.count=vertices"]);
    assert!(text.contains("give both or neither"), "{text}");
}

/// Whoever sees who sends to whom would have the edges. Without noise nothing is promised.
#[test]
fn the_private_graph_is_not_the_one_that_everybody_sees() {
    let own = r#"topology={file="../topologies/les-miserables.toml"}"#;
    let text = refused("graph-eigenvector.toml", &[own]);
    assert!(
        text.contains("[topology] names the file of data.path"),
        "{text}"
    );
    let own = r#"noise_topology={file="../topologies/les-miserables.edges"}"#;
    let text = refused("graph-eigenvector.toml", &[own]);
    assert!(text.contains("[noise_topology] names the file"), "{text}");
    let open = super::experiment(&[
        r#"topology={file="../topologies/les-miserables.edges"}"#,
        "noise.scheme=none",
    ]);
    assert_eq!(open.topology().graph().edges(), 254);
}

#[test]
fn files_that_are_no_graph_are_refused_with_their_line_and_missing_ones_with_how_to_get_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("writable");
        format!("data.path={}", path.display())
    };
    for (name, text, says) in [
        ("twice.edges", "0 1\n1 2\n2 1\n", "twice.edges:3"),
        ("loop.edges", "0 1\n1 1\n", "loop.edges:2"),
        (
            "weights.edges",
            "0 1 5\n",
            "weights.edges: a column of numbers beside the edges",
        ),
        ("graph.csv", "0 1\n", "graph.csv"),
    ] {
        let text = refused("graph-eigenvector.toml", &[&write(name, text)]);
        assert!(text.contains(says), "{name}: {text}");
    }
    let missing = folder.path().join("none.edges").display().to_string();
    let text = refused(
        "graph-eigenvector.toml",
        &[&format!("data.path={missing}"), "data.obtain=ask for it"],
    );
    assert!(
        text.contains("there is no file") && text.contains("ask for it"),
        "{text}"
    );
    // A graph in two pieces is a graph: a refusal would tell whether a bridge is there.
    let two = write("two.edges", "0 1\n2 3\n4 5\n6 7\n0 8\n9 2\n8 10\n9 11\n");
    let two = super::experiment(&[&two]);
    assert_eq!(two.peer_rows().len(), 12);
}
