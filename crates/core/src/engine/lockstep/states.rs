//! The public state of every peer: inside the array of sums, or beside it.
//!
//! Peers that hold the same bits are one here: the array then has one sum, and all peers are in the state of peer 0.

use std::sync::Arc;

use rayon::prelude::*;

use crate::algorithm::{History, PublicState, RetainedState};
use crate::engine::course::Current;
use crate::engine::{EngineError, Session};
use crate::linalg::Block;
use crate::protocol::{PeerError, PlannedRelease, SessionPlan, kernel};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// Every peer's public state between releases.
pub(super) enum States {
    /// The algorithm has no memory: after a release each peer's sum is replaced by its next query.
    InPlace {
        /// A state of no peer that counts releases.
        count: PublicState,
        /// How many sums there are: one per peer, or one.
        held: usize,
    },
    /// One state per peer, or one.
    Kept(Vec<PublicState>),
}

/// Whether a peer's sum can take the place of its state: every release is a sum in the shape of the query.
fn fits_in_place(plan: &SessionPlan) -> bool {
    let program = plan.program();
    let shape = (program.items, program.query_columns);
    let plain = |one: &PlannedRelease| {
        !one.is_own() && one.spec().blocks.len() == 1 && one.shape() == shape
    };
    program.state == RetainedState::Query && plan.releases().iter().all(plain)
}

impl States {
    /// All peers at the start, with so many sums: one per peer, or one that all have.
    pub(super) fn new(session: &Session, held: usize, sums: &mut [f64]) -> Self {
        let start = PublicState::new(Arc::clone(session.start()));
        if fits_in_place(session.plan()) {
            for query in sums.chunks_exact_mut(session.start().values().len()) {
                query.copy_from_slice(session.start().values());
            }
            Self::InPlace { count: start, held }
        } else {
            Self::Kept(vec![start; held])
        }
    }

