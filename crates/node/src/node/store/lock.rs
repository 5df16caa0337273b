//! `lock`: one process per state directory.

use std::fs::OpenOptions;
use std::path::Path;

use super::disk::Locked;
use super::error::StoreError;

/// Name of the file in a state directory.
pub(super) const NAME: &str = "lock";

/// The lock of a state directory, held until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub(super) struct Lock {
    _file: Locked,
}

impl Lock {
    /// Takes the lock.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while another holds it, in this process or another.
    pub(super) fn take(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(NAME);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(StoreError::io("open", &path))?;
        let file = Locked::take(file, folder)?;
        Ok(Self { _file: file })
    }
}
