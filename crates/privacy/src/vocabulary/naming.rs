//! Prints and reads the names of peers: the grammar of a printed name, and error texts that use names.
//!
//! A peer has one name, that of the user's graph file. Below the command line and the experiment peers are dense
//! indices ([`PeerIndex`](super::PeerIndex)); where text leaves the program, names are printed by [`printed`], and
//! where text enters it they are read by [`read_name`] and [`read_names`]. What [`printed`] writes these two read back.

use std::borrow::Cow;
use std::cell::RefCell;
use std::error::Error;
use std::fmt;

/// How a name is written in tables, messages and lists: as it is, or, where that could be misread, as a JSON string.
///
/// Written as a JSON string are names that are empty, begin with a double quote, contain a comma, ` - ` or a
/// character that cannot be seen (control, zero-width, any white space but single blanks), or begin or end with a blank.
/// `Oslo` stays `Oslo`; `a, b` becomes `"a, b"`.
#[must_use]
pub fn printed(name: &str) -> Cow<'_, str> {
    let misread = name.is_empty()
        || name == "..."
        || name.starts_with('"')
        || name.contains([',', ';'])
        || name.contains(" - ")
        || name.contains("  ")
        || name.starts_with(' ')
        || name.ends_with(' ')
        || name.chars().any(is_unseen);
    if !misread {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(name.len() + 2);
    text.push('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if is_unseen(c) => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            }
            c => text.push(c),
        }
    }
    text.push('"');
    Cow::Owned(text)
}

/// Several names as a list that [`read_names`] reads back: `Oslo, "a, b", 17`.
#[must_use]
pub fn printed_list<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<_> = names.iter().map(|name| printed(name.as_ref())).collect();
    names.join(", ")
}

/// Whether a character leaves no mark of its own on a screen, other than the blank.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Text that is no name, or no list of names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameSyntax {
    /// A quoted name that does not end, or with an escape that JSON does not have.
    #[error(
        "{text}: a name that begins with a double quote is read as a JSON string, such as \"a, b\"; close the quotes, and \
         write \\\" for a quote and \\\\ for a backslash inside them"
    )]
    Quotes {
        /// The text from the opening quote on.
        text: String,
    },
    /// Something between the closing quote and the next comma.
    #[error("a comma is expected after a quoted name, found {found}; separate names by commas")]
    AfterQuotes {
        /// The text after the closing quote.
        found: String,
    },
    /// Nothing where a name is expected.
    #[error(
        "an empty name in {text:?}; take the extra comma out (a peer whose name is empty is written \"\")"
    )]
    Empty {
        /// The list.
        text: String,
    },
}

/// One name as it is typed: text without blanks at its ends, or a JSON string. A comma is part of it.
///
/// # Errors
/// [`NameSyntax`] for quotes that do not close, text after them, or nothing at all.
pub fn read_name(text: &str) -> Result<String, NameSyntax> {
    let trimmed = text.trim();
    if !trimmed.starts_with('"') {
        return bare(trimmed, text);
    }
    match quoted(trimmed)? {
        (name, "") => Ok(name),
        (_, rest) => Err(NameSyntax::AfterQuotes {
            found: rest.to_owned(),
        }),
    }
}

/// Names separated by commas, each as it is or as a JSON string, blanks around them ignored.
///
/// # Errors
/// [`NameSyntax`] for quotes that do not close, text after them, or nothing between two commas.
pub fn read_names(text: &str) -> Result<Vec<String>, NameSyntax> {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let (name, after) = if rest.starts_with('"') {
            let (name, after) = quoted(rest)?;
            match after.chars().next() {
                None => (name, None),
                Some(',') => (name, Some(&after[1..])),
                Some(_) => {
                    let found = after.to_owned();
                    return Err(NameSyntax::AfterQuotes { found });
                }
            }
        } else {
            let (field, after) = match rest.split_once(',') {
                Some((field, after)) => (field, Some(after)),
                None => (rest, None),
            };
            (bare(field.trim(), text)?, after)
        };
        names.push(name);
        match after {
            Some(after) => rest = after,
            None => return Ok(names),
        }
    }
}

fn bare(name: &str, text: &str) -> Result<String, NameSyntax> {
    if name.is_empty() {
        let text = text.to_owned();
        return Err(NameSyntax::Empty { text });
    }
    Ok(name.to_owned())
}

/// The JSON string that `text` begins with, and what follows, without blanks before it.
fn quoted(text: &str) -> Result<(String, &str), NameSyntax> {
    let refused = || NameSyntax::Quotes {
        text: text.to_owned(),
    };
    let mut escaped = false;
    let inside = text.char_indices().skip(1);
    for (at, c) in inside {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => {
                let (string, rest) = text.split_at(at + 1);
                let name = serde_json::from_str(string).map_err(|_| refused())?;
                return Ok((name, rest.trim()));
            }
            _ => {}
        }
    }
    Err(refused())
}

