//! How large messages and frames of a plan are: the bound on whatever is announced.

use std::sync::Arc;

use super::error::WireError;
use super::header::Kind;
use super::{CHUNK_BYTES, HEADER_LEN};
use crate::protocol::values::Values;
use crate::vocabulary::ReleaseId;

/// How many values a message of each release holds, and what they are: the bound on whatever is announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameSizes {
    values: Values,
    /// Per release the number of values, and whether they are own coordinates. One entry stands for all releases.
    releases: Arc<[(usize, bool)]>,
    same: bool,
    limit: usize,
    most_frames: usize,
}

impl FrameSizes {
    /// Sizes of the releases of a program whose sums exchange `values`, in order; whether they are own coordinates.
    #[must_use]
    pub fn new(values: Values, releases: impl Iterator<Item = (usize, bool)>) -> Self {
        let mut releases: Vec<(usize, bool)> = releases.collect();
        let same = releases.iter().all(|one| *one == releases[0]);
        if same {
            releases.truncate(1);
        }
        let bytes = |&(count, is_own): &(usize, bool)| {
            count
                * if is_own {
                    Kind::Coordinates.bytes()
                } else {
                    values.bytes()
                }
        };
        // Every plan may have a number agreed on.
        let most = releases.iter().map(bytes).max().unwrap_or(0);
        let most = most.max(Kind::Number.bytes());
        Self {
            values,
            limit: HEADER_LEN + most.min(CHUNK_BYTES),
            most_frames: most.div_ceil(CHUNK_BYTES),
            releases: releases.into(),
            same,
        }
    }

    /// Bytes of the longest frame, prefix excluded.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Frames of the longest message.
    #[must_use]
    pub fn most_frames(&self) -> usize {
        self.most_frames
    }

    /// Values of a message of this release and kind; 0 where the release has none of that kind.
    ///
    /// # Errors
    /// [`WireError::Values`] for sums of another kind than the plan exchanges.
    pub(super) fn of(&self, release: ReleaseId, kind: Kind) -> Result<usize, WireError> {
        if kind == Kind::Number {
            return Ok(1);
        }
        if let Some(found) = kind.exchanges()
            && found != self.values
        {
            let (found, expected) = (found.name(), self.values.name());
            return Err(WireError::Values { found, expected });
        }
        let index = if self.same { 0 } else { release.index() };
        Ok(match self.releases.get(index) {
            Some(&(values, is_own)) if is_own == (kind == Kind::Coordinates) => values,
            _ => 0,
        })
    }
}

/// Sums of so many f64 in every release.
impl From<usize> for FrameSizes {
    fn from(values: usize) -> Self {
        Self::new(Values::F64, std::iter::once((values, false)))
    }
}
