//! Node-link JSON, as networkx, rustworkx and d3 write it.
//!
//! ```text
//! file = { ["directed": bool,] ["multigraph": bool,] "nodes": [ node … ], "links" | "edges": [ link … ], … }
//! node = { "id": id, ["name" | "label": string,] … }
//! link = { "source": id, "target": id, … }
//! id   = string | whole number
//! ```
//!
//! Other keys are skipped. Where the nodes are called 0 to n − 1, these are the node numbers. What is wrong with a node or a link is reported with
//! its line.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::file_problem::{FileProblem, shortened};
use super::parsed::{Builder, Fault, MAX_EDGES, MAX_NODES, Parsed};

/// The parts of a file whose places matter are kept as they stand.
#[derive(Deserialize)]
struct File<'a> {
    #[serde(default)]
    directed: bool,
    #[serde(borrow)]
    nodes: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    links: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    edges: Option<Vec<&'a RawValue>>,
}

/// An id as it is written.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Number(u64),
    Text(String),
}

impl Id {
    fn into_text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

#[derive(Deserialize)]
struct Node {
    id: Option<Id>,
    name: Option<Id>,
    label: Option<Id>,
}

#[derive(Deserialize)]
struct Link {
    source: Option<Id>,
    target: Option<Id>,
}

/// Reads a node-link file.
pub(super) fn parse(text: &str) -> Result<Parsed, Fault> {
    let file: File<'_> = serde_json::from_str(text).map_err(|error| {
        let reason = error.to_string().chars().take(200).collect();
        (error.line().max(1), FileProblem::Json { reason })
    })?;
    let missing = |attribute| {
        let element = "a node-link file";
        (1, FileProblem::Missing { element, attribute })
    };
    let nodes = file.nodes.ok_or_else(|| missing("nodes"))?;
    let links = match (file.links, file.edges) {
        (Some(_), Some(_)) => {
            let (feature, instead) = ("`links` beside `edges`", "keep one of the two");
            return Err((1, FileProblem::Unsupported { feature, instead }));
        }
        (links, edges) => links.or(edges).ok_or_else(|| missing("links"))?,
    };
    if nodes.len() > MAX_NODES {
        return Err((1, FileProblem::TooManyNodes { most: MAX_NODES }));
    }
    if links.len() > MAX_EDGES {
        return Err((1, FileProblem::TooManyEdges { most: MAX_EDGES }));
    }
    let mut lines = Lines {
        text,
        at: 0,
        line: 1,
    };
    let mut parts: Vec<(&RawValue, bool)> = nodes.iter().map(|node| (*node, true)).collect();
    parts.extend(links.iter().map(|link| (*link, false)));
    // Whichever of the two comes first in the file: lines are counted once.
    parts.sort_by_key(|(part, _)| part.get().as_ptr() as usize);
    let mut placed = BTreeMap::new();
    for (part, _) in &parts {
        let at = part.get().as_ptr() as usize - text.as_ptr() as usize;
        placed.insert(at, lines.up_to(at));
    }
    let line = |part: &RawValue| placed[&(part.get().as_ptr() as usize - text.as_ptr() as usize)];
    let mut builder = Builder::default();
    for node in &nodes {
        let line = line(node);
        let read: Node = object(
            node,
            line,
            "a node with an `id` that is a string or a whole number",
        )?;
        let id = required(read.id, "a node", "id", line)?.into_text();
        let name = read.label.or(read.name).map(Id::into_text);
        builder.node(id, name, line)?;
    }
    for link in &links {
        let line = line(link);
        let read: Link = object(
            link,
            line,
            "a link between ids that are strings or whole numbers",
        )?;
        let source = required(read.source, "a link", "source", line)?.into_text();
        let target = required(read.target, "a link", "target", line)?.into_text();
        builder.edge(source, target, file.directed, line)?;
    }
    Ok(builder.finish()?.numbered())
}

fn object<'a, T: Deserialize<'a>>(
    part: &'a RawValue,
    line: usize,
    expected: &'static str,
) -> Result<T, Fault> {
    serde_json::from_str(part.get()).map_err(|_| {
        let found = shortened(part.get());
        (line, FileProblem::Unexpected { expected, found })
    })
}

fn required(
    id: Option<Id>,
    element: &'static str,
    attribute: &'static str,
    line: usize,
) -> Result<Id, Fault> {
    id.ok_or((line, FileProblem::Missing { element, attribute }))
}

/// Counts lines on the way through a text.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn up_to(&mut self, at: usize) -> usize {
        let passed = &self.text.as_bytes()[self.at.min(at)..at];
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.at = at;
        self.line
    }
}
