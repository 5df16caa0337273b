//! The joint law against healthy runs and against every defect that the sums cannot show.
//!
//! A correct table fails with probability at most [`ALARM`] per test; the seeds are fixed.

mod power;

use super::PeerLaw;
use super::marginals::Marginals;
use super::places::Places;
use super::whitened::Whitened;
use crate::assess::verification::Check;
use crate::engine::noise::{Assignment, Defect};
use crate::engine::{EngineError, Observer, Session, event, lockstep};
use crate::noise::Sigmas;
use crate::scenario::Experiment;
use crate::scenario::testing::sim;
use crate::topology::Graph;
use crate::vocabulary::{Binding, PeerIndex, ReleaseId, Seed};

/// What `verify` holds each p-value of P1's own method on the quickstart's users against: 1e-3 over its fifteen.
const ALARM: f64 = 1e-3 / 15.0;

fn experiment(set: &[&str]) -> Experiment {
    // Two rounds of averaging: what is tested is published before any of them.
    sim(
        "../tests/power.toml",
        &[&["averaging.rounds=2"], set].concat(),
    )
    .expect("resolves")
}

/// A dozen peers, thirty items, two iterations.
const SMALL: [&str; 5] = [
    "peers.count=12",
    "topology.degree=4",
    "data.items=30",
    "algorithm.rank=2",
    "algorithm.iterations=2",
];

/// The tests of `runs` runs from `root`, each session prepared before it runs, and the gap of the algebra.
fn observed(
    experiment: &Experiment,
    (root, runs): (&Seed, u32),
    prepare: &dyn Fn(Session) -> Session,
) -> (Vec<Check>, f64) {
    let simulation = experiment.simulation();
    let mut law = PeerLaw::new(&simulation, runs);
    for run in 0..runs {
        let honest = experiment.session(&root.repetition(run));
        let session = prepare(honest.clone());
        lockstep::run(&session, &mut law.watch(&honest, None)).expect("runs");
    }
    (law.checks(), law.gap())
}

fn broken_by(defect: Defect) -> impl Fn(Session) -> Session {
    move |session: Session| session.with_defect(defect)
}

fn p_of(checks: &[Check], needle: &str) -> f64 {
    let check = checks.iter().find(|check| check.name.contains(needle));
    check
        .and_then(|check| check.p_value)
        .expect("a test of that name")
}

fn least(checks: &[Check]) -> f64 {
    let p = checks.iter().filter_map(|check| check.p_value);
    p.fold(1.0, f64::min)
}

/// How many runs of the quickstart show each defect: twelve where one edge alone is weak, four where all noise of a kind or
/// all of a peer's is wrong. The power of both is computed in `tests/power.rs`.
const RUNS: u32 = 12;
const FEW_RUNS: u32 = 4;

/// Every defect on the quickstart, by the law alone: the algebra, which knows the streams, does not count. Each of the eight
/// tests is seen to fail.
#[test]
fn every_pairwise_defect_is_caught_on_the_quickstart_by_the_law_alone() {
    let experiment = experiment(&[]);
    let first = experiment.noise_topology().graph().neighbours(0)[0];
    let defects = [
        (FEW_RUNS, Defect::ScalePairwise(0.0), "Kolmogorov"),
        (FEW_RUNS, Defect::ScalePairwise(0.1), "mean square"),
        (FEW_RUNS, Defect::ScalePairwise(0.5), "mean square"),
        (FEW_RUNS, Defect::OmitPairsOfPeer, "variance of one peer"),
        (
            RUNS,
            Defect::ScaleEdge(0, first, 0.5),
            "covariance of one edge",
        ),
        (FEW_RUNS, Defect::FlipPairwiseSign, "covariance of one edge"),
        (FEW_RUNS, Defect::KeyedByLowerEnd, "covariance without edge"),
        (FEW_RUNS, Defect::KeyedByUpperEnd, "covariance without edge"),
        (FEW_RUNS, Defect::RepeatChunk, "between coordinates"),
        (FEW_RUNS, Defect::ReusePairwise, "between iterations"),
        (FEW_RUNS, Defect::ReuseStream, "between iterations"),
    ];
    for (number, (runs, defect, needle)) in (0..).zip(defects) {
        let root = Seed::from_u64(100 + number);
        let (checks, gap) = observed(&experiment, (&root, runs), &broken_by(defect));
        assert!(p_of(&checks, needle) < ALARM, "{defect:?}: {checks:?}");
        assert!(gap > 1.0, "{defect:?}: {gap}");
    }
    let healthy = (&Seed::from_u64(7), RUNS);
    let (checks, gap) = observed(&experiment, healthy, &|session| session);
    assert!(least(&checks) >= ALARM && gap <= 1.0, "{checks:?} {gap}");
}

