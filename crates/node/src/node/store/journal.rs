//! `sessions/ID/journal.bin`: how far this peer has come in one session, so that a restart repeats nothing.
//!
//! It is a file of records ([`super::records`]). What may be spent stands in the signed ledger, which is always written first.
//!
//! A record is on the disk when [`Journal::append`] returns. The last one may be torn by a crash, at any byte, and is dropped on reading; anything
//! else that does not verify is an error.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::disk::{self, Growing, Locked, Writing};
use super::error::{JournalError, StoreError};
#[cfg(test)]
use super::records::crc32c;
use super::records::{self, Problem, START, framed};
use super::terms::SessionEnd;
use super::unusable::{unreadable, unwritten};
use crate::session::{MOST_JOIN, MOST_MEMBERS};
use crate::vocabulary::ReleaseId;

/// First bytes of a journal.
const FORMAT: [u8; 8] = *b"UTJRNL\x00\x01";

/// Bytes of the longest record: a list with the longest Joins of as many members as a session has.
const LONGEST: usize = 1 << 16;
const _: () = assert!(2 + 16 + 32 + MOST_MEMBERS * (2 + MOST_JOIN) <= LONGEST);

/// No journal is longer: a session has thousands of releases at most, of 37 bytes each.
const LONGEST_FILE: u64 = 1 << 26;

/// One step of a session that must not be repeated or taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Before the Join leaves.
    Joined {
        /// Hash of the session file.
        file: Digest,
        /// Keyed digest of the own rows: other rows under the same noise would be a disclosure, so a restart refuses them.
        rows: Digest,
    },
    /// Before this member signs a list of members, each time it does: it signs no other list under this number, and for no other Joins.
    Listed {
        /// Number of the list.
        attempt: u8,
        /// One bit for each invited member.
        members: u128,
        /// Hash of their Joins, as the list has it.
        hash: Digest,
        /// All Joins that were here, as signed; none where an earlier record has them.
        joins: Vec<Box<[u8]>>,
    },
    /// Before the peer of a session that tolerates losses begins, each time it does: from here on whoever starts again goes on with what it has on
    /// its disk.
    Begun {
        /// Which of its lives this is: none has had this number before.
        life: u64,
    },
    /// Before Ready leaves: the plan that everybody agreed on.
    Agreed {
        /// Hash of the plan.
        plan: Digest,
    },
    /// A release is averaged and its result is on the disk.
    Done {
        /// Which.
        release: ReleaseId,
        /// Hash of its result.
        digest: Digest,
    },
    /// All releases are averaged, and the files of the result are about to be written.
    Result {
        /// Hash of the result.
        digest: Digest,
    },
    /// Before the one-time secrets are erased.
    End {
        /// How the session ended here.
        outcome: SessionEnd,
    },
}

/// What a journal holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    records: Vec<Record>,
    /// Bytes that verify.
    length: u64,
    /// Bytes of a torn record after them.
    torn: u64,
}

/// The journal of one session, open for this process alone.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    session: Digest,
    file: Growing,
    contents: Contents,
}

impl Journal {
    /// Opens or makes the journal of `session`; a torn last record is cut off.
    pub(super) fn open(path: &Path, session: Digest) -> Result<Self, StoreError> {
        if !path.try_exists().map_err(StoreError::io("find", path))? {
            drop(disk::create_secret(path, &start(session))?);
            if let Some(folder) = path.parent() {
                disk::sync_folder(folder)?;
            }
        }
        let file = disk::open_secret(path, Writing::Append)?;
        let mut file = Box::new(Locked::take(file, path)?);
        let mut contents = Self::contents(file.file(), path, session)?;
        if contents.torn > 0 {
            file.file()
                .set_len(contents.length)
                .map_err(StoreError::io("cut the torn record off", path))?;
        }
        if contents.length == 0 {
            // Torn within its first bytes: nothing was recorded.
            disk::Medium::write(&mut *file, &start(session))
                .map_err(StoreError::io("write", path))?;
            contents.length = START as u64;
        }
        disk::Medium::sync(&mut *file).map_err(StoreError::io("sync", path))?;
        Ok(Self {
            path: path.to_path_buf(),
            session,
            file: Growing::new(file),
            contents,
        })
    }

    /// The records of a journal that another process may be writing; none if there is no journal.
    pub(super) fn look(path: &Path, session: Digest) -> Result<Vec<Record>, StoreError> {
        if !path.try_exists().map_err(StoreError::io("find", path))? {
            return Ok(Vec::new());
        }
        let file = disk::open_secret(path, Writing::No)?;
        Ok(Self::contents(&file, path, session)?.records)
    }

    fn contents(file: &File, path: &Path, session: Digest) -> Result<Contents, StoreError> {
        let bytes = disk::read_bounded(file, path, LONGEST_FILE)?;
        read(&bytes, session).map_err(|problem| unreadable(problem, path, session))
    }

