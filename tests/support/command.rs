//! Runs the built `undertone`.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

/// Runs `undertone` with these arguments at the root of the repository.
pub(crate) fn undertone<S: AsRef<OsStr>>(arguments: &[S]) -> Finished {
    undertone_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments)
}

/// Runs `undertone` with these arguments in a folder.
pub(crate) fn undertone_in<S: AsRef<OsStr>>(folder: &Path, arguments: &[S]) -> Finished {
    let output = Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the binary was built with the tests");
    Finished {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}
