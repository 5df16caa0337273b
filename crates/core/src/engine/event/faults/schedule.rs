//! What goes wrong in a run: written by hand, or drawn from a seed.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::error::{MOST_LISTED, MOST_LOSS, MOST_MICROS, ScheduleError};
use super::rates::RandomFaults;
use crate::engine::deviants::Deviation;
use crate::engine::event::Latency;
use crate::protocol::regroup::Durable;
use crate::protocol::tolerant::DiskRecord;

/// What goes wrong, and how slow everything is. `P` is what a peer is called: its number, or in files its name.
///
/// Frames over a link keep their order and are sent until they arrive; what a link loses costs time. Only a link that is given up loses frames for good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultSchedule<P = u32> {
    /// What latencies, losses and `random` are drawn from.
    #[serde(default)]
    pub seed: u64,
    /// The latency of a frame; where it is absent that of the engine, or exponential with a mean of one millisecond.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// The probability that a frame is lost each time it is sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub loss: f64,
    /// After how long a frame that was lost is sent again.
    #[serde(default = "four_milliseconds")]
    pub resend_micros: u64,
    /// How long until a broken connection is noticed, at least.
    #[serde(default = "ten_milliseconds")]
    pub notice_micros: u64,
    /// How long a link or a process may be away before its neighbours give it up.
    #[serde(default = "forty_milliseconds")]
    pub grace_micros: u64,
    /// How long members wait for what others state.
    #[serde(default = "patience")]
    pub patience_micros: u64,
    /// Peers that crash. Those of one peer come in this order; each is counted from the start of its process.
    #[serde(
        default = "Vec::new",
        rename = "crash",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub crashes: Vec<Crash<P>>,
    /// Suspicions without a reason.
    #[serde(
        default = "Vec::new",
        rename = "suspicion",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub suspicions: Vec<Suspicion<P>>,
    /// Links that carry nothing for a while.
    #[serde(
        default = "Vec::new",
        rename = "outage",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub outages: Vec<Outage<P>>,
    /// Groups of peers that all others cannot reach for a while.
    #[serde(
        default = "Vec::new",
        rename = "partition",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub partitions: Vec<Partition<P>>,
    /// Disks that fail.
    #[serde(
        default = "Vec::new",
        rename = "disk",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub disks: Vec<FailingDisk<P>>,
    /// Peers that deviate while they average. They do so in a run of their own, beside the one in which the rest goes wrong, on peers that tolerate no loss.
    #[serde(
        default = "Vec::new",
        rename = "deviant",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub deviants: Vec<Deviates<P>>,
    /// What is drawn from the seed besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random: Option<RandomFaults>,
}

/// A peer that crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crash<P = u32> {
    /// Which.
    pub peer: P,
    /// After it has put so many frames on links or records on its disk.
    pub after: u32,
    /// Whether those are frames or records.
    #[serde(default)]
    pub at: CrashPoint,
    /// After how long it starts again, with its disk; never, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_micros: Option<u64>,
}

/// What is counted until a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrashPoint {
    /// Frames: the last one does not leave.
    #[default]
    Frame,
    /// Records: the last one is not on the disk.
    BeforeRecord,
    /// Records: half of the last one is on the disk, and is dropped when the peer starts again.
    TornRecord,
    /// Records: the last one is on the disk.
    AfterRecord,
    /// Certificates: the last one is not on the disk.
    BeforeCertificate,
    /// Certificates: the last one is on the disk.
    AfterCertificate,
    /// Sums: the last one is on the disk.
    AfterSum,
}

impl CrashPoint {
    /// Whether it counts what a peer does with this record; a frame, if there is none.
    pub(super) fn counts(self, record: Option<&DiskRecord>) -> bool {
        match self {
            Self::Frame => record.is_none(),
            Self::BeforeRecord | Self::TornRecord | Self::AfterRecord => record.is_some(),
            Self::BeforeCertificate | Self::AfterCertificate => {
                matches!(record, Some(DiskRecord::Regroup(Durable::Certified(_))))
            }
            Self::AfterSum => matches!(record, Some(DiskRecord::Regroup(Durable::Done(_)))),
        }
    }
}

/// A link that is given up for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspicion<P = u32> {
    /// When.
    pub micros: u64,
    /// Who gives it up.
    pub by: P,
    /// The other end.
    pub of: P,
    /// Counted from every crash of this peer; from the beginning, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_crash_of: Option<P>,
}

/// A link that carries nothing for a while: frames wait. Both ends give it up if it lasts longer than the grace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outage<P = u32> {
    /// From when.
    pub from_micros: u64,
    /// Until when; for ever, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_micros: Option<u64>,
    /// Between whom.
    pub link: (P, P),
}

