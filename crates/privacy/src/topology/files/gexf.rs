//! GEXF 1.1 to 1.3 (Gephi): nodes with ids and labels, and edges.
//!
//! ```text
//! file  = well-formed XML in UTF-8, with one flat `graph`
//! graph = [defaultedgetype="undirected" | "directed" | "mutual"] { node | edge | anything else }
//! node  = id, [label]
//! edge  = source, target, [type="undirected" | "directed" | "mutual"]
//! ```
//!
//! A mutual edge has both directions. Weights, attributes, pictures and times are skipped; nodes within nodes are refused. Labels name nodes; where
//! the nodes are called 0 to n − 1, these are the node numbers.

use quick_xml::events::BytesStart;

use super::super::file_problem::{FileProblem, shortened};
use super::parsed::{Builder, Fault, Parsed};
use super::xml::{self, Elements, attribute, required};

/// Reads a GEXF file.
pub(super) fn parse(text: &str) -> Result<Parsed, Fault> {
    let mut state = State::default();
    let line = xml::walk(text, &mut state)?;
    if !state.graph_seen {
        return Err((line, xml::ended_before("a `graph` element")));
    }
    Ok(state.builder.finish()?.numbered())
}

#[derive(Default)]
struct State {
    builder: Builder,
    graph_seen: bool,
    directed: bool,
    /// The depth of the node that is being read.
    node: Option<usize>,
}

impl Elements for State {
    fn start(&mut self, element: &BytesStart<'_>, depth: usize, line: usize) -> Result<(), Fault> {
        let unsupported =
            |feature, instead| Err((line, FileProblem::Unsupported { feature, instead }));
        match element.local_name().as_ref() {
            b"graph" if self.graph_seen => {
                return unsupported("a second or nested graph", "keep one flat graph");
            }
            b"graph" => {
                self.graph_seen = true;
                let default = attribute(element, "defaultedgetype", line)?;
                self.directed = is_directed(default.as_deref(), false, line)?;
            }
            b"node" if self.node.is_some() => {
                return unsupported("a node within a node", "keep one flat graph");
            }
            b"node" => {
                self.node = Some(depth);
                let id = required(element, "id", "a node", line)?;
                let label = attribute(element, "label", line)?;
                let label = label.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
                self.builder.node(id, label, line)?;
            }
            b"edge" => {
                let directed = attribute(element, "type", line)?;
                let directed = is_directed(directed.as_deref(), self.directed, line)?;
                let source = required(element, "source", "an edge", line)?;
                let target = required(element, "target", "an edge", line)?;
                self.builder.edge(source, target, directed, line)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, depth: usize) -> Result<(), Fault> {
        self.node.take_if(|of| *of == depth);
        Ok(())
    }
}

fn is_directed(found: Option<&str>, default: bool, line: usize) -> Result<bool, Fault> {
    match found {
        None => Ok(default),
        Some("undirected" | "mutual") => Ok(false),
        Some("directed") => Ok(true),
        Some(other) => {
            let expected = "\"undirected\", \"directed\" or \"mutual\"";
            let found = shortened(other);
            Err((line, FileProblem::Unexpected { expected, found }))
        }
    }
}
