//! A matrix per degree floor to run candidates on, and the error of what comes out.

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::{DMatrix, SymmetricEigen};

use super::candidates::Setting;
use crate::engine::{PeerRows, Session, Silent, central};
use crate::linalg::{Block, SparseRows, small_leading_eigenvectors, start_block};
use crate::protocol::{Plan, PlanParameters};
use crate::recommender::LowPassFilter;
use crate::vocabulary::Seed;

/// A data set, real or a stand-in, as far as runs and errors depend on it.
///
/// A run sees its rows through A = Σ_u r̂_uᵀr̂_u alone, so that n rows with the same A stand for any number of users.
#[derive(Debug)]
pub(super) struct Ground {
    /// n rows per degree floor.
    rows: BTreeMap<u32, Arc<PeerRows>>,
    /// U of the reference floor.
    exact: Block,
    filter: LowPassFilter<'static>,
    /// What the noise has to be multiplied with, where items were left out.
    noise: f64,
}

impl Ground {
    /// From A under every floor, A of the reference floor, and the filter.
    pub(super) fn new(
        matrices: impl IntoIterator<Item = (u32, DMatrix<f64>)>,
        reference: &DMatrix<f64>,
        rank: usize,
        filter: LowPassFilter<'static>,
        noise: f64,
    ) -> Self {
        let factored = |(floor, matrix)| (floor, Arc::new(PeerRows::new(vec![factor(matrix)])));
        Self {
            rows: matrices.into_iter().map(factored).collect(),
            exact: Block::from_matrix(&small_leading_eigenvectors(reference, rank)),
            filter,
            noise,
        }
    }

    /// The relative error of one run of this candidate under a curator; `None` if it has no unique basis or its floor is
    /// unknown.
    pub(super) fn error(&self, setting: &Setting, seed: &Seed) -> Option<f64> {
        let rows = self.rows.get(&setting.floor)?;
        let dimension = self.exact.rows();
        let parameters = PlanParameters {
            dimension,
            block: setting.parameters.block.min(dimension),
            ..setting.parameters.clone()
        };
        let plan = Plan::new(parameters).ok()?;
        let start = start_block(seed, dimension, plan.algorithm().query_columns()).ok()?;
        let session = Session::curated(
            plan.parameters().clone(),
            Arc::clone(rows),
            Arc::new(start),
            seed,
            setting.sigma * self.noise,
        )
        .ok()?;
        let outcome = central::rehearse(&session, &mut Silent).ok()?;
        let error = self.filter.relative_error(outcome.basis(), &self.exact);
        error.is_finite().then_some(error)
    }
}

/// n rows F with FᵀF = A; eigenvalues below 0, which only a stand-in has, become 0.
fn factor(matrix: DMatrix<f64>) -> SparseRows {
    let n = matrix.ncols();
    let eigen = SymmetricEigen::new(matrix);
    let mut rows = SparseRows::new(n);
    for (value, vector) in eigen
        .eigenvalues
        .iter()
        .zip(eigen.eigenvectors.column_iter())
    {
        let root = value.max(0.0).sqrt();
        rows.push_row((0..).zip(vector.iter().map(|entry| root * entry)))
            .expect("every column once, ascending, finite");
    }
    rows
}
