//! How far a probe's averaging is from exact: rows of D = s·p_K(W) − 11ᵀ.

use rayon::prelude::*;

use crate::engine::Session;
use crate::vocabulary::PeerIndex;

/// The rows D_u of the probes, each of one entry per peer.
///
/// # Claim
/// Row u of D is s·p_K(W)(e_u − 1/s), transposed.
///
/// # Proof
/// W is symmetric, so row u of P is p_K(W)e_u; p_K(1) = 1 because the coefficients of every round sum to 1, so
/// p_K(W)1 = 1, and s·p_K(W)e_u − 1 = s·p_K(W)(e_u − 1/s). ∎
///
/// The start has mean 0 and every round keeps that. Rounding would not: an error along 1 is the only one that averaging
/// does not shrink, so every round takes the mean away again. What is left is as accurate as D is large.
///
/// # Cost
/// O(K·edges) per probe; the same bits whatever the number of threads.
pub(super) fn rows(session: &Session, probes: &[PeerIndex]) -> Vec<Vec<f64>> {
    probes
        .par_iter()
        .map(|probe| row(session, *probe))
        .collect()
}

fn row(session: &Session, probe: PeerIndex) -> Vec<f64> {
    let peers = session.peers();
    let mut now = vec![-1.0 / peers as f64; peers];
    now[probe.index()] += 1.0;
    let mut before = now.clone();
    let mut next = vec![0.0; peers];
    for coefficients in &session.plan().parameters().schedule {
        session.mixing().multiply(session.graph(), &now, &mut next);
        for ((out, x), b) in next.iter_mut().zip(&now).zip(&before) {
            *out = coefficients.mixed * *out + coefficients.current * x + coefficients.previous * b;
        }
        centre(&mut next);
        std::mem::swap(&mut before, &mut now);
        std::mem::swap(&mut now, &mut next);
    }
    for value in &mut now {
        *value *= peers as f64;
    }
    now
}

fn centre(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    for value in values {
        *value -= mean;
    }
}
