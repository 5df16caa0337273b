//! The tests of one assertion, held against its probability of a false alarm.

use super::FALSE_ALARM;
use super::error::TranscriptError;
use super::finding::Finding;

/// Peers, values and runs that a test singled out.
#[derive(Default)]
pub(super) struct Place {
    pub(super) peers: Vec<u32>,
    pub(super) values: Vec<usize>,
    pub(super) runs: Vec<usize>,
}

/// The tests of one assertion.
#[derive(Default)]
pub(super) struct Tests {
    findings: Vec<Finding>,
}

impl Tests {
    /// Adds a test of this statistic and p-value. A p-value that is no number does not pass.
    pub(super) fn add(
        &mut self,
        what: impl Into<String>,
        place: Place,
        expected: f64,
        (found, p): (f64, f64),
    ) {
        self.findings.push(Finding {
            what: what.into(),
            peers: place.peers,
            values: place.values,
            runs: place.runs,
            expected,
            found,
            p_value: Some(if p.is_nan() { 0.0 } else { p }),
            threshold: f64::NAN,
            passed: false,
        });
    }

    /// Holds every p-value against [`FALSE_ALARM`] over the number of tests (Bonferroni).
    pub(super) fn settle(mut self, runs: u64) -> Result<Vec<Finding>, TranscriptError> {
        let threshold = FALSE_ALARM / self.findings.len().max(1) as f64;
        for finding in &mut self.findings {
            finding.threshold = threshold;
            finding.passed = finding.p_value.is_some_and(|p| p >= threshold);
        }
        verdict(runs, self.findings)
    }
}

/// The findings if all passed, else the failure: least likely first, and of equals the one that names a place first.
pub(super) fn verdict(
    runs: u64,
    mut findings: Vec<Finding>,
) -> Result<Vec<Finding>, TranscriptError> {
    if !findings.is_empty() && findings.iter().all(|finding| finding.passed) {
        return Ok(findings);
    }
    findings.sort_by(|a, b| {
        let p = |finding: &Finding| finding.p_value.unwrap_or(0.0);
        (a.passed, p(a))
            .partial_cmp(&(b.passed, p(b)))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    Err(TranscriptError::Failed { runs, findings })
}
