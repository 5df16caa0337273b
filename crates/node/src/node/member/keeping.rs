//! What a tolerant member charges and writes down before anything leaves, and what it finds when it starts again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;
use zeroize::Zeroizing;

use super::compacting::{Compacting, PEER, marked};
use super::error::MemberError;
use super::setup::{Attempts, Begun, Released};
use crate::linalg::Block;
use crate::node::GateError;
use crate::node::deployed::Keeper;
use crate::node::store::{Ledger, Square};
use crate::protocol::SessionPlan;
use crate::protocol::regroup::{Attempt, Durable, View, ViewNumber};
use crate::protocol::tolerant::{DiskRecord, Format};
use crate::session::SessionHash;
use crate::vocabulary::{PeerIndex, ReleaseId};

/// First byte of who takes part in an attempt, beside [`PEER`].
const ATTEMPT: u8 = 2;

/// Ledger and disk of one member in one session.
pub(super) struct MemberKeeper {
    pub(super) ledger: Arc<Mutex<Ledger>>,
    pub(super) session: SessionHash,
    /// μ² of every release.
    pub(super) charges: Vec<Square>,
    pub(super) log: Compacting,
    /// Told of every charge; only an operator waits for it.
    pub(super) told: Option<mpsc::Sender<ReleaseId>>,
    /// With fewer members than this its policy begins nothing.
    pub(super) least: usize,
    pub(super) attempts: Arc<Mutex<Attempts>>,
    /// What is written before anything else is.
    pub(super) noted: Vec<Zeroizing<Vec<u8>>>,
    /// How records are read.
    pub(super) format: Format,
    /// What has been published, where contributions can be read at once; nothing is kept of sealed ones, whose rules are the escrow's.
    pub(super) published: Option<Published>,
}

/// The last attempt that this member has published in the open, as its disk says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Published(Option<Attempt>);

impl Published {
    /// What a member that starts again has published.
    pub(super) fn found(disk: &[DiskRecord]) -> Self {
        let sent = disk.iter().rev().find_map(|record| match record {
            DiskRecord::Regroup(Durable::Sent(attempt)) => Some(*attempt),
            _ => None,
        });
        Self(sent)
    }

    /// Refuses an attempt of a try that something has been published of: it is charged once. Whatever the peer and the others take for agreed, the ledger's charge is for one of them.
    fn check(self, attempt: Attempt) -> Result<(), GateError> {
        match self.0 {
            Some(last) if !attempt.may_follow(last) => Err(GateError::new(format!(
                "{last} was published in the open, and {attempt} is no later try: nothing is published twice for one charge"
            ))),
            _ => Ok(()),
        }
    }
}

impl Keeper for MemberKeeper {
    fn charge(&mut self, attempt: Attempt) -> Result<(), GateError> {
        let Attempt { release, retry, .. } = attempt;
        if let Some(published) = self.published {
            published.check(attempt)?;
        }
        let charge = self.charges.get(release.index()).copied();
        let charge = charge.ok_or_else(|| GateError::new("it is not in the plan"))?;
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let charged = ledger.charge_try(self.session.0, (release, retry), charge);
        charged.map_err(GateError::new)?;
        if let Some(told) = &self.told {
            let _ = told.try_send(release);
        }
        Ok(())
    }

    fn keep(&mut self, records: Vec<Zeroizing<Vec<u8>>>) -> Result<(), GateError> {
        let sent = records.iter().filter_map(|record| self.format.sent(record));
        let sent: Vec<Attempt> = sent.collect();
        if let Some(published) = &mut self.published {
            for attempt in &sent {
                published.check(*attempt)?;
                published.0 = Some(*attempt);
            }
        }
        let mut all = std::mem::take(&mut self.noted);
        all.extend(records.iter().map(|record| marked(record)));
        self.log.append(&all).map_err(GateError::new)?;
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        for attempt in sent {
            if let Some(begun) = attempts.get_mut(&attempt) {
                begun.has_left = true;
            }
        }
        Ok(())
    }

    fn note(&mut self, attempt: Attempt, view: &View) -> Result<(), GateError> {
        let members: Vec<PeerIndex> = view.members.iter().collect();
        if members.len() < self.least {
            return Err(GateError::new(format!(
                "{} members are left, and this member's policy begins no release with fewer than {} (session.min_peers)",
                members.len(),
                self.least
            )));
        }
        // With the first record of the attempt, before anything of it leaves.
        self.noted.push(Zeroizing::new(noted(attempt, &members)));
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        let has_left = false;
        attempts.insert(attempt, Begun { members, has_left });
        Ok(())
    }
}

/// An attempt and who takes part, as they are kept.
fn noted(attempt: Attempt, members: &[PeerIndex]) -> Vec<u8> {
    let mut bytes = vec![ATTEMPT];
    bytes.extend_from_slice(&attempt.release.0.to_le_bytes());
    bytes.extend_from_slice(&attempt.retry.to_le_bytes());
    bytes.extend_from_slice(&attempt.view.0.to_le_bytes());
    for member in members {
        bytes.extend_from_slice(&member.0.to_le_bytes());
    }
    bytes
}

