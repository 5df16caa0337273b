//! Why an assertion about transcripts does not hold, or cannot be made.

use super::finding::Finding;

/// Why an assertion about transcripts does not hold, or cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    /// The transcripts are not what is claimed: the assertion fails.
    #[error("{}", failed(*runs, findings))]
    Failed {
        /// The runs that were tested.
        runs: u64,
        /// Every test that was made, those that failed first.
        findings: Vec<Finding>,
    },
    /// With so few runs a wrong program would pass too often.
    #[error(
        "found {found} runs, and {needed} are needed to notice the alternatives that the documentation states: make {needed} runs"
    )]
    TooFewRuns {
        /// The runs given.
        found: u64,
        /// The runs needed.
        needed: u64,
    },
    /// An array whose length does not fit the others.
    #[error("{what} has {found} numbers: give {expected}")]
    Length {
        /// The argument.
        what: &'static str,
        /// How many numbers it has.
        found: usize,
        /// How many it should have, in words.
        expected: String,
    },
    /// A NaN, an infinity, or a number that lies too far from what it is compared with.
    #[error("{what}{place:?} is {found}: leave the run out or repair what wrote it")]
    NotFinite {
        /// The argument.
        what: &'static str,
        /// The place in the array, one index an axis.
        place: Vec<usize>,
        /// The number there.
        found: f64,
    },
    /// A standard deviation that is none.
    #[error("{name} must be a finite number above 0, found {found}: {remedy}")]
    Sigma {
        /// The argument.
        name: &'static str,
        /// The number given.
        found: f64,
        /// What to change.
        remedy: &'static str,
    },
    /// A network whose covariance is too large to factorise.
    #[error(
        "{found} peers are more than the {most} whose joint law is tested: test a smaller network of the same program"
    )]
    TooManyPeers {
        /// The peers of the graph.
        found: usize,
        /// The most.
        most: usize,
    },
    /// A covariance that has no inverse to working precision.
    #[error(
        "sigma_pairwise is so much larger than sigma_own that the joint law cannot be computed: bring them closer together"
    )]
    Covariance,
    /// A claim that no transcripts of practical size could refute.
    #[error(
        "(ε, δ) = ({epsilon}, {delta}) promises so little that a hundred thousand runs could not refute it: claim a smaller ε or δ"
    )]
    WeakClaim {
        /// The ε claimed.
        epsilon: f64,
        /// The δ claimed.
        delta: f64,
    },
}

/// Tests that failed, one a line: what was expected, what was found, and where.
fn failed(runs: u64, findings: &[Finding]) -> String {
    let failures = findings.iter().filter(|finding| !finding.passed);
    let (count, all) = (failures.clone().count(), findings.len());
    let mut text = format!("not what is claimed: {count} of {all} tests failed over {runs} runs");
    for failure in failures {
        text.push_str("\n  ");
        text.push_str(&failure.to_string());
    }
    text
}
