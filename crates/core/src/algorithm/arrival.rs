//! The step of a stream in which a row counts.

use serde::{Deserialize, Serialize};

/// In which step a row counts: `algorithm.arrival` of an experiment file.
///
/// It is a function of the row's place in the public list of users and of nothing else. A user that leaves leaves an empty place, and
/// moves nobody's row to another step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// The first N/L rows in the first step, and so on.
    #[default]
    FileOrder,
    /// Row i in step i mod L.
    RoundRobin,
}

impl Arrival {
    /// The batch, from 0, of the row at this place of `rows`, in a stream of so many batches; batches differ by at most one row.
    #[must_use]
    pub fn batch(self, place: usize, rows: usize, batches: u32) -> u32 {
        let batches_wide = u128::from(batches.max(1));
        let batch = match self {
            // The product fits 128 bits.
            Self::FileOrder => place as u128 * batches_wide / rows.max(1) as u128,
            Self::RoundRobin => place as u128 % batches_wide,
        };
        batch.min(batches_wide - 1) as u32
    }
}
