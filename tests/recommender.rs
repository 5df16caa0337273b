//! The recommender against an independent implementation, and inside a run.

use std::io::Read;
use std::num::NonZeroU32;

use flate2::read::GzDecoder;
use undertone::config::read_config;
use undertone::data::{self, Format, Interactions, Limits};
use undertone::engine::Silent;
use undertone::linalg::{subspace_distance, top_eigenvectors};
use undertone::recommender::{LowPassFilter, LowPassScorer, evaluate, match_test};
use undertone::run::recommendation::RecommendationSummary;
use undertone::run::run;
use undertone::run::summary::Summary;
use undertone::scenario::Experiment;

use crate::support::experiments::resolve;
use crate::support::{repository, skipped};

/// The lines of a LightGCN file whose user is below `users`.
fn part(file: &str, users: u32) -> Option<Interactions> {
    let packed = std::fs::read(repository("../shared").join(file)).ok()?;
    let mut text = String::new();
    GzDecoder::new(&packed[..])
        .read_to_string(&mut text)
        .expect("gzip");
    let keep = |line: &&str| {
        let user = line.split(' ').next().unwrap_or_default();
        user.parse::<u32>().is_ok_and(|user| user < users)
    };
    let lines: Vec<&str> = text.lines().filter(keep).collect();
    let text = lines.join("\n");
    let loaded = data::read(
        text.as_bytes(),
        file,
        Format::Lightgcn,
        0.0,
        Limits::default(),
    );
    Some(loaded.expect("good").interactions)
}

/// The reference is NumPy 2.4: rows of the first users of Gowalla's training file over the items they name, in
/// order of first appearance, divided by the root of their length; the leading eigenvectors of the dense
/// users × users Gram matrix (`numpy.linalg.eigh`), mapped to items; scores r I^{-1/2} U Uᵀ I^{1/2} as dense
/// rows; training items set to −1024; a stable sort; recall and NDCG over the test items, those unknown to
/// these users' training rows included in their number. Users, eigenvectors, recall@20, NDCG@20.
const NUMPY: [(u32, usize, f64, f64); 3] = [
    (1000, 16, 0.067_869_060_418_969_85, 0.087_612_710_971_284_98),
    (1000, 32, 0.074_150_437_561_596_81, 0.093_629_011_887_816_28),
    (2000, 32, 0.084_535_769_367_919, 0.094_937_948_076_307_98),
];

#[test]
fn gowalla_scores_agree_with_an_independent_implementation() {
    for (users, rank, recall, ndcg) in NUMPY {
        let files = ["gowalla.train.txt.gz", "gowalla.test.txt.gz"];
        let [Some(train), Some(test)] =
            files.map(|file| part(&format!("data/ratings/{file}"), users))
        else {
            skipped("Gowalla is not in ../shared/data/ratings");
            return;
        };
        let (test, counts) = match_test(&train, &test);
        assert_eq!(
            (counts.test_users, counts.unknown_users),
            (users as usize, 0)
        );
        assert!(counts.with_unknown_items > 0, "the case is there");
        let rows = train.normalised_rows(NonZeroU32::MIN);
        let top = top_eigenvectors(&rows, rank).expect("converges");
        let quality = |degrees: &[u32]| {
            let scorer = LowPassScorer::new(&top.vectors, degrees).expect("fits");
            evaluate(&scorer, &train, &test, 20)
        };
        let found = quality(&train.item_degrees());
        assert_eq!(found.users_evaluated, users as usize);
        assert!(
            (found.quality.recall - recall).abs() < 1e-6,
            "{users} {rank}: {found:?}"
        );
        assert!(
            (found.quality.ndcg - ndcg).abs() < 1e-6,
            "{users} {rank}: {found:?}"
        );
        // The comparison can fail: scores without degrees are others.
        let flat = quality(&vec![1; train.items()]);
        assert!((flat.quality.recall - recall).abs() > 1e-4, "{flat:?}");
    }
}

