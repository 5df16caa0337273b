//! The edges that lines or records name, and how they become a graph.

use std::collections::BTreeSet;

use super::super::file_problem::{FileProblem, shortened};
use super::edge_line::Edge;
use super::headings::{Columns, counts, is_word};
use super::parsed::{Fault, MAX_EDGES, MAX_NODES, Numbering, Parsed, ParsedEdge, node_number};

/// Fields that would be neighbours if lines were lists of them, until something shows that they are not.
#[derive(Debug, Default)]
struct Neighbours {
    of: BTreeSet<u32>,
    named: BTreeSet<String>,
}

/// Edges as they are read.
#[derive(Debug, Default)]
pub(super) struct Table {
    numbering: Numbering,
    edges: Vec<ParsedEdge>,
    /// Names of nodes by their numbers, from comments.
    named: Vec<(String, String, usize)>,
    /// Whether the file says that edges have a direction.
    pub(super) directed: bool,
    /// The number of nodes that the first line gives.
    count: Option<usize>,
    /// What the first line names, if it may be headings. It is read as an edge until the end, since two nodes may be called so.
    headings: Option<Columns>,
    /// The ids of the first edge.
    first: Option<(String, String)>,
    /// How many fields stand behind the ids, and where that was seen first.
    more: Option<(usize, usize)>,
    attributes: bool,
    neighbours: Option<Neighbours>,
}

impl Table {
    /// A comment that names a node.
    pub(super) fn name(&mut self, number: &str, name: &str, line: usize) {
        self.named.push((number.to_owned(), name.to_owned(), line));
    }

    /// A table whose columns have these names.
    pub(super) fn headed(columns: Columns) -> Self {
        Self {
            headings: Some(columns),
            ..Self::default()
        }
    }

    /// A line with one field: on the first line a number of nodes.
    pub(super) fn single(&mut self, field: &str, line: usize) -> Result<(), Fault> {
        let number = field.parse().ok().filter(|n| *n <= MAX_NODES);
        match number {
            Some(number) if self.edges.is_empty() && self.count.is_none() => {
                self.count = Some(number);
                Ok(())
            }
            _ => Err((line, FileProblem::FieldCount { found: 1 })),
        }
    }

    /// A line with an edge, or with the headings of columns.
    pub(super) fn edge(&mut self, edge: &Edge<'_>, line: usize) -> Result<(), Fault> {
        let fault = |problem| (line, problem);
        let found = 2 + edge.more.len();
        let (expected, first) = *self.more.get_or_insert((found, line));
        if found != expected {
            return Err(fault(FileProblem::FieldsDiffer {
                found,
                expected,
                first,
            }));
        }
        let is_first = self.first.is_none();
        if is_first {
            self.first = Some((edge.source.to_owned(), edge.target.to_owned()));
            self.neighbours = Some(Neighbours::default());
            let fields = [&[edge.source, edge.target], &edge.more[..]].concat();
            self.headings = Columns::of_ends_first(&fields);
        }
        let is_number = |field: &&&str| field.parse::<f64>().is_ok_and(f64::is_finite);
        if self.headings.is_none()
            && let Some(other) = edge.more.iter().find(|field| !is_number(field))
        {
            if is_first && [edge.source, edge.target].iter().all(|id| is_word(id)) {
                let found = format!("{} {}", shortened(edge.source), shortened(edge.target));
                return Err(fault(FileProblem::WordHeader { found }));
            }
            return Err(fault(FileProblem::ColumnOfWords {
                found: shortened(other),
            }));
        }
        self.attributes |= edge.attributes;
        let source = self.add((edge.source, edge.target), line)?;
        if !(is_first && self.headings.is_some()) {
            self.note_neighbours(source, edge);
        }
        Ok(())
    }

    /// One more edge between these; the number of its first end.
    pub(super) fn add(&mut self, ids: (&str, &str), line: usize) -> Result<u32, Fault> {
        let fault = |problem| (line, problem);
        if self.edges.len() >= MAX_EDGES {
            return Err(fault(FileProblem::TooManyEdges { most: MAX_EDGES }));
        }
        let source = self.numbering.define(ids.0).map_err(fault)?.0;
        let target = self.numbering.define(ids.1).map_err(fault)?.0;
        self.edges.push(ParsedEdge {
            source,
            target,
            directed: false,
            line,
        });
        Ok(source)
    }

    fn note_neighbours(&mut self, source: u32, edge: &Edge<'_>) {
        let Some(neighbours) = &mut self.neighbours else {
            return;
        };
        let fields = || [&[edge.source, edge.target], &edge.more[..]].concat();
        let is_list = !edge.more.is_empty()
            && !edge.attributes
            && neighbours.of.insert(source)
            && fields().iter().collect::<BTreeSet<_>>().len() == fields().len();
        match is_list {
            true => {
                let more = edge.more.iter().map(|field| (*field).to_owned());
                neighbours.named.extend(more);
            }
            false => self.neighbours = None,
        }
    }

    /// The graph of all that was read.
    pub(super) fn finish(mut self) -> Result<Parsed, Fault> {
        let Some(start) = self.edges.first().map(|edge| edge.line) else {
            return self.numbered(None);
        };
        let fault = |problem| Err((start, problem));
        let columns = self.columns().map_err(|problem| (start, problem))?;
        if columns.is_none()
            && let Some(neighbours) = &self.neighbours
            && self.edges.len() > 1
            && neighbours
                .named
                .iter()
                .all(|id| self.numbering.get(id).is_some())
        {
            return fault(FileProblem::NeighbourLists);
        }
        self.numbered(columns.as_ref())
    }

