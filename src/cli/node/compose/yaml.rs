//! Text in YAML, so that whatever it holds comes back.

use std::fmt::Write as _;

/// A text in double quotes. What is not printable ASCII is escaped: YAML would fold, drop or refuse some of it.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        let code = u32::from(character);
        // Writing to a string does not fail.
        let _ = match character {
            '"' | '\\' => write!(out, "\\{character}"),
            '\n' => write!(out, "\\n"),
            ' '..='~' => write!(out, "{character}"),
            _ if code <= 0xffff => write!(out, "\\u{code:04x}"),
            _ => write!(out, "\\U{code:08x}"),
        };
    }
    out.push('"');
    out
}

/// Texts as a list on one line.
pub(super) fn list<S: AsRef<str>>(texts: &[S]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text.as_ref())).collect();
    format!("[{}]", texts.join(", "))
}

/// Lines of a comment. What is no letter and no ASCII is shown as ?, so that nothing in a name ends the comment.
pub(super) fn comment(text: &str) -> String {
    let mut out = String::new();
    for line in text.split('\n') {
        let shown: String = line
            .chars()
            .map(|character| match character {
                ' '..='~' => character,
                _ if character.is_alphanumeric() => character,
                _ => '?',
            })
            .collect();
        out.push_str(format!("# {shown}").trim_end());
        out.push('\n');
    }
    out
}
