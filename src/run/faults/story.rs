//! What is told of a run with faults.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::cost::squares;
use super::told::{Curve, FaultsSummary, RealisedEpsilon, RealisedRelease};
use crate::config::Publish;
use crate::engine::SessionViews;
use crate::engine::event::faults::{FaultyOutcome, Moment, PeerEnd, Taken};
use crate::privacy::realised::{Realised, RealisedError};
use crate::protocol::regroup::{End, Members, Tolerance};
use crate::scenario::Experiment;
use crate::vocabulary::{PeerIndex, ReleaseId, printed};

/// Most releases whose progress is drawn.
const MOST_CURVES: u32 = 6;

/// How an end is called in documents.
fn words(end: End) -> &'static str {
    match end {
        End::Finished => "finished",
        End::Floor => "too few left",
        End::Excluded => "cut off",
        End::Lost => "out of retries",
        End::Published => "asked to publish twice",
        End::Restarts => "restarted too often",
        End::Missed => "too late",
    }
}

fn name_of(peer: &PeerEnd) -> &'static str {
    match peer.end {
        Some(end) => words(end),
        None if peer.is_up => "waiting",
        None => "crashed",
    }
}

/// What is told of a run.
pub(super) struct Story<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) views: &'a SessionViews,
    pub(super) tolerance: &'a Tolerance,
    pub(super) run: &'a FaultyOutcome,
}

impl Story<'_> {
    fn name(&self, peer: PeerIndex) -> String {
        self.experiment.topology().graph().name(peer.index())
    }

    pub(super) fn realised(&self) -> Option<Realised> {
        let is_private = self.experiment.is_private();
        is_private
            .then(|| self.run.realised(self.views).ok())
            .flatten()
    }

    pub(super) fn summary(
        &self,
        realised: Option<&Realised>,
        control: &FaultyOutcome,
    ) -> FaultsSummary {
        let config = self.experiment.config();
        let dropouts = config.dropouts;
        let publish = dropouts.and_then(|one| one.publish);
        let mut ends = BTreeMap::new();
        for peer in &self.run.peers {
            *ends.entry(name_of(peer)).or_default() += 1;
        }
        let reporter = self.run.reporter();
        let total = |run: &FaultyOutcome| run.sent.iter().map(|sent| sent.total()).sum();
        FaultsSummary {
            tolerate: dropouts.map_or(0, |one| one.tolerate),
            retries: self.tolerance.retries,
            retries_spent: self.run.retries(),
            publish: publish.unwrap_or(Publish::Open),
            why_open: self.experiment.why_open().map(|why| why.to_string()),
            finished: ends.get("finished").copied().unwrap_or(0),
            ends,
            reporter: reporter.map(|peer| self.name(peer)),
            fired: self.run.fired,
            releases: reporter.map_or_else(Vec::new, |peer| self.releases(peer)),
            epsilon: realised
                .and_then(|realised| self.epsilon(realised).ok())
                .flatten(),
            milliseconds: self.run.ended_micros as f64 / 1e3,
            milliseconds_fault_free: control.ended_micros as f64 / 1e3,
            bytes_fault_free: total(control),
            deviants: None,
        }
    }

    fn releases(&self, reporter: PeerIndex) -> Vec<RealisedRelease> {
        let peers = self.run.peers.len();
        let taken = &self.run.peers[reporter.index()].taken;
        let of = |(release, taken): (&ReleaseId, &Taken)| {
            let (then, retries) = &self.run.parts[&taken.attempt];
            let heirs = self.run.heirs.get(&(taken.view.number, taken.attempt));
            let inherited = heirs.into_iter().flatten().map(|heir| self.name(heir.lost));
            let all = Members::all(peers);
            let missing = all.iter().filter(|peer| !then.members.contains(*peer));
            let attempts = self.run.parts.keys();
            let participants = then.members.len();
            RealisedRelease {
                release: release.0,
                attempts: attempts
                    .filter(|attempt| attempt.release == *release)
                    .count(),
                participants,
                missing: missing.map(|peer| self.name(peer)).collect(),
                inherited: inherited.collect(),
                retries: *retries,
                noise: (participants as f64 / peers as f64).sqrt(),
            }
        };
        taken.iter().map(of).collect()
    }

    /// ε of what was promised, planned and realised; `None` without a δ.
    fn epsilon(&self, realised: &Realised) -> Result<Option<RealisedEpsilon>, RealisedError> {
        let experiment = self.experiment;
        let noise = experiment.noise();
        let (Some(delta), Some(promised)) = (experiment.delta(), noise.epsilon()) else {
            return Ok(None);
        };
        let colluders = experiment.config().privacy.colluders;
        let lost = self.run.peers.len() - self.tolerance.floor;
        let spectrum = experiment.noise_topology().spectrum();
        let connectivity = spectrum.algebraic_connectivity.into();
        let found = squares(realised, connectivity, (colluders, lost))?;
        let epsilon = |square: f64| noise.epsilon_of(square.sqrt(), delta);
        Ok(Some(RealisedEpsilon {
            promised,
            planned: epsilon(found.planned),
            realised: epsilon(found.realised),
            is_exact: found.is_exact,
        }))
    }

    pub(super) fn curves(&self) -> Vec<Curve> {
        let end = self.run.ended_micros;
        let curve = |name: String, start: f64, change: &dyn Fn(PeerIndex, Moment) -> f64| {
            let (mut count, mut points) = (start, vec![(0.0, start)]);
            let moments = self
                .run
                .moments
                .iter()
                .filter(|(micros, ..)| *micros <= end);
            for &(micros, peer, moment) in moments {
                let by = change(peer, moment);
                if by != 0.0 {
                    let milliseconds = micros as f64 / 1e3;
                    points.push((milliseconds, count));
                    count += by;
                    points.push((milliseconds, count));
                }
            }
            points.push((end as f64 / 1e3, count));
            Curve { name, points }
        };
        let living = curve(
            "alive".to_owned(),
            self.run.peers.len() as f64,
            &|_, moment| match moment {
                Moment::Crashed | Moment::DiskFailed => -1.0,
                Moment::Restarted => 1.0,
                _ => 0.0,
            },
        );
        let releases = self.views.session().plan().releases().len() as u32;
        let released = (1..=releases.min(MOST_CURVES)).map(|release| {
            // Whoever takes a sum again has it once.
            let seen = RefCell::new(BTreeSet::new());
            let name = format!("has the sum of release {release}");
            curve(name, 0.0, &|peer, moment| {
                let is_new = moment == Moment::Released(ReleaseId(release))
                    && seen.borrow_mut().insert(peer);
                f64::from(u8::from(is_new))
            })
        });
        std::iter::once(living).chain(released).collect()
    }

    pub(super) fn moments(&self) -> Vec<(u64, String, String)> {
        let what = |moment: Moment| match moment {
            Moment::Crashed => "crashed".to_owned(),
            Moment::DiskFailed => "stopped: its disk failed".to_owned(),
            Moment::Restarted => "started again".to_owned(),
            Moment::GaveUp(other) => format!("gave up its link to {}", printed(&self.name(other))),
            Moment::WentOn(view) => format!("goes on in view {}", view.0),
            Moment::Released(release) => format!("has the sum of release {}", release.0),
            Moment::Ended(end) => format!("ended: {}", words(end)),
        };
        let all = self.run.moments.iter();
        all.map(|&(micros, peer, moment)| (micros, self.name(peer), what(moment)))
            .collect()
    }
}
