//! The Graph Modelling Language (Himsolt 1997): `graph [ node [ id 0 label "Oslo" ] edge [ … ] ]`.
//!
//! # Grammar
//!
//! ```text
//! file    = { key value }                       blanks and line ends separate; one `graph [ … ]` at the top
//! value   = word | text | "[" { key value } "]"
//! key     = an ASCII letter, then ASCII characters without blanks and , ; # " [ ] ( ) { }
//! word    = characters without blanks and " [ ]
//! text    = '"' anything but '"' '"'            with the character references of XML
//! comment = "#" anything to the end of its line, where a key or a value could stand
//! ```
//!
//! Read are `directed` (0 or 1) in the graph, `id` and `label` in its nodes, `source` and `target` in its edges,
//! each at most once; ids are texts, or words of letters, digits and `_ . + -`. Other keys, such as weights, are
//! skipped with the lists they hold; a key that differs from `node` or `edge` in case only is refused.

use super::super::file_problem::{FileProblem, shortened};
use super::parsed::{Builder, Fault, Parsed};
use crate::vocabulary::hidden;

/// Limit on a key, a number or a quoted string.
const MAX_TOKEN: usize = 65_536;

/// Limit on lists within lists.
const MAX_DEPTH: usize = 64;

#[derive(Debug, PartialEq)]
enum Token<'a> {
    Open,
    Close,
    /// A key, or a number as a value.
    Word(&'a str),
    Text(&'a str),
}

/// Splits the text into tokens, counting lines.
struct Tokens<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Result<Option<Token<'a>>, Fault> {
        loop {
            let trimmed = self.rest.trim_start();
            self.line += lines(&self.rest[..self.rest.len() - trimmed.len()]);
            self.rest = trimmed;
            if !self.rest.starts_with('#') {
                break;
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            let comment = &self.rest[..end];
            // Some programs end a line, and the comment with it, at a carriage return.
            if let Some(found) = hidden(comment.strip_suffix('\r').unwrap_or(comment)) {
                return Err((self.line, FileProblem::Hidden { found }));
            }
            self.rest = &self.rest[end..];
        }
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        let token = match first {
            '[' => self.take(1, Token::Open),
            ']' => self.take(1, Token::Close),
            '"' => {
                let Some(length) = self.rest[1..].find('"') else {
                    return Err(self.unexpected("a closing quote", "the end of the file"));
                };
                let text = &self.rest[1..=length];
                self.bounded(text)?;
                let token = self.take(length + 2, Token::Text(text));
                self.line += lines(text);
                token
            }
            _ => {
                let end = self
                    .rest
                    .find(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"'))
                    .unwrap_or(self.rest.len());
                let word = &self.rest[..end];
                self.bounded(word)?;
                self.take(end, Token::Word(word))
            }
        };
        Ok(Some(token))
    }

    fn take(&mut self, length: usize, token: Token<'a>) -> Token<'a> {
        self.rest = &self.rest[length..];
        token
    }

    fn bounded(&self, token: &str) -> Result<(), Fault> {
        if token.len() > MAX_TOKEN {
            return Err((self.line, FileProblem::TooLong { most: MAX_TOKEN }));
        }
        Ok(())
    }

    fn unexpected(&self, expected: &'static str, found: &str) -> Fault {
        let found = shortened(found);
        (self.line, FileProblem::Unexpected { expected, found })
    }
}

fn lines(text: &str) -> usize {
    text.bytes().filter(|b| *b == b'\n').count()
}

/// A list that is being read.
enum List {
    Graph,
    Node {
        id: Option<String>,
        label: Option<String>,
        line: usize,
    },
    Edge {
        source: Option<String>,
        target: Option<String>,
        line: usize,
    },
    Skipped,
}

/// Reads a GML file with one graph.
pub(super) fn parse(text: &str) -> Result<Parsed, Fault> {
    let mut tokens = Tokens {
        rest: text,
        line: 1,
    };
    let mut reader = Reader {
        builder: Builder::default(),
        open: Vec::new(),
        directed: false,
        told: false,
        graphs: 0,
    };
    while let Some(token) = tokens.next()? {
        let line = tokens.line;
        match token {
            Token::Close => reader.close(&tokens)?,
            Token::Word(key) if !is_key(key) => return Err(tokens.unexpected("a key", key)),
            Token::Word(key) => match tokens.next()? {
                Some(Token::Open) => reader.open(key, line)?,
                Some(Token::Word(value)) => {
                    let id = ["id", "source", "target"].contains(&key);
                    if let Some(wrong) = value.chars().find(|c| id && !is_in_id(*c)) {
                        let id = shortened(value);
                        let character = wrong.to_string();
                        return Err((tokens.line, FileProblem::IdCharacter { id, character }));
                    }
                    reader.value(key, value, &tokens)?;
                }
                Some(Token::Text(value)) => reader.value(key, &unescaped(value), &tokens)?,
                Some(Token::Close) => return Err(tokens.unexpected("a value", "`]`")),
                None => return Err(tokens.unexpected("a value", "the end of the file")),
            },
            Token::Open => return Err(tokens.unexpected("a key", "`[`")),
            Token::Text(text) => return Err(tokens.unexpected("a key", text)),
        }
    }
    if !reader.open.is_empty() {
        return Err(tokens.unexpected("`]`", "the end of the file"));
    }
    if reader.graphs == 0 {
        return Err(tokens.unexpected("`graph [`", "the end of the file"));
    }
    reader.finish()
}

/// Whether a word can be a key. Anything else there is a separator or a bracket of another format.
fn is_key(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word
            .chars()
            .all(|c| c.is_ascii_graphic() && !",;#(){}".contains(c))
}

/// Whether a character can stand in an id without quotes.
fn is_in_id(character: char) -> bool {
    character.is_alphanumeric() || "_.+-".contains(character)
}

struct Reader {
    builder: Builder,
    open: Vec<List>,
    directed: bool,
    /// Whether the graph has said whether it is.
    told: bool,
    graphs: usize,
}

impl Reader {
    fn open(&mut self, key: &str, line: usize) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH {
            return Err((line, FileProblem::TooDeep { most: MAX_DEPTH }));
        }
        for expected in ["`node`", "`edge`"] {
            let name = expected.trim_matches('`');
            if matches!(self.open.last(), Some(List::Graph))
                && key.eq_ignore_ascii_case(name)
                && key != name
            {
                let found = shortened(key);
                return Err((line, FileProblem::Unexpected { expected, found }));
            }
        }
        let list = match (self.open.last(), key) {
            (None, "graph") => {
                self.graphs += 1;
                if self.graphs > 1 {
                    let problem = FileProblem::Unsupported {
                        feature: "a second graph in one file",
                        instead: "keep one",
                    };
                    return Err((line, problem));
                }
                List::Graph
            }
            (Some(List::Graph), "node") => List::Node {
                id: None,
                label: None,
                line,
            },
            (Some(List::Graph), "edge") => List::Edge {
                source: None,
                target: None,
                line,
            },
            _ => List::Skipped,
        };
        self.open.push(list);
        Ok(())
    }

    fn value(&mut self, key: &str, value: &str, tokens: &Tokens<'_>) -> Result<(), Fault> {
        let set = |slot: &mut Option<String>, expected, found| match slot.replace(value.to_owned())
        {
            None => Ok(()),
            Some(_) => Err(tokens.unexpected(expected, found)),
        };
        if key.eq_ignore_ascii_case("directed") {
            let here = matches!(self.open.last(), Some(List::Graph)) && key == "directed";
            if !here || self.told {
                return Err(tokens.unexpected("one `directed` in the graph", key));
            }
            self.told = true;
        }
        match (self.open.last_mut(), key) {
            (Some(List::Graph), "directed") => {
                self.directed = match value {
                    "0" => false,
                    "1" => true,
                    other => return Err(tokens.unexpected("`directed 0` or `directed 1`", other)),
                };
            }
            (Some(List::Node { id, .. }), "id") => set(id, "one `id`", "a second `id`")?,
            (Some(List::Node { label, .. }), "label") => {
                set(label, "one `label`", "a second `label`")?
            }
            (Some(List::Edge { source, .. }), "source") => {
                set(source, "one `source`", "a second `source`")?
            }
            (Some(List::Edge { target, .. }), "target") => {
                set(target, "one `target`", "a second `target`")?
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, tokens: &Tokens<'_>) -> Result<(), Fault> {
        let missing =
            |line, element, attribute| (line, FileProblem::Missing { element, attribute });
        match self.open.pop() {
            None => Err(tokens.unexpected("a key", "`]`")),
            Some(List::Graph | List::Skipped) => Ok(()),
            Some(List::Node { id, label, line }) => {
                let id = id.ok_or_else(|| missing(line, "a node", "id"))?;
                self.builder.node(id, label, line)
            }
            Some(List::Edge {
                source,
                target,
                line,
            }) => {
                let source = source.ok_or_else(|| missing(line, "an edge", "source"))?;
                let target = target.ok_or_else(|| missing(line, "an edge", "target"))?;
                // `directed` may stand after the edges: it is applied at the end.
                self.builder.edge(source, target, false, line)
            }
        }
    }

    fn finish(self) -> Result<Parsed, Fault> {
        let mut parsed = self.builder.finish()?;
        for edge in &mut parsed.edges {
            edge.directed = self.directed;
        }
        Ok(parsed)
    }
}

/// A quoted string with its character entities resolved, or as it stands if it has others.
fn unescaped(text: &str) -> String {
    quick_xml::escape::unescape(text).map_or_else(|_| text.to_owned(), |text| text.into_owned())
}
