//! Engines against each other on small sessions.

use std::sync::Arc;

use super::analytic::AnalyticOptions;
use super::central::SumNoise;
use super::event::Latency;
use super::{
    EngineError, Observer, Outcome, PeerRows, Session, SessionError, SessionParts, Silent,
    analytic, central, event, federated, lockstep,
};
use crate::engine::noise::Assignment;
use crate::linalg::{SparseRows, start_block};
use crate::noise::Sigmas;
use crate::protocol::averaging::{AveragingKind, AveragingOptions, Length};
use crate::protocol::{PeerError, SessionParameters, SessionPlanError};
use crate::topology::{Graph, Provenance, Topology};
use crate::vocabulary::{ReleaseId, Round, Seed};

use super::testing::{
    BOUNDS, assert_same_bits, graphs, rows, running, schemes_on, session_of, session_of_length,
    session_with,
};

mod extremes;
mod passing;
mod programs;
mod ring;
mod schemes;

fn session(graph: &Graph, kind: AveragingKind, tolerance: f64, seed: u64) -> Session {
    let length = match kind.is_exact() {
        true => Length::Own,
        false => Length::Tolerance(tolerance),
    };
    let averaging = (kind, length, AveragingOptions::default());
    session_of_length(graph, rows(), 4, 3, averaging, seed)
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
