//! `sessions/ID/`: what this peer keeps of one session.

use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::disk;
use super::error::StoreError;
use super::journal::{Journal, Record};
use super::recovery::{self, RecoveryLog};
use super::secrets::{self, OneTimeSecrets};

const JOURNAL: &str = "journal.bin";
const SECRETS: &str = "own.key";
const RECOVERY: &str = "recovery.bin";

/// One session's files to look at.
#[derive(Clone, Debug)]
pub struct SessionView {
    id: Digest,
    path: PathBuf,
}

/// One session's files, to be written.
#[derive(Debug)]
pub struct SessionFiles {
    view: SessionView,
}

impl SessionView {
    pub(super) fn new(sessions: &Path, id: Digest) -> Self {
        Self {
            id,
            path: sessions.join(id.to_string()),
        }
    }

    /// The session.
    #[must_use]
    pub fn id(&self) -> Digest {
        self.id
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How far it has come; nothing before the Join.
    ///
    /// # Errors
    /// [`StoreError::Journal`] for one that is damaged.
    pub fn records(&self) -> Result<Vec<Record>, StoreError> {
        Journal::look(&self.path.join(JOURNAL), self.id)
    }
}

impl SessionFiles {
    pub(super) fn open(sessions: &Path, id: Digest) -> Result<Self, StoreError> {
        disk::check_folder(sessions)?;
        let view = SessionView::new(sessions, id);
        let path = view.path();
        if std::fs::symlink_metadata(path).is_err() {
            disk::make_folder(path)?;
            disk::sync_folder(sessions)?;
        }
        disk::check_folder(path)?;
        Ok(Self { view })
    }

    /// To look at.
    #[must_use]
    pub fn view(&self) -> &SessionView {
        &self.view
    }

    /// Where a file of this session lies.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.view.path.join(name)
    }

    /// Writes a file whole or not at all; it is on the disk when this returns.
    ///
    /// # Errors
    /// [`StoreError::Io`]; then what was there is still there.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        disk::replace(&self.path(name), bytes)
    }

    /// The journal, to be written.
    ///
    /// # Errors
    /// [`StoreError::Journal`] for one that is damaged, [`StoreError::InUse`] where it is open already.
    pub fn journal(&self) -> Result<Journal, StoreError> {
        Journal::open(&self.path(JOURNAL), self.view.id)
    }

    /// What a peer that tolerates losses keeps to start again with, to be written, and the records that are in it.
    ///
    /// # Errors
    /// [`StoreError::Journal`] for one that is damaged, [`StoreError::InUse`] where it is open already.
    pub fn recovery(&self) -> Result<(RecoveryLog, Vec<Vec<u8>>), StoreError> {
        RecoveryLog::open(&self.path(RECOVERY), self.view.id)
    }

    /// Keeps the secrets of this session until it ends; they are on the disk when this returns.
    ///
    /// # Errors
    /// [`StoreError::Io`] where there are some already: secrets are never drawn twice for one session.
    pub fn keep_secrets(&self, secrets: &OneTimeSecrets) -> Result<(), StoreError> {
        secrets::write(&self.path(SECRETS), secrets)
    }

    /// The secrets of this session.
    ///
    /// # Errors
    /// [`StoreError::Io`] where there are none, [`StoreError::Key`] for a file that is damaged.
    pub fn secrets(&self) -> Result<OneTimeSecrets, StoreError> {
        secrets::read(&self.path(SECRETS))
    }

    /// Overwrites, empties and removes the secrets, and what was kept to start again with, among which there may be shares; nothing happens if
    /// they are gone.
    ///
    /// # Errors
    /// [`StoreError::Io`]: then they may still be there.
    pub fn erase_secrets(&self) -> Result<(), StoreError> {
        secrets::erase(&self.path(SECRETS))?;
        let recovery = self.path(RECOVERY);
        secrets::erase(&recovery::beside(&recovery))?;
        secrets::erase(&recovery)
    }
}
