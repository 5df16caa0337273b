//! What each peer's data costs against one given coalition, exactly.

use serde::Serialize;

use crate::privacy::accountant::{AccountOptions, NoiseCovariance, account};
use crate::privacy::{Delta, PrivacyError, gaussian};
use crate::scenario::Experiment;
use crate::topology::PeerNameError;

/// The loss of one honest peer over all iterations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeerCost {
    /// The peer's name.
    pub peer: String,
    /// Its number of noise partners that do not collude.
    pub honest_partners: usize,
    /// Certified lower end of ε.
    pub epsilon_low: f64,
    /// The best single number.
    pub epsilon: f64,
    /// Certified upper end of ε.
    pub epsilon_high: f64,
    /// μ of the best single number.
    pub mu: f64,
}

/// Why the costs against a coalition cannot be said.
#[derive(Debug, thiserror::Error)]
pub enum PeerCostError {
    /// A name that is no peer's, or occurs twice.
    #[error("the coalition: {0}")]
    Name(#[from] PeerNameError),
    /// The accountant refuses.
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
}

/// The cost of every honest peer where all that a coalition learns is the sum of a peer's piece.
fn costs_in_ring(experiment: &Experiment, coalition: &[u32], delta: Delta) -> Vec<PeerCost> {
    let (noise, graph) = (experiment.noise(), experiment.noise_topology().graph());
    let pieces = graph.components_without(coalition);
    let sizes = graph.component_sizes_without(coalition);
    let variance = noise.sigma_own().powi(2);
    let mu = |factor: f64| (experiment.promised_iterations() * factor / variance).sqrt();
    let epsilon = |mu: f64| noise.epsilon_of(mu, delta);
    let costs = pieces.iter().enumerate().filter_map(|(peer, piece)| {
        let size = sizes[(*piece)? as usize];
        let ring = noise.ring()?;
        let (low, high) = (mu(ring.factor_at_least(size)), mu(ring.factor(size)));
        let partners = graph.neighbours(peer).iter();
        Some(PeerCost {
            peer: graph.name(peer),
            honest_partners: partners.filter(|&v| !coalition.contains(v)).count(),
            epsilon_low: epsilon(low),
            epsilon: epsilon(high),
            epsilon_high: epsilon(high),
            mu: high,
        })
    });
    costs.collect()
}

/// The cost of every honest peer against the peers named in `coalition`, in peer order. Empty where nobody sees single
/// inputs (engines `central` and `federated`), nothing is protected, or noise is Laplace or Wishart: there the views say it all.
///
/// Names are those of the graph's file ([`Experiment::peers_named`]); they become indices here, and below all is by index.
///
/// # Errors
/// [`PeerCostError`] for a coalition with repeated or unknown peers, or of everybody.
///
/// # Cost
/// That of [`account`]: seconds for ten thousand peers.
pub(crate) fn peer_costs(
    experiment: &Experiment,
    coalition: &[String],
) -> Result<Vec<PeerCost>, PeerCostError> {
    let coalition = &experiment.peers_named(coalition)?;
    let noise = experiment.noise();
    let (true, Some(delta)) = (noise.is_gaussian(), experiment.delta()) else {
        return Ok(Vec::new());
    };
    if experiment.config().engine.kind.reveals_only_sums() || noise.sigma_own() <= 0.0 {
        return Ok(Vec::new());
    }
    let graph = experiment.noise_topology().graph();
    if noise.ring().is_some() {
        return Ok(costs_in_ring(experiment, coalition, delta));
    }
    let covariance = NoiseCovariance::uniform(
        graph,
        noise.sigma_own().powi(2),
        noise.sigma_pairwise().powi(2),
    )?;
    let accounted = account(&covariance, coalition, AccountOptions::default())?;
    let iterations = experiment.promised_iterations();
    let mu = |factor: f64| (iterations * factor).sqrt();
    let epsilon = |factor: f64| gaussian::epsilon(mu(factor), delta);
    let honest = |peer: u32| !coalition.contains(&peer);
    let costs = accounted
        .brackets
        .iter()
        .enumerate()
        .filter_map(|(peer, bracket)| {
            let bracket = bracket.as_ref()?;
            Some(PeerCost {
                peer: graph.name(peer),
                honest_partners: graph
                    .neighbours(peer)
                    .iter()
                    .filter(|&&v| honest(v))
                    .count(),
                epsilon_low: epsilon(bracket.low),
                epsilon: epsilon(bracket.estimate),
                epsilon_high: epsilon(bracket.high),
                mu: mu(bracket.estimate),
            })
        });
    Ok(costs.collect())
}
