//! The privacy receipt of a run: everything needed to recompute what it promised, and the promise.
//!
//! A receipt holds public parameters only: the noise graph, the σ's, the agreed statistics, the views.
//! It states the program, the promise and the noise graph, and the guarantee that follows from them. Checking it plans that again, compares every leaf of both, then
//! what each release was scaled by, and holds the view promised against the (ε, δ) asked for.
//! That proves the arithmetic, not that the run happened. A deployed peer signs its receipt in a file beside it, which says who vouches for that. `undertone privacy check` says of every
//! field whether a check vouches for it, and lists what a receipt asks to be believed.

mod again;
mod check;
mod document;
mod error;
mod finding;
mod limits;
mod pilot;
mod realised;
#[cfg(test)]
mod session_tests;
mod standing;
#[cfg(test)]
mod tests;

pub use document::Receipt;
pub use error::ReceiptError;
pub use finding::Finding;
// What the command prints.
#[doc(hidden)]
pub use standing::{FieldStanding, ON_TRUST, Standing, Trusted};

pub(crate) use document::{Choice, PilotReceipt, RealisedReceipt};
#[cfg(all(feature = "cli", feature = "node"))]
pub(crate) use realised::KnownAttempt;
