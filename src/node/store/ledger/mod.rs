//! `ledger.log`: what this peer's people have lost so far, written down before anything leaves.
//!
//! A line is one JSON object: its number, the BLAKE3 hash of the line before, the time, what happened, and at its end the signature of the
//! peer's key over everything before. The hash of the last line is the ledger's *head*; members tell one another how long
//! their ledgers are and what their heads are, so that a peer whose files come from a backup is noticed by the others.
//!
//! # Promises
//! - What a call returns `Ok` for is on the disk: bytes may leave after it, and not before.
//! - A session spends at most what it reserved, and reserving is refused where the scope's sum of everything charged and everything
//!   reserved would exceed its lifetime budget ([`LifetimeBudget`](crate::privacy::LifetimeBudget)). Sums are kept for each unit of protection by itself.
//! - Everything can be repeated: the same reservation, charge or end is recorded once. A reservation that nobody ended, after a
//!   crash, stays.
//! - A write that failed is the last one: afterwards nothing is recorded and nothing may be sent, until the process starts anew.
//! - On reading, the last line may be torn by a crash, at any byte, and is dropped: nobody was told that it was there. Anything else
//!   that does not verify makes the ledger unusable.

mod account;
mod entry;
mod reading;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use account::{Account, NoScope, Reservation, ScopeName, SessionEnd, Square};
pub use entry::{LedgerEvent, LineError};

use super::digest::Digest;
use super::disk::{self, Growing, Refused, Writing};
use super::error::StoreError;
use crate::privacy::{Adjacency, Budget, SquareSum};
use crate::session::{Identity, MemberName, PublicId};
use crate::vocabulary::ReleaseId;
use account::Standing;
use entry::Entry;
use reading::Read;

/// Sessions that one repair may take up.
pub const MOST_ADOPTED: usize = 100;

/// How long a ledger is and the hash of its last line: what members tell one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// One more than the number of the last line.
    pub length: u64,
    /// BLAKE3 of the last line, without its end.
    pub hash: Digest,
}

/// What a peer's files are brought up to after a restored backup: how far the lost ledger went, and which sessions it had.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repair {
    /// The longest ledger of this peer that any member has seen.
    pub known: Head,
    /// The sessions that it had and this one has not, each at its full reservation.
    #[serde(default, rename = "session")]
    pub sessions: Vec<Reservation>,
}

/// A peer's ledger, to be read. It may be written to by another process meanwhile.
#[derive(Debug)]
pub struct LedgerView {
    read: Read,
}

/// A peer's ledger, open for this process alone.
#[derive(Debug)]
pub struct Ledger {
    identity: Identity,
    path: PathBuf,
    file: Growing,
    view: LedgerView,
}

/// Why the ledger is unusable, or will not record something.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Something in the file does not verify.
    #[error(
        "line {line} of the ledger does not verify: {problem}. Nothing can be spent on it: restore the newest copy of the state directory, and \
         repair what is missing with `undertone node ledger --adopt`"
    )]
    Line {
        /// Counted from 1.
        line: u64,
        /// What is wrong.
        problem: LineError,
    },
    /// Nothing there, or not even a first line.
    #[error(
        "the ledger has no first line: it was deleted or never made; restore the state directory"
    )]
    Empty,
    /// The disk failed.
    #[error(
        "the ledger cannot be written: {0}. Nothing more may be spent or sent until the node starts anew"
    )]
    Write(#[source] std::io::Error),
    /// It failed before.
    #[error(
        "the ledger could not be written before: nothing more may be spent or sent until the node starts anew"
    )]
    Fenced,
    /// Too little is left.
    #[error(
        "scope \"{scope}\" has too little left for this session, with {adjacency} adjacency: the session may cost epsilon = {wanted:.4}, sessions before it hold \
         {held:.4} of {epsilon} (delta = {delta:e}), and one of at most {left:.4} would fit; lower the session's epsilon, \
         finish or abandon sessions that hold reservations, or raise lifetime.\"{scope}\".epsilon in policy.toml"
    )]
    Budget {
        /// Whose data.
        scope: ScopeName,
        /// The unit of protection.
        adjacency: Adjacency,
        /// The scope's ε.
        epsilon: f64,
        /// The scope's δ.
        delta: f64,
        /// ε of this session alone, at that δ.
        wanted: f64,
        /// ε of everything charged and reserved.
        held: f64,
        /// ε that a session may have to fit.
        left: f64,
        /// The same as a μ².
        left_squared: f64,
    },
    /// Spending without a reservation.
    #[error("session {session} has no reservation in the ledger")]
    NotReserved {
        /// Which.
        session: Digest,
    },
    /// Another reservation for a session that has one.
    #[error(
        "session {session} is in the ledger with another scope, adjacency or size: run it as it was begun, or `undertone node abandon` it"
    )]
    Differs {
        /// Which.
        session: Digest,
    },
    /// A release that was charged another amount.
    #[error("{release} of session {session} was charged another amount before")]
    ChargeDiffers {
        /// Which session.
        session: Digest,
        /// Which release.
        release: ReleaseId,
    },
    /// More than was reserved.
    #[error(
        "session {session} may spend mu^2 = {reserved:?}, and this release would bring it to {total:?}"
    )]
    Overcharged {
        /// Which.
        session: Digest,
        /// What was reserved.
        reserved: f64,
        /// What it would come to.
        total: f64,
    },
    /// A session that is over.
    #[error("session {session} has ended ({ended}): nothing more can be reserved or spent for it")]
    Ended {
        /// Which.
        session: Digest,
        /// How.
        ended: SessionEnd,
    },
    /// A repair with a session that is not missing.
    #[error(
        "session {session} is in the ledger already, or twice in the repair: name only what is missing"
    )]
    NotMissing {
        /// Which.
        session: Digest,
    },
    /// A repair that leads nowhere.
    #[error(
        "this ledger has {length} lines, and the repair is about one of {known}: nothing is missing"
    )]
    NotBehind {
        /// Ours.
        length: u64,
        /// What others know.
        known: u64,
    },
    /// A repair beyond the limit.
    #[error("a repair takes up at most {MOST_ADOPTED} sessions")]
    TooMany,
}

