//! Tests of transcripts that any program wrote, against the law that the program publishes. See [`crate::testing`].

mod arrays;
mod central;
mod epsilon;
mod error;
mod finding;
mod law;
mod power;
mod scores;
mod verdict;

#[cfg(test)]
mod tests;

pub use central::{assert_central_dp, runs_for_central_dp};
pub use epsilon::{assert_epsilon, runs_for_epsilon};
pub use error::TranscriptError;
pub use finding::Finding;
pub use law::{assert_published_law, runs_for_published_law};

/// Probability that an assertion fails a program that is what is claimed.
const FALSE_ALARM: f64 = 1e-3;

/// Probability that an assertion with as many runs as are needed passes a stated alternative.
const MISS: f64 = 1e-3;

/// Standard deviations that are noticed, over those claimed.
const OFF: [f64; 2] = [0.8, 1.2];
