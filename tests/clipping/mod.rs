//! Clipped contributions through experiment files: what thresholds and products spend, the same bits on every engine, what is refused.

mod digits;
mod neighbours;

use undertone::assess::audit::{AuditOptions, audit};
use undertone::assess::verification::{VerifyOptions, verify};
use undertone::engine::central::{self, SumNoise};
use undertone::engine::{Event, Federated, Lockstep, Runner, Silent, event, lockstep};
use undertone::linalg::{Block, subspace_distance};
use undertone::papers::ClipRule;
use undertone::privacy::{Delta, Epsilon, gaussian, sparse_vector};
use undertone::protocol::averaging::AveragingKind;
use undertone::run::run;
use undertone::scenario::Experiment;
use undertone::vocabulary::{Quantity, Seed};

use crate::programs::{one_copy, with_peers};
use crate::support::coalitions::assert_stated_as_on_a_ring;
use crate::support::experiments::{CASES, experiment, refusal};

const HISTOGRAM: &[&str] = &["algorithm.kind=clipped-power", "algorithm.clip=histogram"];
const LAGGING: &[&str] = &[
    "algorithm.kind=clipped-power",
    "algorithm.clip=histogram",
    "algorithm.clip_lag=true",
];
const GEOMETRIC: &[&str] = &["algorithm.kind=clipped-power", "algorithm.clip=geometric"];
const SEARCHED: &[&str] = &[
    "algorithm.kind=clipped-power",
    "algorithm.clip=sparse-vector",
    "engine.kind=central",
];

/// The power method on users of norm 1, two columns and three iterations.
const USERS: &[&str] = &[
    "algorithm.kind=power",
    "algorithm.rank=2",
    "algorithm.iterations=3",
    "privacy.adjacency=user",
    "privacy.sensitivity=unit-row",
];

fn clipped(case: usize, scheme: AveragingKind, set: &[&str]) -> Experiment {
    experiment(CASES[case], scheme, &[USERS, set].concat())
}

fn mu_of(experiment: &Experiment) -> f64 {
    let budget = &experiment.config().privacy;
    let epsilon = Epsilon::new(budget.epsilon).expect("valid");
    gaussian::mu(epsilon, Delta::new(budget.delta()).expect("valid"))
}

/// The standard deviation of the noise on every block is read off the plan, and what one row moves it by off the statement of its bound:
/// together they spend the μ² of the budget, counts their tenth. Against every coalition of one on a ring of eight what is seen is
/// inverted densely.
#[test]
fn releases_spend_the_budget_exactly_and_counts_their_share() {
    for (set, adjacency) in [
        (HISTOGRAM, "user"),
        (LAGGING, "user"),
        (GEOMETRIC, "user"),
        (HISTOGRAM, "replace-user"),
        (LAGGING, "replace-user"),
    ] {
        let adjacency = format!("privacy.adjacency={adjacency}");
        let set = [set, &[&adjacency, "algorithm.clip_share=0.2"]].concat();
        let experiment = clipped(0, AveragingKind::Tree, &set);
        let replaced = adjacency.ends_with("replace-user");
        let z = experiment.calibrated().z();
        let plan = experiment.session(&Seed::from_u64(1)).plan().clone();
        let (mut of_counts, mut of_products) = (0.0, 0.0);
        for planned in plan.releases() {
            let terms = planned.terms(0.0);
            let sigmas = terms.sigmas(terms.scale * z);
            for (block, sigma) in planned.spec().blocks.iter().zip(sigmas) {
                let (sum, moved) = match (block.quantity, replaced) {
                    (Quantity::ClippedProduct, false) => (&mut of_products, 1.0),
                    (Quantity::ClippedProduct, true) => (&mut of_products, 2.0),
                    (Quantity::ClipHistogram, true) => (&mut of_counts, 2.0_f64.sqrt()),
                    _ => (&mut of_counts, 1.0),
                };
                *sum += (moved / sigma).powi(2);
            }
        }
        let mu = mu_of(&experiment);
        let spent = of_counts + of_products;
        assert!((spent / (mu * mu) - 1.0).abs() < 1e-11, "{set:?}: {spent}");
        assert!((of_counts / spent - 0.2).abs() < 1e-11, "{set:?}");
        assert_stated_as_on_a_ring(&experiment, &format!("{set:?}"));
    }
}

/// Lockstep, event and swarm tell the same bits, and a curator with the peers' shares the same as an ideal sum.
#[test]
fn every_engine_tells_the_same_bits() {
    for (case, scheme) in [(0, AveragingKind::Chebyshev), (3, AveragingKind::Tree)] {
        let ring = [LAGGING, &["noise.scheme=ring"]].concat();
        for set in [HISTOGRAM, LAGGING, GEOMETRIC, &ring] {
            if !scheme.is_exact() && set == ring {
                continue;
            }
            let experiment = clipped(case, scheme, set);
            let session = experiment.session(&Seed::from_u64(5));
            let (one, many) = (one_copy(&session), with_peers(&session));
            assert_eq!(one.records.len(), experiment.releases().len());
            assert_eq!(one.records.len(), many.records.len());
        }
    }
}

