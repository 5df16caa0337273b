//! `[data]` of what has one peer for every vertex: a private graph, and a matrix whose rows and columns are the peers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{KeyRefusal, check_source};
use crate::config::numbers::{DataFormat, RangesConfig};
use crate::data::{Column, Generated};

/// The keys of a matrix whose rows and columns are the peers: a bipartite graph with weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BipartiteTable {
    /// The file, relative to the experiment file; none where the matrix is generated.
    #[serde(default)]
    pub(super) path: PathBuf,
    /// Where to get the file; said where it does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) obtain: Option<String>,
    /// Its format.
    pub(super) format: DataFormat,
    /// Whether the first line of `matrix-csv` names the columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) header: Option<bool>,
    /// Columns that are left out: `"last"`, or numbers from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) drop: Option<Vec<Column>>,
    /// The matrix of `format = "generated"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) generate: Option<Generated>,
    /// A table of ids and titles: names for reports. It decides nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) titles: Option<PathBuf>,
    /// The public ranges that entries are clipped to and that are mapped to 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ranges: Option<RangesConfig>,
}

impl BipartiteTable {
    pub(super) fn check(&self) -> Result<(), KeyRefusal> {
        check_source(
            self.format,
            self.generate.as_ref(),
            self.header,
            self.drop.as_ref(),
        )
    }
}

/// The keys of `format = "graph"`: the edges of a private graph, in any format of a topology.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphTable {
    /// The file, relative to the experiment file.
    #[serde(default)]
    pub(super) path: PathBuf,
    /// Where to get the file; said where it does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) obtain: Option<String>,
    /// `"graph"`.
    pub(super) format: DataFormat,
    /// A table of ids and titles of vertices: names for reports. It decides nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) titles: Option<PathBuf>,
}
