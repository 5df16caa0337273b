//! Prediction of ratings: from the file to what a user's device computes, on every engine.

mod files;
mod floor;
mod neighbours;
mod refusals;
mod sweeps;

use std::sync::Arc;

use undertone::algorithm::{Algorithm, Completion, LocalData, RatedRows, SHARES, SpectralRidge};
use undertone::assess::verification::{VerifyOptions, verify};
use undertone::engine::central::{self, SumNoise};
use undertone::engine::{Outcome, Silent, lockstep};
use undertone::linalg::SparseRows;
use undertone::privacy::{Adjacency, Delta, Epsilon, SensitivityRule, SensitivitySpec, gaussian};
use undertone::protocol::averaging::AveragingKind;
use undertone::run::completion::{Baselines, completer_of, rmse_of};
use undertone::run::receipt::Receipt;
use undertone::run::run;
use undertone::scenario::{Experiment, Materials};
use undertone::vocabulary::{ReleaseId, Seed};

use crate::plain_pca::{config, experiment, sims};
use crate::programs::{ITEMS, PEERS, Setting, conforms, local};
use crate::support::coalitions::assert_stated_as_on_a_ring;
use crate::support::experiments::{CASES, experiment as on_case};
use crate::support::{repository, skipped};

/// What makes a completion of the small ratings that other tests are on.
pub(crate) const RATINGS: [&str; 13] = [
    "data.threshold=0",
    "data.degree_floor=1",
    "data.values=ratings",
    "data.ranges=[0.5, 5]",
    "data.centre=user",
    "data.row_clip=4",
    "data.degree_cap=20",
    "completion.test_share=0.1",
    "privacy.adjacency=user",
    "privacy.sensitivity=unit-row",
    "algorithm.kind=spectral-ridge",
    "algorithm.rank=3",
    "algorithm.iterations=2",
];

/// Three users per peer, some long, one without ratings and one whose ratings are all its mean.
fn rated() -> Vec<LocalData> {
    let peer = |u: u32| {
        let mut rows = SparseRows::new(ITEMS);
        for k in 0..3_u32 {
            let rated = (0..ITEMS as u32)
                .filter(|i| !(u + k + i * i).is_multiple_of(3) && (u, k) != (4, 1));
            let value = |i: u32| match (u, k) {
                (2, 0) => 0.0,
                _ => 0.7 * f64::from((u * 5 + k * 3 + i * i + u * i) % 7) - 2.0,
            };
            rows.push_row(rated.map(|i| (i, value(i))))
                .expect("ascending");
        }
        rows
    };
    local((0..PEERS as u32).map(peer).collect())
}

/// Central and federated with the same shares, and lockstep, event and swarm, each to the bit; under gossip and under a tree.
#[test]
fn all_engines_give_equal_bits() {
    for adjacency in [Adjacency::User, Adjacency::ReplaceUser] {
        for item_means in [true, false] {
            let completion = Completion {
                rows: RatedRows {
                    slots: 3 * PEERS,
                    radius: 2.0,
                    most_ratings: 5,
                    user_centred: true,
                },
                item_means,
                shares: SHARES,
            };
            let ridge = SpectralRidge::new(ITEMS, 2, completion).expect("valid");
            let algorithm: Arc<dyn Algorithm> = Arc::new(ridge);
            let setting = Setting {
                sensitivity: SensitivitySpec::new(adjacency, SensitivityRule::UnitRow, 1, Some(5)),
                averaging: AveragingKind::Tree,
                sigmas: [0.1, 2.0, 0.0],
            };
            conforms(&setting, &algorithm, &rated());
        }
    }
}

