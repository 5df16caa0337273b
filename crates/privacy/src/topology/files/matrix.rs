//! Adjacency matrices, as `scipy.sparse.save_npz` writes them.
//!
//! Rows and columns are the nodes, numbered from 0. An entry that is not zero is an edge, whatever its value, and must stand on both sides of the diagonal.

use super::super::file_problem::FileProblem;
use super::MAX_FILE;
use super::parsed::{Fault, MAX_EDGES, MAX_NODES, Parsed, ParsedEdge};
use crate::linalg::SparseFile;

/// Reads an adjacency matrix.
pub(super) fn parse(bytes: &[u8]) -> Result<Parsed, Fault> {
    // A binary file has no lines; what is wrong with an entry says where.
    let fault = |problem| (1, problem);
    let matrix = SparseFile::read(bytes, MAX_FILE).map_err(|problem| fault(problem.into()))?;
    let (rows, columns) = (matrix.rows, matrix.columns);
    if rows != columns {
        return Err(fault(FileProblem::NotSquare { rows, columns }));
    }
    if rows > MAX_NODES {
        return Err(fault(FileProblem::TooManyNodes { most: MAX_NODES }));
    }
    if matrix.entries.len() > MAX_EDGES {
        return Err(fault(FileProblem::TooManyEdges { most: MAX_EDGES }));
    }
    let is_edge = |entry: &&(u32, u32, f64)| entry.2 != 0.0;
    let entries = matrix.entries.iter().filter(is_edge);
    let is_weighted = entries.clone().any(|entry| entry.2 != 1.0);
    let edges = entries.map(|&(source, target, _)| ParsedEdge {
        source,
        target,
        directed: true,
        line: 1,
    });
    Ok(Parsed {
        nodes: rows,
        names: None,
        edges: edges.collect(),
        left_out: is_weighted.then(|| "the values of entries".to_owned()),
    })
}
