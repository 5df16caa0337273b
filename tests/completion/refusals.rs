//! Keys that do not go together are refused, each with what to change.

use undertone::scenario::Experiment;

use super::{config, sims};

fn refused(set: &[&str]) -> String {
    let config = config("completion-small.toml", set);
    let error = Experiment::resolve(config, &sims()).expect_err("refused");
    error.to_string()
}

#[test]
fn keys_of_completion_that_do_not_fit_are_named() {
    let cases: &[(&[&str], &str)] = &[
        (&["algorithm.iterations=1"], "set algorithm.iterations = 2"),
        (
            &["completion.item_means=false"],
            "set algorithm.iterations = 1",
        ),
        (&["completion.shares=[0.5, 0.5, 0]"], "completion.shares"),
        (&["completion.shares=[0.5, 0.5, 0.5]"], "completion.shares"),
        (&["completion.shares=[nan, 0.5, 0.5]"], "completion.shares"),
        (&["completion.test_share=0"], "test_share must lie strictly"),
        (&["completion.test_share=1"], "test_share must lie strictly"),
        (
            &["completion.test_share=nan"],
            "test_share must lie strictly",
        ),
        (&["evaluation.holdout=0.2"], "leave them out"),
        (&["privacy.adjacency=interaction"], "\"replace-user\""),
        (&["privacy.adjacency=matrix"], "\"replace-user\""),
        (&["privacy.sensitivity=exact"], "sensitivity = \"unit-row\""),
        (&["algorithm.kind=power"], "predicts none"),
        (&["algorithm.rank=101"], "rank = 101 needs"),
        (&["data.degree_cap=0"], "degree_cap"),
        (&["engine.kind=analytic"], "analytic"),
        (&["privacy.budget=[1, 2]"], "weights"),
    ];
    for (set, words) in cases {
        let text = refused(set);
        assert!(text.contains(words), "{set:?}: {text}");
    }
}

/// What would leave nothing to predict, or nothing to clip predictions to.
#[test]
fn ratings_are_asked_for() {
    let without = |key: &str| {
        let text = std::fs::read_to_string(sims().join("completion-small.toml")).expect("there");
        let line = text.lines().find(|line| line.starts_with(key));
        let text = text.replace(line.expect("a line"), "");
        let mut config: undertone::config::Config = toml::from_str(&text).expect("valid");
        config.sweep = None;
        let error = Experiment::resolve(config, &sims()).expect_err("refused");
        error.to_string()
    };
    for (key, words) in [
        ("values", "set data.values = \"ratings\""),
        ("ranges", "ranges is missing"),
        ("row_clip", "row_clip is missing"),
    ] {
        let text = without(key);
        assert!(text.contains(words), "{key}: {text}");
    }
}
