//! `verify --results`: every file that a run left is held against another run, and `trace/` has what its sums follow from.

use std::collections::BTreeMap;

use serde_json::Value;

use super::outputs::numpy;
use crate::support::scratch::Scratch;

/// Completion of ratings that are numbers.
const COMPLETION: &str = "--set data.degree_floor=1 --set data.values=ratings --set data.ranges=[1,5] --set data.centre=user --set data.row_clip=4 \
                          --set data.degree_cap=30 --set completion.test_share=0.1 --set privacy.adjacency=user \
                          --set privacy.sensitivity=unit-row --set privacy.epsilon=20 \
                          --set algorithm={kind=\"frank-wolfe\",rank=2,iterations=3,nuclear=30}";

/// A Gram matrix that recommends.
const RECOMMENDER: &str = "--set recommender.items=15 --set algorithm={kind=\"isometric-covariance\",rank=2,iterations=1}";

/// An algorithm that is chosen after a pilot.
const CHOSEN: &str = "--set algorithm={kind=\"auto\",rank=2} --set pilot.share=0.1 --set averaging={scheme=\"tree\"}";

/// All files of a folder of results and of its trace.
fn files(scratch: &Scratch) -> Vec<String> {
    let names = |folder: &str| {
        let entries = std::fs::read_dir(scratch.path(folder)).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names
            .map(|name| format!("{folder}/{}", name.to_string_lossy()))
            .collect::<Vec<String>>()
    };
    let mut files = names("out");
    files.retain(|name| name != "out/trace");
    files.extend(names("out/trace"));
    files
}

/// Whether each check of one more run passed, by name.
fn verified(scratch: &Scratch, set: &str) -> BTreeMap<String, bool> {
    let shown = scratch.undertone(&format!(
        "verify sims/sim.toml --runs 2 --json --results out {set}"
    ));
    let document: Value =
        serde_json::from_str(&shown.stdout).unwrap_or_else(|_| panic!("{}", shown.stderr));
    let checks = document["checks"].as_array().expect("a list").iter();
    let checks = checks.filter(|check| check["kind"] == "again");
    let named = |check: &Value| {
        (
            check["name"].as_str().expect("a name").to_owned(),
            check["passed"] == true,
        )
    };
    let checks: BTreeMap<String, bool> = checks.map(named).collect();
    if checks.values().any(|passed| !passed) {
        assert_eq!(shown.code, Some(1), "{}", shown.stderr);
    }
    checks
}

#[test]
fn a_byte_changed_in_any_file_is_found_and_so_is_a_file_too_many() {
    let mut all = Vec::new();
    for set in [
        "",
        "--set algorithm.output=low-rank",
        COMPLETION,
        RECOMMENDER,
        CHOSEN,
    ] {
        let scratch = Scratch::new();
        let run = scratch.undertone(&format!(
            "run sims/sim.toml --out out --trace --quiet {set}"
        ));
        assert_eq!(run.code, Some(0), "{set}: {}", run.stderr);
        let honest = verified(&scratch, set);
        let red = honest.iter().filter(|(_, passed)| !**passed);
        assert_eq!(
            red.map(|(name, _)| name).collect::<Vec<_>>(),
            [] as [&str; 0],
            "{set}"
        );

        let files = files(&scratch);
        assert_eq!(honest.len(), files.len() + 1, "{honest:?} {files:?}");
        for name in &files {
            let mut bytes = scratch.read(name);
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x11;
            std::fs::write(scratch.path(name), bytes).expect("writable");
        }
        scratch.write("out/trace/sum-99.npy", "surplus");
        scratch.write("out/notes.txt", "surplus");
        for (name, passed) in verified(&scratch, set) {
            assert!(!passed, "{set}: {name} holds");
        }
        all.extend(files);
    }
    for name in [
        "low-rank-left.npy",
        "directions.npy",
        "completion.toml",
        "eigenvalues.csv",
        "recommender.toml",
        "catalogue.csv",
        "advice.json",
        "consensus.csv",
        "report.html",
        "trace/sum-1.npy",
    ] {
        assert!(all.contains(&format!("out/{name}")), "{name}: {all:?}");
    }
}

/// A trace that is not all there is not one, and results without it hold.
#[test]
fn results_hold_without_a_trace_and_not_with_half_of_one() {
    let scratch = Scratch::new();
    let run = scratch.undertone("run sims/sim.toml --out out --trace --quiet");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    std::fs::remove_file(scratch.path("out/trace/sum-1.npy")).expect("it was written");
    let half = scratch.undertone("verify sims/sim.toml --runs 2 --results out --quiet");
    assert_eq!(half.code, Some(2), "{}", half.stderr);
    assert!(half.stderr.contains("sum-1.npy"), "{}", half.stderr);
    std::fs::remove_dir_all(scratch.path("out/trace")).expect("it was written");
    assert!(verified(&scratch, "").values().all(|passed| *passed));
}

/// Without noise a sum is A X for the query X of its number: of any two, Xᵀ(A Z) = (Zᵀ(A X))ᵀ, and all follow from the ratings' Gram matrix.
#[test]
fn every_sum_of_a_trace_follows_from_the_query_before_it() {
    for (kind, set, sums) in [
        ("deflation", "rank=2,iterations=2", &[1, 2, 4, 5][..]),
        ("krylov", "rank=3,iterations=3", &[1, 2, 3][..]),
        ("power", "rank=3,iterations=3", &[1, 2, 3][..]),
    ] {
        let scratch = Scratch::new();
        let run = scratch.undertone(&format!(
            "run sims/sim.toml --out out --trace --quiet --set noise.scheme=none --set algorithm={{kind=\"{kind}\",{set}}}"
        ));
        assert_eq!(run.code, Some(0), "{kind}: {}", run.stderr);
        let array = |name: String| numpy(&scratch.read(&format!("out/trace/{name}.npy")));
        let pairs: Vec<_> = sums
            .iter()
            .map(|l| (array(format!("basis-{}", l - 1)), array(format!("sum-{l}"))))
            .collect();
        let mut compared = 0;
        for (((rows, p), x), ((_, q), ax)) in &pairs {
            assert_eq!(p, q, "{kind}: the shape of a query is that of its sum");
            for (((_, r), z), (_, az)) in &pairs {
                for (i, j) in (0..*p).flat_map(|i| (0..*r).map(move |j| (i, j))) {
                    let dot = |a: &[f64], b: &[f64]| {
                        (0..*rows).map(|k| a[k * p + i] * b[k * r + j]).sum::<f64>()
                    };
                    let (one, other) = (dot(x, az), dot(ax, z));
                    assert!((one - other).abs() < 1e-6, "{kind}: {one} and {other}");
                    compared += 1;
                }
            }
        }
        assert!(compared > 4, "{kind}");
        let estimates = std::fs::read_dir(scratch.path("out/trace")).expect("a folder");
        let estimates = estimates.filter(|entry| {
            let name = entry.as_ref().expect("an entry").file_name();
            name.to_string_lossy().starts_with("estimate-")
        });
        assert_eq!(estimates.count() > 0, kind != "power", "{kind}");
    }
}
