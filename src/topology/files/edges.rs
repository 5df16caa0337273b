//! Edge lists: two node ids per line.
//!
//! # Grammar
//!
//! ```text
//! file      = [byte-order mark] { line ( LF | CR LF ) }
//! line      = [edge] [comment]                  blanks may stand at both ends
//! edge      = id blanks id  |  id [blanks] "," [blanks] id
//! comment   = "#" anything                      at the start of the line or behind a blank
//! blanks    = one or more spaces and tabs
//! id        = characters without blanks, , ; | # " [ ] ( ) { } < >, control characters, other white space and
//!             what cannot be seen; without ' ` : = at either end and * at the start
//! ```
//!
//! One file separates its ids in one of the two ways. What could be read in more than one way is refused with its
//! line: a third field (weights), quotes, brackets, other separators, comments that start with `%` or `//`, a
//! first line that counts nodes and edges or names columns, and two ids that are one in two spellings
//! ([`Spellings`](crate::vocabulary::Spellings)).
//!
//! Where the ids are exactly the numbers 0 to n − 1 they are the node numbers, and comments of the form
//! `# node 3 Oslo` name nodes, provided they name every one, distinctly. Otherwise ids are names, compared byte by
//! byte, and nodes are numbered in order of appearance.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::super::file_problem::{FileProblem, shortened};
use super::parsed::{Fault, MAX_EDGES, Numbering, Parsed, ParsedEdge};
use crate::topology::Graph;
use crate::vocabulary::{hidden, printed};

/// Limit on the length of a line.
const MAX_LINE: usize = 4096;

/// Reads an edge list.
pub(super) fn parse(text: &str) -> Result<Parsed, Fault> {
    let mut numbering = Numbering::default();
    let mut edges: Vec<ParsedEdge> = Vec::new();
    let mut named = Vec::new();
    let mut first = None;
    let mut separator = None;
    for (line, text) in (1..).zip(text.split_inclusive('\n')) {
        let fault = |problem| (line, problem);
        let text = text
            .strip_suffix('\n')
            .map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
        if text.len() > MAX_LINE {
            return Err(fault(FileProblem::TooLong { most: MAX_LINE }));
        }
        let (content, comment) = without_comment(text).map_err(fault)?;
        if let Some((number, name)) = comment.and_then(node_name) {
            visible(name).map_err(fault)?;
            if content.is_empty() {
                named.push((number, name, line));
            }
        }
        let Some((ends, found)) = ends(content).map_err(fault)? else {
            continue;
        };
        let (expected, since) = *separator.get_or_insert((found, line));
        if found != expected {
            return Err(fault(FileProblem::MixedSeparators { first: since }));
        }
        if edges.len() >= MAX_EDGES {
            return Err(fault(FileProblem::TooManyEdges { most: MAX_EDGES }));
        }
        edges.push(ParsedEdge {
            source: numbering.define(ends.0).map_err(fault)?.0,
            target: numbering.define(ends.1).map_err(fault)?.0,
            directed: false,
            line,
        });
        first.get_or_insert(ends);
    }
    if let Some(first) = first
        && let Some(problem) = header(first, &edges, &numbering)
    {
        return Err((edges[0].line, problem));
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
            names_in_comments(&named, nodes)?
        }
        None => Some(ids),
    };
    Ok(Parsed {
        nodes,
        names,
        edges,
    })
}

const BLANKS: [char; 2] = [' ', '\t'];

/// A line's content without the blanks around it, and its comment.
fn without_comment(text: &str) -> Result<(&str, Option<&str>), FileProblem> {
    let (content, comment) = match text.split_once('#') {
        Some((content, _)) if !content.is_empty() && !content.ends_with(BLANKS) => {
            return Err(id_problem(content, '#'));
        }
        Some((content, comment)) => (content, Some(comment)),
        None => (text, None),
    };
    if text.contains('\r') {
        // Read as the end of a line by some programs, which would then see other edges than others do.
        visible(text)?;
    }
    let content = content.trim_matches(BLANKS);
    if content.starts_with('%') || content.starts_with("//") {
        return Err(FileProblem::CommentSign {
            found: shortened(content),
        });
    }
    visible(content)?;
    Ok((content, comment))
}

fn visible(text: &str) -> Result<(), FileProblem> {
    match hidden(text) {
        None => Ok(()),
        Some(found) => Err(FileProblem::Hidden { found }),
    }
}

/// The number and the name of a comment `# node 3 Oslo`.
fn node_name(comment: &str) -> Option<(&str, &str)> {
    comment.trim().strip_prefix("node ")?.split_once(' ')
}

/// What stands between the ids of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    Blanks,
    Comma,
}

/// The two ids of an edge, and what separates them.
type Ends<'a> = ((&'a str, &'a str), Separator);

