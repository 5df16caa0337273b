//! Sweeps by what users' lists find again: figures, lines and files; and that no ε makes lists worse than popularity's, on embedded MovieLens.

use undertone::campaign::sweep::{Curve, Sweep, SweepResult};
use undertone::config::{Config, read_config};
use undertone::engine::Silent;
use undertone::recommender::RankingQuality;
use undertone::run::run;

use crate::support::experiments::sims;
use crate::support::repository;

const SIM: &str = "sims/recommender-movielens-epsilon.toml";

/// Few films, few peers and a trusted curator.
const SMALL: [&str; 6] = [
    "data.items=80",
    "engine.kind=central",
    "averaging.values=f64",
    "sweep.seeds=2",
    "sweep.target=0.4",
    "sweep.over={\"privacy.epsilon\"=[0.1, 50]}",
];

fn config(set: &[&str]) -> Config {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    read_config(&repository(SIM), &set).expect("valid")
}

fn swept(config: Config) -> (SweepResult, tempfile::TempDir) {
    let sweep = Sweep::new(config, &sims()).unwrap_or_else(|error| panic!("{error}"));
    let out = tempfile::tempdir().expect("a temporary folder");
    let result = sweep.run(out.path(), &mut |_| ()).expect("runs");
    assert_eq!(result.failed, 0);
    (result, out)
}

fn names(curves: &[Curve]) -> Vec<&str> {
    curves.iter().map(|curve| curve.method.as_str()).collect()
}

/// A cell is what a single run of its experiment reports: its lists, popularity's, and those without noise.
#[test]
fn a_sweep_draws_lists_and_what_they_are_compared_with() {
    let methods = [
        "auto, one rating",
        "auto, one person",
        "a basis, one rating",
    ];
    let (result, out) = swept(config(&SMALL));
    assert_eq!((result.cells, result.top), (3 * 2 * 2, Some(20)));
    assert_eq!(names(&result.curves_recall), methods);
    assert_eq!(names(&result.curves_ndcg), methods);
    let plain = methods.map(|name| format!("{name}, no noise"));
    let lines: Vec<&str> = std::iter::once("what is popular")
        .chain(plain.iter().map(String::as_str))
        .collect();
    assert_eq!(names(&result.lines_recall), lines);
    assert_eq!(names(&result.lines_ndcg), lines);
    assert_eq!(
        names(&result.asked()),
        [&methods[..], &lines[..]].concat(),
        "what is printed"
    );
    assert_eq!(result.at_top("Recall"), "Recall@20");
    // Bases are not measured, and popularity does not depend on ε.
    assert!(result.curves.iter().all(|curve| curve.points.is_empty()));
    assert!(result.curves_exact.is_empty());
    let popular = &result.lines_recall[0].points;
    assert_eq!(popular[0].mean, popular[1].mean);
    // Where 1 - Recall falls to the target: between the two, and not from the first on.
    let first = &result.crossings[0];
    let (popular, best) = (popular[0].mean, result.curves_recall[0].points[1].mean);
    assert!(popular < 0.6 && best > 0.6, "{popular} {best}");
    assert!(first.x.is_some_and(|x| x > 0.1 && x < 50.0), "{first:?}");

    // Cells are in the order of methods, then ε's, then seeds.
    let sweep = Sweep::new(config(&SMALL), &sims()).expect("valid");
    let cell =
        |method: usize, place: usize, seed: usize| sweep.cells()[(method * 2 + place) * 2 + seed];
    for method in 0..methods.len() {
        for epsilon in 0..2 {
            let mut means = [RankingQuality::default(); 3];
            for seed in 0..2 {
                let experiment = sweep
                    .experiment(cell(method, epsilon, seed))
                    .expect("valid");
                let report = run(&experiment, &mut Silent).expect("runs");
                let found = report.summary.recommendation.expect("held out");
                let plain = found.non_private.expect("there");
                let all = [found.this_run.quality, found.popularity, plain];
                for (mean, found) in means.iter_mut().zip(all) {
                    mean.recall += found.recall / 2.0;
                    mean.ndcg += found.ndcg / 2.0;
                }
            }
            let at = |curves: &[Curve], at: usize| curves[at].points[epsilon].mean;
            let of = |curves: &[Curve], lines: &[Curve]| {
                [at(curves, method), at(lines, 0), at(lines, 1 + method)]
            };
            let recalls = of(&result.curves_recall, &result.lines_recall);
            let early = of(&result.curves_ndcg, &result.lines_ndcg);
            for (place, mean) in means.iter().enumerate() {
                let found = (recalls[place], early[place]);
                let close =
                    (found.0 - mean.recall).abs() < 1e-12 && (found.1 - mean.ndcg).abs() < 1e-12;
                assert!(close, "{method} {epsilon} {place}: {found:?} {mean:?}");
            }
        }
    }

    let read = |name: &str| std::fs::read_to_string(out.path().join(name)).expect("written");
    let table = read("sweep.csv");
    let heading: Vec<&str> = table
        .lines()
        .next()
        .expect("a heading")
        .split(',')
        .collect();
    // Of the first method at the first ε, whose rows come first, as many as there are seeds.
    let of_column = |name: &str| {
        let at = heading.iter().position(|column| *column == name);
        let at = at.expect(name);
        let rows = table.lines().skip(1).take(2);
        let values = rows.map(|row| row.split(',').nth_back(heading.len() - 1 - at));
        let values = values.map(|value| value.expect(name).parse::<f64>().expect(name));
        values.sum::<f64>() / 2.0
    };
    let mean = |curves: &[Curve], at: usize| curves[at].points[0].mean;
    for (column, expected) in [
        ("recall", mean(&result.curves_recall, 0)),
        ("ndcg", mean(&result.curves_ndcg, 0)),
        ("recall_popularity", mean(&result.lines_recall, 0)),
        ("ndcg_popularity", mean(&result.lines_ndcg, 0)),
        ("recall_non_private", mean(&result.lines_recall, 1)),
        ("ndcg_non_private", mean(&result.lines_ndcg, 1)),
    ] {
        let found = of_column(column);
        assert!(
            (found - expected).abs() < 1e-12,
            "{column}: {found} {expected}"
        );
    }
    let curves = read("curves.csv");
    let of = |start: &str| {
        curves
            .lines()
            .filter(|line| line.starts_with(start))
            .count()
    };
    // Three methods and four lines at two ε's.
    assert_eq!((of("recall,"), of("ndcg,")), (14, 14));
    assert_eq!(of("recall,what is popular,"), 2);
}

