//! Why a receipt cannot be checked.

use std::path::PathBuf;

use super::limits::{MAX_BYTES, SCHEMA};
use crate::algorithm::ProgramReadError;
use crate::plan::PlanError;
use crate::privacy::realised::RealisedError;
use crate::topology::GraphError;

/// Why a receipt cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptError {
    /// A program that cannot be read.
    #[error("{at}: {source}")]
    Program {
        /// The field.
        at: String,
        /// What is wrong with it.
        source: ProgramReadError,
    },
    /// A part of a budget under sums of integers, which a pilot does not go with.
    #[error(
        "promise.part is that of a session with a pilot, which goes with no sums of integers (partners.most_rows); the receipt is not one that \
         undertone wrote"
    )]
    Part,
    /// Rows of a sum of integers without such a sum, or the other way round.
    #[error(
        "partners.most_rows has the rows that size the integers of promise.noise = \"ring\", and goes with no other noise and no curator; the \
         receipt is not one that undertone wrote"
    )]
    Ring,
    /// Numbers from which no P follows, or a P where there is none.
    #[error(
        "preconditioning must have source \"items\", an exponent from 0 to 0.5, a shrinkage from 0 to 1 and 64 hexadecimal digits of a hash; the \
         receipt is not one that undertone wrote"
    )]
    Preconditioning,
    /// Attempts that cannot have happened.
    #[error("realised: {0}; the receipt is not one that undertone wrote")]
    Realised(#[from] RealisedError),
    /// More retries, or losses, than a session can be planned for.
    #[error(
        "promise.losses: {found} retries; a session has at most {most}, and the receipt is not one that undertone wrote"
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
    #[error("{path} is no receipt of schema {SCHEMA}: {source}", path = path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, column and field.
        source: serde_json::Error,
    },
    /// A receipt of a schema that was written before the first version.
    #[error(
        "the receipt has schema {found}: it was made by a development build; run the experiment again for one of schema {SCHEMA}"
    )]
    Development {
        /// Schema found.
        found: u32,
    },
    /// A receipt of another schema.
    #[error("the receipt has schema {found}; this build checks schema {SCHEMA}")]
    Schema {
        /// Schema found.
        found: u32,
    },
    /// More nodes than a connected graph with that many edges can have.
    #[error("partners: {nodes} nodes cannot be connected by {edges} edges")]
    Nodes {
        /// Nodes announced.
        nodes: usize,
        /// Edges present.
        edges: usize,
    },
    /// The graph is no graph.
    #[error("partners: {0}")]
    Graph(#[from] GraphError),
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
    /// A plan that cannot be made again.
    #[error("program and promise: {0}")]
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
