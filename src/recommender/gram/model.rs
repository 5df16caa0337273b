//! What a released Gram matrix says beyond the popularity of its items.

use nalgebra::DMatrix;

use super::edge::NoiseEdge;
use crate::linalg::{Block, PackedTriangle, Spectrum};

/// A Gram matrix Σ_u r̂_uᵀr̂_u of n items as it was released, under noise.
#[derive(Clone, Debug)]
pub struct ReleasedGram {
    matrix: DMatrix<f64>,
    edge: NoiseEdge,
}

impl ReleasedGram {
    /// From the packed triangle with noise of standard deviation `sigma` on every coordinate.
    ///
    /// # Panics
    /// If there are not n(n+1)/2 coordinates.
    #[must_use]
    pub fn packed(items: usize, coordinates: &[f64], sigma: f64) -> Self {
        Self::of(items, coordinates, (1.0, sigma))
    }

    /// From the isometric triangle, which holds entries off the diagonal √2 times, with the same noise.
    ///
    /// # Panics
    /// If there are not n(n+1)/2 coordinates.
    #[must_use]
    pub fn isometric(items: usize, coordinates: &[f64], sigma: f64) -> Self {
        let factor = std::f64::consts::FRAC_1_SQRT_2;
        Self::of(items, coordinates, (factor, factor * sigma))
    }

    fn of(items: usize, coordinates: &[f64], (factor, sigma): (f64, f64)) -> Self {
        let whole = PackedTriangle::new(items, coordinates).to_block();
        let entry = |i: usize, j: usize| whole.row(i)[j] * if i == j { 1.0 } else { factor };
        Self {
            matrix: DMatrix::from_fn(items, items, entry),
            edge: NoiseEdge::new(sigma, items),
        }
    }
}

/// A released Gram matrix as a popularity prior and directions beyond it.
///
/// # The prior
/// Users who chose items independently of each other, by popularity alone, would have a Gram matrix c·ddᵀ off its diagonal, where d
/// are the public item degrees. c is the least-squares fit of the release to it, one number with little noise. The diagonal is
/// not taken from the release but from the degrees too: its trace times d over Σd. What is left is the *deviation* from popularity.
/// Its eigenvalues are shrunk as [`NoiseEdge::shrunk`] says and dropped where nothing is left; and **where not one of them is beyond
/// [`NoiseEdge::threshold`], all are**: then the release says nothing that popularity did not.
///
/// # What is public
/// Everything: it is computed from the release and the degrees alone.
#[derive(Clone, Debug)]
pub struct GramModel {
    /// d.
    pub(super) degrees: Vec<f64>,
    /// c.
    pub(super) scale: f64,
    /// n × k, orthonormal.
    pub(super) directions: DMatrix<f64>,
    /// ξ of each direction, descending in the observed eigenvalue; positive.
    pub(super) weights: Vec<f64>,
    /// How many directions are beyond the threshold.
    pub(super) beyond: usize,
    pub(super) edge: NoiseEdge,
    pub(super) signal: f64,
}

impl GramModel {
    /// Splits a release into what the degrees of its items explain, and directions.
    ///
    /// # Cost
    /// That of [`Spectrum`]: O(n³).
    ///
    /// # Panics
    /// If there is not one degree per item.
    #[must_use]
    pub fn new(released: &ReleasedGram, degrees: &[u32]) -> Self {
        let (matrix, edge) = (&released.matrix, released.edge);
        let n = degrees.len();
        assert_eq!(matrix.nrows(), n, "a degree per item");
        let degrees: Vec<f64> = degrees.iter().map(|d| f64::from(*d)).collect();
        let scale = fitted(matrix, &degrees);
        let total: f64 = degrees.iter().sum();
        let share = if total > 0.0 {
            matrix.trace().max(0.0) / total
        } else {
            0.0
        };
        let deviation = DMatrix::from_fn(n, n, |i, j| {
            let own = if i == j {
                share * degrees[i]
            } else {
                matrix[(i, j)]
            };
            own - scale * degrees[i] * degrees[j]
        });
        let spectrum = Spectrum::of(&deviation);
        let observed = spectrum.values();
        let (beyond, signal) = edge.beyond(observed);
        let shrunk = edge.shrunk(observed);
        let speaks = beyond > 0 && scale > 0.0;
        let chosen: Vec<usize> = (0..n).filter(|&i| speaks && shrunk[i] > 0.0).collect();
        let vectors = spectrum.vectors(chosen.last().map_or(0, |last| last + 1));
        Self {
            directions: vectors.select_columns(&chosen),
            weights: chosen.iter().map(|&i| shrunk[i]).collect(),
            signal: if speaks { signal } else { 0.0 },
            beyond: if speaks { beyond } else { 0 },
            degrees,
            scale,
            edge,
        }
    }

    /// How many directions are beyond what noise alone reaches; where there is none, nothing of the release is used.
    #[must_use]
    pub fn beyond(&self) -> usize {
        self.beyond
    }

    /// How many directions have a weight.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.weights.len()
    }

    /// The edge of the noise.
    #[must_use]
    pub fn edge(&self) -> NoiseEdge {
        self.edge
    }

    /// K = Σ(λ² − e²)/e² over the directions beyond the edge; infinite without noise.
    #[must_use]
    pub fn signal(&self) -> f64 {
        self.signal
    }

    /// |d|².
    pub(super) fn squared_degrees(&self) -> f64 {
        self.degrees.iter().map(|d| d * d).sum()
    }

    /// The directions in rows of items.
    pub(super) fn block(&self) -> Block {
        Block::from_matrix(&self.directions)
    }
}

/// The c ≥ 0 for which c·ddᵀ is closest to the matrix off the diagonal; 0 where the degrees say nothing.
fn fitted(matrix: &DMatrix<f64>, degrees: &[f64]) -> f64 {
    let (mut along, mut length) = (0.0, 0.0);
    for (j, column) in matrix.column_iter().enumerate() {
        for (i, entry) in column.iter().enumerate() {
            if i != j {
                let prior = degrees[i] * degrees[j];
                along += entry * prior;
                length += prior * prior;
            }
        }
    }
    if length > 0.0 {
        (along / length).max(0.0)
    } else {
        0.0
    }
}
