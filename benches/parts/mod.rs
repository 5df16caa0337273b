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
    let [best] = best_in_turns(repetitions, [&mut || drop(std::hint::black_box(work()))]);
    best
}

/// The shortest of `repetitions` timings of each piece of work, in seconds, all of them taking turns: what
/// the machine's other tenants do strikes them alike.
pub(crate) fn best_in_turns<const N: usize>(
    repetitions: usize,
    mut work: [&mut dyn FnMut(); N],
) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    for _ in 0..repetitions {
        for (best, work) in best.iter_mut().zip(&mut work) {
            let start = Instant::now();
            work();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best
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
