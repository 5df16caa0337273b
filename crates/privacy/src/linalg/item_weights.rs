//! Weights of items: a diagonal matrix and its inverse.

use std::fmt;

use super::{Block, SparseRows};

/// The most that the largest weight of [`ItemWeights::of_degrees`] exceeds the smallest by: √(2³² − 1) rounded up, for degrees of 32 bits.
const MOST_RATIO: f64 = 65_536.0;

/// The largest exponent of [`ItemWeights::of_degrees`].
const MOST_EXPONENT: f64 = 0.5;

/// One weight w_i ≥ 0 per item, and 1/w_i beside it; an item of weight 0 takes no part, and its reciprocal is 0 too.
///
/// It is the diagonal W of a low-pass filter R ↦ R W U Uᵀ W⁻¹, and, where all weights are positive, the P of P A P.
/// `Debug` prints the number of items only: weights may be a function of item degrees.
#[derive(Clone, PartialEq)]
pub struct ItemWeights {
    weights: Vec<f64>,
    reciprocals: Vec<f64>,
}

/// Numbers from which no weights follow.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ItemWeightsError {
    /// An exponent outside its range.
    #[error(
        "algorithm.precondition_exponent must lie between 0 and 0.5, found {found}: 0 weighs all items alike, 0.5 is the normalisation of GF-CF"
    )]
    Exponent {
        /// The value given.
        found: f64,
    },
    /// A shrinkage that is no share.
    #[error(
        "algorithm.precondition_shrinkage must lie between 0 and 1, found {found}: 0 takes degrees as they are, 1 replaces all by their mean"
    )]
    Shrinkage {
        /// The value given.
        found: f64,
    },
    /// A weight that is not finite, not above 0, or too small beside the largest.
    #[error(
        "the weight of item {item} is {found}: weights are finite, above 0, and at least 1/65536 of the largest"
    )]
    Weight {
        /// The item, from 0.
        item: usize,
        /// Its weight.
        found: f64,
    },
    /// No items.
    #[error("there are no items to weigh: the data leave none")]
    Nothing,
}

impl ItemWeights {
    /// Weights of one's own, in the order of the items, divided by the largest.
    ///
    /// # Errors
    /// [`ItemWeightsError`] if there are none, or for a weight that is not finite, not above 0, or below 1/65536 of the largest: products
    /// with P and P⁻¹ then lose no more than five of sixteen digits.
    pub fn new(weights: Vec<f64>) -> Result<Self, ItemWeightsError> {
        let most = weights.iter().fold(0.0_f64, |most, w| most.max(*w));
        if weights.is_empty() {
            return Err(ItemWeightsError::Nothing);
        }
        let fits = |w: f64| w.is_finite() && w > 0.0 && w * MOST_RATIO >= most;
        if let Some(item) = weights.iter().position(|w| !fits(*w)) {
            let found = weights[item];
            return Err(ItemWeightsError::Weight { item, found });
        }
        let reciprocals = weights.iter().map(|w| most / w).collect();
        Ok(Self {
            weights: weights.into_iter().map(|w| w / most).collect(),
            reciprocals,
        })
    }

    /// w_i = (d̃_i / min_j d̃_j)^(−exponent) with the shrunk degrees d̃_i = (1 − shrinkage)·max(d_i, 1) + shrinkage·mean_j max(d_j, 1).
    ///
    /// The largest weight is 1, that of the least popular item. An item that nobody took counts as one that one user took.
    ///
    /// # Errors
    /// [`ItemWeightsError`] unless 0 ≤ exponent ≤ ½ and 0 ≤ shrinkage ≤ 1 and there is an item.
    pub fn of_degrees(
        degrees: &[u32],
        exponent: f64,
        shrinkage: f64,
    ) -> Result<Self, ItemWeightsError> {
        if !(0.0..=MOST_EXPONENT).contains(&exponent) {
            return Err(ItemWeightsError::Exponent { found: exponent });
        }
        if !(0.0..=1.0).contains(&shrinkage) {
            return Err(ItemWeightsError::Shrinkage { found: shrinkage });
        }
        if degrees.is_empty() {
            return Err(ItemWeightsError::Nothing);
        }
        let degree = |d: &u32| f64::from((*d).max(1));
        let mean = degrees.iter().map(degree).sum::<f64>() / degrees.len() as f64;
        let shrunk = |d: &u32| (1.0 - shrinkage) * degree(d) + shrinkage * mean;
        let shrunk: Vec<f64> = degrees.iter().map(shrunk).collect();
        let least = shrunk.iter().copied().fold(f64::INFINITY, f64::min);
        Self::new(
            shrunk
                .iter()
                .map(|d| libm::pow(d / least, -exponent))
                .collect(),
        )
    }

