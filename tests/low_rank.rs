//! What a run of the power method says beside its basis: a low-rank approximation with its bound, and a theorem about its noise.

use undertone::engine::Silent;
use undertone::protocol::averaging::AveragingKind;
use undertone::run::{output, run};

use crate::support::experiments::{CASES, experiment, files};

/// Every topology, little noise and much: the deterministic bound holds, and the factors are what was released.
#[test]
fn the_low_rank_bound_holds_in_every_run_and_the_factors_are_written() {
    for (case, epsilon) in [(0, "0.1"), (2, "1"), (3, "10"), (5, "1000")] {
        let set = [
            "algorithm.output=low-rank",
            "algorithm.rank=4",
            "algorithm.iterations=4",
            "evaluation.diagnostics=true",
            &format!("privacy.epsilon={epsilon}"),
        ];
        let loud = experiment(CASES[case], AveragingKind::Tree, &set);
        let report = run(&loud, &mut Silent).expect("runs");
        let bounds = &report.summary.utility.bounds;
        let found = bounds.low_rank.expect("measured");
        assert!(
            found.holds && found.error <= found.bound,
            "{epsilon}: {found:?}"
        );
        // Not vacuous: no approximation of this rank is perfect, and one with little noise is near the best.
        assert!(
            found.error > 0.0 && found.best > 0.0 && found.best < 1.0,
            "{found:?}"
        );
        if epsilon == "1000" {
            assert!(found.error < 3.0 * found.best, "{found:?}");
        }
        let theorem = bounds.noisy_power.expect("measured");
        assert!(
            theorem.noise_ratio > 0.0 && theorem.contraction > 0.0,
            "{theorem:?}"
        );
        let promised = theorem.noise_ratio < 0.5 && theorem.start_ratio <= 1.0;
        assert_eq!(theorem.applies, promised);
        let folder = tempfile::tempdir().expect("a temporary folder");
        output::write(folder.path(), loud.config(), &report, true).expect("writable");
        let written = files(folder.path(), ".npy");
        assert_eq!(written["low-rank-left.npy"], written["trace/basis-3.npy"]);
        assert_eq!(written["low-rank-right.npy"], written["trace/sum-4.npy"]);
        // A later run without them leaves none behind.
        let plain = experiment(CASES[case], AveragingKind::Tree, &["algorithm.rank=4"]);
        let report = run(&plain, &mut Silent).expect("runs");
        assert_eq!(report.summary.utility.bounds.low_rank, None);
        output::write(folder.path(), plain.config(), &report, false).expect("writable");
        assert!(!files(folder.path(), ".npy").contains_key("low-rank-left.npy"));
    }
}
