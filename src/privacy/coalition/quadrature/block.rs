//! Passes over the vectors of a block, row-major: [peer][vector].

use super::operator::{Operator, Scalar};

/// Rows whose contributions are summed in the vectors' precision; more are summed with compensation.
pub(super) const CHUNK: usize = 32;

/// The rows of a step: some, or all.
#[derive(Clone, Copy)]
pub(super) enum Rows<'a> {
    Listed(&'a [u32]),
    All(usize),
}

/// Calls `each` for every row with N sums per vector to add to, and returns their totals: chunks in the vectors'
/// precision, chunks together in double precision.
#[inline(always)]
pub(super) fn sweep<S: Scalar, const W: usize, const N: usize>(
    rows: Rows<'_>,
    mut each: impl FnMut(usize, &mut [[S; W]; N]),
) -> [[f64; W]; N] {
    let mut totals = [[0.0; W]; N];
    let mut lost = [[0.0; W]; N];
    let mut flush = |sums: &[[S; W]; N]| {
        for k in 0..N {
            for l in 0..W {
                // Knuth's exact addition: what `next` lacks of the sum is carried along.
                let (total, term) = (totals[k][l], sums[k][l].wide());
                let next: f64 = total + term;
                let part = next - total;
                lost[k][l] += (total - (next - part)) + (term - part);
                totals[k][l] = next;
            }
        }
    };
    match rows {
        Rows::Listed(list) => {
            for chunk in list.chunks(CHUNK) {
                let mut sums = [[S::default(); W]; N];
                for &i in chunk {
                    each(i as usize, &mut sums);
                }
                flush(&sums);
            }
        }
        Rows::All(n) => {
            for start in (0..n).step_by(CHUNK) {
                let mut sums = [[S::default(); W]; N];
                for i in start..(start + CHUNK).min(n) {
                    each(i, &mut sums);
                }
                flush(&sums);
            }
        }
    }
    for k in 0..N {
        for l in 0..W {
            totals[k][l] += lost[k][l];
        }
    }
    totals
}

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
