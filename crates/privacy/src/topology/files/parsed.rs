//! The nodes and edges that every reader of graph files produces, and how they become a graph.

use std::collections::{BTreeMap, BTreeSet};

use super::super::file_problem::{FileProblem, shortened};
use crate::topology::Graph;
use crate::vocabulary::{Spellings, hidden};

/// Limit on nodes of a file.
pub(super) const MAX_NODES: usize = 4_000_000;

/// Limit on edges of a file, repetitions included.
pub(super) const MAX_EDGES: usize = 50_000_000;

/// A fault and its line.
pub(super) type Fault = (usize, FileProblem);

/// An edge as it stands in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ParsedEdge {
    pub(super) source: u32,
    pub(super) target: u32,
    /// Declared one-way: its reverse must be there too, and the two are one edge.
    pub(super) directed: bool,
    pub(super) line: usize,
}

/// The content of a graph file.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) nodes: usize,
    /// One per node, distinct.
    pub(super) names: Option<Vec<String>>,
    pub(super) edges: Vec<ParsedEdge>,
    /// What else the file holds, which is no part of a graph; for a message.
    pub(super) left_out: Option<String>,
}

impl Parsed {
    /// The same with names that are exactly 0 to n − 1 taken for the numbers of the nodes.
    pub(super) fn numbered(mut self) -> Self {
        let nodes = self.nodes;
        let number = |name: &String| node_number(name, nodes);
        let names = self.names.as_ref();
        let numbers: Option<Vec<u32>> = names.and_then(|names| names.iter().map(number).collect());
        if let Some(numbers) = numbers {
            for edge in &mut self.edges {
                edge.source = numbers[edge.source as usize];
                edge.target = numbers[edge.target as usize];
            }
            self.names = None;
        }
        self
    }

    /// The simple graph, connected or not.
    pub(super) fn into_graph(self, merge_parallel: bool) -> Result<Graph, Fault> {
        let name = |node: u32| match &self.names {
            Some(names) => shortened(&names[node as usize]),
            None => node.to_string(),
        };
        if self.nodes == 0 {
            return Err((1, FileProblem::Empty));
        }
        if let Some(edge) = self.edges.iter().find(|e| e.source == e.target) {
            let node = name(edge.source);
            return Err((edge.line, FileProblem::SelfLoop { node }));
        }
        let mut edges = undirected(&self.edges, name)?;
        edges.sort_unstable();
        // The fault on the lowest line, so that the report does not depend on node numbers.
        let repeated = edges
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0)
            .min_by_key(|pair| pair[1].1);
        if let Some(pair) = repeated
            && !merge_parallel
        {
            let ((u, v), first) = pair[0];
            let problem = FileProblem::ParallelEdge {
                u: name(u),
                v: name(v),
                first,
            };
            return Err((pair[1].1, problem));
        }
        let mut pairs: Vec<_> = edges.into_iter().map(|(pair, _)| pair).collect();
        pairs.dedup();
        let graph = Graph::from_edges(self.nodes, &pairs)
            .expect("ends are in range, and loops and repetitions were removed above");
        Ok(match self.names {
            Some(names) => graph
                .with_names(names)
                .expect("readers give one name per node"),
            None => graph,
        })
    }
}

/// The number an id is the canonical decimal form of, if it is below `nodes`.
pub(super) fn node_number(id: &str, nodes: usize) -> Option<u32> {
    let number: u32 = id.parse().ok()?;
    ((number as usize) < nodes && number.to_string() == id).then_some(number)
}

/// An edge as (lower end, upper end), and its line.
type PlacedEdge = ((u32, u32), usize);

/// The edges without directions, with every pair of directed edges made one.
fn undirected(
    edges: &[ParsedEdge],
    name: impl Fn(u32) -> String,
) -> Result<Vec<PlacedEdge>, Fault> {
    let mut result = Vec::with_capacity(edges.len());
    let mut one_way: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for edge in edges {
        let (u, v) = (edge.source, edge.target);
        if edge.directed {
            one_way.entry((u, v)).or_default().push(edge.line);
        } else {
            result.push(((u.min(v), u.max(v)), edge.line));
        }
    }
    let mut faults = Vec::new();
    for ((u, v), lines) in &one_way {
        let back = one_way.get(&(*v, *u)).map_or(0, Vec::len);
        faults.extend(lines.iter().skip(back).map(|line| (*line, *u, *v)));
        if u < v {
            result.extend(lines.iter().map(|line| ((*u, *v), *line)));
        }
    }
    match faults.into_iter().min() {
        None => Ok(result),
        Some((line, u, v)) => Err((
            line,
            FileProblem::OneWay {
                source_node: name(u),
                target: name(v),
            },
        )),
    }
}

