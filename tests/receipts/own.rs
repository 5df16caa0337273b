//! The algorithm of `examples/own_algorithm.rs`, as far as a receipt needs it.

use std::ops::Range;
use std::sync::Arc;

use undertone::algorithm::{Algorithm, Program, PublicState, ReleaseSpec};
use undertone::linalg::{Block, NotFullRank, SparseRows, orthonormalise};
use undertone::privacy::adjacency::{ReplaceUser, User};
use undertone::privacy::{Public, Rule, Statistic};
use undertone::vocabulary::{Quantity, ReleaseId};

const COUNT: Quantity = Quantity::Own("the number of rows that are not empty");

/// A person there or not changes the number of rows by one.
pub(super) struct OnePerPerson;

impl Rule for OnePerPerson {
    type Adjacency = User;
    const QUANTITY: Quantity = COUNT;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        1.0
    }
}

/// The same about persons who are replaced: no bound for those who are there or not.
pub(super) struct OnePerReplaced;

impl Rule for OnePerReplaced {
    type Adjacency = ReplaceUser;
    const QUANTITY: Quantity = COUNT;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        1.0
    }
}

#[derive(Debug)]
pub(super) struct CountingPower {
    pub(super) items: usize,
    pub(super) iterations: u32,
}

impl Algorithm for CountingPower {
    fn program(&self) -> Program {
        let products = ReleaseSpec::products(self.iterations, self.items, 1);
        let with_count = products
            .into_iter()
            .map(|product| product.and(COUNT, (1, 1), 0.05));
        Program::of("counting-power", self.items, 1, with_count.collect())
    }

    fn add_contribution(
        &self,
        _: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        let products = range.start..range.end.min(self.items);
        if !products.is_empty() {
            let out = &mut out[..products.len()];
            rows.add_back_projection(prepared, 1, products, out);
        }
        if range.end > self.items {
            let filled = (0..rows.len()).filter(|&i| !rows.row(i).0.is_empty());
            out[self.items - range.start] += filled.count() as f64;
        }
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        let mut next = state.followed_by(sum, sigmas);
        let product = Block::from_values(self.items, 1, sum.values()[..self.items].to_vec());
        next.query = Arc::new(orthonormalise(&product)?);
        Ok(next)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}
