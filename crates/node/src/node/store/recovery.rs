//! `recovery.bin`: what a peer that tolerates losses has done in one session, so that it goes on where it was when it starts again.
//!
//! A file of records ([`super::records`]), whose content this module does not look into. Several may be added at once: they are on the disk when
//! [`RecoveryLog::append`] returns, and before anything leaves that follows from them. Among them are contributions of neighbours and shares in them, so the file
//! is overwritten and removed when the session ends, as keys are.
//!
//! What nobody needs any more can be left out: the records that are kept are written to a file beside it, which takes its place in one step once it is on the disk, and only then is the
//! old one overwritten. So a crash finds the one file or the other, each whole; what it leaves of an unfinished one is overwritten and removed when the file is opened again.

use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::digest::Digest;
use super::disk::{self, Growing, Locked, Writing};
use super::error::{JournalError, StoreError};
use super::records::{self, START, append_framed};
use super::secrets;
use super::unusable::{unreadable, unwritten};

/// First bytes of the file.
const FORMAT: [u8; 8] = *b"UTRCVR\x00\x02";

/// Bytes of the longest record: more than any block takes, and the shares of all neighbours beside it.
const LONGEST: usize = (1 << 30) + (1 << 20);

/// No file is longer. A session that came to it could not be taken up again, and stops.
const LONGEST_FILE: u64 = 1 << 34;

/// What one peer keeps of one session to start again with, open for this process alone.
#[derive(Debug)]
pub struct RecoveryLog {
    path: PathBuf,
    session: Digest,
    file: Growing,
    count: usize,
    length: u64,
}

impl RecoveryLog {
    /// Opens or makes the file of `session`, and gives what is in it; a torn last record is cut off.
    pub(super) fn open(path: &Path, session: Digest) -> Result<(Self, Vec<Vec<u8>>), StoreError> {
        let start = records::start(FORMAT, session);
        secrets::erase(&beside(path))?;
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
            session,
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
        let mut bytes = Zeroizing::new(Vec::with_capacity(room));
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

    /// Bytes of the file.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Keeps of all its records those that `needed` gives, in this order.
    ///
    /// # Errors
    /// [`StoreError`]. As long as the new file is not whole on the disk the old one goes on. Where it then cannot be given its name for certain, nothing is added any more, since nobody knows which of
    /// the two a crash would leave; where only the old bytes cannot be overwritten, the new one goes on.
    pub fn compact(
        &mut self,
        needed: impl FnOnce(&[&[u8]]) -> Vec<Zeroizing<Vec<u8>>>,
    ) -> Result<(), StoreError> {
        if self.file.is_fenced() {
            return Err(JournalError::Fenced(self.path.clone()).into());
        }
        let (path, start) = (&self.path, records::start(FORMAT, self.session));
        let old = disk::open_secret(path, Writing::Over)?;
        let all = Zeroizing::new(disk::read_bounded(&old, path, LONGEST_FILE)?);
        let found = records::read(&all, &start, LONGEST);
        let found = found.map_err(|problem| unreadable(problem, path, self.session))?;
        let list: Vec<&[u8]> = found.records.iter().map(|at| &all[at.clone()]).collect();
        let kept = needed(&list);
        let room = kept.iter().map(|one| one.len() + 12).sum::<usize>();
        let mut bytes = Zeroizing::new(Vec::with_capacity(START + room));
        bytes.extend_from_slice(&start);
        for (place, record) in kept.iter().enumerate() {
            append_framed(record, place, &mut bytes);
        }
        let new = beside(path);
        secrets::erase(&new)?;
        drop(disk::create_secret(&new, &bytes)?);
        let file = Locked::take(disk::open_secret(&new, Writing::Append)?, &new)?;
        let named = crate::writing::rename(&new, path).map_err(StoreError::io("name", &new));
        if named.is_err() {
            self.file.fence();
        }
        named?;
        self.file = Growing::new(Box::new(file));
        self.count = kept.len();
        self.length = bytes.len() as u64;
        secrets::overwrite(old).map_err(StoreError::io("overwrite what was", path))
    }
}

/// Where a file is written that is to take the place of this one.
pub(super) fn beside(path: &Path) -> PathBuf {
    path.with_extension("new")
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

    /// What is left out is gone, what is kept goes on, and whatever a crash leaves on the way is one file or the other.
    #[test]
    fn what_is_not_needed_is_left_out_in_one_step() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("recovery.bin");
        let record = |n: u8| Zeroizing::new(vec![n; 3 * usize::from(n)]);
        let all: Vec<_> = (0..9).map(record).collect();
        let (mut log, _) = RecoveryLog::open(&path, SESSION).expect("made");
        log.append(&all[..6]).expect("written");
        let before = std::fs::read(&path).expect("there");
        let old = std::fs::File::open(&path).expect("there");
        log.compact(|list| {
            assert_eq!(
                list,
                all[..6].iter().map(|one| &one[..]).collect::<Vec<_>>()
            );
            vec![all[1].clone(), all[4].clone()]
        })
        .expect("written");
        // Nothing of it is left in the old file either.
        assert_eq!(old.metadata().expect("open").len(), 0);
        assert_eq!(log.length(), std::fs::metadata(&path).expect("there").len());
        log.append(&all[6..]).expect("written");
        let busy = RecoveryLog::open(&path, SESSION);
        assert!(matches!(busy, Err(StoreError::InUse(_))), "{busy:?}");
        drop(log);
        let (log, found) = RecoveryLog::open(&path, SESSION).expect("readable");
        let kept: Vec<_> = [1, 4, 6, 7, 8].map(|at: usize| all[at].to_vec()).to_vec();
        assert_eq!(found, kept);
        drop(log);
        // A crash before the new file took its place: the old one counts, and nothing of the new one is left.
        let after = std::fs::read(&path).expect("there");
        for length in [0, 5, after.len() / 2, after.len()] {
            std::fs::remove_file(&path).expect("there");
            drop(disk::create_secret(&path, &before).expect("written"));
            drop(disk::create_secret(&beside(&path), &after[..length]).expect("written"));
            let (mut log, found) = RecoveryLog::open(&path, SESSION).expect("readable");
            assert_eq!((found.len(), beside(&path).exists()), (6, false));
            log.compact(|_| Vec::new()).expect("written");
            assert_eq!(
                (log.length(), beside(&path).exists()),
                (START as u64, false)
            );
        }
    }

    /// Where the new file cannot be made the old one goes on.
    #[test]
    fn a_file_that_cannot_be_written_anew_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("recovery.bin");
        let (mut log, _) = RecoveryLog::open(&path, SESSION).expect("made");
        log.append(&[[1]]).expect("written");
        std::fs::create_dir(beside(&path)).expect("made");
        assert!(log.compact(|_| Vec::new()).is_err());
        log.append(&[[2]]).expect("written");
        drop(log);
        std::fs::remove_dir(beside(&path)).expect("there");
        let (_, found) = RecoveryLog::open(&path, SESSION).expect("readable");
        assert_eq!(found, [[1], [2]]);
    }
}
