//! What goes wrong in a run, drawn from a seed.

use std::collections::BTreeSet;

use super::error::ScheduleError;
use super::schedule::{
    Crash, CrashPoint, FailingDisk, FaultSchedule, Outage, Partition, Suspicion,
};
use crate::engine::event::Latency;
use crate::vocabulary::{Label, Seed};
use chacha20::ChaCha20Rng;
use rand::RngExt;

/// How much a session does where nothing goes wrong: moments are drawn within it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The most frames that one peer sends.
    pub frames: u32,
    /// The most records that one peer puts on its disk.
    pub records: u32,
    /// How long it lasts.
    pub micros: u64,
}

impl FaultSchedule {
    /// The same with everything listed that was to be drawn, for a session of so many peers over these links that does so much.
    ///
    /// # Errors
    /// [`ScheduleError`] for what no such session can be run under.
    pub fn explicit(
        &self,
        peers: usize,
        links: &[(u32, u32)],
        extent: Extent,
    ) -> Result<Self, ScheduleError> {
        self.check_for(peers, links)?;
        let mut all = self.clone();
        let Some(random) = all.random.take() else {
            return Ok(all);
        };
        let mut generator = Seed::from_u64(self.seed).generator(Label::Latency);
        let r = &mut generator;
        let mut who: BTreeSet<u32> = (0..peers as u32).collect();
        for _ in 0..random.crashes {
            let peer = taken(r, &mut who);
            all.crashes.push(Crash {
                restart_micros: r
                    .random_bool(random.restarts)
                    .then(|| r.random_range(1..=2 * self.grace_micros)),
                ..crash(r, peer, (extent.frames, extent.records))
            });
        }
        for _ in 0..random.disks {
            all.disks.push(FailingDisk {
                peer: taken(r, &mut who),
                after: r.random_range(0..=extent.records),
            });
        }
        for _ in 0..random.suspicions {
            all.suspicions.push(suspicion(r, links, extent.micros));
        }
        for _ in 0..random.outages {
            let link = links[r.random_range(0..links.len())];
            all.outages
                .push(outage(r, link, (extent.micros, 2 * self.grace_micros)));
        }
        for _ in 0..random.partitions {
            let from_micros = r.random_range(0..=extent.micros);
            let lasts = r.random_range(1..=2 * self.grace_micros);
            all.partitions.push(Partition {
                from_micros,
                until_micros: Some(from_micros + lasts),
                side: (0..peers as u32).filter(|_| r.random_bool(0.5)).collect(),
            });
        }
        Ok(all)
    }

    /// A schedule in which much goes wrong at once, for a graph of so many peers with these links: how much is drawn as well, so that schedules differ in kind and not
    /// in moments alone. At most `crashes` peers crash or lose their disk.
    #[must_use]
    pub fn drawn(seed: u64, peers: u32, links: &[(u32, u32)], crashes: u32) -> Self {
        let mut generator = Seed::from_u64(seed).generator(Label::Latency);
        let r = &mut generator;
        let mut all = Self::none(seed);
        all.latency = r
            .random_bool(0.2)
            .then_some(Latency::HeavyTail { least_micros: 300 });
        all.loss = [0.0, 0.0, 0.05, 0.2][r.random_range(0..4)];
        all.notice_micros = if r.random_bool(0.3) { 50_000 } else { 10_000 };
        all.patience_micros = if r.random_bool(0.5) { 60_000 } else { 300_000 };
        let mut who: BTreeSet<u32> = (0..peers).collect();
        for _ in 0..r.random_range(0..=crashes) {
            let peer = taken(r, &mut who);
            if r.random_bool(0.1) {
                let after = r.random_range(0..80);
                all.disks.push(FailingDisk { peer, after });
                continue;
            }
            // One in ten crashes again after it has come back.
            let again = if r.random_bool(0.1) { 2 } else { 1 };
            for time in 0..again {
                let comes_back = time + 1 < again || r.random_bool(0.4);
                all.crashes.push(Crash {
                    restart_micros: comes_back.then(|| r.random_range(100..60_000)),
                    ..crash(r, peer, (60 + 20 * peers, 80))
                });
            }
        }
        if !links.is_empty() {
            if r.random_bool(0.3) {
                for _ in 0..r.random_range(1..=4) {
                    all.suspicions.push(suspicion(r, links, 80_000));
                }
            }
            if r.random_bool(0.3) {
                for _ in 0..r.random_range(1..=3) {
                    let link = links[r.random_range(0..links.len())];
                    all.outages.push(outage(r, link, (80_000, 80_000)));
                }
            }
        }
        // Somebody and all its neighbours, at about the same time: what it published is with nobody any more.
        let last = r.random_range(0..peers);
        let beside = links.iter().filter_map(|&(u, v)| match last {
            _ if last == u => Some(v),
            _ if last == v => Some(u),
            _ => None,
        });
        let around: Vec<u32> = std::iter::once(last).chain(beside).collect();
        if around.len() <= crashes as usize && r.random_bool(0.1) {
            let begins = r.random_range(0..20 * peers);
            all.crashes = around
                .iter()
                .map(|&peer| Crash {
                    peer,
                    after: begins + r.random_range(0..20),
                    at: CrashPoint::Frame,
                    restart_micros: None,
                })
                .collect();
            all.disks.clear();
        }
        if r.random_bool(0.25) {
            let from_micros = r.random_range(0..80_000);
            let until = r.random_bool(0.5).then(|| r.random_range(1..80_000));
            // Half of all, one in five, or two neighbours.
            let side = match r.random_range(0..3) {
                0 if !links.is_empty() => {
                    let (u, v) = links[r.random_range(0..links.len())];
                    vec![u, v]
                }
                kind => {
                    let part = if kind == 1 { 0.5 } else { 0.2 };
                    (0..peers).filter(|_| r.random_bool(part)).collect()
                }
            };
            all.partitions.push(Partition {
                from_micros,
                until_micros: until.map(|lasts| from_micros + lasts),
                side,
            });
        }
        if crashes > 0 && r.random_bool(0.35) {
            aimed(r, &mut all, (peers, links), &around, crashes);
        }
        // One thing soon after another: what follows from the first is met half done.
        if !links.is_empty() && r.random_bool(0.2) {
            let first = r.random_range(5_000..120_000);
            let second = first + r.random_range(2_000..30_000);
            for micros in [first, second] {
                let drawn = suspicion(r, links, 1);
                all.suspicions.push(Suspicion { micros, ..drawn });
            }
        }
        all
    }

