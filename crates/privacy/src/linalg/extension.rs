//! Extends an orthonormal basis by the part of further vectors that lies outside its span.

use chacha20::ChaCha20Rng;
use nalgebra::DMatrix;
use rand::distr::Distribution;

use super::add_product;
use crate::vocabulary::StandardNormal;

/// `columns` standard normal columns of n rows.
pub fn normal_columns(n: usize, columns: usize, generator: &mut ChaCha20Rng) -> DMatrix<f64> {
    let values = (0..n * columns).map(|_| StandardNormal.sample(generator));
    DMatrix::from_iterator(n, columns, values)
}

/// The basis followed by as many new orthonormal columns as there are candidates (or as the space has left): each
/// candidate's part outside everything before it, normalised, as Gram–Schmidt with a positive diagonal, projected
/// twice. A candidate that has no more than `negligible` (a length) outside is replaced by a pseudo-random direction.
///
/// # Panics
/// If basis and candidates have different heights.
#[must_use]
pub fn extend_basis(
    basis: DMatrix<f64>,
    candidates: &DMatrix<f64>,
    negligible: f64,
    generator: &mut ChaCha20Rng,
) -> DMatrix<f64> {
    let (n, old) = basis.shape();
    let wanted = candidates.ncols().min(n - old);
    let mut basis = basis.insert_columns(old, wanted, 0.0);
    for at in old..old + wanted {
        let mut vector = candidates.columns(at - old, 1).into_owned();
        let mut least = negligible;
        loop {
            for _ in 0..2 {
                project_out(&basis, at, &mut vector);
            }
            let rest = vector.norm();
            if rest > least {
                vector.scale_mut(1.0 / rest);
                // Normalising magnifies what rounding left inside the span.
                project_out(&basis, at, &mut vector);
                vector.scale_mut(1.0 / vector.norm());
                break;
            }
            vector = normal_columns(n, 1, generator);
            least = 0.0;
        }
        basis.set_column(at, &vector.column(0));
    }
    basis
}

/// Takes the part along the first `width` columns of the basis out of the vectors.
pub(super) fn project_out(basis: &DMatrix<f64>, width: usize, vectors: &mut DMatrix<f64>) {
    if width > 0 {
        let basis = basis.columns(0, width);
        let along = basis.tr_mul(vectors);
        add_product(vectors, -1.0, &basis, &along);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Label, Seed};

    #[test]
    fn the_basis_stays_orthonormal_and_candidates_keep_their_order_and_sign() {
        let mut generator = Seed::from_u64(4).generator(Label::Scenario);
        let first = normal_columns(12, 3, &mut generator);
        let basis = extend_basis(DMatrix::zeros(12, 0), &first, 0.0, &mut generator);
        let mut more = normal_columns(12, 4, &mut generator);
        // The second lies inside, up to rounding.
        let inside = &first * DMatrix::from_column_slice(3, 1, &[1.0, -2.0, 0.5]);
        more.set_column(1, &inside.column(0));
        let all = extend_basis(basis, &more, 1e-9, &mut generator);
        assert_eq!(all.shape(), (12, 7));
        let defect = (all.tr_mul(&all) - DMatrix::identity(7, 7)).abs().max();
        assert!(defect < 1e-14, "{defect:e}");
        for (column, candidate) in [(3, 0), (5, 2), (6, 3)] {
            assert!(all.column(column).dot(&more.column(candidate)) > 0.0);
        }
        // No more columns than the space has.
        let full = extend_basis(
            all,
            &normal_columns(12, 9, &mut generator),
            0.0,
            &mut generator,
        );
        assert_eq!(full.shape(), (12, 12));
        let defect = (full.tr_mul(&full) - DMatrix::identity(12, 12)).abs().max();
        assert!(defect < 1e-14, "{defect:e}");
    }
}
