//! Time as this process has lived it: what it spent waiting for a processor, or stopped, is not held against others.
//!
//! Whoever was not running has read nothing, whatever was sent to it, and would take everybody for silent at once. So how long others have been silent or away is measured
//! with this clock, which advances by what a task that wakes up every few milliseconds notices, and by little where it wakes up late: a process that gets a tenth of the
//! processor it needs waits ten times as long before it gives anybody up. It says nothing of how others fare: their own starvation is what the grace is for.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How often the clock is looked at.
const TICK: Duration = Duration::from_millis(50);

/// What counts at most between two looks.
const MOST: Duration = Duration::from_millis(100);

/// The clock of one process.
#[derive(Debug)]
pub(super) struct Awake {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    counted: Duration,
    at: Instant,
}

impl Default for Awake {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                counted: Duration::ZERO,
                at: Instant::now(),
            }),
        }
    }
}

impl Awake {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long this process has run since the clock was made.
    pub(super) fn now(&self) -> Duration {
        let state = self.state();
        state.counted + state.at.elapsed().min(MOST)
    }

    /// Keeps the clock going for as long as it is polled.
    pub(super) async fn keep(&self) {
        loop {
            sleep(TICK).await;
            let mut state = self.state();
            let now = Instant::now();
            let passed = now.duration_since(state.at).min(MOST);
            *state = State {
                counted: state.counted + passed,
                at: now,
            };
        }
    }

    /// Waits until this process has run for so long since the clock was made.
    pub(super) async fn until(&self, time: Duration) {
        loop {
            let left = time.saturating_sub(self.now());
            if left.is_zero() {
                return;
            }
            sleep(left).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn a_process_that_does_not_run_does_not_age() {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let awake = Arc::new(Awake::default());
            let kept = Arc::clone(&awake);
            tokio::spawn(async move { kept.keep().await });
            sleep(Duration::from_millis(300)).await;
            let before = awake.now();
            // Late by as much as a busy machine makes it, and not by the whole of it.
            assert!(before >= Duration::from_millis(30), "{before:?}");
            assert!(before <= Duration::from_secs(3), "{before:?}");
            // The only thread of this runtime is not there for two seconds.
            std::thread::sleep(Duration::from_secs(2));
            let after = awake.now();
            assert!(after - before <= MOST, "{before:?} {after:?}");
            sleep(Duration::from_millis(60)).await;
            let later = awake.now();
            assert!(later - before < Duration::from_millis(600), "{later:?}");
            let began = Instant::now();
            awake.until(later + Duration::from_millis(250)).await;
            assert!(awake.now() >= later + Duration::from_millis(250));
            assert!(began.elapsed() >= Duration::from_millis(240));
        });
    }
}
