//! XML as a reader of graphs needs it: elements with the lines they end on, and text with its entities resolved.
//!
//! External entities are never resolved, and a reference to an entity that XML does not predefine is refused.

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};

use super::super::file_problem::{FileProblem, shortened};
use super::parsed::Fault;

/// Limit on elements within elements.
const MAX_DEPTH: usize = 64;

/// Limit on an id or a name.
pub(super) const MAX_NAME: usize = 4096;

/// What is told of a file, in its order.
pub(super) trait Elements {
    /// An element begins, so deep within others.
    fn start(&mut self, element: &BytesStart<'_>, depth: usize, line: usize) -> Result<(), Fault>;

    /// Text within an element.
    fn text(&mut self, _text: &str, _line: usize) -> Result<(), Fault> {
        Ok(())
    }

    /// The element at this depth ends.
    fn end(&mut self, _depth: usize) -> Result<(), Fault> {
        Ok(())
    }
}

/// Tells `elements` what a well-formed file holds; gives the number of its last line.
pub(super) fn walk(text: &str, elements: &mut impl Elements) -> Result<usize, Fault> {
    let bytes = text.as_bytes();
    let mut xml = Reader::from_reader(bytes);
    let (mut counted, mut line) = (0, 1);
    let mut depth = 0_usize;
    loop {
        let event = xml.read_event();
        // Count the lines up to the end of what was read; a fault is reported there.
        let position = usize::try_from(xml.buffer_position())
            .unwrap_or(usize::MAX)
            .clamp(counted, bytes.len());
        line += bytes[counted..position]
            .iter()
            .filter(|b| **b == b'\n')
            .count();
        counted = position;
        let fault = |problem| (line, problem);
        let read = match event.map_err(|error| fault(not_xml(&error)))? {
            Event::Start(element) => {
                if depth >= MAX_DEPTH {
                    return Err(fault(FileProblem::TooDeep { most: MAX_DEPTH }));
                }
                depth += 1;
                start(elements, &element, depth, line)?;
                continue;
            }
            Event::Empty(element) => {
                start(elements, &element, depth + 1, line)?;
                elements.end(depth + 1)?;
                continue;
            }
            Event::End(_) => {
                elements.end(depth)?;
                depth = depth.saturating_sub(1);
                continue;
            }
            Event::Text(text) => text.decode().map(std::borrow::Cow::into_owned),
            Event::CData(text) => text.decode().map(std::borrow::Cow::into_owned),
            Event::GeneralRef(reference) => {
                let name = reference
                    .decode()
                    .map_err(|_| fault(FileProblem::NotText))?;
                let number = reference.resolve_char_ref();
                match (number, resolve_xml_entity(&name)) {
                    (Ok(Some(character)), _) => Ok(character.to_string()),
                    (Ok(None), Some(text)) => Ok(text.to_owned()),
                    _ => {
                        let expected = "a predefined XML entity";
                        let found = shortened(&name);
                        return Err(fault(FileProblem::Unexpected { expected, found }));
                    }
                }
            }
            Event::Eof => break,
            Event::Decl(declaration) => {
                let encoding = declaration.encoding().and_then(Result::ok);
                let known = encoding
                    .is_none_or(|name| name.eq_ignore_ascii_case(b"utf-8") || text.is_ascii());
                if !known {
                    return Err(fault(FileProblem::Unsupported {
                        feature: "an encoding other than UTF-8",
                        instead: "convert the file to UTF-8 and change its declaration",
                    }));
                }
                continue;
            }
            Event::Comment(_) | Event::PI(_) | Event::DocType(_) => continue,
        };
        let read = read.map_err(|_| fault(FileProblem::NotText))?;
        if depth == 0 && !read.trim().is_empty() {
            let expected = "elements alone at the outermost level";
            let found = shortened(read.trim());
            return Err(fault(FileProblem::Unexpected { expected, found }));
        }
        elements.text(&read, line)?;
    }
    match depth {
        0 => Ok(line),
        _ => Err((line, ended_before("a closing tag"))),
    }
}

/// A file that ends before this has come.
pub(super) fn ended_before(expected: &'static str) -> FileProblem {
    let found = "the end of the file".to_owned();
    FileProblem::Unexpected { expected, found }
}

/// Elements with well-formed attributes; those of graphs are written in lower case.
fn start(
    elements: &mut impl Elements,
    element: &BytesStart<'_>,
    depth: usize,
    line: usize,
) -> Result<(), Fault> {
    if let Some(error) = element.attributes().find_map(Result::err) {
        return Err((line, not_xml(&error)));
    }
    for expected in ["`graph`", "`node`", "`edge`"] {
        let name = expected.trim_matches('`').as_bytes();
        let local = element.local_name();
        let found = local.as_ref();
        if found.eq_ignore_ascii_case(name) && found != name {
            let found = shortened(&String::from_utf8_lossy(found));
            return Err((line, FileProblem::Unexpected { expected, found }));
        }
    }
    elements.start(element, depth, line)
}

/// The value of an attribute, with its entities resolved.
pub(super) fn attribute(
    element: &BytesStart<'_>,
    name: &'static str,
    line: usize,
) -> Result<Option<String>, Fault> {
    let fault = |error: &dyn std::fmt::Display| (line, not_xml(error));
    let Some(found) = element
        .try_get_attribute(name)
        .map_err(|error| fault(&error))?
    else {
        return Ok(None);
    };
    let value = found.unescape_value().map_err(|error| fault(&error))?;
    if value.len() > MAX_NAME {
        return Err((line, FileProblem::TooLong { most: MAX_NAME }));
    }
    Ok(Some(value.into_owned()))
}

/// The value of an attribute that an element must have.
pub(super) fn required(
    element: &BytesStart<'_>,
    name: &'static str,
    of: &'static str,
    line: usize,
) -> Result<String, Fault> {
    attribute(element, name, line)?.ok_or((
        line,
        FileProblem::Missing {
            element: of,
            attribute: name,
        },
    ))
}

fn not_xml(error: &dyn std::fmt::Display) -> FileProblem {
    FileProblem::Xml {
        reason: error.to_string().chars().take(200).collect(),
    }
}
