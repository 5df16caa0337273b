//! The privacy receipt of a run: everything needed to recompute what it promised, and the promise.
//!
//! A receipt holds public parameters only: the noise graph, the σ's, the agreed statistics, the views.
//! Checking it plans the noise again from its parameters and graph, compares the σ's, sensitivities and views, and holds
//! the view promised against the (ε, δ) asked for.
//! That proves the arithmetic, not that the run happened. A deployed peer signs its receipt in a file beside it, which says who vouches for that. [`Receipt::standings`] says of every
//! field whether a check vouches for it, and [`ON_TRUST`] lists what it asks to be believed.

mod check;
mod document;
mod error;
mod limits;
mod pilot;
mod realised;
mod replan;
#[cfg(test)]
mod session_tests;
mod standing;
#[cfg(test)]
mod tests;

pub use check::Finding;
pub use document::{
    Choice, NoiseGraph, PilotReceipt, RealisedReceipt, Receipt, Request, RingRows, Scaled,
    StatedAttempt,
};
pub use error::ReceiptError;
pub use limits::{MAX_BYTES, SCHEMA, TOLERANT_SCHEMA};
pub use realised::KnownAttempt;
pub use standing::{FieldStanding, ON_TRUST, Standing, Trusted};
