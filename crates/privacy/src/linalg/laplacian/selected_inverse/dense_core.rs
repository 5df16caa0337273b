//! The dense rest of an elimination: the same formulas in blocks of columns, nearly all of them matrix products.
//!
//! # Roundings of a block
//! Let a block have b columns and m rows after it, entries of the inverse among these m being known up to c roundings, and
//! l up to 4. Products with those entries add m + 4. A column follows from the later ones of its block by at most 5 roundings and one per
//! later column: 5b + b²/2 for all. The entries within the block are sums over the m rows, again m + 4, and follow from one
//! another in the same way, the diagonal with 1/p by b + 6 more. So all are known up to c + 2m + b² + 12b + 16.

use nalgebra::{DMatrix, DMatrixViewMut};
use rayon::prelude::*;

use super::pivot::pivot;
use crate::linalg::{add_product, product};

/// Columns per block.
const BLOCK: usize = 64;

/// The inverse of the matrix with the own entries `own` and the weights below the diagonal of `weights` (what is on or above it is
/// ignored), and the roundings that every entry is known up to.
///
/// # Cost
/// ⅔n³ multiplications. The same bits whatever the number of threads.
pub(super) fn inverse(own: Vec<f64>, weights: DMatrix<f64>) -> (DMatrix<f64>, f64) {
    let n = own.len();
    let (links, pivots) = factor(own, weights);
    let mut inverse = DMatrix::zeros(n, n);
    let mut roundings = 0.0;
    let starts: Vec<usize> = (0..n).step_by(BLOCK).collect();
    for &start in starts.iter().rev() {
        let end = (start + BLOCK).min(n);
        invert_block(&links, &pivots, &mut inverse, start, end);
        let (b, m) = (end - start, n - end);
        roundings += (2 * m + b * b + 12 * b + 16) as f64;
    }
    (inverse, roundings)
}

/// l below the diagonal of a matrix, and p of every column.
fn factor(mut own: Vec<f64>, mut weights: DMatrix<f64>) -> (DMatrix<f64>, Vec<f64>) {
    let n = own.len();
    let mut pivots = Vec::with_capacity(n);
    for start in (0..n).step_by(BLOCK) {
        let end = (start + BLOCK).min(n);
        // Weights of the block's columns; the matrix itself holds l once a column is done.
        let mut block = DMatrix::zeros(n, end - start);
        for j in start..end {
            let (before, rest) = weights.as_mut_slice().split_at_mut(j * n);
            let column = &mut rest[j + 1..n];
            for k in start..j {
                let scale = block[(j, k - start)];
                let links = &before[k * n + j + 1..(k + 1) * n];
                for (weight, link) in column.iter_mut().zip(links) {
                    *weight += link * scale;
                }
            }
            block.as_mut_slice()[(j - start) * n + j + 1..(j - start + 1) * n]
                .copy_from_slice(column);
            let (here, later) = own[j..].split_at_mut(1);
            let pivot = pivot(here[0], column.iter().copied());
            for (link, own) in column.iter_mut().zip(later) {
                *link /= pivot;
                *own += *link * here[0];
            }
            pivots.push(pivot);
        }
        let links = weights
            .view((end, start), (n - end, end - start))
            .clone_owned();
        let across = block.rows(end, n - end).transpose();
        let strips = weights.as_mut_slice()[end * n..].par_chunks_mut(BLOCK * n);
        strips.enumerate().for_each(|(strip, columns)| {
            let (left, width) = (strip * BLOCK, columns.len() / n);
            let mut columns = DMatrixViewMut::from_slice(columns, n, width);
            add_product(
                &mut columns.rows_mut(end + left, n - end - left),
                1.0,
                &links.rows(left, n - end - left),
                &across.columns(left, width),
            );
        });
    }
    (weights, pivots)
}

/// The rows and columns `start..end` of the inverse, those after `end` being known.
fn invert_block(
    links: &DMatrix<f64>,
    pivots: &[f64],
    inverse: &mut DMatrix<f64>,
    start: usize,
    end: usize,
) {
    let n = pivots.len();
    let (b, m) = (end - start, n - end);
    // Lᵀ of the rows after the block, and its product with what is known: row k is Σ_j l_jk·z_j·, strip by strip.
    let below = links.view((end, start), (m, b)).transpose();
    let mut sums = DMatrix::zeros(b, m);
    let known = inverse.view((end, end), (m, m));
    let strips = sums.as_mut_slice().par_chunks_mut(BLOCK * b);
    strips.enumerate().for_each(|(strip, columns)| {
        let width = columns.len() / b;
        let mut columns = DMatrixViewMut::from_slice(columns, b, width);
        add_product(
            &mut columns,
            1.0,
            &below,
            &known.columns(strip * BLOCK, width),
        );
    });
    let mut after = sums.transpose();
    for k in (0..b).rev() {
        let (column, later) = after.as_mut_slice()[k * m..].split_at_mut(m);
        for j in k + 1..b {
            let l = links[(start + j, start + k)];
            let other = &later[(j - k - 1) * m..(j - k) * m];
            for (z, other) in column.iter_mut().zip(other) {
                *z += l * other;
            }
        }
    }
    let across = product(&below, &after);
    inverse.view_mut((end, start), (m, b)).copy_from(&after);
    inverse
        .view_mut((start, end), (b, m))
        .copy_from(&after.transpose());
    for k in (0..b).rev() {
        let l = |i: usize| links[(start + i, start + k)];
        for j in k + 1..b {
            let within = (k + 1..b).map(|i| l(i) * inverse[(start + i, start + j)]);
            let z = across[(k, j)] + within.sum::<f64>();
            inverse[(start + j, start + k)] = z;
            inverse[(start + k, start + j)] = z;
        }
        let within = (k + 1..b).map(|i| l(i) * inverse[(start + i, start + k)]);
        let within = across[(k, k)] + within.sum::<f64>();
        inverse[(start + k, start + k)] = 1.0 / pivots[start + k] + within;
    }
}
