//! The parts of the benchmark and what they share.

pub(crate) mod dense;
pub(crate) mod gossip;
pub(crate) mod noise;
pub(crate) mod runs;
pub(crate) mod scaling;
pub(crate) mod sessions;
pub(crate) mod sparse;

use std::time::Instant;

/// The shortest of `repetitions` timings of `work`, in seconds.
pub(crate) fn best_of<T>(repetitions: usize, mut work: impl FnMut() -> T) -> f64 {
    (0..repetitions)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(work());
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

/// Values between −1 and 1 without pattern.
pub(crate) fn values(count: usize) -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        })
        .collect()
}
