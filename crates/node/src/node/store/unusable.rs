//! Why a file of records cannot be read, or takes no more.

use std::path::Path;

use super::digest::Digest;
use super::disk::Refused;
use super::error::{JournalError, StoreError};
use super::records::Problem;

/// Why nothing was added to this file.
pub(super) fn unwritten(refused: Refused, path: &Path) -> JournalError {
    let path = path.to_path_buf();
    match refused {
        Refused::Failed(source) => JournalError::Write { path, source },
        Refused::Fenced => JournalError::Fenced(path),
    }
}

/// Why this file of records of `session` cannot be read.
pub(super) fn unreadable(problem: Problem, path: &Path, session: Digest) -> StoreError {
    let path = path.to_path_buf();
    StoreError::Journal(match problem {
        Problem::Foreign => JournalError::Foreign { path, session },
        Problem::Damaged { at } => JournalError::Damaged { path, at },
    })
}
