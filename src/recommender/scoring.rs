//! Scores of all items for one user, from the user's own row and public values.

use nalgebra::DMatrix;

use crate::linalg::{Block, ItemWeights, product};

/// Scores items for users. Adding a way to score is one type that implements this.
pub trait Scorer: Sync {
    /// Number of items n.
    fn items(&self) -> usize;

    /// The scores of a batch of users: an n × users matrix, column j from the binary row `rows[j]`
    /// (ascending item indices).
    ///
    /// # Panics
    /// If a row names an item at or beyond n.
    fn scores(&self, rows: &[&[u32]]) -> DMatrix<f64>;
}

/// A basis and degrees that do not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScoringError {
    /// Not a degree for every row of the basis.
    #[error(
        "the basis has {basis} rows and there are degrees of {items} items; both must be of the same items in the same order"
    )]
    ItemCount {
        /// Rows of the basis.
        basis: usize,
        /// Degrees, or weights, given.
        items: usize,
    },
    /// A NaN or an infinite value.
    #[error("row {row} of the basis holds a value that is not finite")]
    NotFinite {
        /// The first such row, from 0.
        row: usize,
    },
    /// Not a weight for every direction.
    #[error(
        "there are {directions} directions and {weights} weights; both must be of the same release"
    )]
    Weights {
        /// Directions.
        directions: usize,
        /// Weights.
        weights: usize,
    },
    /// A weight or constant that is no number.
    #[error("a weight or a constant of the scores is not finite")]
    Constants,
    /// An item that is listed twice, or not in the catalogue.
    #[error("item {item} of the catalogue is listed twice or is not there")]
    Listed {
        /// Its index.
        item: u32,
    },
}

/// The low-pass scores r W U Uᵀ W⁻¹ of a user's binary row r, where W is I^{-1/2} for the diagonal I of item
/// degrees, or the P of a run on P A P; an item of weight 0, as one of degree 0 has, scores 0.
///
/// A user who has U and the weights computes this alone; see the [module](super) on what is private.
///
/// # Source
/// The ideal low-pass part of GF-CF (Y. Shen et al., How Powerful is Graph Convolution for Recommendation?,
/// CIKM 2021) and of BSPM (J. Choi et al., SIGIR 2023, one Euler step), without their linear filter; P1
/// section 6 with U from the user-normalised ratings alone.
///
/// # Deviation
/// GF-CF takes U from ratings normalised by users *and* items; here U is whatever basis is given, and the
/// basis of a run without preconditioning is of user-normalised ratings. With P = I^{-1/2} it is GF-CF's, but for the degree floor. The authors' code writes the root of a degree 0 as 1/0.
#[derive(Clone, Debug)]
pub struct LowPassScorer {
    /// W⁻¹ U.
    expanded: DMatrix<f64>,
    /// W U, row-major.
    projecting: Block,
}

impl LowPassScorer {
    /// The scorer of a basis (n × p) and the degrees of its n items.
    ///
    /// # Errors
    /// [`ScoringError`] if their numbers differ or a value is not finite.
    pub fn new(basis: &Block, degrees: &[u32]) -> Result<Self, ScoringError> {
        Self::weighted(basis, &ItemWeights::inverse_roots(degrees))
    }

    /// The scorer of a basis (n × p) and the weights of its n items.
    ///
    /// # Errors
    /// [`ScoringError`] if their numbers differ or a value is not finite.
    pub fn weighted(basis: &Block, weights: &ItemWeights) -> Result<Self, ScoringError> {
        if basis.rows() != weights.len() {
            return Err(ScoringError::ItemCount {
                basis: basis.rows(),
                items: weights.len(),
            });
        }
        let p = basis.columns();
        let mut expanded = DMatrix::zeros(basis.rows(), p);
        let mut projecting = Block::zeros(basis.rows(), p);
        let both = weights.weights().iter().zip(weights.reciprocals());
        for (item, (weight, reciprocal)) in both.enumerate() {
            let row = basis.row(item);
            if !row.iter().all(|value| value.is_finite()) {
                return Err(ScoringError::NotFinite { row: item });
            }
            for (column, value) in row.iter().enumerate() {
                expanded[(item, column)] = reciprocal * value;
                projecting.values_mut()[item * p + column] = weight * value;
            }
        }
        Ok(Self {
            expanded,
            projecting,
        })
    }
}

impl Scorer for LowPassScorer {
    fn items(&self) -> usize {
        self.expanded.nrows()
    }

    fn scores(&self, rows: &[&[u32]]) -> DMatrix<f64> {
        let mut projections = DMatrix::<f64>::zeros(self.expanded.ncols(), rows.len());
        for (mut projection, row) in projections.column_iter_mut().zip(rows) {
            for &item in *row {
                let entries = self.projecting.row(item as usize);
                for (sum, entry) in projection.iter_mut().zip(entries) {
                    *sum += entry;
                }
            }
        }
        product(&self.expanded, &projections)
    }
}

/// The same scores for everybody: an item's degree. The baseline every recommender should beat.
#[derive(Clone, Debug)]
pub struct Popularity {
    degrees: Vec<f64>,
}

impl Popularity {
    /// The baseline of these degrees.
    #[must_use]
    pub fn new(degrees: &[u32]) -> Self {
        Self {
            degrees: degrees.iter().map(|&d| f64::from(d)).collect(),
        }
    }
}

impl Scorer for Popularity {
    fn items(&self) -> usize {
        self.degrees.len()
    }

    fn scores(&self, rows: &[&[u32]]) -> DMatrix<f64> {
        DMatrix::from_fn(self.degrees.len(), rows.len(), |item, _| self.degrees[item])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: U = e₁·0.6 + e₂·0.8, degrees 4, 9 and 0. Row {0}: r I^{-1/2} U = 0.6/2 = 0.3; scores
    /// 0.3·(2·0.6, 3·0.8, 0) = (0.36, 0.72, 0). Without I^{-1/2} the first would be 0.72, without
    /// I^{1/2} the scores would be (0.18, 0.24, ·).
    #[test]
    fn scores_of_a_known_basis() {
        let basis = Block::from_values(3, 1, vec![0.6, 0.8, 0.0]);
        let scorer = LowPassScorer::new(&basis, &[4, 9, 0]).expect("fits");
        let scores = scorer.scores(&[&[0], &[1], &[0, 1], &[2]]);
        let expected = [
            [0.36, 0.72, 0.0],
            [0.32, 0.64, 0.0],
            [0.68, 1.36, 0.0],
            [0.0; 3],
        ];
        for (column, expected) in scores.column_iter().zip(expected) {
            for (score, expected) in column.iter().zip(expected) {
                assert!((score - expected).abs() < 1e-15, "{score} {expected}");
            }
        }
    }

    #[test]
    fn an_item_without_degree_scores_zero_whatever_the_basis_says() {
        let basis = Block::from_values(2, 1, vec![0.6, 0.8]);
        let scorer = LowPassScorer::new(&basis, &[4, 0]).expect("fits");
        assert_eq!(scorer.scores(&[&[1]]).as_slice(), [0.0, 0.0]);
        assert_eq!(scorer.scores(&[&[0]])[1], 0.0);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let basis = Block::from_values(2, 1, vec![0.6, f64::NAN]);
        assert_eq!(
            LowPassScorer::new(&basis, &[1, 1]).err(),
            Some(ScoringError::NotFinite { row: 1 })
        );
        assert_eq!(
            LowPassScorer::new(&basis, &[1]).err(),
            Some(ScoringError::ItemCount { basis: 2, items: 1 })
        );
    }
}
