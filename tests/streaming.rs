//! Streaming from experiment files: fixed public batches, one charge per user, the same bits on every engine.

use undertone::assess::audit::{AuditOptions, audit};
use undertone::assess::verification::{VerifyOptions, verify};
use undertone::engine::event::Latency;
use undertone::engine::{Silent, lockstep};
use undertone::privacy::{Delta, Epsilon, gaussian};
use undertone::protocol::averaging::AveragingKind;
use undertone::scenario::Experiment;
use undertone::vocabulary::Seed;

use crate::equivalence::{difference, event, written};
use crate::support::experiments::{CASES, experiment, on_engine, refusal};

const STREAM: [&str; 4] = [
    "algorithm.kind=streaming",
    "algorithm.rank=2",
    "algorithm.iterations=3",
    "privacy.adjacency=user",
];

fn stream(case: usize, set: &[&str]) -> Experiment {
    let set = [&STREAM[..], set].concat();
    experiment(CASES[case], AveragingKind::Tree, &set)
}

#[test]
fn every_engine_writes_the_same_bits() {
    let engines = [
        event(Latency::Uniform {
            low_micros: 1,
            high_micros: 900,
        }),
        #[cfg(feature = "node")]
        crate::support::experiments::swarm(undertone::config::TransportKind::Memory),
    ];
    for arrival in ["file-order", "round-robin"] {
        let key = format!("algorithm.arrival={arrival}");
        let lockstep = stream(3, &[&key]);
        let reference = written(&lockstep);
        for engine in &engines {
            let other = written(&on_engine(&lockstep, *engine));
            assert_eq!(
                difference(&reference, &other),
                None,
                "{arrival}, {engine:?}"
            );
        }
    }
}

/// Three releases, of which a user meets one: z is that of a single release, not √3 times it.
#[test]
fn a_user_is_charged_for_the_one_release_it_meets() {
    let experiment = stream(0, &[]);
    let budget = &experiment.config().privacy;
    let epsilon = Epsilon::new(budget.epsilon).expect("valid");
    let mu = gaussian::mu(epsilon, Delta::new(budget.delta()).expect("valid"));
    assert!((experiment.calibrated().z() * mu - 1.0).abs() < 1e-11);
    assert_eq!(
        (experiment.even_iterations(), experiment.iterations()),
        (1.0, 3)
    );
    let power = stream(0, &["algorithm.kind=power"]);
    let ratio = power.calibrated().z() / experiment.calibrated().z();
    assert!((ratio - 3.0_f64.sqrt()).abs() < 1e-11);
}

/// The batches are those of the places of users in the public list: together they are all rows, each once.
#[test]
fn every_row_is_in_one_batch_that_its_place_decides() {
    for arrival in ["file-order", "round-robin"] {
        let experiment = stream(5, &[&format!("algorithm.arrival={arrival}")]);
        let rows = experiment.peer_rows();
        let mut counts = [0; 3];
        for u in 0..rows.len() {
            let of = |batch| {
                rows.contributing(u, Some(batch))
                    .map_or(0, |rows| rows.len())
            };
            let all: usize = (0..3).map(of).sum();
            assert_eq!(all, rows[u].len());
            (0..3).for_each(|batch| counts[batch as usize] += of(batch));
        }
        let users = experiment.user_rows().len();
        assert_eq!(counts.iter().sum::<usize>(), users);
        assert!(
            counts.iter().all(|count| count.abs_diff(users / 3) <= 1),
            "{counts:?}"
        );
        // Without noise the first sum is that of the rows of the first batch at X⁰.
        let quiet = stream(
            5,
            &[&format!("algorithm.arrival={arrival}"), "noise.scheme=none"],
        );
        let session = quiet.session(&Seed::from_u64(2));
        let outcome = lockstep::run(&session, &mut Silent).expect("runs");
        let mut expected = undertone::linalg::Block::zeros(40, 2);
        for user in 0..users {
            if quiet.batch_of_user(user) == Some(0) {
                let mut one = undertone::linalg::SparseRows::new(40);
                let (items, values) = quiet.user_rows().row(user);
                one.push_row(items.iter().copied().zip(values.iter().copied()))
                    .expect("a row");
                expected.add_scaled(1.0, &one.gram_product(session.start()));
            }
        }
        expected.add_scaled(-1.0, &outcome.records[0].sum);
        assert!(expected.norm() < 1e-9, "{arrival}: {}", expected.norm());
    }
}

#[test]
fn it_verifies_on_three_topologies_and_an_audit_stays_below_the_certificate() {
    for case in [0, 3, 5] {
        let options = VerifyOptions {
            runs: 10,
            significance: 1e-3,
        };
        let table = verify(&stream(case, &[]), options, &mut Silent).expect("runs");
        let failures: Vec<_> = table.failures().collect();
        assert!(table.passed(), "{}: {failures:?}", CASES[case].name);
    }
    let options = AuditOptions {
        trials: 1000,
        ..AuditOptions::default()
    };
    let audit = audit(
        &stream(0, &["algorithm.arrival=round-robin"]),
        &options,
        &mut Silent,
    );
    let audit = audit.expect("runs");
    assert!(
        audit.passed && audit.pair_mu <= audit.certified_mu,
        "{audit:?}"
    );
    assert!(
        audit.pair_mu > 0.2 * audit.certified_mu,
        "the canary meets its release: {audit:?}"
    );
}

#[test]
fn what_does_not_fit_a_stream_is_refused() {
    let refused = |set: &[&str]| {
        let set = [&STREAM[..], set].concat();
        refusal(CASES[0], AveragingKind::Tree, &set)
    };
    assert!(refused(&["privacy.budget=[1, 2, 1]"]).contains("meet different records"));
    let matrix = refused(&["privacy.adjacency=matrix"]);
    assert!(matrix.contains("adjacency of rows"), "{matrix}");
    let power = refused(&["algorithm.kind=power", "algorithm.arrival=file-order"]);
    assert!(power.contains("only streaming"), "{power}");
}
