//! What a peer remembers: public, and its own noisy sums only.

use std::sync::Arc;

use crate::linalg::Block;

/// One iteration that is over, as one peer saw it.
#[derive(Clone, Debug)]
pub struct Released {
    /// X^{l−1}, what the contributions were computed with.
    pub query: Arc<Block>,
    /// This peer's estimate of the noisy sum Y_l.
    pub sum: Arc<Block>,
    /// Standard deviation of the noise on every coordinate of Y_l.
    pub sigma: f64,
}

/// The public state of one peer between two iterations.
///
/// It is a function of the starting block and of noisy sums, so whoever saw those could compute it.
#[derive(Clone, Debug)]
pub struct PublicState {
    /// X^{l−1}, n × b, with orthonormal columns: what the next contribution is computed with, and what its
    /// sensitivity depends on.
    pub query: Arc<Block>,
    /// The iterations that are over, as far as the algorithm needs them, first one first.
    pub past: Vec<Released>,
    /// One more public n × b block, where the algorithm carries one over.
    pub carried: Option<Arc<Block>>,
}

impl PublicState {
    /// The state before the first iteration.
    #[must_use]
    pub fn new(start: Arc<Block>) -> Self {
        Self {
            query: start,
            past: Vec::new(),
            carried: None,
        }
    }

    /// This state with one more iteration behind it and, for now, the same query.
    #[must_use]
    pub fn followed_by(&self, sum: &Arc<Block>, sigma: f64) -> Self {
        let mut next = self.clone();
        next.past.push(Released {
            query: Arc::clone(&self.query),
            sum: Arc::clone(sum),
            sigma,
        });
        next
    }
}
