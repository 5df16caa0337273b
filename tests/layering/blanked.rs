//! Rust text without comments and literals.

/// Blanks comments and the insides of string and character literals.
pub(super) fn blanked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = raw_string(rest, &out) {
            length
        } else if first == '"' {
            string(rest)
        } else if first == '\'' {
            character(rest)
        } else {
            0
        };
        if skipped > 0 {
            out.push(' ');
            rest = &rest[skipped..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// Length of a raw string literal at the start of `rest`, unless the `r` ends a word.
fn raw_string(rest: &str, before: &str) -> Option<usize> {
    let ends_a_word = before.ends_with(|c: char| c.is_alphanumeric() && c != 'b');
    let body = rest.strip_prefix('r').filter(|_| !ends_a_word)?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let inside = body[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = inside
        .find(&close)
        .map_or(inside.len(), |end| end + close.len());
    Some(2 + hashes + end)
}

/// Length of a string literal.
fn string(rest: &str) -> usize {
    let mut escaped = false;
    for (offset, c) in rest.char_indices().skip(1) {
        match c {
            '"' if !escaped => return offset + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    rest.len()
}

/// Length of a character literal; 0 for a lifetime.
fn character(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => rest[2..]
            .char_indices()
            .skip(1)
            .find(|(_, c)| *c == '\'')
            .map_or(0, |(end, _)| end + 3),
        Some(_) => match characters.next() {
            Some((end, '\'')) => end + 1,
            _ => 0,
        },
        None => 0,
    }
}

#[test]
fn comments_and_literals_are_blanked_and_code_is_not() {
    let cases = [
        ("a // b\nc", "a  \nc"),
        ("a /* b\n */ c", "a   c"),
        ("f(\"x \\\" // y\") + 1", "f( ) + 1"),
        ("f(r#\"x \" y\"#) + br\"z\"", "f( ) + b "),
        ("('\"', 'a', '\\'', '\\u{1f}') x", "( ,  ,  ,  ) x"),
        ("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)"),
        ("for r in var", "for r in var"),
    ];
    for (text, code) in cases {
        assert_eq!(blanked(text), code, "{text}");
    }
}
