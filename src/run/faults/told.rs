//! What is told of a run with faults, as summaries and pages have it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::deviants::DeviantsSummary;
use crate::config::{FaultsConfig, Publish};
use crate::engine::Outcome;
use crate::engine::event::faults::Fired;
use crate::privacy::realised::Realised;
#[cfg(feature = "report")]
use crate::vocabulary::printed_list;

/// An outcome, and what else there is to say of it.
#[derive(Clone, Debug)]
pub(crate) struct Conducted {
    /// The outcome.
    pub outcome: Outcome,
    /// What went wrong, where the session tolerates losses.
    pub faults: Option<Faulty>,
}

impl From<Outcome> for Conducted {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            faults: None,
        }
    }
}

/// What went wrong in a run, and the same run where nothing does.
#[derive(Clone, Debug)]
pub struct Faulty {
    /// What happened, in numbers.
    pub summary: FaultsSummary,
    /// Everything that went wrong, listed, with peers by name.
    pub schedule: FaultsConfig,
    /// What happened to whom: microseconds, the peer's name and what it was, in order.
    pub moments: Vec<(u64, String, String)>,
    /// How many peers live, and how many have the sum of each release, over time.
    pub curves: Vec<Curve>,
    /// The outcome where nothing goes wrong; `None` where nothing did.
    pub fault_free: Option<Outcome>,
    /// Every attempt in which anybody published; `None` without noise.
    pub realised: Option<Realised>,
}

/// A number of peers over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Who is counted.
    pub name: String,
    /// Milliseconds and how many, at every change before and after it.
    pub points: Vec<(f64, f64)>,
}

/// `faults` of `summary.json`: a run that tolerates losses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FaultsSummary {
    /// How many peers could be lost.
    pub tolerate: usize,
    /// How often a release could be tried again, and how often one was.
    pub retries: u32,
    /// How often one was.
    pub retries_spent: u32,
    /// Whether contributions could be read before everybody held them.
    pub publish: Publish,
    /// Why they are not sealed, where peers have too few neighbours for it.
    pub why_open: Option<String>,
    /// Who has the result.
    pub finished: usize,
    /// How all ended: how many, by name of the end.
    pub ends: BTreeMap<&'static str, usize>,
    /// The name of the peer whose sums the rest of the document is about; null where nobody has all.
    pub reporter: Option<String>,
    /// What went wrong, and what was done about it.
    pub fired: Fired,
    /// Every release that the reporter has, with who takes part in its sum.
    pub releases: Vec<RealisedRelease>,
    /// What was promised, planned and realised; null without noise.
    pub epsilon: Option<RealisedEpsilon>,
    /// Virtual milliseconds until the last peer ended.
    pub milliseconds: f64,
    /// The same where nothing goes wrong.
    pub milliseconds_fault_free: f64,
    /// Bytes that all peers sent where nothing went wrong.
    pub bytes_fault_free: u64,
    /// The session with peers that deviate; null without any.
    pub deviants: Option<DeviantsSummary>,
}

/// Who takes part in the sum of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RealisedRelease {
    /// Its place in the program, from 1.
    pub release: u32,
    /// How many attempts were made at it.
    pub attempts: usize,
    /// How many take part in its sum.
    pub participants: usize,
    /// Who does not, by name.
    pub missing: Vec<String>,
    /// Whose contribution an heir brought in, by name.
    pub inherited: Vec<String>,
    /// Retries that had been spent when the attempt began.
    pub retries: u32,
    /// Standard deviation of the noise on the sum, per unit sensitivity, over that of a sum of everybody.
    pub noise: f64,
}

/// ε at three levels of knowledge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RealisedEpsilon {
    /// What noise was planned for: whoever is lost, and all retries spent.
    pub promised: f64,
    /// What the ledger charges for the tries that there were, whoever was lost.
    pub planned: f64,
    /// What the execution that took place cost the worst-placed peer against any coalition asked for. A diagnostic: who crashes may depend on what was
    /// released, so nothing is promised of it.
    pub realised: f64,
    /// Whether that is exact; else an upper bound over all coalitions.
    pub is_exact: bool,
}

impl FaultsSummary {
    /// Whether anything went wrong at all.
    #[must_use]
    pub fn is_faulty(&self) -> bool {
        self.fired != Fired::default()
    }
}

/// The names of peers in one line, each as it can be typed.
#[cfg(feature = "report")]
#[must_use]
pub(crate) fn listed(names: &[String]) -> String {
    printed_list(names)
}
