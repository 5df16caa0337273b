//! A member's rows before they meet the plan: a digest, and how to make what its peer holds.

use std::fmt;

use crate::algorithm::LocalData;
use crate::linalg::SparseRows;

/// Makes the rows of a peer.
type Make = Box<dyn FnOnce() -> Result<LocalData, String> + Send>;

/// A member's rows, which are made as the plan has peers hold them once all members are ready.
///
/// What is done with rows takes time that depends on them and on the plan. Until then nothing is charged, and a convener could time as many plans as
/// he likes; so nothing touches the rows before. `Debug` prints nothing of them.
pub struct MemberRows {
    digest: [u8; 32],
    make: Option<Make>,
}

impl MemberRows {
    /// Rows with this digest, which is a secret like the rows, and what makes them. Whether `make` succeeds must not depend on a row.
    pub fn new(
        digest: [u8; 32],
        make: impl FnOnce() -> Result<LocalData, String> + Send + 'static,
    ) -> Self {
        Self {
            digest,
            make: Some(Box::new(make)),
        }
    }

    /// Rows that are made already.
    #[must_use]
    pub fn made(rows: LocalData) -> Self {
        Self::new(digest_of(rows.rows()), move || Ok(rows))
    }

    /// What rows are told apart by, at this member alone.
    pub(super) fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The rows, once.
    pub(super) fn take(&mut self) -> Result<LocalData, String> {
        let make = self.make.take();
        make.ok_or_else(|| "the rows were taken before".to_owned())?()
    }
}

impl fmt::Debug for MemberRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemberRows")
    }
}

fn digest_of(rows: &SparseRows) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 made rows v1");
    hasher.update(&(rows.len() as u64).to_le_bytes());
    for (columns, values) in (0..rows.len()).map(|row| rows.row(row)) {
        hasher.update(&(columns.len() as u64).to_le_bytes());
        for (column, value) in columns.iter().zip(values) {
            hasher.update(&column.to_le_bytes());
            hasher.update(&value.to_bits().to_le_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}
