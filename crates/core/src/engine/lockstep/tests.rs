//! One sum for all peers against one per peer.

use super::run_holding;
use std::sync::Arc;

use crate::algorithm::{Algorithm, Covariance, Krylov, PowerMethod};
use crate::engine::testing::{changed, graphs, rows, running, schemes_on, session_with};
use crate::engine::{Consensus, Observer, Outcome, Session, Silent, Transcript};
use crate::protocol::Values;
use crate::protocol::averaging::{AveragingKind, AveragingOptions};
use crate::vocabulary::{ReleaseId, Round};

fn sessions() -> Vec<Session> {
    let (rank, iterations) = (4, 3);
    let algorithms = [
        Arc::new(PowerMethod::new(150, rank, iterations).expect("valid")) as Arc<dyn Algorithm>,
        Arc::new(Krylov::new(150, rank, rank, iterations).expect("valid")),
        Arc::new(Covariance::new(150, rank).expect("valid")),
    ];
    let mut sessions = Vec::new();
    for graph in graphs() {
        let turns = AveragingOptions::default().with_rotate(2).expect("two");
        let exact = schemes_on(&graph).filter(|kind| kind.is_exact());
        let mut averaging: Vec<_> = exact.map(|kind| (kind, Default::default())).collect();
        averaging.push((AveragingKind::Tree, turns));
        for (averaging, algorithm) in averaging
            .iter()
            .flat_map(|one| algorithms.iter().map(move |algorithm| (*one, algorithm)))
        {
            let session = session_with(&graph, rows(), rank, (3, 1), averaging, 5);
            let session = running(&session, Arc::clone(algorithm));
            for values in [Values::F64, Values::F32] {
                sessions.push(changed(&session, |parameters| {
                    parameters.values = values;
                }));
            }
        }
    }
    sessions
}

/// Everything that an observer can be told.
#[derive(Debug, Default, PartialEq)]
struct All {
    inputs: Vec<Vec<u64>>,
    queries: Vec<Vec<f64>>,
    rounds: Vec<(ReleaseId, Round, f64)>,
}

impl Observer for All {
    fn wants_transcript(&self) -> bool {
        true
    }

    fn transcript(&mut self, transcript: Transcript<'_>) {
        self.inputs.push(transcript.inputs.bits().collect());
        let queries = transcript.states.iter().flat_map(|s| s.query.values());
        self.queries.push(queries.copied().collect());
    }

    fn wants_rounds(&self) -> bool {
        true
    }

    fn round(&mut self, release: ReleaseId, round: Round, spread: f64) {
        self.rounds.push((release, round, spread));
    }
}

/// The same without what a sum in another order is compared with.
fn but_for_disagreement(mut outcome: Outcome) -> Outcome {
    for record in &mut outcome.records {
        let consensus = record.consensus.as_mut().expect("peers");
        consensus.disagreement = 0.0;
    }
    outcome
}

#[test]
fn one_sum_for_all_has_the_bits_of_one_per_peer_on_any_number_of_threads() {
    for session in sessions() {
        let schedule = session.schedule();
        let commons = schedule.common_ends(&**session.topology());
        let commons = commons.expect("a tree ends with the same bits everywhere");
        let mut seen = All::default();
        let each = run_holding(&session, None, &mut seen).expect("runs");
        let limit = match session.plan().values() {
            Values::F32 => 1e-4,
            _ => 1e-13,
        };
        let apart = |c: Consensus| (c.between_peers, c.disagreement < limit);
        let consensus = each.records.iter().filter_map(|record| record.consensus);
        assert!(consensus.into_iter().all(|c| apart(c) == (0.0, true)));
        let each = but_for_disagreement(each);
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads").install(|| {
                let mut told = All::default();
                let watched = run_holding(&session, Some(&commons), &mut told).expect("runs");
                let plain = run_holding(&session, Some(&commons), &mut Silent).expect("runs");
                assert_eq!(watched, plain, "watching changes nothing");
                assert_eq!(plain, each);
                assert_eq!(told, seen, "and observers are told the same");
            });
        }
        // Public states that a peer's contribution is a function of are of every peer.
        let queries = session.peers() * session.start().values().len();
        assert!(seen.queries.iter().all(|all| all.len() == queries));
    }
}
