//! How far the peers are apart after every averaging round, collected where that is cheap.

use crate::engine::{Observer, ReleaseRecord, Standing, Transcript};
use crate::protocol::averaging::Form;
use crate::scenario::Experiment;
use crate::scenario::memory::watches_rounds;
use crate::vocabulary::{PeerIndex, ReleaseId, Round, Time};

/// Passes everything on to another observer and keeps the rounds.
pub(super) struct Rounds<'a> {
    inner: &'a mut dyn Observer,
    watch: bool,
    /// Relative spread by release and round, round 0 first.
    pub(super) collected: Vec<Vec<f64>>,
}

impl<'a> Rounds<'a> {
    pub(super) fn of(experiment: &Experiment, inner: &'a mut dyn Observer) -> Self {
        Self {
            inner,
            watch: watches_rounds(experiment),
            collected: Vec::new(),
        }
    }
}

impl Observer for Rounds<'_> {
    fn wants_transcript(&self) -> bool {
        self.inner.wants_transcript()
    }

    fn transcript(&mut self, transcript: Transcript<'_>) {
        self.inner.transcript(transcript);
    }

    fn wants_rounds(&self) -> bool {
        self.watch || self.inner.wants_rounds()
    }

    fn round(&mut self, release: ReleaseId, round: Round, spread: f64) {
        if self.watch {
            let index = release.index();
            if self.collected.len() <= index {
                self.collected.resize(index + 1, Vec::new());
            }
            self.collected[index].push(spread);
        }
        if self.inner.wants_rounds() {
            self.inner.round(release, round, spread);
        }
    }

    fn released(&mut self, record: &ReleaseRecord) {
        self.inner.released(record);
    }

    fn progress(&mut self, done: u64, total: u64) {
        self.inner.progress(done, total);
    }

    fn peer(&mut self, peer: PeerIndex, standing: Standing) {
        self.inner.peer(peer, standing);
    }

    fn step(&mut self, now: Time) {
        self.inner.step(now);
    }
}

/// The factors by which 0, 1, …, K averaging rounds shrink the spread at least, for any start. None where a schedule
/// promises nothing before its end.
pub(super) fn contractions(experiment: &Experiment) -> Vec<f64> {
    if !matches!(experiment.schedule().form(), Form::Recurrence(_)) {
        return Vec::new();
    }
    let scheme = experiment.config().averaging.scheme;
    let bounds = experiment.mixing_bounds();
    (0..=experiment.rounds())
        .filter_map(|round| scheme.contraction(bounds, round).ok())
        .collect()
}
