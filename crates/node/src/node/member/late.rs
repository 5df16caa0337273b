//! A member that the others have gone on without, or that was interrupted once all was charged, asks them for the result, which is public among members, and checks it.
//!
//! # What is believed
//! Members sign the digest of their result when they finish, and that is said to whoever connects. Where averaging gives all members the same bits, a result is taken whose digest
//! more members have signed than may collude, with none who has signed another; so at least one who signed it is none of the coalition. Where every member ends with bits of its own, the
//! result is one member's, as that member signed it. It is kept beside the statements, and it is not this member's result: it did not take part in all sums, its session has ended
//! without, and its exit code says so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::conductor::{Conductor, name};
use super::setup::{Progress, ResultRule};
use crate::linalg::Block;
use crate::node::deployed::HostEvent;
use crate::session::{PublicId, Signed, Statement};
use crate::writing::npy;

/// The result as it was fetched, and the statements that name it, by number.
const BASIS: &str = "late-basis.npy";
const STATEMENT: &str = "late-finished";

/// How often it looks who has finished.
const LOOK: Duration = Duration::from_millis(200);

/// A result as it is handed over.
pub(super) fn bytes_of(basis: &Block) -> Arc<[u8]> {
    let mut bytes = Vec::with_capacity(8 + 8 * basis.values().len());
    bytes.extend_from_slice(&(basis.rows() as u32).to_le_bytes());
    bytes.extend_from_slice(&(basis.columns() as u32).to_le_bytes());
    for value in basis.values() {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes.into()
}

/// The result of these bytes, if they are one of this shape with this digest. A digest is of numbers alone.
fn read(bytes: &[u8], (rows, columns): (usize, usize), digest: &[u8; 32]) -> Option<Block> {
    let (found_rows, rest) = bytes.split_first_chunk()?;
    let (found_columns, rest) = rest.split_first_chunk()?;
    let (values, []) = rest.as_chunks::<8>() else {
        return None;
    };
    let found = [found_rows, found_columns].map(|number| u32::from_le_bytes(*number) as usize);
    if found != [rows, columns] || rows.checked_mul(columns) != Some(values.len()) {
        return None;
    }
    let values = values.iter().map(|value| f64::from_le_bytes(*value));
    let values: Vec<f64> = values.collect();
    let is_finite = values.iter().all(|value| value.is_finite());
    let block = Block::from_values(rows, columns, values);
    (is_finite && block.digest() == *digest).then_some(block)
}

/// The digest that more members have signed than may collude, and who: nothing while it is in doubt.
fn agreed(results: &[Signed], rule: ResultRule) -> Option<([u8; 32], Vec<&Signed>)> {
    let mut by: BTreeMap<[u8; 32], BTreeMap<PublicId, &Signed>> = BTreeMap::new();
    for signed in results {
        if let Statement::Finished { result } = signed.statement {
            by.entry(result).or_default().insert(signed.from, signed);
        }
    }
    if !rule.ends_equal {
        let (digest, signed) = by.into_iter().next()?;
        return Some((digest, signed.into_values().collect()));
    }
    let mut all = by.into_iter();
    let (digest, signed) = all.next()?;
    let is_enough = all.next().is_none() && signed.len() > rule.colluders;
    is_enough.then(|| (digest, signed.into_values().collect()))
}

impl Conductor<'_> {
    /// Asks for the result for as long as members linger, and keeps it; what cannot be had is not kept.
    pub(super) async fn fetch_result(&mut self) {
        let rule = match &self.planned {
            Some(planned) => Ok(ResultRule::of(&planned.session, planned.offer.colluders)),
            None => {
                let planner = Arc::clone(&self.setup.planner);
                let rule = tokio::task::spawn_blocking(move || planner.result()).await;
                rule.unwrap_or_else(|error| Err(error.to_string()))
            }
        };
        let rule = match rule {
            Ok(rule) => rule,
            Err(error) => return tracing::error!(%error, "the result is not asked for"),
        };
        let (rows, columns) = rule.shape;
        let most = 8 + 8 * rows * columns;
        let session = &self.setup.invitation.session;
        // Where the loss of a member ends the session, whoever is done waits for one that is gone until the grace has passed.
        let seconds = match self.ready.late {
            Some(_) => session.linger_seconds.min(session.grace_seconds),
            None => session.linger_seconds,
        };
        (self.progress)(Progress::Asking { seconds });
        let until = Instant::now() + Duration::from_secs(seconds);
        let mut refused = BTreeSet::new();
        while Instant::now() < until {
            let found = agreed(&self.results, rule);
            let found = found.map(|(digest, signed)| {
                let signed: Vec<Signed> = signed.into_iter().cloned().collect();
                (digest, signed)
            });
            if let Some((digest, signed)) = found {
                for from in signed.iter().map(|one| one.from) {
                    if refused.contains(&from) {
                        continue;
                    }
                    let Some(bytes) = self.host.fetch(&from, most).await else {
                        continue;
                    };
                    match read(&bytes, rule.shape, &digest) {
                        Some(basis) => return self.keep_late(&from, &basis, &signed),
                        None => refused.insert(from),
                    };
                }
            }
            let look = until.min(Instant::now() + LOOK);
            while let Ok(event) = timeout_at(look, self.host.next()).await {
                if let HostEvent::Control { bytes, .. } = event {
                    self.note_result(&bytes);
                }
            }
        }
    }

    /// Takes down what a member has signed as its result.
    pub(super) fn note_result(&mut self, bytes: &[u8]) {
        let Ok(signed) = self.assembly.read(bytes) else {
            return;
        };
        let is_result = matches!(signed.statement, Statement::Finished { .. });
        // Without a plan nobody knows who was on the list; those who were invited sign.
        let is_theirs = self.roster.is_empty() || self.roster.contains(&signed.from);
        if is_result && is_theirs && !self.results.contains(&signed) {
            self.results.push(signed);
        }
    }

    /// Whether more members than may collude say that they have finished while this one is still joining: the others have gone on without it.
    pub(super) fn is_over(&self) -> bool {
        let finished: BTreeSet<PublicId> = self.results.iter().map(|one| one.from).collect();
        self.ready
            .colluders
            .is_some_and(|colluders| finished.len() > colluders)
    }

    fn keep_late(&mut self, from: &PublicId, basis: &Block, signed: &[Signed]) {
        let files = &self.ready.files;
        let mut kept = files.write(BASIS, &npy(basis));
        for (number, signed) in signed.iter().enumerate() {
            let file = format!("{STATEMENT}-{number}.bin");
            kept = kept.and_then(|()| files.write(&file, &signed.bytes));
        }
        match kept {
            Ok(()) => (self.progress)(Progress::Fetched {
                from: name(&self.names, from),
                signed: signed.len(),
                file: BASIS.to_owned(),
            }),
            Err(error) => tracing::error!(%error, "the result was fetched and could not be kept"),
        }
    }
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;
    use crate::session::{Identity, SessionHash};

    fn said(by: u8, result: [u8; 32]) -> Signed {
        let identity = Identity::from_secret(Zeroizing::new([by; 32]));
        Signed::new(
            &identity,
            SessionHash([1; 32]),
            Statement::Finished { result },
        )
    }

    #[test]
    fn a_result_is_believed_that_more_have_signed_than_may_collude() {
        let (one, other) = ([3; 32], [4; 32]);
        let rule = |ends_equal, colluders| ResultRule {
            ends_equal,
            colluders,
            shape: (1, 1),
        };
        let mut results = vec![said(1, one), said(1, one)];
        assert!(
            agreed(&results, rule(true, 1)).is_none(),
            "one member, twice"
        );
        assert!(agreed(&results, rule(false, 1)).is_some());
        results.push(said(2, one));
        let (digest, signed) = agreed(&results, rule(true, 1)).expect("two of them");
        assert_eq!((digest, signed.len()), (one, 2));
        assert!(agreed(&results, rule(true, 2)).is_none());
        results.push(said(3, other));
        assert!(agreed(&results, rule(true, 1)).is_none(), "two results");
    }

    #[test]
    fn what_is_handed_over_is_checked() {
        let basis = Block::from_values(3, 2, vec![0.5, 1.0, -2.0, 0.0, 3.0, 4.5]);
        let digest = basis.digest();
        let bytes = bytes_of(&basis);
        let again = read(&bytes, (3, 2), &digest).expect("it is the one");
        assert_eq!(again.values(), basis.values());
        assert_eq!((again.rows(), again.columns()), (3, 2));
        for at in 0..bytes.len() {
            let mut changed = bytes.to_vec();
            changed[at] ^= 1;
            assert!(read(&changed, (3, 2), &digest).is_none(), "byte {at}");
            assert!(read(&bytes[..at], (3, 2), &digest).is_none(), "{at} bytes");
        }
        // The same numbers in another shape have the same digest.
        for (rows, columns) in [(2, 3), (6, 1), (1, 6)] {
            let scrambled = Block::from_values(rows, columns, basis.values().to_vec());
            assert_eq!(scrambled.digest(), digest);
            assert!(read(&bytes_of(&scrambled), (3, 2), &digest).is_none());
        }
    }
}
