//! First lines that are no edges: names of columns, and counts.

use super::parsed::ParsedEdge;

/// Words that head the two columns of ends, in lower case.
const HEADINGS: [(&str, &str); 11] = [
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("src", "dest"),
    ("u", "v"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("fromnodeid", "tonodeid"),
    ("head", "tail"),
    ("id_1", "id_2"),
    ("source_id", "target_id"),
];

/// Names of columns, and which two hold the ends of edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    names: Vec<String>,
    pub(super) source: usize,
    pub(super) target: usize,
}

impl Columns {
    /// The columns of a first line, if two of them are known to hold ends.
    pub(super) fn of(fields: &[&str]) -> Option<Self> {
        let lower: Vec<String> = fields.iter().map(|field| field.to_lowercase()).collect();
        let place = |name: &str| lower.iter().position(|field| field == name);
        let mut known = HEADINGS.iter();
        let (source, target) = known.find_map(|(u, v)| Some((place(u)?, place(v)?)))?;
        let names = fields.iter().map(|field| (*field).to_owned()).collect();
        Some(Self {
            names,
            source,
            target,
        })
    }

    /// The same where the ends stand first, and all others are named by words.
    pub(super) fn of_ends_first(fields: &[&str]) -> Option<Self> {
        let columns = Self::of(fields)?;
        let is_first = (columns.source, columns.target) == (0, 1);
        (is_first && fields.iter().all(|field| is_word(field))).then_some(columns)
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The columns that hold no ends, by name.
    pub(super) fn others(&self) -> Option<String> {
        let is_other = |at: &usize| *at != self.source && *at != self.target;
        let others: Vec<_> = (0..self.len())
            .filter(is_other)
            .map(|at| match self.names[at].as_str() {
                "" => format!("column {}, which has no name", at + 1),
                name => format!("column {}", super::super::file_problem::shortened(name)),
            })
            .collect();
        (!others.is_empty()).then(|| others.join(", "))
    }
}

/// Whether a field is no number.
pub(super) fn is_word(field: &str) -> bool {
    field.parse::<f64>().is_err()
}

/// Whether the first edge is none, and counts the nodes and edges of the rest.
///
/// A first edge between the nodes n and m of a graph that happens to have n nodes and m edges more is refused
/// too; it is an edge on any other line.
pub(super) fn counts((source, target): (&str, &str), edges: &[ParsedEdge], nodes: usize) -> bool {
    let (Ok(n), Ok(m)) = (source.parse::<usize>(), target.parse::<usize>()) else {
        return false;
    };
    let rest = &edges[1..];
    let mut named = vec![false; nodes];
    for edge in rest {
        named[edge.source as usize] = true;
        named[edge.target as usize] = true;
    }
    let own = [edges[0].source, edges[0].target];
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
    exact || lines > 3 && !elsewhere && (counts(n, m) || counts(m, n))
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
