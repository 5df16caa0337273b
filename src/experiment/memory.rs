//! What a run will need, before it is killed for it.

use super::config::EngineKind;
use super::error::ExperimentError;
use super::resolve::Experiment;
use crate::vocabulary::CHUNK;

/// Refuses a run that needs more memory than the machine has free, where the system tells.
pub(super) fn check(experiment: &Experiment) -> Result<(), ExperimentError> {
    let needed = predicted_bytes(experiment);
    match free_bytes() {
        Some(free) if needed > free => Err(ExperimentError::Memory {
            needed: needed >> 20,
            free: free >> 20,
            peers: experiment.topology.graph().nodes(),
            items: experiment.user_rows.dimension(),
            rank: experiment.config.algorithm.rank,
        }),
        _ => Ok(()),
    }
}

/// A lower estimate of a run's largest arrays.
///
/// Every engine with peers holds each peer's block; lockstep adds two buffers of one chunk per thread,
/// event and swarm about what is in flight: a peer's own block, its predecessor, the input and the sum
/// kept for the record, and up to two blocks per neighbour, shared with their senders.
fn predicted_bytes(experiment: &Experiment) -> u64 {
    let peers = experiment.topology.graph().nodes() as u64;
    let algorithm = experiment
        .config
        .algorithm
        .build(experiment.user_rows.dimension());
    let (height, width) = algorithm.shape();
    let values = (height as u64).saturating_mul(width as u64);
    let block = values.saturating_mul(8);
    let blocks = match experiment.config.engine.kind {
        EngineKind::Central | EngineKind::Federated => return block.saturating_mul(8),
        // A few arrays of one block per probe and one more.
        EngineKind::Analytic => {
            return block.saturating_mul(4 * (experiment.config.engine.probes as u64 + 1) + 4);
        }
        EngineKind::Lockstep => {
            let threads = rayon::current_num_threads() as u64;
            // Algorithms with memory keep their last sums and queries at every peer while the next sums are made.
            let kept = if algorithm.is_memoryless() {
                0
            } else {
                let before = experiment.config.algorithm.iterations.saturating_sub(1);
                u64::from(before).saturating_mul(2).saturating_mul(block)
            };
            let block = block.saturating_add(kept);
            let chunk = 8 * values.min(CHUNK as u64) * 2 * threads;
            return peers.saturating_mul(block.saturating_add(chunk));
        }
        EngineKind::Event => 6,
        // In-process links and Noise hold frames of their own; measured, see the benchmark tables.
        EngineKind::Swarm => 12,
    };
    peers.saturating_mul(block).saturating_mul(blocks)
}

/// Memory the system could give, from Linux's memory information; `None` elsewhere.
fn free_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
