//! A hostile peer that sends numbers near the end of what a number can be: whoever names anybody names it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{running, schemes_on, session_with};
use crate::algorithm::{
    Algorithm, AlgorithmError, IsometricCovariance, Krylov, Momentum, PowerMethod,
};
use crate::engine::Session;
use crate::linalg::SparseRows;
use crate::protocol::averaging::{AveragingKind, AveragingOptions, PeerSchedule};
use crate::protocol::{Body, CollectingOutbox, Event, FaultKind, Input, Peer, PeerError, Targets};
use crate::topology::Graph;
use crate::vocabulary::{PeerIndex, ReleaseId, Time};

/// What the hostile peer puts in place of coordinate `at` of a message to the neighbour with number `to`.
type Pattern = fn(at: usize, to: usize, limit: f64) -> f64;

const PATTERNS: [(&str, Pattern); 9] = [
    ("largest", |_, _, _| 1.7e308),
    ("signs", |at, to, _| {
        if (at + to) % 2 == 0 {
            1.7e308
        } else {
            -1.7e308
        }
    }),
    ("sines", |at, _, _| 1e308 * (at as f64).sin()),
    ("large", |_, _, _| 1e200),
    (
        "one coordinate",
        |at, _, _| if at == 3 { -1e200 } else { 0.0 },
    ),
    ("ramp", |at, _, _| 10.0_f64.powi(at.min(300) as i32)),
    ("tiny", |_, _, _| 5e-324),
    // As large as it may be.
    ("limit", |_, _, limit| limit),
    (
        "limits",
        |at, to, limit| if (at + to) % 2 == 0 { limit } else { -limit },
    ),
];

/// How honest peers end.
#[derive(Debug, Default)]
struct Ends {
    /// Reporter, culprit and reason.
    faults: Vec<(PeerIndex, PeerIndex, FaultKind)>,
    errors: Vec<PeerError>,
    finished: usize,
}

/// Runs a session in which `hostile` replaces the coordinates of what it sends from this release on.
fn play(session: &Session, hostile: PeerIndex, from_release: u32, pattern: Pattern) -> Ends {
    let mut ends = Ends::default();
    let setups = (0..session.peers()).map(|u| session.peer_setup(PeerIndex::from_index(u), None));
    let setups: Vec<_> = setups.collect();
    let neighbours: Vec<Vec<PeerIndex>> = setups.iter().map(|one| one.neighbours.clone()).collect();
    let programs: Vec<PeerSchedule> = setups.iter().map(|one| one.schedule.clone()).collect();
    let mut peers: Vec<Option<Peer>> = setups
        .into_iter()
        .map(|setup| Some(Peer::new(setup).expect("fits")))
        .collect();
    let mut due: VecDeque<(PeerIndex, Input)> = (0..session.peers())
        .map(|u| (PeerIndex::from_index(u), Input::Start))
        .collect();
    while let Some((to, input)) = due.pop_front() {
        let Some(peer) = &mut peers[to.index()] else {
            continue;
        };
        let mut said = CollectingOutbox::default();
        if let Err(error) = peer.handle(input, Time(0), &mut said) {
            peers[to.index()] = None;
            if to != hostile {
                ends.errors.push(error);
            }
            continue;
        }
        if let (Some(fault), true) = (said.faults.pop(), to != hostile) {
            // A node ends the session there.
            ends.faults.push((to, fault.culprit, fault.kind));
            peers[to.index()] = None;
            continue;
        }
        ends.finished += said
            .events
            .iter()
            .filter(|e| matches!(e, Event::Finished))
            .count();
        for (targets, message) in said.messages {
            let own = &neighbours[to.index()];
            let receivers: Vec<PeerIndex> = match targets {
                Targets::All => own.clone(),
                Targets::Positions(at) => at.iter().map(|at| own[*at as usize]).collect(),
            };
            for receiver in receivers {
                let mut message = message.clone();
                if to == hostile && message.release >= ReleaseId(from_release) {
                    // What the receiver takes at most.
                    let (plan, release) = (session.plan(), message.release);
                    let turn = programs[receiver.index()].turn(plan.sums_before(release));
                    let position = neighbours[receiver.index()].binary_search(&to);
                    let growth = turn.growth(position.expect("a neighbour"), message.round.0);
                    let limit = plan.largest_sent(release, growth);
                    message.body =
                        replaced(message.body, |at| pattern(at, receiver.index(), limit));
                }
                due.push_back((receiver, Input::Message { from: to, message }));
            }
        }
    }
    ends
}

