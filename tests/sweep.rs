//! Sweeps through the library: what cells share, what they are measured against, what is refused.

use undertone::campaign::sweep::{Cell, Sweep};
use undertone::config::{Config, read_config};
use undertone::engine::Silent;
use undertone::run::run;
use undertone::vocabulary::Seed;

use crate::support::experiments::sims;
use crate::support::repository;

fn config(set: &[&str]) -> Config {
    let small = [
        "sweep.coincide=[]",
        "sweep.seeds=2",
        "data.items=40",
        "algorithm.rank=3",
    ];
    let set: Vec<String> = small.iter().chain(set).map(|s| (*s).to_owned()).collect();
    read_config(&repository("sims/fig1-small.toml"), &set).expect("valid")
}

fn sweep(set: &[&str]) -> Sweep {
    Sweep::new(config(set), &sims()).unwrap_or_else(|error| panic!("{error}"))
}

fn start(sweep: &Sweep, cell: Cell) -> Vec<f64> {
    let experiment = sweep.experiment(cell).expect("checked");
    let session = experiment.session(&Seed::from_u64(cell.seed));
    session.start().values().to_vec()
}

#[test]
fn all_methods_and_grid_points_of_one_seed_start_from_the_same_block() {
    let sweep = sweep(&["sweep.over={\"privacy.epsilon\"=[1, 5]}"]);
    assert_eq!(sweep.cells().len(), 5 * 2 * 2);
    let first = sweep.cells()[0];
    let expected = start(&sweep, first);
    for &cell in sweep.cells() {
        assert_eq!(
            start(&sweep, cell) == expected,
            cell.seed == first.seed,
            "{cell:?}"
        );
    }
}

/// The sweep's own references, against those of a single run: floor 20 measured on floor 1.
#[test]
fn a_cell_is_what_a_single_run_of_its_experiment_reports() {
    let set = [
        "sweep.over={\"privacy.epsilon\"=[5]}",
        "sweep.coincide=[]",
        "sweep.target=0.4",
        "data.degree_floor=20",
        "evaluation.reference_floor=1",
        "sweep.seeds=2",
    ];
    let sweep = sweep(&set);
    let out = tempfile::tempdir().expect("a temporary folder");
    let result = sweep.run(out.path(), &mut |_| ()).expect("runs");
    for (method, curve) in result.curves.iter().enumerate() {
        let mut errors = [0.0; 3];
        for cell in sweep.cells().iter().filter(|cell| cell.method == method) {
            let experiment = sweep.experiment(*cell).expect("valid");
            let summary = run(&experiment, &mut Silent).expect("runs").summary;
            let utility = summary.utility;
            let found = [
                utility.relative_error_non_private,
                utility.relative_error,
                experiment.noise().epsilon(),
            ];
            for (sum, value) in errors.iter_mut().zip(found) {
                *sum += value.expect("measured") / 2.0;
            }
        }
        let curves = [curve, &result.curves_exact[method], &result.spent[method]];
        for (curve, expected) in curves.into_iter().zip(errors) {
            let mean = curve.points[0].mean;
            assert!(
                (mean / expected - 1.0).abs() < 1e-9,
                "{}: {mean} and {expected}",
                curve.method
            );
        }
    }
}

#[test]
fn results_are_measured_against_the_reference_floor() {
    let without_noise = |set: &[&str]| {
        let set: Vec<&str> = [&["noise.scheme=none", "data.degree_floor=20"], set].concat();
        let experiment =
            undertone::scenario::Experiment::resolve(config(&set), &sims()).expect("valid");
        let utility = run(&experiment, &mut Silent).expect("runs").summary.utility;
        utility.relative_error_non_private.expect("measured")
    };
    let own = without_noise(&["evaluation.reference_floor=20"]);
    let other = without_noise(&["evaluation.reference_floor=1"]);
    assert!(
        own < 1e-6,
        "the run without noise is its own reference: {own}"
    );
    assert!(other > 1e-3, "another matrix has another basis: {other}");
}

