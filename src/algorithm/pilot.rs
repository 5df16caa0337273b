//! A small release that is made first, so that the rest of a run can be chosen by what it says.

use std::ops::Range;
use std::sync::Arc;

use super::{Algorithm, History, PublicState, ReleaseSpec};
use crate::linalg::{Block, NotFullRank, SparseRows};
use crate::vocabulary::{Quantity, ReleaseId, TAIL_DEGREES};

/// How many users have at least D_1, D_2, … interactions ([`TAIL_DEGREES`]), released once.
///
/// What it decides: a user of d < D interactions enters with weight d/D instead of 1, so the numbers of such users say what a degree
/// floor D costs, and Δ(D) says what it gains. Item degrees, which are public in a recommender, say nothing about that.
///
/// # Contribution
/// A row of d interactions adds 1 to every coordinate j with D_j ≤ d. d is the number of entries of the row, which no normalisation and
/// no degree floor changes; an empty row adds nothing.
///
/// # Shapes
/// The release is K × 1, K = 16. The query (one column) takes no part, and stays what it was: a pilot finds no basis.
///
/// # Privacy
/// One interaction moves one coordinate by 1 at most: Δ = 1. A user moves all of them: Δ = √K (`privacy/sensitivity/tail_counts`).
#[derive(Clone, Copy, Debug)]
pub struct Pilot {
    /// Items n.
    pub dimension: usize,
}

impl Pilot {
    /// The counts in a release of a pilot, one for each of [`TAIL_DEGREES`].
    #[must_use]
    pub fn tail(sum: &Block) -> &[f64] {
        let values = sum.values();
        &values[..values.len().min(TAIL_DEGREES.len())]
    }
}

impl Algorithm for Pilot {
    fn name(&self) -> &'static str {
        "pilot"
    }

    fn settings(&self) -> Vec<(&'static str, f64)> {
        let degree = |threshold: u32| ("tail degree", f64::from(threshold));
        TAIL_DEGREES.map(degree).to_vec()
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn query_columns(&self) -> usize {
        1
    }

    fn releases(&self) -> Vec<ReleaseSpec> {
        let shape = (TAIL_DEGREES.len(), 1);
        vec![ReleaseSpec::sum(1, Quantity::TailCounts, shape, 1)]
    }

    fn prepare(&self, rows: &SparseRows, _: History<'_>) -> Vec<f64> {
        let mut counts = vec![0.0; TAIL_DEGREES.len()];
        for i in 0..rows.len() {
            let degree = rows.row(i).0.len();
            let reached = TAIL_DEGREES.partition_point(|&least| least as usize <= degree);
            counts[..reached].iter_mut().for_each(|count| *count += 1.0);
        }
        counts
    }

    fn add_contribution(
        &self,
        _: ReleaseId,
        _: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        for (out, count) in out.iter_mut().zip(&prepared[range]) {
            *out += count;
        }
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        Ok(state.followed_by(sum, sigmas))
    }

    /// Where the query started.
    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::contribution;

    /// Rows with these numbers of entries, all of one value.
    fn rows(lengths: &[u32], value: f64) -> SparseRows {
        let mut rows = SparseRows::new(400);
        for &length in lengths {
            let entries = (0..length).map(|column| (column, value));
            rows.push_row(entries).expect("ascending");
        }
        rows
    }

    fn counts(rows: &SparseRows) -> Vec<f64> {
        let pilot = Pilot { dimension: 400 };
        let state = PublicState::new(Arc::new(Block::zeros(400, 1)));
        let sum = contribution(&pilot, rows, state.history(), (TAIL_DEGREES.len(), 1));
        Pilot::tail(&sum).to_vec()
    }

    #[test]
    fn rows_are_counted_up_to_their_length_whatever_they_are_divided_by() {
        let lengths = [0, 0, 1, 1, 4, 5, 20, 350];
        let found = counts(&rows(&lengths, 1.0));
        let expected = TAIL_DEGREES.map(|least| {
            let reached = lengths.iter().filter(|length| **length >= least);
            reached.count() as f64
        });
        assert_eq!(found, expected);
        assert_eq!(&found[..5], &[6.0, 4.0, 4.0, 3.0, 2.0]);
        // The rows that a degree floor of 10,000 leaves.
        assert_eq!(counts(&rows(&lengths, 0.01)), found);
    }

    #[test]
    fn any_part_of_the_contribution_can_be_made_alone() {
        let pilot = Pilot { dimension: 400 };
        let rows = rows(&[3, 90, 41], 0.5);
        let state = PublicState::new(Arc::new(Block::zeros(400, 1)));
        let prepared = pilot.prepare(&rows, state.history());
        let whole = counts(&rows);
        for start in 0..TAIL_DEGREES.len() {
            let mut out = vec![1.0; TAIL_DEGREES.len() - start];
            let range = start..TAIL_DEGREES.len();
            pilot.add_contribution(ReleaseId(1), &rows, &prepared, range, &mut out);
            let expected: Vec<f64> = whole[start..].iter().map(|count| count + 1.0).collect();
            assert_eq!(out, expected);
        }
    }
}
