//! The Lanczos method with full reorthogonalisation, on the complement of the constant vector.

use nalgebra::DMatrix;

use crate::vocabulary::{Label, Seed};

/// How far to go.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Steps until a restart from the best vector so far.
    pub(super) steps: usize,
    /// Runs of that many steps.
    pub(super) cycles: usize,
    /// Steps between two looks at convergence, as a fraction of the steps made (0: look every step).
    pub(super) patience: f64,
}

/// An approximate eigenpair.
pub(super) struct Ritz {
    /// The approximate eigenvalue; never above the largest, but for rounding.
    pub(super) value: f64,
    /// ‖Ax − θx‖, as the recurrence knows it: an eigenvalue of A lies this close to θ.
    pub(super) residual: f64,
    /// Unit vector, sum 0.
    pub(super) vector: Vec<f64>,
}

/// The fixed start of every run: reports must not depend on an experiment's seed.
pub(super) fn probe(nodes: usize) -> Vec<f64> {
    let mut probe = vec![0.0; nodes];
    Seed::from_u64(0)
        .key(Label::Probe, 0, 0)
        .add_all_normals(0, 1.0, &mut probe);
    probe
}

/// Approximates the largest eigenvalue on 1^⊥ of the symmetric operator `apply` (x, out ↦ out = Ax),
/// which must map 1^⊥ into itself up to rounding, until the residual ‖Ax − θx‖ is at most
/// `tolerance(θ)` or the effort is spent. `apply` may give up by returning `None`.
///
/// # Cost
/// k applications and O(nodes · k²) operations for k steps; 8 · nodes · steps bytes.
pub(super) fn largest(
    nodes: usize,
    effort: Effort,
    tolerance: impl Fn(f64) -> f64,
    mut apply: impl FnMut(&[f64], &mut [f64]) -> Option<()>,
) -> Option<Ritz> {
    let mut start = probe(nodes);
    let mut best = None;
    for _ in 0..effort.cycles {
        let ritz = cycle(start, effort, &tolerance, &mut apply)?;
        if ritz.residual <= tolerance(ritz.value) {
            return Some(ritz);
        }
        start = ritz.vector.clone();
        best = Some(ritz);
    }
    best
}

fn cycle(
    start: Vec<f64>,
    effort: Effort,
    tolerance: &impl Fn(f64) -> f64,
    apply: &mut impl FnMut(&[f64], &mut [f64]) -> Option<()>,
) -> Option<Ritz> {
    let nodes = start.len();
    let steps = effort.steps.min(nodes.saturating_sub(1)).max(1);
    let mut basis: Vec<Vec<f64>> = vec![start];
    orthogonalise(&mut basis);
    let (mut alphas, mut betas) = (Vec::new(), Vec::<f64>::new());
    let mut look = 2;
    loop {
        let last = basis.last().expect("the start vector is there");
        let mut next = vec![0.0; nodes];
        apply(last, &mut next)?;
        alphas.push(dot(last, &next));
        basis.push(next);
        let beta = orthogonalise(&mut basis);
        let done = alphas.len();
        // A residual at rounding level: the space is invariant.
        let scale = alphas.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
        let exhausted = done == steps || beta <= 1e-14 * scale;
        if done >= look || exhausted {
            look = done + 1 + (done as f64 * effort.patience) as usize;
            let (value, weights) = top_of_tridiagonal(&alphas, &betas);
            let residual = beta * weights[done - 1].abs();
            if exhausted || residual <= tolerance(value) {
                let mut vector = vec![0.0; nodes];
                for (direction, weight) in basis.iter().zip(&weights) {
                    add(&mut vector, *weight, direction);
                }
                return Some(Ritz {
                    value,
                    residual,
                    vector,
                });
            }
        }
        betas.push(beta);
    }
}

/// Makes the last vector orthogonal to 1 and to the others (twice, which is enough: Parlett 1998) and of
/// unit length; returns its length before that.
fn orthogonalise(basis: &mut [Vec<f64>]) -> f64 {
    let Some((last, others)) = basis.split_last_mut() else {
        return 0.0;
    };
    for _ in 0..2 {
        centre(last);
        for other in others.iter() {
            let along = dot(other, last);
            add(last, -along, other);
        }
    }
    let length = dot(last, last).sqrt();
    if length > 0.0 {
        last.iter_mut().for_each(|value| *value /= length);
    }
    length
}

fn top_of_tridiagonal(alphas: &[f64], betas: &[f64]) -> (f64, Vec<f64>) {
    let k = alphas.len();
    let mut t = DMatrix::zeros(k, k);
    for i in 0..k {
        t[(i, i)] = alphas[i];
        if i + 1 < k {
            t[(i, i + 1)] = betas[i];
            t[(i + 1, i)] = betas[i];
        }
    }
    let eigen = t.symmetric_eigen();
    let top = eigen.eigenvalues.imax();
    (
        eigen.eigenvalues[top],
        eigen.eigenvectors.column(top).iter().copied().collect(),
    )
}

/// Subtracts the mean.
pub(super) fn centre(x: &mut [f64]) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    x.iter_mut().for_each(|value| *value -= mean);
}

/// xᵀy, in four interleaved sums.
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    for (a, b) in x.chunks(4).zip(y.chunks(4)) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

/// `x` += `scale` · `y`.
pub(super) fn add(x: &mut [f64], scale: f64, y: &[f64]) {
    for (a, b) in x.iter_mut().zip(y) {
        *a += scale * b;
    }
}
