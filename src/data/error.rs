//! Errors of rating files: the place, what was found and what to change.

use std::io;

use super::matrix_problem::{ArrayProblem, ColumnProblem, GeneratedError, PreparationError};
use crate::dataset::DatasetError;
use crate::interactions::InteractionsError;
use crate::linalg::SparseFileProblem;
use crate::vocabulary::Hidden;

/// Longest piece of a file that an error message repeats, in characters.
const EXCERPT: usize = 60;

/// A rating file that cannot be read, or a request that its data cannot meet.
///
/// Messages repeat at most a short excerpt of the offending line, never a user's whole row.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DataError {
    /// A line that breaks the rules of its format.
    #[error("{file}, line {line}: {problem}")]
    Line {
        /// The source's name.
        file: String,
        /// Line number, from 1.
        line: u64,
        /// What is wrong with it.
        problem: Box<Problem>,
    },
    /// A file that cannot be opened.
    #[error("cannot open {file}: {kind}; check the path and its permissions")]
    Open {
        /// The path given.
        file: String,
        /// The operating system's reason.
        kind: io::ErrorKind,
    },
    /// A source that fails while it is read.
    #[error("{file}: reading line {line} failed: {kind}; check that it is a readable file")]
    Read {
        /// The source's name.
        file: String,
        /// The line being read, from 1.
        line: u64,
        /// The operating system's reason.
        kind: io::ErrorKind,
    },
    /// A file that is no array of numbers.
    #[error("{file}, byte {byte}: {problem}")]
    Array {
        /// The source's name.
        file: String,
        /// The place in the file, from 0, after unpacking.
        byte: u64,
        /// What is wrong with it.
        problem: Box<ArrayProblem>,
    },
    /// An archive that holds no sparse matrix of ratings.
    #[error("{file}: {problem}")]
    Sparse {
        /// The source's name.
        file: String,
        /// What is wrong with it.
        problem: Box<SparseFileProblem>,
    },
    /// A source of bytes that fails while it is read.
    #[error(
        "{file}: reading failed at byte {byte}: {kind}; check that it is a readable, undamaged file"
    )]
    ReadBytes {
        /// The source's name.
        file: String,
        /// The place in the file, from 0, after unpacking.
        byte: u64,
        /// The operating system's reason.
        kind: io::ErrorKind,
    },
    /// A row that is longer than all rows are promised to be.
    #[error(
        "row {row} is longer than data.row_limit = {limit} allows; correct the row, or raise the limit, which is public"
    )]
    LongRow {
        /// The row, from 1.
        row: usize,
        /// The limit.
        limit: f64,
    },
    /// An array in memory that has not the columns that are left out.
    #[error(transparent)]
    Columns(#[from] ColumnProblem),
    /// Public constants that do not prepare the rows.
    #[error(transparent)]
    Preparation(#[from] PreparationError),
    /// Numbers that make no generated matrix.
    #[error(transparent)]
    Generated(#[from] GeneratedError),
    /// A gzip stream that stops before its end marker.
    #[error(
        "{file}: the gzip stream ends in the middle, at line {line} of its content; \
         the file is truncated, fetch or copy it again"
    )]
    TruncatedGzip {
        /// The source's name.
        file: String,
        /// The line being read, from 1.
        line: u64,
    },
    /// A gzip stream that does not decode or fails its checksum.
    #[error(
        "{file}: the gzip stream is damaged near line {line} of its content; \
         fetch or copy the file again"
    )]
    CorruptGzip {
        /// The source's name.
        file: String,
        /// The line being read, from 1.
        line: u64,
    },
    /// A container that is not read directly.
    #[error("{file}: this is a {container} file; unpack it, or pack its content with gzip")]
    Container {
        /// The source's name.
        file: String,
        /// What the first bytes say it is.
        container: &'static str,
    },
    /// An archive of arrays where lines or one array are expected.
    #[error(
        "{file}: this is an archive of NumPy arrays (.npz): of a sparse matrix of users x items, as scipy.sparse.save_npz writes it, the format is \
         \"scipy-npz\"; save a dense array with numpy.save, whose format is \"npy\""
    )]
    NumpyArchive {
        /// The source's name.
        file: String,
    },
    /// No rating at all.
    #[error(
        "{file}: no ratings in its {lines} lines, expected at least one in format {format}; \
         check the path and the format"
    )]
    Empty {
        /// The source's name.
        file: String,
        /// Lines read.
        lines: u64,
        /// The format asked for.
        format: &'static str,
    },
    /// A list of names without a name.
    #[error("{file}: no {what} in its {lines} lines, expected one name per line; check the path")]
    EmptyList {
        /// The source's name.
        file: String,
        /// What should be listed: `item` or `user`.
        what: &'static str,
        /// Lines read.
        lines: u64,
    },
    /// A threshold that no rating can be compared with.
    #[error("the rating threshold is {threshold}, expected a finite number such as 0.0")]
    Threshold {
        /// The value given.
        threshold: f64,
    },
    /// Sizes of peers that users are not dealt to in order.
    #[error(
        "peers.sizes says how many users, one after the other, each peer holds: set peers.partition = \"contiguous\" with it"
    )]
    SizesPartition,
    /// A row that is not a sorted set of item indices.
    #[error(transparent)]
    Row(#[from] InteractionsError),
    /// Rows that cannot be made or dealt.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

/// What is wrong with one line of a rating file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The first line belongs to another format.
    #[error(
        "found \"{found}\", which looks like format {looks_like}, not {declared}; \
         set format = \"{looks_like}\" or give another file"
    )]
    WrongFormat {
        /// The format asked for.
        declared: &'static str,
        /// The format whose first line this could be.
        looks_like: &'static str,
        /// Beginning of the line.
        found: String,
    },
    /// A first line that is not the header of the format.
    #[error(
        "found \"{found}\", expected the header {expected}; add it or choose the format the file has"
    )]
    Header {
        /// Beginning of the line.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// Fewer fields than the format has.
    #[error("found {found} fields, expected {layout}; complete or remove the line")]
    TooFewFields {
        /// Fields on the line.
        found: usize,
        /// The layout of a line.
        layout: &'static str,
    },
    /// More fields than the format has.
    #[error(
        "found {found} fields, expected {layout}; remove what is too much, quote or rename ids that contain the separator"
    )]
    TooManyFields {
        /// Fields on the line.
        found: usize,
        /// The layout of a line.
        layout: &'static str,
    },
    /// A line whose number of columns differs from the first line's.
    #[error(
        "found {found} columns, expected {expected} as on the first line; complete or remove the line"
    )]
    ColumnCount {
        /// Columns on the line.
        found: usize,
        /// Columns on the first line.
        expected: usize,
    },
    /// A field of a matrix that is no number.
    #[error("column {column}: {problem}")]
    Cell {
        /// The column, from 1.
        column: usize,
        /// What is wrong with it.
        problem: Box<Self>,
    },
    /// A field without a number in a row that has others.
    #[error(
        "column {column} is empty and others are not; fill it in, or leave all fields of the row empty to keep its slot"
    )]
    EmptyCell {
        /// The column, from 1.
        column: usize,
    },
    /// A column to leave out that is not there, or none left.
    #[error(transparent)]
    Column(#[from] ColumnProblem),
    /// Text where a number belongs.
    #[error("found \"{found}\" as {what}, expected {expected}; correct or remove the line")]
    NotANumber {
        /// The field.
        what: &'static str,
        /// Its text.
        found: String,
        /// The kind of number expected.
        expected: &'static str,
    },
    /// A NaN, an infinity, or a number too large to represent.
    #[error("found \"{found}\" as {what}, expected a finite number; correct or remove the line")]
    NotFinite {
        /// The field.
        what: &'static str,
        /// Its text.
        found: String,
    },
    /// A rating off the format's scale.
    #[error(
        "found the rating {found}, expected one between {low} and {high}{or}; correct it or choose another format"
    )]
    RatingOutOfRange {
        /// The rating.
        found: f64,
        /// Lowest of the scale.
        low: f64,
        /// Highest of the scale.
        high: f64,
        /// Other values allowed, in words.
        or: &'static str,
    },
    /// A user or item without a name.
    #[error("the {what} id is empty, expected a name or number; fill it in or remove the line")]
    EmptyId {
        /// `user` or `item`.
        what: &'static str,
    },
    /// The same user rates the same item twice.
    #[error(
        "user \"{user}\" rates item \"{item}\" again, first on line {first}; keep one of the two"
    )]
    RepeatedPair {
        /// The user's id.
        user: String,
        /// The item's id.
        item: String,
        /// Line of the first occurrence.
        first: u64,
    },
    /// A list of items names one twice.
    #[error("item \"{item}\" is listed again; keep one of the two lines")]
    RepeatedItem {
        /// The item's id.
        item: String,
    },
    /// A list of names has one twice.
    #[error("{what} \"{name}\" is listed again; keep one of the two lines")]
    ListedTwice {
        /// What is listed: `item` or `user`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A format of one line per user has two for one.
    #[error(
        "user \"{user}\" has a second line, the first is line {first}; join the two, or set format = \"table\" if every line is one rating"
    )]
    RepeatedUser {
        /// The user's id.
        user: String,
        /// Line of the first occurrence.
        first: u64,
    },
    /// A user line without items.
    #[error("user \"{user}\" has no items, expected at least one; remove the line")]
    EmptyUser {
        /// The user's id.
        user: String,
    },
    /// An index outside the declared matrix.
    #[error(
        "found {what} {found}, expected 1 to {limit} as declared; ids count from 1, correct the id or the size line"
    )]
    IdOutOfRange {
        /// `row` or `column`.
        what: &'static str,
        /// The index.
        found: u64,
        /// The declared size.
        limit: u64,
    },
    /// A first column that does not count the ratings beside it.
    #[error(
        "column 1 says {declared} ratings, the line has {found}; correct the count or the line"
    )]
    RatedCount {
        /// The first column.
        declared: u64,
        /// Ratings on the line.
        found: u64,
    },
    /// A size line that does not count the entries.
    #[error(
        "the size line declares {declared} entries, found {found} by here; correct it or complete the file"
    )]
    EntryCount {
        /// Declared.
        declared: u64,
        /// Found so far.
        found: u64,
    },
    /// A variant of the format that is not read.
    #[error("found \"{found}\", supported is only {supported}; convert the file")]
    Unsupported {
        /// The word found.
        found: String,
        /// What can be read.
        supported: &'static str,
    },
    /// A quoted field that does not end on its line.
    #[error(
        "a quote opens and does not close on the line; close it, or double quotes that belong to an id"
    )]
    OpenQuote,
    /// A quote inside a field, or text behind a quoted one.
    #[error(
        "a quote stands inside a field, or text behind a closing quote; quote the whole field and double the quotes in it"
    )]
    StrayQuote,
    /// A line that another format would take for a comment.
    #[error(
        "found \"{found}\", which looks like a comment, and this format has none; delete the line, or quote the id"
    )]
    CommentSign {
        /// Beginning of the line.
        found: String,
    },
    /// A first line of one field.
    #[error(
        "found \"{found}\", a line without tab, semicolon or comma: a table has users and items in columns of their own"
    )]
    TableSeparator {
        /// Beginning of the line.
        found: String,
    },
    /// A line with more or fewer fields than the first.
    #[error(
        "found {found} fields, and the first line has {expected}: quote fields that hold a separator, or complete the line"
    )]
    TableWidth {
        /// Fields on the line.
        found: usize,
        /// Fields of the first line.
        expected: usize,
    },
    /// A column without a name, such as the index of a pandas frame.
    #[error(
        "column {number} has no name, as pandas writes an index: write the frame with `index=False`, or name the column"
    )]
    UnnamedColumn {
        /// Which, from 1.
        number: usize,
    },
    /// A column of numbers without a name, such as the index of a pandas frame.
    #[error(
        "column {number} has no name, as pandas writes an index, which is no measurement: write the frame with `index=False`, leave the column out \
         with `data.drop = [{number}]`, or name it"
    )]
    UnnamedNumbers {
        /// Which, from 1.
        number: usize,
    },
    /// Numbers that are not between commas.
    #[error(
        "the numbers stand between {separator}, and matrix-csv has commas: write the file with commas, such as with `sep=\",\"` in pandas"
    )]
    OtherSeparator {
        /// What stands between them.
        separator: &'static str,
    },
    /// A first line of words that may be names of columns and may be a user and an item.
    #[error(
        "\"{found}\" may be names of columns and may be a user and an item: set `data.header = true` or `false`"
    )]
    HeaderOrRecord {
        /// Beginning of the line.
        found: String,
    },
    /// No column is known to hold users or items.
    #[error(
        "no column is known to hold the {what}s; the columns are {found}: say which with `data.columns = {{ user = \"...\", item = \"...\", rating = \"...\" }}`"
    )]
    NoColumn {
        /// `user`, `item` or `rating`.
        what: &'static str,
        /// The names, shortened.
        found: String,
    },
    /// A column that is asked for by name in a table without names.
    #[error(
        "the first line holds numbers and no names, so no column is called \"{name}\": give the {what} column by its number, from 1"
    )]
    NoNames {
        /// `user`, `item` or `rating`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// One column for two things, or two that may be meant.
    #[error(
        "the {what} column is not told apart from another: say which with `data.columns`, by number"
    )]
    ColumnTwice {
        /// `user`, `item` or `rating`.
        what: &'static str,
    },
    /// A user at two peers.
    #[error(
        "user \"{user}\" is at peer \"{found}\" here and at peer \"{earlier}\" on a line before: give every user one peer, or users of different peers different ids"
    )]
    TwoPeers {
        /// The user's id.
        user: String,
        /// The peer on this line.
        found: String,
        /// The peer on an earlier line.
        earlier: String,
    },
    /// A column beyond the last.
    #[error("there is no column {number}: the table has columns 1 to {width}")]
    ColumnBeyond {
        /// Which, from 1.
        number: usize,
        /// How many there are.
        width: usize,
    },
    /// A user or item that is called like its column in the first line.
    #[error(
        "\"{id}\" stands in the first line too, so that line is no header, or it is there twice; add a header, or give its columns other names"
    )]
    HeaderName {
        /// The id.
        id: String,
    },
    /// Two ids that are the same one, written in two ways.
    #[error(
        "the {what} id \"{id}\" is only another spelling of \"{earlier}\", which stands before it; write one of the two everywhere, or rename one"
    )]
    Spelling {
        /// `user` or `item`.
        what: &'static str,
        /// The id.
        id: String,
        /// The one before it.
        earlier: String,
    },
    /// An id with blanks that cannot be told from others.
    #[error(
        "the {what} id \"{id}\" has a tab inside or a blank at its end; use single spaces inside ids only"
    )]
    BlankInId {
        /// `user` or `item`.
        what: &'static str,
        /// The id.
        id: String,
    },
    /// A character that a reader of the file does not see.
    #[error("{found}; remove it, or save the file anew as plain UTF-8 text")]
    Hidden {
        /// The character and its place in the line.
        found: Hidden,
    },
    /// Bytes that are not UTF-8.
    #[error(
        "byte {position} of the line is not UTF-8 text; save the file as UTF-8, or check that it is a text file"
    )]
    NotText {
        /// Position in the line, from 1.
        position: usize,
    },
    /// More of something than the reader was allowed to hold.
    #[error("more than {limit} {what}; give a smaller file or raise the limit")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
}

/// The beginning of `text` for an error message: at most 60 characters, control characters escaped.
pub(super) fn excerpt(text: &str) -> String {
    let mut out = String::new();
    let mut length = 0;
    for character in text.chars() {
        let escaped = character.escape_debug();
        length += escaped.len();
        if length >= EXCERPT {
            out.push('…');
            break;
        }
        // Quotes are escaped for Rust literals only; a reader of the message wants them as they are.
        if matches!(character, '"' | '\'') {
            out.push(character);
        } else {
            out.extend(escaped);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_short_and_printable() {
        assert_eq!(excerpt("a,\"b\"\t\u{7}"), "a,\"b\"\\t\\u{7}");
        for text in ["x".repeat(1000), "\u{7}".repeat(1000), "é".repeat(61)] {
            let short = excerpt(&text);
            assert!(short.chars().count() <= EXCERPT && short.ends_with('…'));
        }
    }
}
