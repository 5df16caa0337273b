//! Errors at one place of a graph file.

use crate::linalg::SparseFileProblem;
use crate::vocabulary::Hidden;

/// A fault in a graph file, found at a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    /// A file beyond the limit.
    #[error("more than {most} bytes (after decompression); this is not read")]
    TooLarge {
        /// The limit in bytes.
        most: usize,
    },
    /// A line or a quoted string beyond the limit.
    #[error("a line or string of more than {most} bytes; shorten it")]
    TooLong {
        /// The limit in bytes.
        most: usize,
    },
    /// More nodes than are read.
    #[error("more than {most} nodes")]
    TooManyNodes {
        /// The limit.
        most: usize,
    },
    /// More edges than are read.
    #[error("more than {most} edges")]
    TooManyEdges {
        /// The limit.
        most: usize,
    },
    /// Lists or elements nested too deeply.
    #[error("nested more than {most} deep")]
    TooDeep {
        /// The limit.
        most: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("not UTF-8 text; convert the file")]
    NotText,
    /// A character that a reader of the file does not see.
    #[error("{found}; remove it, or save the file anew as plain UTF-8 text")]
    Hidden {
        /// The character and its place in the line or name.
        found: Hidden,
    },
    /// A gzip stream that stops before its end marker.
    #[error("the gzip stream ends in the middle: the file is truncated, fetch or copy it again")]
    TruncatedGzip,
    /// Content that is no gzip stream, or a damaged one.
    #[error(
        "not a gzip stream, or a damaged one: fetch or copy the file again, or drop `.gz` from its name"
    )]
    CorruptGzip,
    /// Two ids or names that are the same one, written in two ways.
    #[error(
        "{name} is only another spelling of {earlier}, which stands before it; write one of the two everywhere, or rename one"
    )]
    Spelling {
        /// The name, shortened.
        name: String,
        /// The name before it, shortened.
        earlier: String,
    },
    /// A character in an id that other formats quote, separate or bracket ids with.
    #[error(
        "`{character}` in {id}: ids are separated by blanks or by one comma, without quotes, brackets or other signs around them; remove it, or rename the node"
    )]
    IdCharacter {
        /// The id or line, shortened.
        id: String,
        /// The character.
        character: String,
    },
    /// A comma with nothing beside it, or with blanks in a part.
    #[error("a separator too many: write two ids, separated by blanks or by one comma")]
    StraySeparator,
    /// A line whose ids are separated otherwise than those of the lines before.
    #[error(
        "ids are separated otherwise than on line {first}: use blanks on all lines, or a comma on all"
    )]
    MixedSeparators {
        /// The line of the first edge.
        first: usize,
    },
    /// A comment of another format.
    #[error(
        "{found} looks like a comment or the start of another format; comments start with `#` or `%`: change its sign or delete it"
    )]
    CommentSign {
        /// The line, shortened.
        found: String,
    },
    /// A first line that counts nodes and edges.
    #[error(
        "{found} looks like a header 'n m', as many nodes and edges as follow: delete it or comment it out; an edge like that can stand on any later line"
    )]
    CountHeader {
        /// The line.
        found: String,
    },
    /// A first line that names columns, none of which are known to hold the ends of edges.
    #[error(
        "{found} looks like names of columns: call those of the two ends `source` and `target` (or `from` and `to`, `src` and `dst`, `u` and `v`, `node1` and `node2`), or delete the line"
    )]
    WordHeader {
        /// The line.
        found: String,
    },
    /// A column of words without a name.
    #[error(
        "`{found}` stands behind two ids and is no number: name the columns in a first line, such as `source target kind`, or remove it"
    )]
    ColumnOfWords {
        /// The field, shortened.
        found: String,
    },
    /// Lines that may be edges with weights, and may be nodes with their neighbours.
    #[error(
        "these lines can be read as edges with weights and as nodes with their neighbours: give every edge a line of its own, or name the columns in a first line, such as `source target weight`"
    )]
    NeighbourLists,
    /// A line with more or fewer fields than the first.
    #[error(
        "found {found} fields, and line {first} has {expected}: give every edge a line of its own, with the same columns"
    )]
    FieldsDiffer {
        /// Fields on the line.
        found: usize,
        /// Fields of the first edge.
        expected: usize,
        /// Its line.
        first: usize,
    },
    /// A first line that counts nodes, where others are named.
    #[error(
        "this line counts {nodes} nodes, which are then called 0 to {nodes} - 1, and {found} is none of these: correct it or delete it"
    )]
    NodesCounted {
        /// The count.
        nodes: usize,
        /// An id that there is not, shortened.
        found: String,
    },
    /// Records that are no records.
    #[error("not a table: {reason}")]
    Records {
        /// What the reader said, shortened.
        reason: String,
    },
    /// Text that is no JSON.
    #[error("not node-link JSON: {reason}")]
    Json {
        /// What the reader said, shortened.
        reason: String,
    },
    /// A matrix file that is none.
    #[error(transparent)]
    Sparse(#[from] SparseFileProblem),
    /// A matrix that has no nodes for rows.
    #[error("a matrix of {rows} x {columns}: an adjacency matrix is square")]
    NotSquare {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// No node at all.
    #[error("the file has no nodes")]
    Empty,
    /// An edge line with a number of fields other than two.
    #[error("expected two node ids, found {found} fields")]
    FieldCount {
        /// Fields on the line.
        found: usize,
    },
    /// An edge from a node to itself.
    #[error("a self-loop at node {node}; remove the line (a peer always keeps its own value)")]
    SelfLoop {
        /// The node.
        node: String,
    },
    /// An edge that was there before.
    #[error(
        "the edge {u} - {v} again, first on line {first}; remove it, or set `parallel_edges = \"merge\"` (`topology inspect`: --merge-parallel)"
    )]
    ParallelEdge {
        /// One end.
        u: String,
        /// The other end.
        v: String,
        /// Line of the first occurrence.
        first: usize,
    },
    /// A directed edge without its reverse.
    #[error(
        "the edge {source_node} -> {target} has no reverse, but the graph is declared directed; gossip needs both directions: add the reverse, or declare the graph undirected"
    )]
    OneWay {
        /// Where it starts.
        source_node: String,
        /// Where it ends.
        target: String,
    },
    /// A node defined twice.
    #[error("node {id} is defined a second time")]
    DuplicateNode {
        /// Its id.
        id: String,
    },
    /// An edge to a node that is not defined.
    #[error("the edge names node {id}, which is not defined")]
    UnknownNode {
        /// The id named.
        id: String,
    },
    /// A node or an edge that lacks what it needs.
    #[error("{element} without `{attribute}`")]
    Missing {
        /// What lacks it.
        element: &'static str,
        /// What is lacking.
        attribute: &'static str,
    },
    /// The wrong thing for the format.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What would have been right.
        expected: &'static str,
        /// What is there, shortened.
        found: String,
    },
    /// A part of the format that has no meaning here.
    #[error("{feature} is not supported; {instead}")]
    Unsupported {
        /// The feature.
        feature: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// XML that is not well-formed.
    #[error("not well-formed XML: {reason}")]
    Xml {
        /// What the XML reader said, shortened.
        reason: String,
    },
    /// A recipe that is not valid.
    #[error("not a valid recipe: {reason}")]
    Recipe {
        /// What the TOML reader said.
        reason: String,
    },
    /// A recipe with both or neither of its two sources.
    #[error("a recipe needs either a [generator] table or `file = \"...\"`, found {found}")]
    RecipeSource {
        /// What was found.
        found: &'static str,
    },
    /// A recipe whose file is absolute or itself a recipe.
    #[error(
        "`file = \"{file}\"`: give a path relative to the recipe, of a graph and not of a recipe"
    )]
    RecipeFile {
        /// The file named.
        file: String,
    },
}

/// At most the first 40 characters of what a file holds, for messages.
#[cfg(feature = "files")]
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
