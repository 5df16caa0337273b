//! How well the peers agree, and what the averaging guarantees for it.

use super::rounding;
use super::summary::ConsensusSummary;
use crate::engine::{Outcome, ReleaseRecord};
use crate::scenario::Experiment;

/// What is guaranteed for the disagreement of a release: what its exchange guarantees in f64, plus what rounding to f32 adds
/// where values are f32; 0 where the averaging schedule makes all peers end with the same bits, whatever their values are. `None`
/// for engines with one copy.
pub(super) fn guaranteed(experiment: &Experiment, record: &ReleaseRecord) -> Option<f64> {
    let spread = record.consensus?.initial_spread;
    if experiment.schedule().ends_equal() {
        return Some(0.0);
    }
    let published = record.totals.published.values();
    let rounding = rounding::of_release(experiment, spread, published);
    Some(of_doubles(experiment, spread) + rounding.unwrap_or(0.0))
}

/// What the rounds guarantee for the disagreement: contraction times initial spread, plus rounding.
///
/// Every round adds at most a few units in the last place of the values it handles, and those are of the
/// size of the spread or the mean.
fn of_doubles(experiment: &Experiment, initial_spread: f64) -> f64 {
    let rounds = f64::from(experiment.rounds());
    let rounding = 4.0 * f64::EPSILON * rounds * (1.0 + initial_spread);
    experiment.contraction() * initial_spread + rounding
}

/// How well the peers agreed, over all iterations; `rows` holds (disagreement, what was guaranteed) of each.
pub(super) fn consensus(
    experiment: &Experiment,
    outcome: &Outcome,
    rows: &[(Option<f64>, Option<f64>)],
) -> ConsensusSummary {
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0_f64, f64::max);
    let over_noise = |record: &ReleaseRecord, relative: f64| {
        let noise = {
            let mut noise = record.totals.published.clone();
            noise.add_scaled(-1.0, &record.totals.local);
            noise.norm()
        };
        relative * record.totals.published.norm() / noise
    };
    let disagreement = |record: &ReleaseRecord| record.consensus.map_or(0.0, |c| c.disagreement);
    let rounded = |record: &ReleaseRecord| {
        let spread = record.consensus?.initial_spread;
        let bound = rounding::of_release(experiment, spread, record.totals.published.values())?;
        Some((bound, over_noise(record, bound)))
    };
    let rounded: Vec<(f64, f64)> = outcome.records.iter().filter_map(rounded).collect();
    let has_noise = experiment.noise().sigma_own() > 0.0;
    let approximations: Option<Vec<f64>> = outcome
        .records
        .iter()
        .map(|record| record.consensus.and_then(|c| c.approximation))
        .collect();
    ConsensusSummary {
        approximation: approximations.map(|all| all.into_iter().fold(0.0, f64::max)),
        max_disagreement: largest(&mut rows.iter().filter_map(|row| row.0)),
        between_peers: {
            let consensus = outcome.records.iter().filter_map(|record| record.consensus);
            largest(&mut consensus.map(|c| c.between_peers))
        },
        guaranteed: largest(&mut rows.iter().filter_map(|row| row.1)),
        contraction: experiment.contraction(),
        relative_to_noise: has_noise.then(|| {
            let over = |record| over_noise(record, disagreement(record));
            largest(&mut outcome.records.iter().map(over))
        }),
        rounding: (!rounded.is_empty()).then(|| largest(&mut rounded.iter().map(|one| one.0))),
        rounding_relative_to_noise: (has_noise && !rounded.is_empty())
            .then(|| largest(&mut rounded.iter().map(|one| one.1))),
    }
}
