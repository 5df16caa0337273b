//! Peers agree as well as the tolerance says, measured against the noise that protects them.

use undertone::engine::Silent;
use undertone::protocol::averaging::AveragingKind;
use undertone::run::run;
use undertone::run::summary::ConsensusSummary;
use undertone::scenario::Experiment;

use crate::support::experiments::{CASES, experiment};

fn consensus(experiment: &Experiment) -> ConsensusSummary {
    run(experiment, &mut Silent)
        .expect("runs")
        .summary
        .consensus
}

/// The largest error of a peer's sum over the norm of the noise in it that `tolerance` implies.
///
/// # Claim
/// tolerance · s · √(1 + d̄σ_Δ²/σ_η²), up to the factor 2 below.
///
/// # Proof
/// Rounds that shrink the spread by the tolerance leave a peer's mean within tolerance · ‖x⁰ − x̄‖_F, its sum
/// within s times that. The noise in the inputs has E‖x⁰ − x̄‖² ≤ s·np·Δ²(σ_η² + d̄σ_Δ²), and the noise in the
/// sum has E‖·‖² = s·np·Δ²σ_η². The quotient of the roots is the claim. The factor 2 covers the local
/// products, whose spread on these cases is below that of the noise (asserted), and what chance adds to
/// two norms of at least 120 coordinates (below a half with probability 1 − 1e-6; the seed is fixed).
fn implied(experiment: &Experiment, tolerance: f64) -> f64 {
    let graph = experiment.noise_topology().graph();
    let peers = graph.nodes() as f64;
    let mean_degree = 2.0 * graph.edges() as f64 / peers;
    let ratio = experiment.noise().sigma_pairwise() / experiment.noise().sigma_own();
    2.0 * tolerance * peers * (1.0 + mean_degree * ratio * ratio).sqrt()
}

/// Whether the peers of a run that ended like this are as close as `tolerance` implies.
fn are_close(experiment: &Experiment, found: &ConsensusSummary, tolerance: f64) -> bool {
    let relative = found.relative_to_noise.expect("there is noise");
    relative <= implied(experiment, tolerance)
}

#[test]
fn peers_agree_within_what_the_tolerance_implies_on_every_topology() {
    for case in CASES {
        for (scheme, tolerance) in case.with_tolerances(&[1e-10, 1e-7, 1e-4]) {
            let set = format!("averaging.tolerance={tolerance:e}");
            let experiment = experiment(case, scheme, &[&set]);
            let found = consensus(&experiment);
            let about = format!("{}, {scheme:?}, {tolerance:e}: {found:?}", case.name);
            assert!(found.contraction <= tolerance, "{about}");
            assert!(
                found.max_disagreement > 0.0 || case.name == "complete-10" || scheme.is_exact(),
                "{about}"
            );
            assert!(found.max_disagreement <= found.guaranteed, "{about}");
            assert!(are_close(&experiment, &found, tolerance), "{about}");
        }
    }
}

#[test]
fn the_guarantee_is_not_idle() {
    // A bound far above what happens would pass anything: somewhere it is met within a factor of 100.
    let tightest = CASES
        .iter()
        .map(|&case| {
            let found = consensus(&experiment(
                case,
                AveragingKind::Linear,
                &["averaging.tolerance=1e-6"],
            ));
            found.guaranteed / found.max_disagreement
        })
        .fold(f64::INFINITY, f64::min);
    assert!((1.0..100.0).contains(&tightest), "{tightest}");
}

#[test]
fn averaging_that_stops_early_breaks_the_implication() {
    for case in CASES.iter().filter(|case| case.name != "complete-10") {
        for scheme in AveragingKind::recurrences() {
            let short = experiment(*case, scheme, &["averaging.rounds=3"]);
            let found = consensus(&short);
            let about = format!("{}, {scheme:?}", case.name);
            assert!(!are_close(&short, &found, 1e-4), "{about}");
            // The guarantee that goes with three rounds holds all the same: it claims less.
            assert!(found.max_disagreement <= found.guaranteed);
            assert!(found.contraction > 1e-4);
        }
    }
}

#[test]
fn engines_with_one_copy_disagree_with_nobody() {
    for kind in ["central", "federated"] {
        let set = format!("engine.kind={kind}");
        let experiment = experiment(CASES[2], AveragingKind::Chebyshev, &[&set]);
        assert_eq!(consensus(&experiment).max_disagreement, 0.0);
    }
}

/// Values f32: what peers hold differs from the exact sum by at most what averaging guarantees and rounding adds.
#[test]
fn rounding_to_singles_stays_within_its_bound_and_far_below_the_noise() {
    for case in CASES {
        let all = case.with_tolerances(&[1e-10]);
        for (scheme, tolerance) in all.filter(|(scheme, _)| !scheme.passes_mass()) {
            let tolerance = format!("averaging.tolerance={tolerance:e}");
            let doubles = consensus(&experiment(case, scheme, &[&tolerance]));
            let set = [tolerance.as_str(), "averaging.values=f32"];
            let found = consensus(&experiment(case, scheme, &set));
            let about = format!("{}, {scheme:?}: {found:?}", case.name);
            let rounding = found.rounding.expect("a bound");
            assert!(doubles.rounding.is_none(), "{doubles:?}");
            assert!(rounding.is_finite() && rounding > 0.0, "{about}");
            assert!(found.max_disagreement <= found.guaranteed, "{about}");
            // All peers of an exact scheme hold what the schedule makes of the inputs, rounding included.
            assert!(
                found.max_disagreement == 0.0 || !scheme.is_exact(),
                "{about}"
            );
            let part = found.rounding_relative_to_noise.expect("there is noise");
            assert!(part < 0.01, "{about}");
        }
    }
}
