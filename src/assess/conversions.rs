//! The same loss in the currencies of the literature, for comparison.

use serde::Serialize;

use crate::privacy::ring::distance;
use crate::privacy::{Loss, PrivacyError};
use crate::scenario::Experiment;

/// Rényi orders that reports print.
const ORDERS: [f64; 5] = [1.5, 2.0, 4.0, 16.0, 64.0];

/// What one view costs, converted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Conversions {
    /// Who looks.
    pub view: String,
    /// ρ of zero-concentrated differential privacy.
    pub rho: f64,
    /// Exact ε at the experiment's δ.
    pub epsilon_exact: f64,
    /// ε by the best conversion from ρ (Canonne, Kamath & Steinke 2020).
    pub epsilon_zcdp: f64,
    /// ε by the conversion the papers use (Bun & Steinke 2016).
    pub epsilon_paper: f64,
    /// Exact δ at the ε asked for.
    pub delta_at_target: f64,
    /// (α, Rényi divergence of order α), exact.
    pub renyi: Vec<(f64, f64)>,
}

/// Every view of the plan, converted; none of Laplace and Wishart noise, whose loss is no Gaussian's.
///
/// # Errors
/// [`PrivacyError`] for a plan whose μ is not a number; no plan has one.
pub(super) fn conversions(experiment: &Experiment) -> Result<Vec<Conversions>, PrivacyError> {
    let noise = experiment.noise();
    let (true, Some(asked)) = (noise.is_gaussian(), experiment.delta()) else {
        return Ok(Vec::new());
    };
    let off = noise.ring().map_or(0.0, |ring| ring.sampler_distance());
    let target = crate::privacy::Epsilon::new(experiment.config().privacy.epsilon)?;
    let convert = |view: &crate::privacy::View| {
        let loss = Loss::new(view.mu)?;
        // What a sampler's distance from its law leaves of delta; where that is nothing, epsilon is infinite in the view.
        let left = distance::left(view.epsilon, asked, off);
        let delta = left.unwrap_or(asked);
        Ok(Conversions {
            view: view.view.clone(),
            rho: loss.rho(),
            epsilon_exact: loss.epsilon(delta),
            epsilon_zcdp: loss.zcdp_epsilon(delta),
            epsilon_paper: loss.paper_epsilon(delta),
            delta_at_target: distance::delta(view.mu, target.get(), off, (view.epsilon, asked)),
            renyi: ORDERS
                .iter()
                .map(|&order| (order, loss.renyi(order)))
                .collect(),
        })
    };
    experiment.noise().views().iter().map(convert).collect()
}
