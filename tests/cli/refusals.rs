//! Bad input exits with 2 and one message: which file, which key, what was found, what would do.

use crate::support::scratch::{SIM, Scratch};

/// Runs the changed experiment and checks that the refusal says all of `words`.
fn assert_refused(scratch: &Scratch, arguments: &str, words: &[&str]) {
    let shown = scratch.undertone(&format!("run {arguments} --out out"));
    assert_eq!(shown.code, Some(2), "{arguments}: {}", shown.stderr);
    assert_eq!(shown.stdout, "", "{arguments}");
    assert!(
        shown.stderr.starts_with("error: "),
        "{arguments}: {}",
        shown.stderr
    );
    for word in words {
        assert!(
            shown.stderr.contains(word),
            "{arguments}: no {word:?} in {}",
            shown.stderr
        );
    }
    assert!(!shown.stderr.contains("panicked"), "{}", shown.stderr);
    assert!(
        !scratch.path("out").exists(),
        "{arguments}: a refused run leaves nothing behind"
    );
}

#[test]
fn the_experiment_the_refusals_start_from_is_good() {
    let scratch = Scratch::new();
    let shown = scratch.undertone("run sims/sim.toml --out out");
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
}

#[test]
fn values_out_of_range_are_refused_with_file_key_finding_and_range() {
    let scratch = Scratch::new();
    let refused: [(&str, &[&str]); 22] = [
        (
            "averaging.values=f32 --set engine.kind=federated",
            &[
                "[averaging]",
                "values = \"f32\"",
                "\"federated\"",
                "lockstep",
            ],
        ),
        (
            "averaging.values=residues-32",
            &["residues-32", "`f64`", "`f32`"],
        ),
        (
            "algorithm.block=4",
            &["block = 4", "\"power\"", "leave block out"],
        ),
        (
            "algorithm.kind=krylov --set algorithm.block=2",
            &["block = 2", "rank = 3", "(20)"],
        ),
        (
            "algorithm.kind=covariance",
            &["covariance", "algorithm.iterations = 1", "found 2"],
        ),
        (
            "algorithm={kind=\"covariance\",rank=3,iterations=1} --set privacy.sensitivity=row-norm",
            &["packed triangle", "row-norm", "user + exact"],
        ),
        ("privacy.epsilon=0", &["epsilon", "is 0", "above 0"]),
        ("privacy.epsilon=nan", &["epsilon", "NaN", "finite"]),
        ("privacy.epsilon=-1", &["epsilon", "-1", "above 0"]),
        ("privacy.delta=1", &["delta", "is 1", "between 0 and 1"]),
        ("privacy.delta=0", &["delta", "is 0", "between 0 and 1"]),
        ("privacy.overhead=-0.1", &["overhead", "-0.1", "above 0"]),
        (
            "privacy.colluders=8",
            &["colluders = 8", "8 peers", "at most 7"],
        ),
        ("algorithm.rank=21", &["rank = 21", "20", "lower rank"]),
        (
            "data.items=2",
            &["rank = 3", "2 are left", "raise data.items"],
        ),
        (
            "algorithm.rank=0",
            &["algorithm.rank", "is 0", "at least 1"],
        ),
        (
            "algorithm.iterations=0",
            &["algorithm.iterations", "0", "at least 1"],
        ),
        (
            "averaging.rounds=0",
            &["[averaging]", "rounds", "found 0", "between 1"],
        ),
        (
            "averaging.tolerance=2",
            &["averaging.tolerance", "found 2", "between 0 and 1"],
        ),
        (
            "data.degree_floor=0",
            &["degree_floor", "integer `0`", "at least 1"],
        ),
        // Under noise no data at all are data like any other.
        (
            "data.threshold=9 --set noise.scheme=none",
            &["data.threshold = 9", "lower it"],
        ),
        ("peers.count=900", &["900 peers", "40 users", "at most 40"]),
    ];
    for (change, words) in refused {
        let words = [words, &["sims/sim.toml"]].concat();
        assert_refused(&scratch, &format!("sims/sim.toml --set {change}"), &words);
    }
}

#[test]
fn unknown_keys_and_wrong_types_are_refused_with_the_change_and_the_key() {
    let scratch = Scratch::new();
    let refused: [(&str, &[&str]); 9] = [
        (
            "privacy.eps=1",
            &["privacy.eps=1", "unknown field `eps`", "`epsilon`"],
        ),
        (
            "algorithm.rank=four",
            &["algorithm.rank", "\"four\"", "expected"],
        ),
        ("seed=-1", &["`seed`", "-1", "expected"]),
        ("engine.kind=warp", &["engine.kind", "`warp`", "`lockstep`"]),
        (
            "topology.generator=donut",
            &["`donut`", "`random-regular`", "topology"],
        ),
        ("topology.degre=4", &["`degre`", "degree", "topology"]),
        (
            "data.format=parquet",
            &["data.format", "`parquet`", "`movielens-csv`"],
        ),
        ("peers.count=0", &["peers.count", "`0`", "at least 1"]),
        (
            "nonsense",
            &["set nonsense", "key=value", "privacy.epsilon=1.0"],
        ),
    ];
    for (change, words) in refused {
        assert_refused(&scratch, &format!("sims/sim.toml --set {change}"), words);
    }
    assert_refused(
        &scratch,
        "sims/sim.toml --engine warp",
        &["engine.kind", "`warp`", "`event`"],
    );
}