/// With z per unit sensitivity, block b of release l has σ = z·f_l·Δ_b/√w_b and costs Δ_b²/σ²: all three together the μ² of the
/// budget, each its share. On a ring of eight every coalition of one is tried with a dense inverse.
#[test]
fn it_spends_the_budget_exactly_and_every_block_its_share() {
    for adjacency in ["privacy.adjacency=user", "privacy.adjacency=replace-user"] {
        let set = [&RATINGS[..], &[adjacency]].concat();
        let experiment = on_case(CASES[0], AveragingKind::Tree, &set);
        let z = experiment.calibrated().z();
        let budget = &experiment.config().privacy;
        let epsilon = Epsilon::new(budget.epsilon).expect("valid");
        let mu = gaussian::mu(epsilon, Delta::new(budget.delta()).expect("valid"));
        let session = experiment.session(&Seed::from_u64(1));
        let mut spent = Vec::new();
        for (planned, number) in session.plan().releases().iter().zip(1..) {
            let terms = planned.terms(0.0);
            let factor = experiment.noise_factor(ReleaseId(number));
            assert!((planned.factor() / factor - 1.0).abs() < 1e-11);
            let sigmas = terms.sigmas(z * terms.scale);
            for (bound, sigma) in planned.bounds().iter().zip(&sigmas) {
                spent.push((bound.bound(0.0) / sigma).powi(2));
            }
        }
        let all: f64 = spent.iter().sum();
        assert!((all / (mu * mu) - 1.0).abs() < 1e-11, "{all}");
        for (spent, share) in spent.iter().zip(SHARES) {
            assert!((spent / all - share).abs() < 1e-11, "{spent} {share}");
        }

        assert_stated_as_on_a_ring(&experiment, "spectral-ridge");
    }
}

/// The whole table at a false alarm of at most 1e-3 per topology; the seeds are fixed.
#[test]
fn it_verifies_on_three_topologies() {
    for (case, scheme, more) in [
        (CASES[0], AveragingKind::Chebyshev, &[][..]),
        (
            CASES[3],
            AveragingKind::Tree,
            &["privacy.adjacency=replace-user"],
        ),
        (
            CASES[5],
            AveragingKind::Chebyshev,
            &["completion.item_means=false", "algorithm.iterations=1"],
        ),
    ] {
        let set = [&RATINGS[..], more].concat();
        let experiment = on_case(case, scheme, &set);
        let options = VerifyOptions {
            runs: 6,
            significance: 1e-3,
        };
        let table = verify(&experiment, options, &mut Silent).expect("runs");
        let failures: Vec<_> = table.failures().collect();
        assert!(table.passed(), "{}: {failures:?}", case.name);
    }
}

/// Without a direction and without item means the prediction is the user's mean, to the bit. Noise alone stays below its edge in about four
/// runs of five, so that one of six seeds is without any but for a probability below 1e-4.
#[test]
fn without_directions_the_users_mean_is_predicted() {
    let mut without = 0;
    for seed in ["seed=1", "seed=2", "seed=3", "seed=4", "seed=5", "seed=6"] {
        let set = [
            "privacy.epsilon=0.01",
            "completion.item_means=false",
            "algorithm.iterations=1",
            "engine.kind=central",
            seed,
        ];
        let hidden = experiment("completion-small.toml", &set);
        let session = hidden.session(&Seed::from_u64(hidden.config().seed));
        let outcome = central::run(&session, SumNoise::Curator, &mut Silent).expect("runs");
        let completer = completer_of(&session, &outcome).expect("released");
        if completer.parts().directions.columns() == 0 {
            let mean = Baselines::of(&hidden).and_then(|lines| lines.user_mean);
            assert_eq!(rmse_of(&hidden, &session, &outcome), mean);
            without += 1;
        }
    }
    assert!(without > 0);
}

