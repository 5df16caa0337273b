//! Numbers of the errata page about random orthonormal blocks and coherence.

use nalgebra::{DMatrix, SymmetricEigen};
use rand::Rng;
use rand::distr::Distribution;
use rand_distr::StandardNormal;

use crate::vocabulary::{Label, Seed};

fn gaussian(rows: usize, columns: usize, rng: &mut impl Rng) -> DMatrix<f64> {
    DMatrix::from_fn(rows, columns, |_, _| StandardNormal.sample(rng))
}

/// P1's variance of a squared row length: k independent F(1, n)/n.
fn printed_variance(n: f64, k: f64) -> f64 {
    let f = 2.0 * n * n * (n - 1.0) / ((n - 2.0).powi(2) * (n - 4.0));
    k * f / (n * n)
}

/// The variance of Beta(k/2, (n−k)/2).
fn true_variance(n: f64, k: f64) -> f64 {
    2.0 * k * (n - k) / (n * n * (n + 2.0))
}

pub(super) fn numbers() -> Vec<(&'static str, f64)> {
    let mut rng = Seed::from_u64(51).generator(Label::Scenario);
    let draw = gaussian(40, 40, &mut rng);
    let eigenvectors = SymmetricEigen::new(&draw + draw.transpose()).eigenvectors;
    let lengths: Vec<f64> = eigenvectors.row_iter().map(|row| row.norm()).collect();
    let walsh = DMatrix::from_fn(16, 16, |i: usize, j: usize| {
        if (i & j).count_ones().is_multiple_of(2) {
            0.25
        } else {
            -0.25
        }
    });
    assert!((walsh.transpose() * &walsh - DMatrix::identity(16, 16)).norm() < 1e-14);
    let largest = walsh.amax();
    vec![
        ("mu1", lengths.iter().copied().fold(0.0, f64::max)),
        (
            "mu1-least",
            lengths.iter().copied().fold(f64::INFINITY, f64::min),
        ),
        ("coherence-printed", 16.0 * largest),
        ("coherence-squared", 16.0 * largest * largest),
        (
            "row-variance",
            printed_variance(200.0, 50.0) / true_variance(200.0, 50.0),
        ),
        (
            "row-variance-limit",
            printed_variance(4e9, 1e9) / true_variance(4e9, 1e9),
        ),
    ]
}

#[test]
fn squared_row_lengths_have_the_beta_variance_and_not_the_printed_one() {
    // 300 blocks of 40 rows. Rows of one block are nearly independent, so the estimate has a relative standard
    // deviation near √(2/12000) = 1.3 %: 8 % is 6 of them, false alarm below 1e-8; the printed one is off by 68 %.
    let mut rng = Seed::from_u64(52).generator(Label::Scenario);
    let (n, k) = (40, 10);
    let (mut sum, mut count) = (0.0, 0.0);
    for _ in 0..300 {
        let block = gaussian(n, k, &mut rng).qr().q();
        for row in block.row_iter() {
            sum += (row.norm_squared() - k as f64 / n as f64).powi(2);
            count += 1.0;
        }
    }
    let (variance, n, k) = (sum / count, n as f64, k as f64);
    assert!((variance / true_variance(n, k) - 1.0).abs() < 0.08);
    assert!(printed_variance(n, k) / variance > 1.4);
}
