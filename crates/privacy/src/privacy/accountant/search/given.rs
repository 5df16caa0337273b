//! Lower bounds on the variance factor v_u of one peer against one given coalition.

use crate::topology::Graph;

/// A lower bound on v_u per unit of 1/σ_η², under `coalition` (which does not contain u), for `ratio` = σ_Δ²/σ_η².
///
/// # Statement and proof
/// v_u = max over x of 2x_u − xᵀΣx, attained at x = Σ⁻¹e_u (complete the square), so any x gives a lower bound. It is
/// evaluated at the result of at most `steps` conjugate gradient steps from x = 1/|C| on u's piece C, whose residual is
/// orthogonal to 1; without a step it is 1/|C|. ∎
///
/// # Cost
/// 2|E| + 6s multiplications per step.
pub(super) fn at_least(graph: &Graph, coalition: &[u32], u: u32, ratio: f64, steps: usize) -> f64 {
    let peers = graph.nodes();
    // 0: not seen, otherwise position + 1; colluders are never entered.
    let mut position = vec![0_usize; peers];
    let mut closed = vec![false; peers];
    for &c in coalition {
        closed[c as usize] = true;
    }
    let mut nodes = vec![u as usize];
    position[u as usize] = 1;
    let mut edges: Vec<Vec<usize>> = Vec::new();
    let mut next = 0;
    while let Some(&v) = nodes.get(next) {
        next += 1;
        for &w in graph.neighbours(v) {
            let w = w as usize;
            if !closed[w] && position[w] == 0 {
                nodes.push(w);
                position[w] = nodes.len();
            }
        }
    }
    for &v in &nodes {
        let honest = graph.neighbours(v).iter().map(|&w| w as usize);
        edges.push(
            honest
                .filter(|&w| !closed[w])
                .map(|w| position[w] - 1)
                .collect(),
        );
    }
    let n = nodes.len();
    let share = 1.0 / n as f64;
    let times = |x: &[f64]| -> Vec<f64> {
        edges
            .iter()
            .zip(x)
            .map(|(list, &here)| {
                let away: f64 = list.iter().map(|&w| here - x[w]).sum();
                here + ratio * away
            })
            .collect()
    };
    let mut x = vec![share; n];
    let mut residual = vec![-share; n];
    residual[0] += 1.0;
    let mut direction = residual.clone();
    let mut square = dot(&residual, &residual);
    for _ in 0..steps {
        let image = times(&direction);
        let curvature = dot(&direction, &image);
        if square.is_nan() || square <= 1e-26 || curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let step = square / curvature;
        for i in 0..n {
            x[i] += step * direction[i];
            residual[i] -= step * image[i];
        }
        let before = square;
        square = dot(&residual, &residual);
        for i in 0..n {
            direction[i] = residual[i] + square / before * direction[i];
        }
    }
    let energy = dot(&x, &times(&x));
    // `max` passes over NaN.
    (2.0 * x[0] - energy).max(share)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