thread_local! {
    /// The names by which peers are called while an error is put into words; see [`Named`].
    static NAMES: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Writes "peer Oslo" while [`Named::new`] puts an error into words that knows peer `index` by name, else "peer 3".
pub(super) fn write_peer(index: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let name = NAMES.with_borrow(|names| names.as_ref()?.get(index as usize).cloned());
    match name {
        Some(name) => write!(f, "peer {}", printed(&name)),
        None => write!(f, "peer {index}"),
    }
}

/// An error whose text calls peers by their names; what is inside knows them by index.
///
/// Errors of engines, peers and transports carry [`PeerIndex`](super::PeerIndex)es, since that is all a peer knows.
/// They become one of these where they leave the session for somebody who knows the graph. The text is made
/// then, once, with every index in it rendered through `printed`.
#[derive(Clone, PartialEq)]
pub struct Named<E> {
    // In a box, so that results stay small whatever the error.
    error: Box<E>,
    text: String,
}

impl<E: fmt::Display> Named<E> {
    /// The error, in the words of a graph whose node `i` is called `names[i]`; `None` if nodes are called by number.
    pub fn new(error: E, names: Option<&[String]>) -> Self {
        /// Forgets the names even if putting the error into words panics.
        struct Scope;
        impl Drop for Scope {
            fn drop(&mut self) {
                NAMES.set(None);
            }
        }
        NAMES.set(names.map(<[String]>::to_vec));
        let _scope = Scope;
        let text = error.to_string();
        Self {
            error: Box::new(error),
            text,
        }
    }
}

impl<E> Named<E> {
    /// The error itself, with peers by index.
    #[must_use]
    pub fn error(&self) -> &E {
        &self.error
    }
}

impl<E> fmt::Display for Named<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<E: fmt::Debug> fmt::Debug for Named<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<E: Error> Error for Named<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

#[cfg(test)]
mod tests {
    use super::super::PeerIndex;
    use super::*;

    /// Names that somebody's file may have, the worst first.
    pub(crate) const HOSTILE: [&str; 26] = [
        "",
        " ",
        "\"",
        "\\",
        ",",
        "a,b",
        "a, b",
        "\"a\"",
        "\"\\\"a\\\"\"",
        "a\"b",
        "a\\",
        "a\\n",
        "a\nb",
        "a\tb",
        "a\u{200b}b",
        "\u{feff}a",
        "a\u{1f600}\u{e0041}",
        " a",
        "a ",
        "a",
        "a - b",
        "...",
        "-1",
        "--json",
        "peer 3",
        "Genève (2)",
    ];

    #[test]
    fn what_is_printed_can_be_typed() {
        for name in HOSTILE {
            let shown = printed(name);
            assert_eq!(read_name(&shown).as_deref(), Ok(name), "{shown}");
            assert_eq!(
                read_names(&shown),
                Ok(vec![name.to_owned()]),
                "in a list: {shown}"
            );
            assert!(!shown.chars().any(is_unseen), "{shown}");
        }
        let shown = printed_list(&HOSTILE);
        assert_eq!(read_names(&shown).expect("a list"), HOSTILE, "{shown}");
        // And no two names are printed alike.
        let mut all: Vec<_> = HOSTILE.iter().map(|name| printed(name)).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), HOSTILE.len());
    }

    #[test]
    fn a_string_of_a_json_document_can_be_typed_as_it_stands() {
        for name in HOSTILE {
            let json = serde_json::to_string(name).expect("text");
            assert_eq!(read_name(&json).as_deref(), Ok(name));
            assert_eq!(read_names(&json), Ok(vec![name.to_owned()]));
        }
    }

    #[test]
    fn lists_that_could_be_read_in_two_ways_are_refused() {
        assert_eq!(read_names("a,b , c").expect("a list"), ["a", "b", "c"]);
        assert_eq!(read_name("a,b").as_deref(), Ok("a,b"));
        for text in ["", ",", "a,", ",a", "a,,b", " "] {
            let found = read_names(text);
            assert!(
                matches!(found, Err(NameSyntax::Empty { .. })),
                "{text:?}: {found:?}"
            );
        }
        for text in ["\"a", "\"a\\\"", "a, \"b", "\"\\x\"", "\"\\ud800\""] {
            let found = read_names(text);
            assert!(
                matches!(found, Err(NameSyntax::Quotes { .. })),
                "{text:?}: {found:?}"
            );
        }
        for text in ["\"a\" b", "\"a\"\"b\"", "\"a\"b,c"] {
            let found = read_names(text);
            assert!(
                matches!(found, Err(NameSyntax::AfterQuotes { .. })),
                "{text:?}: {found:?}"
            );
        }
    }

    #[test]
    fn an_error_calls_every_peer_by_its_name_and_keeps_the_index() {
        #[derive(Debug, thiserror::Error)]
        #[error("{0} lost {1}")]
        struct Lost(PeerIndex, PeerIndex);
        let names = ["Oslo".to_owned(), "a, b".to_owned()];
        let named = Named::new(Lost(PeerIndex(1), PeerIndex(0)), Some(&names));
        assert_eq!(named.to_string(), "peer \"a, b\" lost peer Oslo");
        assert_eq!(named.error().0, PeerIndex(1));
        let numbered = Named::new(Lost(PeerIndex(1), PeerIndex(7)), None);
        assert_eq!(numbered.to_string(), "peer 1 lost peer 7");
        assert_eq!(PeerIndex(1).to_string(), "peer 1", "nothing is left behind");
    }
}