/// Distinct names from labels that need not be: a node without a label is named by its id, and a label
/// that several nodes carry is followed by the id in parentheses.
pub(super) fn distinct_names(nodes: &[(String, Option<String>)]) -> Vec<String> {
    let wanted = |(id, label): &(String, Option<String>)| label.as_ref().unwrap_or(id).clone();
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for node in nodes {
        *uses.entry(wanted(node)).or_default() += 1;
    }
    let mut taken: BTreeSet<String> = uses
        .iter()
        .filter(|(_, count)| **count == 1)
        .map(|(name, _)| name.clone())
        .collect();
    nodes
        .iter()
        .map(|node| {
            let mut name = wanted(node);
            if uses[&name] > 1 {
                // Another node may be called like that: ids are distinct, so repeating ends.
                while !taken.insert(format!("{name} ({})", node.0)) {
                    name = format!("{name} ({})", node.0);
                }
                name = format!("{name} ({})", node.0);
            }
            name
        })
        .collect()
}

/// Numbers for ids in order of definition.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    numbers: BTreeMap<String, u32>,
    spellings: Spellings,
}

impl Numbering {
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn get(&self, id: &str) -> Option<u32> {
        self.numbers.get(id).copied()
    }

    /// The ids, in no order that means anything.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.numbers.keys().map(String::as_str)
    }

    /// The number of `id`, a new one if it has none, and whether it is new. An id that is another spelling of
    /// one before is refused.
    pub(super) fn define(&mut self, id: &str) -> Result<(u32, bool), FileProblem> {
        if let Some(number) = self.get(id) {
            return Ok((number, false));
        }
        if self.len() >= MAX_NODES {
            return Err(FileProblem::TooManyNodes { most: MAX_NODES });
        }
        let known = |form: &str| self.numbers.contains_key(form);
        if let Some(earlier) = self.spellings.clash(id, known) {
            return Err(FileProblem::Spelling {
                name: shortened(id),
                earlier: shortened(&earlier),
            });
        }
        let number = self.len() as u32;
        self.numbers.insert(id.to_owned(), number);
        Ok((number, true))
    }

    /// The same without the ids that were defined first.
    pub(super) fn without_first(self, count: u32) -> Self {
        let numbers = self.numbers.into_iter();
        let left = numbers.filter_map(|(id, number)| Some((id, number.checked_sub(count)?)));
        Self {
            numbers: left.collect(),
            spellings: self.spellings,
        }
    }

    /// The ids in the order of their numbers.
    pub(super) fn into_ids(self) -> Vec<String> {
        let mut ids: Vec<_> = self.numbers.into_iter().collect();
        ids.sort_unstable_by_key(|(_, number)| *number);
        ids.into_iter().map(|(id, _)| id).collect()
    }
}

/// A graph described by nodes and edges in any order, as in GraphML and GML.
#[derive(Default)]
pub(super) struct Builder {
    numbering: Numbering,
    /// What nodes will be called: labels, and ids where there is none.
    names: Numbering,
    nodes: Vec<(String, Option<String>)>,
    edges: Vec<(String, String, bool, usize)>,
}

impl Builder {
    pub(super) fn node(
        &mut self,
        id: String,
        label: Option<String>,
        line: usize,
    ) -> Result<(), Fault> {
        let fault = |problem| (line, problem);
        let label = label.filter(|label| !label.is_empty());
        for text in std::iter::once(&id).chain(&label) {
            if let Some(found) = hidden(text) {
                return Err(fault(FileProblem::Hidden { found }));
            }
            // It shows as blanks and cannot be typed.
            if text.contains('\t') {
                return Err(fault(FileProblem::IdCharacter {
                    id: shortened(text),
                    character: "U+0009".to_owned(),
                }));
            }
        }
        let (_, new) = self.numbering.define(&id).map_err(fault)?;
        if !new {
            let id = shortened(&id);
            return Err((line, FileProblem::DuplicateNode { id }));
        }
        let name = label.as_ref().unwrap_or(&id);
        self.names.define(name).map_err(fault)?;
        self.nodes.push((id, label));
        Ok(())
    }

    pub(super) fn edge(
        &mut self,
        source: String,
        target: String,
        directed: bool,
        line: usize,
    ) -> Result<(), Fault> {
        if self.edges.len() >= MAX_EDGES {
            return Err((line, FileProblem::TooManyEdges { most: MAX_EDGES }));
        }
        self.edges.push((source, target, directed, line));
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Parsed, Fault> {
        let number = |id: &str, line| {
            self.numbering.get(id).ok_or_else(|| {
                let id = shortened(id);
                (line, FileProblem::UnknownNode { id })
            })
        };
        let edges = self
            .edges
            .iter()
            .map(|(source, target, directed, line)| {
                Ok(ParsedEdge {
                    source: number(source, *line)?,
                    target: number(target, *line)?,
                    directed: *directed,
                    line: *line,
                })
            })
            .collect::<Result<_, Fault>>()?;
        Ok(Parsed {
            nodes: self.nodes.len(),
            names: Some(distinct_names(&self.nodes)),
            edges,
            left_out: None,
        })
    }
}
