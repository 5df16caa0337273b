//! More accuracy per ε than any power method: the bounds that block Krylov and a released covariance must meet on Jester.
//!
//! The error is that of the low-pass filter against the exact leading eigenvectors of the matrix without degree floor
//! (P1 section 6). Every private run is a fresh decentralised session on 64 peers; the mean over ten seeds is held against the
//! bound. Seeds are fixed, so a pass is a pass; the bounds are at least three standard errors above what was measured.

use std::num::NonZeroU32;

use undertone::config::read_config;
use undertone::engine::central::SumNoise;
use undertone::engine::{Silent, central, lockstep};
use undertone::linalg::{Block, top_eigenvectors};
use undertone::recommender::LowPassFilter;
use undertone::scenario::Experiment;
use undertone::vocabulary::Seed;

use crate::support::experiments::resolve;
use crate::support::{repository, skipped};

const JESTER: [&str; 12] = [
    "data.path=../../shared/data/ratings/jester-1-1.csv.gz",
    "data.format=jester",
    "data.items=0",
    "data.degree_floor=10",
    "peers.count=64",
    "topology.degree=8",
    "averaging.tolerance=1e-6",
    "algorithm.iterations=3",
    "privacy.epsilon=1",
    "privacy.delta=1e-5",
    "privacy.colluders=1",
    "seed=100",
];

/// P1's own method on the quickstart's users, with these keys changed.
fn experiment(base: &[&str], set: &[&str]) -> Experiment {
    let all: Vec<String> = base.iter().chain(set).map(|s| (*s).to_owned()).collect();
    let config = read_config(&repository("tests/power.toml"), &all).expect("valid");
    resolve(config).expect("resolves")
}

/// Jester, or nothing where it is absent.
fn jester(set: &[&str]) -> Option<Experiment> {
    let path = repository("../shared/data/ratings/jester-1-1.csv.gz");
    path.exists().then(|| experiment(&JESTER, set))
}

/// The exact eigenvectors without degree floor and the filter that errors are measured with.
struct Reference<'a> {
    exact: Block,
    filter: LowPassFilter<'a>,
}

impl<'a> Reference<'a> {
    fn of(experiment: &'a Experiment) -> Self {
        let rows = experiment.interactions().normalised_rows(NonZeroU32::MIN);
        let top = top_eigenvectors(&rows, experiment.config().algorithm.table().rank())
            .expect("converges");
        Self {
            exact: top.vectors,
            filter: LowPassFilter::new(experiment.interactions()),
        }
    }

    fn error(&self, basis: &Block) -> f64 {
        self.filter.relative_error(basis, &self.exact)
    }

    /// Mean and standard error of this many decentralised runs.
    fn mean(&self, experiment: &Experiment, runs: u32) -> (f64, f64) {
        let seed = Seed::from_u64(experiment.config().seed);
        let errors: Vec<f64> = (0..runs)
            .map(|run| {
                let session = experiment.session(&seed.repetition(run));
                let outcome = lockstep::run(&session, &mut Silent).expect("runs");
                self.error(outcome.basis())
            })
            .collect();
        let runs = f64::from(runs);
        let mean = errors.iter().sum::<f64>() / runs;
        let variance = errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (runs - 1.0);
        (mean, (variance / runs).sqrt())
    }

    /// The errors after each iteration without noise.
    fn plain(&self, experiment: &Experiment) -> Vec<f64> {
        let session = experiment.session(&Seed::from_u64(3));
        let outcome = central::run(&session, SumNoise::Nothing, &mut Silent).expect("runs");
        let records = outcome.records.iter();
        records.map(|record| self.error(&record.basis)).collect()
    }
}

/// Measured: krylov 0.069, covariance 0.039, P1 at ε = 10³ 0.188.
#[test]
fn at_epsilon_1_krylov_and_covariance_beat_what_p1_reaches_at_1000() {
    let krylov = [
        "algorithm.kind=krylov",
        "algorithm.rank=8",
        "algorithm.block=16",
    ];
    let Some(krylov) = jester(&krylov) else {
        skipped("Jester is not in ../shared/data/ratings");
        return;
    };
    let reference = Reference::of(&krylov);
    let (krylov, krylov_spread) = reference.mean(&krylov, 160);
    let covariance = [
        "algorithm.kind=covariance",
        "algorithm.rank=8",
        "algorithm.iterations=1",
    ];
    let covariance = jester(&covariance).expect("present");
    let (covariance, covariance_spread) = reference.mean(&covariance, 40);
    let p1 = [
        "algorithm.rank=8",
        "data.degree_floor=1",
        "engine.kind=federated",
        "noise.scheme=independent",
        "privacy.epsilon=1000",
        "privacy.sensitivity=row-norm",
        "privacy.calibration=paper",
        "privacy.colluders=0",
    ];
    // The noise of an ideal secure sum, which pairwise noise would only be added to.
    let (p1, _) = reference.mean(&jester(&p1).expect("present"), 40);
    println!(
        "krylov {krylov} ± {krylov_spread}, covariance {covariance} ± {covariance_spread}, P1 {p1}"
    );
    assert!(krylov <= 0.08, "{krylov}");
    assert!(covariance <= 0.06, "{covariance}");
    assert!(krylov < p1 && covariance < p1, "{p1}");
    assert!(3.0 * krylov_spread < 0.08 - krylov && 3.0 * covariance_spread < 0.06 - covariance);
}

