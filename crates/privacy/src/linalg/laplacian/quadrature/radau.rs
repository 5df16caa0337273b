//! Certified lower and upper ends of eᵀA⁻¹e from the coefficients of a Krylov space (Gauss–Radau).
//!
//! # Statement
//! Let A ≻ 0 with A ⪰ aI on a subspace that contains e and is invariant. For every x in it, with r = e − Ax,
//! **xᵀ(e + r) ≤ eᵀA⁻¹e ≤ xᵀ(e + r) + ‖r‖²/a**.
//!
//! # Proof
//! eᵀA⁻¹e = (Ax + r)ᵀA⁻¹(Ax + r) = xᵀAx + 2xᵀr + rᵀA⁻¹r = xᵀ(e + r) + rᵀA⁻¹r, and 0 ≤ rᵀA⁻¹r ≤ ‖r‖²/a. ∎
//!
//! # Which x
//! In the Krylov space of k steps the largest lower end is x = V·T⁻¹e₁ (Gauss quadrature, conjugate gradients).
//! The smallest upper end solves T y = e₁ − y_kδ with (T − a)δ = β_k²e_k: setting the gradient of
//! 2y₁ − yᵀTy + ‖e₁ − T₊y‖²/a to 0 (T₊ is T with the row β_ke_kᵀ below) gives (T − a)(Ty − e₁) = −β_k²y_ke_k.
//! That is Golub's modified last row: the value *is* Gauss–Radau quadrature with a node at a (Golub & Meurant 1994), here
//! without any use of orthogonal polynomials.
//!
//! # Rounding
//! The y found need not be optimal: the statement holds for every x. With V the computed vectors,
//! ‖VᵀV − I‖ ≤ ω ([`super::orthogonality`]) and AV = V₊T₊ − F, ‖F‖ ≤ φ√k: r = V₊c + Fy, c = e₁ − T₊y, so xᵀe,
//! xᵀr, ‖r‖ differ from y₁, yᵀc, ‖c‖ by at most ω‖y‖, ω‖y‖‖c‖ + (1 + ω)φ√k‖y‖² and ω‖c‖ + φ√k‖y‖ (e has
//! length 1 here). What computing y₁ + yᵀc itself may get wrong is charged as part of φ. ∎

use super::lanczos::Coefficients;

/// Ends of eᵀA⁻¹e for A = ε + B.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub low: f64,
    pub high: f64,
}

/// Half a unit in the last place of 1.
const UNIT: f64 = f64::EPSILON / 2.0;

/// The ends after the first k steps, `defect` being ω of those, with `epsilon` = ε > 0 and `floor` = a ≥ ε.
pub(super) fn ends(
    coefficients: &Coefficients,
    k: usize,
    defect: f64,
    epsilon: f64,
    floor: f64,
) -> Ends {
    let square = coefficients.start * coefficients.start * (1.0 + 8.0 * UNIT);
    let trivial = Ends {
        low: 0.0,
        high: square / floor,
    };
    if k == 0 || defect.is_nan() || defect >= 0.5 {
        return trivial;
    }
    let (gauss, radau) = candidates(coefficients, k, epsilon, floor);
    let value = |y: &[f64]| certificate(coefficients, epsilon, defect, y);
    let low = gauss.as_deref().map_or(0.0, |y| {
        let found = value(y);
        found.value - found.allowance
    });
    let upper = |y: &[f64]| {
        let found = value(y);
        found.value + found.allowance + found.residual * found.residual / floor
    };
    // Where the floor lies within rounding of a Ritz value Golub's row is singular; the Gauss solution serves.
    let high = [radau.as_deref(), gauss.as_deref()]
        .into_iter()
        .flatten()
        .map(upper)
        .fold(f64::INFINITY, f64::min);
    Ends {
        low: (square * low * (1.0 - 32.0 * UNIT)).max(0.0),
        high: (square * high * (1.0 + 32.0 * UNIT)).min(trivial.high),
    }
}

