//! How much goes wrong in a run, where moments are drawn.

use serde::{Deserialize, Serialize};

use super::error::{MOST_LISTED, ScheduleError};

/// How much goes wrong, at moments that are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RandomFaults {
    /// So many peers crash, each once.
    pub crashes: u32,
    /// The probability with which a crashed peer starts again, after at most twice the grace.
    pub restarts: f64,
    /// So many disks fail, of peers that do not crash.
    pub disks: u32,
    /// So many links are given up for nothing.
    pub suspicions: u32,
    /// So many links carry nothing for a while, at most twice the grace.
    pub outages: u32,
    /// So often everybody is on one of two sides for a while, at most twice the grace.
    pub partitions: u32,
}

impl RandomFaults {
    pub(super) fn check(self) -> Result<(), ScheduleError> {
        if !(0.0..=1.0).contains(&self.restarts) {
            return Err(ScheduleError::Probability {
                key: "random.restarts",
                found: self.restarts,
                most: 1.0,
            });
        }
        for (key, found) in self.counts() {
            if found as usize > MOST_LISTED {
                let most = MOST_LISTED;
                return Err(ScheduleError::TooManyRandom { key, found, most });
            }
        }
        Ok(())
    }

    pub(super) fn check_for(self, peers: usize, links: usize) -> Result<(), ScheduleError> {
        let both = self.crashes.saturating_add(self.disks);
        let linked = self.suspicions.max(self.outages);
        let none = if links == 0 { 0 } else { MOST_LISTED };
        for (key, found, most) in [
            ("crashes + random.disks", both, peers),
            ("suspicions and random.outages", linked, none),
        ] {
            if found as usize > most {
                return Err(ScheduleError::TooManyRandom { key, found, most });
            }
        }
        Ok(())
    }

    fn counts(self) -> [(&'static str, u32); 5] {
        [
            ("crashes", self.crashes),
            ("disks", self.disks),
            ("suspicions", self.suspicions),
            ("outages", self.outages),
            ("partitions", self.partitions),
        ]
    }
}
