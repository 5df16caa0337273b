//! From Krylov spaces to the diagonal of the inverse: which bound, which units, how many steps.

use super::super::matrix::ShiftedLaplacian;
use super::lanczos::{Mode, Start};
use super::operator::Operator;
use super::radau;
use super::scalar::Scalar;
use super::spaces::{Space, spaces};
use crate::linalg::bracket::Bracket;

/// What turns quadrature in units of B into diagonal of the inverse.
pub(super) struct View<'a> {
    pub(super) sigma: &'a ShiftedLaplacian,
    /// What quadrature leaves out, the same for everybody.
    pub(super) common: Bracket,
    /// What e_uᵀA⁻¹e_u, in units of 1/s, is divided by: one number per row.
    pub(super) divisors: Vec<f64>,
    /// 1/s, A = s(1/s + B); 0 if A = B.
    pub(super) epsilon: f64,
    /// A certified lower bound on A off its null vector, in units of s.
    pub(super) floor: f64,
}

impl<'a> View<'a> {
    pub(super) fn new<S: Scalar>(
        sigma: &'a ShiftedLaplacian,
        operator: &Operator<'_, S>,
        connectivity: f64,
    ) -> Self {
        let scale = operator.scale;
        let epsilon = 1.0 / scale;
        // λ₂(𝓛) ≥ λ₂(K)/max d by the minimax principle; d ≤ max d is what scaling divided by at most.
        let largest = sigma.own.iter().copied().fold(0.0, f64::max);
        let known = if connectivity > 0.0 && connectivity.is_finite() {
            connectivity / sigma.unit / largest / scale * (1.0 - 1e-12)
        } else {
            0.0
        };
        Self {
            sigma,
            common: Bracket::rounded(1.0 / sigma.total_own()),
            divisors: sigma.own.iter().map(|own| scale * own).collect(),
            epsilon,
            floor: epsilon * (1.0 - 1e-15) + known,
        }
    }

    /// The ends for row u from the first k steps, in units of 1/s. Both the longest space and the longest that is
    /// surely orthogonal are proofs; the better end of each counts.
    fn ends(&self, space: &Space, k: usize) -> radau::Ends {
        let k = k.min(space.steps());
        let at = |k: usize| {
            radau::ends(
                &space.coefficients,
                k,
                space.defects[k],
                self.epsilon,
                self.floor,
            )
        };
        let mut best = at(k);
        for limit in [1e-2, 1e-6, 1e-9] {
            if space.defects[k] > limit
                && let Some(shorter) = (1..k).rev().find(|&k| space.defects[k] <= limit)
            {
                let other = at(shorter);
                best.low = best.low.max(other.low);
                best.high = best.high.min(other.high);
            }
        }
        best
    }

    /// v_u of row u.
    fn bracket(&self, u: usize, space: &Space, k: usize) -> Bracket {
        let ends = self.ends(space, k);
        // The lower end converges faster.
        Bracket::new(ends.low, ends.low, ends.high)
            .times(1.0 / self.divisors[u])
            .plus(self.common)
            .times(1.0 / self.sigma.unit)
    }

    /// v_u of these rows after so many steps.
    pub(super) fn brackets<S: Scalar, const W: usize>(
        &self,
        operator: &Operator<'_, S>,
        rows: &[u32],
        steps: usize,
        mode: Mode,
    ) -> Vec<Bracket> {
        let starts: Vec<Start> = rows.iter().map(|&u| Start::unit(operator, u)).collect();
        spaces::<S, W, Bracket>(operator, &starts, steps, mode, |index, space| {
            self.bracket(rows[index] as usize, &space, steps)
        })
    }

    /// The widest gap among the pilots and the number of steps it takes: the least that reaches half of `gap`, or
    /// the one that serves them best.
    pub(super) fn steps(
        &self,
        pilots: &[u32],
        spaces: &[Space],
        limit: usize,
        gap: f64,
    ) -> (f64, usize) {
        let mut best = (f64::INFINITY, 1);
        for k in 1..=limit {
            let worst = pilots
                .iter()
                .zip(spaces)
                .map(|(&u, space)| self.bracket(u as usize, space, k).gap())
                .fold(0.0, f64::max);
            if worst <= 0.5 * gap {
                return (worst, k);
            }
            if worst < 0.9 * best.0 {
                best = (worst, k);
            }
        }
        best
    }
}
