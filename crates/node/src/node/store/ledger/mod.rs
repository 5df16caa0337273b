//! `ledger.log`: what this peer's people have lost so far, written down before anything leaves.
//!
//! A line is one JSON object: its number, the BLAKE3 hash of the line before, the time, what happened, and at its end the signature of the
//! peer's key over everything before. The hash of the last line is the ledger's *head*; members tell one another how long
//! their ledgers are and what their heads are, so that a peer whose files come from a backup is noticed by the others.
//!
//! # Promises
//! - What a call returns `Ok` for is on the disk: bytes may leave after it, and not before.
//! - A session spends at most what it reserved, and reserving is refused where the scope's sum of everything charged and everything
//!   reserved would exceed its lifetime budget ([`LifetimeBudget`](crate::privacy::LifetimeBudget)). There is one sum for each unit of protection that a session of the scope
//!   had. Every session counts in every sum that it bounds ([`Adjacency::square_factor`]); those that a sum cannot bound are named beside it.
//! - Everything can be repeated: the same reservation, charge or end is recorded once. A reservation that nobody ended, after a
//!   crash, stays, until its session has closed if nobody was ready by then.
//! - A write that failed is the last one: afterwards nothing is recorded and nothing may be sent, until the process starts anew.
//! - On reading, the last line may be torn by a crash, at any byte, and is dropped: nobody was told that it was there. Anything else
//!   that does not verify makes the ledger unusable.

mod account;
mod entry;
#[cfg(test)]
mod nested_tests;
mod reading;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};

pub use account::Account;
pub use entry::LedgerEvent;

use super::defect::Defect;
use super::digest::Digest;
use super::disk::{self, Growing, Locked, Refused, Writing};
use super::error::StoreError;
use super::ledger_error::LedgerError;
use super::terms::{Head, MOST_ADOPTED, Repair, Reservation, ScopeName, SessionEnd, Square};
use crate::privacy::{Adjacency, Budget, SquareSum};
use crate::session::{Identity, MemberName, PublicId};
use crate::vocabulary::ReleaseId;
use account::Standing;
use entry::Entry;
use reading::Read;

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

    /// Σ μ² charged and reserved of a scope that one record of this adjacency may have lost, rounded up: of all sessions that bound it, each with its
    /// factor ([`Adjacency::square_factor`]).
    #[must_use]
    pub fn held(&self, scope: &ScopeName, adjacency: Adjacency) -> SquareSum {
        self.read.accounts.held(scope, adjacency)
    }

    /// The adjacencies of the scope's sessions that are not in that sum: what they cost such a record has no bound.
    #[must_use]
    pub fn uncounted(&self, scope: &ScopeName, adjacency: Adjacency) -> Vec<Adjacency> {
        let uncounted = self.read.accounts.uncounted(scope, adjacency);
        uncounted.into_iter().collect()
    }

    /// Takes a session for one that has lapsed, as the next process that writes will record.
    pub(super) fn lapse(&mut self, session: Digest) {
        self.read.accounts.apply(LedgerEvent::Finished {
            session,
            outcome: SessionEnd::Lapsed,
        });
    }

    /// The adjacencies of the scope's sessions, ascending.
    #[must_use]
    pub fn adjacencies(&self, scope: &ScopeName) -> Vec<Adjacency> {
        self.read.accounts.adjacencies(scope).into_iter().collect()
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
        let locked = Locked::take(file, path)?;
        let file = locked.file();
        let view = LedgerView::of(file, path, &identity.id())?;
        if view.torn() > 0 {
            file.set_len(view.read.length)
                .map_err(StoreError::io("cut the torn line off", path))?;
        }
        // What was read may have been written by a process that was killed before it was on the disk.
        file.sync_all().map_err(StoreError::io("sync", path))?;
        Ok(Self {
            identity,
            path: path.to_path_buf(),
            file: Growing::new(Box::new(locked)),
            view,
        })
    }

    /// Opens and verifies the file again where a write has failed, as a process that starts anew does; otherwise nothing happens.
    ///
    /// # Errors
    /// Those of opening it; then nothing can be recorded, and it can be opened later.
    pub fn reopen(&mut self) -> Result<(), StoreError> {
        if self.file.is_fenced() {
            self.file.close();
            let identity = Identity::from_secret(self.identity.secret());
            *self = Self::open(&self.path, identity)?;
        }
        Ok(())
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
        self.charge_try(session, (release, 0), mu_squared)
    }

    /// The same for one try at a release, where peers that are lost may have it tried again: `retry` is how many tries had been charged anew in the
    /// session when this one began, itself included. Tries with one such number are charged once.
    ///
    /// # Errors
    /// Those of [`Self::charge`].
    pub fn charge_try(
        &mut self,
        session: [u8; 32],
        (release, retry): (ReleaseId, u32),
        mu_squared: Square,
    ) -> Result<(), LedgerError> {
        self.record(LedgerEvent::Charged {
            session: Digest(session),
            release,
            retry,
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
    let now = match Defect::of_process() {
        None => now,
        Some(defect) => defect.time(now),
    };
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
