//! The observer that keeps the picture of a run up to date.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::picture::{Final, Phase, ReleaseLine, Shared};
use crate::engine::{Observer, ReleaseRecord, Session, Standing, Transcript};
use crate::linalg::{Block, subspace_distance};
use crate::run::metrics::missed_angle;
use crate::run::summary::Summary;
use crate::vocabulary::{PeerIndex, ReleaseId, Round, Time};

/// How often the share of the work that is done is written at most.
const PROGRESS_EVERY: Duration = Duration::from_millis(10);

/// Passes everything on to another observer and shows it.
pub struct Watching<'a> {
    inner: &'a mut dyn Observer,
    shared: Arc<Shared>,
    session: Session,
    /// The basis before.
    basis: Option<Arc<Block>>,
    releases: usize,
    told: Option<Instant>,
    /// Calls since the clock was looked at.
    calls: u32,
}

impl<'a> Watching<'a> {
    pub(super) fn new(inner: &'a mut dyn Observer, shared: Arc<Shared>, session: Session) -> Self {
        Self {
            inner,
            shared,
            session,
            basis: None,
            releases: 0,
            told: None,
            calls: 0,
        }
    }
}

impl Observer for Watching<'_> {
    fn wants_transcript(&self) -> bool {
        self.inner.wants_transcript()
    }

    fn transcript(&mut self, transcript: Transcript<'_>) {
        self.inner.transcript(transcript);
    }

    fn wants_rounds(&self) -> bool {
        self.inner.wants_rounds()
    }

    fn round(&mut self, release: ReleaseId, round: Round, spread: f64) {
        self.inner.round(release, round, spread);
    }

    fn released(&mut self, record: &ReleaseRecord) {
        self.releases += 1;
        let before = self.basis.replace(Arc::clone(&record.basis));
        let bytes = self
            .session
            .public()
            .communication(self.releases, false)
            .bytes_total;
        self.shared.release(ReleaseLine {
            release: record.release.0,
            iteration: record.iteration.0,
            sigma: record.sigmas.iter().copied().fold(0.0, f64::max),
            disagreement: record.consensus.map(|consensus| consensus.disagreement),
            change: before.map(|before| subspace_distance(&record.basis, &before)),
            bytes,
        });
        self.shared.write(|state| {
            // Engines without machines of their own for peers do not tell how far each is.
            for (letter, reached) in state.letters.iter_mut().zip(&mut state.reached) {
                if *reached < record.release.0 && matches!(letter, b'w' | b'p' | b'r') {
                    (*letter, *reached) = (b'r', record.release.0);
                }
            }
        });
        self.inner.released(record);
    }

    fn progress(&mut self, done: u64, total: u64) {
        self.calls += 1;
        // A look at the clock costs more than a message; many messages are looked at together.
        if self.calls >= 64 || done >= total {
            self.calls = 0;
            let is_due = self.told.is_none_or(|at| at.elapsed() >= PROGRESS_EVERY);
            if is_due || done >= total {
                self.told = Some(Instant::now());
                self.shared.progress(done, total);
            }
        }
        self.inner.progress(done, total);
    }

    fn peer(&mut self, peer: PeerIndex, standing: Standing) {
        let graph = self.session.graph();
        self.shared.peer(peer, standing, |u| graph.printed(u));
        self.inner.peer(peer, standing);
    }

    fn step(&mut self, now: Time) {
        self.shared.step(now.0 / 1_000);
        self.inner.step(now);
    }
}

/// All is written: what the documents say.
pub(super) fn conclude(shared: &Shared, summary: &Summary) {
    let fired = summary.faults.as_ref().map(|faults| &faults.fired);
    let last = Final {
        epsilon: summary.privacy.epsilon,
        delta: summary.privacy.delta,
        relative_error: summary.utility.relative_error,
        subspace_error: summary.utility.subspace_error,
        missed_angle: summary.utility.subspace_error.and_then(missed_angle),
        iterations: summary.iterations,
        messages: summary.communication.messages,
        bytes_total: summary.communication.bytes_total,
        bytes_max_peer: summary.communication.bytes_max_peer,
        max_disagreement: summary.consensus.max_disagreement,
        crashes: fired.map(|fired| fired.crashes),
        restarts: fired.map(|fired| fired.restarts),
    };
    shared.write(|state| {
        for letter in &mut state.letters {
            if matches!(*letter, b'w' | b'p' | b'r') {
                *letter = b'f';
            }
        }
        state.last = Some(last);
        state.phase = Phase::Done;
    });
}
