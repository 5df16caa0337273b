//! What a run writes, and what a user's device makes of it alone.

use std::path::Path;

use undertone::config::AnyAlgorithmTable;
use undertone::engine::Silent;
use undertone::protocol::averaging::AveragingKind;
use undertone::run::output;
use undertone::run::predict::{PredictRequest, Predictions, RatingSource, predict};
use undertone::run::predictor::{COMPLETION, DIRECTIONS, EIGENVALUES, Predictor};
use undertone::run::run;
use undertone::scenario::Experiment;

use super::{experiment, sims};
use crate::support::experiments::{CASES, experiment as on_case};

fn small(set: &[&str]) -> Experiment {
    experiment(
        "completion-small.toml",
        &[&["privacy.epsilon=200"], set].concat(),
    )
}

fn written(experiment: &Experiment, folder: &Path) -> undertone::run::Report {
    let report = run(experiment, &mut Silent).expect("runs");
    output::write(folder, experiment.config(), &report, false).expect("writable");
    report
}

fn predicted(folder: &Path, ratings: RatingSource, top: usize) -> Predictions {
    let request = PredictRequest {
        folder: folder.to_path_buf(),
        ratings,
        titles: None,
        top,
    };
    predict(&request).unwrap_or_else(|error| panic!("{error}"))
}

/// The files and the own ratings are enough: what is predicted from them is what the run predicts for the user, to the bit, whether the
/// ratings come from the experiment or from a file of the user's own.
#[test]
fn a_user_predicts_alone_what_the_run_predicts() {
    let experiment = small(&[]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let report = written(&experiment, folder.path());
    let predictor = Predictor::read(folder.path()).expect("whole");
    assert_eq!(Some(&predictor), report.predictor.as_ref());
    let kept = report.summary.completion.expect("predicts").directions_kept;
    assert!(kept > 0);
    assert_eq!(predictor.parts.directions.columns(), kept);

    let data = experiment.interactions();
    let (user, name) = (6, data.user_name(6).to_owned());
    let source = RatingSource::Simulation {
        path: sims().join("completion-small.toml"),
        set: Vec::new(),
        user: name,
    };
    let found = predicted(folder.path(), source, 1000);
    let (items, values) = experiment.samples().expect("ratings").row(user);
    assert!(items.len() > 3, "{}", items.len());
    assert_eq!(found.ratings_used, items.len());
    assert_eq!(found.ratings_unknown, 0);
    assert_eq!(found.predictions.len(), data.items() - items.len());
    let test = experiment.rating_test().expect("some");
    assert_eq!(found.centre, test.centre(user));
    let completer = AnyAlgorithmTable::completer(&predictor.parts).expect("whole");
    let all = completer.complete(items, values);
    for one in &found.predictions {
        let item = (0..data.items()).find(|&i| data.item_name(i) == one.item);
        let expected = test
            .scale()
            .clip(test.centre(user) + all[item.expect("known")]);
        assert_eq!(one.rating.to_bits(), expected.to_bits(), "{}", one.item);
    }
    assert!(
        found
            .predictions
            .windows(2)
            .all(|pair| pair[0].rating >= pair[1].rating)
    );

    // The same ratings in a file of the user's own, with one of an item nobody knows.
    let mut own = String::from("unheard,3\n");
    for (&item, value) in items.iter().zip(values) {
        let rating = value + test.centre(user);
        own.push_str(&format!("{},{rating}\n", data.item_name(item as usize)));
    }
    let path = folder.path().join("own.csv");
    std::fs::write(&path, own).expect("writable");
    let alone = predicted(folder.path(), RatingSource::Own { path }, 1000);
    assert_eq!(alone.ratings_unknown, 1);
    for (a, b) in alone.predictions.iter().zip(&found.predictions) {
        assert!((a.rating - b.rating).abs() < 1e-9);
    }
}

#[test]
fn a_user_without_ratings_is_predicted_the_middle_and_the_items_means() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    written(&small(&[]), folder.path());
    let path = folder.path().join("own.csv");
    std::fs::write(&path, "").expect("writable");
    let found = predicted(folder.path(), RatingSource::Own { path }, 1000);
    let predictor = Predictor::read(folder.path()).expect("whole");
    assert_eq!((found.centre, found.ratings_used), (2.75, 0));
    assert_eq!(found.predictions.len(), predictor.items.len());
    for one in found.predictions {
        let at = predictor.items.iter().position(|item| *item == one.item);
        let mean = predictor.parts.item_means[at.expect("known")];
        assert_eq!(one.rating, predictor.scale.clip(2.75 + mean));
    }
}

/// Files of an earlier run in the same folder would be taken for this run's.
#[test]
fn what_an_earlier_run_wrote_is_forgotten() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let there = |name: &str| folder.path().join(name).exists();
    written(&small(&[]), folder.path());
    assert!(
        [DIRECTIONS, EIGENVALUES, COMPLETION]
            .iter()
            .all(|name| there(name))
    );
    // Noise alone stays below its edge in about four runs of five: one of eight seeds leaves no direction.
    let seeds = [1, 2, 3, 4, 5, 6, 7, 8].map(|seed| format!("seed={seed}"));
    let mut seeds = seeds.iter();
    let without = seeds.any(|seed| {
        written(&small(&["privacy.epsilon=0.01", seed]), folder.path());
        let left = Predictor::read(folder.path()).expect("whole");
        left.parts.directions.columns() == 0
    });
    // The files are the same whatever was kept.
    assert!(without && there(DIRECTIONS) && there(EIGENVALUES) && there(COMPLETION));
    let plain = on_case(CASES[0], AveragingKind::Tree, &[]);
    written(&plain, folder.path());
    assert!(
        ![DIRECTIONS, EIGENVALUES, COMPLETION]
            .iter()
            .any(|name| there(name))
    );
}
