//! Edge lists as they are written.

use std::io::{self, Write};

use super::edges::MAX_LINE;
use super::parsed::Numbering;
use crate::topology::Graph;
use crate::vocabulary::{hidden, printed};

/// Writes `graph` as an edge list that reads back as an equal graph: node numbers, one edge per line in
/// ascending order, and names, if there are any, in `# node` comments.
///
/// # Errors
/// Those of `out`, and [`io::ErrorKind::InvalidInput`] for what the format cannot hold: a node without
/// edges, or a name that is blank at an end, longer than a line may be, on several lines, with characters that
/// cannot be seen, or only another spelling of a name before it.
pub fn write_edges(graph: &Graph, mut out: impl Write) -> io::Result<()> {
    let refuse = |what: String| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    if let Some(node) = (0..graph.nodes()).find(|node| graph.degree(*node) == 0) {
        return refuse(format!(
            "node {} has no edges and cannot be in an edge list",
            graph.printed(node)
        ));
    }
    writeln!(out, "# {} nodes, {} edges", graph.nodes(), graph.edges())?;
    let mut numbering = Numbering::default();
    for (node, name) in graph.names().unwrap_or_default().iter().enumerate() {
        if name.is_empty()
            || name.trim() != name
            || hidden(name).is_some()
            || name.len() > MAX_LINE - 32
            || numbering.define(name).is_err()
        {
            return refuse(format!(
                "the name {} cannot be in an edge list",
                printed(name)
            ));
        }
        writeln!(out, "# node {node} {name}")?;
    }
    for (u, v) in graph.edge_list() {
        writeln!(out, "{u} {v}")?;
    }
    out.flush()
}