/// Peers that all others cannot reach for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition<P = u32> {
    /// From when.
    pub from_micros: u64,
    /// Until when; for ever, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_micros: Option<u64>,
    /// Who is on one side; everybody else is on the other.
    pub side: Vec<P>,
}

/// A disk that fails: its peer stops in good order, and does not come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailingDisk<P = u32> {
    /// Whose.
    pub peer: P,
    /// After so many records.
    pub after: u32,
}

/// A peer that deviates once, while it averages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviates<P = u32> {
    /// Which.
    pub peer: P,
    /// In the averaging of which release, from 1.
    pub release: u32,
    /// In which of the steps at which it sends, counted from 0; the last one where it has fewer.
    #[serde(default = "second_step")]
    pub turn: u32,
    /// How.
    pub how: Deviation,
    /// The error that it puts into one number.
    #[serde(default = "one_thousandth")]
    pub error: f64,
}

fn second_step() -> u32 {
    1
}

fn one_thousandth() -> f64 {
    1e-3
}

impl<P> FaultSchedule<P> {
    /// Nothing goes wrong.
    #[must_use]
    pub fn none(seed: u64) -> Self {
        Self {
            seed,
            latency: None,
            loss: 0.0,
            resend_micros: four_milliseconds(),
            notice_micros: ten_milliseconds(),
            grace_micros: forty_milliseconds(),
            patience_micros: patience(),
            crashes: Vec::new(),
            suspicions: Vec::new(),
            outages: Vec::new(),
            partitions: Vec::new(),
            disks: Vec::new(),
            deviants: Vec::new(),
            random: None,
        }
    }

    /// The same with peers called otherwise.
    ///
    /// # Errors
    /// The first that `name` has.
    pub fn renamed<Q, E>(
        &self,
        mut name: impl FnMut(&P) -> Result<Q, E>,
    ) -> Result<FaultSchedule<Q>, E> {
        let mut renamed = FaultSchedule {
            seed: self.seed,
            latency: self.latency,
            loss: self.loss,
            resend_micros: self.resend_micros,
            notice_micros: self.notice_micros,
            grace_micros: self.grace_micros,
            patience_micros: self.patience_micros,
            random: self.random,
            ..FaultSchedule::none(self.seed)
        };
        for crash in &self.crashes {
            renamed.crashes.push(Crash {
                peer: name(&crash.peer)?,
                after: crash.after,
                at: crash.at,
                restart_micros: crash.restart_micros,
            });
        }
        for suspicion in &self.suspicions {
            renamed.suspicions.push(Suspicion {
                micros: suspicion.micros,
                by: name(&suspicion.by)?,
                of: name(&suspicion.of)?,
                after_crash_of: suspicion
                    .after_crash_of
                    .as_ref()
                    .map(&mut name)
                    .transpose()?,
            });
        }
        for outage in &self.outages {
            renamed.outages.push(Outage {
                from_micros: outage.from_micros,
                until_micros: outage.until_micros,
                link: (name(&outage.link.0)?, name(&outage.link.1)?),
            });
        }
        for partition in &self.partitions {
            renamed.partitions.push(Partition {
                from_micros: partition.from_micros,
                until_micros: partition.until_micros,
                side: partition
                    .side
                    .iter()
                    .map(&mut name)
                    .collect::<Result<_, _>>()?,
            });
        }
        for disk in &self.disks {
            renamed.disks.push(FailingDisk {
                peer: name(&disk.peer)?,
                after: disk.after,
            });
        }
        for deviant in &self.deviants {
            renamed.deviants.push(Deviates {
                peer: name(&deviant.peer)?,
                release: deviant.release,
                turn: deviant.turn,
                how: deviant.how,
                error: deviant.error,
            });
        }
        Ok(renamed)
    }

