//! What adjacent data move clipped contributions and counts of their lengths by, from the definitions.

use nalgebra::DMatrix;
use rand::Rng;

use super::pairs::Attacked;
use super::{blocks, gaussian, orthonormal};
use crate::linalg::SparseRows;
use crate::vocabulary::Quantity;

/// Lengths that contributions are clipped to.
const LENGTHS: [f64; 5] = [1.0, 0.7, 0.3, 0.05, 1.0 / 256.0];

pub(super) fn is_clipped(quantity: Quantity) -> bool {
    matches!(
        quantity,
        Quantity::ClippedProduct | Quantity::ClipHistogram | Quantity::ClipCount
    )
}

/// The largest change over these pairs, blocks with p columns and lengths.
pub(super) fn most_moved<A: Attacked>(
    quantity: Quantity,
    pairs: &[(A::Data, A::Data)],
    (n, p): (usize, usize),
    rng: &mut impl Rng,
) -> f64 {
    let mut queries = blocks::structured(n, p);
    queries.extend((0..5).filter_map(|_| orthonormal(&gaussian(rng, n, p))));
    if p == 1 {
        queries.extend(blocks::signed(n));
    }
    let mut most = 0.0_f64;
    for (a, b) in pairs {
        let (a, b) = (A::rows(a), A::rows(b));
        for query in &queries {
            for length in LENGTHS {
                let of = |rows| released(quantity, rows, query, length);
                most = most.max((of(&b) - of(&a)).norm());
            }
        }
    }
    most
}

/// What rows release, by the entries of rᵀ(rX).
fn released(
    quantity: Quantity,
    rows: &SparseRows,
    query: &DMatrix<f64>,
    length: f64,
) -> DMatrix<f64> {
    let (n, p) = query.shape();
    let mut out = match quantity {
        Quantity::ClippedProduct => DMatrix::zeros(n, p),
        Quantity::ClipHistogram => DMatrix::zeros(16, 1),
        _ => DMatrix::zeros(1, 1),
    };
    for i in 0..rows.len() {
        let (items, values) = rows.row(i);
        if items.is_empty() {
            continue;
        }
        let mut row = DMatrix::zeros(1, n);
        for (&item, value) in items.iter().zip(values) {
            row[(0, item as usize)] = *value;
        }
        let one = row.transpose() * (&row * query);
        let c = one.norm();
        match quantity {
            Quantity::ClippedProduct if c > length => out += one / c,
            Quantity::ClippedProduct => out += one / length,
            Quantity::ClipHistogram => {
                if let Some(j) = (1..=16).find(|&j| c > (-0.5 * f64::from(j)).exp2()) {
                    out[((j - 1) as usize, 0)] += 1.0;
                }
            }
            _ => out[(0, 0)] += f64::from(u8::from(c <= length)),
        }
    }
    out
}