impl LedgerError {
    /// The exit code of a command that ends with it: 4 for a ledger that is unusable, 2 for what it refuses.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Line { .. } | Self::Empty | Self::Write(_) | Self::Fenced => 4,
            _ => 2,
        }
    }
}

impl LedgerView {
    /// Reads and verifies a ledger.
    ///
    /// # Errors
    /// [`LedgerError::Line`], [`LedgerError::Empty`], and those of opening a secret file.
    pub(super) fn read(path: &Path, owner: &PublicId) -> Result<Self, StoreError> {
        let file = disk::open_secret(path, Writing::No)?;
        Self::of(&file, path, owner)
    }

    fn of(file: &File, path: &Path, owner: &PublicId) -> Result<Self, StoreError> {
        let read = reading::read(std::io::BufReader::new(file), owner);
        let read = read.map_err(StoreError::io("read", path))??;
        Ok(Self { read })
    }

    /// How long it is and the hash of its last line.
    #[must_use]
    pub fn head(&self) -> Head {
        self.read.head
    }

    /// Bytes of a last line that a crash has torn; 0 if there is none.
    #[must_use]
    pub fn torn(&self) -> u64 {
        self.read.torn
    }

    /// One session.
    #[must_use]
    pub fn session(&self, session: [u8; 32]) -> Option<&Account> {
        self.read.accounts.get(&Digest(session))
    }

    /// Every session with its account, in the order of their hashes.
    pub fn sessions(&self) -> impl Iterator<Item = (&Digest, &Account)> {
        self.read.accounts.all()
    }

    /// Σ μ² charged and reserved of a scope, in one unit of protection, rounded up.
    #[must_use]
    pub fn held(&self, scope: &ScopeName, adjacency: Adjacency) -> SquareSum {
        self.read.accounts.held(scope, adjacency)
    }

    /// Every pair of scope and unit of protection that anything was reserved of, in order.
    #[must_use]
    pub fn scopes(&self) -> Vec<(ScopeName, Adjacency)> {
        let pair = |account: &Account| {
            let Reservation {
                scope, adjacency, ..
            } = &account.reservation;
            (scope.clone(), *adjacency)
        };
        let mut pairs: Vec<_> = self.sessions().map(|(_, account)| pair(account)).collect();
        pairs.sort();
        pairs.dedup();
        pairs
    }
}

impl Ledger {
    /// The first line of a new ledger.
    pub(super) fn first_line(identity: &Identity, name: &MemberName) -> String {
        let first = Entry {
            n: 0,
            prev: Digest([0; 32]),
            time: now(),
            event: LedgerEvent::Opened {
                id: identity.id(),
                name: name.clone(),
            },
        };
        first.line(identity)
    }

    /// Opens, verifies and locks a ledger; a torn last line is cut off.
    ///
    /// # Errors
    /// Those of [`LedgerView::read`], and [`StoreError::InUse`] where it is open already.
    pub(super) fn open(path: &Path, identity: Identity) -> Result<Self, StoreError> {
        let file = disk::open_secret(path, Writing::Append)?;
        disk::lock(&file, path)?;
        let view = LedgerView::of(&file, path, &identity.id())?;
        if view.torn() > 0 {
            file.set_len(view.read.length)
                .map_err(StoreError::io("cut the torn line off", path))?;
        }
        // What was read may have been written by a process that was killed before it was on the disk.
        file.sync_all().map_err(StoreError::io("sync", path))?;
        Ok(Self {
            identity,
            path: path.to_path_buf(),
            file: Growing::new(Box::new(file)),
            view,
        })
    }