#[test]
fn what_cannot_be_swept_is_refused_with_what_to_change() {
    for (set, words) in [
        ("sweep.over={}", "over is empty"),
        (
            "sweep.over={\"privacy.epsilon\"=[]}",
            "over.\"privacy.epsilon\" is empty",
        ),
        (
            "sweep.over={\"averaging.scheme\"=[\"linear\", \"chebyshev\"]}",
            "target needs numbers under",
        ),
        (
            "sweep.over={\"engine.kind\"=[\"central\"], \"privacy.epsilon\"=[1]}",
            "is swept under [sweep.over]",
        ),
        ("sweep.over={\"privacy.epsilon\"=[1, 1]}", "lists 1 twice"),
        (
            "sweep.over={\"privacy.epsilom\"=[1]}",
            "unknown field `epsilom`",
        ),
        (
            "sweep.over={\"privacy.epsilon\"=[1, 0]}",
            "privacy.epsilon = 0: ",
        ),
        ("sweep.over={\"seed\"=[1]}", "use sweep.seeds"),
        ("sweep.seeds=[]", "seeds is empty"),
        ("sweep.seeds=0", "seeds is empty"),
        ("sweep.seeds=[3, 3]", "seed 3 is listed twice"),
        ("sweep.seeds=90000", "makes 1800000 cells"),
        ("sweep.baseline=\"x\"", "names \"x\", which is no method"),
        ("sweep.target=0", "must be a relative error above 0"),
        (
            "sweep.coincide=[[\"P1 Alg. 1\", \"P1 Alg. 2\"]]",
            "could never fail",
        ),
        (
            "sweep.methods=[{name=\"a\"}, {name=\"a\"}]",
            "two methods are called \"a\"",
        ),
        (
            "sweep.methods=[{name=\"a\", set={\"data.items\"=3}}]",
            "would measure this method on other data",
        ),
        (
            "sweep.methods=[{name=\"a\", set={\"evaluation.reference_floor\"=3}}]",
            "all methods are measured by alike",
        ),
        (
            "sweep.methods=[{name=\"a\", set={\"engine.kind\"=\"warp\"}}]",
            "method \"a\" at",
        ),
        (
            "evaluation.reference_floor=0",
            "reference_floor must be at least 1",
        ),
    ] {
        // The baseline of the file is no method of the shortened lists.
        let mut all = vec!["sweep.baseline=\"a\""];
        if !set.contains("sweep.methods") {
            all[0] = "sweep.baseline=\"P1 Alg. 2\"";
        }
        all.push(set);
        let error = Sweep::new(config(&all), &sims())
            .expect_err(set)
            .to_string();
        assert!(error.contains(words), "{set}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

/// Methods that send differently: the frontier is about the error asked for, and so are the crossings.
#[test]
fn algorithms_have_a_frontier_of_error_and_bytes() {
    let set = ["sweep.seeds=2".to_owned(), "data.items=40".to_owned()];
    let path = sims().join("frontier-small.toml");
    let config = read_config(&path, &set).expect("valid");
    let sweep = Sweep::new(config, &sims()).expect("valid");
    let out = tempfile::tempdir().expect("a folder");
    let result = sweep.run(out.path(), &mut |_| ()).expect("runs");
    assert_eq!(result.failed, 0);
    let xs: Vec<f64> = result.frontiers.iter().map(|f| f.x).collect();
    assert_eq!(xs, [1.0, 10.0]);
    for frontier in &result.frontiers {
        assert_eq!(frontier.points.len(), 6);
        let kinds: Vec<&str> = frontier.points.iter().map(|p| p.algorithm).collect();
        assert_eq!(
            kinds,
            ["power", "power", "power", "krylov", "krylov", "covariance"]
        );
        for point in &frontier.points {
            let curve = result
                .curves_exact
                .iter()
                .find(|curve| curve.method == point.method)
                .expect("a curve");
            let mean = curve.points.iter().find(|p| p.x == frontier.x);
            assert_eq!(mean.expect("a point").mean, point.error);
            let beaten = frontier
                .points
                .iter()
                .any(|other| other.bytes <= point.bytes && other.error < point.error);
            assert!(!(point.on_frontier && beaten), "{point:?}");
        }
        assert!(frontier.points.iter().any(|point| point.on_frontier));
    }
    // The target is one of the error against the exact eigenvectors.
    for (crossing, curve) in result.crossings.iter().zip(&result.curves_exact) {
        assert_eq!(crossing.method, curve.method);
        let reached = curve.points.iter().any(|point| point.mean <= 0.3);
        assert_eq!(crossing.x.is_some(), reached, "{crossing:?}");
    }
}
