//! Fixtures that tests of every layer share.

use std::io::Write;

/// Says that a test checked nothing, and why. Straight to standard error: the test runner hides what a
/// passing test prints.
pub fn skipped(why: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
