//! Edge lists: two node ids per line, and what else a program writes behind them.
//!
//! # Grammar
//!
//! ```text
//! file       = [byte-order mark] { line ( LF | CR LF ) }
//! line       = [count | heading | edge] [comment]     blanks may stand at both ends
//! count      = number                                 of nodes; on the first line that has content
//! heading    = "source" "target" and their kin        on the first line, with a word for every column
//! edge       = id separator id { separator number } [ separator attributes ]
//! attributes = "{" anything "}"                       as networkx writes them
//! separator  = blanks  |  [blanks] "," [blanks]
//! comment    = "#" anything                           at the start of the line or behind a blank
//!            | "%" anything                           on a line of its own
//! blanks     = one or more spaces and tabs
//! id         = characters without blanks, , ; | # " [ ] ( ) { } < >, control characters, other white space and
//!              what cannot be seen; without ' ` : = at either end and * at the start
//! ```
//!
//! One file separates its fields in one of the two ways and has the same number of them on every line. Numbers and attributes
//! behind the ids are left out, and the file's provenance says so. What could be read in more than one way is refused with its line: lists of
//! neighbours, quotes, brackets, other separators, comments that start with `//`, a first line that counts nodes and edges, headings that are
//! not known, and two ids that are one in two spellings ([`Spellings`](crate::vocabulary::Spellings)).
//!
//! Where every edge is listed once from either end, the two lines are one edge; after `% asym`, as KONECT marks directed networks, they have to be.
//! Where the ids are exactly the numbers 0 to n − 1 they are the node numbers, and comments of the form
//! `# node 3 Oslo` name nodes, provided they name every one, distinctly. Otherwise ids are names, compared byte by
//! byte, and nodes are numbered in order of appearance.

use super::super::file_problem::FileProblem;
use super::edge_line::{Line, line_of, node_name, visible, without_comment};
use super::edge_table::Table;
use super::parsed::{Fault, Parsed};

/// Limit on the length of a line.
pub(super) const MAX_LINE: usize = 4096;

/// Reads an edge list.
pub(super) fn parse(text: &str) -> Result<Parsed, Fault> {
    let mut table = Table::default();
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
        if let Some(comment) = comment {
            table.directed |= comment.trim_start().starts_with("asym") && text.starts_with('%');
            if let Some((number, name)) = node_name(comment) {
                visible(name).map_err(fault)?;
                if content.is_empty() {
                    table.name(number, name, line);
                }
            }
        }
        let edge = match line_of(content).map_err(fault)? {
            Line::Nothing => continue,
            Line::Single(id) => {
                table.single(id, line)?;
                continue;
            }
            Line::Edge(edge) => edge,
        };
        let (expected, since) = *separator.get_or_insert((edge.separator, line));
        if edge.separator != expected {
            return Err(fault(FileProblem::MixedSeparators { first: since }));
        }
        table.edge(&edge, line)?;
    }
    table.finish()
}