#[test]
fn the_peers_walk_the_path_of_a_curator_with_their_shares() {
    for case in [0, 3, 5] {
        for set in [HISTOGRAM, LAGGING, GEOMETRIC] {
            let set = [set, &["averaging.tolerance=1e-13"]].concat();
            let experiment = clipped(case, AveragingKind::Chebyshev, &set);
            let session = experiment.session(&Seed::from_u64(8));
            let ours = lockstep::run(&session, &mut Silent).expect("runs");
            let with = |noise| central::run(&session, noise, &mut Silent).expect("runs");
            let (shares, nothing) = (with(SumNoise::Shares), with(SumNoise::Nothing));
            let pairs = ours.records.iter().zip(&shares.records);
            for ((x, y), z) in pairs.zip(&nothing.records) {
                let apart = |a: &Block, b: &Block| {
                    let mut gap = a.clone();
                    gap.add_scaled(-1.0, b);
                    gap.norm() / b.norm()
                };
                let about = format!("{}, {set:?}, {}", CASES[case].name, x.release);
                assert!(apart(&x.sum, &y.sum) < 1e-7, "{about}");
                assert!(subspace_distance(&x.basis, &y.basis) < 1e-5, "{about}");
                assert_ne!(x.sum, z.sum, "{about}: no noise");
            }
        }
    }
}

/// The whole table at a false alarm of at most 1e-3 per topology; the seeds are fixed.
#[test]
fn it_verifies_on_three_topologies() {
    for (case, scheme) in [
        (0, AveragingKind::Chebyshev),
        (3, AveragingKind::Tree),
        (5, AveragingKind::Chebyshev),
    ] {
        for set in [HISTOGRAM, LAGGING, GEOMETRIC] {
            let options = VerifyOptions {
                runs: 10,
                significance: 1e-3,
            };
            let table = verify(&clipped(case, scheme, set), options, &mut Silent).expect("runs");
            let failures: Vec<_> = table.failures().collect();
            assert!(
                table.passed(),
                "{}, {set:?}: {failures:?}",
                CASES[case].name
            );
        }
    }
}

/// One user there or not, found by the likelihood ratio over all releases: the bound that 600 runs prove stays below the certificate,
/// and the canary meets histograms as well as products.
#[test]
fn an_audit_stays_below_the_certificate() {
    for set in [HISTOGRAM, LAGGING] {
        let options = AuditOptions {
            trials: 600,
            ..AuditOptions::default()
        };
        let experiment = clipped(0, AveragingKind::Tree, set);
        let audit = audit(&experiment, &options, &mut Silent).expect("runs");
        assert!(
            audit.passed && audit.pair_mu <= audit.certified_mu,
            "{audit:?}"
        );
        assert!(audit.pair_mu > 0.3 * audit.certified_mu, "{audit:?}");
    }
}

#[test]
fn a_run_says_its_thresholds_and_its_receipt_checks() {
    for set in [HISTOGRAM, LAGGING, GEOMETRIC, SEARCHED] {
        let experiment = clipped(2, AveragingKind::Tree, set);
        let report = run(&experiment, &mut Silent).expect("runs");
        let clip = report.summary.privacy.clip.as_ref().expect("clipped");
        assert_eq!(clip.thresholds.len(), 3, "{set:?}");
        assert!(clip.thresholds.iter().all(|t| *t > 0.0 && *t <= 1.0));
        let users = experiment.user_rows().len();
        assert_eq!((clip.clip.slots, clip.clip.share), (users, 0.1));
        let sigma = clip.sigma_counts;
        assert_eq!(sigma.is_none(), clip.clip.rule == ClipRule::SparseVector);
        let findings = report.receipt.check().expect("checkable");
        let wrong: Vec<_> = findings.iter().filter(|one| !one.agrees).collect();
        assert!(wrong.is_empty(), "{set:?}: {wrong:?}");
        // A receipt that says thresholds cost less than they did is not this plan's.
        let mut bent = report.receipt.clone();
        let share = match clip.clip.rule {
            ClipRule::SparseVector => "/search/share",
            _ => "/releases/0/first/share",
        };
        let share = bent.program.pointer_mut(share);
        *share.unwrap_or_else(|| panic!("{}", report.receipt.program)) = 0.01.into();
        let findings = bent.check().expect("checkable");
        assert!(findings.iter().any(|one| !one.agrees), "{set:?}");
    }
}

/// σ_b = √T/(μ√f)·√(1 + overhead…) of the sum: what the summary says is the plan's, and above (1 − γ)m it is said aloud.
#[test]
fn thresholds_that_are_noise_are_said_to_be() {
    let experiment = clipped(0, AveragingKind::Tree, HISTOGRAM);
    let sigma = experiment.sigma_of_counts().expect("a histogram");
    let exact = 3.0_f64.sqrt() / (mu_of(&experiment) * 0.1_f64.sqrt());
    // The sum has a little more noise than a curator's.
    assert!((1.0..1.1).contains(&(sigma / exact)), "{sigma} {exact}");
    let warned = |set: &[&str]| {
        let experiment = clipped(0, AveragingKind::Tree, &[HISTOGRAM, set].concat());
        let warnings: Vec<String> = experiment
            .warnings()
            .iter()
            .map(ToString::to_string)
            .collect();
        warnings
            .iter()
            .any(|text| text.contains("thresholds are mostly noise"))
    };
    assert!(warned(&["privacy.epsilon=0.1"]));
    assert!(!warned(&["privacy.epsilon=100"]));
}