fn summary_of(set: &[&str]) -> (Experiment, undertone::run::Report) {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    let path = repository("sims/recommender-movielens.toml");
    let config = read_config(&path, &set).expect("valid");
    let experiment = resolve(config).expect("valid");
    let report = run(&experiment, &mut Silent).expect("runs");
    (experiment, report)
}

fn recommendation(summary: &Summary) -> &RecommendationSummary {
    summary
        .recommendation
        .as_ref()
        .expect("a fifth is held out")
}

#[test]
fn private_recommendations_are_as_good_as_their_sim_says() {
    let (experiment, report) = summary_of(&[]);
    let found = recommendation(&report.summary);
    assert_eq!(found.this_run.top, 20);
    assert_eq!(found.this_run.users_evaluated, found.held_out.test_users);
    let data = &report.summary.data;
    assert_eq!(data.interactions_kept + data.interactions_held_out, 25_764);
    assert_eq!(data.interactions_kept, experiment.interactions().len());
    let exact = found.exact.expect("within reach");
    // Four standard deviations of the header's ten seeds; the seed is fixed.
    let near = |what: &str, found: f64, mean: f64, deviation: f64| {
        assert!((found - mean).abs() < 4.0 * deviation, "{what}: {found}");
    };
    near("this run", found.this_run.quality.recall, 0.380, 0.019);
    let curator = found.central.expect("its run has a basis");
    near("curator", curator.recall, 0.379, 0.025);
    let plain = found.non_private.expect("of full rank");
    near("no privacy", plain.recall, 0.475, 0.015);
    near("exact", exact.recall, 0.487, 0.008);
    near("popularity", found.popularity.recall, 0.292, 0.008);
    near("exact", exact.ndcg, 0.406, 0.006);
    near("popularity", found.popularity.ndcg, 0.252, 0.007);
    // Another seed holds out other films.
    let (other, _) = summary_of(&["seed=8", "engine.kind=central"]);
    assert_ne!(other.interactions(), experiment.interactions());
}

#[test]
fn nothing_is_reported_where_nothing_is_held_out() {
    let path = repository("sims/quickstart.toml");
    let experiment = Experiment::load(&path, &[]).expect("valid");
    assert!(experiment.held_out().is_none());
    let summary = run(&experiment, &mut Silent).expect("runs").summary;
    assert!(summary.recommendation.is_none());
    assert_eq!(summary.utility.reference_floor, 20);
}

#[test]
fn errors_are_against_the_matrix_of_the_reference_floor() {
    let (experiment, report) = summary_of(&["engine.kind=central"]);
    let utility = &report.summary.utility;
    assert_eq!(
        (
            utility.reference_floor,
            experiment.config().data.degree_floor()
        ),
        (1, 20)
    );
    let rank = experiment.config().algorithm.table().rank();
    let rows = experiment.interactions().normalised_rows(NonZeroU32::MIN);
    let exact = top_eigenvectors(&rows, rank).expect("converges").vectors;
    let filter = LowPassFilter::new(experiment.interactions());
    let error = filter.relative_error(report.outcome.basis(), &exact);
    assert!(
        (utility.relative_error.expect("known") - error).abs() < 1e-9,
        "{error}"
    );
    let distance = subspace_distance(report.outcome.basis(), &exact);
    assert!((utility.subspace_error.expect("known") - distance).abs() < 1e-9);
    assert_eq!(utility.non_private.relative_error_non_private, Some(0.0));
    // On its own matrix the same run has other errors: the floor matters here.
    let own = top_eigenvectors(experiment.user_rows(), rank)
        .expect("converges")
        .vectors;
    let against_own = filter.relative_error(report.outcome.basis(), &own);
    assert!((against_own - error).abs() > 1e-4, "{against_own} {error}");
    // The non-private reference is P1's own run: floor 1 throughout, the same X⁰.
    let (_, plain) = summary_of(&[
        "data.degree_floor=1",
        "noise.scheme=none",
        "engine.kind=central",
    ]);
    assert_eq!(
        utility
            .non_private
            .relative_error
            .map(|e| (e * 1e9).round()),
        plain
            .summary
            .utility
            .relative_error
            .map(|e| (e * 1e9).round())
    );
}
