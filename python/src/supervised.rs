//! Work beside the interpreter: on a thread of its own, without the interpreter lock, stopped by Ctrl-C.
//!
//! The thread that called waits. Twenty times a second it lets Python look for signals and tells the caller's callback how far the work
//! is, so that callbacks run where the caller is and never in a thread of the library. Whatever they raise stops the work: the flag is
//! set, and the work unwinds where it next reports.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use undertone::engine::{Observer, ReleaseRecord};

use crate::failure::Failure;

/// Between two looks at signals.
const TICK: Duration = Duration::from_millis(50);

/// How long stopped work is waited for before it is left to end by itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// The stack of a worker, as large as that of a main thread.
const STACK: usize = 16 << 20;

/// How far the work is, and whether it is to stop.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    done: AtomicU64,
    total: AtomicU64,
    stop: AtomicBool,
}

/// What the work unwinds with when it is told to stop.
struct Stopped;

impl Watch {
    /// Notes that so much is done.
    pub(crate) fn tell(&self, done: u64, total: u64) {
        self.total.store(total, Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
        self.pass();
    }

    /// Ends the work here if it is to stop. The panic hook is not run: nothing went wrong.
    pub(crate) fn pass(&self) {
        if self.stop.load(Ordering::Relaxed) {
            panic::resume_unwind(Box::new(Stopped));
        }
    }

    fn now(&self) -> (u64, u64) {
        let total = self.total.load(Ordering::Relaxed);
        (self.done.load(Ordering::Relaxed).min(total), total)
    }
}

/// A watch as the engines know it.
pub(crate) struct Watching(pub(crate) Arc<Watch>);

impl Observer for Watching {
    fn released(&mut self, _: &ReleaseRecord) {
        self.0.pass();
    }

    fn progress(&mut self, done: u64, total: u64) {
        self.0.tell(done, total);
    }
}

/// How work ended: with its result, or by unwinding.
type Ended<T> = Result<Result<T, Failure>, Box<dyn Any + Send>>;

/// Does this work, telling `progress`, if there is one, `(done, total)`.
///
/// # Errors
/// Those of the work; what Python raised meanwhile, such as `KeyboardInterrupt`; `RuntimeError` after a fork and for a defect of the library.
pub(crate) fn supervised<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Arc<Watch>) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    refuse_forks()?;
    let watch = Arc::new(Watch::default());
    let (sender, mut receiver) = mpsc::channel();
    let watched = Arc::clone(&watch);
    let worker = thread::Builder::new()
        .name("undertone".to_owned())
        .stack_size(STACK);
    worker.spawn(move || {
        let ended = panic::catch_unwind(AssertUnwindSafe(|| work(&watched)));
        // Nobody listens where the caller has left.
        drop(sender.send(ended));
    })?;
    let mut told = (0, 0);
    loop {
        let (back, ended) = py.detach(move || wait(receiver, TICK));
        receiver = back;
        match ended {
            Ok(ended) => {
                let result = result_of(ended)?;
                tell(progress, &watch, &mut told)?;
                return Ok(result);
            }
            Err(RecvTimeoutError::Timeout) => {
                let asked = py
                    .check_signals()
                    .and_then(|()| tell(progress, &watch, &mut told));
                if let Err(raised) = asked {
                    watch.stop.store(true, Ordering::Relaxed);
                    py.detach(move || leave::<T>(receiver));
                    return Err(raised);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Err(defect("its thread ended")),
        }
    }
}

fn wait<T: Send>(
    receiver: Receiver<Ended<T>>,
    longest: Duration,
) -> (Receiver<Ended<T>>, Result<Ended<T>, RecvTimeoutError>) {
    let ended = receiver.recv_timeout(longest);
    (receiver, ended)
}

/// Waits for stopped work as long as it is worth it.
fn leave<T: Send>(receiver: Receiver<Ended<T>>) {
    let since = Instant::now();
    let mut receiver = receiver;
    while since.elapsed() < PATIENCE {
        let (back, ended) = wait(receiver, TICK);
        receiver = back;
        if !matches!(ended, Err(RecvTimeoutError::Timeout)) {
            return;
        }
    }
}

fn result_of<T>(ended: Ended<T>) -> PyResult<T> {
    match ended {
        Ok(result) => Ok(result?),
        Err(payload) => {
            let words = payload
                .downcast_ref::<&str>()
                .map(|words| (*words).to_owned());
            let words = words.or_else(|| payload.downcast_ref::<String>().cloned());
            Err(defect(&words.unwrap_or_default()))
        }
    }
}

fn defect(words: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "a defect of undertone, not of what it was given; please report it: {words}"
    ))
}

/// Calls the callback if there is news.
fn tell(progress: Option<&Bound<'_, PyAny>>, watch: &Watch, told: &mut (u64, u64)) -> PyResult<()> {
    let now = watch.now();
    if let Some(callback) = progress
        && now != *told
    {
        *told = now;
        callback.call1(now)?;
    }
    Ok(())
}

/// Threads that compute do not survive a fork: whoever forked after they were started would wait for ever.
fn refuse_forks() -> PyResult<()> {
    static FIRST: AtomicU32 = AtomicU32::new(0);
    let own = std::process::id();
    let first = FIRST
        .compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed)
        .unwrap_or_else(|first| first);
    if first == 0 || first == own {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(
        "undertone was used before this process was forked, and its threads do not survive that: start processes with \
         multiprocessing.set_start_method(\"spawn\"), or \"forkserver\"",
    ))
}