#[test]
fn noise_of_an_earlier_run_is_caught_as_a_correlation_between_runs() {
    let experiment = experiment(&[]);
    let root = Seed::from_u64(3);
    let earlier = experiment.session(&root.repetition(4));
    let last = experiment.session(&root.repetition(9)).start().digest();
    let twice = |session: Session| {
        if session.start().digest() == last {
            session.with_noise(earlier.planned_noise().clone())
        } else {
            session
        }
    };
    let (checks, _) = observed(&experiment, (&root, 12), &twice);
    assert!(p_of(&checks, "between runs") < ALARM, "{checks:?}");
}

/// Several seeds each, where a run costs little; the last two are defects of own noise, which pairwise noise hides from the
/// law of a single peer: the algebra sees them.
#[test]
fn defects_are_caught_seed_after_seed_on_a_small_network() {
    let experiment = experiment(&SMALL);
    let by_law = [
        Defect::ScalePairwise(0.0),
        Defect::ScalePairwise(0.1),
        Defect::ScalePairwise(0.5),
        Defect::OmitPairsOfPeer,
        Defect::KeyedByLowerEnd,
        Defect::KeyedByUpperEnd,
        Defect::ReusePairwise,
        Defect::FlipPairwiseSign,
    ];
    let by_algebra = [
        Defect::ShareOwnNoise,
        Defect::DropPeerNoise,
        Defect::HalveOwnNoise,
    ];
    for seed in 0..10 {
        let root = Seed::from_u64(seed);
        for defect in by_law {
            let (checks, _) = observed(&experiment, (&root, 12), &broken_by(defect));
            assert!(least(&checks) < ALARM, "{defect:?}, {seed}: {checks:?}");
        }
        for defect in by_algebra {
            let (_, gap) = observed(&experiment, (&root, 2), &broken_by(defect));
            assert!(gap > 1e3, "{defect:?}, {seed}: {gap}");
        }
    }
}

/// p-values of a correct implementation are not smaller than uniform ones: over 300 tables the number of p-values of one test
/// below 0.02, 0.1 and 0.3 exceeds 20, 58 and 130 with probability at most 2e-6 each (binomial tails; 27 of them). Those
/// that are exact without Bonferroni are not larger either: fewer than 50 below 0.3 has probability 4e-7.
#[test]
fn correct_runs_have_uniform_p_values() {
    let experiment = experiment(&SMALL);
    let mut all: Vec<Vec<Check>> = Vec::new();
    for seed in 0..300 {
        let (checks, gap) = observed(&experiment, (&Seed::from_u64(1000 + seed), 2), &|s| s);
        assert!(gap <= 1.0, "{gap}");
        all.push(checks);
    }
    assert_eq!(all[0].len(), 9);
    for test in 0..all[0].len() {
        let name = &all[0][test].name;
        let p = |table: &Vec<Check>| table[test].p_value.expect("a test");
        let below = |level: f64| all.iter().filter(|&table| p(table) < level).count();
        let counts = [0.02, 0.1, 0.3].map(below);
        for (count, most) in counts.iter().zip([20, 58, 130]) {
            assert!(*count <= most, "{name}: {counts:?}");
        }
        let single = name.contains("whitened");
        assert!(!single || counts[2] >= 50, "{name}: {counts:?}");
    }
}

/// Copies what an engine tells.
#[derive(Default, PartialEq, Debug)]
struct Copy(Vec<(u32, f64, Vec<u64>, Vec<f64>)>);

impl Observer for Copy {
    fn wants_transcript(&self) -> bool {
        true
    }

    fn transcript(&mut self, t: crate::engine::Transcript<'_>) {
        let queries = t.states.iter().flat_map(|state| state.query.values());
        let (inputs, queries) = (t.inputs.bits().collect(), queries.copied().collect());
        self.0.push((t.release.0, t.terms.scale, inputs, queries));
    }
}

