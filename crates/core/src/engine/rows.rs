//! What all peers of a simulation hold.

use std::fmt;
use std::ops::Deref;

use rayon::prelude::*;

use crate::algorithm::LocalData;
use crate::linalg::SparseRows;

/// Every peer's private rows, in peer order, with a digest that the noise of a run is bound to.
///
/// Nothing changes them once they are here, so that the digest stays theirs; `Debug` prints sizes only.
#[derive(Clone)]
pub struct PeerRows {
    rows: Vec<SparseRows>,
    /// The rows of each batch, per peer; nothing where rows have none.
    batches: Vec<Vec<SparseRows>>,
    digest: [u8; 32],
}

/// Entries below which hashing them takes less time than waking other threads.
const ALONE: usize = 1 << 12;

impl PeerRows {
    /// One entry per peer.
    ///
    /// # Cost
    /// One pass over all entries.
    #[must_use]
    pub fn new(rows: Vec<SparseRows>) -> Self {
        let entries: usize = rows.iter().map(SparseRows::entries).sum();
        let digests: Vec<_> = if entries < ALONE {
            rows.iter().map(of_peer).collect()
        } else {
            rows.par_iter().map(of_peer).collect()
        };
        let mut hasher = hasher();
        digests.iter().for_each(|digest| {
            hasher.update(digest.as_bytes());
        });
        Self {
            rows,
            batches: Vec::new(),
            digest: *hasher.finalize().as_bytes(),
        }
    }

    /// One entry per peer, of rows that may have batch numbers.
    #[must_use]
    pub fn of_local(peers: &[LocalData]) -> Self {
        let mut all = Self::new(peers.iter().map(|data| data.rows().clone()).collect());
        if peers.iter().any(LocalData::is_stream) {
            let mut hasher = hasher();
            hasher.update(&all.digest);
            for data in peers {
                hasher.update(&(data.batches().len() as u64).to_le_bytes());
                for batch in data.batches() {
                    hasher.update(of_peer(batch).as_bytes());
                }
            }
            all.digest = *hasher.finalize().as_bytes();
            all.batches = peers.iter().map(|data| data.batches().to_vec()).collect();
        }
        all
    }

    /// Whether the rows of peer `u` have batch numbers.
    pub(super) fn is_stream(&self, u: usize) -> bool {
        self.batches
            .get(u)
            .is_some_and(|batches| !batches.is_empty())
    }

    /// The rows of peer `u` that contribute to a release of this batch, if it has any.
    #[must_use]
    pub fn contributing(&self, u: usize, batch: Option<u32>) -> Option<&SparseRows> {
        match batch {
            None => self.rows.get(u),
            Some(number) => self.batches.get(u)?.get(number as usize),
        }
    }

    /// What peer `u` holds.
    #[must_use]
    pub(super) fn local(&self, u: usize) -> LocalData {
        let batches = self.batches.get(u).cloned().unwrap_or_default();
        LocalData::of_parts(self.rows[u].clone(), batches)
    }

    /// Hash of who holds what. It depends on private data and is as secret as they are.
    pub(super) fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

impl Deref for PeerRows {
    type Target = [SparseRows];

    fn deref(&self) -> &[SparseRows] {
        &self.rows
    }
}

impl fmt::Debug for PeerRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: usize = self.rows.iter().map(SparseRows::entries).sum();
        write!(f, "PeerRows({} peers, {entries} entries)", self.rows.len())
    }
}

fn hasher() -> blake3::Hasher {
    blake3::Hasher::new_derive_key("undertone 2026-11 peer rows v1")
}

fn of_peer(rows: &SparseRows) -> blake3::Hash {
    let mut hasher = hasher();
    let mut bytes = Vec::new();
    hasher.update(&(rows.dimension() as u64).to_le_bytes());
    for (items, values) in (0..rows.len()).map(|i| rows.row(i)) {
        bytes.clear();
        bytes.extend((items.len() as u64).to_le_bytes());
        bytes.extend(items.iter().flat_map(|item| item.to_le_bytes()));
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        hasher.update(&bytes);
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(entries: &[&[(u32, f64)]]) -> SparseRows {
        let mut rows = SparseRows::new(9);
        for row in entries {
            rows.push_row(row.iter().copied()).expect("ascending");
        }
        rows
    }

    #[test]
    fn the_digest_is_that_of_who_holds_what() {
        let digest = |peers: &[SparseRows]| *PeerRows::new(peers.to_vec()).digest();
        let one: &[(u32, f64)] = &[(1, 0.5), (4, 0.5)];
        let two: &[(u32, f64)] = &[(2, 1.0)];
        let base = [rows(&[one]), rows(&[two])];
        assert_eq!(digest(&base), digest(&base.clone()));
        let others: [&[SparseRows]; 8] = [
            &[rows(&[two]), rows(&[one])],
            &[rows(&[one, two]), rows(&[])],
            &[rows(&[one]), rows(&[two]), rows(&[])],
            &[rows(&[one])],
            &[rows(&[one]), rows(&[&[(3, 1.0)]])],
            &[rows(&[one]), rows(&[&[(2, 1.0 + f64::EPSILON)]])],
            &[rows(&[&one[..1], &one[1..]]), rows(&[two])],
            &[rows(&[one]), SparseRows::new(9)],
        ];
        for other in others {
            assert_ne!(digest(&base), digest(other), "{other:?}");
        }
    }

    #[test]
    fn rows_are_not_printed() {
        let rows = PeerRows::new(vec![rows(&[&[(3, 0.25)]])]);
        assert_eq!(format!("{rows:?}"), "PeerRows(1 peers, 1 entries)");
    }
}
