//! Engines against each other on small sessions.

use std::sync::Arc;

use super::analytic::AnalyticOptions;
use super::central::SumNoise;
use super::event::Latency;
use super::{
    EngineError, Observer, Outcome, PeerRows, Session, SessionError, SessionParts, Silent,
    analytic, central, event, federated, lockstep,
};
use crate::algorithm::{Algorithm, PowerMethod};
use crate::engine::noise::Assignment;
use crate::linalg::{SparseRows, start_block};
use crate::noise::Sigmas;
use crate::plan::graphs_digest;
use crate::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use crate::protocol::averaging::{
    AveragingError, AveragingKind, AveragingOptions, Length, MixingBounds,
};
use crate::protocol::{PeerError, SessionParameters, SessionPlan, SessionPlanError, Values};
use crate::topology::{Graph, Provenance, Topology};
use crate::vocabulary::{ReleaseId, Round, Seed};

mod extremes;
mod passing;
mod programs;
mod ring;
mod schemes;

/// Graphs of 12 peers with bounds on the spectrum of their Metropolis weights.
pub(crate) fn graphs() -> Vec<Graph> {
    let ring: Vec<_> = (0..12).map(|u: u32| (u, (u + 1) % 12)).collect();
    let complete: Vec<_> = (0..12)
        .flat_map(|u| (u + 1..12).map(move |v| (u, v)))
        .collect();
    let star: Vec<_> = (1..12).map(|v| (0, v)).collect();
    let chords: Vec<_> = ring
        .iter()
        .copied()
        .chain((0..6).map(|u| (u, u + 6)))
        .collect();
    [ring, complete, star, chords]
        .iter()
        .map(|edges| Graph::from_edges(12, edges).expect("simple graphs"))
        .collect()
}

pub(crate) fn rows() -> Vec<SparseRows> {
    (0..12_u32)
        .map(|u| {
            let mut rows = SparseRows::new(150);
            let items: Vec<u32> = (0..150)
                .filter(|i| (u * 31 + i * 17 + u * i) % 7 == 0)
                .collect();
            let value = 1.0 / (items.len() as f64).sqrt();
            rows.push_row(items.into_iter().map(|i| (i, value)))
                .expect("ascending");
            rows
        })
        .collect()
}

const BOUNDS: MixingBounds = MixingBounds {
    lowest: -0.95,
    second: 0.99,
};

fn session(graph: &Graph, kind: AveragingKind, tolerance: f64, seed: u64) -> Session {
    let length = match kind.is_exact() {
        true => Length::Own,
        false => Length::Tolerance(tolerance),
    };
    let averaging = (kind, length, AveragingOptions::default());
    session_of_length(graph, rows(), 4, 3, averaging, seed)
}

/// The schemes that this graph has the edges for.
pub(crate) fn schemes_on(graph: &Graph) -> impl Iterator<Item = AveragingKind> {
    let topology = Topology::from_graph(graph.clone(), Provenance::edges("test"));
    AveragingKind::all().filter(move |kind| {
        let schedule = kind.compile(&topology, BOUNDS, Length::Own, AveragingOptions::default());
        !matches!(schedule, Err(AveragingError::NoGroups { .. }))
    })
}

/// A session of `iterations` power steps with `rounds` averaging rounds each, one peer per entry of `rows`. A scheme that is exact takes
/// as many rounds as it needs.
pub(crate) fn session_of(
    graph: &Graph,
    rows: Vec<SparseRows>,
    rank: usize,
    (iterations, rounds): (u32, u32),
    kind: AveragingKind,
    seed: u64,
) -> Session {
    let options = AveragingOptions::default();
    session_with(
        graph,
        rows,
        rank,
        (iterations, rounds),
        (kind, options),
        seed,
    )
}

