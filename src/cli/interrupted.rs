//! Noticing that the process is told to end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Becomes true when the process is told to end, by Ctrl-C or otherwise.
pub(super) fn interrupted() -> Arc<AtomicBool> {
    let ends = Arc::default();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Without a handler the signal ends the process, which is what it is for.
        let _ = signal_hook::flag::register(signal, Arc::clone(&ends));
    }
    ends
}