/// A release with margins under one floor, 14, against the matrix under the best of four floors, at rank 8 and ε = 3: means of forty. Floors that are best for the
/// matrix fall as ε grows, and with them goes what a larger ε would buy.
#[test]
fn where_floors_decide_margins_under_one_beat_the_matrix_under_any() {
    let of = |kind: &str, floor: u32| {
        let own = [
            format!("algorithm.kind={kind}"),
            format!("data.degree_floor={floor}"),
        ];
        let always = [
            "privacy.epsilon=3",
            "privacy.sensitivity=root-floor",
            "algorithm.rank=8",
            "algorithm.iterations=1",
        ];
        let set = own.iter().map(String::as_str).chain(always);
        jester(&set.collect::<Vec<_>>())
    };
    let Some(raked) = of("raked-covariance", 14) else {
        skipped("Jester is not in ../shared/data/ratings");
        return;
    };
    let reference = Reference::of(&raked);
    let (raked, spread) = reference.mean(&raked, 40);
    let floors = [5, 7, 10, 14].map(|floor| {
        let matrix = of("isometric-covariance", floor).expect("present");
        reference.mean(&matrix, 40)
    });
    let best = floors.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let (best, other) = *best.expect("four");
    println!("raked {raked} ± {spread}, matrix {best} ± {other}, of {floors:?}");
    assert!(raked + 3.0 * (spread + other) < best, "{raked} {best}");
}

/// Measured: 0.222; the power method without noise 0.284.
#[test]
fn at_rank_32_krylov_s_noise_costs_less_than_the_power_method_s_short_run() {
    let set = [
        "algorithm.kind=krylov",
        "algorithm.rank=32",
        "algorithm.block=32",
    ];
    let Some(krylov) = jester(&set) else {
        skipped("Jester is not in ../shared/data/ratings");
        return;
    };
    let reference = Reference::of(&krylov);
    let (error, spread) = reference.mean(&krylov, 40);
    let plain = jester(&["algorithm.rank=32", "data.degree_floor=1"]).expect("present");
    let plain = reference.plain(&plain)[2];
    println!("krylov {error} ± {spread}, power without noise {plain}");
    assert!(error <= 0.24 && error < plain, "{error} against {plain}");
    assert!(3.0 * spread < 0.24 - error);
}

/// The same in the measure that users see, on whole data sets; the other matrices are in `algorithm/krylov/tests.rs`.
#[test]
fn without_noise_krylov_is_never_above_the_power_method_and_falls() {
    let movielens = ["peers.count=64", "data.degree_floor=1", "data.items=200"];
    let mut cases = vec![("MovieLens", movielens.to_vec())];
    if jester(&[]).is_some() {
        cases.push(("Jester", [&JESTER[..], &["data.degree_floor=1"]].concat()));
    } else {
        skipped("Jester is not in ../shared/data/ratings");
    }
    for (name, base) in cases {
        let common = ["algorithm.rank=8", "algorithm.iterations=4"];
        let power = experiment(&base, &common);
        let krylov = experiment(&base, &[&common[..], &["algorithm.kind=krylov"]].concat());
        let reference = Reference::of(&power);
        let (power, krylov) = (reference.plain(&power), reference.plain(&krylov));
        println!("{name}: power {power:?}, krylov {krylov:?}");
        for (ours, theirs) in krylov.iter().zip(&power) {
            assert!(
                *ours <= theirs + 1e-9,
                "{name}: {krylov:?} against {power:?}"
            );
        }
        assert!(
            krylov.windows(2).all(|two| two[1] < two[0]),
            "{name}: {krylov:?}"
        );
    }
}

/// At rank 1, where the start is everything; higher ranks are measured in the documentation of `algorithm::Start`.
#[test]
fn popularity_starts_nearer() {
    let base = ["peers.count=64", "data.degree_floor=10", "data.items=200"];
    for kind in [
        &["algorithm.kind=power"][..],
        &["algorithm.kind=krylov", "algorithm.block=8"],
        &["algorithm.kind=momentum", "algorithm.momentum=4"],
    ] {
        let common = ["algorithm.rank=1", "algorithm.iterations=1"];
        let random = experiment(&base, &[kind, &common[..]].concat());
        let reference = Reference::of(&random);
        let popular = ["algorithm.start=popularity"];
        let popular = experiment(&base, &[kind, &common[..], &popular[..]].concat());
        assert!(
            popular
                .warnings()
                .iter()
                .any(|line| line.to_string().contains("public already"))
        );
        let (random, popular) = (reference.plain(&random)[0], reference.plain(&popular)[0]);
        println!("{kind:?}: random {random}, popularity {popular}");
        assert!(
            popular < 0.1 * random,
            "{kind:?}: {popular} against {random}"
        );
    }
}
