mod near_best;
mod sets;
mod tables;

use std::num::NonZeroU32;

use super::candidates::{Proposal, rule, settings};
use super::ground::Ground;
use super::schemes::schemes;
use super::*;
use crate::engine::Silent;
use crate::linalg::{Block, ItemWeights};
use crate::protocol::averaging::AveragingKind;
use crate::recommender::{FilterForm, LowPassFilter};
use crate::run::References;
use crate::scenario::testing;
use nalgebra::DMatrix;

fn experiment_of(set: &[&str]) -> Experiment {
    testing::sim("../tests/power.toml", set).expect("valid")
}

/// A under this floor, as candidates have it.
fn matrix(experiment: &Experiment, floor: u32) -> DMatrix<f64> {
    let floor = NonZeroU32::new(floor).expect("positive");
    let interactions = experiment.interactions();
    let rows = match rule(experiment.config()) {
        SensitivityRule::RootFloor => interactions.root_floored_rows(floor),
        _ => interactions.normalised_rows(floor),
    };
    let n = interactions.items();
    let identity = Block::from_matrix(&DMatrix::identity(n, n));
    rows.gram_product(&identity).to_matrix()
}

/// The data itself, where the advice has a stand-in.
fn real(experiment: &Experiment, all: &[Proposal]) -> Ground {
    let data = experiment.interactions();
    let mut floors: Vec<u32> = all.iter().map(|setting| setting.floor).collect();
    floors.sort_unstable();
    floors.dedup();
    let reference = experiment.config().evaluation.reference_floor.unwrap_or(1);
    let weights = ItemWeights::inverse_roots(&data.item_degrees());
    Ground::new(
        floors
            .into_iter()
            .map(|floor| (floor, matrix(experiment, floor))),
        (
            &matrix(experiment, reference),
            experiment.config().algorithm.table().rank(),
        ),
        data.item_degrees(),
        LowPassFilter::with_form(data, weights, FilterForm::Gram).into_owned(),
        1.0,
    )
}

const SMALL: [&str; 3] = ["data.items=40", "peers.count=16", "algorithm.rank=2"];

/// The error of a run on n rows with the same A is that of the run of the engine `central`: to rounding where noise is
/// negligible, and in law where it is not (noise is bound to the rows, so that it is another one). Means of 64 runs lie
/// within 5 standard errors of each other but with probability 6e-7; seeds are fixed.
#[test]
fn the_ground_gives_the_errors_of_the_engine() {
    use crate::run::run_engine;
    let errors = |epsilon: &str, noise: f64, runs: u32| -> (Vec<f64>, Vec<f64>) {
        let set = [
            &SMALL[..],
            &[
                "algorithm.kind=krylov",
                "algorithm.block=4",
                "algorithm.iterations=2",
                "data.degree_floor=10",
                "privacy.sensitivity=root-floor",
                "engine.kind=central",
                "evaluation.reference_floor=1",
                epsilon,
            ],
        ]
        .concat();
        let experiment = experiment_of(&set);
        let exact = References::of(&experiment).exact.expect("small").vectors;
        let filter = LowPassFilter::new(experiment.interactions());
        let (mut all, _) = settings(&experiment);
        let at = all
            .iter()
            .position(|setting| setting.name("tree") == "krylov over tree, L = 2, b = 4, D = 10")
            .expect("a candidate");
        all[at].sigma *= noise;
        let ground = real(&experiment, &all);
        let root = Seed::from_u64(5);
        (0..runs)
            .map(|run| {
                let seed = root.repetition(run);
                let session = experiment.session(&seed);
                let outcome = run_engine(&experiment, &session, &mut Silent).expect("runs");
                let draw = ground.draw(&all[at..=at], &seed);
                let found = ground.error(&all[at], &draw).expect("a basis");
                (found, filter.relative_error(outcome.basis(), &exact))
            })
            .unzip()
    };
    let (found, expected) = errors("privacy.epsilon=1e20", 1.0, 1);
    assert!(
        (found[0] / expected[0] - 1.0).abs() < 1e-6,
        "{found:?} {expected:?}"
    );
    let apart = |noise| {
        let (found, expected) = errors("privacy.epsilon=8", noise, 64);
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let gaps: Vec<f64> = found.iter().zip(&expected).map(|(a, b)| a - b).collect();
        let centre = mean(&gaps);
        let squares: Vec<f64> = gaps.iter().map(|gap| (gap - centre).powi(2)).collect();
        centre.abs() / (mean(&squares) / 63.0).sqrt()
    };
    assert!(apart(1.0) < 5.0, "{}", apart(1.0));
    assert!(apart(2.0) > 5.0, "twice the noise: {} only", apart(2.0));
}

/// Two data sets with equal item degrees and users get equal advice to the bit, whoever rated what.
#[test]
fn advice_looks_at_public_quantities_alone() {
    let mut experiment = experiment_of(&SMALL);
    let advice = |experiment: &Experiment| {
        let options = AdviseOptions::default();
        serde_json::to_string(&advise(experiment, &options, &|_, _| ()).expect("candidates"))
            .expect("JSON")
    };
    let before = advice(&experiment);
    let data = experiment.interactions();
    let mut columns = vec![Vec::new(); data.items()];
    for user in 0..data.users() {
        for &item in data.row(user) {
            columns[item as usize].push(user);
        }
    }
    // Every item is rated by as many users, from another one on.
    let mut rows = vec![Vec::new(); data.users()];
    for (item, raters) in columns.iter().enumerate() {
        for user in raters {
            rows[(user + 7 * item) % data.users()].push(item as u32);
        }
    }
    let moved = data.with_rows(&rows).expect("ascending");
    assert_eq!(moved.item_degrees(), data.item_degrees());
    assert_ne!(moved.row(3), data.row(3));
    *experiment.interactions_mut() = std::sync::Arc::new(moved);
    assert_eq!(advice(&experiment), before);
}

