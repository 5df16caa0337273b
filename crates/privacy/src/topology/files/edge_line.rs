//! One line of an edge list.

use super::super::file_problem::{FileProblem, shortened};
use crate::vocabulary::hidden;

const BLANKS: [char; 2] = [' ', '\t'];

/// What stands between the fields of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    Blanks,
    Comma,
}

/// An edge, and how much else its line holds.
#[derive(Clone, Debug)]
pub(super) struct Edge<'a> {
    pub(super) source: &'a str,
    pub(super) target: &'a str,
    pub(super) separator: Separator,
    /// The fields behind the ids, without attributes.
    pub(super) more: Vec<&'a str>,
    /// Whether a bracket with attributes follows.
    pub(super) attributes: bool,
}

/// What a line is.
#[derive(Clone, Debug)]
pub(super) enum Line<'a> {
    Nothing,
    /// One field.
    Single(&'a str),
    /// Two fields and more.
    Edge(Edge<'a>),
}

/// A line's content without the blanks around it, and its comment.
pub(super) fn without_comment(text: &str) -> Result<(&str, Option<&str>), FileProblem> {
    if text.contains('\r') {
        // Read as the end of a line by some programs, which would then see other edges than others do.
        visible(text)?;
    }
    let start = text.trim_start_matches(BLANKS);
    // `%%MatrixMarket` announces counts and a matrix, not edges.
    if start.starts_with("%%") || start.starts_with("//") {
        return Err(FileProblem::CommentSign {
            found: shortened(start),
        });
    }
    if let Some(comment) = start.strip_prefix('%') {
        return Ok(("", Some(comment)));
    }
    // A sign within attributes starts no comment.
    let before = text.find('#').unwrap_or(text.len());
    let from = match text.find('{').filter(|open| *open < before) {
        Some(open) => text
            .rfind('}')
            .filter(|close| *close > open)
            .unwrap_or(open),
        None => 0,
    };
    let (content, comment) = match text[from..].find('#').map(|at| from + at) {
        Some(at) if at > 0 && !text[..at].ends_with(BLANKS) => {
            return Err(id_problem(&text[..at], '#'));
        }
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let content = content.trim_matches(BLANKS);
    visible(content)?;
    Ok((content, comment))
}

pub(super) fn visible(text: &str) -> Result<(), FileProblem> {
    match hidden(text) {
        None => Ok(()),
        Some(found) => Err(FileProblem::Hidden { found }),
    }
}

/// The number and the name of a comment `# node 3 Oslo`.
pub(super) fn node_name(comment: &str) -> Option<(&str, &str)> {
    comment.trim().strip_prefix("node ")?.split_once(' ')
}

/// The fields of a line.
pub(super) fn line_of(content: &str) -> Result<Line<'_>, FileProblem> {
    let (content, attributes) = without_attributes(content);
    if content.is_empty() && !attributes {
        return Ok(Line::Nothing);
    }
    let (fields, separator): (Vec<&str>, _) = if content.contains(',') {
        let fields = content.split(',').map(|field| field.trim_matches(BLANKS));
        (fields.collect(), Separator::Comma)
    } else {
        let fields = content.split(BLANKS).filter(|field| !field.is_empty());
        (fields.collect(), Separator::Blanks)
    };
    if separator == Separator::Comma
        && fields
            .iter()
            .any(|field| field.is_empty() || field.contains(BLANKS))
    {
        return Err(FileProblem::StraySeparator);
    }
    for field in &fields {
        check_id(field)?;
    }
    Ok(match fields[..] {
        [] => return Err(id_problem("{", '{')),
        [one] if !attributes => Line::Single(one),
        [_] => return Err(FileProblem::FieldCount { found: 1 }),
        [source, target, ..] => Line::Edge(Edge {
            source,
            target,
            separator,
            more: fields[2..].to_vec(),
            attributes,
        }),
    })
}

/// A line without the attributes at its end, and whether there were any.
fn without_attributes(content: &str) -> (&str, bool) {
    let Some(open) = content.find('{').filter(|_| content.ends_with('}')) else {
        return (content, false);
    };
    let before = content[..open].trim_end_matches(BLANKS);
    let is_separate = before.len() < open || before.ends_with(',');
    match is_separate && !before.is_empty() {
        true => (before.strip_suffix(',').unwrap_or(before), true),
        false => (content, false),
    }
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
