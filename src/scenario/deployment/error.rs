//! Reasons why a session file makes no deployment, and a file no member's rows.

use crate::data::{ColumnProblem, FileFormat};
use crate::scenario::error::ExperimentError;

/// Reason why a session file makes no deployment.
#[derive(Debug, thiserror::Error)]
pub enum DeploymentError {
    /// A table or key that a session decides.
    #[error("[{key}] does not belong to the plan of a session: {why}")]
    Key {
        /// The table or key.
        key: &'static str,
        /// Why, and what to do.
        why: &'static str,
    },
    /// A key that simulations have a default for, and that members agree on.
    #[error(
        "the plan of a session says {key} itself, since all members agree on it: add {example}"
    )]
    Missing {
        /// The key.
        key: &'static str,
        /// What it can be.
        example: &'static str,
    },
    /// A graph that is not over the members.
    #[error("[{key}] {why}")]
    Graph {
        /// The graph's table.
        key: &'static str,
        /// Why, and what to do.
        why: String,
    },
    /// A block so wide that members would compute for minutes before they know what it costs.
    #[error(
        "algorithm.rank or block = {width} on {columns} columns: columns times the square of it are beyond 2^35, minutes of work for every member; lower it"
    )]
    Work {
        /// Columns of the rows.
        columns: usize,
        /// Columns of the block.
        width: u128,
    },
    /// A table that does not read.
    #[error("{0}")]
    Parse(String),
    /// A session that cannot be planned.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// Rows over other columns.
    #[error(
        "the rows have other columns than the session: {found} columns of which number {place} is {theirs:?}, where the session's {columns} have \
         {ours:?}; a first line names them (--header)"
    )]
    Columns {
        /// How many columns the file has.
        found: usize,
        /// The first that differs, from 1.
        place: usize,
        /// Its name in the file.
        theirs: String,
        /// How many the session has.
        columns: usize,
        /// Its name in the session.
        ours: String,
    },
    /// Columns that cannot be left out of the file.
    #[error("the rows have other columns than the session: {0}")]
    Drop(#[from] ColumnProblem),
    /// Ratings where the session is about numbers, or the other way round.
    #[error(
        "the file was read as {format}, and the session is about {wanted}: say what the file is with --format, or take another file"
    )]
    Kind {
        /// What the file was read as.
        format: FileFormat,
        /// What the session is about.
        wanted: &'static str,
    },
}