fn replaced(body: Body, value: impl Fn(usize) -> f64) -> Body {
    match body {
        Body::Average(values) => Body::Average(Arc::new((0..values.len()).map(value).collect())),
        other => other,
    }
}

fn cube() -> Graph {
    let edges = (0..8_u32).flat_map(|u| [1, 2, 4].map(|bit| (u, u ^ bit)));
    let edges: Vec<_> = edges.filter(|(u, v)| u < v).collect();
    Graph::from_edges(8, &edges).expect("a cube")
}

fn session(graph: &Graph, kind: AveragingKind, algorithm: Arc<dyn Algorithm>) -> Session {
    let rows = (0..graph.nodes() as u32).map(|u| {
        let mut rows = SparseRows::new(12);
        for row in 0..3 {
            let items = (0..4).map(|i| ((u + row) % 3 + 3 * i, 0.5));
            rows.push_row(items).expect("ascending");
        }
        rows
    });
    let options = AveragingOptions::default();
    let session = session_with(graph, rows.collect(), 2, (2, 12), (kind, options), 7);
    running(&session, algorithm)
}

fn algorithms() -> [Arc<dyn Algorithm>; 4] {
    let (items, rank, iterations) = (12, 2, 2);
    fn of(algorithm: Result<impl Algorithm + 'static, AlgorithmError>) -> Arc<dyn Algorithm> {
        Arc::new(algorithm.expect("valid"))
    }
    [
        of(PowerMethod::new(items, rank, iterations)),
        of(Momentum::new(items, rank, iterations, 0.1)),
        of(Krylov::new(items, rank, 2, iterations)),
        of(IsometricCovariance::new(items, rank)),
    ]
}

/// Whoever names a culprit names the hostile peer, whatever it sends to whom; others fail and name nobody, or finish. What no honest peer can send is named by
/// somebody, unless the peer sends nothing.
#[test]
fn whoever_names_anybody_for_extreme_numbers_names_who_sent_them() {
    let graph = cube();
    let mut named = 0;
    for algorithm in algorithms() {
        for kind in schemes_on(&graph) {
            let session = session(&graph, kind, algorithm.clone());
            for hostile in [0, 3, 7].map(PeerIndex) {
                for (name, pattern) in PATTERNS {
                    let releases = session.plan().releases().len() as u32;
                    let ends = play(&session, hostile, releases, pattern);
                    let context = || format!("{algorithm:?} {kind:?} {hostile} {name}: {ends:?}");
                    for (reporter, culprit, what) in &ends.faults {
                        assert_ne!(*reporter, hostile, "{}", context());
                        assert_eq!(*culprit, hostile, "{}", context());
                        let refused = matches!(what, FaultKind::TooLarge { .. });
                        assert!(refused, "{}", context());
                    }
                    for error in &ends.errors {
                        let of_nobody = matches!(
                            error,
                            PeerError::NotFullRank { .. } | PeerError::Overflow { .. }
                        );
                        assert!(of_nobody, "{}", context());
                    }
                    named += ends.faults.len();
                    // A growth that no number holds lets everything through.
                    let is_bounded = !kind.passes_mass();
                    if is_bounded && ["largest", "signs", "large"].contains(&name) {
                        assert!(!ends.faults.is_empty(), "{}", context());
                        assert!(ends.errors.is_empty(), "{}", context());
                    }
                    // What is allowed can be computed with.
                    if kind.is_exact() && name.starts_with("limit") {
                        let overflowed = |e: &PeerError| matches!(e, PeerError::Overflow { .. });
                        assert!(!ends.errors.iter().any(overflowed), "{}", context());
                        assert!(ends.faults.is_empty(), "{}", context());
                    }
                }
            }
        }
    }
    assert!(named > 300, "{named}");
}

/// Nobody is refused where nobody lies, and what is published is far below the bound.
#[test]
fn honest_numbers_are_far_below_their_bounds() {
    let graph = cube();
    for kind in schemes_on(&graph) {
        for algorithm in algorithms() {
            let session = session(&graph, kind, algorithm);
            let ends = play(&session, PeerIndex(u32::MAX), 1, |_, _, _| 0.0);
            assert_eq!(ends.finished, 8, "{ends:?}");
            let plan = session.plan();
            for release in (1..=plan.releases().len() as u32).map(ReleaseId) {
                let bound = plan.largest_published(release);
                assert!((1e20..1e40).contains(&bound), "{bound:e}");
                assert!(plan.largest_sent(release, 8.0) < 1e60);
            }
        }
    }
}
