//! The averaging schemes that are tried on a graph, each with its compiled schedule.

use super::candidates::Proposal;
use crate::config::AveragingConfig;
use crate::protocol::averaging::{
    AveragingKind, AveragingOptions, DEFAULT_TOLERANCE, Length, Schedule, Traffic,
};
use crate::scenario::Experiment;

/// A scheme that has a schedule on the experiment's graph.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    pub(super) averaging: AveragingConfig,
    schedule: Schedule,
}

impl Scheme {
    /// What a run of this proposal sends over this scheme.
    pub(super) fn traffic(&self, experiment: &Experiment, proposal: &Proposal) -> Traffic {
        let load = proposal.load(self.schedule.extra_values());
        Traffic::of(&self.schedule, experiment.topology(), &load)
    }
}

/// The experiment's own `[averaging]` as it stands, Chebyshev gossip, and every exact scheme that compiles on its graph; and
/// those that do not, with the reason.
///
/// Chebyshev gossip takes the experiment's tolerance, or the default where its own scheme has none. Schemes that are neither
/// are advised only where the file names them: plain gossip sends more than Chebyshev's for the same tolerance.
pub(super) fn schemes(experiment: &Experiment) -> (Vec<Scheme>, Vec<(String, String)>) {
    let own = &experiment.config().averaging;
    let mut found = vec![Scheme {
        averaging: own.clone(),
        schedule: experiment.schedule().clone(),
    }];
    let mut refused = Vec::new();
    let tried = |kind: &AveragingKind| kind.is_exact() || *kind == AveragingKind::Chebyshev;
    for kind in AveragingKind::all().filter(tried) {
        if kind == own.scheme {
            continue;
        }
        let tolerance = match kind.is_exact() {
            true => None,
            false => Some(own.tolerance.unwrap_or(DEFAULT_TOLERANCE)),
        };
        let length = tolerance.map_or(Length::Own, Length::Tolerance);
        let (network, bounds) = (experiment.topology(), experiment.mixing_bounds());
        match kind.compile(network, bounds, length, AveragingOptions::default()) {
            Ok(schedule) => found.push(Scheme {
                averaging: over(own, kind, tolerance),
                schedule,
            }),
            Err(why) => refused.push((format!("any over {}", kind.name()), why.to_string())),
        }
    }
    (found, refused)
}

/// The table for another scheme: what the file says of its own scheme alone is left out, and what holds for all stays.
fn over(own: &AveragingConfig, kind: AveragingKind, tolerance: Option<f64>) -> AveragingConfig {
    let mut averaging = own.clone();
    averaging.scheme = kind;
    averaging.tolerance = tolerance;
    averaging.rounds = None;
    averaging.root = None;
    averaging.seed = None;
    averaging.fan_in = None;
    averaging.rotate = None;
    averaging.base = None;
    averaging
}
