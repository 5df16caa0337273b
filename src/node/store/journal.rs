//! `sessions/ID/journal.bin`: how far this peer has come in one session, so that a restart repeats nothing.
//!
//! The file begins with eight bytes of format and the 32 bytes of the session, so that a journal is none of another session. Then follow records:
//! length and a checksum of it and of the record's number (u32 each, little-endian), the record, a checksum of the record. Checksums
//! are CRC-32C (Castagnoli): they notice a bad disk, not a forger, who could not profit: what may be spent stands in the signed ledger, which is
//! always written first.
//!
//! A record is on the disk when [`Journal::append`] returns. The last one may be torn by a crash, at any byte, and is dropped on reading; anything
//! else that does not verify is an error.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::disk::{self, Growing, Locked, Refused, Writing};
use super::error::{JournalError, StoreError};
use super::terms::SessionEnd;
use crate::vocabulary::ReleaseId;

/// First bytes of a journal.
const FORMAT: [u8; 8] = *b"UTJRNL\x00\x01";

/// Bytes of format and session.
const START: usize = 40;

/// Bytes of the longest record.
const LONGEST: usize = 1 << 16;

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
        let path = || path.to_path_buf();
        read(&bytes, session).map_err(|problem| {
            StoreError::Journal(match problem {
                Problem::Foreign => JournalError::Foreign {
                    path: path(),
                    session,
                },
                Problem::Damaged { at } => JournalError::Damaged { path: path(), at },
            })
        })
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

    /// Adds a record; it is on the disk when this returns.
    ///
    /// # Errors
    /// [`JournalError::Write`], and [`JournalError::Fenced`] ever after.
    pub fn append(&mut self, record: Record) -> Result<(), JournalError> {
        let bytes = framed(&record.bytes(), self.contents.records.len());
        let path = || self.path.clone();
        self.file.append(&bytes).map_err(|refused| match refused {
            Refused::Failed(source) => JournalError::Write {
                path: path(),
                source,
            },
            Refused::Fenced => JournalError::Fenced(path()),
        })?;
        self.contents.length += bytes.len() as u64;
        self.contents.records.push(record);
        Ok(())
    }
}

impl Record {
    /// A number for the kind, then its fields.
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Joined { file, rows } => [&[1], &file.0[..], &rows.0].concat(),
            Self::Agreed { plan } => [&[2], &plan.0[..]].concat(),
            Self::Done { release, digest } => {
                [&[3], &release.0.to_le_bytes()[..], &digest.0].concat()
            }
            Self::End { outcome } => vec![4, code(*outcome)],
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
            _ => return None,
        })
    }
}

const OUTCOMES: [SessionEnd; 4] = [
    SessionEnd::Done,
    SessionEnd::Aborted,
    SessionEnd::Excluded,
    SessionEnd::Abandoned,
];

fn code(outcome: SessionEnd) -> u8 {
    match outcome {
        SessionEnd::Done => 0,
        SessionEnd::Aborted => 1,
        SessionEnd::Excluded => 2,
        SessionEnd::Abandoned => 3,
    }
}

/// What is wrong with the bytes of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Foreign,
    Damaged { at: u64 },
}

fn start(session: Digest) -> [u8; START] {
    let mut bytes = [0; START];
    bytes[..8].copy_from_slice(&FORMAT);
    bytes[8..].copy_from_slice(&session.0);
    bytes
}

/// A record as it stands in the file, as the `index`-th.
fn framed(record: &[u8], index: usize) -> Vec<u8> {
    let length = (record.len() as u32).to_le_bytes();
    [
        &length[..],
        &head_sum(length, index).to_le_bytes(),
        record,
        &crc32c(&[record]).to_le_bytes(),
    ]
    .concat()
}

fn head_sum(length: [u8; 4], index: usize) -> u32 {
    crc32c(&[&length, &(index as u64).to_le_bytes()])
}

/// Reads a journal of `session`.
///
/// What a crash leaves after the last whole record is its beginning, perhaps with zeros where the disk was not written to. The length has a checksum
/// of its own, so that a damaged length is not taken for a long record that was torn, which would hide everything after it.
fn read(bytes: &[u8], session: Digest) -> Result<Contents, Problem> {
    let start = start(session);
    let zeros = |rest: &[u8]| rest.iter().all(|&byte| byte == 0);
    let Some(mut rest) = bytes.strip_prefix(&start) else {
        // A journal that was never finished making holds nothing.
        let common = bytes.iter().zip(start).take_while(|(a, b)| **a == *b);
        let same = common.count();
        return match zeros(&bytes[same..]) {
            true => Ok(Contents {
                torn: bytes.len() as u64,
                ..Contents::default()
            }),
            false => Err(Problem::Foreign),
        };
    };
    let mut found = Contents {
        length: START as u64,
        ..Contents::default()
    };
    while !rest.is_empty() {
        let damaged = Problem::Damaged { at: found.length };
        let torn = |mut found: Contents| {
            found.torn = rest.len() as u64;
            Ok(found)
        };
        let Some((head, after)) = rest.split_first_chunk::<8>() else {
            return torn(found);
        };
        let [a, b, c, d, sum @ ..] = *head;
        let wanted = head_sum([a, b, c, d], found.records.len()).to_le_bytes();
        if sum != wanted {
            return match zeros(&rest[8..]) && is_begun(sum, wanted) {
                true => torn(found),
                false => Err(damaged),
            };
        }
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        if length > LONGEST {
            return Err(damaged);
        }
        let Some((record, after)) = after.split_at_checked(length) else {
            return torn(found);
        };
        let Some((sum, after)) = after.split_first_chunk::<4>() else {
            return torn(found);
        };
        let wanted = crc32c(&[record]).to_le_bytes();
        if *sum != wanted {
            return match zeros(after) && is_begun(*sum, wanted) {
                true => torn(found),
                false => Err(damaged),
            };
        }
        found.records.push(Record::read(record).ok_or(damaged)?);
        found.length += (12 + length) as u64;
        rest = after;
    }
    Ok(found)
}

/// Whether a checksum is one whose end was not written: the bytes wanted, then zeros.
fn is_begun(found: [u8; 4], wanted: [u8; 4]) -> bool {
    (0..4).any(|written| {
        found[..written] == wanted[..written] && found[written..].iter().all(|&byte| byte == 0)
    })
}

/// CRC-32C (Castagnoli; polynomial 0x1EDC6F41, reflected) of the concatenation, as in RFC 3720.
fn crc32c(parts: &[&[u8]]) -> u32 {
    const TABLE: [u32; 256] = table();
    let bytes = parts.iter().copied().flatten();
    !bytes.fold(u32::MAX, |sum, &byte| {
        TABLE[usize::from(sum as u8 ^ byte)] ^ (sum >> 8)
    })
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = (sum >> 1) ^ if sum & 1 == 1 { 0x82f6_3b78 } else { 0 };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
