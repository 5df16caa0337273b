//! Sessions that are broken on purpose, to see that a test of yours would notice: behind the feature `testing`.
//!
//! An integration test that asserts [`verify`](crate::assess::verification::verify()) of an own graph, own rows or an own algorithm says little before it has
//! failed once. Depend on this crate with `features = ["testing"]` under `[dev-dependencies]` and nowhere else:
//!
//! ```
//! use undertone::algorithm::PowerMethod;
//! use undertone::assess::verification::VerifyOptions;
//! use undertone::data::Dataset;
//! use undertone::engine::Simulation;
//! use undertone::linalg::SparseRows;
//! use undertone::plan::Promise;
//! use undertone::privacy::Adjacency;
//! use undertone::testing::{self, Defect};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut rows = SparseRows::new(3);
//! for i in 0..12_u32 {
//!     rows.push_row([(0, f64::from(i).cos()), (1, 0.5)])?;
//! }
//! let dataset = Dataset::Samples { rows, radius: 1.2 };
//! let promise = Promise::new(1.0, 1e-5, Adjacency::User)?;
//! let simulation = Simulation::new(dataset, PowerMethod::new(3, 1, 2)?, promise).build()?;
//! let table = testing::verify(&simulation, Defect::HalveOwnNoise, VerifyOptions::default())?;
//! assert!(!table.passed());
//! # Ok(())
//! # }
//! ```

pub use crate::engine::noise::{Defect, Extent};

use crate::assess::verification::{
    Subject, Verification, VerifyError, VerifyOptions, verify_sessions,
};
use crate::engine::Silent;

/// Verifies a subject whose sessions run with this defect; what they are held against, a curator and the planned law, stays as planned.
///
/// # Errors
/// As [`verify`](crate::assess::verification::verify()).
pub fn verify(
    subject: &impl Subject,
    defect: Defect,
    options: VerifyOptions,
) -> Result<Verification, VerifyError> {
    let broken = |session: crate::engine::Session| session.with_defect(defect);
    verify_sessions(subject, options, &broken, &mut Silent)
}