/// Without noise predictions are better than the user's mean; and the summary says so.
#[test]
fn the_summary_tells_what_was_predicted_and_with_what() {
    let small = |set: &[&str]| experiment("completion-small.toml", set);
    let hidden = small(&[
        "privacy.epsilon=0.01",
        "completion.item_means=false",
        "algorithm.iterations=1",
    ]);
    let report = run(&hidden, &mut Silent).expect("runs");
    let summary = report.summary.completion.expect("predictions");
    assert_eq!(summary.stopped_at, None);
    let test = hidden.rating_test().expect("kept aside");
    assert_eq!(summary.test_ratings, test.ratings().entries());
    assert!(summary.test_ratings > 500, "{}", summary.test_ratings);
    let [user_mean, plain] =
        [summary.rmse_user_mean, summary.rmse_non_private].map(|x| x.expect("one"));
    assert!(plain < user_mean - 0.02, "{plain} {user_mean}");
    let of_items = summary.rmse_item_means.expect("items are rated");
    assert!(of_items < user_mean - 0.02, "{of_items} {user_mean}");
    assert!(report.summary.recommendation.is_none());
    let shared = report.summary.not_for_publication;
    assert!(shared.from_raw_data.contains(&"completion"));
    // At ε far beyond any promise the noise no longer matters.
    let free = small(&["privacy.epsilon=1e7"]);
    let summary = run(&free, &mut Silent).expect("runs").summary.completion;
    let summary = summary.expect("predictions");
    let (ours, plain) = (
        summary.rmse.expect("one"),
        summary.rmse_non_private.expect("one"),
    );
    assert!((ours - plain).abs() < 1e-3, "{ours} {plain}");
    assert_eq!(summary.directions_kept, 5);
}

/// 610 users are too few: nothing beats the user's mean by more than 0.01 at ε ≤ 1, and nothing is worse by more than that.
#[test]
fn few_users_are_not_served_at_small_epsilon() {
    for more in [
        &[][..],
        &["completion.item_means=false", "algorithm.iterations=1"],
    ] {
        for seed in ["seed=1", "seed=2"] {
            let set = [
                &["privacy.epsilon=1", "engine.kind=central", seed][..],
                more,
            ]
            .concat();
            let experiment = experiment("completion-small.toml", &set);
            let session = experiment.session(&Seed::from_u64(experiment.config().seed));
            let outcome = central::run(&session, SumNoise::Curator, &mut Silent).expect("runs");
            let ours = rmse_of(&experiment, &session, &outcome).expect("predicted");
            let mean = Baselines::of(&experiment).and_then(|lines| lines.user_mean);
            let gap = ours - mean.expect("some");
            assert!(gap.abs() < 0.01, "{ours} {mean:?}");
        }
    }
}

/// What a run's peers predict is what a curator's run predicts with the peers' shares.
#[test]
fn peers_predict_what_a_curator_with_their_shares_does() {
    let experiment = on_case(CASES[3], AveragingKind::Tree, &RATINGS);
    let session = experiment.session(&Seed::from_u64(5));
    let of = |outcome: &Outcome| rmse_of(&experiment, &session, outcome).expect("predicted");
    let ours = lockstep::run(&session, &mut Silent).expect("runs");
    let shares = central::run(&session, SumNoise::Shares, &mut Silent).expect("runs");
    assert!((of(&ours) - of(&shares)).abs() < 1e-9);
    assert_eq!(ours.records[1].sigmas, shares.records[1].sigmas);
}

/// Integers mod 2^k: the peers end with the very bits of a curator who adds their shares up.
#[test]
fn sums_of_integers_are_the_curators_to_the_bit() {
    let ring = [&RATINGS[..], &["noise.scheme=ring"]].concat();
    let experiment = on_case(CASES[3], AveragingKind::Tree, &ring);
    let session = experiment.session(&Seed::from_u64(5));
    let ours = lockstep::run(&session, &mut Silent).expect("runs");
    let shares = central::run(&session, SumNoise::Shares, &mut Silent).expect("runs");
    assert_eq!(ours.basis(), shares.basis());
    let of = |outcome: &Outcome| rmse_of(&experiment, &session, outcome).expect("predicted");
    assert_eq!(of(&ours), of(&shares));
}

