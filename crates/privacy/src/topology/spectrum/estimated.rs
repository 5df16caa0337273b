//! Estimates with a safety factor, for graphs too large for dense certificates.

use std::convert::Infallible;

use super::laplacian::Laplacian;
use super::{Interval, SAFETY};
use crate::linalg::lanczos::centred::{self, Effort, add, centre, dot};

/// Numbers the Lanczos basis may hold: 384 MiB.
const BASIS: usize = 48 << 20;

/// Operations the second attempt may take: a few seconds.
const WORK: usize = 3_000_000_000;

/// Residual, relative to the eigenvalue, that counts as convergence; the Rayleigh quotient's own error
/// is of second order in it.
const CONVERGED: f64 = 0.01;

fn effort(nodes: usize) -> Effort {
    Effort {
        steps: (BASIS / nodes).clamp(20, 160),
        cycles: 3,
        patience: 0.2,
    }
}

/// λ₂(M) of a connected graph.
///
/// Lanczos for the largest eigenvalue of (ceiling − M); where that has not converged, because the
/// eigenvalue is small against the ceiling, Lanczos for the inverse of M, applied by conjugate gradients.
/// Where neither has converged the lower end, and for want of better the estimate, is the certified, very
/// low [`super::distance_floor`].
pub(super) fn second_smallest(m: Laplacian<'_>) -> Interval {
    second_smallest_within(m, effort(m.nodes()), WORK)
}

/// [`second_smallest`] with the effort of the first attempt and the operations of the second.
pub(super) fn second_smallest_within(m: Laplacian<'_>, effort: Effort, work: usize) -> Interval {
    let ceiling = m.ceiling();
    let direct = centred::largest(
        m.nodes(),
        effort,
        |value| 0.5 * CONVERGED * (ceiling - value),
        |x: &Vec<f64>| {
            let mut out = m.times(x);
            for (value, here) in out.iter_mut().zip(x) {
                *value = ceiling * here - *value;
            }
            Ok::<_, Infallible>(out)
        },
    );
    let mut error = None;
    let mut x = direct.map_or_else(|| centred::probe(m.nodes()), |ritz| ritz.vector);
    let distance = residual(m, &x);
    if distance <= CONVERGED * m.quotient(&x) {
        error = Some(distance);
    } else if let Some(better) = inverse(m, work) {
        error = Some(CONVERGED * m.quotient(&better));
        x = better;
    }
    let quotient = m.quotient(&x);
    let floor = super::distance_floor(m);
    let safe = error.map_or(0.0, |error| SAFETY * (quotient - error));
    Interval {
        low: safe.max(floor),
        estimate: error.map_or(floor, |_| quotient.max(floor)),
        high: quotient * (1.0 + m.quotient_error()),
        certified: safe <= floor,
    }
}

/// λ_max(M) for M = I − W; where Lanczos has not converged the upper end and the estimate are Gershgorin's.
pub(super) fn largest(m: Laplacian<'_>) -> Interval {
    let ceiling = m.ceiling();
    let x = centred::largest(
        m.nodes(),
        effort(m.nodes()),
        |value| 0.5 * CONVERGED * value,
        |x: &Vec<f64>| Ok::<_, Infallible>(m.times(x)),
    )
    .map_or_else(|| centred::probe(m.nodes()), |ritz| ritz.vector);
    let quotient = m.quotient(&x);
    let residual = residual(m, &x);
    let low = quotient * (1.0 - m.quotient_error());
    if residual > CONVERGED * quotient {
        return Interval {
            low,
            estimate: ceiling,
            high: ceiling,
            certified: true,
        };
    }
    // Of I − W, whose eigenvalues are below 2: the distance of λ_min(W) from −1 is 2 − λ_max(M).
    let safe = 2.0 - SAFETY * (2.0 - quotient - residual);
    Interval {
        low,
        estimate: quotient,
        high: safe.min(ceiling),
        certified: safe >= ceiling,
    }
}

/// ‖Mx − θx‖ / ‖x‖ for θ the quotient of x.
fn residual(m: Laplacian<'_>, x: &[f64]) -> f64 {
    let mut image = m.times(x);
    add(&mut image, -m.quotient(x), x);
    (dot(&image, &image) / dot(x, x)).sqrt()
}

/// A vector whose quotient is λ₂(M) within [`CONVERGED`], by Lanczos for M⁻¹ on 1^⊥; `None` if it does
/// not converge, or the work runs out.
fn inverse(m: Laplacian<'_>, work: usize) -> Option<Vec<f64>> {
    let effort = Effort {
        steps: 40.min(BASIS / m.nodes()),
        cycles: 1,
        patience: 0.0,
    };
    let per_step = 2 * m.graph().edges() + 6 * m.nodes();
    let mut left = work / per_step;
    let tolerance = |value| 0.2 * CONVERGED * value;
    let ritz = centred::largest(m.nodes(), effort, tolerance, |x: &Vec<f64>| {
        solve(m, x, &mut left)
    })?;
    if ritz.residual > tolerance(ritz.value) {
        return None;
    }
    // A small residual of M⁻¹ leaves traces of eigenvectors that weigh heavily in M; one more
    // application divides them by their eigenvalue.
    solve(m, &ritz.vector, &mut left).ok()
}

/// No multiplications are left, or conjugate gradients broke down.
struct OutOfReach;

/// M⁺ `b` for a centred `b`, by conjugate gradients with the diagonal as preconditioner, spending one of `left` per
/// multiplication.
fn solve(m: Laplacian<'_>, b: &[f64], left: &mut usize) -> Result<Vec<f64>, OutOfReach> {
    let nodes = b.len();
    let inverse: Vec<f64> = (0..nodes).map(|u| 1.0 / m.diagonal(u)).collect();
    let mut out = vec![0.0; nodes];
    let mut residual = b.to_vec();
    let enough = 1e-8 * dot(b, b).sqrt();
    let precondition =
        |r: &[f64]| -> Vec<f64> { r.iter().zip(&inverse).map(|(a, b)| a * b).collect() };
    let mut z = precondition(&residual);
    let mut direction = z.clone();
    let mut energy = dot(&residual, &z);
    let mut image = vec![0.0; nodes];
    while dot(&residual, &residual).sqrt() > enough {
        *left = left.checked_sub(1).ok_or(OutOfReach)?;
        m.multiply(&direction, &mut image);
        let step = energy / dot(&direction, &image);
        if !step.is_finite() {
            return Err(OutOfReach);
        }
        add(&mut out, step, &direction);
        add(&mut residual, -step, &image);
        z = precondition(&residual);
        let next = dot(&residual, &z);
        let keep = next / energy;
        energy = next;
        for (d, z) in direction.iter_mut().zip(&z) {
            *d = z + keep * *d;
        }
    }
    centre(&mut out);
    Ok(out)
}
