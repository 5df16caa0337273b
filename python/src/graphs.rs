//! Graph files, for Python.

use std::path::PathBuf;

use numpy::PyArray2;
use pyo3::prelude::*;
use undertone::topology::{LoadOptions, load_graph};

use crate::failure::Failure;

/// Names (`None` where nodes are numbers), number of nodes, edges of shape (m, 2), and what of the file is no part of the graph.
type Read<'py> = (
    Option<Vec<String>>,
    usize,
    Bound<'py, PyArray2<u32>>,
    Option<String>,
);

/// Reads a graph file, connected or not.
#[pyfunction]
#[pyo3(signature = (path))]
pub(crate) fn read_graph(py: Python<'_>, path: PathBuf) -> PyResult<Read<'_>> {
    let options = LoadOptions {
        disconnected: true,
        ..LoadOptions::default()
    };
    let (graph, provenance) = py
        .detach(|| load_graph(&path, options))
        .map_err(Failure::from)?;
    let edges: Vec<Vec<u32>> = graph.edge_list().map(|(u, v)| vec![u, v]).collect();
    let edges = match edges.is_empty() {
        true => PyArray2::zeros(py, [0, 2], false),
        false => PyArray2::from_vec2(py, &edges)?,
    };
    let names = graph.names().map(<[String]>::to_vec);
    Ok((names, graph.nodes(), edges, provenance.left_out))
}
