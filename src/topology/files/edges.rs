//! Edge lists: two node ids per line.
//!
//! Ids are separated by white space; `#` starts a comment. Where the ids are exactly the numbers 0 to
//! n − 1 they are the node numbers, and comments of the form `# node 3 Oslo` name nodes, provided they
//! name every one, distinctly. Otherwise ids are names, and nodes are numbered in order of appearance.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::parsed::{Fault, MAX_EDGES, Numbering, Parsed, ParsedEdge};
use super::problem::FileProblem;
use crate::topology::Graph;
use crate::vocabulary::printed;

/// Limit on the length of a line.
const MAX_LINE: usize = 4096;

/// Reads an edge list.
pub(super) fn parse(bytes: &[u8]) -> Result<Parsed, Fault> {
    let mut numbering = Numbering::default();
    let mut edges = Vec::new();
    let mut named = Vec::new();
    for (line, bytes) in (1..).zip(bytes.split(|b| *b == b'\n')) {
        if bytes.len() > MAX_LINE {
            return Err((line, FileProblem::TooLong { most: MAX_LINE }));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| (line, FileProblem::NotText))?;
        let (content, comment) = text.split_once('#').unwrap_or((text, ""));
        if let Some(name) = comment.trim().strip_prefix("node ")
            && content.trim().is_empty()
            && let Some((number, name)) = name.split_once(' ')
        {
            named.push((number, name));
        }
        let mut fields = content.split_whitespace();
        let (source, target) = match (fields.next(), fields.next()) {
            (None, _) => continue,
            (Some(source), Some(target)) if fields.next().is_none() => (source, target),
            _ => {
                let found = content.split_whitespace().count();
                return Err((line, FileProblem::FieldCount { found }));
            }
        };
        if edges.len() >= MAX_EDGES {
            return Err((line, FileProblem::TooManyEdges { most: MAX_EDGES }));
        }
        edges.push(ParsedEdge {
            source: numbering.define(source).map_err(|p| (line, p))?.0,
            target: numbering.define(target).map_err(|p| (line, p))?.0,
            directed: false,
            line,
        });
    }
    let nodes = numbering.len();
    let ids = numbering.into_ids();
    let numbers: Option<Vec<u32>> = ids.iter().map(|id| node_number(id, nodes)).collect();
    let names = match numbers {
        // Distinct canonical numbers below their count are all of 0..n.
        Some(numbers) => {
            for edge in &mut edges {
                edge.source = numbers[edge.source as usize];
                edge.target = numbers[edge.target as usize];
            }
            names_in_comments(&named, nodes)
        }
        None => Some(ids),
    };
    Ok(Parsed {
        nodes,
        names,
        edges,
    })
}

/// The number an id is the canonical decimal form of, if it is below `nodes`.
fn node_number(id: &str, nodes: usize) -> Option<u32> {
    let number: u32 = id.parse().ok()?;
    ((number as usize) < nodes && number.to_string() == id).then_some(number)
}

/// The names from `# node` comments, if they name every node once and no two alike.
fn names_in_comments(named: &[(&str, &str)], nodes: usize) -> Option<Vec<String>> {
    if named.len() != nodes {
        return None;
    }
    let mut names = vec![String::new(); nodes];
    for (number, name) in named {
        let slot = &mut names[node_number(number, nodes)? as usize];
        if !slot.is_empty() || name.is_empty() {
            return None;
        }
        *slot = (*name).to_owned();
    }
    let distinct: BTreeSet<&String> = names.iter().collect();
    (distinct.len() == nodes).then_some(names)
}

/// Writes `graph` as an edge list that reads back as an equal graph: node numbers, one edge per line in
/// ascending order, and names, if there are any, in `# node` comments.
///
/// # Errors
/// Those of `out`, and [`io::ErrorKind::InvalidInput`] for what the format cannot hold: a node without
/// edges, or a name that is blank at an end, longer than a line may be, or on several lines.
pub fn write_edges(graph: &Graph, mut out: impl Write) -> io::Result<()> {
    let refuse = |what: String| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    if let Some(node) = (0..graph.nodes()).find(|node| graph.degree(*node) == 0) {
        return refuse(format!(
            "node {} has no edges and cannot be in an edge list",
            graph.printed(node)
        ));
    }
    writeln!(out, "# {} nodes, {} edges", graph.nodes(), graph.edges())?;
    for (node, name) in graph.names().unwrap_or_default().iter().enumerate() {
        if name.is_empty()
            || name.trim() != name
            || name.contains('\n')
            || name.len() > MAX_LINE - 32
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