/// The same of a scheme with these options.
pub(crate) fn session_with(
    graph: &Graph,
    rows: Vec<SparseRows>,
    rank: usize,
    (iterations, rounds): (u32, u32),
    (kind, options): (AveragingKind, AveragingOptions),
    seed: u64,
) -> Session {
    let length = match kind.is_exact() {
        true => Length::Own,
        false => Length::Rounds(rounds),
    };
    session_of_length(graph, rows, rank, iterations, (kind, length, options), seed)
}

/// The same of this length.
pub(crate) fn session_of_length(
    graph: &Graph,
    rows: Vec<SparseRows>,
    rank: usize,
    iterations: u32,
    (kind, length, options): (AveragingKind, Length, AveragingOptions),
    seed: u64,
) -> Session {
    let seed = Seed::from_u64(seed);
    let dimension = rows[0].dimension();
    let algorithm = PowerMethod::new(dimension, rank, iterations).expect("valid");
    let start = start_block(&seed, dimension, rank).expect("full rank");
    let topology = Arc::new(Topology::from_graph(
        graph.clone(),
        Provenance::edges("test"),
    ));
    let schedule = kind
        .compile(&*topology, BOUNDS, length, options)
        .expect("contracting bounds and a connected graph");
    let parameters = SessionParameters {
        peers: rows.len() as u32,
        program: Arc::new(algorithm.program()),
        sensitivity: SensitivitySpec::new(Adjacency::Interaction, SensitivityRule::Exact, 1, None),
        sigma_own: 0.02,
        sigma_pairwise: 3.0,
        sigma_coordinate: 0.0,
        ring: None,
        laplace: None,
        noise_factors: Vec::new(),
        scale_rounds: graph.diameter_bound().expect("connected"),
        averaging_rounds: schedule.rounds(),
        values: Values::F64,
        schedule: schedule.digest(),
        topology: graphs_digest(&topology, &topology),
        start: start.digest(),
    };
    let plan = SessionPlan::new(parameters, Arc::new(algorithm)).expect("valid");
    Session::new(SessionParts {
        schedule: Arc::new(schedule),
        noise_topology: Arc::clone(&topology),
        topology,
        rows: Arc::new(PeerRows::new(rows)),
        start: Arc::new(start),
        sigma_central: plan.sigma_of_sum(1.0),
        plan: Arc::new(plan),
        seed,
        setting: [0; 32],
    })
    .expect("fits")
}

/// The same session under a plan that differs in this.
pub(crate) fn changed(session: &Session, change: impl FnOnce(&mut SessionParameters)) -> Session {
    let parts = session.parts();
    let mut parameters = parts.plan.parameters().clone();
    change(&mut parameters);
    let plan = Arc::new(parts.plan.with(parameters).expect("valid"));
    Session::new(SessionParts { plan, ..parts }).expect("fits")
}

/// The same session of another algorithm.
pub(crate) fn running(session: &Session, algorithm: impl Algorithm + 'static) -> Session {
    let parameters = SessionParameters {
        program: Arc::new(algorithm.program()),
        ..session.plan().parameters().clone()
    };
    let plan = SessionPlan::new(parameters, Arc::new(algorithm)).expect("valid");
    session.clone().with_plan(plan).expect("fits")
}

/// Everything in the outcome.
pub(crate) fn assert_same_bits(a: &Outcome, b: &Outcome) {
    assert_eq!(a.communication, b.communication);
    assert_eq!(a.records.len(), b.records.len());
    for (x, y) in a.records.iter().zip(&b.records) {
        assert_eq!(
            (x.iteration, x.statistic, x.sensitivity),
            (y.iteration, y.statistic, y.sensitivity)
        );
        assert_eq!(x.sum, y.sum);
        assert_eq!(x.basis, y.basis);
        assert_eq!(x.totals, y.totals);
        assert_eq!(x.consensus, y.consensus);
        assert!(x.consensus.is_some(), "peers");
    }
}

