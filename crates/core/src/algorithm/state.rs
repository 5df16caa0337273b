//! What a peer remembers: public, and its own noisy sums only.

use std::sync::Arc;

use crate::linalg::Block;
use crate::vocabulary::ReleaseId;

/// One release that is over, as one peer saw it.
#[derive(Clone, Debug)]
pub struct Released {
    /// Its place in the program.
    pub release: ReleaseId,
    /// X, the public query the contributions were computed with.
    pub query: Arc<Block>,
    /// This peer's estimate of the noisy sum.
    pub sum: Arc<Block>,
    /// Standard deviation of the noise on every coordinate of the sum, one per block.
    pub sigmas: Arc<[f64]>,
}

impl Released {
    /// Standard deviation of the noise on every coordinate of the first block.
    #[must_use]
    pub fn sigma(&self) -> f64 {
        self.sigmas.first().copied().unwrap_or(0.0)
    }
}

/// The public state of one peer between two releases.
///
/// It is a function of the starting block and of noisy sums, so whoever saw those could compute it.
#[derive(Clone, Debug)]
pub struct PublicState {
    /// X, n × b, with orthonormal columns: what the next contribution is computed with, and what its
    /// sensitivity depends on.
    pub query: Arc<Block>,
    /// The releases that are over, as far as the algorithm needs them, first one first.
    pub past: Vec<Released>,
    /// One more public n × b block, where the algorithm carries one over.
    pub carried: Option<Arc<Block>>,
    /// How many releases are over.
    pub released: u32,
    /// What all peers agreed on for the next release, once they have.
    pub agreed: Option<f64>,
}

impl PublicState {
    /// The state before the first release.
    #[must_use]
    pub fn new(start: Arc<Block>) -> Self {
        Self {
            query: start,
            past: Vec::new(),
            carried: None,
            released: 0,
            agreed: None,
        }
    }

    /// This state with one more release behind it and, for now, the same query.
    #[must_use]
    pub fn followed_by(&self, sum: &Arc<Block>, sigmas: &[f64]) -> Self {
        let mut next = self.clone();
        next.past.push(Released {
            release: ReleaseId(self.released).next(),
            query: Arc::clone(&self.query),
            sum: Arc::clone(sum),
            sigmas: sigmas.into(),
        });
        next
    }

    /// What the next contribution may look at.
    #[must_use]
    pub fn history(&self) -> History<'_> {
        History {
            release: ReleaseId(self.released).next(),
            query: self.query.values(),
            past: &self.past,
            agreed: self.agreed,
        }
    }
}

/// The public history a contribution is a function of, beside the peer's own rows.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    /// The release that is contributed to.
    pub release: ReleaseId,
    /// X, n × b, row-major.
    pub query: &'a [f64],
    /// Earlier releases, as far as the algorithm keeps them.
    pub past: &'a [Released],
    /// What all peers agreed on for this release, where they did.
    pub agreed: Option<f64>,
}