    /// How many sums and states there are.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::InPlace { held, .. } => *held,
            Self::Kept(states) => states.len(),
        }
    }

    /// Where the sum and the state of peer `u` are.
    fn place(&self, u: usize) -> usize {
        if self.held() == 1 { 0 } else { u }
    }

    /// The state that decides what comes next: peer 0's, but for its query.
    pub(super) fn front(&self) -> &PublicState {
        match self {
            Self::InPlace { count, .. } => count,
            Self::Kept(states) => &states[0],
        }
    }

    /// What peer `u`'s next contribution may look at, before the sums of a release are written.
    pub(super) fn history<'a>(
        &'a self,
        u: usize,
        release: ReleaseId,
        sums: &'a [f64],
    ) -> History<'a> {
        let u = self.place(u);
        match self {
            Self::InPlace { count, .. } => {
                let values = count.query.values().len();
                History {
                    release,
                    query: &sums[u * values..(u + 1) * values],
                    past: &[],
                    agreed: count.agreed,
                }
            }
            Self::Kept(states) => states[u].history(),
        }
    }

    /// Peer 0's X.
    pub(super) fn query_block(&self, session: &Session, sums: &[f64]) -> Arc<Block> {
        match self {
            Self::InPlace { .. } => in_place(session, sums, 0),
            Self::Kept(states) => Arc::clone(&states[0].query),
        }
    }

    /// Every peer's state.
    pub(super) fn all(&self, session: &Session, sums: &[f64]) -> Vec<PublicState> {
        let held: Vec<PublicState> = match self {
            Self::InPlace { count, held } => (0..*held)
                .map(|u| PublicState {
                    query: in_place(session, sums, u),
                    ..count.clone()
                })
                .collect(),
            Self::Kept(states) => states.clone(),
        };
        match held.as_slice() {
            [all] => vec![all.clone(); session.peers()],
            _ => held,
        }
    }

    /// What max-consensus over at least the diameter's number of rounds leaves at every peer: the largest proposal.
    pub(super) fn agree(
        &mut self,
        session: &Session,
        planned: &PlannedRelease,
        sums: &[f64],
    ) -> f64 {
        let algorithm = session.plan().algorithm();
        // One that is not finite would have stopped its peer.
        let largest = |proposals: Vec<f64>| match proposals.iter().all(|v| v.is_finite()) {
            true => proposals.into_iter().fold(f64::NEG_INFINITY, f64::max),
            false => f64::NAN,
        };
        match self {
            Self::InPlace { count, held } => {
                let proposal = |u| {
                    let query = in_place(session, sums, u);
                    let state = PublicState {
                        query,
                        ..count.clone()
                    };
                    planned.proposal(algorithm, &state)
                };
                let value = largest((0..*held).into_par_iter().map(proposal).collect());
                count.agreed = Some(value);
                value
            }
            Self::Kept(states) => {
                let proposals = states.par_iter().map(|x| planned.proposal(algorithm, x));
                let value = largest(proposals.collect());
                for state in states {
                    state.agreed = Some(value);
                }
                value
            }
        }
    }

    /// Advances every peer by its own sum; returns peer 0's estimate. After the last release nobody looks at the states of
    /// the other peers any more, so those of algorithms with memory are left as they are.
    ///
    /// # Errors
    /// That of the first peer whose sum overflowed or has no unique basis, or whose next query is not orthonormal.
    pub(super) fn advance(
        &mut self,
        session: &Session,
        current: Current<'_>,
        sums: &mut [f64],
    ) -> Result<Arc<Block>, EngineError> {
        let Current { id, planned, terms } = current;
        let plan = session.plan();
        let last = id.0 as usize >= plan.releases().len();
        let sigmas = terms.sigmas(plan.sigma_of_release(planned, terms.scale));
        let failed = |u: usize, error| PeerError::at(PeerIndex::from_index(u), id, error);
        let failures: Vec<PeerError> = match self {
            Self::InPlace { count, .. } => {
                let failures = sums
                    .par_chunks_exact_mut(planned.values())
                    .enumerate()
                    .filter_map(|(u, sum)| {
                        let next = kernel::released(planned, terms, sum.to_vec())
                            .and_then(|block| kernel::advance(plan, count, &block, &sigmas));
                        match next {
                            Ok(next) => {
                                sum.copy_from_slice(next.query.values());
                                None
                            }
                            Err(error) => Some(failed(u, error)),
                        }
                    })
                    .collect();
                count.released = id.0;
                count.agreed = None;
                failures
            }
            Self::Kept(states) => states
                .par_iter_mut()
                .zip(sums.par_chunks_exact(planned.values()))
                .enumerate()
                .filter_map(|(u, (state, sum))| {
                    let released = kernel::released(planned, terms, sum.to_vec());
                    let next = match released {
                        Ok(_) if last && u > 0 => return None,
                        Ok(block) => kernel::advance(plan, state, &block, &sigmas),
                        Err(error) => Err(error),
                    };
                    match next {
                        Ok(next) => {
                            *state = next;
                            None
                        }
                        Err(error) => Some(failed(u, error)),
                    }
                })
                .collect(),
        };
        self.estimate(session, failures, sums)
    }

    /// Advances every peer by what all peers hold alike; returns peer 0's estimate.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub(super) fn advance_all(
        &mut self,
        session: &Session,
        current: Current<'_>,
        released: &Arc<Block>,
        sums: &mut [f64],
    ) -> Result<Arc<Block>, EngineError> {
        let Current { id, planned, terms } = current;
        let plan = session.plan();
        let sigmas = terms.sigmas(plan.sigma_of_release(planned, terms.scale));
        let Self::Kept(states) = self else {
            unreachable!("states in place are of algorithms without own coordinates");
        };
        let failures = states
            .par_iter_mut()
            .enumerate()
            .filter_map(
                |(u, state)| match kernel::advance(plan, state, released, &sigmas) {
                    Ok(next) => {
                        *state = next;
                        None
                    }
                    Err(error) => Some(PeerError::at(PeerIndex::from_index(u), id, error)),
                },
            )
            .collect();
        self.estimate(session, failures, sums)
    }

    fn estimate(
        &self,
        session: &Session,
        failures: Vec<PeerError>,
        sums: &[f64],
    ) -> Result<Arc<Block>, EngineError> {
        if let Some(failure) = failures.into_iter().next() {
            return Err(failure.into());
        }
        Ok(match self {
            Self::InPlace { .. } => in_place(session, sums, 0),
            Self::Kept(states) => session.plan().algorithm().estimate(&states[0]),
        })
    }
}