#[test]
fn lockstep_and_event_agree_to_the_bit_whatever_the_latency() {
    for graph in graphs() {
        for kind in schemes_on(&graph) {
            let session = session(&graph, kind, 1e-6, 5);
            let lockstep = lockstep::run(&session, &mut Silent).expect("runs");
            let constant =
                event::run(&session, Latency::Constant { micros: 10 }, &mut Silent).expect("runs");
            let uniform = Latency::Uniform {
                low_micros: 1,
                high_micros: 5000,
            };
            let random = event::run(&session, uniform, &mut Silent).expect("runs");
            assert_same_bits(&lockstep, &constant);
            assert_same_bits(&lockstep, &random);
        }
    }
}

#[test]
fn noise_that_would_overflow_is_refused_before_an_engine_runs() {
    let graph = &graphs()[3];
    let session = session(graph, AveragingKind::Chebyshev, 1e-6, 5);
    let mut parameters = session.plan().parameters().clone();
    parameters.sigma_pairwise = f64::MAX;
    let plan = session.plan().with(parameters).expect("valid");
    let refused = session.with_plan(plan).expect_err("overflows");
    let rounding = matches!(
        refused,
        SessionError::Plan(SessionPlanError::Rounding { .. })
    );
    assert!(rounding, "{refused:?}");
}

/// Runs every engine of this crate that needs no network.
fn run_all(session: &Session) -> Vec<(&'static str, Result<Outcome, EngineError>)> {
    let options = AnalyticOptions {
        probes: 2,
        contraction: 0.1,
    };
    let latency = Latency::Constant { micros: 10 };
    let silent = &mut Silent;
    vec![
        ("event", event::run(session, latency, silent)),
        ("lockstep", lockstep::run(session, silent)),
        ("shares", central::run(session, SumNoise::Shares, silent)),
        ("curator", central::run(session, SumNoise::Curator, silent)),
        ("federated", federated::run(session, silent)),
        ("analytic", analytic::run(session, options, silent)),
    ]
}

#[test]
fn no_engine_starts_from_a_block_that_the_plan_does_not_name_or_bound() {
    let graph = &graphs()[3];
    let good = session(graph, AveragingKind::Chebyshev, 1e-6, 5).parts();
    let mut other = good.clone();
    other.start = Arc::new(start_block(&Seed::from_u64(6), 150, 4).expect("full rank"));
    // A plan made for a long X: contributions would exceed the sensitivity tenfold.
    let mut long = (*good.start).clone();
    long.scale(10.0);
    let mut parameters = good.plan.parameters().clone();
    parameters.start = long.digest();
    let mut scaled = good.clone();
    scaled.plan = Arc::new(good.plan.with(parameters).expect("valid"));
    scaled.start = Arc::new(long);
    for bad in [other, scaled] {
        let refused = Session::new(bad.clone());
        assert!(
            matches!(refused, Err(SessionError::Start(_))),
            "{refused:?}"
        );
        for (engine, result) in run_all(&Session::unchecked(bad)) {
            assert!(
                matches!(
                    result,
                    Err(EngineError::Start(_) | EngineError::Peer(PeerError::Query { .. }))
                ),
                "{engine}: {result:?}"
            );
        }
    }
}

#[test]
fn no_engine_runs_with_noise_that_is_not_the_plan_s() {
    let graph = &graphs()[3];
    let good = session(graph, AveragingKind::Chebyshev, 1e-6, 5);
    for (own, pairwise) in [
        (0.01, 3.0),
        (0.02, 0.0),
        (0.02, 1.5),
        (0.0, 3.0),
        (0.0, 0.0),
    ] {
        let root = good.planned_noise().root().clone();
        let noise = Assignment::new(root, Sigmas::of_sums(own, pairwise)).expect("finite");
        for (engine, result) in run_all(&good.clone().with_noise(noise)) {
            assert!(
                matches!(
                    result,
                    Err(EngineError::Noise | EngineError::Peer(PeerError::Noise { .. }))
                ),
                "{engine} with {own}, {pairwise}: {result:?}"
            );
        }
    }
    for (engine, result) in run_all(&good) {
        assert!(result.is_ok(), "{engine}: {result:?}");
    }
}