/// A curator's searches and releases: the loss distribution of both spends ε, and the ideal sum and all peers are refused.
#[test]
fn sparse_vector_is_a_curator_s_and_spends_the_budget() {
    let experiment = clipped(0, AveragingKind::Tree, SEARCHED);
    let clip = experiment.clip().expect("clipped");
    let releases = 3.0_f64.sqrt() / experiment.calibrated().z();
    let budget = &experiment.config().privacy;
    let delta = sparse_vector::delta(budget.epsilon, releases, clip.test_epsilon, 3);
    assert!((delta / budget.delta() - 1.0).abs() < 1e-6, "{delta}");
    assert!((3.0 * clip.test_epsilon.powi(2) / releases.powi(2) - 1.0 / 9.0).abs() < 1e-9);
    let spent = experiment.noise().epsilon().expect("private");
    assert!((spent / budget.epsilon - 1.0).abs() < 1e-6);
    let session = experiment.session(&Seed::from_u64(3));
    let of = |noise| central::run(&session, noise, &mut Silent);
    let again = of(SumNoise::Curator).expect("runs");
    assert_eq!(again, of(SumNoise::Curator).expect("runs"));
    assert!(again.records.iter().all(|one| one.statistic <= 1.0));
    let refused = |runner: &dyn Runner| {
        let found = runner.run(&session, &mut Silent);
        let text = found.expect_err("no curator").to_string();
        assert!(
            text.contains("curator") || text.contains("secret"),
            "{text}"
        );
    };
    assert!(of(SumNoise::Shares).is_err());
    refused(&Federated);
    refused(&Lockstep);
    let latency = event::Latency::Constant { micros: 1 };
    refused(&Event { latency });
}

/// Experiments of one folder share noise plans. One that has more noise, as its searches spend too, has a plan of its own.
#[test]
fn searches_share_no_noise_plan_with_releases_alone() {
    let experiments = [&["engine.kind=central"], SEARCHED];
    let planned = experiments.map(|set| {
        let experiment = clipped(0, AveragingKind::Tree, set);
        let (z, sigma) = (experiment.calibrated().z(), experiment.noise().sigma_sum());
        assert_eq!(z, sigma);
        z
    });
    assert!(planned[0] < planned[1], "{planned:?}");
}

#[test]
fn what_does_not_go_with_a_clip_is_refused_and_says_what_to_change() {
    let refused = |set: &[&str]| {
        let set = [USERS, set].concat();
        refusal(CASES[0], AveragingKind::Tree, &set)
    };
    let cases: &[(&[&str], &str)] = &[
        (&["algorithm.kind=krylov"], "only clipped-power"),
        (&["algorithm.kind=streaming"], "only clipped-power"),
        (&["algorithm.clip_share=0"], "strictly between 0 and 1"),
        (&["algorithm.clip_share=nan"], "strictly between 0 and 1"),
        (&["algorithm.clip_quantile=1"], "strictly between 0 and 1"),
        (&["algorithm.output=low-rank"], "only power has it"),
        (&["evaluation.diagnostics=true"], "evaluation.diagnostics"),
        (&["engine.kind=analytic"], "set engine.kind = \"lockstep\""),
        (&["privacy.budget=[1, 1, 2]"], "shares of their own"),
        (&["privacy.sensitivity=exact"], "unit-row"),
        (&["privacy.adjacency=interaction"], "unit-row"),
        (
            &["privacy.adjacency=matrix", "privacy.sensitivity=exact"],
            "matrix",
        ),
        (
            &["algorithm.clip_lag=true", "algorithm.iterations=1"],
            "at least 2",
        ),
    ];
    for (set, why) in cases {
        let text = refused(&[HISTOGRAM, set].concat());
        assert!(text.contains(why), "{set:?}: {text}");
    }
    let late = refused(&[
        "algorithm.kind=clipped-power",
        "algorithm.clip=geometric",
        "algorithm.iterations=1",
    ]);
    assert!(late.contains("at least 2"), "{late}");
    let lag = refused(&[
        "algorithm.kind=clipped-power",
        "algorithm.clip=geometric",
        "algorithm.clip_lag=true",
    ]);
    assert!(lag.contains("clip = \"histogram\""), "{lag}");
    let alone = refused(&["algorithm.clip_share=0.2"]);
    assert!(alone.contains("only clipped-power"), "{alone}");
    let peers = refused(&[
        "algorithm.kind=clipped-power",
        "algorithm.clip=sparse-vector",
    ]);
    assert!(
        peers.contains("only a curator who sees all rows"),
        "{peers}"
    );
    let paper = refused(&[SEARCHED, &["privacy.calibration=paper"]].concat());
    assert!(paper.contains("\"analytic\" or \"zcdp\""), "{paper}");
}
