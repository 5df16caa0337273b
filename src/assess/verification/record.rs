//! Does one row of the run move what its peer contributes by more than the bound that noise is scaled by?
//!
//! Every other check takes Δ from the rule that the plan took it from, so that a bound that is too small passes them all. Here rows of the run are
//! left out: at the public state of the row's peer, every block of its contribution with the row and without it differs by at most the block's own
//! bound. Blocks are looked at one by one, since a wrong bound of a block of small weight hides among all blocks together.
//!
//! A row that moves a block further refutes the bound. That none does proves nothing: it is a check of the rows at hand, and a bound is about all.

use std::f64::consts::FRAC_1_SQRT_2;

use super::table::Check;
use crate::algorithm;
use crate::engine::{Session, Transcript};
use crate::linalg::{PackedTriangle, SparseRows};
use crate::privacy::Adjacency;
use crate::protocol::PlannedRelease;
use crate::vocabulary::Quantity;

/// Rows that are left out, one by one, of every release.
const MOST_ROWS: usize = 64;

/// Columns up to which eigenvalues are computed, in seconds.
const MOST_COLUMNS: usize = 256;

/// By how much more than its bound a block may move: what rounding of sums and differences explains.
const ROUNDING: f64 = 1e-9;

/// How far rows move contributions, over all releases of a run.
#[derive(Debug, Default)]
pub(super) struct RowMoves {
    /// The largest move of a block by one row, in units of the block's bound.
    largest: f64,
    /// Rows left out so far, over all releases.
    rows: usize,
}

/// Why the check is skipped under this adjacency; `None` where it is made.
pub(super) fn skipped(adjacency: Adjacency) -> Option<String> {
    let is_of_rows = matches!(adjacency, Adjacency::User | Adjacency::ReplaceUser);
    (!is_of_rows).then(|| {
        format!("record: under adjacency {adjacency} a record is no row; `audit` looks for one that moves too much")
    })
}

impl RowMoves {
    /// Leaves rows out of the contributions to one release.
    pub(super) fn observe(
        &mut self,
        honest: &Session,
        planned: &PlannedRelease,
        (statistic, transcript): (f64, &Transcript<'_>),
    ) {
        let bounds = planned.moved(statistic);
        let batch = planned.spec().batch;
        let held = |peer| honest.rows().contributing(peer, batch);
        let counts = (0..honest.peers()).map(|peer| held(peer).map_or(0, SparseRows::len));
        let total: usize = counts.clone().sum();
        let chosen = (0..MOST_ROWS.min(total)).map(|one| one * total / MOST_ROWS.min(total));
        let mut chosen = chosen.peekable();
        let mut first = 0;
        for (peer, count) in counts.enumerate() {
            let rows = held(peer);
            let contributed = |rows: &SparseRows| {
                let history = transcript.states[peer].history();
                let algorithm = honest.plan().algorithm();
                algorithm::contribution(algorithm, rows, history, planned.shape())
            };
            // What all rows contribute is computed once, and not at all for peers of which no row is left out.
            let mut all = None;
            while let (Some(rows), Some(row)) = (rows, chosen.next_if(|row| *row < first + count)) {
                let with = all.get_or_insert_with(|| contributed(rows));
                let without = contributed(&without(rows, row - first));
                let values = with.values().iter().zip(without.values());
                let moved: Vec<(f64, f64)> = values.map(|(a, b)| (a - b, *a)).collect();
                let mut start = 0;
                for (block, bound) in planned.spec().blocks.iter().zip(&bounds) {
                    let here = &moved[start..start + block.values()];
                    start += block.values();
                    let size = |values: &mut dyn Iterator<Item = f64>| {
                        size(values, (planned, block.quantity), rows.dimension())
                    };
                    let slack = 1e-12 * size(&mut here.iter().map(|(_, all)| *all));
                    let by = size(&mut here.iter().map(|(by, _)| *by));
                    let share = (by - slack) / bound;
                    // What is no number is within no bound.
                    let share = if share.is_nan() { f64::INFINITY } else { share };
                    self.largest = self.largest.max(share);
                }
                self.rows += 1;
            }
            first += count;
        }
    }

    /// The line of the table.
    pub(super) fn check(&self) -> Check {
        let threshold = 1.0 + ROUNDING;
        Check {
            kind: "record",
            name: format!(
                "largest move of a block by leaving one of {} rows out, over the block's bound",
                self.rows
            ),
            statistic: self.largest,
            p_value: None,
            threshold,
            passed: self.largest <= threshold,
        }
    }
}

/// The size of a change of the kind that the bound is of: a length, a sum of absolute values, or the nuclear norm of the matrix whose triangle it is.
fn size(
    values: &mut dyn Iterator<Item = f64>,
    (planned, quantity): (&PlannedRelease, Quantity),
    dimension: usize,
) -> f64 {
    match (planned.is_triangle(), planned.bounds()) {
        (true, _) => nuclear_norm(values.collect(), quantity, dimension),
        (false, []) => values.map(f64::abs).sum::<f64>(),
        (false, _) => values.map(|x| x * x).sum::<f64>().sqrt(),
    }
}

/// ‖C‖_* of the matrix with this triangle; where it has many columns a number that is no larger, |tr C|.
fn nuclear_norm(mut triangle: Vec<f64>, quantity: Quantity, dimension: usize) -> f64 {
    let start = |row| PackedTriangle::row_start(dimension, row);
    if dimension > MOST_COLUMNS {
        return (0..dimension)
            .map(|row| triangle[start(row)])
            .sum::<f64>()
            .abs();
    }
    if quantity == Quantity::IsometricTriangle {
        for row in 0..dimension {
            let beside = &mut triangle[start(row) + 1..start(row + 1)];
            beside.iter_mut().for_each(|x| *x *= FRAC_1_SQRT_2);
        }
    }
    PackedTriangle::new(dimension, &triangle).nuclear_norm()
}

/// These rows but one.
fn without(rows: &SparseRows, row: usize) -> SparseRows {
    let mut others = SparseRows::new(rows.dimension());
    for other in (0..rows.len()).filter(|other| *other != row) {
        others.append_row(rows, other);
    }
    others
}