#[test]
fn all_engines_with_peers_show_the_same_bits_of_what_is_published() {
    let experiment = experiment(&SMALL);
    let session = experiment.session(&Seed::from_u64(5));
    let shown = |run: &dyn Fn(&mut Copy) -> Result<(), EngineError>| {
        let mut copy = Copy::default();
        run(&mut copy).expect("runs");
        copy
    };
    let lockstep = shown(&|copy| lockstep::run(&session, copy).map(drop));
    let latency = experiment.config().engine.latency;
    let event = shown(&|copy| event::run(&session, latency, copy).map(drop));
    assert_eq!(lockstep.0.len(), 2);
    assert_eq!(lockstep, event);
    #[cfg(feature = "node")]
    {
        let mut swarm = Copy::default();
        let options = crate::node::SwarmOptions {
            transport: crate::node::Transport::Memory,
            ..Default::default()
        };
        crate::node::run(&session, &options, &mut swarm).expect("runs");
        assert_eq!(lockstep, swarm);
    }
}

/// 2,500 peers in a ring with chords of 2 and 37: the whitened tests of four patches, and both kinds of pairs.
#[test]
fn a_large_network_is_whitened_in_patches() {
    const PEERS: u32 = 2500;
    let chord = |k: u32| (0..PEERS).map(move |u| (u.min((u + k) % PEERS), u.max((u + k) % PEERS)));
    let edges: Vec<_> = [1, 2, 37].into_iter().flat_map(chord).collect();
    let graph = Graph::from_edges(PEERS as usize, &edges).expect("simple");
    let places = Places::new(PEERS as usize, (10, 1));
    let (own, pairwise) = (0.5, 4.0);
    let least_of = |defect: Option<Defect>| {
        let variances = (f64::powi(own, 2), f64::powi(pairwise, 2));
        let mut whitened = Whitened::new(&graph, variances, (3, 1));
        let mut marginals = Marginals::new(&graph, variances);
        for run in 0..3 {
            let root = Seed::from_u64(2)
                .repetition(run)
                .noise_root(Binding::to(&[]));
            let noise = Assignment::new(root, Sigmas::of_sums(own, pairwise)).expect("finite");
            let noise = defect.map_or(noise.clone(), |defect| noise.with_defect(defect));
            let mut residuals = vec![0.0; 10 * PEERS as usize];
            for (u, out) in residuals.chunks_exact_mut(10).enumerate() {
                let peer = noise.peer(PeerIndex::from_index(u), &graph);
                peer.add_to(ReleaseId(1), 1.0, out);
            }
            whitened.add(&residuals, &places, ReleaseId(1));
            marginals.add(&residuals, 10);
        }
        let tests = [whitened.tests(&places), marginals.tests()].concat();
        assert_eq!(tests.len(), 7, "no second iteration");
        tests.iter().map(|(_, (_, p))| *p).fold(1.0, f64::min)
    };
    assert!(least_of(None) >= ALARM);
    for defect in [Defect::ScalePairwise(0.5), Defect::KeyedByLowerEnd] {
        assert!(least_of(Some(defect)) < ALARM, "{defect:?}");
    }
}

/// A plan whose own noise is drawn wrongly: what is redrawn is as wrong as what was published, so the algebra holds, and
/// pairwise noise hides it from the law of what is published. Only the size of what is left without pairwise terms shows it.
#[test]
fn own_noise_that_is_missing_in_the_plan_s_own_draws_is_seen() {
    let experiment = experiment(&[]);
    let simulation = experiment.simulation();
    for (defect, seed) in [(Defect::DropPeerNoise, 5), (Defect::ScaleOwnNoise(0.7), 6)] {
        let root = Seed::from_u64(seed);
        let mut law = PeerLaw::new(&simulation, 12);
        for run in 0..12 {
            let wrong = experiment
                .session(&root.repetition(run))
                .with_defect(defect);
            lockstep::run(&wrong, &mut law.watch(&wrong, None)).expect("runs");
        }
        assert!(law.gap() <= 1.0, "both sides draw the same");
        let checks = law.checks();
        assert!(p_of(&checks, "own noise of one peer") < ALARM, "{checks:?}");
        assert!(p_of(&checks, "variance of one peer") >= ALARM, "{checks:?}");
    }
}
