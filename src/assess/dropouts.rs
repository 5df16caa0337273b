//! What a session that tolerates losses costs, by what goes wrong in it.

use serde::Serialize;

use crate::privacy::PrivacyError;
use crate::privacy::accountant::{PublicGraph, certified_variance_factors};
use crate::scenario::Experiment;

/// The cost of the worst-placed peer in one case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DropoutCost {
    /// What goes wrong, in words.
    pub case: String,
    /// How many peers are lost, whichever.
    pub lost: usize,
    /// How many retries are spent.
    pub retries: u32,
    /// How many peers collude, whichever.
    pub colluders: usize,
    /// μ at most.
    pub mu: f64,
    /// Its ε at the δ asked for, at most.
    pub epsilon: f64,
}

/// What it costs if nobody is lost, if all are that may be, and if all retries are spent besides: the last is what noise was planned for. Empty where
/// nothing is tolerated or nobody is protected.
///
/// # Errors
/// [`PrivacyError`]; not for a plan that was made.
pub(super) fn dropout_costs(experiment: &Experiment) -> Result<Vec<DropoutCost>, PrivacyError> {
    let (Some(dropouts), Some(delta)) = (experiment.config().dropouts, experiment.delta()) else {
        return Ok(Vec::new());
    };
    if !experiment.is_private() {
        return Ok(Vec::new());
    }
    let noise = experiment.noise();
    let spectrum = experiment.noise_topology().spectrum();
    let connectivity = spectrum.algebraic_connectivity.into();
    let public = PublicGraph::new(experiment.noise_topology().graph(), connectivity);
    let (own, pairwise) = (noise.sigma_own().powi(2), noise.sigma_pairwise().powi(2));
    let colluders = experiment.config().privacy.colluders;
    let cost = |case: &str, lost: usize, retries: u32| {
        let factors = certified_variance_factors(&public, own, pairwise, colluders + lost)?;
        let worst = factors.iter().map(|one| one.factor).fold(0.0, f64::max);
        let releases = match retries {
            0 => experiment.even_iterations_at_best(),
            _ => experiment.even_iterations(),
        };
        let mu = (releases * worst).sqrt();
        Ok::<_, PrivacyError>(DropoutCost {
            case: case.to_owned(),
            lost,
            retries,
            colluders,
            mu,
            epsilon: noise.epsilon_of(mu, delta),
        })
    };
    let lost = dropouts.tolerate;
    let [all, worst] = match lost {
        1 => [
            "if one peer is lost".to_owned(),
            "worst case: one lost, all retries spent".to_owned(),
        ],
        lost => [
            format!("if {lost} peers are lost"),
            format!("worst case: {lost} lost, all retries spent"),
        ],
    };
    Ok(vec![
        cost("if nobody is lost", 0, 0)?,
        cost(&all, lost, 0)?,
        cost(&worst, lost, dropouts.retries)?,
    ])
}
