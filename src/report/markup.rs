//! HTML and SVG text whose tags close and whose content is escaped.
//!
//! Names come from files, so nothing else in this layer writes an angle bracket: text and attribute values
//! go through [`escaped`], and tag and attribute names are constants of the program. The result is well-formed XML too.

/// A piece of a page, well-formed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup(String);

/// Attributes of a tag.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Markup {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// A piece that somebody else made well-formed: the plotting crate, or the style sheet.
    pub(super) fn trusted(text: String) -> Self {
        Self(text)
    }

    /// The text of this piece.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Adds text.
    pub(super) fn text(&mut self, text: &str) {
        self.0.push_str(&escaped(text));
    }

    /// Adds a paragraph's text, with the exponent of e^ε raised.
    pub(super) fn prose(&mut self, text: &str) {
        for (position, part) in text.split("e^ε").enumerate() {
            if position > 0 {
                self.text("e");
                self.leaf("sup", &[], "ε");
            }
            self.text(part);
        }
    }

    /// Adds another piece.
    pub(super) fn piece(&mut self, piece: &Self) {
        self.0.push_str(&piece.0);
    }

    /// Adds a line break in the source, which readers do not see.
    pub(super) fn line(&mut self) {
        self.0.push('\n');
    }

    /// Adds a tag around what `inside` adds.
    pub(super) fn element(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        inside: impl FnOnce(&mut Self),
    ) {
        self.open(tag, attributes);
        self.0.push('>');
        inside(self);
        self.0.push_str("</");
        self.0.push_str(tag);
        self.0.push('>');
    }

    /// Adds a tag around text.
    pub(super) fn leaf(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.element(tag, attributes, |inside| inside.text(text));
    }

    /// Adds a tag without content; in HTML for void elements only.
    pub(super) fn empty(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.open(tag, attributes);
        self.0.push_str("/>");
    }

    fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            self.0.push_str(&escaped(value));
            self.0.push('"');
        }
    }
}

/// Text that stands for itself in content and in quoted attribute values, of HTML and of XML. Characters that
/// XML forbids, and those that turn the direction of everything after them, become U+FFFD.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(visible(c)),
        }
    }
    out
}

/// Text without characters that must not reach a page, for those who escape it themselves.
pub(super) fn cleaned(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// The character, or U+FFFD for one that must not reach a page.
fn visible(c: char) -> char {
    let allowed = matches!(c, '\n' | '\t') || !c.is_control();
    let turns = matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let in_xml = !matches!(c, '\u{FFFE}' | '\u{FFFF}');
    if allowed && !turns && in_xml {
        c
    } else {
        '\u{FFFD}'
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hostile_is_shown_and_not_obeyed() {
        let mut page = Markup::new();
        let name = "</td><script>alert('x')</script>\u{0}\u{202E}&\"";
        page.leaf("td", &[("title", name)], name);
        let text = page.as_str();
        assert!(
            !text.contains("<script") && text.matches('<').count() == 2,
            "{text}"
        );
        assert_eq!(text.matches('"').count(), 2);
        assert_eq!(text.matches('\u{FFFD}').count(), 4);
        assert_eq!(escaped("a&b"), "a&amp;b");
    }

    #[test]
    fn exponents_are_raised() {
        let mut page = Markup::new();
        page.prose("<a factor of e^ε = 7.4, e^δ>");
        let expected = "&lt;a factor of e<sup>ε</sup> = 7.4, e^δ&gt;";
        assert_eq!(page.as_str(), expected);
    }
}