/// Upper bounds on ‖r‖ and ‖x‖ for the Radau solution after k steps with a = `aim` (a choice, not a claim), or for
/// x = 0.
pub(super) fn solution(
    coefficients: &Coefficients,
    k: usize,
    defect: f64,
    epsilon: f64,
    aim: f64,
) -> (f64, f64) {
    if k == 0 || defect.is_nan() || defect >= 0.5 {
        return (1.0, 0.0);
    }
    let (gauss, radau) = candidates(coefficients, k, epsilon, aim);
    radau.or(gauss).map_or((1.0, 0.0), |y| {
        let length = y.iter().map(|y| y * y).sum::<f64>().sqrt();
        let residual = certificate(coefficients, epsilon, defect, &y).residual;
        (residual, length * (1.0 + defect) * (1.0 + 32.0 * UNIT))
    })
}

/// The y of Gauss and of Radau quadrature, where the systems are solvable.
type Candidates = (Option<Vec<f64>>, Option<Vec<f64>>);

fn candidates(coefficients: &Coefficients, k: usize, epsilon: f64, floor: f64) -> Candidates {
    let diagonal: Vec<f64> = coefficients.alphas[..k]
        .iter()
        .map(|a| a + epsilon)
        .collect();
    let betas = &coefficients.betas[..k];
    let last = betas[k - 1];
    let mut unit = vec![0.0; k];
    unit[0] = 1.0;
    let gauss = solve(&diagonal, betas, 0.0, &unit);
    unit[0] = 0.0;
    unit[k - 1] = last * last;
    let delta = solve(&diagonal, betas, floor, &unit);
    let radau = match (&gauss, delta) {
        (Some(gauss), Some(delta)) => solve(&diagonal, betas, 0.0, &delta).map(|extra| {
            let weight = gauss[k - 1] / (1.0 + extra[k - 1]);
            let pairs = gauss.iter().zip(&extra);
            pairs.map(|(g, e)| g - weight * e).collect::<Vec<f64>>()
        }),
        _ => None,
    };
    (gauss, radau)
}

/// xᵀ(e + r) with its allowance, and a bound on ‖r‖.
struct Certificate {
    value: f64,
    allowance: f64,
    residual: f64,
}

fn certificate(coefficients: &Coefficients, epsilon: f64, defect: f64, y: &[f64]) -> Certificate {
    let k = y.len();
    let betas = &coefficients.betas;
    let mut value = y[0];
    let mut square = 0.0;
    for i in 0..=k {
        let mut c = if i == 0 { 1.0 } else { 0.0 };
        if i < k {
            c -= (coefficients.alphas[i] + epsilon) * y[i];
        }
        if i > 0 {
            c -= betas[i - 1] * y[i - 1];
        }
        if i + 1 < k {
            c -= betas[i] * y[i + 1];
        }
        square += c * c;
        if i < k {
            value += y[i] * c;
        }
    }
    let length = y.iter().map(|y| y * y).sum::<f64>().sqrt();
    let norm = square.sqrt();
    // φ√k, and the roundings of c and of the sums above.
    let local = coefficients.local * (k as f64).sqrt()
        + (k as f64 + 16.0) * UNIT * (coefficients.norm + (1.0 + norm) / length);
    Certificate {
        value,
        allowance: length * (defect * (1.0 + norm) + (1.0 + defect) * local * length),
        residual: (norm * (1.0 + defect) + local * length) * (1.0 + 32.0 * UNIT),
    }
}

/// (T − a)⁻¹b for the tridiagonal T, if all pivots are positive and the result is finite.
fn solve(diagonal: &[f64], betas: &[f64], a: f64, b: &[f64]) -> Option<Vec<f64>> {
    let k = b.len();
    let mut pivots = Vec::with_capacity(k);
    let mut x = b.to_vec();
    for i in 0..k {
        let mut pivot = diagonal[i] - a;
        if i > 0 {
            let factor = betas[i - 1] / pivots[i - 1];
            pivot -= factor * betas[i - 1];
            x[i] -= factor * x[i - 1];
        }
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        pivots.push(pivot);
    }
    for i in (0..k).rev() {
        if i + 1 < k {
            x[i] -= betas[i] * x[i + 1];
        }
        x[i] /= pivots[i];
    }
    x.iter().all(|value| value.is_finite()).then_some(x)
}
