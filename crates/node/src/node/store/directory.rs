//! The state directory of one peer: `~/.undertone`, or what `--state` names.

use std::fs;
use std::path::{Path, PathBuf};

use time::OffsetDateTime;

use super::address_book::{self, AddressBook};
use super::digest::Digest;
use super::error::StoreError;
use super::ledger::{Ledger, LedgerView};
use super::lock::Lock;
use super::policy::Policy;
use super::session_files::{SessionFiles, SessionView};
use super::{disk, key};
use crate::session::{Identity, MemberName, PublicId};

const KEY: &str = "peer.key";
const PUBLIC: &str = "peer.pub";
const POLICY: &str = "policy.toml";
const ADDRESS_BOOK: &str = "address-book.toml";
const LEDGER: &str = "ledger.log";
const SESSIONS: &str = "sessions";
const CONTROL: &str = "control.sock";

/// A state directory to look at, also while a node runs on it: nothing is written.
#[derive(Clone, Debug)]
pub struct StateView {
    path: PathBuf,
}

/// A state directory that this process works on, and no other.
#[derive(Debug)]
pub struct StateDir {
    view: StateView,
    _lock: Lock,
}

impl StateView {
    /// Finds a state directory and checks who may read it.
    ///
    /// # Errors
    /// [`StoreError::NotInitialised`], [`StoreError::Link`], [`StoreError::NotOurs`], [`StoreError::Exposed`]: of the directory and of the key in it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let key = path.join(KEY);
        // Not followed: a dangling link is something that is there.
        if fs::symlink_metadata(path).is_err() || fs::symlink_metadata(&key).is_err() {
            return Err(StoreError::NotInitialised(path.to_path_buf()));
        }
        disk::check_folder(path)?;
        drop(disk::open_secret(&key, disk::Writing::No)?);
        Ok(Self {
            path: path.to_path_buf(),
        })
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// This peer's key pair.
    ///
    /// # Errors
    /// [`StoreError::Key`] for a file that is damaged, and those of [`Self::open`].
    pub fn identity(&self) -> Result<Identity, StoreError> {
        key::read(&self.path.join(KEY))
    }

    /// Who this peer is and what it is called, without touching the secret.
    ///
    /// # Errors
    /// [`StoreError::Content`] for a `peer.pub` that was changed.
    pub fn public(&self) -> Result<(PublicId, MemberName), StoreError> {
        let (id, name) = key::read_public(&self.path.join(PUBLIC))?;
        Ok((id, name.parse()?))
    }

    /// What this peer never does.
    ///
    /// # Errors
    /// [`StoreError::Content`] with the line that is wrong.
    pub fn policy(&self) -> Result<Policy, StoreError> {
        Policy::read(&self.path.join(POLICY))
    }

    /// Whom this peer knows.
    ///
    /// # Errors
    /// [`StoreError::Content`] with the line that is wrong.
    pub fn address_book(&self) -> Result<AddressBook, StoreError> {
        AddressBook::read(&self.path.join(ADDRESS_BOOK))
    }

    /// The ledger, verified from its first line, as it is now; sessions that have closed before this peer was ready have ended.
    ///
    /// # Errors
    /// [`StoreError::Ledger`] for one that does not verify.
    pub fn ledger(&self) -> Result<LedgerView, StoreError> {
        let owner = self.identity()?.id();
        let mut ledger = LedgerView::read(&self.path.join(LEDGER), &owner)?;
        for session in self.lapsed(&ledger, OffsetDateTime::now_utc())? {
            ledger.lapse(session.id());
        }
        Ok(ledger)
    }

    /// Where a running node answers.
    #[must_use]
    pub fn control_socket(&self) -> PathBuf {
        self.path.join(CONTROL)
    }

