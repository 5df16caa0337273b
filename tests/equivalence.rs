//! One seed, equal bits: lockstep ≡ event (any latency) ≡ swarm (any transport), from an experiment file to files on disk.

use std::collections::BTreeMap;

use undertone::config::{EngineConfig, EngineKind};
use undertone::engine::event::Latency;
use undertone::engine::{Communication, Silent};
use undertone::protocol::averaging::AveragingKind;
use undertone::run::{output, run};
use undertone::scenario::Experiment;

use crate::support::experiments::{CASES, engine, experiment, files, on_engine, resolve};

/// Everything whose bits must agree: `basis.npy`, every file of `trace/`, and what was sent.
#[derive(Debug, PartialEq)]
pub(crate) struct Written {
    pub(crate) arrays: BTreeMap<String, Vec<u8>>,
    pub(crate) communication: Communication,
}

/// Runs the experiment, writes it as `undertone run --trace` does, and reads the arrays back.
pub(crate) fn written(experiment: &Experiment) -> Written {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let report = run(experiment, &mut Silent).expect("the experiment runs");
    output::write(folder.path(), experiment.config(), &report, true).expect("a writable folder");
    let arrays = files(folder.path(), ".npy");
    let iterations = experiment.iterations() as usize;
    // X^0..X^L, Y^1..Y^L, and the final basis, besides estimates that are not the next query.
    let estimates = |name: &&String| name.starts_with("trace/estimate-");
    let estimates = arrays.keys().filter(estimates).count();
    assert!(estimates == 0 || estimates == iterations - 1);
    let others = arrays.len() - estimates;
    assert_eq!(others, 2 * iterations + 2, "{:?}", arrays.keys());
    Written {
        arrays,
        communication: report.outcome.communication,
    }
}

/// Whether two runs wrote the same bits; names the first difference.
pub(crate) fn difference(a: &Written, b: &Written) -> Option<String> {
    if a.communication != b.communication {
        let (x, y) = (&a.communication, &b.communication);
        return Some(format!("communication: {x:?} against {y:?}"));
    }
    if !a.arrays.keys().eq(b.arrays.keys()) {
        return Some("other files".to_owned());
    }
    a.arrays
        .iter()
        .find(|(name, bytes)| b.arrays[*name] != **bytes)
        .map(|(name, _)| name.clone())
}

pub(crate) fn event(latency: Latency) -> EngineConfig {
    EngineConfig {
        latency,
        ..engine(EngineKind::Event)
    }
}

/// What is changed for every algorithm that is not the power method.
const ALGORITHMS: [&[&str]; 4] = [
    &["algorithm.kind=covariance", "algorithm.iterations=1"],
    &[
        "algorithm.kind=krylov",
        "algorithm.block=5",
        "privacy.budget=[2, 1]",
    ],
    &[
        "algorithm.kind=momentum",
        "algorithm.momentum=0.5",
        "algorithm.start=popularity",
    ],
    &[
        "algorithm.kind=deflation",
        "algorithm.rank=2",
        "algorithm.iterations=1",
    ],
];

/// Schemes and algorithms as files name them, each with what is changed for it. All that can be chosen together stands in
/// `conformance`; here it goes from a file to files.
const FILES: [(AveragingKind, &[&str]); 7] = [
    (AveragingKind::Chebyshev, &[]),
    (AveragingKind::Chebyshev, ALGORITHMS[3]),
    (AveragingKind::Linear, ALGORITHMS[2]),
    (AveragingKind::Tree, &["noise.scheme=ring"]),
    (AveragingKind::PushSum, ALGORITHMS[0]),
    (
        AveragingKind::Tree,
        &["averaging.values=f32", "averaging.rotate=2"],
    ),
    (AveragingKind::Pairwise, ALGORITHMS[1]),
];

/// Experiments on the cases of at most so many peers, one case after the other under the next of [`FILES`], against lockstep. The
/// tolerance is loose so that real connections keep up; equality of bits does not depend on it.
fn assert_equal_to_lockstep(engines: &[EngineConfig], most_peers: usize) {
    let cases = CASES.iter().filter(|case| case.peers <= most_peers);
    for (&case, (scheme, set)) in cases.zip(FILES.iter().cycle()) {
        let set: Vec<&str> = [&["averaging.tolerance=1e-3"], *set].concat();
        let lockstep = experiment(case, *scheme, &set);
        let reference = written(&lockstep);
        assert!(reference.communication.messages > 0);
        for engine in engines {
            let other = written(&on_engine(&lockstep, *engine));
            let what = difference(&reference, &other);
            assert_eq!(what, None, "{}, {scheme:?}, {set:?}, {engine:?}", case.name);
        }
    }
}

#[test]
fn lockstep_and_event_write_the_same_bits_on_every_topology_whatever_the_latency() {
    let engines = [
        event(Latency::Constant { micros: 1000 }),
        event(Latency::Uniform {
            low_micros: 1,
            high_micros: 50_000,
        }),
    ];
    assert_equal_to_lockstep(&engines, usize::MAX);
}

#[cfg(feature = "node")]
#[test]
fn real_peers_write_lockstep_s_bits_over_memory_transport_and_tcp() {
    use crate::support::experiments::swarm;
    use undertone::config::TransportKind;
    let engines = [swarm(TransportKind::Memory), swarm(TransportKind::Tcp)];
    assert_equal_to_lockstep(&engines, 40);
}

#[test]
fn two_runs_with_one_seed_are_identical_and_another_seed_changes_every_array() {
    for kind in [EngineKind::Lockstep, EngineKind::Event] {
        let first = experiment(CASES[3], AveragingKind::Chebyshev, &[]);
        let first = on_engine(&first, engine(kind));
        let mut config = first.config().clone();
        config.seed += 1;
        let other = resolve(config).expect("valid under any seed");
        let (a, b, c) = (written(&first), written(&first), written(&other));
        assert_eq!(difference(&a, &b), None, "{kind:?}");
        for (name, bytes) in &a.arrays {
            assert_ne!(*bytes, c.arrays[name], "{kind:?}: {name} ignores the seed");
        }
        assert_eq!(a.communication, c.communication, "cost knows no seed");
    }
}

#[test]
fn the_comparison_notices_one_bit() {
    let experiment = experiment(CASES[0], AveragingKind::Chebyshev, &[]);
    let run = written(&experiment);
    let mut bent = written(&experiment);
    *bent
        .arrays
        .get_mut("trace/sum-2.npy")
        .expect("written")
        .last_mut()
        .expect("bytes") ^= 1;
    assert_eq!(difference(&run, &bent), Some("trace/sum-2.npy".to_owned()));
}

#[test]
fn the_number_of_threads_leaves_no_trace() {
    // 400 items times rank 5, and a triangle of 120 items, are more than one chunk of coordinates, so threads share
    // an iteration.
    let [covariance, krylov, momentum, _] = ALGORITHMS;
    let wide: &[&str] = &["data.items=400", "algorithm.rank=5"];
    let triangle: &[&str] = &["data.items=120"];
    for set in [
        wide.to_vec(),
        [wide, krylov].concat(),
        [wide, momentum].concat(),
        [triangle, covariance].concat(),
    ] {
        let experiment = experiment(CASES[4], AveragingKind::Chebyshev, &set);
        let on = |threads| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("threads")
                .install(|| written(&experiment))
        };
        let reference = on(1);
        for threads in [2, 4] {
            assert_eq!(
                difference(&reference, &on(threads)),
                None,
                "{threads} threads, {set:?}"
            );
        }
    }
}