/// The ids on a line, if there are any.
fn ends(content: &str) -> Result<Option<Ends<'_>>, FileProblem> {
    if content.is_empty() {
        return Ok(None);
    }
    let (mut fields, separator): (Box<dyn Iterator<Item = &str>>, _) = if content.contains(',') {
        let fields = content.split(',').map(|field| field.trim_matches(BLANKS));
        (Box::new(fields), Separator::Comma)
    } else {
        let fields = content.split(BLANKS).filter(|field| !field.is_empty());
        (Box::new(fields), Separator::Blanks)
    };
    let (source, target) = match (fields.next(), fields.next(), fields.count()) {
        (Some(""), ..) | (_, Some(""), _) => return Err(FileProblem::StraySeparator),
        (Some(source), Some(target), 0) => (source, target),
        (_, _, more) if content.ends_with(',') && more > 0 => {
            return Err(FileProblem::StraySeparator);
        }
        (source, target, more) => {
            if let Some(wrong) = content.chars().find(|c| is_mark(*c)) {
                return Err(id_problem(content, wrong));
            }
            let found = usize::from(source.is_some()) + usize::from(target.is_some()) + more;
            return Err(FileProblem::FieldCount { found });
        }
    };
    if [source, target].iter().any(|id| id.contains(BLANKS)) {
        return Err(FileProblem::StraySeparator);
    }
    check_id(source)?;
    check_id(target)?;
    Ok(Some(((source, target), separator)))
}

/// Characters that no id holds: what other formats quote, separate and bracket with.
const MARKS: &str = ";|\"[](){}<>";

/// Characters that may stand inside an id and not at its ends.
const INNER: [char; 4] = ['\'', '`', ':', '='];

/// Whether a character, which is no blank of a separator, can be in no id.
fn is_mark(character: char) -> bool {
    MARKS.contains(character) || character.is_whitespace() && !BLANKS.contains(&character)
}

fn check_id(id: &str) -> Result<(), FileProblem> {
    let wrong = id
        .chars()
        .find(|c| is_mark(*c))
        .or_else(|| id.chars().next().filter(|c| INNER.contains(c) || *c == '*'))
        .or_else(|| id.chars().next_back().filter(|c| INNER.contains(c)));
    wrong.map_or(Ok(()), |character| Err(id_problem(id, character)))
}

fn id_problem(id: &str, character: char) -> FileProblem {
    let character = if character.is_whitespace() {
        format!("U+{:04X}", character as u32)
    } else {
        character.to_string()
    };
    FileProblem::IdCharacter {
        id: shortened(id.trim_matches(BLANKS)),
        character,
    }
}

/// Words that head the columns of an edge list, in lower case.
const HEADINGS: [(&str, &str); 9] = [
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("src", "dest"),
    ("u", "v"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("fromnodeid", "tonodeid"),
    ("head", "tail"),
];

/// Whether the first edge is no edge: it counts the nodes and edges of the rest, or its ends are words that no
/// other line names, where all others are numbers or where they are the usual headings of two columns.
///
/// A first edge between the nodes n and m of a graph that happens to have n nodes and m edges more is refused
/// too; it is an edge on any other line.
fn header(
    (source, target): (&str, &str),
    edges: &[ParsedEdge],
    numbering: &Numbering,
) -> Option<FileProblem> {
    let rest = &edges[1..];
    if rest.is_empty() {
        return None;
    }
    let found = format!("{} {}", shortened(source), shortened(target));
    let mut named = vec![false; numbering.len()];
    for edge in rest {
        named[edge.source as usize] = true;
        named[edge.target as usize] = true;
    }
    let own = [edges[0].source, edges[0].target];
    if let (Ok(n), Ok(m)) = (source.parse::<usize>(), target.parse::<usize>()) {
        let nodes = named.iter().filter(|named| **named).count();
        let (lines, distinct) = (rest.len(), distinct(rest));
        // A number that names no node besides counts in many ways: in both orders, edges once or from both ends, nodes with
        // those that have no edge, or the highest number instead. One that does must be exactly the counts.
        let elsewhere = own.iter().all(|end| named[*end as usize]);
        let counts = |n: usize, m: usize| {
            n + 1 >= nodes && [lines, distinct, 2 * lines, 2 * distinct].contains(&m)
        };
        let exact = n == nodes && (m == lines || m < lines && m == distinct);
        // A few lines have such numbers by chance.
        let counted = exact || lines > 3 && !elsewhere && (counts(n, m) || counts(m, n));
        return counted.then_some(FileProblem::CountHeader { found });
    }
    if own.iter().any(|end| named[*end as usize]) {
        return None;
    }
    let lower = (source.to_lowercase(), target.to_lowercase());
    let headings = HEADINGS
        .iter()
        .any(|(u, v)| (*u, *v) == (&*lower.0, &*lower.1));
    let number = |id: &str| id.parse::<f64>().is_ok();
    let alone = !number(source)
        && !number(target)
        && numbering
            .ids()
            .filter(|id| *id != source && *id != target)
            .all(number);
    (headings || alone).then_some(FileProblem::WordHeader { found })
}

/// The number of different pairs of ends.
fn distinct(edges: &[ParsedEdge]) -> usize {
    let pairs = edges
        .iter()
        .map(|e| (e.source.min(e.target), e.source.max(e.target)));
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.len()
}

/// The number an id is the canonical decimal form of, if it is below `nodes`.
fn node_number(id: &str, nodes: usize) -> Option<u32> {
    let number: u32 = id.parse().ok()?;
    ((number as usize) < nodes && number.to_string() == id).then_some(number)
}

/// The names from `# node` comments, if they name every node once and no two alike.
fn names_in_comments(
    named: &[(&str, &str, usize)],
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
        *slot = (*name).to_owned();
        numbering.define(name).map_err(|problem| (*line, problem))?;
    }
    let distinct: BTreeSet<&String> = names.iter().collect();
    Ok((distinct.len() == nodes).then_some(names))
}

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
