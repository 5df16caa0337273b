//! Numbers of the errata page about Laplace noise.

use nalgebra::DMatrix;

use crate::privacy::laplace::{calibrate_laplace, tests::worst_loss};
use crate::privacy::{Adjacency, Calibration, Epsilon, Sensitivity, Sensitivity1, SensitivityRule};
use crate::vocabulary::Quantity;

/// The columns of Hadamard's matrix of order n over √n, of norm 1.
fn hadamard(n: usize) -> DMatrix<f64> {
    DMatrix::from_fn(n, n, |i, j| {
        let even = (i & j).count_ones().is_multiple_of(2);
        (if even { 1.0 } else { -1.0 }) / (n as f64).sqrt()
    })
}

pub(super) fn numbers() -> Vec<(&'static str, f64)> {
    let (n, p) = (64, 8);
    // ‖C‖₂ = 1, X the first p coordinate vectors.
    let change = hadamard(n);
    let spectral = change.clone().singular_values().max();
    assert!((spectral - 1.0).abs() < 1e-12);
    let moved: f64 = change.columns(0, p).iter().map(|x| x.abs()).sum();
    let asked = (Adjacency::UnitSpectral, SensitivityRule::Exact);
    let bound = Sensitivity1::of_quantity(Quantity::Product, asked, 1, None, (n, p));
    let bound = bound.expect("proved").bound(1.0);
    let epsilon = Epsilon::new(1.0).expect("positive");
    let scale = |calibration| {
        let found = calibrate_laplace(calibration, epsilon, 3).expect("in range");
        found.z() / std::f64::consts::SQRT_2 * bound
    };
    let (printed, tight) = (scale(Calibration::Paper), scale(Calibration::Analytic));
    let length = Sensitivity::new(Adjacency::UnitSpectral, SensitivityRule::Exact, 1, None, p);
    let length = length.expect("proved").bound(1.0);
    vec![
        ("hp-laplace-moved", moved),
        ("hp-laplace-bound", bound),
        ("hp-laplace-printed", printed),
        ("hp-laplace-tight", tight),
        ("hp-laplace-length", length),
        ("laplace-shares-98", worst_loss(0.98, 1.0)),
        ("laplace-shares-90", worst_loss(0.9, 1.0)),
        ("laplace-shares-60", worst_loss(0.6, 1.0)),
        ("laplace-shares-64", 64.0 * worst_loss(0.9, 1.0 / 64.0)),
        ("laplace-shares-512", 512.0 * worst_loss(0.9, 1.0 / 512.0)),
    ]
}
