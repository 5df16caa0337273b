//! How far rounding can have driven Lanczos vectors from orthonormal, without looking at them.
//!
//! # Statement and proof (Simon 1984, made a bound)
//! Let β_j v_{j+1} = Av_j − α_jv_j − β_{j−1}v_{j−1} + f_j hold exactly with the α, β actually used, A symmetric,
//! ‖f_j‖ ≤ φ, and ω_{ji} = v_jᵀv_i. Multiplying by v_iᵀ and subtracting the same with i and j exchanged,
//! β_jω_{j+1,i} = β_iω_{j,i+1} + (α_i − α_j)ω_{ji} + β_{i−1}ω_{j,i−1} − β_{j−1}ω_{j−1,i} + v_iᵀf_j − v_jᵀf_i.
//! Taking absolute values bounds ω_{j+1,i} for i < j; the two neighbours ω_{jj} − 1 and ω_{j+1,j} are as good as
//! the inner products that made α_j and β_j. For i = j − 1 the two terms with squared norms cancel up to those
//! errors. ∎ No reorthogonalisation is assumed. The bound grows by a factor of at most about 3 per step while
//! no Ritz value has converged, and explodes when one does: then it is rightly worthless.

use super::lanczos::Coefficients;

/// For every k, an upper bound on ‖VᵀV − I‖_F over the first k + 1 vectors, index 0 for k = 0.
pub(super) fn defects(coefficients: &Coefficients) -> Vec<f64> {
    if let Some(overlaps) = &coefficients.overlaps {
        return measured(coefficients, overlaps);
    }
    let Coefficients {
        alphas,
        betas,
        local,
        dot,
        norm,
        ..
    } = coefficients;
    let steps = betas.len();
    let (phi, unit) = (*local, *dot);
    let beta = |j: usize| if j == 0 { 0.0 } else { betas[j - 1] };
    // Vectors count from 1; row j holds bounds on |ω_{ji}| for i < j.
    let mut before: Vec<f64> = Vec::new();
    let mut row: Vec<f64> = vec![0.0; 2];
    let mut squares = unit * unit;
    let mut all = vec![unit];
    for j in 1..=steps {
        if beta(j) == 0.0 {
            // Exhausted: there is no vector j + 1.
            all.push(all[j - 1]);
            break;
        }
        let mut next = vec![0.0; j + 2];
        next[j] = (2.0 * unit * norm + phi) / beta(j);
        for i in 1..j {
            let after = if i + 1 == j {
                0.0
            } else {
                beta(i) * row[i + 1]
            };
            let earlier = if i + 1 == j {
                0.0
            } else {
                beta(j - 1) * before[i]
            };
            let diagonal = if i + 1 == j {
                2.0 * unit * beta(i)
            } else {
                0.0
            };
            let here = (alphas[i - 1] - alphas[j - 1]).abs() * row[i] + beta(i - 1) * row[i - 1];
            let sum = after + earlier + diagonal + here + 2.0 * phi * (1.0 + unit);
            next[i] = sum * (1.0 + 1e-12) / beta(j);
        }
        let off: f64 = next[1..=j].iter().map(|omega| omega * omega).sum();
        squares += unit * unit + 2.0 * off;
        all.push(squares.sqrt());
        before = row;
        row = next;
    }
    all
}

/// The same where the overlaps were measured.
fn measured(coefficients: &Coefficients, overlaps: &[f64]) -> Vec<f64> {
    let unit = coefficients.dot;
    let mut squares = unit * unit;
    let mut all = vec![unit];
    for overlap in overlaps {
        squares += unit * unit + 2.0 * overlap;
        all.push(squares.sqrt());
    }
    // Where the space was exhausted there is no further vector.
    if all.len() <= coefficients.betas.len() {
        all.push(squares.sqrt());
    }
    all
}
