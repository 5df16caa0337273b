//! Sessions that cannot be planned.

use crate::algorithm::Unsupported;
use crate::privacy::PrivacyError;
use crate::protocol::SessionPlanError;
use crate::protocol::averaging::AveragingError;

/// Why a program cannot be run under a promise over a network.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// A budget, a bound or noise that cannot be had.
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
    /// A program whose releases cannot be counted in whole numbers.
    #[error("one record is charged for {found} releases; noise is planned for at most {most}")]
    Charge {
        /// Releases that one record meets.
        found: f64,
        /// The most there may be.
        most: u32,
    },
    /// An averaging that has no schedule on the communication graph.
    #[error(transparent)]
    Averaging(#[from] AveragingError),
    /// A session that cannot be run.
    #[error(transparent)]
    Session(#[from] SessionPlanError),
    /// A program that something of the promise does not go with.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// Sums of integers under an averaging that divides.
    #[error(
        "sums of integers need an averaging that adds every input exactly once: choose \"tree\" or \"doubling\""
    )]
    Inexact,
}
