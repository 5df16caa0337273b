//! What goes wrong in a run: explicit, or drawn from a seed.

use std::collections::BTreeMap;

use chacha20::ChaCha20Rng;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::vocabulary::{Label, Seed};

/// What goes wrong, and how slow everything is. A pure function of a seed, or written by hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultSchedule {
    /// What the latencies of frames are drawn from.
    pub seed: u64,
    /// The mean latency of a frame in microseconds; latencies are exponential, so that some are many times that.
    pub latency_micros: u64,
    /// How long until a broken connection is noticed, at least.
    pub notice_micros: u64,
    /// How long members wait for what others state.
    pub patience_micros: u64,
    /// Peers that crash.
    #[serde(default, rename = "crash", skip_serializing_if = "Vec::is_empty")]
    pub crashes: Vec<Crash>,
    /// Suspicions without a reason.
    #[serde(default, rename = "suspicion", skip_serializing_if = "Vec::is_empty")]
    pub suspicions: Vec<Suspicion>,
}

/// A peer that crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crash {
    /// Which.
    pub peer: u32,
    /// After it has put so many frames on links or records on its disk.
    pub after: u32,
    /// Whether those are frames or records.
    pub at: CrashPoint,
    /// After how long it starts again, with its disk; never, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_micros: Option<u64>,
}

/// What is counted until a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrashPoint {
    /// Frames: the last one does not leave.
    Frame,
    /// Records: the last one is not on the disk.
    BeforeRecord,
    /// Records: the last one is on the disk.
    AfterRecord,
}

/// A link that is given up for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspicion {
    /// When.
    pub micros: u64,
    /// Who gives it up.
    pub by: u32,
    /// The other end.
    pub of: u32,
}

impl FaultSchedule {
    /// Nothing goes wrong.
    #[must_use]
    pub fn none(seed: u64) -> Self {
        Self {
            seed,
            latency_micros: 1_000,
            notice_micros: 10_000,
            patience_micros: 300_000,
            crashes: Vec::new(),
            suspicions: Vec::new(),
        }
    }

    /// A schedule drawn from a seed, for a graph of so many peers and with these links. At most `crashes` peers crash; some start again. In three of
    /// ten schedules links are given up for nothing, in one of ten a whole side is.
    #[must_use]
    pub fn drawn(seed: u64, peers: u32, links: &[(u32, u32)], crashes: u32) -> Self {
        let mut generator = Seed::from_u64(seed).generator(Label::Latency);
        let r = &mut generator;
        let mut schedule = Self::none(seed);
        schedule.notice_micros = if r.random_bool(0.3) { 50_000 } else { 10_000 };
        schedule.patience_micros = if r.random_bool(0.5) { 60_000 } else { 300_000 };
        let mut drawn = BTreeMap::new();
        for _ in 0..r.random_range(0..=crashes) {
            let at = [
                CrashPoint::Frame,
                CrashPoint::Frame,
                CrashPoint::BeforeRecord,
                CrashPoint::AfterRecord,
            ][r.random_range(0..4)];
            let most = match at {
                CrashPoint::Frame => 60 + 60 * peers,
                CrashPoint::BeforeRecord | CrashPoint::AfterRecord => 80,
            };
            let peer = r.random_range(0..peers);
            let crash = Crash {
                peer,
                after: r.random_range(0..most),
                at,
                restart_micros: r.random_bool(0.4).then(|| r.random_range(100..40_000)),
            };
            drawn.insert(peer, crash);
        }
        schedule.crashes = drawn.into_values().collect();
        if r.random_bool(0.3) && !links.is_empty() {
            for _ in 0..r.random_range(1..=4) {
                let (by, of) = links[r.random_range(0..links.len())];
                let micros = r.random_range(0..80_000);
                schedule.suspicions.push(Suspicion { micros, by, of });
            }
        }
        if r.random_bool(0.1) {
            let sides: Vec<bool> = (0..peers).map(|_| r.random_bool(0.5)).collect();
            let at = r.random_range(0..80_000);
            for &(by, of) in links {
                if sides[by as usize] != sides[of as usize] {
                    let micros = at + r.random_range(0..5_000);
                    schedule.suspicions.push(Suspicion { micros, by, of });
                }
            }
        }
        schedule
    }

    /// Where latencies are drawn from.
    pub(super) fn generator(&self) -> ChaCha20Rng {
        Seed::from_u64(self.seed ^ 0x6c69_6e6b_7321_0000).generator(Label::Latency)
    }
}
