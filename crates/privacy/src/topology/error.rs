//! Errors of topologies: of the request for one, or of the file it comes from.

use std::io;
use std::path::PathBuf;

use super::{FileProblem, GraphError};
use crate::vocabulary::{Hidden, printed};

/// A topology that cannot be generated, read or used.
#[derive(Debug, thiserror::Error)]
pub enum TopologyError {
    /// Fewer nodes than the family needs, or more than the program builds.
    #[error("{generator}: {nodes} nodes asked for; give between {least} and {most}")]
    NodeCount {
        /// Family.
        generator: &'static str,
        /// Number of nodes asked for.
        nodes: usize,
        /// Smallest number of nodes of the family.
        least: usize,
        /// Largest number of nodes built.
        most: usize,
    },
    /// The number of nodes is written in two places that disagree.
    #[error(
        "the topology has {declared} nodes, but {wanted} peers are to use it; set peers.count = {declared}, or change `n` or the file"
    )]
    NodeCountMismatch {
        /// What the configuration or file gives.
        declared: usize,
        /// What the user of the topology needs.
        wanted: usize,
    },
    /// Edges of data with weights or other attributes.
    #[error(
        "{}: {what} beside the edges, and an edge of a private graph has no weight: leave them out of the file, or give the matrix as numbers",
        path.display()
    )]
    Weighted {
        /// The file.
        path: PathBuf,
        /// What it holds.
        what: String,
    },
    /// A list of edges that is no graph of the peers.
    #[error(transparent)]
    Edges(#[from] NamedEdgesError),
    /// A recipe without a number of nodes, loaded where nothing else gives one.
    #[error("{generator}: the number of nodes is not given; set `n`")]
    NodeCountUnknown {
        /// Family.
        generator: &'static str,
    },
    /// More edges than the program builds.
    #[error(
        "{generator}: about {edges} edges asked for, at most {most} are built; lower `{parameter}`"
    )]
    TooManyEdges {
        /// Family.
        generator: &'static str,
        /// Expected number of edges.
        edges: u128,
        /// The limit.
        most: usize,
        /// What to lower.
        parameter: &'static str,
    },
    /// A degree-like parameter outside its range.
    #[error(
        "{generator}: `{parameter}` = {found} with {nodes} nodes; give between {least} and {most}"
    )]
    DegreeOutOfRange {
        /// Family.
        generator: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// Its value.
        found: usize,
        /// Number of nodes.
        nodes: usize,
        /// Smallest value accepted.
        least: usize,
        /// Largest value accepted at this number of nodes.
        most: usize,
    },
    /// A regular graph of odd degree on an odd number of nodes.
    #[error(
        "{generator}: {nodes} nodes of degree {degree} would have half an edge; make `degree` or the number of nodes even"
    )]
    OddDegreeSum {
        /// Family.
        generator: &'static str,
        /// Number of nodes.
        nodes: usize,
        /// Degree.
        degree: usize,
    },
    /// An odd degree where half of it goes to either side.
    #[error(
        "{generator}: `degree` = {degree} is odd; half of it goes to either side, give an even one"
    )]
    OddDegree {
        /// Family.
        generator: &'static str,
        /// Degree.
        degree: usize,
    },
    /// A hypercube whose number of nodes is not 2^k.
    #[error("hypercube: {nodes} nodes is not a power of two; the nearest is {nearest}")]
    NotPowerOfTwo {
        /// Number of nodes asked for.
        nodes: usize,
        /// The nearest power of two.
        nearest: usize,
    },
    /// A lattice whose sides do not fit its number of nodes.
    #[error(
        "{generator}: {rows} rows × {columns} columns is not {nodes} nodes; change one of the three, or leave out `rows` and `columns` for the squarest shape"
    )]
    Shape {
        /// Family.
        generator: &'static str,
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// Number of nodes asked for.
        nodes: usize,
    },
    /// A lattice with a side too short for the family.
    #[error(
        "{generator}: {rows} rows × {columns} columns; each side needs at least {least}: choose a number of nodes with a squarer factorisation"
    )]
    SideTooShort {
        /// Family.
        generator: &'static str,
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// Shortest side accepted.
        least: usize,
    },
    /// A real parameter outside its range.
    #[error("{generator}: `{parameter}` = {found}; give a number from {least} to {most}")]
    NumberOutOfRange {
        /// Family.
        generator: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// Its value.
        found: f64,
        /// Smallest value accepted.
        least: f64,
        /// Largest value accepted.
        most: f64,
    },
    /// A random family that gave no connected graph.
    #[error(
        "{generator}: none of {attempts} random graphs on {nodes} nodes was connected; raise `{parameter}`"
    )]
    NeverConnected {
        /// Family.
        generator: &'static str,
        /// Graphs tried.
        attempts: u32,
        /// Number of nodes.
        nodes: usize,
        /// What to raise.
        parameter: &'static str,
    },
    /// An edge list that is not a simple graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A file that cannot be opened or read.
    #[error("the file {} cannot be read: {source}; put it there, or name another", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file whose ending names no known format.
    #[error(
        "{}: the ending names no graph format; use .edges, .edgelist, .txt, .csv, .tsv, .graphml, .gml, .gexf or .json (each also with .gz), .npz, or a .toml recipe",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// A file whose content is not a usable graph.
    #[error("{}:{line}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Line, from 1; after decompression.
        line: usize,
        /// What is wrong there.
        problem: FileProblem,
    },
    /// A file whose graph falls apart.
    #[error(
        "{}: the graph has {components} components, the largest with {largest} of {nodes} nodes; add the missing edges, or set `largest_component = true`",
        path.display()
    )]
    Disconnected {
        /// The file.
        path: PathBuf,
        /// Number of connected components.
        components: usize,
        /// Nodes of the largest.
        largest: usize,
        /// Nodes in all.
        nodes: usize,
    },
    /// A graph in memory that falls apart.
    #[error(
        "the graph has {components} components, the largest with {largest} of {nodes} nodes; add edges between them, or give the largest alone"
    )]
    Pieces {
        /// Number of connected components.
        components: usize,
        /// Nodes of the largest.
        largest: usize,
        /// Nodes in all.
        nodes: usize,
    },
    /// A recipe that does not give the graph it says it does.
    #[error("{}: the recipe expects {expected} {what}, the graph has {found}", path.display())]
    Expectation {
        /// The recipe.
        path: PathBuf,
        /// Nodes or edges.
        what: &'static str,
        /// What `[expected]` says.
        expected: usize,
        /// What came out.
        found: usize,
    },
}

/// Why a list of edges is no graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NamedEdgesError {
    /// More than is read.
    #[error(
        "{found} {what} are listed, at most {most} can be: write them to a file and give `file`"
    )]
    TooMany {
        /// Names or edges.
        what: &'static str,
        /// How many.
        found: usize,
        /// How many at most.
        most: usize,
    },
    /// A name that shows as another one.
    #[error("the name {} of `nodes` cannot be used: {found}", printed(name))]
    Hidden {
        /// The name.
        name: String,
        /// What is wrong with it.
        found: Hidden,
    },
    /// An end that no node is called.
    #[error("edge number {position} of `edges` names {}: {naming}", printed(name))]
    Unknown {
        /// Position in the list, from 1.
        position: usize,
        /// The name.
        name: String,
        /// What nodes are called.
        naming: &'static str,
    },
    /// Not a simple graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
}