    /// Where latencies and losses are drawn from.
    pub(super) fn generator(&self) -> ChaCha20Rng {
        Seed::from_u64(self.seed ^ 0x6c69_6e6b_7321_0000).generator(Label::Latency)
    }
}

/// Somebody who was not taken before; callers take no more than there are.
fn taken(r: &mut ChaCha20Rng, who: &mut BTreeSet<u32>) -> u32 {
    let place = r.random_range(0..who.len().max(1));
    let peer = who.iter().nth(place).copied().unwrap_or(0);
    who.remove(&peer);
    peer
}

/// A crash at any of so many frames or records, from which the peer does not come back.
fn crash(r: &mut ChaCha20Rng, peer: u32, (frames, records): (u32, u32)) -> Crash {
    let at = [
        CrashPoint::Frame,
        CrashPoint::Frame,
        CrashPoint::Frame,
        CrashPoint::BeforeRecord,
        CrashPoint::TornRecord,
        CrashPoint::AfterRecord,
    ][r.random_range(0..6)];
    let most = match at {
        CrashPoint::Frame => frames,
        _ => records,
    };
    Crash {
        peer,
        after: r.random_range(0..=most),
        at,
        restart_micros: None,
    }
}

fn suspicion(r: &mut ChaCha20Rng, links: &[(u32, u32)], micros: u64) -> Suspicion {
    let (u, v) = links[r.random_range(0..links.len())];
    let (by, of) = if r.random_bool(0.5) { (u, v) } else { (v, u) };
    Suspicion {
        micros: r.random_range(0..=micros),
        by,
        of,
        after_crash_of: None,
    }
}

/// Nothing but what makes a case that other draws seldom make: a crash at a named moment of the protocol, and what must happen beside it. `around` is somebody with all
/// its neighbours.
fn aimed(
    r: &mut ChaCha20Rng,
    all: &mut FaultSchedule,
    (peers, links): (u32, &[(u32, u32)]),
    around: &[u32],
    crashes: u32,
) {
    *all = FaultSchedule {
        latency: all.latency,
        loss: all.loss,
        notice_micros: all.notice_micros,
        patience_micros: all.patience_micros,
        ..FaultSchedule::none(all.seed)
    };
    let peer = r.random_range(0..peers);
    let crash = |peer, at, after| Crash {
        peer,
        after,
        at,
        restart_micros: None,
    };
    // Sessions here have three sums or so.
    let after = r.random_range(0..3);
    match r.random_range(0..6) {
        // Whoever knows of a certificate is lost, and everybody else has stopped before they do.
        0 | 1 => {
            let mut who: BTreeSet<u32> = (0..peers).collect();
            let mut knowing: Vec<u32> = (0..crashes).map(|_| taken(r, &mut who)).collect();
            knowing.sort_unstable();
            let mut free: BTreeSet<u32> = (0..peers).collect();
            let apart = links.iter().filter(|(u, v)| {
                let is_free = free.contains(u) && free.contains(v);
                is_free && free.remove(u) && free.remove(v)
            });
            let apart: Vec<(u32, u32)> = apart.copied().collect();
            for &lost in &knowing {
                all.crashes
                    .push(crash(lost, CrashPoint::AfterCertificate, after));
                let both = apart.iter().flat_map(|&(u, v)| [(u, v), (v, u)]);
                all.suspicions.extend(both.map(|(by, of)| Suspicion {
                    micros: 0,
                    by,
                    of,
                    after_crash_of: Some(lost),
                }));
            }
        }
        // Its word has left, and it does not know what others make of it, when it comes back.
        2 => all.crashes.push(Crash {
            restart_micros: r.random_bool(0.8).then(|| r.random_range(100..60_000)),
            ..crash(peer, CrashPoint::BeforeCertificate, after)
        }),
        // What somebody published is with nobody any more.
        3 if around.len() <= crashes as usize => {
            let point = CrashPoint::AfterCertificate;
            all.crashes = around.iter().map(|&one| crash(one, point, after)).collect();
        }
        _ => {
            let after = after.max(r.random_range(0..3));
            all.crashes.push(crash(peer, CrashPoint::AfterSum, after));
        }
    }
}

fn outage(r: &mut ChaCha20Rng, link: (u32, u32), (micros, most): (u64, u64)) -> Outage {
    let from_micros = r.random_range(0..=micros);
    Outage {
        from_micros,
        until_micros: Some(from_micros + r.random_range(1..=most)),
        link,
    }
}
