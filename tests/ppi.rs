//! Private power iteration from experiment files: its two scales, aborts as results, and what it spends.

use undertone::config::EngineKind;
use undertone::engine::Silent;
use undertone::engine::event::Latency;
use undertone::linalg::Block;
use undertone::protocol::averaging::AveragingKind;
use undertone::run::summary::AbortedAt;
use undertone::run::{Report, run};
use undertone::scenario::Experiment;

use crate::equivalence::event;
use crate::support::experiments::{CASES, engine, experiment, on_engine};

const PPI: [&str; 5] = [
    "algorithm.kind=ppi",
    "algorithm.rank=1",
    "algorithm.iterations=4",
    "privacy.adjacency=entry",
    "privacy.calibration=hardt-roth",
];

fn ppi(set: &[&str]) -> Experiment {
    let set = [&PPI[..], set].concat();
    experiment(CASES[3], AveragingKind::Tree, &set)
}

fn ran(experiment: &Experiment) -> Report {
    run(experiment, &mut Silent).expect("runs")
}

fn bits(report: &Report) -> Vec<(Block, Block)> {
    let records = report.outcome.records.iter();
    records
        .map(|record| ((*record.sum).clone(), (*record.basis).clone()))
        .collect()
}

/// C = 1.5 allows entries up to √(1.5/40) = 0.19, which only the flattest of vectors keeps to: every engine stops at the same step, with the
/// same bits, and says so. That is a result, and its receipt holds.
#[test]
fn an_abort_is_a_result_and_the_same_on_every_engine() {
    let experiment = ppi(&["algorithm.scale=fixed", "algorithm.coherence=1.5"]);
    let report = ran(&experiment);
    assert_eq!(report.summary.aborted_at, Some(AbortedAt(Some(2))));
    assert_eq!(report.outcome.records.len(), 1);
    let findings = report.receipt.check().expect("checked");
    // Whether it protects is the last question: every number agrees.
    let wrong: Vec<_> = findings.iter().filter(|one| !one.agrees).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let engines = [
        event(Latency::Uniform {
            low_micros: 1,
            high_micros: 900,
        }),
        #[cfg(feature = "node")]
        crate::support::experiments::swarm(undertone::config::TransportKind::Memory),
    ];
    for engine in engines {
        let other = ran(&on_engine(&experiment, engine));
        assert_eq!(other.summary.aborted_at, Some(AbortedAt(Some(2))));
        assert_eq!(bits(&other), bits(&report), "{engine:?}");
    }
}

#[test]
fn the_largest_coherence_never_aborts_and_the_adaptive_scale_adds_no_more_noise() {
    let fixed = ran(&ppi(&["algorithm.scale=fixed", "algorithm.coherence=40"]));
    assert_eq!(fixed.summary.aborted_at, Some(AbortedAt(None)));
    assert_eq!(fixed.rows.len(), 4);
    let adaptive = ran(&ppi(&[]));
    assert_eq!(adaptive.summary.aborted_at, Some(AbortedAt(None)));
    for (adaptive, fixed) in adaptive.rows.iter().zip(&fixed.rows) {
        let (a, b) = (adaptive.noise.sigma_central, fixed.noise.sigma_central);
        assert!(a <= b, "{a} {b}");
        // √(n/n) times z, whatever x is.
        assert_eq!(fixed.noise.sensitivity, 1.0);
        assert_eq!(adaptive.noise.sensitivity, adaptive.statistic);
    }
}

/// Adaptive, it is the power method of rank 1 under another name: the same sums but for the noise, which belongs to its own session.
#[test]
fn what_it_spends_is_a_quarter_of_what_is_asked_for() {
    let experiment = ppi(&[]);
    let (epsilon, delta) = (2.0, 1e-5_f64);
    let mu = epsilon / (4.0 * (-delta.ln()).sqrt());
    assert!((experiment.calibrated().mu_total() / mu - 1.0).abs() < 1e-12);
    let z = experiment.calibrated().z();
    let expected = 2.0 / epsilon * (4.0 * 4.0 * -delta.ln()).sqrt();
    assert!((z / expected - 1.0).abs() < 1e-12);
    let central = on_engine(&experiment, engine(EngineKind::Central));
    assert_eq!(ran(&central).rows.len(), 4);
}

#[test]
fn keys_that_do_not_fit_are_refused_with_what_to_change() {
    let refused = |set: &[&str]| {
        let set = [&PPI[..], set].concat();
        crate::support::experiments::refusal(CASES[3], AveragingKind::Tree, &set)
    };
    for set in [&["algorithm.scale=fixed"][..], &["algorithm.coherence=7"]] {
        assert!(refused(set).contains("needs a coherence"), "{set:?}");
    }
    let power = refused(&["algorithm.kind=power", "algorithm.scale=adaptive"]);
    assert!(power.contains("only ppi has it"), "{power}");
    for c in ["0.5", "41", "nan", "inf"] {
        let key = format!("algorithm.coherence={c}");
        let text = refused(&["algorithm.scale=fixed", &key]);
        assert!(
            text.contains("between 1 and the number of items, 40"),
            "{text}"
        );
    }
    assert!(refused(&["algorithm.rank=2"]).contains("deflation"));
}
