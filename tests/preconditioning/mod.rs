//! Eigenvectors of P A P for a public P: runs, checks of runs, and what is refused.

mod gowalla;
mod refusals;

use std::num::NonZeroU32;

use nalgebra::DMatrix;
use undertone::assess::audit::{AuditOptions, audit};
use undertone::assess::verification::{VerifyOptions, verify};
use undertone::campaign::sweep::Sweep;
use undertone::config::{EngineKind, read_config};
use undertone::engine::Silent;
use undertone::linalg::{Block, ItemWeights, subspace_distance};
use undertone::protocol::averaging::AveragingKind;
use undertone::run::items::ItemList;
use undertone::run::receipt::Receipt;
use undertone::run::run;
use undertone::scenario::Experiment;

use crate::support::experiments::{CASES, Case, engine, experiment, on_engine, sims};
use crate::support::repository;

const HALF: [&str; 2] = [
    "algorithm.precondition=items",
    "algorithm.precondition_exponent=0.5",
];

const POWER: &[&str] = &["algorithm.kind=power"];
const MOMENTUM: &[&str] = &["algorithm.kind=momentum", "algorithm.momentum=0.1"];
const KRYLOV: &[&str] = &["algorithm.kind=krylov", "algorithm.block=4"];
const COVARIANCE: &[&str] = &["algorithm.kind=covariance", "algorithm.iterations=1"];
const ISOMETRIC: &[&str] = &[
    "algorithm.kind=isometric-covariance",
    "algorithm.iterations=1",
    "privacy.adjacency=user",
    "privacy.sensitivity=unit-row",
];

fn of(case: Case, scheme: AveragingKind, sets: &[&[&str]]) -> Experiment {
    experiment(case, scheme, &[&HALF[..], &sets.concat()].concat())
}

/// A correct plan fails with probability at most 1e-3 each time; the seed is fixed. Every algorithm on a topology and a scheme of its own.
#[test]
fn runs_verify_on_five_topologies() {
    let options = VerifyOptions {
        runs: 10,
        significance: 1e-3,
    };
    for (case, scheme, algorithm) in [
        (CASES[0], AveragingKind::Chebyshev, POWER),
        (CASES[1], AveragingKind::Tree, MOMENTUM),
        (CASES[2], AveragingKind::PushSum, KRYLOV),
        (CASES[3], AveragingKind::Tree, COVARIANCE),
        (CASES[6], AveragingKind::Linear, ISOMETRIC),
    ] {
        let experiment = of(case, scheme, &[algorithm]);
        let table = verify(&experiment, options, &mut Silent).expect("runs");
        let failures: Vec<_> = table.failures().collect();
        assert!(table.passed(), "{}, {algorithm:?}: {failures:?}", case.name);
        for kind in ["algebra", "law", "spent"] {
            let found = table.checks.iter().any(|check| check.kind == kind);
            assert!(found, "{}, {algorithm:?}: no {kind}", case.name);
        }
    }
}

/// Peers that send each other messages hold the bits of peers that are computed together; a curator and an ideal sum run too.
#[test]
fn every_engine_runs_it_and_those_of_peers_agree_to_the_bit() {
    for algorithm in [POWER, KRYLOV, COVARIANCE] {
        let lockstep = of(CASES[0], AveragingKind::Tree, &[algorithm]);
        let basis = |kind| {
            let experiment = on_engine(&lockstep, engine(kind));
            let report = run(&experiment, &mut Silent).expect("runs");
            report.outcome.basis().clone()
        };
        let peers = basis(EngineKind::Lockstep);
        assert_eq!(peers, basis(EngineKind::Event), "{algorithm:?}");
        assert!(peers.orthonormality_defect() < 1e-12);
        for kind in [EngineKind::Central, EngineKind::Federated] {
            assert!(basis(kind).orthonormality_defect() < 1e-12);
        }
        let plain = experiment(CASES[0], AveragingKind::Tree, algorithm);
        let plain = run(&plain, &mut Silent).expect("runs");
        assert!(subspace_distance(plain.outcome.basis(), &peers) > 1e-3);
    }
    let analytic = of(
        CASES[0],
        AveragingKind::Chebyshev,
        &[KRYLOV, &["engine.kind=analytic", "engine.probes=2"]],
    );
    let report = run(&analytic, &mut Silent).expect("runs");
    assert!(report.outcome.basis().orthonormality_defect() < 1e-12);
}

