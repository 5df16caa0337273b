//! Which records of `recovery.bin` nobody reads any more.
//!
//! # What may go
//! Let this peer be done with release L, as its disk says. Then contributions and seals of others of releases before L − 1, and public states of before L − 1 releases, are never read.
//! *Proof.* A peer that is not killed lives without them: when it has the sum of L it forgets states and contributions older than L − 1, before it says that it is done, and when L was certified,
//! which was earlier, all seals older than L. What it does afterwards reads what it remembers, and a peer that starts again remembers what is on its disk: with the older records left out just what
//! it would remember had it not been killed, or more. If L is tried anew, or averaged again, L itself counts no longer as done, and less is left out. ∎ It is enough because whoever is part of a later view has the sum of L − 1: L
//! has a certificate, which holds everybody's word that it holds the contributions to L, and nobody says so before it has the sum of L − 1.
//!
//! Of an own contribution that old a receipt still needs what was agreed on before it, which stays. What is small or rules what may be sealed, opened and given up stays too: the steps
//! of the agreement, of the escrow with the own seals, and who took part in which attempt.

use zeroize::Zeroizing;

use super::defect::Defect;
use crate::node::store::{JournalError, RecoveryLog};
use crate::protocol::tolerant::{DiskRecord, Format};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// First byte of a record of the peer.
pub(super) const PEER: u8 = 1;

/// A file of fewer bytes is not looked through for what nobody needs any more.
const LEAST: u64 = 4 << 20;

/// `recovery.bin`, which is written anew without what nobody needs any more whenever it has become twice as long.
pub(super) struct Compacting {
    log: RecoveryLog,
    format: Format,
    me: PeerIndex,
    /// The length at which that is due.
    due: u64,
    defect: Option<Defect>,
}

impl Compacting {
    /// The log of this peer, of so many bytes at least before it is written anew.
    pub(super) fn new(
        log: RecoveryLog,
        format: Format,
        me: PeerIndex,
        defect: Option<Defect>,
    ) -> Self {
        let mut compacting = Self {
            log,
            format,
            me,
            due: 0,
            defect,
        };
        compacting.put_off();
        compacting
    }

    fn put_off(&mut self) {
        let length = self.log.length();
        let due = LEAST.max(2 * length);
        self.due = match &self.defect {
            None => due,
            Some(defect) => defect.due(due, length),
        };
    }

    /// Adds records, in order; all are on the disk when this returns.
    ///
    /// # Errors
    /// Those of [`RecoveryLog::append`].
    pub(super) fn append(&mut self, records: &[impl AsRef<[u8]>]) -> Result<(), JournalError> {
        self.log.append(records)?;
        if self.log.length() >= self.due {
            let (format, me) = (&self.format, self.me);
            let before = self.log.length();
            // What was added is on the disk. Where the file can take no more records, the next one is refused.
            match self.log.compact(|all| needed(all, format, me)) {
                Ok(()) => tracing::debug!(
                    before,
                    after = self.log.length(),
                    "recovery.bin is written anew"
                ),
                Err(error) => {
                    tracing::warn!(%error, "recovery.bin was not written anew, or its old bytes were not overwritten")
                }
            }
            self.put_off();
        }
        Ok(())
    }
}

/// A record of the peer as it is kept.
pub(super) fn marked(record: &[u8]) -> Zeroizing<Vec<u8>> {
    // Long enough at once: growing would leave copies of shares behind.
    let mut marked = Zeroizing::new(Vec::with_capacity(1 + record.len()));
    marked.push(PEER);
    marked.extend_from_slice(record);
    marked
}

/// The records that are needed of these, in their order; all of them where one cannot be read.
pub(super) fn needed(all: &[&[u8]], format: &Format, me: PeerIndex) -> Vec<Zeroizing<Vec<u8>>> {
    let read = |record: &&[u8]| match record.split_first() {
        Some((&PEER, bytes)) => format.record(bytes).map(Some),
        _ => Ok(None),
    };
    let whole = |record: &&[u8]| Zeroizing::new(record.to_vec());
    let records: Result<Vec<Option<DiskRecord>>, _> = all.iter().map(read).collect();
    let Ok(records) = records else {
        return all.iter().map(whole).collect();
    };
    let oldest = ReleaseId(done(&records).0.saturating_sub(1));
    let needed = all
        .iter()
        .zip(&records)
        .filter_map(|(bytes, record)| match record {
            Some(DiskRecord::Input {
                attempt,
                from,
                agreed,
                ..
            }) if attempt.release < oldest => {
                let (attempt, agreed) = (*attempt, *agreed);
                let stays = DiskRecord::Agreed { attempt, agreed };
                (*from == me).then(|| marked(&format.record_bytes(&stays)))
            }
            Some(DiskRecord::Seal(seal)) if seal.attempt().release < oldest => None,
            Some(DiskRecord::State(state)) if state.released < oldest.0 => None,
            _ => Some(whole(bytes)),
        });
    needed.collect()
}

/// The last release whose sum is here, and counts.
fn done(records: &[Option<DiskRecord>]) -> ReleaseId {
    let steps = records.iter().filter_map(|record| match record {
        Some(DiskRecord::Regroup(step)) => Some(step),
        _ => None,
    });
    steps.fold(ReleaseId(0), |done, step| step.done(done))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::regroup::{Disruptions, Durable, History, Onward};

    /// A sum that is made or averaged again is not done until it is there anew.
    #[test]
    fn what_is_done_is_what_the_disk_says_last() {
        let decided = |onward| {
            let disruptions = Disruptions::none(3, 3);
            let retries = 0;
            Some(DiskRecord::Regroup(Durable::Decided {
                disruptions,
                history: History::default(),
                onward,
                retries,
            }))
        };
        let has = |release| Some(DiskRecord::Regroup(Durable::Done(ReleaseId(release))));
        let three = [has(1), has(2), has(3), decided(None)];
        assert_eq!(done(&three), ReleaseId(3));
        for onward in [Onward::Anew(ReleaseId(3)), Onward::Again(ReleaseId(3))] {
            let mut records = three.to_vec();
            records.push(decided(Some(onward)));
            assert_eq!(done(&records), ReleaseId(2), "{onward:?}");
            records.push(has(3));
            assert_eq!(done(&records), ReleaseId(3), "{onward:?}");
        }
    }
}
