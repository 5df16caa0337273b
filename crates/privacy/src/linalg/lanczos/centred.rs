//! The largest eigenvalue on the complement of the constant vector: single vectors, reorthogonalised in full.

use std::convert::Infallible;

use nalgebra::DMatrix;
use rand::distr::Distribution;

use super::super::eigen::descending;
use super::{KrylovSpace, LinearOperator, Look, lanczos};
use crate::vocabulary::{CHUNK, Label, Seed, StandardNormal};

/// How far to go.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Steps until a restart from the best vector so far.
    pub(crate) steps: usize,
    /// Runs of that many steps.
    pub(crate) cycles: usize,
    /// Steps between two looks at convergence, as a fraction of the steps made (0: look every step).
    pub(crate) patience: f64,
}

/// An approximate eigenpair.
pub(crate) struct Ritz {
    /// The approximate eigenvalue; never above the largest, but for rounding.
    pub(crate) value: f64,
    /// ‖Ax − θx‖, as the recurrence knows it: an eigenvalue of A lies this close to θ.
    pub(crate) residual: f64,
    /// Unit vector, sum 0.
    pub(crate) vector: Vec<f64>,
}

/// The fixed start of every run: reports must not depend on an experiment's seed.
pub(crate) fn probe(n: usize) -> Vec<f64> {
    let key = Seed::from_u64(0).key(Label::Probe, 0, 0);
    let mut probe = vec![0.0; n];
    for (chunk, values) in (0..).zip(probe.chunks_mut(CHUNK)) {
        let mut generator = key.stream(0, chunk);
        values.fill_with(|| StandardNormal.sample(&mut generator));
    }
    probe
}

/// Approximates the largest eigenvalue on 1^⊥ of the symmetric `operator`, which must map 1^⊥ into itself up to
/// rounding, until the residual ‖Ax − θx‖ is at most `tolerance(θ)` or the effort is spent; `None` if a product is out of
/// reach.
///
/// # Cost
/// k applications and O(n · k²) operations for k steps; 8 · n · steps bytes.
pub(crate) fn largest(
    n: usize,
    effort: Effort,
    tolerance: impl Fn(f64) -> f64,
    mut operator: impl LinearOperator<Vec<f64>>,
) -> Option<Ritz> {
    let mut space = Centred::new(probe(n), effort, tolerance);
    let found = lanczos(&mut space, &mut operator, effort.cycles);
    found.ok().map(|found| found.pairs)
}

/// Single vectors, orthogonalised against the constant vector and all before them.
struct Centred<T> {
    basis: Vec<Vec<f64>>,
    alphas: Vec<f64>,
    betas: Vec<f64>,
    /// The step after which the next look is due.
    next_look: usize,
    effort: Effort,
    tolerance: T,
}

impl<T> Centred<T> {
    fn new(start: Vec<f64>, effort: Effort, tolerance: T) -> Self {
        let mut basis = vec![start];
        orthogonalise(&mut basis);
        Self {
            basis,
            alphas: Vec::new(),
            betas: Vec::new(),
            next_look: 2,
            effort,
            tolerance,
        }
    }

    /// The largest eigenvalue of the tridiagonal matrix and its eigenvector.
    fn top(&self) -> (f64, Vec<f64>) {
        let k = self.alphas.len();
        let mut t = DMatrix::zeros(k, k);
        for i in 0..k {
            t[(i, i)] = self.alphas[i];
            if i + 1 < k {
                t[(i, i + 1)] = self.betas[i];
                t[(i + 1, i)] = self.betas[i];
            }
        }
        let (values, vectors) = descending(&t, 1);
        (values[0], vectors.iter().copied().collect())
    }
}

impl<T: Fn(f64) -> f64> KrylovSpace for Centred<T> {
    type Vectors = Vec<f64>;
    type Pairs = Ritz;
    type Error = Infallible;

    fn newest(&mut self) -> &Vec<f64> {
        &self.basis[self.basis.len() - 1]
    }

    fn extend(&mut self, image: Vec<f64>) -> Result<(), Infallible> {
        let alpha = dot(self.newest(), &image);
        self.alphas.push(alpha);
        self.basis.push(image);
        self.betas.push(orthogonalise(&mut self.basis));
        Ok(())
    }

    fn look(&mut self) -> Look<Ritz> {
        let n = self.basis[0].len();
        let steps = self.effort.steps.min(n.saturating_sub(1)).max(1);
        let done = self.alphas.len();
        let beta = self.betas[done - 1];
        // A residual at rounding level: the space is invariant.
        let scale = self.alphas.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
        let exhausted = done == steps || beta <= 1e-14 * scale;
        if done < self.next_look && !exhausted {
            return Look::Unfinished;
        }
        self.next_look = done + 1 + (done as f64 * self.effort.patience) as usize;
        let (value, weights) = self.top();
        let residual = beta * weights[done - 1].abs();
        let converged = residual <= (self.tolerance)(value);
        if !exhausted && !converged {
            return Look::Unfinished;
        }
        let mut vector = vec![0.0; n];
        for (direction, weight) in self.basis.iter().zip(&weights) {
            add(&mut vector, *weight, direction);
        }
        let pairs = Ritz {
            value,
            residual,
            vector,
        };
        if converged {
            Look::Converged(pairs)
        } else {
            Look::Full(pairs)
        }
    }

    fn restart(&mut self, pairs: &Ritz) {
        self.basis.clear();
        self.basis.push(pairs.vector.clone());
        orthogonalise(&mut self.basis);
        self.alphas.clear();
        self.betas.clear();
        self.next_look = 2;
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

/// Subtracts the mean.
pub(crate) fn centre(x: &mut [f64]) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    x.iter_mut().for_each(|value| *value -= mean);
}

/// xᵀy, in four interleaved sums.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let ((fours, rest), (others, left)) = (x.as_chunks::<4>(), y.as_chunks::<4>());
    for ([a, b, c, d], [e, f, g, h]) in fours.iter().zip(others) {
        sums[0] += a * e;
        sums[1] += b * f;
        sums[2] += c * g;
        sums[3] += d * h;
    }
    for (sum, (a, b)) in sums.iter_mut().zip(rest.iter().zip(left)) {
        *sum += a * b;
    }
    sums.iter().sum()
}

/// `x` += `scale` · `y`.
pub(crate) fn add(x: &mut [f64], scale: f64, y: &[f64]) {
    for (a, b) in x.iter_mut().zip(y) {
        *a += scale * b;
    }
}
