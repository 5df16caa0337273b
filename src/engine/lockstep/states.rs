//! The public state of every peer: inside the array of sums, or beside it.

use std::sync::Arc;

use rayon::prelude::*;

use crate::algorithm::{Algorithm, PublicState};
use crate::engine::{EngineError, Session};
use crate::linalg::{Block, NotFullRank};
use crate::privacy::Statistic;
use crate::protocol::PeerError;
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
            for query in sums.chunks_exact_mut(session.plan.values()) {
                query.copy_from_slice(session.start.values());
            }
            Self::InPlace
        } else {
            let start = PublicState::new(Arc::clone(&session.start));
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
                let (rows, columns) = session.plan.shape();
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
        let statistic = session.plan.parameters().sensitivity.statistic();
        if statistic == Statistic::None {
            return 0.0;
        }
        match self {
            Self::InPlace => {
                let (rows, columns) = session.plan.shape();
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
    /// That of the first peer whose sum overflowed or has no unique basis.
    pub(super) fn advance(
        &mut self,
        session: &Session,
        algorithm: &dyn Algorithm,
        (iteration, sigma): (Iteration, f64),
        sums: &mut [f64],
    ) -> Result<Arc<Block>, EngineError> {
        let (rows, columns) = session.plan.shape();
        let last = iteration.0 == session.plan.parameters().iterations;
        let overflow = |sum: &[f64]| sum.iter().any(|v| !v.is_finite());
        let block = |sum: &[f64]| Arc::new(Block::from_values(rows, columns, sum.to_vec()));
        let failed = |u: usize, failure: Option<NotFullRank>| {
            let peer = PeerIndex::from_index(u);
            match failure {
                None => PeerError::Overflow { peer, iteration },
                Some(source) => PeerError::NotFullRank {
                    peer,
                    iteration,
                    source,
                },
            }
        };
        let failures: Vec<PeerError> = match self {
            Self::InPlace => {
                let blank = PublicState::new(Arc::clone(&session.start));
                sums.par_chunks_exact_mut(rows * columns)
                    .enumerate()
                    .filter_map(|(u, sum)| {
                        if overflow(sum) {
                            return Some(failed(u, None));
                        }
                        match algorithm.advance(&blank, &block(sum), sigma) {
                            Ok(next) => {
                                sum.copy_from_slice(next.query.values());
                                None
                            }
                            Err(source) => Some(failed(u, Some(source))),
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
                        return Some(failed(u, None));
                    }
                    if last && u > 0 {
                        return None;
                    }
                    let advanced = if last {
                        algorithm.conclude(state, &block(sum), sigma)
                    } else {
                        algorithm.advance(state, &block(sum), sigma)
                    };
                    match advanced {
                        Ok(next) => {
                            *state = next;
                            None
                        }
                        Err(source) => Some(failed(u, Some(source))),
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
