//! The public number of X that noise is scaled by.

use std::f64::consts::FRAC_1_SQRT_2;

use serde::{Deserialize, Serialize};

use crate::linalg::Block;

/// The public number of X that peers agree on by max-consensus before they can scale their noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// Nothing: Δ is known in advance.
    None,
    /// D̂ = max_i‖X_{i:}‖₂.
    MaxRowNorm,
    /// ‖X‖_max = max_{ij}|X_{ij}|.
    MaxEntry,
    /// max_i‖X_{i:}‖₁/√p: the largest absolute sum of a row, over the most that p columns allow.
    MaxRowSum,
    /// √((a² + b²)/2), where a and b are the two largest row norms: their root mean square.
    PairOfRows,
    /// √(ab) of the same two: their geometric mean.
    PairProduct,
}

impl Statistic {
    /// The statistic of one basis: 0 for [`Statistic::None`].
    #[must_use]
    pub fn of(self, basis: &Block) -> f64 {
        match self {
            Self::None => 0.0,
            Self::MaxRowNorm => basis.max_row_norm(),
            Self::MaxEntry => basis.max_entry(),
            Self::MaxRowSum => max_row_sum(basis),
            Self::PairOfRows => {
                let (a, b) = two_largest(basis);
                libm::hypot(a, b) * FRAC_1_SQRT_2
            }
            Self::PairProduct => {
                let (a, b) = two_largest(basis);
                (a * b).sqrt()
            }
        }
    }

    /// The least and the most that an n × p block with orthonormal columns can have: the squared row norms average p/n, the
    /// squared entries 1/n, absolute sums of rows are at least their norms, and none exceeds 1. 0 for [`Statistic::None`].
    #[must_use]
    pub fn range(self, dimension: usize, columns: usize) -> (f64, f64) {
        match self {
            Self::None => (0.0, 0.0),
            Self::MaxRowNorm => ((columns as f64 / dimension as f64).sqrt(), 1.0),
            Self::MaxEntry | Self::MaxRowSum => ((1.0 / dimension as f64).sqrt(), 1.0),
            // The two largest squares are at least as large on average as all; together they are at most 2, and at most 1 in one column.
            Self::PairOfRows => (
                (columns as f64 / dimension as f64).sqrt(),
                pair_at_most(columns),
            ),
            // One row may be all there is.
            Self::PairProduct => (0.0, pair_at_most(columns)),
        }
    }
}

fn max_row_sum(basis: &Block) -> f64 {
    let sums = (0..basis.rows()).map(|i| basis.row(i).iter().map(|x| x.abs()).sum::<f64>());
    sums.fold(0.0, f64::max) / (basis.columns() as f64).sqrt()
}

/// What the mean of the two largest row norms, of either kind, cannot exceed: √½ where the column has norm 1 and is the only one.
fn pair_at_most(columns: usize) -> f64 {
    if columns == 1 { FRAC_1_SQRT_2 } else { 1.0 }
}

/// The two largest row norms; 0 for rows that are not there. NaN if any is.
fn two_largest(basis: &Block) -> (f64, f64) {
    let (mut first, mut second) = (0.0_f64, 0.0_f64);
    for row in 0..basis.rows() {
        let square: f64 = basis.row(row).iter().map(|x| x * x).sum();
        let norm = square.sqrt();
        if norm.is_nan() {
            return (norm, norm);
        }
        if norm > first {
            (first, second) = (norm, first);
        } else if norm > second {
            second = norm;
        }
    }
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_the_two_largest_rows() {
        let block = Block::from_values(4, 1, vec![0.1, -0.8, 0.2, 0.5]);
        let root_mean_square = ((0.64 + 0.25) / 2.0_f64).sqrt();
        assert!((Statistic::PairOfRows.of(&block) - root_mean_square).abs() < 1e-15);
        assert!((Statistic::PairProduct.of(&block) - 0.4_f64.sqrt()).abs() < 1e-15);
        let single = Block::from_values(1, 1, vec![1.0]);
        assert_eq!(Statistic::PairProduct.of(&single), 0.0);
        let broken = Block::from_values(3, 1, vec![0.1, f64::NAN, 0.2]);
        assert!(Statistic::PairOfRows.of(&broken).is_nan());
        assert!(Statistic::PairProduct.of(&broken).is_nan());
    }
}