#[test]
fn lists_that_cannot_be_measured_or_compared_are_refused() {
    let refused = |set: &[&str], words: &[&str]| {
        let set = [&SMALL[..], set].concat();
        let error = Sweep::new(config(&set), &sims()).expect_err(words[0]);
        let error = error.to_string();
        for word in words {
            assert!(error.contains(word), "{error}");
        }
    };
    let nothing = [
        "evaluation.holdout",
        "auto, one rating",
        "privacy.epsilon = 0.1",
    ];
    let mut bare = config(&SMALL);
    bare.evaluation.holdout = None;
    let error = Sweep::new(bare, &sims()).expect_err("nothing held out");
    for word in nothing {
        assert!(error.to_string().contains(word), "{error}");
    }
    let with = |set: &str| format!("sweep.methods=[{{name=\"one\",set={{{set}}}}}]");
    refused(
        &[&with("\"evaluation.holdout\"=0.3")],
        &["evaluation.holdout", "measured by alike"],
    );
    refused(&[&with("\"data.items\"=40")], &["data.items", "other data"]);
    // A rank of its own is a method's own business here, and would compare errors of other bases elsewhere.
    let rank = with("\"algorithm.rank\"=2");
    let of_lists = [&SMALL[..], &[&rank]].concat();
    Sweep::new(config(&of_lists), &sims()).unwrap_or_else(|error| panic!("{error}"));
    refused(&[&rank, "sweep.error=exact"], &["algorithm.rank"]);
}

/// Every ε from 0.1 to 8, for one rating and for one person, means over five seeds: lists are never below 0.98 of popularity's, by either measure.
///
/// They are not popularity's throughout either: at ε = 2 for a rating and 8 for a person they are a third better, which differences of means of five have
/// never been off by more than a twentieth of. With an edge that is stated a third as high five of the 14 are below 0.98 in Recall.
#[test]
fn no_epsilon_makes_lists_worse_than_popular_ones_for_a_rating_or_a_person() {
    let mut config = config(&[
        "engine.kind=central",
        "averaging.values=f64",
        "sweep.seeds=5",
    ]);
    let table = config.sweep.as_mut().expect("a sweep");
    table
        .methods
        .retain(|method| method.name.starts_with("auto"));
    assert_eq!(table.methods.len(), 2);
    let listed = table.over.0[0].1.len();
    assert_eq!(listed, 7, "ε from 0.1 to 8");
    let (result, _out) = swept(config);
    for (curves, lines) in [
        (&result.curves_recall, &result.lines_recall),
        (&result.curves_ndcg, &result.lines_ndcg),
    ] {
        let popular = &lines[0];
        assert_eq!(popular.method, "what is popular");
        let ratios: Vec<Vec<f64>> = curves
            .iter()
            .map(|curve| {
                assert_eq!(curve.points.len(), listed);
                let both = curve.points.iter().zip(&popular.points);
                both.map(|(own, popular)| own.mean / popular.mean).collect()
            })
            .collect();
        println!("{ratios:.3?}");
        for ratio in ratios.iter().flatten() {
            assert!(*ratio >= 0.98, "{ratios:?}");
        }
        let [rating, person] = &ratios[..] else {
            panic!("two methods")
        };
        assert!(rating[4] > 1.3 && person[6] > 1.3, "{ratios:?}");
    }
    // Item regression takes its ridge from the edge of the noise: without noise it has none, and at ε = 8 the noisy lists are the better ones.
    let [noisy, plain] = [&result.curves_recall[0], &result.lines_recall[1]];
    assert_eq!(plain.method, "auto, one rating, no noise");
    let last = listed - 1;
    assert!(noisy.points[last].mean > 1.03 * plain.points[last].mean);
    assert!(noisy.points[4].mean < plain.points[4].mean);
}
