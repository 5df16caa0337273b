//! GraphML (Brandes et al. 2002): nodes and edges with ids, names in `label` or `name` data.
//!
//! # Grammar
//!
//! ```text
//! file  = well-formed XML 1.0 in UTF-8 (or declared otherwise and all ASCII), with one flat `graph`
//! graph = [edgedefault="undirected" | "directed"] { node | edge | anything else that is no graph or hyperedge }
//! node  = id, and at most the first `data` whose `key` is declared as a node's label or name is its name
//! edge  = source, target, [directed="true" | "false" | "1" | "0"]
//! ```
//!
//! Other elements and attributes, such as weights, are skipped; `graph`, `node` and `edge` in another case are
//! refused, and so is text outside the outermost element. Blanks in names are made one. External entities are
//! never resolved, and a reference to an entity XML does not predefine is refused.

use std::collections::BTreeSet;

use quick_xml::events::BytesStart;

use super::super::file_problem::{FileProblem, shortened};
use super::parsed::{Builder, Fault, Parsed};
use super::xml::{self, Elements, MAX_NAME, attribute, required};

/// A node that is being read.
struct Node {
    id: String,
    name: Option<String>,
    line: usize,
    depth: usize,
}

/// Reads a GraphML file with one flat graph.
pub(super) fn parse(text: &str) -> Result<Parsed, Fault> {
    let mut state = State::default();
    let line = xml::walk(text, &mut state)?;
    if !state.graph_seen {
        return Err((line, xml::ended_before("a `graph` element")));
    }
    state.builder.finish()
}

#[derive(Default)]
struct State {
    builder: Builder,
    /// Ids of the `key` elements that declare a node's label or name.
    name_keys: BTreeSet<String>,
    graph_seen: bool,
    directed: bool,
    node: Option<Node>,
    /// Text of the name that is being read, and the depth of its element.
    name: Option<(String, usize)>,
}

impl Elements for State {
    fn start(&mut self, element: &BytesStart<'_>, depth: usize, line: usize) -> Result<(), Fault> {
        let unsupported =
            |feature, instead| Err((line, FileProblem::Unsupported { feature, instead }));
        let required = |name, of| required(element, name, of, line);
        match element.local_name().as_ref() {
            b"key" => {
                let of = attribute(element, "for", line)?;
                let name = attribute(element, "attr.name", line)?.unwrap_or_default();
                let is_name = ["label", "name"].contains(&name.to_lowercase().as_str());
                if is_name && of.is_none_or(|of| of == "node" || of == "all") {
                    self.name_keys.insert(required("id", "a key")?);
                }
            }
            b"graph" if self.graph_seen => {
                return unsupported("a second or nested graph", "keep one flat graph");
            }
            b"graph" => {
                self.graph_seen = true;
                self.directed = match attribute(element, "edgedefault", line)?.as_deref() {
                    None | Some("undirected") => false,
                    Some("directed") => true,
                    Some(other) => {
                        let expected = "edgedefault=\"undirected\" or \"directed\"";
                        let found = shortened(other);
                        return Err((line, FileProblem::Unexpected { expected, found }));
                    }
                };
            }
            b"hyperedge" => return unsupported("a hyperedge", "replace it by edges"),
            b"node" => {
                self.node = Some(Node {
                    id: required("id", "a node")?,
                    name: None,
                    line,
                    depth,
                });
            }
            b"edge" => {
                let directed = match attribute(element, "directed", line)?.as_deref() {
                    None => self.directed,
                    Some("true" | "1") => true,
                    Some("false" | "0") => false,
                    Some(other) => {
                        let expected = "directed=\"true\" or \"false\"";
                        let found = shortened(other);
                        return Err((line, FileProblem::Unexpected { expected, found }));
                    }
                };
                let source = required("source", "an edge")?;
                let target = required("target", "an edge")?;
                self.builder.edge(source, target, directed, line)?;
            }
            b"data"
                if self.node.is_some() && self.name_keys.contains(&required("key", "data")?) =>
            {
                self.name = Some((String::new(), depth));
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str, line: usize) -> Result<(), Fault> {
        if let Some((name, _)) = &mut self.name {
            if name.len() + text.len() > MAX_NAME {
                return Err((line, FileProblem::TooLong { most: MAX_NAME }));
            }
            name.push_str(text);
        }
        Ok(())
    }

    fn end(&mut self, depth: usize) -> Result<(), Fault> {
        if let Some((name, _)) = self.name.take_if(|(_, of)| *of == depth)
            && let Some(node) = &mut self.node
        {
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            node.name.get_or_insert(name);
        }
        if let Some(node) = self.node.take_if(|node| node.depth == depth) {
            self.builder.node(node.id, node.name, node.line)?;
        }
        Ok(())
    }
}
