//! μ₀, the largest entry of the eigenvectors of A = RᵀR; for bounds and studies, no peer uses it.

use nalgebra::{DMatrix, SymmetricEigen};

use super::SparseRows;

/// Eigenvalues below this share of the largest count as zero.
const ZERO: f64 = 1e-10;

/// How far the eigenvectors of A = RᵀR lean towards single coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coherence {
    /// Eigenvectors of eigenvalues above 1e-10 of the largest.
    pub rank: usize,
    /// μ₀ over those eigenvectors: their largest entry.
    pub mu0: f64,
    /// The largest μ₀ that any choice of eigenvectors for eigenvalue 0 can give.
    ///
    /// With eigenvalue 0 repeated, "the" n × n matrix U of P1 is not unique, and so neither is ‖U‖_max: it can be
    /// anything from [`Self::mu0`] (or a little more, if 0 has few dimensions) to this. Other repeated eigenvalues
    /// leave the same freedom, but do not occur in rating data except by accident.
    pub mu0_highest: f64,
}

/// The coherence of A = RᵀR, from a dense eigendecomposition of the smaller of RᵀR (n × n) and RRᵀ (rows × rows).
/// `None` if both are larger than `limit`, or R is zero.
///
/// # Claim
/// For a unit vector v in the null space N of A, |v_i| ≤ √(1 − Σ_j U_ij²) with the sum over the eigenvectors of
/// nonzero eigenvalues, and the projection of e_i on N attains it.
///
/// # Proof
/// v_i = ⟨v, e_i⟩ = ⟨v, P_N e_i⟩ ≤ ‖P_N e_i‖, with equality for v ∥ P_N e_i, and ‖P_N e_i‖² = 1 − Σ_j U_ij². ∎
///
/// # Cost
/// O(limit³) time; memory limit² and n × rank.
///
/// # Source
/// P1 section 2 defines μ₀ = ‖U‖_max.
#[must_use]
pub fn coherence(rows: &SparseRows, limit: usize) -> Option<Coherence> {
    let (n, users) = (rows.dimension(), rows.len());
    if n.min(users) > limit {
        return None;
    }
    // Row i holds coordinate i of every eigenvector, scaled to norm 1.
    let vectors = if n <= users {
        eigenvectors(gram(rows))?
    } else {
        let (values, small) = positive_pairs(outer_gram(rows))?;
        let mut vectors = DMatrix::<f64>::zeros(small.ncols(), n);
        for user in 0..users {
            let (items, entries) = rows.row(user);
            let coordinates = small.row(user).transpose();
            for (&item, &entry) in items.iter().zip(entries) {
                let mut column = vectors.column_mut(item as usize);
                column.axpy(entry, &coordinates, 1.0);
            }
        }
        for (j, value) in values.iter().enumerate() {
            vectors.row_mut(j).scale_mut(1.0 / value.sqrt());
        }
        vectors.transpose()
    };
    let rank = vectors.ncols();
    let mu0 = vectors.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let outside = |i: usize| (1.0 - vectors.row(i).norm_squared()).max(0.0).sqrt();
    let mu0_highest = if rank < n {
        (0..n).map(outside).fold(mu0, f64::max)
    } else {
        mu0
    };
    Some(Coherence {
        rank,
        mu0,
        mu0_highest,
    })
}

fn eigenvectors(matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
    positive_pairs(matrix).map(|(_, vectors)| vectors)
}

/// Eigenvalues that are not zero, and their eigenvectors as columns; `None` if all are.
fn positive_pairs(matrix: DMatrix<f64>) -> Option<(Vec<f64>, DMatrix<f64>)> {
    let eigen = SymmetricEigen::new(matrix);
    let largest = eigen.eigenvalues.max();
    let kept: Vec<usize> = (0..eigen.eigenvalues.len())
        .filter(|&i| largest > 0.0 && eigen.eigenvalues[i] > ZERO * largest)
        .collect();
    let values: Vec<f64> = kept.iter().map(|&i| eigen.eigenvalues[i]).collect();
    (!kept.is_empty()).then(|| (values, eigen.eigenvectors.select_columns(&kept)))
}

/// RᵀR.
fn gram(rows: &SparseRows) -> DMatrix<f64> {
    let n = rows.dimension();
    let mut matrix = DMatrix::zeros(n, n);
    for user in 0..rows.len() {
        let (items, entries) = rows.row(user);
        for (&j, b) in items.iter().zip(entries) {
            for (&i, a) in items.iter().zip(entries) {
                matrix[(i as usize, j as usize)] += a * b;
            }
        }
    }
    matrix
}

/// RRᵀ.
fn outer_gram(rows: &SparseRows) -> DMatrix<f64> {
    let users = rows.len();
    let mut matrix = DMatrix::zeros(users, users);
    let mut dense = vec![0.0; rows.dimension()];
    for u in 0..users {
        let (items, entries) = rows.row(u);
        for (&i, &a) in items.iter().zip(entries) {
            dense[i as usize] = a;
        }
        for v in 0..users {
            let (others, values) = rows.row(v);
            let pairs = others.iter().zip(values);
            matrix[(v, u)] = pairs.map(|(&i, b)| b * dense[i as usize]).sum::<f64>();
        }
        items.iter().for_each(|&i| dense[i as usize] = 0.0);
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(dimension: usize, entries: &[&[(u32, f64)]]) -> SparseRows {
        let mut rows = SparseRows::new(dimension);
        for row in entries {
            rows.push_row(row.iter().copied()).expect("ascending");
        }
        rows
    }

    #[test]
    fn coherence_of_known_matrices() {
        // Eigenvectors (1, 1)/√2 and (1, −1)/√2.
        let pair = rows(2, &[&[(0, 1.0), (1, 1.0)], &[(0, 2.0), (1, -2.0)]]);
        let found = coherence(&pair, 10).expect("small");
        assert_eq!(found.rank, 2);
        assert!((found.mu0 - 0.5_f64.sqrt()).abs() < 1e-14);
        assert_eq!(found.mu0, found.mu0_highest);
        // One eigenvector (1, 1, 1, 0)/√3; null vectors may be e_4.
        let one = rows(4, &[&[(0, 1.0), (1, 1.0), (2, 1.0)]]);
        let found = coherence(&one, 10).expect("small");
        assert_eq!(found.rank, 1);
        assert!((found.mu0 - (1.0_f64 / 3.0).sqrt()).abs() < 1e-14);
        assert!((found.mu0_highest - 1.0).abs() < 1e-14);
        assert_eq!(coherence(&pair, 1), None);
        assert_eq!(coherence(&rows(3, &[&[]]), 5), None);
    }

    #[test]
    fn both_sides_give_the_same() {
        let mut wide = SparseRows::new(30);
        let mut padded = SparseRows::new(30);
        for u in 0..12_u32 {
            let row: Vec<(u32, f64)> = (0..30)
                .filter(|i| (u * 7 + i * i + u * i) % 4 < 2)
                .map(|i| (i, 1.0 + f64::from(u % 3)))
                .collect();
            wide.push_row(row.clone()).expect("ascending");
            padded.push_row(row).expect("ascending");
        }
        // Empty rows change nothing but make RᵀR the smaller matrix.
        (0..30).for_each(|_| padded.push_row([]).expect("empty"));
        let (a, b) = (coherence(&wide, 30), coherence(&padded, 30));
        let (a, b) = (a.expect("small"), b.expect("small"));
        assert_eq!(a.rank, b.rank);
        assert!((a.mu0 - b.mu0).abs() < 1e-9 && (a.mu0_highest - b.mu0_highest).abs() < 1e-9);
    }
}
