//! What does not go with a P is refused, with what to change.

use undertone::config::read_config;
use undertone::scenario::Experiment;

use crate::support::repository;

fn refused(file: &str, set: &[&str]) -> String {
    let set: Vec<String> = ["algorithm.precondition=items"]
        .iter()
        .chain(set)
        .map(ToString::to_string)
        .collect();
    let mut config = match read_config(&repository(file), &set) {
        Ok(config) => config,
        Err(error) => return error.to_string(),
    };
    config.sweep = None;
    let resolved = Experiment::resolve(config, &repository("sims"));
    resolved.expect_err("refused").to_string()
}

#[test]
fn what_p_does_not_go_with_is_refused_with_what_to_change() {
    let kinds = "set algorithm.kind = \"power\"";
    for (file, set, says) in [
        ("tests/power.toml", &["algorithm.kind=deflation"][..], kinds),
        (
            "tests/power.toml",
            &["algorithm.kind=ppi", "algorithm.rank=1"],
            kinds,
        ),
        ("sims/streaming-small.toml", &[], kinds),
        ("sims/completion-small.toml", &[], kinds),
        (
            "sims/graph-eigenvector.toml",
            &[],
            "peers.count = \"vertices\"",
        ),
        ("sims/lower-bound.toml", &[], "peers.count = \"vertices\""),
        ("sims/pca-digits.toml", &[], "data of numbers"),
        ("sims/clipping-digits.toml", &[], "data of numbers"),
        (
            "tests/power.toml",
            &[
                "algorithm.kind=clipped-power",
                "algorithm.clip=histogram",
                "privacy.adjacency=user",
                "privacy.sensitivity=unit-row",
            ],
            "with algorithm.kind = \"clipped-power\"",
        ),
        (
            "tests/power.toml",
            &["algorithm.output=low-rank"],
            "algorithm.output",
        ),
        (
            "tests/power.toml",
            &["algorithm.precondition_exponent=0.6"],
            "between 0 and 0.5, found 0.6",
        ),
        (
            "tests/power.toml",
            &["algorithm.precondition_exponent=nan"],
            "between 0 and 0.5",
        ),
        (
            "tests/power.toml",
            &["algorithm.precondition_shrinkage=-0.1"],
            "between 0 and 1, found -0.1",
        ),
        (
            "tests/power.toml",
            &["algorithm.precondition=noisy-items"],
            "`none` or `items`",
        ),
        (
            "tests/power.toml",
            &[
                "algorithm.precondition=none",
                "algorithm.precondition_exponent=0.5",
            ],
            "belongs to precondition = \"items\"",
        ),
    ] {
        let text = refused(file, set);
        assert!(text.contains(says), "{file} {set:?}: {text}");
    }
}
