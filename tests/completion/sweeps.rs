//! Sweeps by the error of predictions: figures, lines and files.

use undertone::campaign::sweep::Sweep;
use undertone::engine::Silent;
use undertone::run::run;
use undertone::scenario::Experiment;

use super::{config, sims};

const TABLE: &str = r#"
    seeds = 2
    error = "rmse"
    target = 0.87
    [over]
    "privacy.epsilon" = [1, 1000]
    [[methods]]
    name = "both"
    set = {}
    [[methods]]
    name = "one release"
    set = { "completion.item_means" = false, "algorithm.iterations" = 1 }
"#;

#[test]
fn a_sweep_draws_predictions_and_what_they_are_compared_with() {
    let mut config = config("completion-small.toml", &["engine.kind=central", "seed=4"]);
    config.sweep = Some(toml::from_str(TABLE).expect("valid"));
    let sweep = Sweep::new(config.clone(), &sims()).unwrap_or_else(|error| panic!("{error}"));
    let out = tempfile::tempdir().expect("a temporary folder");
    let result = sweep.run(out.path(), &mut |_| ()).expect("runs");
    assert_eq!((result.cells, result.failed), (8, 0));
    assert_eq!(result.curves_rmse.len(), 2);
    for curve in &result.curves_rmse {
        let [little, much] = [0, 1].map(|at| curve.points[at].mean);
        assert!(much < little - 0.02, "{}: {little} {much}", curve.method);
    }
    let names: Vec<&str> = result
        .lines_rmse
        .iter()
        .map(|line| line.method.as_str())
        .collect();
    let expected = [
        "the user's mean",
        "user and item means, no noise",
        "both, no noise",
        "one release, no noise",
    ];
    assert_eq!(names, expected);
    // Lines do not depend on ε.
    for line in &result.lines_rmse {
        assert_eq!(line.points[0].mean, line.points[1].mean, "{}", line.method);
    }
    assert!(result.crossings.iter().any(|crossing| crossing.x.is_some()));

    // What a cell reports is what a single run of its experiment does.
    config.sweep = None;
    config.privacy.epsilon = 1000.0;
    let mut sum = 0.0;
    for seed in [4, 5] {
        config.seed = seed;
        let experiment = Experiment::resolve(config.clone(), &sims()).expect("valid");
        let summary = run(&experiment, &mut Silent).expect("runs").summary;
        let summary = summary.completion.expect("predicts");
        sum += summary.rmse.expect("one") / 2.0;
    }
    assert!((sum - result.curves_rmse[0].points[1].mean).abs() < 1e-12);

    let table = std::fs::read_to_string(out.path().join("sweep.csv")).expect("written");
    let heading = table.lines().next().expect("a heading");
    for column in [
        "rmse",
        "rmse_user_mean",
        "rmse_item_means",
        "rmse_non_private",
    ] {
        assert!(heading.split(',').any(|name| name == column), "{heading}");
    }
}

/// Methods must predict the same ratings.
#[test]
fn a_method_cannot_keep_other_ratings_aside() {
    let mut config = config("completion-small.toml", &[]);
    let table = TABLE.replace(
        "\"completion.item_means\" = false",
        "\"completion.test_share\" = 0.2",
    );
    config.sweep = Some(toml::from_str(&table).expect("valid"));
    let refused = Sweep::new(config, &sims())
        .expect_err("refused")
        .to_string();
    assert!(refused.contains("must predict the same"), "{refused}");
}
