//! The public state of every peer: inside the array of sums, or beside it.

use std::sync::Arc;

use rayon::prelude::*;

use crate::algorithm::{Algorithm, PublicState};
use crate::engine::{EngineError, Session};
use crate::linalg::{Block, NotFullRank};
use crate::privacy::Statistic;
use crate::protocol::{PeerError, check_query};
use crate::vocabulary::{Iteration, PeerIndex};

/// Every peer's public state between iterations.
pub(super) enum States {
    /// The algorithm has no memory: after an iteration each peer's sum is replaced by its next query.
    InPlace,
    /// One state per peer.
    Kept(Vec<PublicState>),
}

impl States {
    /// All peers at the start.
    pub(super) fn new(session: &Session, algorithm: &dyn Algorithm, sums: &mut [f64]) -> Self {
        if algorithm.is_memoryless() {
            for query in sums.chunks_exact_mut(session.plan().values()) {
                query.copy_from_slice(session.start().values());
            }
            Self::InPlace
        } else {
            let start = PublicState::new(Arc::clone(session.start()));
            Self::Kept(vec![start; session.peers()])
        }
    }

    /// X_u, row-major, before the sums of an iteration are written.
    pub(super) fn query<'a>(&'a self, u: usize, sums: &'a [f64], values: usize) -> &'a [f64] {
        match self {
            Self::InPlace => &sums[u * values..(u + 1) * values],
            Self::Kept(states) => states[u].query.values(),
        }
    }

    /// Peer 0's X.
    pub(super) fn query_block(&self, session: &Session, sums: &[f64]) -> Arc<Block> {
        match self {
            Self::InPlace => {
                let (rows, columns) = session.plan().shape();
                let values = sums[..rows * columns].to_vec();
                Arc::new(Block::from_values(rows, columns, values))
            }
            Self::Kept(states) => Arc::clone(&states[0].query),
        }
    }

    /// Every peer's X, one after the other.
    pub(super) fn queries(&self, sums: &[f64]) -> Vec<f64> {
        match self {
            Self::InPlace => sums.to_vec(),
            Self::Kept(states) => {
                let queries = states.iter().flat_map(|state| state.query.values());
                queries.copied().collect()
            }
        }
    }

    /// What max-consensus over at least the diameter's number of rounds leaves at every peer: the maximum.
    pub(super) fn statistic(&self, session: &Session, sums: &[f64]) -> f64 {
        let statistic = session.plan().parameters().sensitivity.statistic();
        if statistic == Statistic::None {
            return 0.0;
        }
        match self {
            Self::InPlace => {
                let (rows, columns) = session.plan().shape();
                sums.par_chunks_exact(rows * columns)
                    .map(|x| statistic.of(&Block::from_values(rows, columns, x.to_vec())))
                    .reduce(|| 0.0, f64::max)
            }
            Self::Kept(states) => states
                .par_iter()
                .map(|state| statistic.of(&state.query))
                .reduce(|| 0.0, f64::max),
        }
    }

    /// Advances every peer; returns peer 0's estimate. After the last iteration nobody looks at the states of the
    /// other peers any more, so those of algorithms with memory are left as they are.
    ///
    /// # Errors
    /// That of the first peer whose sum overflowed or has no unique basis, or whose next query is not orthonormal.
    pub(super) fn advance(
        &mut self,
        session: &Session,
        algorithm: &dyn Algorithm,
        (iteration, sigma): (Iteration, f64),
        sums: &mut [f64],
    ) -> Result<Arc<Block>, EngineError> {
        let (rows, columns) = session.plan().shape();
        let last = iteration.0 == session.plan().parameters().iterations;
        let overflow = |sum: &[f64]| sum.iter().any(|v| !v.is_finite());
        let block = |sum: &[f64]| Arc::new(Block::from_values(rows, columns, sum.to_vec()));
        let overflowed = |u: usize| PeerError::Overflow {
            peer: PeerIndex::from_index(u),
            iteration,
        };
        // As a peer does: what it goes on with must be what the sensitivity bounds.
        let advanced = |u: usize, next: Result<PublicState, NotFullRank>| {
            let peer = PeerIndex::from_index(u);
            let next = next.map_err(|source| PeerError::NotFullRank {
                peer,
                iteration,
                source,
            })?;
            if !last {
                check_query(&next.query).map_err(|source| PeerError::Query {
                    peer,
                    iteration: Iteration(iteration.0 + 1),
                    source,
                })?;
            }
            Ok::<_, PeerError>(next)
        };
        let failures: Vec<PeerError> = match self {
            Self::InPlace => {
                let blank = PublicState::new(Arc::clone(session.start()));
                sums.par_chunks_exact_mut(rows * columns)
                    .enumerate()
                    .filter_map(|(u, sum)| {
                        if overflow(sum) {
                            return Some(overflowed(u));
                        }
                        match advanced(u, algorithm.advance(&blank, &block(sum), sigma)) {
                            Ok(next) => {
                                sum.copy_from_slice(next.query.values());
                                None
                            }
                            Err(failure) => Some(failure),
                        }
                    })
                    .collect()
            }
            Self::Kept(states) => states
                .par_iter_mut()
                .zip(sums.par_chunks_exact(rows * columns))
                .enumerate()
                .filter_map(|(u, (state, sum))| {
                    if overflow(sum) {
                        return Some(overflowed(u));
                    }
                    if last && u > 0 {
                        return None;
                    }
                    let next = if last {
                        algorithm.conclude(state, &block(sum), sigma)
                    } else {
                        algorithm.advance(state, &block(sum), sigma)
                    };
                    match advanced(u, next) {
                        Ok(next) => {
                            *state = next;
                            None
                        }
                        Err(failure) => Some(failure),
                    }
                })
                .collect(),
        };
        if let Some(failure) = failures.into_iter().next() {
            return Err(failure.into());
        }
        Ok(match self {
            Self::InPlace => self.query_block(session, sums),
            Self::Kept(states) => algorithm.estimate(&states[0]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::PowerMethod;
    use crate::engine::tests::{graphs, rows, session_of};
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
        fn dimension(&self) -> usize {
            self.method.dimension()
        }

        fn query_columns(&self) -> usize {
            self.method.query_columns()
        }

        fn is_memoryless(&self) -> bool {
            self.memoryless
        }

        fn advance(
            &self,
            state: &PublicState,
            sum: &Arc<Block>,
            sigma: f64,
        ) -> Result<PublicState, NotFullRank> {
            let mut next = self.method.advance(state, sum, sigma)?;
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
        let values = session.plan().values();
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
                    method: PowerMethod {
                        dimension: 150,
                        rank: 4,
                    },
                    first: sums[peer * values],
                    memoryless,
                };
                let run = |iteration| {
                    let mut blank = vec![0.0; sums.len()];
                    let mut states = States::new(&session, &algorithm, &mut blank);
                    let mut sums = sums.clone();
                    states.advance(&session, &algorithm, (iteration, 0.1), &mut sums)
                };
                let refused = run(Iteration(1)).expect_err("one peer's query is too long");
                assert!(
                    matches!(
                        refused,
                        EngineError::Peer(PeerError::Query { peer: found, iteration: Iteration(2), .. })
                            if found == PeerIndex::from_index(peer)
                    ),
                    "{peer}: {refused:?}"
                );
                // Nobody contributes after the last iteration.
                assert!(run(Iteration(3)).is_ok());
            }
        }
    }
}
