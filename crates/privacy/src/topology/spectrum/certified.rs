//! Bounds proved by Cholesky factorisations, for graphs small enough to be held densely.

use std::convert::Infallible;

use super::laplacian::Laplacian;
use super::{Interval, UNIT};
use crate::linalg::lanczos::centred::{self, Effort};
use crate::linalg::{Cholesky, allowance};

const EFFORT: Effort = Effort {
    steps: 150,
    cycles: 2,
    patience: 0.3,
};

/// λ₂(M) of a connected graph.
///
/// Statement: if A = M + (x + c)11ᵀ/s − xI is positive definite for some c, then λ₂(M) > x. Proof: on
/// 1^⊥, a space of codimension 1, yᵀAy = yᵀMy − x yᵀy; Courant–Fischer. If only λ_min(A) ≥ −a is known,
/// then λ₂(M) ≥ x − a.
pub(super) fn second_smallest(m: Laplacian<'_>) -> Interval {
    let nodes = m.nodes();
    let shift = m.largest_diagonal();
    // The smallest eigenvalues are the largest of the inverse, and far apart there.
    let ritz = Cholesky::of(m.dense(1.0, shift, 0.0)).and_then(|factor| {
        centred::largest(
            nodes,
            EFFORT,
            |value| 1e-8 * value,
            |x: &Vec<f64>| {
                let mut out = x.clone();
                factor.solve(&mut out);
                Ok::<_, Infallible>(out)
            },
        )
    });
    let probe = || centred::probe(nodes);
    let estimate = m.quotient(&ritz.map_or_else(probe, |ritz| ritz.vector));
    let low = back_off(
        estimate,
        allowance(nodes, trace(m) + 2.0 * (shift + estimate)) + assembly(m),
        |x| Cholesky::of(m.dense(1.0, x + shift, -x)).is_some(),
    );
    Interval {
        low: low
            .filter(|low| *low > 0.0)
            .unwrap_or_else(|| super::distance_floor(m)),
        estimate,
        high: estimate * (1.0 + m.quotient_error()),
        certified: true,
    }
}

/// λ_max(M).
///
/// Statement: if xI − M is positive definite up to a, then λ_max(M) ≤ x + a.
pub(super) fn largest(m: Laplacian<'_>) -> Interval {
    let nodes = m.nodes();
    let ceiling = m.ceiling();
    let beyond = ceiling * 1.001;
    let ritz = Cholesky::of(m.dense(-1.0, 0.0, beyond)).and_then(|factor| {
        centred::largest(
            nodes,
            EFFORT,
            |value| 1e-8 * value,
            |x: &Vec<f64>| {
                let mut out = x.clone();
                factor.solve(&mut out);
                Ok::<_, Infallible>(out)
            },
        )
    });
    let probe = || centred::probe(nodes);
    let estimate = m.quotient(&ritz.map_or_else(probe, |ritz| ritz.vector));
    let slack = allowance(nodes, nodes as f64 * ceiling) + assembly(m);
    // Backing off from −estimate downwards is backing off from the estimate upwards.
    let high = back_off(-estimate, slack, |x| {
        Cholesky::of(m.dense(-1.0, 0.0, -x)).is_some()
    })
    .map_or(ceiling, |low| -low);
    Interval {
        low: estimate * (1.0 - m.quotient_error()),
        estimate,
        high: high.min(ceiling),
        certified: true,
    }
}

/// The first x = estimate − margin, for margins growing geometrically, that `holds`, less `slack`.
fn back_off(estimate: f64, slack: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    let mut margin = (1e-10 * estimate.abs()).max(slack / 4.0);
    while margin < estimate.abs() {
        let x = estimate - margin;
        if holds(x) {
            return Some(x - slack);
        }
        margin *= 100.0;
    }
    None
}

fn trace(m: Laplacian<'_>) -> f64 {
    (0..m.nodes()).map(|u| m.diagonal(u)).sum()
}

/// What rounding may have changed when the dense matrix was written down, in the spectral norm: a row
/// holds entries of total size at most twice the ceiling, each rounded a few times; and the
/// diagonal of I − W is a sum of as many weights as the node has neighbours.
fn assembly(m: Laplacian<'_>) -> f64 {
    (32 + 4 * m.graph().max_degree()) as f64 * UNIT * m.ceiling()
}
