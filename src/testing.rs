//! Tests of programs against the law that they publish: of transcripts that any program wrote, and of sessions that are broken on purpose.
//!
//! Many systems publish a protocol and run something else: noise is drawn in one place, at the wrong scale, or once for all runs. Three assertions read arrays of what a program sent, whichever
//! program it is:
//!
//! | assertion | about | runs needed |
//! | --- | --- | --- |
//! | [`assert_central_dp`] | published sums: the noise of a trusted curator | [`runs_for_central_dp`] |
//! | [`assert_published_law`] | messages of all peers: own noise, and noise shared along the edges of a graph | [`runs_for_published_law`] |
//! | [`assert_epsilon`] | transcripts of two neighbouring inputs: a claimed (ε, δ) | [`runs_for_epsilon`] |
//!
//! Each fails a right program with probability at most 10⁻³. With as many runs as are needed it passes a program that deviates as stated with probability at most 10⁻³. An error says what was
//! expected, what was found and which peer, edge, value or run stands out.
//!
//! ```
//! use undertone::testing::{TranscriptError, assert_central_dp, runs_for_central_dp};
//!
//! // A program that publishes its sum without noise.
//! let expected = [3.0, 1.0];
//! let runs = runs_for_central_dp(expected.len()) as usize;
//! let sums = expected.repeat(runs);
//! let error = assert_central_dp(&sums, &expected, 0.5).unwrap_err();
//! let TranscriptError::Failed { findings, .. } = &error else {
//!     panic!("{error}");
//! };
//! assert!(findings.iter().any(|finding| finding.found == 0.0 && finding.expected == 1.0));
//! ```
//!
//! [`guide::testing_other_systems`](crate::guide::testing_other_systems) has the same from Python, with a gossip that is right and three that are not.
//!
//! The feature `testing` adds sessions of this crate with broken noise, to see that a test of yours would notice.

pub use crate::assess::transcripts::{
    Finding, TranscriptError, assert_central_dp, assert_epsilon, assert_published_law,
    runs_for_central_dp, runs_for_epsilon, runs_for_published_law,
};

#[cfg(any(test, feature = "testing"))]
pub use crate::engine::noise::{Defect, Extent};

#[cfg(any(test, feature = "testing"))]
use crate::assess::verification::{
    Subject, Verification, VerifyError, VerifyOptions, verify_sessions,
};
#[cfg(any(test, feature = "testing"))]
use crate::engine::Silent;

/// Verifies a subject whose sessions run with this defect; what they are held against, a curator and the planned law, stays as planned.
///
/// An integration test that asserts [`verify`](crate::assess::verification::verify()) of an own graph, own rows or an own algorithm says little before it has
/// failed once. Depend on this crate with `features = ["testing"]` under `[dev-dependencies]` and nowhere else:
///
/// ```
/// use undertone::algorithm::PowerMethod;
/// use undertone::assess::verification::VerifyOptions;
/// use undertone::data::Dataset;
/// use undertone::engine::Simulation;
/// use undertone::linalg::SparseRows;
/// use undertone::plan::Promise;
/// use undertone::privacy::Adjacency;
/// use undertone::testing::{self, Defect};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut rows = SparseRows::new(3);
/// for i in 0..12_u32 {
///     rows.push_row([(0, f64::from(i).cos()), (1, 0.5)])?;
/// }
/// let dataset = Dataset::Samples { rows, radius: 1.2 };
/// let promise = Promise::new(1.0, 1e-5, Adjacency::User)?;
/// let simulation = Simulation::new(dataset, PowerMethod::new(3, 1, 2)?, promise).build()?;
/// let table = testing::verify(&simulation, Defect::HalveOwnNoise, VerifyOptions::default())?;
/// assert!(!table.passed());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`verify`](crate::assess::verification::verify()).
#[cfg(any(test, feature = "testing"))]
pub fn verify(
    subject: &impl Subject,
    defect: Defect,
    options: VerifyOptions,
) -> Result<Verification, VerifyError> {
    let broken = |session: crate::engine::Session| session.with_defect(defect);
    verify_sessions(subject, options, &broken, &mut Silent)
}