    /// Every session that has files here, in the order of their names; what is not named as a session is left alone.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn sessions(&self) -> Result<Vec<SessionView>, StoreError> {
        let folder = self.path.join(SESSIONS);
        let entries = fs::read_dir(&folder).map_err(StoreError::io("list", &folder))?;
        let mut found = Vec::new();
        for entry in entries {
            let name = entry.map_err(StoreError::io("list", &folder))?.file_name();
            let id: Option<Digest> = name.to_str().and_then(|name| name.parse().ok());
            found.extend(id.map(|id| SessionView::new(&folder, id)));
        }
        found.sort_by_key(SessionView::id);
        Ok(found)
    }
}

impl StateDir {
    /// Makes a new peer: a key pair from the operating system's entropy, a cautious policy, an empty ledger. The directory is there whole or not
    /// at all.
    ///
    /// # Errors
    /// [`StoreError::AlreadyInitialised`] unless the directory is missing or empty, and those of the system.
    pub fn init(path: &Path, name: &MemberName) -> Result<Self, StoreError> {
        let taken = || StoreError::AlreadyInitialised(path.to_path_buf());
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => return Err(StoreError::Link(path.to_path_buf())),
            Ok(found) if !found.is_dir() => return Err(taken()),
            Ok(_) => {
                let mut entries = fs::read_dir(path).map_err(StoreError::io("list", path))?;
                if entries.next().is_some() {
                    return Err(taken());
                }
            }
            Err(_) => {}
        }
        let parent = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let file_name = path.file_name().ok_or_else(taken)?.to_string_lossy();
        let process = std::process::id();
        let made = parent.join(format!(".{file_name}.{process}.new"));
        let result = fill(&made, name).and_then(|()| {
            crate::writing::rename(&made, path).map_err(StoreError::io("name", path))
        });
        if result.is_err() {
            // Nothing more can be done about what cannot be removed.
            let _ = fs::remove_dir_all(&made);
        }
        result?;
        Self::open(path)
    }

    /// Opens a state directory for this process alone, until the value is dropped or the process ends.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while another process has it, and those of [`StateView::open`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        tracing::debug!("checking and locking the state directory");
        let view = StateView::open(path)?;
        let lock = Lock::take(path)?;
        Ok(Self { view, _lock: lock })
    }

    /// To look at.
    #[must_use]
    pub fn view(&self) -> &StateView {
        &self.view
    }

    /// This peer's key pair.
    ///
    /// # Errors
    /// Those of [`StateView::identity`].
    pub fn identity(&self) -> Result<Identity, StoreError> {
        self.view.identity()
    }

    /// The ledger, to be written.
    ///
    /// # Errors
    /// [`StoreError::Ledger`] for one that does not verify, [`StoreError::InUse`] where it is open already.
    pub fn ledger(&self) -> Result<Ledger, StoreError> {
        Ledger::open(&self.view.path.join(LEDGER), self.identity()?)
    }

    /// The files of one session, made if they are not there.
    ///
    /// # Errors
    /// [`StoreError::Io`], and a folder that others can enter.
    pub fn session(&self, session: [u8; 32]) -> Result<SessionFiles, StoreError> {
        SessionFiles::open(&self.view.path.join(SESSIONS), Digest(session))
    }
}

/// Makes everything that a state directory holds.
fn fill(folder: &Path, name: &MemberName) -> Result<(), StoreError> {
    disk::make_folder(folder)?;
    let identity = Identity::generate()?;
    key::write(&folder.join(KEY), &identity)?;
    let first = Ledger::first_line(&identity, name);
    drop(disk::create_secret(&folder.join(LEDGER), first.as_bytes())?);
    let public = key::public_text(&identity.id(), name.as_str());
    for (file, text) in [
        (PUBLIC, public.as_str()),
        (POLICY, Policy::default_text()),
        (ADDRESS_BOOK, address_book::empty()),
    ] {
        let path = folder.join(file);
        crate::writing::replace(&path, text.as_bytes()).map_err(StoreError::io("write", &path))?;
    }
    disk::make_folder(&folder.join(SESSIONS))?;
    disk::sync_folder(folder)
}
