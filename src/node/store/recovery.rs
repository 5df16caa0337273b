//! `recovery.bin`: what a peer that tolerates losses has done in one session, so that it goes on where it was when it starts again.
//!
//! A file of records ([`super::records`]), whose content this module does not look into. Several may be added at once: they are on the disk when
//! [`RecoveryLog::append`] returns, and before anything leaves that follows from them. Among them are contributions of neighbours and shares in them, so the file
//! is overwritten and removed when the session ends, as keys are.

use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::disk::{self, Growing, Locked, Writing};
use super::error::{JournalError, StoreError};
use super::records::{self, START, append_framed};
use super::unusable::{unreadable, unwritten};

/// First bytes of the file.
const FORMAT: [u8; 8] = *b"UTRCVR\x00\x01";

/// Bytes of the longest record: more than any block takes, and the shares of all neighbours beside it.
const LONGEST: usize = (1 << 30) + (1 << 20);

/// No file is longer. A session that came to it could not be taken up again, and stops.
const LONGEST_FILE: u64 = 1 << 34;

/// What one peer keeps of one session to start again with, open for this process alone.
#[derive(Debug)]
pub struct RecoveryLog {
    path: PathBuf,
    file: Growing,
    count: usize,
    length: u64,
}

impl RecoveryLog {
    /// Opens or makes the file of `session`, and gives what is in it; a torn last record is cut off.
    pub(super) fn open(path: &Path, session: Digest) -> Result<(Self, Vec<Vec<u8>>), StoreError> {
        let start = records::start(FORMAT, session);
        if !path.try_exists().map_err(StoreError::io("find", path))? {
            drop(disk::create_secret(path, &start)?);
            if let Some(folder) = path.parent() {
                disk::sync_folder(folder)?;
            }
        }
        let file = disk::open_secret(path, Writing::Append)?;
        let mut file = Box::new(Locked::take(file, path)?);
        let bytes = disk::read_bounded(file.file(), path, LONGEST_FILE)?;
        let found = records::read(&bytes, &start, LONGEST);
        let found = found.map_err(|problem| unreadable(problem, path, session))?;
        if found.torn > 0 {
            file.file()
                .set_len(found.length)
                .map_err(StoreError::io("cut the torn record off", path))?;
        }
        let mut length = found.length;
        if length == 0 {
            // Torn within its first bytes: nothing was recorded.
            disk::Medium::write(&mut *file, &start).map_err(StoreError::io("write", path))?;
            length = START as u64;
        }
        disk::Medium::sync(&mut *file).map_err(StoreError::io("sync", path))?;
        let list = found
            .records
            .iter()
            .map(|range| bytes[range.clone()].to_vec());
        let list: Vec<Vec<u8>> = list.collect();
        let log = Self {
            path: path.to_path_buf(),
            file: Growing::new(file),
            count: list.len(),
            length,
        };
        Ok((log, list))
    }

    /// Adds records, in order; all are on the disk when this returns. A crash meanwhile leaves the first of them, and perhaps one that is torn.
    ///
    /// # Errors
    /// [`JournalError::Write`], and [`JournalError::Fenced`] ever after.
    pub fn append(&mut self, records: &[impl AsRef<[u8]>]) -> Result<(), JournalError> {
        let room = records.iter().map(|one| one.as_ref().len() + 12).sum();
        let mut bytes = zeroize::Zeroizing::new(Vec::with_capacity(room));
        for (place, record) in records.iter().enumerate() {
            append_framed(record.as_ref(), self.count + place, &mut bytes);
        }
        let length = self.length + bytes.len() as u64;
        if length > LONGEST_FILE {
            return Err(JournalError::Full {
                path: self.path.clone(),
                limit: LONGEST_FILE,
            });
        }
        let appended = self.file.append(&bytes);
        appended.map_err(|refused| unwritten(refused, &self.path))?;
        self.count += records.len();
        self.length = length;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: Digest = Digest([4; 32]);

    #[test]
    fn what_is_added_together_is_there_as_far_as_it_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("recovery.bin");
        let records: Vec<Vec<u8>> = (0..5_u8).map(|n| vec![n; 3 * usize::from(n)]).collect();
        let (mut log, found) = RecoveryLog::open(&path, SESSION).expect("made");
        assert!(found.is_empty());
        log.append(&records[..2]).expect("written");
        log.append(&records[2..]).expect("written");
        drop(log);
        let whole = std::fs::read(&path).expect("there");
        // Torn at every byte: what stands before the tear is kept, in order, and what follows goes where it was.
        for length in START..=whole.len() {
            std::fs::remove_file(&path).expect("there");
            drop(disk::create_secret(&path, &whole[..length]).expect("written"));
            let (mut log, found) = RecoveryLog::open(&path, SESSION).expect("readable");
            assert_eq!(found, records[..found.len()]);
            log.append(&records[found.len()..]).expect("written");
            drop(log);
            assert_eq!(std::fs::read(&path).expect("there"), whole);
        }
        let other = RecoveryLog::open(&path, Digest([5; 32]));
        assert!(matches!(
            other,
            Err(StoreError::Journal(JournalError::Foreign { .. }))
        ));
    }
}