#[test]
fn budgets_are_kept_and_bytes_are_those_of_a_run() {
    let set = [&SMALL[..], &["algorithm.iterations=2"]].concat();
    let experiment = experiment_of(&set);
    let ran = AtomicU64::new(0);
    let free = advise(&experiment, &AdviseOptions::default(), &|_, total| {
        ran.store(total, Ordering::Relaxed);
    });
    let free = free.expect("candidates");
    let (algorithms, schemes) = (settings(&experiment).0.len(), schemes(&experiment).0.len());
    assert!(schemes >= 2, "chebyshev and tree at least");
    assert_eq!(free.candidates.len(), algorithms * schemes);
    // Sixteen stand-ins, on each of which every algorithm is tried, over however many schemes it may be averaged.
    assert_eq!(ran.into_inner(), 16 * (algorithms as u64 + 1));
    let named = |name: &str| {
        let same = |candidate: &&Candidate| candidate.name == name;
        free.candidates.iter().find(same).expect("a candidate")
    };
    let measured = |set: &[&str]| {
        let session = experiment_of(&[&SMALL[..], set].concat()).session(&Seed::from_u64(1));
        let outcome = crate::engine::lockstep::run(&session, &mut Silent).expect("runs");
        outcome.communication
    };
    let sent = measured(&["algorithm.iterations=2"]).bytes_max_peer;
    let mut errors = Vec::new();
    for (scheme, set) in [
        ("chebyshev", "averaging.scheme=chebyshev"),
        ("tree", "averaging={scheme=\"tree\"}"),
    ] {
        let krylov = named(&format!("krylov over {scheme}, L = 2, b = 2, D = 20"));
        let found = measured(&["algorithm.iterations=2", set]);
        assert_eq!(krylov.bytes_max_peer, found.bytes_max_peer, "{scheme}");
        assert_eq!(krylov.bytes_mean_peer, found.bytes_mean_peer, "{scheme}");
        let covariance = [
            "algorithm.kind=isometric-covariance",
            "algorithm.iterations=1",
            set,
        ];
        let found = measured(&covariance);
        let covariance = named(&format!("isometric-covariance over {scheme}, D = 20"));
        assert_eq!(covariance.bytes_max_peer, found.bytes_max_peer, "{scheme}");
        errors.push([krylov.predicted_error, covariance.predicted_error]);
    }
    assert_eq!(errors[0], errors[1], "a scheme moves bytes alone");
    assert_eq!(
        free.recommended.averaging.scheme,
        AveragingKind::Tree,
        "for the same error the fewest bytes"
    );
    let with = |bytes| {
        let options = AdviseOptions {
            bytes: Some(bytes),
            ..AdviseOptions::default()
        };
        advise(&experiment, &options, &|_, _| ())
    };
    let limited = with(sent).expect("fits");
    assert!(limited.recommended.bytes_max_peer <= sent);
    assert_eq!(
        limited.recommended.name,
        choose(&free.candidates, Some(sent)).expect("fits").name
    );
    let over = limited.candidates.last().expect("some");
    assert!(over.predicted_error.is_none() && over.bytes_max_peer > sent);
    for candidate in &limited.candidates {
        let same = free
            .candidates
            .iter()
            .find(|other| other.name == candidate.name);
        let error = candidate.predicted_error;
        assert!(error.is_none() || error == same.expect("listed").predicted_error);
    }
    // Equal scores mean fewer iterations; a candidate that is bad on one stand-in is not advised for its mean.
    let advised = |once: &[f64], twice: &[f64]| {
        let with = |name: &str, errors: &[f64]| Candidate {
            predicted_by_stand_in: errors.to_vec(),
            ..named(name).clone()
        };
        let both = [
            with("krylov over tree, L = 1, b = 2, D = 20", once),
            with("krylov over tree, L = 2, b = 2, D = 20", twice),
        ];
        choose(&both, None)
            .expect("fits")
            .algorithm
            .table()
            .iterations()
    };
    assert_eq!(advised(&[1.0, 1.0], &[1.0, 1.0]), 1);
    assert_eq!(advised(&[1.01, 1.01], &[1.0, 1.0]), 2);
    assert_eq!(advised(&[1.0, 2.0], &[1.3, 1.3]), 2);
    let message = with(10).expect_err("nothing fits").to_string();
    assert!(message.contains("krylov over tree, L = 1"), "{message}");
    for (decay, refused) in [(f64::NAN, true), (-1.0, true), (2.0, false)] {
        assert_eq!(Guess::new(2.5, decay, 1.5).check().is_err(), refused);
    }
    let none = AdviseOptions {
        guesses: Vec::new(),
        ..AdviseOptions::default()
    };
    let refused = advise(&experiment, &none, &|_, _| ());
    assert_eq!(refused, Err(AdviseError::NoGuess));
    let mut config = experiment.config().clone();
    config.noise.distribution = Distribution::Laplace;
    config.noise.scheme = crate::privacy::Scheme::Local;
    config.privacy.delta = Some(0.0);
    config.privacy.adjacency = crate::privacy::Adjacency::User;
    let laplace = Experiment::resolve(config, experiment.base()).expect("valid");
    let refused = advise(&laplace, &none, &|_, _| ());
    assert_eq!(refused, Err(AdviseError::Laplace));
}