/// R P of an experiment's rows under a floor, dense.
fn scaled(experiment: &Experiment, floor: u32, weights: &ItemWeights) -> DMatrix<f64> {
    let floor = NonZeroU32::new(floor).expect("at least 1");
    let rows = experiment.interactions().normalised_rows(floor);
    let mut dense = DMatrix::zeros(rows.len(), rows.dimension());
    for user in 0..rows.len() {
        let (items, values) = rows.row(user);
        for (&item, value) in items.iter().zip(values) {
            dense[(user, item as usize)] = value * weights.weights()[item as usize];
        }
    }
    dense
}

/// The exact reference is the leading eigenvectors of P A P at the reference floor, by a dense decomposition, and errors are of the filter
/// R ↦ R P V Vᵀ P⁻¹; the run without privacy is the same program without noise.
#[test]
fn references_and_errors_are_of_the_scaled_matrix() {
    let set = [
        "evaluation.reference_floor=1",
        "engine.kind=central",
        "algorithm.precondition_shrinkage=0.2",
        "data.degree_floor=10",
    ];
    let experiment = of(CASES[0], AveragingKind::Tree, &[COVARIANCE, &set]);
    let degrees = experiment.interactions().item_degrees();
    let weights = ItemWeights::of_degrees(&degrees, 0.5, 0.2).expect("in range");
    assert_eq!(experiment.precondition_weights(), Some(&weights));
    let eigenvectors = |floor| {
        let matrix = scaled(&experiment, floor, &weights);
        let eigen = nalgebra::SymmetricEigen::new(matrix.tr_mul(&matrix));
        let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        Block::from_matrix(&eigen.eigenvectors.select_columns(&order[..3]))
    };
    let (exact, own) = (eigenvectors(1), eigenvectors(10));
    let report = run(&experiment, &mut Silent).expect("runs");
    let utility = &report.summary.utility;
    let basis = report.outcome.basis();
    let found = utility.subspace_error.expect("known");
    assert!((found - subspace_distance(basis, &exact)).abs() < 1e-8);
    let filtered = |z: &Block| {
        let mut ratings = DMatrix::<f64>::zeros(experiment.interactions().users(), degrees.len());
        for user in 0..experiment.interactions().users() {
            for &item in experiment.interactions().row(user) {
                ratings[(user, item as usize)] = 1.0;
            }
        }
        let left = weights.times(z).to_matrix();
        let right = weights.inverse_times(z).to_matrix();
        ratings * left * right.transpose()
    };
    let reference = filtered(&exact);
    let expected = (filtered(basis) - &reference).norm() / reference.norm();
    let found = utility.relative_error.expect("known");
    assert!((found - expected).abs() < 1e-7, "{found} {expected}");
    // Without noise one covariance has the exact eigenvectors, of its own floor in `run` and of the reference floor beside it.
    assert!(utility.non_private.subspace_error.expect("known") < 1e-6);
    let plain = of(
        CASES[0],
        AveragingKind::Tree,
        &[COVARIANCE, &set, &["noise.scheme=none"]],
    );
    let plain = run(&plain, &mut Silent).expect("runs");
    assert!(subspace_distance(plain.outcome.basis(), &own) < 1e-6);
    assert!(subspace_distance(plain.outcome.basis(), &exact) > 1e-4);
}

/// Neighbours are told apart no better than certified, at a pair whose contributions at Q are as far apart as the bound says. An honest implementation
/// fails with probability at most 1e-3; the seed is fixed.
#[test]
fn an_audit_passes_and_comes_near_its_certificate() {
    let set = [
        "data.items=30",
        "data.degree_floor=1",
        "algorithm.rank=2",
        "algorithm.iterations=1",
        "privacy.epsilon=4",
        "seed=5",
    ];
    let experiment = of(CASES[2], AveragingKind::Tree, &[POWER, &set]);
    let options = AuditOptions {
        trials: 4000,
        ..AuditOptions::default()
    };
    let found = audit(&experiment, &options, &mut Silent).expect("runs");
    assert!(found.passed, "{found:?}");
    assert!(found.canary.tightness > 0.999, "{found:?}");
    assert!(found.pair_mu <= found.certified_mu * (1.0 + 1e-9));
    assert!(found.empirical_mu >= 0.5 * found.certified_mu, "{found:?}");
    // Two releases, the second at a Q that came out of the first.
    let set = [
        "data.items=30",
        "algorithm.rank=2",
        "algorithm.block=3",
        "seed=5",
    ];
    let experiment = of(CASES[2], AveragingKind::Tree, &[KRYLOV, &set]);
    let options = AuditOptions {
        trials: 400,
        ..AuditOptions::default()
    };
    let found = audit(&experiment, &options, &mut Silent).expect("runs");
    assert!(found.passed, "{found:?}");
}