    /// Refuses what no run can make anything of, before anything is computed from it.
    ///
    /// # Errors
    /// [`ScheduleError`] naming the key.
    pub fn check(&self) -> Result<(), ScheduleError> {
        for (key, found) in [
            ("crash", self.crashes.len()),
            ("suspicion", self.suspicions.len()),
            ("outage", self.outages.len()),
            ("partition", self.partitions.len()),
            ("disk", self.disks.len()),
            ("deviant", self.deviants.len()),
        ] {
            if found > MOST_LISTED {
                return Err(ScheduleError::TooMany { key, found });
            }
        }
        if i64::try_from(self.seed).is_err() {
            return Err(ScheduleError::Seed { found: self.seed });
        }
        // Written so that NaN is refused too.
        if !(0.0..=MOST_LOSS).contains(&self.loss) {
            return Err(ScheduleError::Probability {
                key: "loss",
                found: self.loss,
                most: MOST_LOSS,
            });
        }
        for deviant in &self.deviants {
            let (release, error) = (deviant.release, deviant.error);
            if release == 0 || !error.is_finite() {
                return Err(ScheduleError::Deviant { release, error });
            }
        }
        let latency = self.latency.map_or(0, Latency::scale_micros);
        let restarts = self.crashes.iter().filter_map(|crash| crash.restart_micros);
        let suspicions = self.suspicions.iter().map(|one| one.micros);
        let outages = self.outages.iter();
        let outages = outages.map(|one| ("outage", one.from_micros, one.until_micros));
        let partitions = self.partitions.iter();
        let partitions = partitions.map(|one| ("partition", one.from_micros, one.until_micros));
        let intervals: Vec<_> = outages.chain(partitions).collect();
        let times = [
            ("latency", latency, 0),
            ("resend_micros", self.resend_micros, 1),
            ("notice_micros", self.notice_micros, 0),
            ("grace_micros", self.grace_micros, 1),
            ("patience_micros", self.patience_micros, 1),
        ];
        let times = times.into_iter();
        let times = times.chain(restarts.map(|time| ("crash.restart_micros", time, 0)));
        let times = times.chain(suspicions.map(|time| ("suspicion.micros", time, 0)));
        let ends = |(key, from, until): &(&'static str, u64, Option<u64>)| {
            [(*key, *from, 0), (*key, until.unwrap_or(*from), 0)]
        };
        for (key, found, least) in times.chain(intervals.iter().flat_map(ends)) {
            if !(least..=MOST_MICROS).contains(&found) {
                return Err(ScheduleError::Micros { key, found, least });
            }
        }
        for (key, from, until) in intervals {
            if let Some(until) = until
                && until <= from
            {
                return Err(ScheduleError::Interval { key, from, until });
            }
        }
        self.random.map_or(Ok(()), |random| random.check())
    }

    /// How many things are listed that go wrong.
    #[must_use]
    pub fn listed(&self) -> usize {
        self.crashes.len()
            + self.suspicions.len()
            + self.outages.len()
            + self.partitions.len()
            + self.disks.len()
    }

    /// Whether a peer may crash, be given up or deviate under this schedule, by what it lists or by chance.
    #[must_use]
    pub fn may_lose(&self) -> bool {
        let drawn = self.random.is_some() || self.loss > 0.0;
        drawn || self.listed() > 0 || !self.deviants.is_empty()
    }

    /// The same without the entries at these places of all that are listed, in the order of the lists.
    pub(super) fn without(&self, places: Range<usize>) -> Self
    where
        P: Clone,
    {
        let mut less = self.clone();
        let mut place = 0;
        // Places count on from list to list.
        let mut stays = || {
            place += 1;
            !places.contains(&(place - 1))
        };
        less.crashes.retain(|_| stays());
        less.suspicions.retain(|_| stays());
        less.outages.retain(|_| stays());
        less.partitions.retain(|_| stays());
        less.disks.retain(|_| stays());
        less
    }
}

impl FaultSchedule {
    /// Refuses peers and links that a session with these links does not have, besides what [`Self::check`] refuses.
    ///
    /// # Errors
    /// [`ScheduleError`].
    pub fn check_for(&self, peers: usize, links: &[(u32, u32)]) -> Result<(), ScheduleError> {
        self.check()?;
        let is_link = |u: u32, v: u32| links.binary_search(&(u.min(v), u.max(v))).is_ok();
        let crashes = self.crashes.iter().map(|one| ("crash", one.peer));
        let disks = self.disks.iter().map(|one| ("disk", one.peer));
        let sides = self.partitions.iter().flat_map(|one| &one.side);
        let sides = sides.map(|peer| ("partition", *peer));
        let provoking = self.suspicions.iter().filter_map(|one| one.after_crash_of);
        let provoking = provoking.map(|peer| ("suspicion.after_crash_of", peer));
        let deviants = self.deviants.iter().map(|one| ("deviant", one.peer));
        let named = crashes.chain(disks).chain(sides).chain(provoking);
        for (key, peer) in named.chain(deviants) {
            if peer as usize >= peers {
                return Err(ScheduleError::NoPeer { key, peer, peers });
            }
        }
        let suspicions = self.suspicions.iter();
        let suspicions = suspicions.map(|one| ("suspicion", (one.by, one.of)));
        let outages = self.outages.iter().map(|one| ("outage", one.link));
        for (key, (u, v)) in suspicions.chain(outages) {
            if !is_link(u, v) {
                return Err(ScheduleError::NoLink { key, u, v });
            }
        }
        self.random
            .map_or(Ok(()), |random| random.check_for(peers, links.len()))
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

fn four_milliseconds() -> u64 {
    4_000
}

fn ten_milliseconds() -> u64 {
    10_000
}

fn forty_milliseconds() -> u64 {
    40_000
}

fn patience() -> u64 {
    300_000
}
