//! A certified lower bound on the second eigenvalue, at any size, from the same Krylov spaces.
//!
//! # Clusters
//! Cut the breadth-first tree of the matrix into connected clusters C and let f_C be q restricted to C, at unit
//! length: orthonormal vectors. With h = D^{-1/2}z and i's distance ℓ_i to the root of its cluster in the tree,
//! Cauchy–Schwarz along the tree path gives Σ_{i∈C} d_i(h_i − h_root)² ≤ Σ_e (h_i − h_j)²_e·Σ_{i below e} d_iℓ_i; the
//! d-weighted mean of h over C does no worse than h_root, so
//! **Σ_C (f_Cᵀz)² ≥ ‖z‖² − zᵀ𝓛z/g, g = min_e w_e/Σ_{i below e} d_iℓ_i.**
//!
//! # Statement
//! Let A = ε + B act off q, z its unit eigenvector with the smallest eigenvalue t there, x_C any vectors off q and
//! r_C = (I − qqᵀ)f_C − Ax_C. With ρ² = Σ‖r_C‖² and ξ² = Σ‖x_C‖², **t ≥ (1 − ρ)/(ξ + 1/g)** (g in units of B).
//!
//! # Proof
//! zᵀf_C = zᵀr_C + t·zᵀx_C. Over all C, (Σ(zᵀf_C)²)^{1/2} ≤ ρ + tξ; and the left side is at least
//! (1 − zᵀBz/g)^{1/2} ≥ 1 − t/g, as zᵀBz = t − ε ≤ t (where t > g there is nothing to prove). ∎
//!
//! So x_C need only solve Ax_C ≈ f_C well enough that all residuals together stay below 1: a few steps on an
//! expander, for a small part of n starting vectors, in single precision. That nothing hides between 0 and t is
//! a statement about all vectors, proved with n/10 of them because a slow mode must be smooth.

use rayon::prelude::*;

use super::super::matrix::ShiftedLaplacian;
use super::lanczos::{Coefficients, Mode, Start};
use super::operator::Operator;
use super::precision::pilot_steps;
use super::radau;
use super::scalar::Scalar;
use super::spaces::{Space, krylov};

/// Rows per cluster, at least (but for what is left over at the root).
const ROWS: usize = 6;

/// Residuals together that are small enough.
const ENOUGH: f64 = 0.5;

/// Clusters tried first, to choose the number of steps.
const PILOTS: usize = 32;

/// A lower bound on the smallest eigenvalue of ε + B off q; 0 where none was found within `limit` steps.
pub(super) fn certified<S: Scalar, const W: usize>(
    sigma: &ShiftedLaplacian,
    operator: &Operator<'_, S>,
    limit: usize,
) -> f64 {
    let (starts, gap) = clusters(sigma);
    let gap = gap / operator.scale * (1.0 - 1e-9);
    let epsilon = 1.0 / operator.scale;
    let sums = |spaces: &[Space], k: usize| -> (f64, f64) {
        spaces
            .par_iter()
            .map(|space| trial(space, k, epsilon, operator))
            .collect::<Vec<(f64, f64)>>()
            .iter()
            .fold((0.0, 0.0), |(r, x), (next_r, next_x)| {
                (r + next_r, x + next_x)
            })
    };
    let stride = starts.len().div_ceil(PILOTS);
    let pilots: Vec<Start> = starts.iter().step_by(stride).cloned().collect();
    let each = starts.len() as f64 / pilots.len() as f64;
    let enough = pilot_steps(limit).find_map(|limit| {
        let sample = krylov::<S, W>(operator, &pilots, limit, Mode::Recurrence);
        (1..=limit).find(|&k| (sums(&sample, k).0 * each).sqrt() <= ENOUGH)
    });
    let Some(steps) = enough else {
        return 0.0;
    };
    let spaces = krylov::<S, W>(operator, &starts, steps, Mode::Recurrence);
    let (residuals, lengths) = sums(&spaces, steps);
    let upwards = 1.0 + 1e-9;
    let floor = (1.0 - (residuals * upwards).sqrt()) / ((lengths * upwards).sqrt() + 1.0 / gap);
    // Written so that NaN is no bound either.
    if floor > 0.0 {
        floor * (1.0 - 1e-9)
    } else {
        0.0
    }
}

/// Upper bounds on ‖r_C‖² and ‖x_C‖² after k steps.
fn trial<S: Scalar>(
    space: &Space,
    k: usize,
    epsilon: f64,
    operator: &Operator<'_, S>,
) -> (f64, f64) {
    let Coefficients { start, .. } = space.coefficients;
    if start == 0.0 {
        // A cluster of everybody: nothing is left of f_C off q.
        return (0.0, 0.0);
    }
    let k = k.min(space.steps());
    let aim = epsilon.max(1e-3 * operator.shift);
    let (residual, length) =
        radau::solution(&space.coefficients, k, space.defects[k], epsilon, aim);
    // The starting vector itself was rounded.
    let residual = residual * start + 8.0 * S::UNIT;
    (residual * residual, (length * start).powi(2))
}

/// The clusters as starting vectors f_C, and g in units of 𝓛 (+∞ if every cluster is one row).
fn clusters(sigma: &ShiftedLaplacian) -> (Vec<Start>, f64) {
    let n = sigma.len();
    // Rows are numbered breadth-first, so the first neighbour found is the one with the least number.
    let parent: Vec<usize> = (0..n)
        .map(|i| sigma.neighbours_of(i).iter().copied().min().unwrap_or(0) as usize)
        .collect();
    let mut size = vec![1; n];
    let mut root = vec![false; n];
    for i in (0..n).rev() {
        root[i] = i == 0 || size[i] >= ROWS;
        if !root[i] {
            size[parent[i]] += size[i];
        }
    }
    let mut cluster = vec![0; n];
    let mut depth = vec![0.0; n];
    let mut members: Vec<Vec<u32>> = Vec::new();
    for i in 0..n {
        if root[i] {
            cluster[i] = members.len();
            members.push(Vec::new());
        } else {
            cluster[i] = cluster[parent[i]];
            depth[i] = depth[parent[i]] + 1.0;
        }
        members[cluster[i]].push(i as u32);
    }
    let mut load: Vec<f64> = (0..n).map(|i| sigma.own[i] * depth[i]).collect();
    let mut gap = f64::INFINITY;
    for i in (0..n).rev().filter(|&i| !root[i]) {
        let weight = sigma
            .row(i)
            .filter(|&(j, _)| j == parent[i])
            .map(|(_, weight)| weight)
            .sum::<f64>();
        gap = gap.min(weight / load[i]);
        load[parent[i]] += load[i];
    }
    let starts = members
        .iter()
        .map(|list| {
            let total: f64 = list.iter().map(|&i| sigma.own[i as usize]).sum();
            let entries = list
                .iter()
                .map(|&i| (i, (sigma.own[i as usize] / total).sqrt()));
            Start::new(entries.collect(), (total / sigma.total_own()).min(1.0))
        })
        .collect();
    (starts, gap)
}
