//! Errors of a peer's own files. Each says what to change.

use std::io;
use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::ledger_error::LedgerError;
use crate::session::IdentityError;

/// Why a peer's state directory, or a file in it, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A system without owners and modes of files.
    #[error(
        "deployed peers need a system whose files have owners and modes, such as Linux or macOS"
    )]
    Unsupported,
    /// Nothing there.
    #[error("{path} holds no peer: make one with `undertone node init --state {path}`", path = .0.display())]
    NotInitialised(PathBuf),
    /// Something is there already.
    #[error(
        "{} is there already and is not empty: a key is never overwritten; name another directory with --state", .0.display()
    )]
    AlreadyInitialised(PathBuf),
    /// A symbolic link, or a file with several names.
    #[error("{} is a link: put the file itself there, so that nobody can exchange what it points to", .0.display())]
    Link(PathBuf),
    /// A directory in place of a file, or the other way round.
    #[error("{} is no {wanted}", path.display())]
    Kind {
        /// Which.
        path: PathBuf,
        /// What it should be.
        wanted: &'static str,
    },
    /// A file of another user.
    #[error(
        "{} belongs to user {owner}, and this process runs as user {me}: run it as {owner}, or change the owner",
        path.display()
    )]
    NotOurs {
        /// Which.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who we are.
        me: u32,
    },
    /// A file that others can read or write.
    #[error(
        "{} has mode {mode:03o}, and others may have read it: if nobody did, `chmod {wanted:03o}` it; otherwise make a new peer",
        path.display()
    )]
    Exposed {
        /// Which.
        path: PathBuf,
        /// Its mode.
        mode: u32,
        /// What it must be.
        wanted: u32,
    },
    /// Another process works on the same files.
    #[error(
        "another process uses {}: stop it first, or give this peer a state directory of its own", .0.display()
    )]
    InUse(PathBuf),
    /// A key file that is none.
    #[error("{} is no key file of Undertone: {problem}", path.display())]
    Key {
        /// Which.
        path: PathBuf,
        /// What is wrong; nothing of its content.
        problem: &'static str,
    },
    /// A file by hand that cannot be read.
    #[error("{}: {problem}", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// What is wrong and where.
        problem: String,
    },
    /// A file beyond its limit.
    #[error("{} is longer than {limit} bytes, which no such file is", path.display())]
    TooLong {
        /// Which.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// A name that is none.
    #[error(transparent)]
    Name(#[from] crate::session::TicketError),
    /// No entropy, or a key that is none.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A session's journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Why a journal is unusable, or will not take a record.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Something does not verify.
    #[error("{} is damaged at byte {at}: the session cannot be taken up again; leave it with `undertone node abandon`", path.display())]
    Damaged {
        /// Which.
        path: PathBuf,
        /// Where the damage begins.
        at: u64,
    },
    /// A journal of something else.
    #[error("{} is no journal of session {session}", path.display())]
    Foreign {
        /// Which.
        path: PathBuf,
        /// The session it should be of.
        session: Digest,
    },
    /// The disk failed.
    #[error("{} cannot be written: {source}. Nothing more may be sent in this session until the node starts anew", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// More than a session may keep.
    #[error("{} would have more than {limit} bytes: the session keeps too much to go on", path.display())]
    Full {
        /// Which.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// It failed before.
    #[error("{} could not be written before: nothing more may be sent until the node starts anew", .0.display())]
    Fenced(PathBuf),
}

impl StoreError {
    /// What maps a refusal of the system for `path` to an error.
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io {
            doing,
            path,
            source,
        }
    }

    /// The exit code of a command that ends with it: 2 for what an operator asked for or wrote, 4 where the state cannot be used.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NotInitialised(_)
            | Self::AlreadyInitialised(_)
            | Self::Name(_)
            | Self::Content { .. } => 2,
            Self::Ledger(error) => error.exit_code(),
            _ => 4,
        }
    }
}