/// A receipt is recomputed from what it states; other shares of the budget, or a release less, are found.
#[test]
fn receipts_hold_and_other_shares_are_found() {
    for more in [
        &[][..],
        &["privacy.adjacency=replace-user"],
        &["completion.item_means=false", "algorithm.iterations=1"],
    ] {
        let set = [&RATINGS[..], more].concat();
        let experiment = on_case(CASES[0], AveragingKind::Tree, &set);
        let session = experiment.session(&Seed::from_u64(1));
        let outcome = lockstep::run(&session, &mut Silent).expect("runs");
        let receipt = Receipt::of(&experiment, &outcome);
        let failed = |receipt: &Receipt| -> Vec<String> {
            let findings = receipt.check().expect("can be checked");
            let failed = findings.into_iter().filter(|finding| !finding.agrees);
            failed.map(|finding| finding.what).collect()
        };
        let text = serde_json::to_string(&receipt).expect("writable");
        let read: Receipt = serde_json::from_str(&text).expect("readable");
        assert_eq!(failed(&read), Vec::<String>::new(), "{more:?}");
        if experiment.releases().len() == 2 {
            let mut other = receipt.clone();
            other.program["releases"][0]["first"]["share"] = 0.5.into();
            assert!(!failed(&other).is_empty());
        }
        let mut short = receipt;
        short.releases.pop();
        let found = short.check();
        assert!(found.is_err() || !failed(&short).is_empty(), "{more:?}");
    }
}

/// Jester, its first part: 24,983 users, 100 items, δ = 10⁻⁶, 64 peers over a tree: mean over `seeds` seeds of what is predicted.
fn jester(materials: &Materials, epsilon: f64, seeds: u64, set: &[&str]) -> Option<f64> {
    let mut config = config("completion-jester.toml", set);
    config.privacy.epsilon = epsilon;
    let mut sum = 0.0;
    for seed in 0..seeds {
        config.seed = seed;
        let experiment = Experiment::resolve_from(config.clone(), materials);
        let experiment = experiment.unwrap_or_else(|error| panic!("{error}"));
        let session = experiment.session(&Seed::from_u64(seed));
        let outcome = lockstep::run(&session, &mut Silent).expect("runs");
        sum += rmse_of(&experiment, &session, &outcome)? / seeds as f64;
    }
    Some(sum)
}

fn jester_is_there() -> bool {
    let there = repository("../shared/data/ratings/jester-1-1.csv.gz").exists();
    if !there {
        skipped("Jester is not in ../shared/data/ratings");
    }
    there
}

/// An independent central implementation (NumPy; R = 10, r directions, mean of three seeds, one test set of 18,104 ratings) found 1.0502 at
/// r = 3 and ε = 0.1, 1.0286 and 1.0272 at r = 10 and ε = 1 and 5. Another test set of the size moves all of them together by about 0.005 (its
/// standard deviation), so that a mean of three seeds is right within 3 % but for a probability far below 1e-6; the seeds are fixed.
#[test]
#[ignore = "reads 1.8 million ratings and runs nine times: a minute; cargo test --release --test main -- --ignored jester"]
fn jester_is_predicted_as_well_as_an_independent_implementation_does() {
    if !jester_is_there() {
        return;
    }
    let materials = Materials::new(&sims());
    for (epsilon, rank, expected) in [
        (0.1, "algorithm.rank=3", 1.0502),
        (1.0, "algorithm.rank=10", 1.0286),
        (5.0, "algorithm.rank=10", 1.0272),
    ] {
        let found = jester(&materials, epsilon, 3, &[rank]).expect("predicted");
        eprintln!("jester, epsilon {epsilon}, {rank}: {found:.4} ({expected})");
        assert!((found / expected - 1.0).abs() < 0.03, "{epsilon}: {found}");
    }
}

/// The same once, at ε = 1.
#[test]
fn jester_at_epsilon_1_is_predicted_as_said() {
    if !jester_is_there() {
        return;
    }
    let found = jester(&Materials::new(&sims()), 1.0, 1, &[]).expect("predicted");
    assert!((found / 1.0286 - 1.0).abs() < 0.03, "{found}");
}
