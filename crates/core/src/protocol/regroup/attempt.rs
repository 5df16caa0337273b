//! Attempts at a release, and the views that they are made under.

use std::fmt;
use std::ops::{Bound, RangeInclusive};

use crate::vocabulary::ReleaseId;

/// Bytes of an attempt's address.
pub(in crate::protocol) const ADDRESS_LEN: usize = 16;

/// Which view, in the order in which they are decided; 0 is the view of a session in which nothing has gone wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViewNumber(pub u64);

impl fmt::Display for ViewNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "view {}", self.0)
    }
}

/// One attempt at one release. All its noise, its key and its shares are made for it and for no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attempt {
    /// Which release of the session's program.
    pub release: ReleaseId,
    /// How many tries had been charged anew in the session when this one began, itself included: attempts at one release with one such number
    /// are one *try*, which is charged once.
    pub retry: u32,
    /// Under which view it was begun, which says who takes part.
    pub view: ViewNumber,
}

impl Attempt {
    /// Its address, by which keys, pads and coefficients of different attempts are told apart.
    pub(in crate::protocol) fn address(self) -> [u8; ADDRESS_LEN] {
        let mut bytes = [0; ADDRESS_LEN];
        bytes[..4].copy_from_slice(&self.release.0.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.retry.to_le_bytes());
        bytes[8..].copy_from_slice(&self.view.0.to_le_bytes());
        bytes
    }

    pub(in crate::protocol) fn of_address(bytes: &[u8; ADDRESS_LEN]) -> Self {
        let (release, rest) = bytes.split_at(4);
        let (retry, view) = rest.split_at(4);
        let four = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b));
        let view = view.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b));
        Self {
            release: ReleaseId(four(release)),
            retry: four(retry),
            view: ViewNumber(view),
        }
    }

    /// The first and the last attempt of the same try: what is charged once, and opened once.
    pub(in crate::protocol) fn same_try(self) -> RangeInclusive<Self> {
        let at = |view| Self {
            view: ViewNumber(view),
            ..self
        };
        at(0)..=at(u64::MAX)
    }

    /// Whether this may be published in the open after `last` was: it belongs to a later try, or to a later release of the same number of retries.
    ///
    /// Members that follow the protocol never ask for anything else. *Proof.* The number of retries never falls, and it grows whenever a release that this member has published for
    /// is tried again ([`Statement::sent`](super::Statement::sent) is in every agreement that it takes part in). ∎ Members that do not may ask for it, and get nothing.
    #[must_use]
    pub fn may_follow(self, last: Self) -> bool {
        (self.retry, self.release) > (last.retry, last.release)
    }

    /// All later attempts at the same release.
    pub(in crate::protocol) fn later(self) -> (Bound<Self>, Bound<Self>) {
        let last = Self {
            retry: u32::MAX,
            view: ViewNumber(u64::MAX),
            ..self
        };
        (Bound::Excluded(self), Bound::Included(last))
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, retry {}, {}", self.release, self.retry, self.view)
    }
}