    /// What the ledger says.
    #[must_use]
    pub fn view(&self) -> &LedgerView {
        &self.view
    }

    /// How long it is and the hash of its last line. What a Join announces is the head after its reservation.
    #[must_use]
    pub fn head(&self) -> Head {
        self.view.head()
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets aside the most that a session may spend; on the disk when it returns. The same reservation again changes nothing.
    ///
    /// `budget` is the scope's, from the policy; its δ is where ε is measured.
    ///
    /// # Errors
    /// [`LedgerError::Budget`] where it does not fit, [`LedgerError::Differs`], [`LedgerError::Ended`], and those of writing.
    pub fn reserve(&mut self, wanted: Reservation, budget: Budget) -> Result<(), LedgerError> {
        let accounts = &self.view.read.accounts;
        let event = LedgerEvent::Reserved(wanted);
        if accounts.check(&event)? == Standing::New
            && let LedgerEvent::Reserved(wanted) = &event
        {
            accounts.check_budget(wanted, budget)?;
        }
        self.record(event)
    }

    /// Charges one release; on the disk when it returns, so that the release may leave. The same charge again changes nothing.
    ///
    /// # Errors
    /// [`LedgerError::NotReserved`], [`LedgerError::Overcharged`], [`LedgerError::ChargeDiffers`], [`LedgerError::Ended`], and those of writing:
    /// then nothing of the release may leave.
    pub fn charge(
        &mut self,
        session: [u8; 32],
        release: ReleaseId,
        mu_squared: Square,
    ) -> Result<(), LedgerError> {
        self.record(LedgerEvent::Charged {
            session: Digest(session),
            release,
            mu_squared,
        })
    }

    /// Ends a session: what it did not charge is free again, and it can charge no more.
    ///
    /// # Errors
    /// [`LedgerError::NotReserved`], [`LedgerError::Ended`] if it ended otherwise, and those of writing.
    pub fn finish(&mut self, session: [u8; 32], outcome: SessionEnd) -> Result<(), LedgerError> {
        self.record(LedgerEvent::Finished {
            session: Digest(session),
            outcome,
        })
    }

    /// Leaves a session for good: what was charged stays charged.
    ///
    /// # Errors
    /// Those of [`Self::finish`].
    pub fn abandon(&mut self, session: [u8; 32]) -> Result<(), LedgerError> {
        self.finish(session, SessionEnd::Abandoned)
    }

    /// Takes up sessions that were lost with a newer ledger, each charged in full, also beyond the budget: what was spent was spent. Sessions
    /// that had not ended in this copy are closed and charged in full too, since nobody knows how far they went. The next line's number
    /// is beyond everything that others have seen, so that they take it for what follows.
    ///
    /// # Errors
    /// [`LedgerError::NotBehind`], [`LedgerError::NotMissing`], [`LedgerError::TooMany`], and those of writing.
    pub fn adopt(&mut self, repair: Repair) -> Result<(), LedgerError> {
        let Repair { known, sessions } = repair;
        let length = self.head().length;
        // The largest number must stay a number that another line can follow.
        if known.length < length || known == self.head() || known.length > u64::MAX / 2 {
            return Err(LedgerError::NotBehind {
                length,
                known: known.length,
            });
        }
        if sessions.len() > MOST_ADOPTED {
            return Err(LedgerError::TooMany);
        }
        self.record(LedgerEvent::Adopted { known, sessions })
    }

    /// Writes a line unless it is there, and takes it up once it is on the disk.
    fn record(&mut self, event: LedgerEvent) -> Result<(), LedgerError> {
        let read = &mut self.view.read;
        if read.accounts.check(&event)? == Standing::Known {
            return Ok(());
        }
        let entry = Entry {
            n: reading::number(&event, read.head),
            prev: read.head.hash,
            time: now(),
            event,
        };
        let line = entry.line(&self.identity);
        self.file
            .append(line.as_bytes())
            .map_err(|refused| match refused {
                Refused::Failed(error) => LedgerError::Write(error),
                Refused::Fenced => LedgerError::Fenced,
            })?;
        read.take_up(entry, line.trim_end().as_bytes());
        Ok(())
    }
}

/// The time in UTC, to the second.
fn now() -> String {
    let now = time::OffsetDateTime::now_utc();
    let (date, clock) = (now.date(), now.time());
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        date.year(),
        u8::from(date.month()),
        date.day(),
        clock.hour(),
        clock.minute(),
        clock.second()
    )
}
