//! What the user should know before trusting a result.

use super::experiment::Experiment;
use crate::algorithm::Start;
use crate::config::EngineKind;
use crate::privacy::Scheme;
use crate::topology::{CERTIFIED_UP_TO, SAFETY};

/// Every warning that applies, most serious first.
pub(super) fn of(experiment: &Experiment) -> Vec<String> {
    let mut warnings = Vec::new();
    let config = &experiment.config;
    let privacy = &config.privacy;
    if !experiment.is_private() {
        warnings.push("noise.scheme = \"none\": this run protects nobody".to_owned());
    } else {
        warnings.extend(
            experiment
                .calibrated
                .warning()
                .iter()
                .map(ToString::to_string),
        );
        let users = experiment.interactions.users();
        if privacy.delta * users as f64 >= 1.0 {
            warnings.push(format!(
                "delta = {} allows revealing one of {users} users outright; choose it well below {:.1e}",
                privacy.delta,
                1.0 / users as f64,
            ));
        }
        let shares = experiment.noise.sigma_pairwise() > 0.0;
        if shares && experiment.noise.sigma_own() >= experiment.calibrated.z() {
            warnings.push(
                "every peer adds as much noise as if it trusted nobody, and pairwise noise on top; \
                 noise.scheme = \"local\" is cheaper"
                    .to_owned(),
            );
        }
        warnings.extend(reinterpreted(experiment));
    }
    if config.algorithm.start == Start::Popularity {
        warnings.push(
            "algorithm.start = \"popularity\" publishes the shape of the item degrees in X0 before any noise: they must be \
             public already, as P1 takes them to be; no epsilon covers them"
                .to_owned(),
        );
    }
    if config.engine.kind == EngineKind::Analytic {
        warnings.push(format!(
            "engine \"analytic\" draws the estimates of {} probe peers from their exact joint law instead of simulating all \
             peers; approximated: from iteration 2 on, everybody contributes at the X of peer {} (consensus.approximation \
             bounds the effect), and disagreement is among the probes only",
            config.engine.probes,
            experiment.topology.graph().printed(0),
        ));
    }
    let spectrum = experiment.topology.spectrum();
    let has_peers = !config.engine.kind.reveals_only_sums();
    let averaging = config.averaging;
    let rests_on_spectrum = averaging.rounds.is_none() && !averaging.scheme.is_exact();
    if has_peers && !spectrum.is_certified() && rests_on_spectrum {
        warnings.push(format!(
            "the topology has more than {CERTIFIED_UP_TO} peers, so the number of averaging rounds rests on estimated \
             eigenvalues with a safety factor of {SAFETY}"
        ));
    }
    warnings
}

/// Settings that the engine gives another meaning.
fn reinterpreted(experiment: &Experiment) -> Option<String> {
    let config = &experiment.config;
    match (config.engine.kind, config.noise.scheme) {
        (EngineKind::Central, _) => Some(
            "engine \"central\" trusts the curator: noise.scheme and privacy.colluders are ignored".to_owned(),
        ),
        (EngineKind::Federated, Scheme::Pairwise) => Some(
            "engine \"federated\" has an ideal secure sum, which pairwise noise would not survive: peers add \
             independent shares only"
                .to_owned(),
        ),
        _ => None,
    }
}
