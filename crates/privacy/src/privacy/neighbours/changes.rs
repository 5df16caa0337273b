//! Changes of a matrix: what the adjacencies on matrices share.

use nalgebra::DMatrix;

use super::super::adjacency::Neighbouring;

/// b − a if the two have one shape and every entry of both is finite.
pub(super) fn difference(a: &DMatrix<f64>, b: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let finite = |matrix: &DMatrix<f64>| matrix.iter().all(|value| value.is_finite());
    (a.shape() == b.shape() && finite(a) && finite(b)).then(|| b - a)
}

/// a + `change`, unless rounding loses the change: `None` if its distance from `a` is not 1 to a millionth.
pub(super) fn shifted<A: Neighbouring<Data = DMatrix<f64>>>(
    a: &DMatrix<f64>,
    change: &DMatrix<f64>,
) -> Option<DMatrix<f64>> {
    let b = a + change;
    A::distance(a, &b)
        .is_some_and(|distance| (distance - 1.0).abs() < 1e-6)
        .then_some(b)
}
