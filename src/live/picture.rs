//! What is true of a run now, as browsers are shown it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::engine::Standing;
use crate::vocabulary::{PeerIndex, ReleaseId};

/// Lines about peers that are kept; older ones are counted.
pub(super) const MOST_LINES: usize = 200;

/// Releases whose figures are kept.
const MOST_RELEASES: usize = 10_000;

/// How the run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Phase {
    /// The engine computes.
    #[default]
    Running,
    /// The engine is done; what it is compared with is computed.
    Measuring,
    /// All is written.
    Done,
    /// It ended without a result.
    Failed,
}

/// One release that all peers have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ReleaseLine {
    pub(super) release: u32,
    pub(super) iteration: u32,
    /// Largest standard deviation of the noise on a coordinate of the sum.
    pub(super) sigma: f64,
    /// How far the worst peer's sum is from the sum, relative to it.
    pub(super) disagreement: Option<f64>,
    /// Sine of the largest angle between this basis and the one before; absent for the first.
    pub(super) change: Option<f64>,
    /// Bytes that all peers have sent by now, as planned.
    pub(super) bytes: u64,
}

/// Something that happened to a peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Line {
    /// Virtual time in microseconds, where there is one.
    pub(super) micros: u64,
    pub(super) text: String,
}

/// The latest lines, and how many there were.
#[derive(Clone, Debug, Default)]
pub(super) struct Happened {
    lines: VecDeque<Line>,
    /// Lines that were there, with those that are not kept.
    pub(super) count: u64,
}

impl Happened {
    pub(super) fn push(&mut self, micros: u64, text: String) {
        self.count += 1;
        if self.lines.len() >= MOST_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(Line { micros, text });
    }

    pub(super) fn lines(&self) -> Vec<Line> {
        self.lines.iter().cloned().collect()
    }
}

/// What the documents say in the end, in the words of `summary.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Final {
    pub(super) epsilon: Option<f64>,
    pub(super) delta: f64,
    pub(super) relative_error: Option<f64>,
    pub(super) subspace_error: Option<f64>,
    /// The largest angle to the exact eigenvectors in degrees, if a leading direction was missed.
    pub(super) missed_angle: Option<f64>,
    pub(super) iterations: u32,
    pub(super) messages: u64,
    pub(super) bytes_total: u64,
    pub(super) bytes_max_peer: u64,
    pub(super) max_disagreement: f64,
    pub(super) crashes: Option<u64>,
    pub(super) restarts: Option<u64>,
}

/// Everything that changes.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Picture {
    pub(super) phase: Phase,
    /// Units of work that are done, of how many.
    pub(super) done: u64,
    pub(super) total: u64,
    /// Virtual time in microseconds.
    pub(super) micros: u64,
    pub(super) paused: bool,
    /// One letter per peer: see [`letter`].
    pub(super) peers: String,
    /// The last release that each peer has published in or has; empty where peers are too many to be drawn.
    pub(super) reached: Vec<u32>,
    pub(super) releases: Vec<ReleaseLine>,
    pub(super) lines: Vec<Line>,
    /// Lines that were there, with those that are not kept.
    pub(super) happened: u64,
    /// Why it failed.
    pub(super) error: Option<String>,
    pub(super) last: Option<Final>,
}

/// How a peer is drawn: waiting, published, released, finished, down, back, excluded.
fn letter(standing: Standing) -> u8 {
    match standing {
        Standing::Published(_) => b'p',
        Standing::Released(_) => b'r',
        Standing::Finished => b'f',
        Standing::Crashed | Standing::DiskFailed => b'd',
        Standing::Restarted => b'b',
        Standing::GaveUp(_) | Standing::WentOn => b'v',
        Standing::Ended => b'x',
    }
}

/// The state behind the lock.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) phase: Phase,
    pub(super) letters: Vec<u8>,
    pub(super) reached: Vec<u32>,
    pub(super) releases: Vec<ReleaseLine>,
    pub(super) happened: Happened,
    pub(super) error: Option<String>,
    pub(super) last: Option<Final>,
}

/// Whether the engine may go on.
#[derive(Debug, Default)]
struct Brake {
    /// Steps that may be taken although it is paused.
    steps: u64,
    /// The run is over, or nobody can press a button any more.
    is_released: bool,
}

/// What the run writes and browsers look at.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Counts changes.
    version: AtomicU64,
    done: AtomicU64,
    total: AtomicU64,
    micros: AtomicU64,
    is_paused: AtomicBool,
    state: Mutex<State>,
    brake: Mutex<Brake>,
    pressed: Condvar,
}

