//! What coalitions of each size can do on this experiment's noise graph: at least, at most, and who.

use serde::Serialize;

use crate::privacy::accountant::{PublicGraph, worst_coalition};
use crate::privacy::{
    Advice, Certificate, Connectivity, PrivacyError, RegularAdvice, advise as advise_graph,
    gaussian,
};
use crate::scenario::Experiment;

/// About a second of looking per coalition size.
const BUDGET: f64 = 5e8;

/// The worst coalition of one size, over all iterations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorstCoalition {
    /// Number of colluding peers.
    pub colluders: usize,
    /// ε that the named coalition learns about the named peer: a lower bound on the worst.
    pub epsilon_at_least: f64,
    /// ε that no coalition of the size exceeds about any peer, by the proof that `certificate` names.
    pub epsilon_at_most: f64,
    /// Names of the colluding peers that attain the lower end.
    pub attained_by: Vec<String>,
    /// The name of the peer they learn about.
    pub victim: String,
    /// Whether every coalition of the size was looked at.
    pub exhaustive: bool,
    /// How the upper end is known.
    pub certificate: Certificate,
}

/// The worst coalitions of every size that the plan has a view for. Empty for schemes that need none: without
/// pairwise noise coalitions learn what the views say, exactly, and of Laplace and Wishart noise no more is known.
///
/// # Errors
/// [`PrivacyError`] if the accountant refuses.
pub(crate) fn worst_coalitions(
    experiment: &Experiment,
) -> Result<Vec<WorstCoalition>, PrivacyError> {
    let noise = experiment.noise();
    // Behind a holder of Laplace noise every peer has what the views say, whoever colludes.
    let (true, Some(delta)) = (noise.is_gaussian(), experiment.delta()) else {
        return Ok(Vec::new());
    };
    if noise.sigma_pairwise() <= 0.0 {
        return Ok(Vec::new());
    }
    let graph = experiment.noise_topology().graph();
    let public = PublicGraph::new(graph, connectivity(experiment));
    let iterations = experiment.promised_iterations();
    let (own, pairwise) = (noise.sigma_own().powi(2), noise.sigma_pairwise().powi(2));
    let epsilon = |factor: f64| gaussian::epsilon((iterations * factor).sqrt(), delta);
    let mut found = Vec::new();
    for view in noise.views() {
        let bracket = worst_coalition(&public, own, pairwise, view.colluders, BUDGET)?;
        // The plan's certificate and this one are both valid: the smaller counts.
        let plan = (view.epsilon, view.certificate);
        let here = (epsilon(bracket.at_most), bracket.by);
        let (at_most, certificate) = if here.0 < plan.0 { here } else { plan };
        found.push(WorstCoalition {
            colluders: view.colluders,
            // Where both ends are exact they may cross in the last digits; a lower end beyond that would be news.
            epsilon_at_least: crossed_by_rounding(epsilon(bracket.at_least), at_most),
            epsilon_at_most: at_most,
            attained_by: bracket
                .attained_by
                .iter()
                .map(|&peer| graph.name(peer as usize))
                .collect(),
            victim: graph.name(bracket.victim as usize),
            exhaustive: bracket.exhaustive,
            certificate,
        });
    }
    Ok(found)
}

/// [`Advice`] with peers by name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedAdvice {
    /// The certified gap of the graph as it is.
    pub gap: f64,
    /// Edges to add to the noise graph, by the names of their ends, in the order found.
    pub edges: Vec<(String, String)>,
    /// The certified gap with them.
    pub reached: f64,
    /// Or the noise graph to use instead, where one was looked for.
    pub regular: Option<RegularAdvice>,
}

/// Which edges to add to the noise graph, or which random regular graph to use, so that the gap to central
/// privacy falls to `target_gap` against the configured coalition.
///
/// # Errors
/// [`PrivacyError`] if no graph reaches the target.
pub(crate) fn advise(
    experiment: &Experiment,
    target_gap: f64,
) -> Result<NamedAdvice, PrivacyError> {
    let graph = experiment.noise_topology().graph();
    let Advice {
        gap,
        edges,
        reached,
        regular,
    } = advise_graph(graph, experiment.config().privacy.colluders, target_gap)?;
    let name = |peer: u32| graph.name(peer as usize);
    Ok(NamedAdvice {
        gap,
        edges: edges.iter().map(|&(u, v)| (name(u), name(v))).collect(),
        reached,
        regular,
    })
}

fn crossed_by_rounding(low: f64, high: f64) -> f64 {
    if low > high && low <= high * (1.0 + 1e-6) {
        high
    } else {
        low
    }
}

fn connectivity(experiment: &Experiment) -> Connectivity {
    let lambda2 = experiment
        .noise_topology()
        .spectrum()
        .algebraic_connectivity;
    Connectivity::from(lambda2)
}