fn failures(receipt: &Receipt) -> Vec<String> {
    let findings = receipt.check().expect("can be checked");
    let failed = findings.into_iter().filter(|finding| !finding.agrees);
    failed.map(|finding| finding.what).collect()
}

/// A receipt says what P was made of and that no ε covers it, and a changed one does not hold or is refused.
#[test]
fn receipts_say_what_p_is_and_are_checked() {
    let experiment = of(CASES[0], AveragingKind::Tree, &[KRYLOV]);
    let report = run(&experiment, &mut Silent).expect("runs");
    let honest = report.receipt;
    assert_eq!(failures(&honest), Vec::<String>::new());
    let text = serde_json::to_string(&honest).expect("writable");
    let read: Receipt = serde_json::from_str(&text).expect("readable");
    assert_eq!(read, honest);
    assert_eq!(failures(&read), Vec::<String>::new());
    let stated = honest.preconditioning.clone().expect("stated");
    assert_eq!((stated.exponent, stated.shrinkage), (0.5, 0.0));
    // The degrees of items.csv are those it names; others are not.
    assert!(stated.is_of(&report.items.degrees));
    let mut other = report.items.degrees.clone();
    other[3] += 1;
    assert!(!stated.is_of(&other));
    assert_eq!(
        report.items.weights,
        stated.weights(&report.items.degrees).ok()
    );
    let says = |words: &str| honest.assumptions.iter().any(|said| said.contains(words));
    assert!(says("P = diag(degree^-0.5) with shrinkage 0") && says("no epsilon covers them"));
    let mut silent = honest.clone();
    silent
        .assumptions
        .retain(|said| !said.contains("P = diag(degree"));
    assert_eq!(failures(&silent), ["assumptions[2]"]);
    let mut weaker = honest.clone();
    let of_weaker = weaker.preconditioning.as_mut().expect("stated");
    of_weaker.exponent = 0.25;
    assert_eq!(failures(&weaker), ["assumptions[2]"], "it is of another P");
    // A P that is denied: its digest is among the settings of the program.
    let mut denied = silent;
    denied.preconditioning = None;
    assert_eq!(
        failures(&denied),
        ["preconditioning is stated where the program has a P"]
    );
    for change in [
        (r#""exponent":0.5"#, r#""exponent":0.75"#),
        (r#""source":"items""#, r#""source":"none""#),
        (r#""shrinkage":0.0"#, r#""shrinkage":-1.0"#),
        (&stated.degrees[..], "abc"),
    ] {
        let changed = text.replacen(change.0, change.1, 1);
        assert_ne!(changed, text, "{change:?}");
        let changed: Receipt = serde_json::from_str(&changed).expect("readable");
        let refused = changed.check().expect_err(change.1).to_string();
        assert!(refused.contains("preconditioning"), "{refused}");
    }
    let warned = report.summary.warnings.iter().map(ToString::to_string);
    assert!(
        warned
            .into_iter()
            .any(|warning| warning.contains("algorithm.precondition = \"items\""))
    );
}

/// Sessions with another P are other sessions: they share no noise, and their receipts name other degrees or numbers.
#[test]
fn another_p_is_another_session() {
    let digest = |set: &[&str]| {
        let experiment = of(CASES[0], AveragingKind::Tree, &[COVARIANCE, set]);
        let seed = undertone::vocabulary::Seed::from_u64(1);
        *experiment.session(&seed).plan().digest()
    };
    let own = digest(&[]);
    assert_eq!(own, digest(&["algorithm.precondition_shrinkage=0"]));
    assert_ne!(own, digest(&["algorithm.precondition_shrinkage=0.5"]));
    assert_ne!(own, digest(&["algorithm.precondition_exponent=0.4"]));
    assert_ne!(own, digest(&["algorithm.precondition_exponent=0"]));
}

/// The list of items that a run writes holds P, and scores from it are r P V Vᵀ P⁻¹.
#[test]
fn recommendations_are_scored_with_p() {
    use undertone::recommender::{LowPassScorer, Scorer};
    let set = ["evaluation.holdout=0.2", "engine.kind=central"];
    let experiment = of(CASES[0], AveragingKind::Tree, &[COVARIANCE, &set]);
    let report = run(&experiment, &mut Silent).expect("runs");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("items.csv");
    std::fs::write(&path, report.items.to_csv()).expect("writable");
    let list = ItemList::read(&path).expect("as written");
    assert_eq!(list, report.items);
    let basis = report.outcome.basis();
    let scorer = LowPassScorer::weighted(basis, &list.filter_weights()).expect("fits");
    let row = experiment.interactions().row(0);
    let weights = experiment.precondition_weights().expect("a P").weights();
    let found = scorer.scores(&[row]);
    for item in 0..basis.rows() {
        let dot = |other: usize| -> f64 {
            let both = basis.row(other).iter().zip(basis.row(item));
            both.map(|(a, b)| a * b).sum()
        };
        let terms = row
            .iter()
            .map(|&j| weights[j as usize] * dot(j as usize) / weights[item]);
        let expected: f64 = terms.sum();
        assert!((found[item] - expected).abs() < 1e-10);
    }
    let measured = report.summary.recommendation.expect("held out");
    let test = &experiment.held_out().expect("held out").test;
    let by = |weights: &ItemWeights| {
        let scorer = LowPassScorer::weighted(basis, weights).expect("fits");
        undertone::recommender::evaluate(&scorer, experiment.interactions(), test, 20)
    };
    assert_eq!(measured.this_run, by(&list.filter_weights()));
    let roots = ItemWeights::inverse_roots(&list.degrees);
    assert_eq!(list.degrees, experiment.interactions().item_degrees());
    let usual = by(&roots);
    // At exponent 1/2 and full degrees P is a multiple of the usual weights: the same lists.
    assert!((usual.quality.recall - measured.this_run.quality.recall).abs() < 1e-3);
    let flat = ItemWeights::new(vec![1.0; basis.rows()]).expect("positive");
    assert_ne!(by(&flat).quality, measured.this_run.quality);
}

/// A sweep measures what a method finds of P A P against P A P, as a run of that method does, and the others against A.
#[test]
fn methods_of_a_sweep_are_measured_against_their_own_references() {
    let set = [
        "sweep.coincide=[]",
        "sweep.seeds=2",
        "sweep.baseline=A",
        "sweep.over={\"privacy.epsilon\"=[5]}",
        "sweep.methods=[{name=\"A\"}, {name=\"P\", set={\"algorithm.precondition\"=\"items\", \"algorithm.precondition_exponent\"=0.5}}]",
        "data.items=40",
        "algorithm.rank=3",
        "algorithm.kind=krylov",
        "engine.kind=central",
    ];
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    let config = read_config(&repository("sims/fig1-small.toml"), &set).expect("valid");
    let sweep = Sweep::new(config, &sims()).unwrap_or_else(|error| panic!("{error}"));
    let out = tempfile::tempdir().expect("a temporary folder");
    let result = sweep.run(out.path(), &mut |_| ()).expect("runs");
    assert_eq!(result.curves.len(), 2);
    for (method, curve) in result.curves.iter().enumerate() {
        let mut errors = [0.0; 2];
        for cell in sweep.cells().iter().filter(|cell| cell.method == method) {
            let experiment = sweep.experiment(*cell).expect("valid");
            assert_eq!(experiment.preconditioning().is_some(), method == 1);
            let utility = run(&experiment, &mut Silent).expect("runs").summary.utility;
            let found = [utility.relative_error_non_private, utility.relative_error];
            for (sum, value) in errors.iter_mut().zip(found) {
                *sum += value.expect("measured") / 2.0;
            }
        }
        let curves = [curve, &result.curves_exact[method]];
        for (curve, expected) in curves.into_iter().zip(errors) {
            let mean = curve.points[0].mean;
            assert!((mean / expected - 1.0).abs() < 1e-9, "{mean} {expected}");
        }
    }
}