/// Nobody panics while holding these for more than an assignment.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn new(peers: usize) -> Self {
        let shared = Self::default();
        lock(&shared.state).letters = vec![b'w'; peers];
        lock(&shared.state).reached = vec![0; peers];
        shared
    }

    /// Counts changes; a browser that has seen this one is sent nothing.
    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    fn changed(&self) {
        self.version.fetch_add(1, Ordering::Release);
    }

    pub(super) fn progress(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        if done >= total {
            let mut state = lock(&self.state);
            if state.phase == Phase::Running {
                state.phase = Phase::Measuring;
            }
        }
        self.changed();
    }

    pub(super) fn write(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state));
        self.changed();
    }

    /// A peer has come so far; what goes wrong with it is a line, too.
    pub(super) fn peer(&self, peer: PeerIndex, standing: Standing, name: impl Fn(usize) -> String) {
        let u = peer.index();
        let micros = self.micros.load(Ordering::Relaxed);
        let mut state = lock(&self.state);
        if let Some(place) = state.letters.get_mut(u) {
            // Whoever is given up by another, or goes on, is in no other state than before.
            if !matches!(standing, Standing::GaveUp(_) | Standing::WentOn) {
                *place = letter(standing);
            }
        }
        let text = match standing {
            Standing::Published(ReleaseId(release)) | Standing::Released(ReleaseId(release)) => {
                if let Some(reached) = state.reached.get_mut(u) {
                    *reached = (*reached).max(release);
                }
                None
            }
            Standing::Finished => None,
            Standing::Crashed => Some(format!("{} crashed", name(u))),
            Standing::DiskFailed => Some(format!("the disk of {} failed", name(u))),
            Standing::Restarted => Some(format!("{} started again", name(u))),
            Standing::GaveUp(other) => Some(format!(
                "{} gave up its link to {}",
                name(u),
                name(other.index())
            )),
            Standing::WentOn => Some(format!("{} went on with those who are left", name(u))),
            Standing::Ended => Some(format!("{} ended without a result", name(u))),
        };
        if let Some(text) = text {
            state.happened.push(micros, text);
        }
        drop(state);
        self.changed();
    }

    pub(super) fn release(&self, line: ReleaseLine) {
        self.write(|state| {
            if state.releases.len() < MOST_RELEASES {
                state.releases.push(line);
            }
        });
    }

    /// What is true now.
    pub(super) fn picture(&self) -> Picture {
        let state = lock(&self.state);
        Picture {
            phase: state.phase,
            done: self.done.load(Ordering::Relaxed),
            total: self.total.load(Ordering::Relaxed),
            micros: self.micros.load(Ordering::Relaxed),
            paused: self.is_paused.load(Ordering::Relaxed),
            peers: state
                .letters
                .iter()
                .map(|&letter| char::from(letter))
                .collect(),
            reached: state.reached.clone(),
            releases: state.releases.clone(),
            lines: state.happened.lines(),
            happened: state.happened.count,
            error: state.error.clone(),
            last: state.last.clone(),
        }
    }

    /// Something is about to happen at this time: waits while the run is paused.
    pub(super) fn step(&self, micros: u64) {
        self.micros.store(micros, Ordering::Relaxed);
        if !self.is_paused.load(Ordering::Relaxed) {
            return;
        }
        self.changed();
        let mut brake = lock(&self.brake);
        while self.is_paused.load(Ordering::Relaxed) && brake.steps == 0 && !brake.is_released {
            brake = self
                .pressed
                .wait(brake)
                .unwrap_or_else(PoisonError::into_inner);
        }
        brake.steps = brake.steps.saturating_sub(1);
    }

    pub(super) fn pause(&self) {
        self.is_paused.store(true, Ordering::Relaxed);
        self.changed();
    }

    pub(super) fn go_on(&self) {
        self.is_paused.store(false, Ordering::Relaxed);
        self.press(|_| ());
    }

    /// Lets so many things happen while it is paused.
    pub(super) fn allow(&self, steps: u64) {
        self.press(|brake| brake.steps = brake.steps.saturating_add(steps).min(1_000_000));
    }

    /// Nobody can press a button any more: the run goes on.
    pub(super) fn release_brake(&self) {
        self.is_paused.store(false, Ordering::Relaxed);
        self.press(|brake| brake.is_released = true);
    }

    fn press(&self, change: impl FnOnce(&mut Brake)) {
        change(&mut lock(&self.brake));
        self.pressed.notify_all();
        self.changed();
    }
}