    /// What was recorded, in order.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.contents.records
    }

    /// Bytes of a torn last record that opening has dropped.
    #[must_use]
    pub fn torn(&self) -> u64 {
        self.contents.torn
    }

    /// Opens the file again where a write has failed, as a process that starts anew does; otherwise nothing happens.
    ///
    /// # Errors
    /// Those of opening it; then nothing can be added, and it can be opened later.
    pub fn reopen(&mut self) -> Result<(), StoreError> {
        if self.file.is_fenced() {
            self.file.close();
            *self = Self::open(&self.path, self.session)?;
        }
        Ok(())
    }

    /// Adds a record; it is on the disk when this returns.
    ///
    /// # Errors
    /// [`JournalError::Write`], and [`JournalError::Fenced`] ever after.
    pub fn append(&mut self, record: Record) -> Result<(), JournalError> {
        let bytes = framed(&record.bytes(), self.contents.records.len());
        let appended = self.file.append(&bytes);
        appended.map_err(|refused| unwritten(refused, &self.path))?;
        self.contents.length += bytes.len() as u64;
        self.contents.records.push(record);
        Ok(())
    }
}

impl Record {
    /// Whether a member may still join after this: it has signed no plan.
    #[must_use]
    pub fn is_of_joining(&self) -> bool {
        matches!(self, Self::Joined { .. } | Self::Listed { .. })
    }

    /// A number for the kind, then its fields.
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Joined { file, rows } => [&[1], &file.0[..], &rows.0].concat(),
            Self::Agreed { plan } => [&[2], &plan.0[..]].concat(),
            Self::Done { release, digest } => {
                [&[3], &release.0.to_le_bytes()[..], &digest.0].concat()
            }
            Self::End { outcome } => vec![4, code(*outcome)],
            Self::Begun { life } => [&[5], &life.to_le_bytes()[..]].concat(),
            Self::Result { digest } => [&[6], &digest.0[..]].concat(),
            Self::Listed {
                attempt,
                members,
                hash,
                joins,
            } => {
                let mut bytes = vec![7, *attempt];
                bytes.extend_from_slice(&members.to_le_bytes());
                bytes.extend_from_slice(&hash.0);
                for join in joins {
                    bytes.extend_from_slice(&(join.len() as u16).to_le_bytes());
                    bytes.extend_from_slice(join);
                }
                bytes
            }
        }
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (&kind, fields) = bytes.split_first()?;
        Some(match kind {
            1 => {
                let (file, rows) = fields.split_at_checked(32)?;
                Self::Joined {
                    file: Digest(file.try_into().ok()?),
                    rows: Digest(rows.try_into().ok()?),
                }
            }
            2 => Self::Agreed {
                plan: Digest(fields.try_into().ok()?),
            },
            3 => {
                let (release, digest) = fields.split_first_chunk()?;
                Self::Done {
                    release: ReleaseId(u32::from_le_bytes(*release)),
                    digest: Digest(digest.try_into().ok()?),
                }
            }
            4 => {
                let &[outcome] = fields else { return None };
                Self::End {
                    outcome: OUTCOMES.into_iter().find(|&one| code(one) == outcome)?,
                }
            }
            5 => Self::Begun {
                life: u64::from_le_bytes(fields.try_into().ok()?),
            },
            6 => Self::Result {
                digest: Digest(fields.try_into().ok()?),
            },
            7 => {
                let (&attempt, fields) = fields.split_first()?;
                let (members, fields) = fields.split_first_chunk()?;
                let (hash, fields) = fields.split_first_chunk()?;
                Self::Listed {
                    attempt,
                    members: u128::from_le_bytes(*members),
                    hash: Digest(*hash),
                    joins: joins(fields)?,
                }
            }
            _ => return None,
        })
    }
}

/// Joins as a record has them: each after its length.
fn joins(mut rest: &[u8]) -> Option<Vec<Box<[u8]>>> {
    let mut joins = Vec::new();
    while !rest.is_empty() {
        let (length, after) = rest.split_first_chunk()?;
        let (join, after) = after.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        joins.push(join.into());
        rest = after;
    }
    Some(joins)
}

const OUTCOMES: [SessionEnd; 5] = [
    SessionEnd::Done,
    SessionEnd::Aborted,
    SessionEnd::Excluded,
    SessionEnd::Abandoned,
    SessionEnd::Lapsed,
];

fn code(outcome: SessionEnd) -> u8 {
    match outcome {
        SessionEnd::Done => 0,
        SessionEnd::Aborted => 1,
        SessionEnd::Excluded => 2,
        SessionEnd::Abandoned => 3,
        SessionEnd::Lapsed => 4,
    }
}

fn start(session: Digest) -> [u8; START] {
    records::start(FORMAT, session)
}

/// Reads a journal of `session`.
fn read(bytes: &[u8], session: Digest) -> Result<Contents, Problem> {
    let found = records::read(bytes, &start(session), LONGEST)?;
    let record = |range: &std::ops::Range<usize>| {
        let at = range.start as u64 - 8;
        Record::read(&bytes[range.clone()]).ok_or(Problem::Damaged { at })
    };
    Ok(Contents {
        records: found.records.iter().map(record).collect::<Result<_, _>>()?,
        length: found.length,
        torn: found.torn,
    })
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
