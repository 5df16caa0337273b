//! Weighted sums of all peers' products: Σ_v c_v and Σ_v D_uv c_v for every probe in one pass.

use rayon::prelude::*;

use crate::linalg::{Block, SparseRows};

/// Items per block of the back-projection. Every coordinate is summed in peer order whatever this is.
const ITEMS: usize = 128;

/// Everybody's rows, and what is known of them.
#[derive(Debug)]
pub(super) struct Contributions<'a> {
    rows: &'a [SparseRows],
    spectral: f64,
    largest: f64,
}

/// The sums of one iteration.
pub(super) struct Gathered {
    /// Σ_v c_v.
    pub(super) total: Block,
    /// Σ_v D_uv c_v per probe.
    pub(super) deviations: Vec<Block>,
    /// Σ_v ‖c_v‖_F².
    pub(super) squares: f64,
}

impl<'a> Contributions<'a> {
    /// The contributions c_v = R_vᵀ R_v X of these rows.
    pub(super) fn of(rows: &'a [SparseRows]) -> Self {
        Self {
            spectral: spectral_bound(rows),
            largest: rows
                .iter()
                .map(|rows| (0..rows.len()).map(|i| square(rows.row(i).1)).sum::<f64>())
                .fold(0.0, f64::max)
                .sqrt(),
            rows,
        }
    }

    /// At least λ₁(A).
    pub(super) fn spectral_bound(&self) -> f64 {
        self.spectral
    }

    /// max_v ‖R_v‖_F, at least max_v ‖R_v‖₂.
    pub(super) fn largest_block(&self) -> f64 {
        self.largest
    }

    /// The sums Σ_v w_v c_v at the common X, for the `width` weights of every peer; the first must be 1.
    ///
    /// # Shapes
    /// `weights` is peers × width.
    ///
    /// # Cost
    /// O(width · entries · p) time; memory the projections of all rows and twice width × n·p. Items are cut into fixed
    /// blocks, each summed in peer order, so the bits do not depend on the number of threads.
    pub(super) fn gather(&self, x: &Block, weights: &[f64], width: usize) -> Gathered {
        let (n, p) = (x.rows(), x.columns());
        let projections: Vec<Vec<f64>> = self
            .rows
            .par_iter()
            .map(|rows| rows.project(x.values(), p))
            .collect();
        let mut sums = vec![0.0; n * width * p];
        sums.par_chunks_mut(ITEMS * width * p)
            .enumerate()
            .for_each(|(block, out)| {
                let first = block * ITEMS;
                self.add_block(first, &projections, weights, (width, p), out);
            });
        let part = |k: usize| {
            let values = sums
                .chunks_exact(width * p)
                .flat_map(|item| &item[k * p..(k + 1) * p])
                .copied()
                .collect();
            Block::from_values(n, p, values)
        };
        let squares: Vec<f64> = self
            .rows
            .par_iter()
            .zip(&projections)
            .map_init(Vec::new, |scratch, (rows, projections)| {
                squared_norm(rows, projections, p, scratch)
            })
            .collect();
        Gathered {
            total: part(0),
            deviations: (1..width).map(part).collect(),
            squares: squares.iter().sum(),
        }
    }

    /// Adds the items from `first` on; `out` is items × width × p.
    fn add_block(
        &self,
        first: usize,
        projections: &[Vec<f64>],
        weights: &[f64],
        (width, p): (usize, usize),
        out: &mut [f64],
    ) {
        let end = first + out.len() / (width * p);
        for ((rows, projections), weights) in self
            .rows
            .iter()
            .zip(projections)
            .zip(weights.chunks_exact(width))
        {
            for (i, projection) in projections.chunks_exact(p).enumerate() {
                let (columns, values) = rows.row(i);
                let begin = columns.partition_point(|&c| (c as usize) < first);
                for (&column, &value) in columns[begin..].iter().zip(&values[begin..]) {
                    if column as usize >= end {
                        break;
                    }
                    let item = &mut out[(column as usize - first) * width * p..][..width * p];
                    for (sums, weight) in item.chunks_exact_mut(p).zip(weights) {
                        let factor = value * weight;
                        for (sum, entry) in sums.iter_mut().zip(projection) {
                            *sum += factor * entry;
                        }
                    }
                }
            }
        }
    }
}

/// ‖R_vᵀ P‖_F² for the projections P = R_v X of one peer; `scratch` is zero before and after.
fn squared_norm(rows: &SparseRows, projections: &[f64], p: usize, scratch: &mut Vec<f64>) -> f64 {
    if rows.len() == 1 {
        return square(rows.row(0).1) * square(projections);
    }
    scratch.resize(rows.dimension() * p, 0.0);
    rows.add_back_projection(projections, p, 0..rows.dimension() * p, scratch);
    let mut total = 0.0;
    for i in 0..rows.len() {
        for &column in rows.row(i).0 {
            let row = &mut scratch[column as usize * p..][..p];
            // A column met again is zero by then.
            total += square(row);
            row.fill(0.0);
        }
    }
    total
}

fn square(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum()
}

/// An upper bound of λ₁(RᵀR).
///
/// # Claim
/// For B = |R|ᵀ|R| and any x ≥ 0 that is positive wherever B has a row, λ₁(A) ≤ max_i (Bx)_i/x_i over those rows.
///
/// # Proof
/// ‖Rv‖ ≤ ‖|R||v|‖, so λ₁(A) ≤ λ₁(B), and λ₁(B) is at most the Collatz–Wielandt quotient of any positive vector. ∎
///
/// Some steps of x ← Bx only tighten it.
///
/// # Source
/// L. Collatz 1942, H. Wielandt 1950.
fn spectral_bound(rows: &[SparseRows]) -> f64 {
    const STEPS: usize = 12;
    let Some(dimension) = rows.first().map(SparseRows::dimension) else {
        return 0.0;
    };
    let mut x = vec![1.0; dimension];
    let mut bound = f64::INFINITY;
    for _ in 0..STEPS {
        let mut y = vec![0.0; dimension];
        for rows in rows {
            for i in 0..rows.len() {
                let (columns, values) = rows.row(i);
                let entries = || columns.iter().zip(values);
                let product: f64 = entries().map(|(&c, v)| v.abs() * x[c as usize]).sum();
                for (&c, v) in entries() {
                    y[c as usize] += v.abs() * product;
                }
            }
        }
        let quotients = x.iter().zip(&y).filter(|(_, y)| **y > 0.0);
        bound = quotients.map(|(x, y)| y / x).fold(0.0, f64::max).min(bound);
        let largest = y.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return 0.0;
        }
        x = y.into_iter().map(|v| v / largest).collect();
    }
    // Rounding of the sums above, generously.
    bound * (1.0 + 1e-9)
}
