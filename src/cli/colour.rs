//! Colours of verdicts, warnings and errors. Streams of `anstream` drop them where the output is no terminal or `NO_COLOR` is set.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

const GREEN: Style = AnsiColor::Green.on_default().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();

/// Standard output, locked: without colours where there is no terminal.
pub(super) fn stdout() -> anstream::AutoStream<std::io::StdoutLock<'static>> {
    anstream::stdout().lock()
}

/// PASS in green or FAIL in red.
pub(super) fn verdict(holds: bool) -> String {
    match holds {
        true => format!("{GREEN}PASS{GREEN:#}"),
        false => format!("{RED}FAIL{RED:#}"),
    }
}

/// Prints a warning on standard error.
pub(super) fn warn(warning: impl Display) {
    anstream::eprintln!("{YELLOW}warning:{YELLOW:#} {warning}");
}

/// Prints an error on standard error.
pub(super) fn error(error: impl Display) {
    anstream::eprintln!("{RED}error:{RED:#} {error}");
}

/// Number of characters that a text takes on the screen.
pub(super) fn width(text: &str) -> usize {
    let visible = anstream::adapter::strip_str(text);
    visible.map(|part| part.chars().count()).sum()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use anstream::{AutoStream, ColorChoice};

    use super::*;

    fn written(choice: ColorChoice) -> String {
        let mut out = AutoStream::new(Vec::new(), choice);
        write!(out, "{} {}", verdict(true), verdict(false)).expect("writing to memory");
        String::from_utf8(out.into_inner()).expect("text")
    }

    #[test]
    fn verdicts_have_colours_where_they_are_shown_and_no_escapes_elsewhere() {
        assert_eq!(written(ColorChoice::Never), "PASS FAIL");
        let coloured = written(ColorChoice::AlwaysAnsi);
        assert!(coloured.contains("\u{1b}[32m"), "{coloured:?}");
        assert!(coloured.contains("\u{1b}[31m"), "{coloured:?}");
        assert_eq!(width(&coloured), "PASS FAIL".len());
    }
}