/// The query of peer `u` in the array of sums.
fn in_place(session: &Session, sums: &[f64], u: usize) -> Arc<Block> {
    let start = session.start();
    let values = start.values().len();
    let query = sums[u * values..(u + 1) * values].to_vec();
    Arc::new(Block::from_values(start.rows(), start.columns(), query))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Algorithm, PowerMethod, Program};
    use crate::engine::testing::{graphs, rows, running, session_of};
    use crate::linalg::NotFullRank;
    use crate::protocol::averaging::AveragingKind;

    /// The power method with a bug: some sums give a query that is a little too long.
    #[derive(Debug)]
    struct Stretching {
        method: PowerMethod,
        /// Sums beginning with this number.
        first: f64,
        memoryless: bool,
    }

    impl Algorithm for Stretching {
        fn program(&self) -> Program {
            let state = match self.memoryless {
                true => RetainedState::Query,
                false => RetainedState::All,
            };
            let program = self.method.program().state(state);
            program.with_setting("first", self.first)
        }

        fn advance(
            &self,
            state: &PublicState,
            sum: &Arc<Block>,
            sigmas: &[f64],
        ) -> Result<PublicState, NotFullRank> {
            let mut next = self.method.advance(state, sum, sigmas)?;
            if sum.values()[0] == self.first {
                let mut query = (*next.query).clone();
                query.scale(1.0 + 1e-8);
                next.query = Arc::new(query);
            }
            Ok(next)
        }

        fn estimate(&self, state: &PublicState) -> Arc<Block> {
            self.method.estimate(state)
        }
    }

    #[test]
    fn every_peer_s_next_query_is_checked() {
        let session = session_of(&graphs()[3], rows(), 4, (3, 5), AveragingKind::Linear, 5);
        let values = session.plan().most_values();
        // Sums that differ in their first number only, which tells the peers apart.
        let sums: Vec<f64> = (0..session.peers())
            .flat_map(|u| {
                let mut sum = session.start().values().to_vec();
                sum[0] += 1.0 + u as f64;
                sum
            })
            .collect();
        for memoryless in [true, false] {
            for peer in 0..session.peers() {
                let algorithm = Stretching {
                    method: PowerMethod::new(150, 4, 3).expect("valid"),
                    first: sums[peer * values],
                    memoryless,
                };
                let session = running(&session, algorithm);
                let run = |over: u32| {
                    let mut blank = vec![0.0; sums.len()];
                    let mut states = States::new(&session, session.peers(), &mut blank);
                    assert_eq!(matches!(states, States::InPlace { .. }), memoryless);
                    match &mut states {
                        States::InPlace { count, .. } => count.released = over,
                        States::Kept(states) => {
                            states.iter_mut().for_each(|state| state.released = over);
                        }
                    }
                    let mut sums = sums.clone();
                    let id = ReleaseId(over + 1);
                    let planned = session.plan().release(id).expect("planned");
                    let terms = planned.terms(0.5);
                    let current = Current {
                        id,
                        planned,
                        terms: &terms,
                    };
                    states.advance(&session, current, &mut sums)
                };
                let refused = run(0).expect_err("one peer's query is too long");
                assert!(
                    matches!(
                        refused,
                        EngineError::Peer(PeerError::Query { peer: found, release: ReleaseId(2), .. })
                            if found == PeerIndex::from_index(peer)
                    ),
                    "{peer}: {refused:?}"
                );
                // Nobody contributes after the last release.
                assert!(run(2).is_ok());
            }
        }
    }
}
