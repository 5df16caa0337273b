//! Test blocks X on which sensitivity bounds are attained.

use nalgebra::DMatrix;

use super::orthonormal;

/// n × p blocks: coordinate vectors, columns constant on runs of items, sign patterns, fans.
pub(in crate::privacy::sensitivity) fn structured(n: usize, p: usize) -> Vec<DMatrix<f64>> {
    let mut all = vec![DMatrix::identity(n, p)];
    for length in 1..=n {
        all.extend(runs(n, p, length));
    }
    if n == 4 {
        // Walsh columns: every entry ±1/2.
        all.push(DMatrix::from_fn(4, p, |i, j| {
            if (i & j).count_ones().is_multiple_of(2) {
                0.5
            } else {
                -0.5
            }
        }));
    }
    if p == 2 && n % 2 == 1 {
        all.push(fan(n));
    }
    all
}

/// Vectors of equal entries on the first items, the first of the other sign.
pub(in crate::privacy::sensitivity) fn signed(n: usize) -> Vec<DMatrix<f64>> {
    (1..=n)
        .map(|length| {
            let entry = (length as f64).sqrt().recip();
            DMatrix::from_fn(n, 1, |i, _| match i {
                0 => -entry,
                i if i < length => entry,
                _ => 0.0,
            })
        })
        .collect()
}

/// Column 0 constant on the first `length` items, column 1 on the next; completed.
fn runs(n: usize, p: usize, length: usize) -> Option<DMatrix<f64>> {
    let mut x = DMatrix::from_fn(n, p, |i, j| if i == (j + length) % n { 0.5 } else { 0.0 });
    for i in 0..n {
        x[(i, 0)] = if i < length { 1.0 } else { 0.0 };
        if p > 1 && 2 * length <= n {
            x[(i, 1)] = if (length..2 * length).contains(&i) {
                1.0
            } else {
                0.0
            };
        }
    }
    orthonormal(&x)
}

/// n = 2m + 1 rows of equal length in the plane: items 0 and 1 at ±60°, the next m at 0° and the last m − 1 at 90°.
///
/// Both columns have norm 1: m + 2/4 = (m − 1) + 2·(3/4) = m + 1/2 before scaling.
fn fan(n: usize) -> DMatrix<f64> {
    let shared = (n - 1) / 2;
    let scale = (shared as f64 + 0.5).sqrt().recip();
    let sine = 0.75_f64.sqrt();
    DMatrix::from_fn(n, 2, |i, j| {
        let row = match i {
            0 => [0.5, sine],
            1 => [0.5, -sine],
            _ if i < 2 + shared => [1.0, 0.0],
            _ => [0.0, 1.0],
        };
        scale * row[j]
    })
}

#[test]
fn structured_blocks_are_orthonormal() {
    for (n, p) in super::SHAPES {
        let all = structured(n, p);
        assert!(all.len() > 3);
        for x in all {
            let gram = x.transpose() * &x;
            assert!((gram - DMatrix::identity(p, p)).norm() < 1e-12, "{n} {p}");
        }
    }
}
