//! Every engine computes the same of a private graph, and of own coordinates what a curator does.

use undertone::assess::verification::{VerifyOptions, verify};
use undertone::config::EngineKind;
use undertone::engine::central::{self, SumNoise};
use undertone::engine::event::Latency;
use undertone::engine::{Silent, lockstep};
use undertone::linalg::Block;
use undertone::run::{Report, run};
use undertone::scenario::Experiment;
use undertone::vocabulary::Seed;

use super::{ALGORITHMS, karate};
use crate::equivalence::event;
use crate::plain_pca::sims;
use crate::support::experiments::engine;

fn bits(report: &Report) -> Vec<(Block, Block, f64)> {
    let records = report.outcome.records.iter();
    records
        .map(|one| ((*one.sum).clone(), (*one.basis).clone(), one.sensitivity))
        .collect()
}

fn on_engine(experiment: &Experiment, engine: undertone::config::EngineConfig) -> Experiment {
    let mut config = experiment.config().clone();
    config.engine = engine;
    Experiment::resolve(config, &sims()).expect("valid on every engine with peers")
}

/// Under gossip too, where only quotients are averaged.
#[test]
fn lockstep_event_and_swarm_have_equal_bits() {
    for algorithm in ALGORITHMS {
        for averaging in [
            "averaging={scheme=\"tree\"}",
            "averaging={scheme=\"chebyshev\"}",
        ] {
            let experiment = karate(&[algorithm, &[averaging]].concat());
            let report = run(&experiment, &mut Silent).expect("runs");
            let expected = bits(&report);
            let engines = [
                event(Latency::Uniform {
                    low_micros: 1,
                    high_micros: 900,
                }),
                #[cfg(feature = "node")]
                crate::support::experiments::swarm(undertone::config::TransportKind::Memory),
            ];
            for engine in engines {
                let other = on_engine(&experiment, engine);
                let other = run(&other, &mut Silent).expect("runs");
                assert_eq!(bits(&other), expected, "{algorithm:?} {engine:?}");
                let (ours, theirs) = (&report.outcome, &other.outcome);
                assert_eq!(theirs.communication, ours.communication);
            }
            let findings = report.receipt.check().expect("checked");
            let wrong: Vec<_> = findings.iter().filter(|one| !one.agrees).collect();
            assert!(wrong.is_empty(), "{algorithm:?}: {wrong:?}");
        }
    }
}

/// Nothing is averaged, so that a curator with the vertices' own noise has the very bits of the peers; and other noise, other bits.
#[test]
fn own_coordinates_are_a_curator_s_bit_for_bit() {
    for algorithm in &ALGORITHMS[..3] {
        let experiment = karate(algorithm);
        let session = experiment.session(&Seed::from_u64(5));
        let ours = lockstep::run(&session, &mut Silent).expect("runs");
        let with = |noise| central::run(&session, noise, &mut Silent).expect("runs");
        let (shares, curator) = (with(SumNoise::Shares), with(SumNoise::Curator));
        assert!(!ours.records.is_empty());
        for ((x, y), z) in ours
            .records
            .iter()
            .zip(&shares.records)
            .zip(&curator.records)
        {
            assert_eq!((&x.sum, &x.basis), (&y.sum, &y.basis), "{algorithm:?}");
            assert_ne!(x.sum, z.sum, "a curator draws its own noise");
        }
        assert_eq!(ours.records.len(), shares.records.len());
    }
}

/// The whole table at a false alarm of at most 1e-3 per run of it; the seeds are fixed.
#[test]
fn graphs_verify_on_four_topologies() {
    for (topology, colluders) in [
        (r#"topology={generator="ring"}"#, "privacy.colluders=1"),
        (r#"topology={generator="star"}"#, "privacy.colluders=0"),
        (r#"topology={generator="complete"}"#, "privacy.colluders=2"),
        (
            r#"topology={generator="random-regular",degree=6,seed=3}"#,
            "privacy.colluders=1",
        ),
    ] {
        for algorithm in [ALGORITHMS[0], ALGORITHMS[1], ALGORITHMS[3]] {
            let experiment = karate(&[algorithm, &[topology, colluders]].concat());
            let options = VerifyOptions {
                runs: 10,
                significance: 1e-3,
            };
            let table = verify(&experiment, options, &mut Silent).expect("runs");
            let failures: Vec<_> = table.failures().collect();
            assert!(table.passed(), "{topology} {algorithm:?}: {failures:?}");
            assert!(table.checks.iter().any(|check| check.kind == "peers"));
        }
    }
}

#[test]
fn a_curator_and_a_server_run_it_too() {
    for kind in [EngineKind::Central, EngineKind::Federated] {
        for algorithm in ALGORITHMS {
            let experiment = on_engine(&karate(algorithm), engine(kind));
            let report = run(&experiment, &mut Silent).expect("runs");
            assert!(report.summary.utility.captured_variance.is_some());
            let findings = report.receipt.check().expect("checked");
            let wrong: Vec<_> = findings.iter().filter(|one| !one.agrees).collect();
            assert!(wrong.is_empty(), "{kind:?} {algorithm:?}: {wrong:?}");
        }
    }
}
