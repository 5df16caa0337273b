//! What the memory plan predicts, against what child processes take.

use std::path::Path;

use serde_json::Value;
use undertone::scenario::{Experiment, MEMORY_FACTOR, MemoryPlan};

use crate::support::command::undertone;
use crate::support::{repository, skipped};

/// Shapes whose largest part differs: the process, the state of all peers, chunks under way, peers' blocks; and one whose peers
/// all hold the same sum, which would be ten times as large if each held its own.
const SHAPES: [&str; 5] = [
    "algorithm.iterations=1",
    "data.items=2000 algorithm={kind=\"power\",rank=12,iterations=1} averaging={scheme=\"chebyshev\",rounds=2}",
    "data.items=100 algorithm={kind=\"power\",rank=10,iterations=1} averaging={scheme=\"chebyshev\",rounds=2}",
    "engine.kind=event peers.count=60 data.items=3000 algorithm={kind=\"power\",rank=12,iterations=2} averaging={scheme=\"chebyshev\",rounds=4}",
    "data.items=300 algorithm={kind=\"covariance\",rank=4,iterations=1} averaging={scheme=\"tree\"}",
];

#[test]
fn the_plan_predicts_the_peak_of_a_child_process_within_its_factor() {
    if !Path::new("/proc/self/status").exists() {
        skipped("this system does not tell a process's peak memory");
        return;
    }
    for shape in SHAPES {
        let set: Vec<String> = shape.split(' ').map(str::to_owned).collect();
        let sim = repository("tests/power.toml");
        let plan = MemoryPlan::of(&Experiment::load(&sim, &set).expect("valid"));
        let out = tempfile::tempdir().expect("a temporary folder");
        let folder = out.path().display().to_string();
        let mut arguments = vec!["run", "tests/power.toml", "--quiet", "--out", &folder];
        for change in &set {
            arguments.extend(["--set", change]);
        }
        let finished = undertone(&arguments);
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        let summary = std::fs::read(out.path().join("summary.json")).expect("written");
        let summary: Value = serde_json::from_slice(&summary).expect("JSON");
        let measured = summary["timing"]["peak_memory_bytes"]
            .as_f64()
            .expect("Linux tells");
        let ratio = plan.total() as f64 / measured;
        assert!(
            (1.0 / MEMORY_FACTOR..=MEMORY_FACTOR).contains(&ratio),
            "{shape}: predicted {} of {} MiB measured, {:?}",
            plan.total() >> 20,
            measured as u64 >> 20,
            plan.parts()
        );
    }
}
