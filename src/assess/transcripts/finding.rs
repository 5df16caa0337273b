//! One test of transcripts: what was expected, what was found, and where.

use std::fmt;

use serde::Serialize;

/// One test of transcripts: what was expected, what was found, and the place that stands out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What is compared, with the place in words.
    pub what: String,
    /// The peer, or the two ends of the edge, that stands out; empty for a test of all together.
    pub peers: Vec<u32>,
    /// The values that stand out, counted from 0.
    pub values: Vec<usize>,
    /// The runs that stand out, counted from 0.
    pub runs: Vec<usize>,
    /// The statistic under the claim; a bound where there is no p-value.
    pub expected: f64,
    /// The statistic of the transcripts.
    pub found: f64,
    /// Probability of a statistic at least as unlikely under the claim, for all places of this test together; `None` for a bound.
    pub p_value: Option<f64>,
    /// The least p-value that passes; for a bound the largest value that does.
    pub threshold: f64,
    /// Whether the test passed.
    pub passed: bool,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, expected, found, threshold) =
            (&self.what, self.expected, self.found, self.threshold);
        match self.p_value {
            Some(p) => write!(
                f,
                "{what}: expected {expected:.4}, found {found:.4} (p = {p:.2e}, least allowed {threshold:.2e})"
            ),
            None => write!(
                f,
                "{what}: at most {expected:.4} is claimed, found {found:.4}"
            ),
        }
    }
}
