//! Without noise a run is the principal components that every textbook has; with it, verified on three graphs.

use nalgebra::{DMatrix, SymmetricEigen};

use undertone::assess::verification::{VerifyOptions, verify};
use undertone::engine::Silent;
use undertone::linalg::{Block, subspace_distance};
use undertone::run;
use undertone::run::receipt::Receipt;
use undertone::run::variance::Variance;

use super::{PRIVATE_MEAN, PUBLIC_MEAN, experiment, run};

/// Σ (x − x̄)ᵀ(x − x̄) and its leading eigenvectors, dense.
fn dense(rows: &undertone::linalg::SparseRows, rank: usize) -> (Block, Vec<f64>, f64) {
    let (m, n) = (rows.len(), rows.dimension());
    let x = DMatrix::from_fn(m, n, |i, j| rows.row(i).1[j]);
    let mean = x.row_mean();
    let z = DMatrix::from_fn(m, n, |i, j| x[(i, j)] - mean[j]);
    let eigen = SymmetricEigen::new(z.transpose() * &z);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
    let vectors = Block::from_matrix(&eigen.eigenvectors.select_columns(&order[..rank]));
    let values = order.iter().map(|&i| eigen.eigenvalues[i]).collect();
    (vectors, values, eigen.eigenvalues.sum())
}

/// No noise and lengths that shorten nothing: the mean is the true one, and the basis is that of the centred rows.
#[test]
fn without_noise_the_private_mean_is_the_mean_and_the_basis_is_exact() {
    let set = [
        "data.centre=private",
        "data.raw_clip=9",
        "data.mean_share=0.1",
        "data.row_clip=9",
        "noise.scheme=none",
    ];
    for kind in ["isometric-covariance", "covariance"] {
        let kind = format!("algorithm.kind={kind}");
        let experiment = experiment("pca-digits.toml", &[&set[..], &[kind.as_str()]].concat());
        let samples = experiment.samples().expect("numbers");
        let (exact, values, total) = dense(samples, 8);
        let distance = subspace_distance(run(&experiment).basis(), &exact);
        assert!(distance < 1e-10, "{kind}: {distance:e}");
        let variance = Variance::of(&experiment).expect("within reach");
        let parts = variance.parts(&exact);
        assert!((parts[7].captured - 1.0).abs() < 1e-12);
        let explained = values[..8].iter().sum::<f64>() / total;
        assert!((parts[7].explained - explained).abs() < 1e-12);
    }
}

/// Deflation, private power iteration and streaming see rows of norm at most 1 and nothing of where they come from: without noise they find the
/// components of centred numbers too, a stream in one pass as far as four steps go; with it they verify, with a false alarm of at most
/// 1e-3 each at fixed seeds, and their receipts hold.
#[test]
fn algorithms_of_several_steps_run_on_numbers() {
    let public = [&PUBLIC_MEAN[..], &["data.row_clip=9"]].concat();
    let cases: [(&[&str], usize, f64); 3] = [
        (
            &[
                "algorithm.kind=deflation",
                "algorithm.rank=2",
                "algorithm.iterations=40",
            ],
            2,
            0.999,
        ),
        (
            &[
                "algorithm.kind=ppi",
                "algorithm.rank=1",
                "algorithm.iterations=40",
            ],
            1,
            0.999,
        ),
        (
            &[
                "algorithm.kind=streaming",
                "algorithm.rank=2",
                "algorithm.iterations=4",
            ],
            2,
            0.8,
        ),
    ];
    let options = VerifyOptions {
        runs: 2,
        significance: 1e-3,
    };
    for (set, rank, least) in cases {
        let plain = [&public[..], set, &["noise.scheme=none"]].concat();
        let plain = experiment("pca-digits.toml", &plain);
        let variance = Variance::of(&plain).expect("within reach");
        let captured = variance.parts(run(&plain).basis())[rank - 1].captured;
        assert!(
            (least..=1.0 + 1e-12).contains(&captured),
            "{set:?}: {captured}"
        );

        let few = [
            "algorithm.iterations=2",
            "peers.count=20",
            "topology.degree=6",
        ];
        let noisy = experiment("pca-digits.toml", &[&public[..], set, &few].concat());
        let table = verify(&noisy, options, &mut Silent).expect("runs");
        let failures: Vec<_> = table.failures().collect();
        assert!(table.passed(), "{set:?}: {failures:?}");
        let report = run::run(&noisy, &mut Silent).expect("runs");
        let findings = report.receipt.check().expect("checkable");
        let wrong: Vec<_> = findings.iter().filter(|one| !one.agrees).collect();
        assert!(wrong.is_empty(), "{set:?}: {wrong:?}");
    }
}

