//! What a pilot costs, what is left for the run that is chosen by it, and what both cost together.

use serde::Serialize;

use crate::plan::BudgetShare;
use crate::privacy::gaussian;
use crate::scenario::Experiment;

/// What one adversary learns from a pilot, from whatever is chosen by it, and from both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartCost {
    /// Who looks.
    pub view: String,
    /// Number of colluding peers.
    pub colluders: usize,
    /// Of the pilot.
    pub pilot: Spent,
    /// Of the run that follows, whichever it is.
    pub rest: Spent,
    /// Of both.
    pub both: Spent,
}

/// μ, and its ε at the δ asked for, in nats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spent {
    /// μ.
    pub mu: f64,
    /// ε.
    pub epsilon: f64,
}

/// What a pilot and a session after it cost, view by view; none where neither adds noise, or where `rest` has no part of its budget taken by a pilot.
///
/// A plan says of every view its μ as if the session had the whole budget; with a part p of μ² it costs √p times as much, and both together the root of
/// the sum of squares (proof: [`BudgetShare`]). A calibration that gives every number of iterations the same μ (`analytic`) gives every session that can be
/// chosen what `rest` has; under another one, sessions of more iterations than `rest` differ as that calibration says.
#[must_use]
pub(crate) fn part_costs(pilot: &Experiment, rest: &Experiment) -> Vec<PartCost> {
    let (Some(first), Some(later), Some(delta)) = (pilot.part(), rest.part(), rest.delta()) else {
        return Vec::new();
    };
    let of = |part: BudgetShare, mu: f64| part.get().sqrt() * mu;
    let spent = |mu: f64| Spent {
        mu,
        epsilon: gaussian::epsilon(mu, delta),
    };
    let pairs = pilot.noise().views().iter().zip(rest.noise().views());
    pairs
        .map(|(before, after)| {
            let (before_mu, after_mu) = (of(first, before.mu), of(later, after.mu));
            PartCost {
                view: after.view.clone(),
                colluders: after.colluders,
                pilot: spent(before_mu),
                rest: spent(after_mu),
                both: spent(before_mu.hypot(after_mu)),
            }
        })
        .collect()
}
