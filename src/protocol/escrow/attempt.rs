//! Attempts at a release.

use crate::vocabulary::ReleaseId;

/// Bytes of an attempt's address.
pub(super) const ADDRESS_LEN: usize = 16;

/// One attempt at one release. All its noise, its key and its shares are made for it and for no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attempt {
    /// Which release of the session's program.
    pub release: ReleaseId,
    /// How often the release was charged anew because a contribution to it was lost.
    pub retry: u32,
    /// The number of the view that it was begun under.
    pub view: u64,
}

impl Attempt {
    /// Its address, by which keys, pads and coefficients of different attempts are told apart.
    pub(super) fn address(self) -> [u8; ADDRESS_LEN] {
        let mut bytes = [0; ADDRESS_LEN];
        bytes[..4].copy_from_slice(&self.release.0.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.retry.to_le_bytes());
        bytes[8..].copy_from_slice(&self.view.to_le_bytes());
        bytes
    }

    pub(super) fn of_address(bytes: &[u8; ADDRESS_LEN]) -> Self {
        let (release, rest) = bytes.split_at(4);
        let (retry, view) = rest.split_at(4);
        let four = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b));
        Self {
            release: ReleaseId(four(release)),
            retry: four(retry),
            view: view.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)),
        }
    }

    /// The first and the last attempt of the same try: what is charged once, and opened once.
    pub(super) fn same_try(self) -> std::ops::RangeInclusive<Self> {
        Self { view: 0, ..self }..=Self {
            view: u64::MAX,
            ..self
        }
    }

    /// All later attempts at the same release.
    pub(super) fn later(self) -> (std::ops::Bound<Self>, std::ops::Bound<Self>) {
        let last = Self {
            retry: u32::MAX,
            view: u64::MAX,
            ..self
        };
        (
            std::ops::Bound::Excluded(self),
            std::ops::Bound::Included(last),
        )
    }
}

impl std::fmt::Display for Attempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}, retry {}, view {}",
            self.release, self.retry, self.view
        )
    }
}