    /// The columns that the first line names; nothing where it is an edge.
    fn columns(&mut self) -> Result<Option<Columns>, FileProblem> {
        let Some((source, target)) = self.first.take() else {
            // The headings of records were taken off before.
            return Ok(self.headings.take());
        };
        let found = format!("{} {}", shortened(&source), shortened(&target));
        let own = [self.edges[0].source, self.edges[0].target];
        let rest = &self.edges[1..];
        let is_named = |end: u32| {
            let ends = rest.iter().flat_map(|edge| [edge.source, edge.target]);
            ends.into_iter().any(|other| other == end)
        };
        if let Some(columns) = self.headings.take() {
            let elsewhere = own.iter().any(|end| is_named(*end));
            if rest.is_empty() || elsewhere && columns.len() == 2 {
                return Ok(None);
            }
            if elsewhere {
                return Err(FileProblem::WordHeader { found });
            }
            self.edges.remove(0);
            for edge in &mut self.edges {
                // They were numbered first.
                edge.source -= 2;
                edge.target -= 2;
            }
            self.numbering = std::mem::take(&mut self.numbering).without_first(2);
            return Ok(Some(columns));
        }
        if rest.is_empty() {
            return Ok(None);
        }
        if self.count.is_none() && counts((&source, &target), &self.edges, self.numbering.len()) {
            return Err(FileProblem::CountHeader { found });
        }
        let others = || {
            let ids = self.numbering.ids();
            ids.filter(|id| *id != source && *id != target)
        };
        let alone = is_word(&source) && is_word(&target) && !others().any(is_word);
        match alone && !own.iter().any(|end| is_named(*end)) {
            true => Err(FileProblem::WordHeader { found }),
            false => Ok(None),
        }
    }

    fn numbered(self, columns: Option<&Columns>) -> Result<Parsed, Fault> {
        let left_out = self.left_out(columns);
        let Self {
            numbering,
            mut edges,
            named,
            directed,
            count,
            ..
        } = self;
        for edge in &mut edges {
            edge.directed = directed;
        }
        if !directed && is_listed_from_both_ends(&edges) {
            edges.iter_mut().for_each(|edge| edge.directed = true);
        }
        let nodes = count.unwrap_or(numbering.len());
        let ids = numbering.into_ids();
        let number = |id: &String| node_number(id, nodes);
        let numbers: Option<Vec<u32>> = ids.iter().map(number).collect();
        let names = match numbers {
            // Distinct canonical numbers below their count are all of 0..n.
            Some(numbers) => {
                for edge in &mut edges {
                    edge.source = numbers[edge.source as usize];
                    edge.target = numbers[edge.target as usize];
                }
                names_in_comments(&named, nodes)?
            }
            None if count.is_some() => {
                let other = ids.iter().find(|id| number(id).is_none());
                let found = shortened(other.map_or("", String::as_str));
                return Err((1, FileProblem::NodesCounted { nodes, found }));
            }
            None => Some(ids),
        };
        Ok(Parsed {
            nodes,
            names,
            edges,
            left_out,
        })
    }

    /// What the file holds beside the edges.
    fn left_out(&self, columns: Option<&Columns>) -> Option<String> {
        let more = self.more.map_or(0, |(fields, _)| fields - 2);
        let columns = match columns {
            Some(columns) => columns.others(),
            None if more == 1 => Some("a column of numbers".to_owned()),
            None if more > 1 => Some(format!("{more} columns of numbers")),
            None => None,
        };
        // How many is not said: the file may be somebody's private graph.
        let attributes = self
            .attributes
            .then(|| "the attributes of edges".to_owned());
        let parts: Vec<String> = columns.into_iter().chain(attributes).collect();
        (!parts.is_empty()).then(|| parts.join(" and "))
    }
}

/// Whether every edge stands there twice, once from either end.
fn is_listed_from_both_ends(edges: &[ParsedEdge]) -> bool {
    if edges.is_empty() || edges.len() % 2 == 1 {
        return false;
    }
    let mut pairs: Vec<_> = edges
        .iter()
        .map(|e| (e.source.min(e.target), e.source.max(e.target), e.source))
        .collect();
    pairs.sort_unstable();
    let (twos, _) = pairs.as_chunks::<2>();
    let is_pair =
        |[(u, v, from), (w, x, other)]: &[(u32, u32, u32); 2]| (u, v) == (w, x) && from != other;
    twos.iter().all(is_pair)
        && !pairs
            .windows(3)
            .any(|three| three[0].0 == three[2].0 && three[0].1 == three[2].1)
}

/// The names from `# node` comments, if they name every node once and no two alike.
fn names_in_comments(
    named: &[(String, String, usize)],
    nodes: usize,
) -> Result<Option<Vec<String>>, Fault> {
    if named.len() != nodes {
        return Ok(None);
    }
    let mut names = vec![String::new(); nodes];
    let mut numbering = Numbering::default();
    for (number, name, line) in named {
        let Some(node) = node_number(number, nodes) else {
            return Ok(None);
        };
        let slot = &mut names[node as usize];
        if !slot.is_empty() || name.is_empty() {
            return Ok(None);
        }
        slot.clone_from(name);
        numbering.define(name).map_err(|problem| (*line, problem))?;
    }
    let distinct: BTreeSet<&String> = names.iter().collect();
    Ok((distinct.len() == nodes).then_some(names))
}
