//! What every public query must be before anybody contributes at it.
//!
//! Every sensitivity bound is a bound over queries with orthonormal columns: a longer X moves the sum further than Δ, and
//! the noise no longer covers it. So a peer checks the block it starts from and every block it goes on with.

use crate::linalg::Block;

/// The largest |XᵀX − I| a query may have. Orthonormalisation leaves 1e-14; this moves Δ by a billionth.
pub(super) const MAX_DEFECT: f64 = 1e-9;

/// A query that no peer may contribute at.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum QueryError {
    /// A starting block of another shape than the plan's queries.
    #[error("the starting block is {rows} x {columns}, the plan needs {dimension} x {width}")]
    Shape {
        /// Rows found.
        rows: usize,
        /// Columns found.
        columns: usize,
        /// Rows needed.
        dimension: usize,
        /// Columns needed.
        width: usize,
    },
    /// A starting block that is not the one the plan names.
    #[error(
        "the starting block is not the one whose hash is in the plan: was it drawn from another seed?"
    )]
    OtherStart,
    /// Columns that are not orthonormal.
    #[error(
        "the query is not orthonormal: max|X'X - I| is {defect:e}, at most {MAX_DEFECT:e} is allowed"
    )]
    NotOrthonormal {
        /// max|XᵀX − I|; NaN if an entry is.
        defect: f64,
    },
}

/// Checks a query that the public state has advanced to.
///
/// # Errors
/// [`QueryError::NotOrthonormal`], also for NaN.
///
/// # Cost
/// O(n b²) for n × b.
pub(super) fn check_query(query: &Block) -> Result<(), QueryError> {
    let defect = query.orthonormality_defect();
    if defect <= MAX_DEFECT {
        Ok(())
    } else {
        Err(QueryError::NotOrthonormal { defect })
    }
}