#[test]
fn parts_that_do_not_belong_together_make_no_session() {
    let good = session(&graphs()[3], AveragingKind::Chebyshev, 1e-6, 5).parts();
    let refused = |change: &dyn Fn(&mut SessionParts)| {
        let mut parts = good.clone();
        change(&mut parts);
        Session::new(parts).expect_err("does not fit")
    };
    let planned = |change: &dyn Fn(&mut SessionParameters)| {
        refused(&|parts| {
            let mut parameters = parts.plan.parameters().clone();
            change(&mut parameters);
            parts.plan = Arc::new(
                parts
                    .plan
                    .with(parameters)
                    .expect("a plan, of something else"),
            );
        })
    };
    let topology = |graph: &Graph| {
        let provenance = Provenance::edges("other");
        Arc::new(Topology::from_graph(graph.clone(), provenance))
    };
    let small = Graph::from_edges(3, &[(0, 1), (1, 2)]).expect("a path");
    assert!(matches!(
        refused(&|parts| parts.topology = topology(&small)),
        SessionError::Nodes {
            graph: "communication",
            nodes: 3,
            peers: 12
        }
    ));
    assert!(matches!(
        refused(&|parts| parts.noise_topology = topology(&small)),
        SessionError::Nodes {
            graph: "noise",
            nodes: 3,
            peers: 12
        }
    ));
    // Other graphs of the right size: fewer partners than the accountant was told of.
    for other in &graphs()[..3] {
        let other = topology(other);
        assert_eq!(
            refused(&|parts| parts.noise_topology = Arc::clone(&other)),
            SessionError::Graphs
        );
        assert_eq!(
            refused(&|parts| parts.topology = Arc::clone(&other)),
            SessionError::Graphs
        );
    }
    assert_eq!(planned(&|p| p.topology = [0; 32]), SessionError::Graphs);
    let rows = |rows: Vec<SparseRows>| Arc::new(PeerRows::new(rows));
    assert!(matches!(
        refused(&|parts| parts.rows = rows(self::rows()[1..].to_vec())),
        SessionError::Rows {
            found: 11,
            peers: 12
        }
    ));
    let mut wide = self::rows();
    wide[4] = SparseRows::new(151);
    assert!(matches!(
        refused(&|parts| parts.rows = rows(wide.clone())),
        SessionError::Dimension {
            found: 151,
            dimension: 150,
            ..
        }
    ));
    let hops = good.topology.diameter_bound().expect("connected");
    assert!(matches!(
        planned(&|p| p.scale_rounds = hops - 1),
        SessionError::ScaleRounds { needed, .. } if needed == hops
    ));
    assert!(matches!(
        planned(&|p| p.start = [1; 32]),
        SessionError::Start(_)
    ));
    for bad in [f64::NAN, f64::INFINITY, -0.01, 0.0, 0.0694] {
        assert!(
            matches!(
                refused(&|parts| parts.sigma_central = bad),
                SessionError::Curator { .. }
            ),
            "{bad}"
        );
    }
    // What a session turns into is checked as well.
    let session = || Session::new(good.clone()).expect("fits");
    assert!(session().with_rows(rows(wide.clone())).is_err());
    assert!(session().with_curator_sigma(0.0).is_err());
    let mut long = (*good.start).clone();
    long.scale(10.0);
    assert!(session().with_start(Arc::new(long)).is_err());
    let mut parameters = good.plan.parameters().clone();
    parameters.peers = 11;
    let plan = good.plan.with(parameters).expect("of fewer peers");
    assert!(session().with_plan(plan).is_err());
}