/// Golden: what non-private principal components explain of all variance, digits/16 with k = 8 and breast cancer in parts of its
/// public ranges with k = 4.
#[test]
fn the_explained_ratios_of_the_data_are_the_golden_ones() {
    for (name, golden) in [
        ("pca-digits.toml", 0.6739),
        ("pca-breast-cancer.toml", 0.8544),
    ] {
        let variance = Variance::of(&experiment(name, &[])).expect("within reach");
        let parts = variance.parts(&variance.top().vectors);
        let explained = parts.last().expect("a component").explained;
        assert!((explained - golden).abs() < 5e-5, "{name}: {explained}");
    }
}

/// Another order of the rows is another order of summation and nothing else: dealing them otherwise moves the noiseless basis by
/// rounding only.
#[test]
fn the_order_of_the_rows_changes_nothing_but_rounding() {
    let of = |partition: &str| {
        let partition = format!("peers.partition={partition}");
        let set = [&PRIVATE_MEAN[..], &["noise.scheme=none", &partition]].concat();
        run(&experiment("pca-digits.toml", &set)).basis().clone()
    };
    let distance = subspace_distance(&of("round-robin"), &of("contiguous"));
    assert!(distance < 1e-11, "{distance:e}");
}

/// `verify` on a random regular graph, a ring and a torus, with a false alarm of at most 1e-3 each; seeds are fixed.
#[test]
fn verify_passes_on_three_graphs() {
    let options = VerifyOptions {
        runs: 3,
        significance: 1e-3,
    };
    for (peers, topology) in [
        (
            "peers.count=20",
            "topology={generator = \"random-regular\", degree = 6, seed = 1}",
        ),
        ("peers.count=9", "topology={generator = \"ring\"}"),
        (
            "peers.count=16",
            "topology={generator = \"torus\", rows = 4, columns = 4}",
        ),
    ] {
        let set = [&PRIVATE_MEAN[..], &[peers, topology, "privacy.epsilon=3"]].concat();
        let table =
            verify(&experiment("pca-digits.toml", &set), options, &mut Silent).expect("runs");
        let failures: Vec<_> = table.failures().collect();
        assert!(table.passed(), "{topology}: {failures:?}");
    }
}

/// A whole run: its summary says what was captured and that this is not private, its receipt holds, and one that states another share
/// of the mean does not.
#[test]
fn a_run_measures_variance_and_its_receipt_knows_the_mean() {
    let set = [&PRIVATE_MEAN[..], &["peers.count=20", "topology.degree=6"]].concat();
    let experiment = experiment("pca-digits.toml", &set);
    let report = run::run(&experiment, &mut Silent).expect("runs");
    let utility = &report.summary.utility;
    let variance = utility.variance.as_ref().expect("numbers");
    assert_eq!(variance.this_run.len(), 8);
    let captured = utility.captured_variance.expect("measured");
    assert_eq!(captured, variance.this_run[7].captured);
    assert!((0.8..1.0).contains(&captured), "{captured}");
    let plain = variance.non_private.as_ref().expect("a basis");
    assert!(plain[7].captured > 0.999, "{plain:?}");
    assert!(utility.relative_error.is_none() && utility.subspace_error.is_some());
    let json = serde_json::to_value(&report.summary).expect("a document");
    let marked = &json["not_for_publication"]["from_raw_data"];
    assert!(
        marked
            .as_array()
            .expect("a list")
            .iter()
            .any(|key| key == "utility")
    );
    assert_eq!(json["privacy"]["centring"]["slots"], 1797);
    assert_eq!(report.summary.privacy.iterations.len(), 2);

    let disagreeing = |receipt: &Receipt| -> Vec<String> {
        let findings = receipt.check().expect("checkable").into_iter();
        findings
            .filter(|one| !one.agrees)
            .map(|one| one.what)
            .collect()
    };
    assert_eq!(disagreeing(&report.receipt), [""; 0]);
    let mut other = report.receipt.clone();
    other.program["prelude"]["share"] = 0.2.into();
    let found = disagreeing(&other);
    assert!(
        found.iter().any(|what| what == "releases[0].noise_factor"),
        "{found:?}"
    );
    let mut none = report.receipt.clone();
    let program = none.program.as_object_mut().expect("a table");
    program.remove("prelude").expect("private");
    assert!(!disagreeing(&none).is_empty());
}

/// The public mean of the data, taken for public, is what the private one costs against.
#[test]
fn a_public_mean_is_a_list_or_a_file() {
    let from_file = experiment("pca-digits.toml", &PUBLIC_MEAN);
    let line = std::fs::read_to_string(crate::support::repository("sims/data/digits/means.csv"));
    let list = format!("data.means=[{}]", line.expect("readable").trim());
    let from_list = experiment("pca-digits.toml", &["data.centre=public", &list]);
    assert_eq!(from_file.user_rows(), from_list.user_rows());
    let sum: f64 = (0..from_file.user_rows().len())
        .map(|i| from_file.user_rows().row(i).1[20])
        .sum();
    assert!(
        sum.abs() < 5.0,
        "centred, but for rows that are shortened: {sum}"
    );
}
