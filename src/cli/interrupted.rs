//! Noticing that the process is told to end.

#[cfg(feature = "live")]
use std::sync::{Arc, atomic::AtomicBool};

/// Becomes true when the process is told to end, by Ctrl-C or otherwise.
#[cfg(feature = "live")]
pub(super) fn interrupted() -> Arc<AtomicBool> {
    let ends = Arc::default();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Without a handler the signal ends the process, which is what it is for.
        let _ = signal_hook::flag::register(signal, Arc::clone(&ends));
    }
    ends
}

/// Says something when the process is told to end, and lets the signal end it.
#[cfg(unix)]
pub(super) fn say_at_the_end(words: impl Fn() + Send + 'static) {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    // Without a handler the signal ends the process without a word.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else {
        return;
    };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            words();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// There are no such signals here.
#[cfg(not(unix))]
pub(super) fn say_at_the_end(_: impl Fn() + Send + 'static) {}