fn read_noted(bytes: &[u8]) -> Option<(Attempt, Vec<PeerIndex>)> {
    let (release, rest) = bytes.split_first_chunk()?;
    let (retry, rest) = rest.split_first_chunk()?;
    let (view, rest) = rest.split_first_chunk()?;
    let (members, []) = rest.as_chunks::<4>() else {
        return None;
    };
    let attempt = Attempt {
        release: ReleaseId(u32::from_le_bytes(*release)),
        retry: u32::from_le_bytes(*retry),
        view: ViewNumber(u64::from_le_bytes(*view)),
    };
    let member = |bytes: &[u8; 4]| PeerIndex(u32::from_le_bytes(*bytes));
    Some((attempt, members.iter().map(member).collect()))
}

/// What is found in the file of a member that starts again.
///
/// # Errors
/// [`MemberError::JournalLost`] for what no member writes: checksums hold, so another program wrote it.
pub(super) fn found(
    kept: &[Vec<u8>],
    format: &Format,
) -> Result<(Vec<DiskRecord>, Attempts), MemberError> {
    let (mut disk, mut attempts) = (Vec::new(), Attempts::new());
    for record in kept {
        let read = match record.split_first() {
            Some((&PEER, bytes)) => format.record(bytes).ok().map(|record| disk.push(record)),
            Some((&ATTEMPT, bytes)) => read_noted(bytes).map(|(attempt, members)| {
                let has_left = false;
                attempts.insert(attempt, Begun { members, has_left });
            }),
            _ => None,
        };
        read.ok_or(MemberError::JournalLost)?;
    }
    for record in &disk {
        if let DiskRecord::Regroup(Durable::Sent(attempt)) = record
            && let Some(begun) = attempts.get_mut(attempt)
        {
            begun.has_left = true;
        }
    }
    Ok((disk, attempts))
}

/// What had come of a session before this member started again: the releases whose sums it has, and the estimate after the last of them.
pub(super) fn come_so_far(
    disk: &[DiskRecord],
    me: PeerIndex,
    plan: &SessionPlan,
) -> (Vec<Released>, Option<Arc<Block>>) {
    let (mut done, mut state, mut agreed) = (ReleaseId(0), None, BTreeMap::new());
    for record in disk {
        match record {
            DiskRecord::Regroup(Durable::Done(release)) => done = *release,
            DiskRecord::State(newest) => state = Some(newest),
            DiskRecord::Agreed {
                attempt,
                agreed: of,
            } => {
                agreed.insert(attempt.release, *of);
            }
            DiskRecord::Input {
                attempt,
                from,
                agreed: of,
                ..
            } if *from == me => {
                agreed.insert(attempt.release, *of);
            }
            _ => {}
        }
    }
    let released = (1..=done.0).map(ReleaseId).filter_map(|release| {
        let agreed = agreed.get(&release).copied()?;
        let terms = plan.release(release)?.terms(agreed.unwrap_or(0.0));
        Some(Released {
            release,
            statistic: terms.statistic,
            sensitivity: terms.sensitivity,
        })
    });
    let basis = state.map(|state| plan.algorithm().estimate(state));
    (released.collect(), basis)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The disk decides: one attempt of a try is published in the open, and what had not left may be published under another view.
    #[test]
    fn one_attempt_of_a_try_is_published() {
        let at = |release, retry, view| Attempt {
            release: ReleaseId(release),
            retry,
            view: ViewNumber(view),
        };
        let sent = |attempt| DiskRecord::Regroup(Durable::Sent(attempt));
        let held = |attempt| DiskRecord::Regroup(Durable::Held(attempt));
        let nothing = Published::found(&[held(at(1, 0, 0))]);
        for attempt in [at(1, 0, 0), at(1, 0, 9), at(7, 2, 3)] {
            assert!(nothing.check(attempt).is_ok());
        }
        let some = Published::found(&[sent(at(1, 0, 0)), sent(at(2, 1, 5)), held(at(2, 1, 5))]);
        for attempt in [at(3, 1, 5), at(3, 1, 8), at(2, 2, 8), at(1, 2, 8)] {
            assert!(some.check(attempt).is_ok(), "{attempt}");
        }
        for attempt in [at(2, 1, 5), at(2, 1, 8), at(1, 1, 8), at(9, 0, 8)] {
            let refused = some.check(attempt).expect_err("charged before").to_string();
            assert!(refused.contains("nothing is published twice"), "{refused}");
        }
    }

    #[test]
    fn who_takes_part_comes_back_as_it_was() {
        let attempt = Attempt {
            release: ReleaseId(7),
            retry: 2,
            view: ViewNumber(3 << 20 | 1),
        };
        let members: Vec<PeerIndex> = [0, 2, 5].map(PeerIndex).to_vec();
        let bytes = noted(attempt, &members);
        assert_eq!(read_noted(&bytes[1..]), Some((attempt, members)));
        for length in 1..bytes.len() {
            let is_whole = length >= 17 && (length - 17).is_multiple_of(4);
            assert_eq!(read_noted(&bytes[1..length]).is_some(), is_whole);
        }
    }
}
