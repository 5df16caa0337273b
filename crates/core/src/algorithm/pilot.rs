//! A small release that is made first, so that the rest of a run can be chosen by what it says.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Start;
use super::table::{AlgorithmTable, DataFacts, DataRequirements, made, one, program_of};
use super::{Algorithm, AlgorithmError, BlockSpec, History, Program, PublicState, ReleaseSpec};
use crate::linalg::{Block, NotFullRank, SparseRows};
use crate::vocabulary::{Quantity, ReleaseId, TAIL_DEGREES};

/// The part of its budget that a pilot spends on the numbers of users; the rest goes to the shares of items.
pub const TAIL_WEIGHT: f64 = 0.2;

/// How many users have at least D_1, D_2, … interactions (`TAIL_DEGREES`), and what every item has of its users' rows, released once, together.
///
/// What it decides: a user of d < D interactions enters with less weight under a degree floor D, so the numbers of such users say what a floor
/// costs, and Δ(D) says what it gains. Item degrees, which are public in a recommender, say nothing about that. And they say what all users
/// like, not whether those who interact little like the same: the share of item i, Σ of 1/√d_u over its users, is large where its users have
/// little else.
///
/// # Contribution
/// A row of d interactions adds 1 to every coordinate j with D_j ≤ d, and 1/√d to the coordinate of each of its items. d is the number of
/// entries of the row, which no normalisation and no degree floor changes; an empty row adds nothing.
///
/// # Shapes
/// The release is (K + n) × 1, K = 16: counts, then shares. The query (one column) takes no part, and stays what it was: a pilot finds no basis.
///
/// # Privacy
/// One interaction moves one count by 1 at most, and the shares by 1: Δ = 1 of both. A user moves all counts: Δ = √K, and the shares by 1
/// (`privacy/sensitivity/tail_counts` and `item_shares`). The two are blocks of one release and divide its budget.
#[derive(Clone, Copy, Debug)]
pub struct Pilot {
    /// Items n.
    pub(super) dimension: usize,
}

impl Pilot {
    /// Counts of users of so many items.
    ///
    /// # Errors
    /// [`AlgorithmError::Count`] without items.
    pub fn new(items: usize) -> Result<Self, AlgorithmError> {
        AlgorithmError::check(items, 1, 1)?;
        Ok(Self { dimension: items })
    }

    /// The counts in a release of a pilot, one for each of `TAIL_DEGREES`.
    #[must_use]
    pub fn tail(sum: &Block) -> &[f64] {
        let values = sum.values();
        &values[..values.len().min(TAIL_DEGREES.len())]
    }

    /// The shares in a release of a pilot, one for each item.
    #[must_use]
    pub fn shares(sum: &Block) -> &[f64] {
        let values = sum.values();
        &values[values.len().min(TAIL_DEGREES.len())..]
    }
}

impl Algorithm for Pilot {
    fn program(&self) -> Program {
        let shape = (TAIL_DEGREES.len(), 1);
        let mut release = ReleaseSpec::sum(1, Quantity::TailCounts, shape, 1);
        release.blocks[0].weight = TAIL_WEIGHT;
        release.blocks.push(BlockSpec {
            quantity: Quantity::ItemShares,
            shape: (self.dimension, 1),
            columns: 1,
            weight: 1.0 - TAIL_WEIGHT,
        });
        let degree = |threshold: u32| ("tail degree", f64::from(threshold));
        Program::of("pilot", self.dimension, 1, vec![release])
            .with_settings(TAIL_DEGREES.map(degree))
            .rank(0)
    }

    fn prepare(&self, rows: &SparseRows, _: History<'_>) -> Vec<f64> {
        let known = TAIL_DEGREES.len();
        let mut values = vec![0.0; known + self.dimension];
        for i in 0..rows.len() {
            let items = rows.row(i).0;
            let reached = TAIL_DEGREES.partition_point(|&least| least as usize <= items.len());
            values[..reached].iter_mut().for_each(|count| *count += 1.0);
            let share = (items.len() as f64).sqrt().recip();
            for &item in items {
                values[known + item as usize] += share;
            }
        }
        values
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

/// `[algorithm]` with `kind = "pilot"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PilotTable {
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// L: exactly 1, which is the default.
    #[serde(default = "one")]
    pub iterations: u32,
    /// X⁰: `"random"`, or `"popularity"`, whose first column is public item popularity.
    #[serde(default, skip_serializing_if = "Start::is_random")]
    pub start: Start,
}

impl AlgorithmTable for PilotTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        AlgorithmError::check_iterations("pilot", 1, self.iterations)?;
        made(Pilot::new(facts.items))
    }

    fn sketch(&self) -> Option<Program> {
        program_of(Pilot::new(2))
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements {
            start: self.start,
            ..DataRequirements::default()
        }
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

    const ITEMS: usize = 400;

    fn released(rows: &SparseRows) -> Block {
        let pilot = Pilot { dimension: ITEMS };
        let state = PublicState::new(Arc::new(Block::zeros(ITEMS, 1)));
        let shape = (TAIL_DEGREES.len() + ITEMS, 1);
        contribution(&pilot, rows, state.history(), shape)
    }

    fn counts(rows: &SparseRows) -> Vec<f64> {
        Pilot::tail(&released(rows)).to_vec()
    }

    #[test]
    fn rows_are_counted_up_to_their_length_whatever_they_are_divided_by() {
        let lengths = [0, 0, 1, 1, 4, 5, 20, 350];
        let all = rows(&lengths, 1.0);
        let found = counts(&all);
        let expected = TAIL_DEGREES.map(|least| {
            let reached = lengths.iter().filter(|length| **length >= least);
            reached.count() as f64
        });
        assert_eq!(found, expected);
        assert_eq!(&found[..5], &[6.0, 4.0, 4.0, 3.0, 2.0]);
        // The rows that a degree floor of 10,000 leaves.
        assert_eq!(released(&rows(&lengths, 0.01)), released(&all));
    }

    #[test]
    fn an_item_has_the_root_of_a_row_s_length_of_it() {
        let sum = released(&rows(&[0, 1, 4, 16], 0.3));
        let shares = Pilot::shares(&sum);
        assert_eq!(shares.len(), ITEMS);
        assert_eq!(&shares[..5], &[1.75, 0.75, 0.75, 0.75, 0.25]);
        assert_eq!((shares[15], shares[16]), (0.25, 0.0));
    }

    #[test]
    fn any_part_of_the_contribution_can_be_made_alone() {
        let pilot = Pilot { dimension: ITEMS };
        let rows = rows(&[3, 90, 41], 0.5);
        let state = PublicState::new(Arc::new(Block::zeros(ITEMS, 1)));
        let prepared = pilot.prepare(&rows, state.history());
        let whole = released(&rows);
        let all = whole.values().len();
        for start in (0..all).step_by(7) {
            let mut out = vec![1.0; all - start];
            pilot.add_contribution(ReleaseId(1), &rows, &prepared, start..all, &mut out);
            let expected: Vec<f64> = whole.values()[start..]
                .iter()
                .map(|one| one + 1.0)
                .collect();
            assert_eq!(out, expected);
        }
    }
}