#[test]
fn errors_in_the_file_itself_point_at_file_and_line() {
    let scratch = Scratch::new();
    let refused: [(&str, &str, &[&str]); 5] = [
        (
            "seed = 3",
            "seed = \"three\"",
            &["line 2", "\"three\"", "expected"],
        ),
        (
            "items = 20",
            "itmes = 20",
            &["line 7", "`itmes`", "`items`"],
        ),
        ("rank = 3\n", "", &["[algorithm]", "missing field `rank`"]),
        ("[privacy]", "[privacy", &["line 23"]),
        (
            "tolerance = 1e-9",
            "tolerance = 1e-9\nrounds = 4",
            &["[averaging]", "tolerance", "rounds", "not both"],
        ),
    ];
    for (from, to, words) in refused {
        assert!(SIM.contains(from), "{from}");
        scratch.write("sims/bad.toml", &SIM.replace(from, to));
        let words = [words, &["sims/bad.toml"]].concat();
        assert_refused(&scratch, "sims/bad.toml", &words);
    }
}

#[test]
fn files_that_are_not_there_are_named() {
    let scratch = Scratch::new();
    assert_refused(
        &scratch,
        "sims/none.toml",
        &["sims/none.toml", "cannot read"],
    );
    assert_refused(&scratch, "sims", &["cannot read", "sims"]);
    let missing = [
        ("data.path=none.csv", "sims/none.csv"),
        ("topology={file=\"none.edges\"}", "sims/none.edges"),
    ];
    for (change, file) in missing {
        assert_refused(
            &scratch,
            &format!("sims/sim.toml --set {change}"),
            &[file, "sims/sim.toml"],
        );
    }
}

#[test]
fn topologies_that_do_not_fit_are_refused_with_the_way_out() {
    let scratch = Scratch::new();
    let pieces = "sims/sim.toml --set topology={file=\"pieces.edges\"}";
    assert_refused(
        &scratch,
        pieces,
        &[
            "sims/pieces.edges",
            "2 components",
            "5 of 8 nodes",
            "largest_component",
        ],
    );
    let karate = "sims/sim.toml --set topology={file=\"karate.toml\"}";
    assert_refused(
        &scratch,
        karate,
        &["34 nodes", "8 peers", "peers.count = 34"],
    );
    assert_refused(
        &scratch,
        &format!("{karate} --set peers.count=34 --set privacy.colluders=1"),
        &[
            "peer 0 is a cut vertex",
            "11",
            "colluders = 0",
            "smallest-component",
        ],
    );
    let ring = "sims/sim.toml --set topology={generator=\"ring\"} --set privacy.colluders=2";
    assert_refused(
        &scratch,
        ring,
        &[
            "colluders = 2",
            "algebraic connectivity",
            "colluders to",
            "degree",
        ],
    );
}

#[test]
fn noise_that_would_protect_nobody_on_this_engine_is_refused() {
    let scratch = Scratch::new();
    for engine in ["lockstep", "event"] {
        assert_refused(
            &scratch,
            &format!("sims/sim.toml --set noise.scheme=independent --engine {engine}"),
            &["independent", "secure aggregation", "pairwise", "federated"],
        );
    }
    let federated = "run sims/sim.toml --set noise.scheme=independent --engine federated --out f";
    assert_eq!(scratch.undertone(federated).code, Some(0));
}

#[cfg(not(feature = "node"))]
#[test]
fn a_build_without_libp2p_says_so() {
    let scratch = Scratch::new();
    let shown = scratch.undertone("run sims/sim.toml --engine swarm");
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(2), ""));
    for word in ["swarm", "libp2p", "feature `node`"] {
        assert!(shown.stderr.contains(word), "{}", shown.stderr);
    }
}

#[test]
fn an_output_folder_that_cannot_be_made_is_named() {
    let scratch = Scratch::new();
    let shown = scratch.undertone("run sims/sim.toml --out sims/ratings.csv/out");
    assert_eq!(shown.code, Some(2));
    assert!(
        shown.stderr.contains("sims/ratings.csv/out: ")
            && shown.stderr.contains("choose another folder")
    );
    // Before the run, not after hours of it: an engine that is not built in does not get to complain.
    #[cfg(not(feature = "node"))]
    {
        let shown =
            scratch.undertone("run sims/sim.toml --engine swarm --out sims/ratings.csv/out");
        assert!(shown.stderr.contains("choose another folder") && !shown.stderr.contains("libp2p"));
    }
}

#[test]
fn verify_and_privacy_refuse_what_run_refuses() {
    let scratch = Scratch::new();
    for command in ["verify", "privacy"] {
        let shown = scratch.undertone(&format!("{command} sims/sim.toml --set privacy.epsilon=0"));
        assert_eq!(
            (shown.code, shown.stdout.as_str()),
            (Some(2), ""),
            "{command}"
        );
        assert!(shown.stderr.contains("sims/sim.toml") && shown.stderr.contains("epsilon is 0"));
    }
    let shown = scratch.undertone("verify sims/sim.toml --significance 2");
    assert_eq!(shown.code, Some(2));
    assert!(shown.stderr.contains("--significance") && shown.stderr.contains("found 2"));
}
