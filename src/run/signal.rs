//! How many directions of a run stand out of its noise, by what was released and the public size of the noise alone.

use crate::engine::{Outcome, ReleaseRecord};
use crate::linalg::{Block, PackedTriangle, symmetric_eigenpairs};
use crate::recommender::gram::NoiseEdge;
use crate::scenario::Experiment;
use crate::vocabulary::Quantity;

/// √(2 ln 100): noise exceeds the bound of [`of_product`] once in a hundred runs at most.
const SLACK: f64 = 3.035;

/// Counts the columns of the final basis that stand out of the noise. It is post-processing and spends no ε.
///
/// | released | a direction stands out where |
/// | --- | --- |
/// | a matrix Â | xᵀÂx of its column x exceeds [`NoiseEdge::threshold`] |
/// | products Y = A X + N | a singular value of some Y exceeds σ(√n + √b + √(2 ln 100)) |
///
/// `None` without noise, and for methods that release something else or one vector after the other.
#[must_use]
pub(crate) fn standing_out(experiment: &Experiment, outcome: &Outcome) -> Option<usize> {
    let basis = outcome.basis();
    let one = |record: &ReleaseRecord| {
        let at = (record.release.0 as usize).checked_sub(1)?;
        let [block] = &experiment.releases().get(at)?.blocks[..] else {
            return None;
        };
        let sigma = *record.sigmas.first()?;
        if !(sigma > 0.0 && sigma.is_finite()) {
            return None;
        }
        let sum = &record.sum;
        match block.quantity {
            Quantity::PackedTriangle => of_triangle(basis, sum.values(), sigma, 1.0),
            Quantity::IsometricTriangle => {
                of_triangle(basis, sum.values(), sigma, std::f64::consts::FRAC_1_SQRT_2)
            }
            Quantity::Product if sum.rows() == basis.rows() => of_product(basis, sum, sigma),
            _ => None,
        }
    };
    outcome.records.iter().filter_map(one).max()
}

/// Columns of the basis in whose direction a released matrix is larger than noise; `factor` makes entries of what lies off the diagonal.
fn of_triangle(basis: &Block, coordinates: &[f64], sigma: f64, factor: f64) -> Option<usize> {
    let n = basis.rows();
    if coordinates.len() != PackedTriangle::coordinates(n) {
        return None;
    }
    let mut entries: Vec<f64> = coordinates.iter().map(|x| x * factor).collect();
    for at in (0..n).map(|i| PackedTriangle::row_start(n, i)) {
        entries[at] = coordinates[at];
    }
    let columns = basis.to_matrix();
    let products = PackedTriangle::new(n, &entries).times(&columns);
    let threshold = NoiseEdge::new(factor * sigma, n).threshold();
    let pairs = columns.column_iter().zip(products.column_iter());
    Some(pairs.filter(|(x, ax)| x.dot(ax) > threshold).count())
}

/// Singular values of a noisy product beyond those of noise.
///
/// # Why
/// The largest singular value of an n × b matrix of independent normal numbers of size σ exceeds σ(√n + √b + t) with probability at most
/// e^(−t²/2) (Davidson & Szarek 2001, Theorem II.13).
fn of_product(basis: &Block, sum: &Block, sigma: f64) -> Option<usize> {
    let (n, b) = (sum.rows() as f64, sum.columns());
    if b < basis.columns() {
        return None;
    }
    let threshold = sigma * (n.sqrt() + (b as f64).sqrt() + SLACK);
    let gram = sum.transpose_times(sum);
    if !gram.iter().all(|x| x.is_finite()) {
        return None;
    }
    let (squares, _) = symmetric_eigenpairs(&gram);
    let beyond = squares.iter().filter(|x| **x > threshold * threshold);
    Some(beyond.count().min(basis.columns()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_values_of_products_are_held_against_those_of_noise() {
        // The bound for n = 100, b = 4 and σ = 2 is 2(10 + 2 + 3.035) = 30.07.
        let of = |lengths: [f64; 4]| {
            let mut sum = Block::zeros(100, 4);
            for (column, length) in lengths.into_iter().enumerate() {
                sum.values_mut()[4 * (7 * column) + column] = length;
            }
            of_product(&Block::zeros(100, 3), &sum, 2.0)
        };
        assert_eq!(of([30.0, 29.0, 0.0, 1.0]), Some(0));
        assert_eq!(of([1.0, -30.2, 30.0, 90.0]), Some(2));
        assert_eq!(of([40.0; 4]), Some(3), "no more than columns of the basis");
        assert_eq!(of([f64::NAN; 4]), None);
        let narrow = Block::zeros(100, 1);
        assert_eq!(of_product(&Block::zeros(100, 2), &narrow, 1.0), None);
    }

    #[test]
    fn quotients_of_a_matrix_are_held_against_the_edge_of_its_noise() {
        // A = [0 a; a 0] has the eigenvector (1, 1)/√2 of eigenvalue a.
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let basis = Block::from_values(2, 2, vec![half, half, half, -half]);
        let threshold = |sigma: f64| NoiseEdge::new(sigma, 2).threshold();
        for (factor, expected) in [(1.01, Some(1)), (0.99, Some(0))] {
            let a = factor * threshold(0.5);
            let packed = [0.0, a, 0.0];
            assert_eq!(of_triangle(&basis, &packed, 0.5, 1.0), expected);
            // The isometric triangle holds a√2, and σ of it is σ/√2 of an entry.
            let isometric = [0.0, a / half, 0.0];
            assert_eq!(of_triangle(&basis, &isometric, 0.5 / half, half), expected);
        }
        assert_eq!(of_triangle(&basis, &[0.0; 5], 0.5, 1.0), None);
    }
}
