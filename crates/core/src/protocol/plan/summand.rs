//! The most that one row adds to a contribution, in units of the sensitivity; proofs stand in `rounding.rs`.

use std::f64::consts::SQRT_2;

use super::{PlannedRelease, SessionPlan};
use crate::privacy::Statistic;
use crate::vocabulary::Quantity;

impl SessionPlan {
    /// s of a block: the most that one row, or one vertex, adds up; `None` where nothing is declared.
    pub(super) fn largest_summand(&self, release: &PlannedRelease, at: usize) -> Option<f64> {
        let dimension = self.program().items;
        let block = release.spec().blocks.get(at)?;
        let columns = (block.columns as f64).sqrt();
        let entries = dimension as f64 * self.program().largest_entry;
        match (block.quantity, release.bounds().get(at)) {
            (Quantity::BipartiteHalf, _) => Some(entries),
            (quantity, _) if is_of_vertices(quantity) => Some(2.0 * entries),
            (quantity, Some(bound)) => {
                let largest = bound.largest_per_row(dimension).ok()?;
                Some(match quantity {
                    // λ² + κ² < 1 of the margins.
                    Quantity::TriangleAndMargins => largest * columns * SQRT_2,
                    Quantity::Own(_) => largest * (block.values() as f64).sqrt(),
                    _ => largest * columns,
                })
            }
            (_, None) if release.is_triangle() => {
                let bound = release.all_bounds().nuclear().get(at)?.bound();
                Some((2.0 * dimension as f64).sqrt() / bound)
            }
            (_, None) => {
                let bound = release.all_bounds().absolute().get(at)?;
                let least = match bound.statistic() {
                    Statistic::None => 0.0,
                    statistic => statistic.range(dimension, bound.columns()).0,
                };
                Some((block.values() as f64).sqrt() * columns / bound.bound(least))
            }
        }
    }
}

/// Whether a vertex contributes its row of a graph or matrix.
pub(super) fn is_of_vertices(quantity: Quantity) -> bool {
    matches!(
        quantity,
        Quantity::GraphProduct | Quantity::GraphQuotient | Quantity::BipartiteHalf
    )
}
