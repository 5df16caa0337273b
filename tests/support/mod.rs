//! Builders shared by the integration tests.

pub(crate) mod bits;
pub(crate) mod coalitions;
#[cfg(feature = "cli")]
pub(crate) mod command;
pub(crate) mod experiments;
#[cfg(feature = "cli")]
pub(crate) mod glossary;
#[cfg(all(feature = "node", feature = "cli"))]
pub(crate) mod ports;
#[cfg(feature = "cli")]
pub(crate) mod receipts;
#[cfg(feature = "cli")]
pub(crate) mod scratch;
pub(crate) mod sessions;

use std::path::PathBuf;

/// A path inside the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// An error with its causes.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Says that a test checked nothing, and why. Straight to standard error: the test runner hides what a
/// passing test prints.
pub(crate) fn skipped(why: impl std::fmt::Display) {
    let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("SKIPPED: {why}\n"));
}
