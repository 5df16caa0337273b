//! What is done to all vectors of a block at once; they are row-major: `[row][vector]`.

use super::operator::Operator;
use super::scalar::Scalar;
use super::sweep::{Rows, sweep};

/// The vectors times their scales.
pub(super) fn scaled<S: Scalar, const W: usize>(
    vectors: &[[S; W]],
    scale: [f64; W],
) -> Vec<[S; W]> {
    let scale = scale.map(S::of);
    vectors
        .iter()
        .map(|row| std::array::from_fn(|l| row[l] * scale[l]))
        .collect()
}

/// vᵀw per vector.
fn dots<S: Scalar, const W: usize>(v: &[[S; W]], w: &[[S; W]]) -> [f64; W] {
    let [dots] = sweep(Rows::All(v.len()), |i, [dots]: &mut [[S; W]; 1]| {
        for l in 0..W {
            dots[l] = dots[l] + v[i][l] * w[i][l];
        }
    });
    dots
}

/// Subtracts from w its part along every basis vector, one after the other; returns Σ|vᵀw|, what that changed.
pub(super) fn orthogonalise<S: Scalar, const W: usize>(
    basis: &[Vec<[S; W]>],
    w: &mut [[S; W]],
) -> [f64; W] {
    let mut removed = [0.0; W];
    for v in basis {
        let along = dots(v, w);
        let less = along.map(S::of);
        for (w, v) in w.iter_mut().zip(v) {
            for l in 0..W {
                w[l] = w[l] - less[l] * v[l];
            }
        }
        for l in 0..W {
            removed[l] += along[l].abs();
        }
    }
    removed
}

/// Upper bounds on Σ_i (v_iᵀw/‖w‖)², `square` being ‖w‖² and `rounding` what an inner product may get wrong.
pub(super) fn overlaps<S: Scalar, const W: usize>(
    basis: &[Vec<[S; W]>],
    w: &[[S; W]],
    square: [f64; W],
    rounding: f64,
) -> [f64; W] {
    let mut sum = [0.0; W];
    for v in basis {
        let along = dots(v, w);
        for l in 0..W {
            // Twice covers the norms of w and v being off, the stored v being rounded, and the parts along q.
            let bound = 2.0 * (along[l].abs() / square[l].sqrt() + rounding);
            sum[l] += bound * bound;
        }
    }
    sum
}

/// Subtracts the part along q from every vector.
pub(super) fn project<S: Scalar, const W: usize>(
    operator: &Operator<'_, S>,
    vectors: &mut [[S; W]],
) {
    let [across] = sweep(Rows::All(vectors.len()), |i, [across]: &mut [[S; W]; 1]| {
        let null = operator.null[i];
        for l in 0..W {
            across[l] = across[l] + null * vectors[i][l];
        }
    });
    let across = across.map(S::of);
    for (vector, &null) in vectors.iter_mut().zip(&operator.null) {
        for l in 0..W {
            vector[l] = vector[l] - across[l] * null;
        }
    }
}