    /// 1/√d_i, what the low-pass part of GF-CF scores a user's row with; 0 for an item of degree 0.
    #[must_use]
    pub fn inverse_roots(degrees: &[u32]) -> Self {
        Self::of_reciprocals(degrees.iter().map(|&d| f64::from(d).sqrt()).collect())
    }

    /// Weights that are the reciprocals of these numbers, which are finite and at least 0.
    pub fn of_reciprocals(reciprocals: Vec<f64>) -> Self {
        let inverse = |root: &f64| if *root > 0.0 { root.recip() } else { 0.0 };
        Self {
            weights: reciprocals.iter().map(inverse).collect(),
            reciprocals,
        }
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The weights w_i.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// 1/w_i, and 0 where w_i is.
    #[must_use]
    pub fn reciprocals(&self) -> &[f64] {
        &self.reciprocals
    }

    /// Whether every item takes part, so that the diagonal has an inverse.
    #[must_use]
    pub fn are_positive(&self) -> bool {
        self.weights.iter().all(|w| *w > 0.0)
    }

    /// W X: row i of `block` times w_i.
    ///
    /// # Panics
    /// If there is not a row per item.
    #[must_use]
    pub fn times(&self, block: &Block) -> Block {
        rows_times(&self.weights, block)
    }

    /// W⁻¹ X: row i of `block` times 1/w_i.
    ///
    /// # Panics
    /// If there is not a row per item.
    #[must_use]
    pub fn inverse_times(&self, block: &Block) -> Block {
        rows_times(&self.reciprocals, block)
    }

    /// W T W of a symmetric matrix T given by its packed upper triangle, in the same coordinates.
    ///
    /// Coordinates off the diagonal may be those of T or √2 times them: each is multiplied by w_i w_j.
    ///
    /// # Panics
    /// If there are not n(n + 1)/2 values in `triangle`.
    pub fn scale_triangle(&self, triangle: &mut [f64]) {
        let n = self.len();
        assert_eq!(triangle.len(), n * (n + 1) / 2, "one value per entry");
        let mut rest = triangle;
        for i in 0..n {
            let (row, after) = rest.split_at_mut(n - i);
            rest = after;
            for (value, weight) in row.iter_mut().zip(&self.weights[i..]) {
                *value *= self.weights[i] * weight;
            }
        }
    }

    /// R W: every entry of the rows times the weight of its column, so that the Gram matrix becomes W RᵀR W.
    ///
    /// # Panics
    /// If there is not a column per item.
    #[must_use]
    pub fn scale_columns(&self, rows: &SparseRows) -> SparseRows {
        assert_eq!(rows.dimension(), self.len(), "a column per item");
        let scaled = (0..rows.len()).flat_map(|i| {
            let (columns, values) = rows.row(i);
            let entries = columns.iter().zip(values);
            entries.map(|(&column, value)| value * self.weights[column as usize])
        });
        rows.with_values(&scaled.collect::<Vec<f64>>())
    }

    /// BLAKE3 of the weights in order, little-endian.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 item weights v1");
        for weight in &self.weights {
            hasher.update(&weight.to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

fn rows_times(factors: &[f64], block: &Block) -> Block {
    assert_eq!(factors.len(), block.rows(), "a row per item");
    let mut scaled = block.clone();
    let columns = block.columns();
    if columns > 0 {
        let rows = scaled.values_mut().chunks_exact_mut(columns);
        for (row, factor) in rows.zip(factors) {
            row.iter_mut().for_each(|value| *value *= factor);
        }
    }
    scaled
}

impl fmt::Debug for ItemWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ItemWeights({} items)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;
    use crate::linalg::PackedTriangle;

    /// Degrees 1, 4, 9, 0 (as 1): mean 15/4. Shrinkage ½ gives 2.375, 3.875, 6.375, 2.375.
    #[test]
    fn weights_by_hand() {
        let degrees = [1, 4, 9, 0];
        let half = ItemWeights::of_degrees(&degrees, 0.5, 0.0).expect("in range");
        assert_eq!(half.weights(), [1.0, 0.5, 1.0 / 3.0, 1.0]);
        let shrunk = ItemWeights::of_degrees(&degrees, 0.25, 0.5).expect("in range");
        let expected = [
            1.0,
            (3.875_f64 / 2.375).powf(-0.25),
            (6.375_f64 / 2.375).powf(-0.25),
            1.0,
        ];
        for (found, expected) in shrunk.weights().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
        for flat in [
            ItemWeights::of_degrees(&degrees, 0.0, 0.0),
            ItemWeights::of_degrees(&degrees, 0.5, 1.0),
        ] {
            assert_eq!(flat.expect("in range").weights(), [1.0; 4]);
        }
        let roots = ItemWeights::inverse_roots(&degrees);
        assert_eq!(roots.weights(), [1.0, 0.5, 1.0 / 3.0, 0.0]);
        assert_eq!(roots.reciprocals(), [1.0, 2.0, 3.0, 0.0]);
        assert!(half.are_positive() && !roots.are_positive());
        assert_eq!(format!("{half:?}"), "ItemWeights(4 items)");
    }

    #[test]
    fn degrees_of_all_sizes_give_weights_that_are_accepted() {
        let extremes = [0, 1, u32::MAX];
        let weights = ItemWeights::of_degrees(&extremes, 0.5, 0.0).expect("32 bits");
        assert!(weights.weights()[2] >= 1.0 / MOST_RATIO);
        for (exponent, shrinkage) in [
            (-0.1, 0.0),
            (0.51, 0.0),
            (f64::NAN, 0.0),
            (0.5, -0.1),
            (0.5, 1.1),
            (0.5, f64::NAN),
        ] {
            let refused = ItemWeights::of_degrees(&extremes, exponent, shrinkage);
            let error = refused.expect_err("out of range").to_string();
            assert!(error.contains("algorithm.precondition_"), "{error}");
        }
        assert_eq!(
            ItemWeights::of_degrees(&[], 0.5, 0.0),
            Err(ItemWeightsError::Nothing)
        );
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-5] {
            let refused = ItemWeights::new(vec![1.0, weight]);
            assert!(refused.is_err(), "{weight}");
        }
    }

    #[test]
    fn products_are_those_of_the_diagonal_matrix() {
        let weights = ItemWeights::new(vec![1.0, 0.25, 0.5]).expect("positive");
        let diagonal = DMatrix::from_diagonal(&DVector::from_row_slice(weights.weights()));
        let block = Block::from_values(3, 2, vec![1.0, 2.0, 3.0, -4.0, 5.0, 6.0]);
        let product = weights.times(&block);
        assert_eq!(product.to_matrix(), &diagonal * block.to_matrix());
        assert_eq!(weights.inverse_times(&product), block);

        let mut rows = SparseRows::new(3);
        rows.push_row([(0, 2.0), (2, -1.0)]).expect("ascending");
        rows.push_row([(1, 3.0), (2, 5.0)]).expect("ascending");
        let identity = Block::from_matrix(&DMatrix::identity(3, 3));
        let gram = rows.gram_product(&identity).to_matrix();
        let scaled = weights.scale_columns(&rows).gram_product(&identity);
        assert_eq!(scaled.to_matrix(), &diagonal * &gram * &diagonal);

        let mut triangle = vec![0.0; 6];
        rows.add_gram_triangle(0..6, &mut triangle);
        weights.scale_triangle(&mut triangle);
        let unpacked = PackedTriangle::new(3, &triangle).times(&DMatrix::identity(3, 3));
        assert_eq!(unpacked, scaled.to_matrix());
        assert_ne!(
            weights.digest(),
            ItemWeights::new(vec![1.0, 0.5, 0.5])
                .expect("positive")
                .digest()
        );
    }
}
