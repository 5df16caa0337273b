//! What the adversary does if pairwise noise does not have the planned size.
//!
//! The graph and both σ's are public, and so is what every peer publishes. Its own contribution aside, an honest peer's
//! residual has variance σ_η² + f²σ_Δ²·deg, where f is the true size of the pairwise noise over the planned one and deg
//! counts honest partners: the mean over all honest peers but the victim, whose residual the canary moves, gives f away. The
//! adversary takes the closest f of a short list and plays the likelihood ratio of that covariance. On the plan f is 1.

use nalgebra::{DMatrix, DVector};

use super::error::AuditError;
use crate::plan::Plan;

/// Sizes of pairwise noise that the adversary considers, over the planned one.
pub(super) const SIZES: [f64; 6] = [0.0, 0.1, 0.25, 0.5, 1.0, 2.0];

/// Below this size over the planned one, pairwise noise counts as none.
const NONE: f64 = 0.03;

/// Optimal weights for pairwise noise of several sizes.
pub(super) struct Scaled {
    /// By size: Σ_H⁻¹ e_u per unit sensitivity, 0 for colluders.
    weights: Vec<Vec<f64>>,
    own: f64,
    /// σ_Δ² times the mean number of honest partners over honest peers but the victim.
    pairwise: f64,
}

impl Scaled {
    /// For this victim and these colluders.
    pub(super) fn new(plan: &Plan, victim: usize, colludes: &[bool]) -> Result<Self, AuditError> {
        let weights = SIZES.map(|size| weights(plan, victim, colludes, size * size));
        let graph = plan.network().noise_topology.graph();
        let others = (0..graph.nodes()).filter(|&v| v != victim && !colludes[v]);
        let degrees: Vec<usize> = others
            .map(|v| {
                let honest = graph.neighbours(v).iter();
                honest.filter(|&&w| !colludes[w as usize]).count()
            })
            .collect();
        let mean = degrees.iter().sum::<usize>() as f64 / degrees.len().max(1) as f64;
        Ok(Self {
            weights: weights.into_iter().collect::<Result<_, _>>()?,
            own: plan.guarantee().noise().sigma_own().powi(2),
            pairwise: plan.guarantee().noise().sigma_pairwise().powi(2) * mean,
        })
    }

    /// The weight of peer `v` for each of [`SIZES`].
    pub(super) fn of(&self, v: usize) -> [f64; SIZES.len()] {
        std::array::from_fn(|k| self.weights[k][v])
    }

    /// The index in [`SIZES`] that explains a mean square of the residuals, per unit sensitivity, best.
    pub(super) fn size(&self, mean_square: f64) -> usize {
        let planned = SIZES.iter().position(|&size| size == 1.0).unwrap_or(0);
        if self.pairwise <= 0.0 || !mean_square.is_finite() {
            return planned;
        }
        let found = ((mean_square - self.own) / self.pairwise).max(0.0).sqrt();
        let distance = |size: f64| (found.max(NONE) / size.max(NONE)).ln().abs();
        let closest = |&i: &usize, &j: &usize| distance(SIZES[i]).total_cmp(&distance(SIZES[j]));
        (0..SIZES.len()).min_by(closest).unwrap_or(planned)
    }
}

/// What takes the place of the weights where masks are uniform: the sum over the victim's honest piece is all there is to see, and its
/// variance is n σ_η².
fn sum_of_piece(plan: &Plan, victim: usize, colludes: &[bool]) -> Vec<f64> {
    let graph = plan.network().noise_topology.graph();
    let coalition: Vec<u32> = (0_u32..)
        .zip(colludes)
        .filter(|(_, c)| **c)
        .map(|(v, _)| v)
        .collect();
    let pieces = graph.components_without(&coalition);
    let size = pieces
        .iter()
        .filter(|piece| **piece == pieces[victim])
        .count();
    let weight = 1.0 / (size as f64 * plan.guarantee().noise().sigma_own().powi(2));
    let inside = |piece: &Option<u32>| {
        if *piece == pieces[victim] {
            weight
        } else {
            0.0
        }
    };
    pieces.iter().map(inside).collect()
}

/// Σ_H⁻¹ e_u by a dense solve, with zeros at the colluders, where pairwise noise has `factor` times the planned variance.
pub(super) fn weights(
    plan: &Plan,
    victim: usize,
    colludes: &[bool],
    factor: f64,
) -> Result<Vec<f64>, AuditError> {
    let graph = plan.network().noise_topology.graph();
    if plan.guarantee().noise().ring().is_some() {
        return Ok(sum_of_piece(plan, victim, colludes));
    }
    let (own, pairwise) = (
        plan.guarantee().noise().sigma_own().powi(2),
        plan.guarantee().noise().sigma_pairwise().powi(2) * factor,
    );
    let honest: Vec<usize> = (0..graph.nodes()).filter(|&v| !colludes[v]).collect();
    let position = |v: usize| honest.binary_search(&v).ok();
    let mut covariance = DMatrix::zeros(honest.len(), honest.len());
    for (i, &v) in honest.iter().enumerate() {
        covariance[(i, i)] += own;
        for j in graph
            .neighbours(v)
            .iter()
            .filter_map(|&w| position(w as usize))
        {
            covariance[(i, i)] += pairwise;
            covariance[(i, j)] -= pairwise;
        }
    }
    let mut unit = DVector::zeros(honest.len());
    unit[position(victim).expect("the victim is honest")] = 1.0;
    let factor = covariance.cholesky().ok_or(AuditError::Covariance)?;
    let solved = factor.solve(&unit);
    let mut weights = vec![0.0; graph.nodes()];
    for (&v, &weight) in honest.iter().zip(solved.iter()) {
        weights[v] = weight;
    }
    Ok(weights)
}