#[test]
fn another_seed_gives_other_bits() {
    let graph = &graphs()[3];
    let run = |seed| {
        let session = session(graph, AveragingKind::Chebyshev, 1e-6, seed);
        lockstep::run(&session, &mut Silent).expect("runs")
    };
    assert_same_bits(&run(1), &run(1));
    assert_ne!(run(1).basis(), run(2).basis());
}

#[test]
fn a_curator_with_the_peers_own_shares_walks_the_decentralised_path() {
    for graph in graphs() {
        for kind in schemes_on(&graph) {
            let session = session(&graph, kind, 1e-12, 8);
            let ours = lockstep::run(&session, &mut Silent).expect("runs");
            let curator = central::run(&session, SumNoise::Shares, &mut Silent).expect("runs");
            for (a, b) in ours.records.iter().zip(&curator.records) {
                let mut difference = (*a.basis).clone();
                difference.add_scaled(-1.0, &b.basis);
                assert!(
                    difference.norm() < 1e-8,
                    "{}: {:e}",
                    a.iteration,
                    difference.norm()
                );
            }
            let fresh = central::run(&session, SumNoise::Curator, &mut Silent).expect("runs");
            assert_ne!(fresh.basis(), curator.basis());
        }
    }
}

/// Keeps how far the peers are apart after every round.
#[derive(Default)]
struct Watching(Vec<(ReleaseId, Round, f64)>);

impl Observer for Watching {
    fn wants_rounds(&self) -> bool {
        true
    }

    fn round(&mut self, release: ReleaseId, round: Round, spread: f64) {
        self.0.push((release, round, spread));
    }
}

#[test]
fn watching_the_rounds_changes_no_bit_and_sees_the_spread_contract() {
    for graph in graphs() {
        for kind in schemes_on(&graph) {
            let session = session(&graph, kind, 1e-4, 5);
            let mut watching = Watching::default();
            let watched = lockstep::run(&session, &mut watching).expect("runs");
            let plain = lockstep::run(&session, &mut Silent).expect("runs");
            assert_eq!(watched, plain);
            let rounds = session.schedule().rounds() as usize;
            assert_eq!(watching.0.len(), 3 * (rounds + 1));
            for (l, spreads) in watching.0.chunks_exact(rounds + 1).enumerate() {
                let consensus = plain.records[l].consensus.expect("peers");
                let (first, last) = (spreads[0].2, spreads[rounds].2);
                assert!((first / consensus.initial_spread - 1.0).abs() < 1e-9);
                // √(Σ_u ‖S_u − Ȳ‖²) lies between the worst peer's distance and √s times it.
                let ratio = last / consensus.disagreement.max(1e-300);
                // Spreads are from the sum in peer order; peers that end equal are off that by rounding alone.
                let exact = match session.schedule().ends_equal() {
                    true => {
                        assert_eq!(consensus.disagreement, 0.0);
                        last <= 12_f64.sqrt() * programs::rounding(first)
                    }
                    false => last < 1e-13,
                };
                assert!(
                    exact || (0.99..=12_f64.sqrt() * 1.01).contains(&ratio),
                    "{ratio}"
                );
                for (k, (iteration, round, spread)) in spreads.iter().enumerate() {
                    assert_eq!((iteration.0, round.0), (l as u32 + 1, k as u32));
                    if (kind.is_exact() || kind.passes_mass()) && k < rounds {
                        continue;
                    }
                    // No peer is further off than rounding allows, and there are twelve.
                    let rounding = 12_f64.sqrt() * programs::rounding(first);
                    let certified = session.schedule().contraction();
                    let promised = || kind.contraction(BOUNDS, k as u32).expect("contracting");
                    let factor = certified.unwrap_or_else(promised);
                    assert!(
                        *spread <= factor * first * (1.0 + 1e-6) + rounding.max(1e-13),
                        "{k}: {spread}"
                    );
                }
            }
        }
    }
}
