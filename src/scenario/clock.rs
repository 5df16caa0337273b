//! How long the parts of an experiment take.

use std::collections::BTreeMap;
use std::time::Instant;

/// Times parts of a run.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    pub(crate) seconds: BTreeMap<&'static str, f64>,
}

impl Clock {
    pub(crate) fn time<T>(&mut self, part: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        *self.seconds.entry(part).or_default() += start.elapsed().as_secs_f64();
        result
    }
}
