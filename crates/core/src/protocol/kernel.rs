//! One release, from public state to public state: the steps that every engine takes alike.
//!
//! Engines differ in how contributions become a sum. What a peer contributes, in which units, and what the public state becomes
//! of the sum stands here once.

use std::ops::Range;
use std::sync::Arc;

use super::finite::first_not_finite;
use super::plan::{PlannedRelease, SessionPlan, Terms};
use super::query::{QueryError, check_query};
use super::release_error::ReleaseError;
use crate::algorithm::{self, History, LocalData, PublicState, RetainedState};
use crate::linalg::{Block, SparseRows};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// The rows that contribute to a release: those of its batch, where it has one.
#[must_use]
pub fn contributing<'a>(planned: &PlannedRelease, data: &'a LocalData) -> Option<&'a SparseRows> {
    data.contributing(planned.spec().batch)
}

/// What a peer with these contributing rows adds to a release, in the units in which it is published; 0 without any.
#[must_use]
pub fn contribution(
    plan: &SessionPlan,
    planned: &PlannedRelease,
    rows: Option<&SparseRows>,
    history: History<'_>,
    terms: &Terms,
) -> Block {
    let (height, width) = planned.shape();
    let Some(rows) = rows else {
        return Block::zeros(height, width);
    };
    let mut block = algorithm::contribution(plan.algorithm(), rows, history, (height, width));
    terms.to_units(0..height * width, block.values_mut());
    terms.to_steps(block.values_mut());
    block
}

/// Adds the coordinates `range` of a contribution to `out`, which is 0, in the units in which it is published.
pub fn add_contribution(
    plan: &SessionPlan,
    release: ReleaseId,
    (rows, prepared): (&SparseRows, &[f64]),
    range: Range<usize>,
    terms: &Terms,
    out: &mut [f64],
) {
    plan.algorithm()
        .add_contribution(release, rows, prepared, range.clone(), out);
    terms.to_units(range, out);
    terms.to_steps(out);
}

/// The released values as the algorithm sees them, from those that were exchanged, residues as the reals they stand for; refused
/// unless all are finite.
///
/// # Errors
/// [`ReleaseError::Overflow`].
pub fn released(
    planned: &PlannedRelease,
    terms: &Terms,
    mut values: Vec<f64>,
) -> Result<Arc<Block>, ReleaseError> {
    if planned.is_own()
        && let Some(at) = values.iter().position(|v| *v == f64::NEG_INFINITY)
    {
        let owner = PeerIndex::from_index(at / planned.values().max(1));
        return Err(ReleaseError::Incomplete { owner });
    }
    terms.from_units(0..values.len(), &mut values);
    if first_not_finite(&values).is_some() {
        return Err(ReleaseError::Overflow);
    }
    let (height, width) = planned.shape();
    let height = match height * width {
        0 => 0,
        one => height * (values.len() / one),
    };
    Ok(Arc::new(Block::from_values(height, width, values)))
}

/// The public state after a release, from the released values.
///
/// # Errors
/// [`ReleaseError::NotFullRank`] if the sum has no unique basis; [`ReleaseError::Query`] if somebody will contribute at the
/// next query and it is not orthonormal.
pub fn advance(
    plan: &SessionPlan,
    state: &PublicState,
    sum: &Arc<Block>,
    sigmas: &[f64],
) -> Result<PublicState, ReleaseError> {
    let over = state.released.saturating_add(1);
    let last = over as usize >= plan.releases().len();
    let algorithm = plan.algorithm();
    let mut next = if last {
        algorithm.conclude(state, sum, sigmas)?
    } else {
        algorithm.advance(state, sum, sigmas)?
    };
    if plan.program().state == RetainedState::Query {
        // Some engines keep nothing but the query.
        next.past.clear();
        next.carried = None;
    }
    next.released = over;
    next.agreed = None;
    if !last {
        check_query(&next.query)?;
    }
    Ok(next)
}

/// Checks the public starting block against the plan.
///
/// # Errors
/// [`QueryError`] if its shape or hash is not the plan's or its columns are not orthonormal.
///
/// # Cost
/// O(n b²) for n × b.
pub fn check_start(plan: &SessionPlan, start: &Block) -> Result<(), QueryError> {
    let (dimension, width) = (plan.program().items, plan.program().query_columns);
    let (rows, columns) = (start.rows(), start.columns());
    if (rows, columns) != (dimension, width) {
        return Err(QueryError::Shape {
            rows,
            columns,
            dimension,
            width,
        });
    }
    if start.digest() != plan.parameters().start {
        return Err(QueryError::OtherStart);
    }
    check_query(start)
}
