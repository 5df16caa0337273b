//! Why a receipt cannot be checked.

use std::path::PathBuf;

use super::limits::{MAX_BYTES, TOLERANT_SCHEMA};
use crate::algorithm::Text;
use crate::algorithm::{AlgorithmError, NotOnGraph, NotPreconditioned};
use crate::plan::PlanError;
use crate::privacy::PrivacyError;
use crate::privacy::realised::RealisedError;
use crate::topology::GraphError;

/// Why a receipt cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptError {
    /// A release that nothing is proved of on a private graph.
    #[error("request.vertices: {0}")]
    OnGraph(#[from] NotOnGraph),
    /// Numbers that make no private mean.
    #[error(
        "request.centring must have lengths that are finite and above 0, at least one slot and a share between 0 and 1; the receipt is \
         not one that undertone wrote"
    )]
    Centring,
    /// A share of a pilot that is none, or that a pilot before this program cannot have.
    #[error(
        "request.pilot_share = {found} must be at least 0 and below 1, above 0 of a pilot, and goes with no private mean, clip or ring; the \
         receipt is not one that undertone wrote"
    )]
    PilotShare {
        /// The share found.
        found: f64,
    },
    /// Rows of a sum of integers without such a sum, or the other way round.
    #[error(
        "request.ring has the rows that size the integers of request.scheme = \"ring\", and goes with no other scheme and no curator; the \
         receipt is not one that undertone wrote"
    )]
    Ring,
    /// A private mean before an algorithm that cannot follow one.
    #[error(
        "request.centring comes before request.algorithm = \"{algorithm}\", which follows no private mean; the receipt is not one that \
         undertone wrote"
    )]
    Follows {
        /// The algorithm.
        algorithm: Text,
    },
    /// A P that the algorithm does not go with.
    #[error("request.preconditioning: {0}")]
    Preconditioned(#[from] NotPreconditioned),
    /// Numbers from which no P follows, or a P where there is none.
    #[error(
        "request.preconditioning must have source \"items\", an exponent from 0 to 0.5, a shrinkage from 0 to 1 and 64 hexadecimal digits of a hash; the \
         receipt is not one that undertone wrote"
    )]
    Preconditioning,
    /// Attempts that cannot have happened.
    #[error("realised: {0}; the receipt is not one that undertone wrote")]
    Realised(#[from] RealisedError),
    /// More retries, or losses, than a session can be planned for.
    #[error(
        "request.dropouts: {found} retries; a session has at most {most}, and the receipt is not one that undertone wrote"
    )]
    Retries {
        /// What it says.
        found: u32,
        /// The most.
        most: u32,
    },
    /// The file cannot be read.
    #[error("cannot read the receipt {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is larger than any receipt.
    #[error("{path} has {found} bytes, a receipt has at most {MAX_BYTES}", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        found: u64,
    },
    /// The file is no receipt.
    #[error("{path} is no receipt of schema 1 or {TOLERANT_SCHEMA}: {source}", path = path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, column and field.
        source: serde_json::Error,
    },
    /// A receipt of another schema.
    #[error(
        "the receipt has schema {found} and the fields of schema {expected}; this build checks schema 1, and schema {TOLERANT_SCHEMA} of sessions that tolerate losses"
    )]
    Schema {
        /// Schema found.
        found: u32,
        /// Schema that its fields call for.
        expected: u32,
    },
    /// More nodes than a connected graph with that many edges can have.
    #[error("noise_graph: {nodes} nodes cannot be connected by {edges} edges")]
    Nodes {
        /// Nodes announced.
        nodes: usize,
        /// Edges present.
        edges: usize,
    },
    /// The graph is no graph.
    #[error("noise_graph: {0}")]
    Graph(#[from] GraphError),
    /// Numbers that make no algorithm.
    #[error("{0}")]
    Algorithm(#[from] AlgorithmError),
    /// More than a check takes on.
    #[error("{what} is {found}; a check takes on {low} to {high}")]
    Range {
        /// What was counted.
        what: &'static str,
        /// How much of it the receipt has.
        found: usize,
        /// The least that makes sense.
        low: usize,
        /// The most that is checked.
        high: usize,
    },
    /// The parameters are refused.
    #[error("request: {0}")]
    Privacy(#[from] PrivacyError),
    /// A plan that cannot be made again.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Refuses a count that makes no sense or is more than a check takes on.
pub(super) fn range(
    what: &'static str,
    found: usize,
    low: usize,
    high: usize,
) -> Result<(), ReceiptError> {
    match (low..=high).contains(&found) {
        true => Ok(()),
        false => Err(ReceiptError::Range {
            what,
            found,
            low,
            high,
        }),
    }
}
