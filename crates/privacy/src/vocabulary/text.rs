//! Rules for names in files: which characters none may hold, and when two names are one in two spellings.
//!
//! Names are compared byte by byte. So that two names a reader of a file cannot tell apart never become two
//! things, no name holds a character that cannot be seen ([`hidden`]), and names that differ only in how the
//! same text or number is written are refused together in one file ([`Spellings`]). Letters of different
//! alphabets that look alike (Latin `a`, Cyrillic `а`) are different names.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use unicode_normalization::UnicodeNormalization;

/// A character that must not stand in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// Its place in the text, in characters from 1.
    pub position: usize,
    /// The character.
    pub character: char,
    why: &'static str,
}

impl fmt::Display for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (position, code, why) = (self.position, self.character as u32, self.why);
        write!(f, "character {position} is U+{code:04X}, {why}")
    }
}

/// Characters that show nothing: the `Default_Ignorable_Code_Point` set of Unicode 16, line and paragraph
/// separators, the interlinear annotation characters and the empty Braille pattern.
const INVISIBLE: [(u32, u32); 18] = [
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x61c, 0x61c),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x206f),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffb),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0000, 0xe0fff),
];

/// The first character of `text` that a reader of it does not see: a control character other than the tab, a
/// zero-width, direction or other format character, a byte-order mark, a line separator, or the mark that a
/// failed conversion leaves.
#[must_use]
pub fn hidden(text: &str) -> Option<Hidden> {
    let control = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
    if text.is_ascii() && !text.as_bytes().iter().any(control) {
        return None;
    }
    (1..).zip(text.chars()).find_map(|(position, character)| {
        why_hidden(character).map(|why| Hidden {
            position,
            character,
            why,
        })
    })
}

fn why_hidden(character: char) -> Option<&'static str> {
    let code = character as u32;
    if character == '\t' {
        None
    } else if character == '\r' {
        Some("a carriage return that ends no line")
    } else if character.is_control() {
        Some("a control character")
    } else if character == '\u{feff}' {
        Some("a byte-order mark where no file begins")
    } else if INVISIBLE
        .iter()
        .any(|&(low, high)| (low..=high).contains(&code))
    {
        Some("a character that cannot be seen")
    } else if character == '\u{fffd}'
        || code & 0xfffe == 0xfffe
        || (0xfdd0..=0xfdef).contains(&code)
    {
        Some("what a failed conversion leaves")
    } else {
        None
    }
}

/// Tells names that are one name in two spellings: composed and decomposed accents, full-width and plain
/// letters, a no-break and a plain space, `1`, `01` and `1.0`. One blank and two are different names.
///
/// # Cost
/// Nothing is kept for names that are their own plain form, as nearly all are.
#[derive(Debug, Default)]
pub struct Spellings {
    /// Plain form → the one name of that form which is spelled otherwise.
    others: BTreeMap<String, String>,
}

impl Spellings {
    /// The earlier name that the new `name` is only another spelling of. `known` tells the names so far; none
    /// of them may be `name` itself.
    pub fn clash(&mut self, name: &str, known: impl Fn(&str) -> bool) -> Option<String> {
        let form = plain(name);
        if let Some(earlier) = self.others.get(&*form) {
            return Some(earlier.clone());
        }
        if *form == *name {
            return None;
        }
        if known(&form) {
            return Some(form.into_owned());
        }
        self.others.insert(form.into_owned(), name.to_owned());
        None
    }
}

/// The form that all spellings of a name share: normalisation form KC of Unicode, and whole numbers without
/// sign +, leading zeros and a fraction of zeros.
fn plain(name: &str) -> Cow<'_, str> {
    let mut form = Cow::Borrowed(name);
    if !name.is_ascii() && !unicode_normalization::is_nfkc(name) {
        form = Cow::Owned(name.nfkc().collect());
    }
    match whole_number(&form) {
        Some(number) if number != *form => Cow::Owned(number),
        _ => form,
    }
}

/// The shortest way to write the whole number that `text` is.
fn whole_number(text: &str) -> Option<String> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        b'0'..=b'9' => (false, text),
        _ => return None,
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = !whole.is_empty()
        && whole.bytes().all(|byte| byte.is_ascii_digit())
        && fraction.bytes().all(|byte| byte == b'0');
    if !is_number {
        return None;
    }
    Some(match (negative, whole.trim_start_matches('0')) {
        (_, "") => "0".to_owned(),
        (false, whole) => whole.to_owned(),
        (true, whole) => format!("-{whole}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_found_and_what_can_be_is_left() {
        for seen in [
            "",
            "a",
            "a\tb",
            "Zürich",
            "Zu\u{308}rich",
            "東京",
            "а",
            "x²",
            "a b",
            "a\u{a0}b",
            "🙂",
        ] {
            assert_eq!(hidden(seen), None, "{seen}");
        }
        for unseen in [
            '\0',
            '\r',
            '\n',
            '\u{7f}',
            '\u{85}',
            '\u{ad}',
            '\u{200b}',
            '\u{200d}',
            '\u{202e}',
            '\u{2028}',
            '\u{2060}',
            '\u{2066}',
            '\u{feff}',
            '\u{fffd}',
            '\u{ffff}',
            '\u{e0041}',
        ] {
            let found = hidden(&format!("é{unseen}a")).expect("hidden");
            assert_eq!((found.position, found.character), (2, unseen));
        }
        assert!(INVISIBLE.iter().all(|(low, high)| low <= high));
    }

    #[test]
    fn spellings_of_one_name_clash_and_different_names_do_not() {
        let mut names = vec![];
        let mut spellings = Spellings::default();
        let mut add = |name: &str| {
            let earlier = spellings.clash(name, |form| names.iter().any(|known| known == form));
            if earlier.is_none() {
                names.push(name.to_owned());
            }
            earlier
        };
        for different in [
            "1",
            "2",
            "-1",
            "10",
            "1.5",
            "1e3",
            "a",
            "A",
            "а",
            "b c",
            "b  c",
            "b c ",
            "Zu\u{308}rich",
            "００7",
            "+",
            "-",
            "x²",
            "",
            "0.0",
            ".0",
        ] {
            assert_eq!(add(different), None, "{different}");
        }
        for (again, earlier) in [
            ("01", "1"),
            ("1.0", "1"),
            ("+1", "1"),
            ("-01", "-1"),
            ("Zürich", "Zu\u{308}rich"),
            ("b\u{a0}c", "b c"),
            ("7", "００7"),
            ("007", "００7"),
            ("x2", "x²"),
            ("-0", "0.0"),
            ("0", "0.0"),
        ] {
            assert_eq!(add(again).as_deref(), Some(earlier), "{again}");
        }
    }
}
