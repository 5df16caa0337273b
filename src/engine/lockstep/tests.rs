//! One sum for all peers against one per peer.

use super::run_holding;
use crate::algorithm::AlgorithmSpec;
use crate::engine::tests::{graphs, rows, session_of};
use crate::engine::{Consensus, EngineError, Observer, Outcome, Session, Silent, Transcript};
use crate::protocol::averaging::AveragingKind;
use crate::protocol::{PeerError, Plan};
use crate::vocabulary::{PeerIndex, ReleaseId, Round};

fn sessions() -> Vec<Session> {
    let (rank, iterations) = (4, 3);
    let algorithms = [
        AlgorithmSpec::Power { rank, iterations },
        AlgorithmSpec::Krylov {
            rank,
            block: rank,
            iterations,
        },
        AlgorithmSpec::Covariance { rank },
    ];
    let graphs = graphs();
    let all = graphs.iter().flat_map(|graph| {
        algorithms.iter().map(|algorithm| {
            let session = session_of(graph, rows(), rank, (3, 1), AveragingKind::Tree, 5);
            let mut parameters = session.plan().parameters().clone();
            parameters.algorithm = algorithm.clone();
            let plan = Plan::new(parameters).expect("valid");
            session.with_plan(plan).expect("fits")
        })
    });
    all.collect()
}

/// Everything that an observer can be told.
#[derive(Debug, Default, PartialEq)]
struct All {
    inputs: Vec<Vec<f64>>,
    queries: Vec<Vec<f64>>,
    rounds: Vec<(ReleaseId, Round, f64)>,
}

impl Observer for All {
    fn wants_transcript(&self) -> bool {
        true
    }

    fn transcript(&mut self, transcript: Transcript<'_>) {
        self.inputs.push(transcript.inputs.to_vec());
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
        let program = session.program();
        let common = program.common_end(&**session.topology());
        let common = common.expect("a tree ends with the same bits everywhere");
        let mut seen = All::default();
        let each = run_holding(&session, None, &mut seen).expect("runs");
        let apart = |c: Consensus| (c.between_peers, c.disagreement < 1e-13);
        let consensus = each.records.iter().filter_map(|record| record.consensus);
        assert!(consensus.into_iter().all(|c| apart(c) == (0.0, true)));
        let each = but_for_disagreement(each);
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads").install(|| {
                let mut told = All::default();
                let watched = run_holding(&session, Some(&common), &mut told).expect("runs");
                let plain = run_holding(&session, Some(&common), &mut Silent).expect("runs");
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

#[test]
fn the_first_peer_whose_input_overflows_is_named() {
    for session in sessions() {
        let mut parameters = session.plan().parameters().clone();
        parameters.sigma_pairwise = f64::MAX;
        let plan = Plan::new(parameters).expect("valid");
        let session = session.with_plan(plan).expect("fits");
        let common = session.program().common_end(&**session.topology());
        let [one, each] = [common.as_ref(), None].map(|common| {
            let error = run_holding(&session, common, &mut Silent).expect_err("overflows");
            let EngineError::Peer(PeerError::Overflow { peer, release }) = error else {
                panic!("{error:?}")
            };
            (peer, release)
        });
        assert_eq!(one, each);
        assert_eq!(one, (PeerIndex(0), ReleaseId(1)));
    }
}
