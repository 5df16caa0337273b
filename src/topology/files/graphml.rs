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

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};

use super::super::file_problem::{FileProblem, shortened};
use super::parsed::{Builder, Fault, Parsed};

/// Limit on elements within elements.
const MAX_DEPTH: usize = 64;

/// Limit on an id or a name.
const MAX_NAME: usize = 4096;

/// A node that is being read.
struct Node {
    id: String,
    name: Option<String>,
    line: usize,
    depth: usize,
}

/// Reads a GraphML file with one flat graph.
pub(super) fn parse(text: &str) -> Result<Parsed, Fault> {
    let bytes = text.as_bytes();
    let mut xml = Reader::from_reader(bytes);
    let mut state = State::default();
    let (mut counted, mut line) = (0, 1);
    loop {
        let event = xml.read_event();
        // Count the lines up to the end of what was read; a fault is reported there.
        let position = usize::try_from(xml.buffer_position())
            .unwrap_or(usize::MAX)
            .clamp(counted, bytes.len());
        line += bytes[counted..position]
            .iter()
            .filter(|b| **b == b'\n')
            .count();
        counted = position;
        let fault = |problem| (line, problem);
        match event.map_err(|error| fault(not_xml(&error)))? {
            Event::Start(element) => {
                if state.depth >= MAX_DEPTH {
                    return Err(fault(FileProblem::TooDeep { most: MAX_DEPTH }));
                }
                state.depth += 1;
                state.start(&element, line)?;
            }
            Event::Empty(element) => {
                state.depth += 1;
                state.start(&element, line)?;
                state.end()?;
            }
            Event::End(_) => state.end()?,
            Event::Text(text) => {
                let text = text.decode().map_err(|_| fault(FileProblem::NotText))?;
                state.text(&text, line)?;
            }
            Event::CData(text) => {
                let text = text.decode().map_err(|_| fault(FileProblem::NotText))?;
                state.text(&text, line)?;
            }
            Event::GeneralRef(reference) => {
                let name = reference
                    .decode()
                    .map_err(|_| fault(FileProblem::NotText))?;
                let number = reference.resolve_char_ref();
                match (number, resolve_xml_entity(&name)) {
                    (Ok(Some(character)), _) => {
                        state.text(character.encode_utf8(&mut [0; 4]), line)?
                    }
                    (Ok(None), Some(text)) => state.text(text, line)?,
                    _ => {
                        let expected = "a predefined XML entity";
                        let found = shortened(&name);
                        return Err(fault(FileProblem::Unexpected { expected, found }));
                    }
                }
            }
            Event::Eof => break,
            Event::Decl(declaration) => {
                let encoding = declaration.encoding().and_then(Result::ok);
                let known = encoding
                    .is_none_or(|name| name.eq_ignore_ascii_case(b"utf-8") || text.is_ascii());
                if !known {
                    return Err(fault(FileProblem::Unsupported {
                        feature: "an encoding other than UTF-8",
                        instead: "convert the file to UTF-8 and change its declaration",
                    }));
                }
            }
            Event::Comment(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    if state.depth > 0 || !state.graph_seen {
        let expected = if state.graph_seen {
            "a closing tag"
        } else {
            "a `graph` element"
        };
        let found = "the end of the file".to_owned();
        return Err((line, FileProblem::Unexpected { expected, found }));
    }
    state.builder.finish()
}

#[derive(Default)]
struct State {
    builder: Builder,
    depth: usize,
    /// Ids of the `key` elements that declare a node's label or name.
    name_keys: BTreeSet<String>,
    graph_seen: bool,
    directed: bool,
    node: Option<Node>,
    /// Text of the name that is being read, and the depth of its element.
    name: Option<(String, usize)>,
}

impl State {
    fn start(&mut self, element: &BytesStart<'_>, line: usize) -> Result<(), Fault> {
        let unsupported =
            |feature, instead| Err((line, FileProblem::Unsupported { feature, instead }));
        let required = |name: &'static str, of: &'static str| {
            attribute(element, name, line)?.ok_or_else(|| {
                let problem = FileProblem::Missing {
                    element: of,
                    attribute: name,
                };
                (line, problem)
            })
        };
        if let Some(error) = element.attributes().find_map(Result::err) {
            return Err((line, not_xml(&error)));
        }
        for expected in ["`graph`", "`node`", "`edge`"] {
            let name = expected.trim_matches('`').as_bytes();
            let local = element.local_name();
            let found = local.as_ref();
            if found.eq_ignore_ascii_case(name) && found != name {
                let found = shortened(&String::from_utf8_lossy(found));
                return Err((line, FileProblem::Unexpected { expected, found }));
            }
        }
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
                    depth: self.depth,
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
                self.name = Some((String::new(), self.depth));
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str, line: usize) -> Result<(), Fault> {
        if self.depth == 0 && !text.trim().is_empty() {
            let expected = "elements alone at the outermost level";
            let found = shortened(text.trim());
            return Err((line, FileProblem::Unexpected { expected, found }));
        }
        if let Some((name, _)) = &mut self.name {
            if name.len() + text.len() > MAX_NAME {
                return Err((line, FileProblem::TooLong { most: MAX_NAME }));
            }
            name.push_str(text);
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        if let Some((name, _)) = self.name.take_if(|(_, depth)| *depth == self.depth)
            && let Some(node) = &mut self.node
        {
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            node.name.get_or_insert(name);
        }
        if let Some(node) = self.node.take_if(|node| node.depth == self.depth) {
            self.builder.node(node.id, node.name, node.line)?;
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }
}

/// The value of an attribute, with its entities resolved.
fn attribute(
    element: &BytesStart<'_>,
    name: &'static str,
    line: usize,
) -> Result<Option<String>, Fault> {
    let fault = |error: &dyn std::fmt::Display| (line, not_xml(error));
    let Some(found) = element
        .try_get_attribute(name)
        .map_err(|error| fault(&error))?
    else {
        return Ok(None);
    };
    let value = found.unescape_value().map_err(|error| fault(&error))?;
    if value.len() > MAX_NAME {
        return Err((line, FileProblem::TooLong { most: MAX_NAME }));
    }
    Ok(Some(value.into_owned()))
}

fn not_xml(error: &dyn std::fmt::Display) -> FileProblem {
    FileProblem::Xml {
        reason: error.to_string().chars().take(200).collect(),
    }
}
