//! Sessions that the tests of several crates run.

use std::sync::Arc;

use super::{Outcome, PeerRows, Session, SessionParts};
use crate::algorithm::{Algorithm, PowerMethod};
use crate::linalg::{SparseRows, start_block};
use crate::plan::graphs_digest;
use crate::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use crate::protocol::averaging::{
    AveragingError, AveragingKind, AveragingOptions, Length, MixingBounds,
};
use crate::protocol::{SessionParameters, SessionPlan, Values};
use crate::topology::{Graph, Provenance, Topology};
use crate::vocabulary::Seed;

/// Graphs of 12 peers with bounds on the spectrum of their Metropolis weights.
pub fn graphs() -> Vec<Graph> {
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

/// Rows of 12 peers, one each.
pub fn rows() -> Vec<SparseRows> {
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

/// Bounds that hold for all of [`graphs`].
pub const BOUNDS: MixingBounds = MixingBounds {
    lowest: -0.95,
    second: 0.99,
};

/// The schemes that this graph has the edges for.
pub fn schemes_on(graph: &Graph) -> impl Iterator<Item = AveragingKind> {
    let topology = Topology::from_graph(graph.clone(), Provenance::edges("test"));
    AveragingKind::all().filter(move |kind| {
        let schedule = kind.compile(&topology, BOUNDS, Length::Own, AveragingOptions::default());
        !matches!(schedule, Err(AveragingError::NoGroups { .. }))
    })
}

/// A session of `iterations` power steps with `rounds` averaging rounds each, one peer per entry of `rows`. A scheme that is exact takes
/// as many rounds as it needs.
pub fn session_of(
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
pub fn session_with(
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
pub fn session_of_length(
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
        wishart: None,
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
pub fn changed(session: &Session, change: impl FnOnce(&mut SessionParameters)) -> Session {
    let parts = session.parts();
    let mut parameters = parts.plan.parameters().clone();
    change(&mut parameters);
    let plan = Arc::new(parts.plan.with(parameters).expect("valid"));
    Session::new(SessionParts { plan, ..parts }).expect("fits")
}

/// The same session of another algorithm.
pub fn running(session: &Session, algorithm: impl Algorithm + 'static) -> Session {
    let parameters = SessionParameters {
        program: Arc::new(algorithm.program()),
        ..session.plan().parameters().clone()
    };
    let plan = SessionPlan::new(parameters, Arc::new(algorithm)).expect("valid");
    session.clone().with_plan(plan).expect("fits")
}

/// Everything in the outcome.
pub fn assert_same_bits(a: &Outcome, b: &Outcome) {
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
