//! Which warnings apply to an experiment.

use super::experiment::Experiment;
use super::warning::Warning;
use crate::algorithm::Start;
use crate::config::{DataFormat, EngineKind};
use crate::papers::ClipRule;
use crate::privacy::Scheme;
use crate::protocol::averaging::Form;
use crate::topology::Origin;

/// Every warning that applies, most serious first.
pub(super) fn of(experiment: &Experiment) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let config = &experiment.config;
    if !experiment.is_private() {
        warnings.push(Warning::NoNoise);
    } else {
        let calibration = experiment.calibrated().warning();
        warnings.extend(calibration.copied().map(Warning::Calibration));
        let (delta, users) = (config.privacy.delta(), experiment.interactions.users());
        // A warning must not tell how many users there are, where that is private.
        if !config.hides_users() && delta * users as f64 >= 1.0 {
            warnings.push(Warning::LargeDelta { delta, users });
        }
        // Holders of Laplace noise have as much each, and everybody else has none.
        let shares = experiment.noise().sigma_pairwise() > 0.0 && config.noise.holders.is_none();
        let persons = experiment.participants().unwrap_or(1) as f64;
        let alone = experiment.calibrated().z() * persons.sqrt();
        if shares && experiment.noise().sigma_own() >= alone {
            warnings.push(Warning::DearerThanLocal);
        }
        warnings.extend(reinterpreted(experiment));
        let is_read = config.data.format() != DataFormat::Generated;
        if config.data.is_bipartite() && is_read && config.data.ranges().is_none() {
            warnings.push(Warning::ClampedEntries);
        }
        warnings.extend(experiment.why_open().map(Warning::OpenContributions));
    }
    if config.algorithm.table().requirements().start == Start::Popularity {
        warnings.push(Warning::PopularityStart);
    }
    if experiment.is_private() && experiment.preconditioning.is_some() {
        warnings.push(Warning::PublicDegrees);
    }
    if let (Some(clip), Some(sigma)) = (experiment.clip(), experiment.sigma_of_counts())
        && clip.rule == ClipRule::Histogram
        && sigma > clip.most_above()
    {
        let most_above = clip.most_above();
        warnings.push(Warning::ClipIsNoise { sigma, most_above });
    }
    if config.engine.kind == EngineKind::Analytic {
        warnings.push(Warning::Approximated {
            probes: config.engine.probes,
            at: experiment.topology().graph().printed(0),
        });
    }
    let noise = experiment
        .has_noise_topology()
        .then_some(experiment.noise_topology());
    let graphs = std::iter::once(experiment.topology()).chain(noise);
    for provenance in graphs.map(|graph| graph.provenance()) {
        if let (Origin::File { file }, Some(what)) = (&provenance.origin, &provenance.left_out) {
            let (file, what) = (file.clone(), what.clone());
            warnings.push(Warning::GraphLeftOut { file, what });
        }
    }
    let has_peers = !config.engine.kind.reveals_only_sums();
    let averaging = &config.averaging;
    let recurs = matches!(experiment.schedule().form(), Form::Recurrence(_));
    let rests_on_spectrum = recurs && averaging.rounds.is_none();
    if has_peers && !experiment.topology().spectrum().is_certified() && rests_on_spectrum {
        warnings.push(Warning::EstimatedSpectrum);
    }
    warnings
}

/// Settings that the engine gives another meaning.
fn reinterpreted(experiment: &Experiment) -> Option<Warning> {
    let config = &experiment.config;
    match (config.engine.kind, config.noise.scheme) {
        (EngineKind::Central, _) => Some(Warning::TrustedCurator),
        (EngineKind::Federated, Scheme::Pairwise) => Some(Warning::NoPairwiseNoise),
        _ => None,
    }
}
