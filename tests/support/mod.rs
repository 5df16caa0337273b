//! Builders shared by the integration tests.

#[cfg(feature = "cli")]
pub(crate) mod command;
pub(crate) mod experiments;
#[cfg(feature = "cli")]
pub(crate) mod scratch;

use std::path::PathBuf;

/// A path inside the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}
