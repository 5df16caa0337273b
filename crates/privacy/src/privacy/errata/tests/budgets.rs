//! Numbers of the errata page about calibration.

use std::f64::consts::SQRT_2;

use crate::privacy::bisection::crossing;
use crate::privacy::{Budget, Calibration, Delta, Epsilon, calibrate, gaussian, zcdp};

fn delta(value: f64) -> Delta {
    Delta::new(value).expect("a probability")
}

/// μ of all iterations under P1's noise for (ε, δ).
fn paper_mu(epsilon: f64, delta: f64) -> f64 {
    noise(Calibration::Paper, epsilon, delta).1
}

/// Noise multiplier and total μ at L = 3.
fn noise(calibration: Calibration, epsilon: f64, delta: f64) -> (f64, f64) {
    let budget = Budget::new(epsilon, delta).expect("valid");
    let calibrated = calibrate(calibration, budget, 3).expect("in range");
    (calibrated.z(), calibrated.mu_total())
}

/// The exact ε spent where P1's label is `label`.
fn spent(label: f64, at: f64) -> f64 {
    gaussian::epsilon(paper_mu(label, at), delta(at))
}

/// The largest ε for which P1's noise stays within ε by the exact curve.
fn valid_to(at: f64) -> f64 {
    crossing(1.0, |epsilon| {
        gaussian::delta(epsilon, paper_mu(epsilon, at)) <= at
    })
    .0
}

pub(super) fn numbers() -> Vec<(&'static str, f64)> {
    let million = delta(1e-6);
    let log = -million.ln();
    let limit = crossing(1.0, |epsilon| {
        let rho = 0.5 * paper_mu(epsilon, 1e-6).powi(2);
        zcdp::bun_steinke_epsilon(rho, million) <= epsilon
    });
    let small = 1e-9;
    // HR: T rounds of noise 2√(4T ln(1/δ))/ε.
    let hr_rho = small * small / (32.0 * log);
    // Rounds at ε√(ln(2/δ)/(T ln(1/δ))) each, composed to √(2T ln(1/δ′)) of that.
    let hr_round = ((log + 2.0_f64.ln()) / log).sqrt();
    let (rank, iterations) = (32.0, 3.0);
    let bdwy = |four: f64, inner: f64| four * (inner * rank * iterations * log).sqrt();

    let p1 = |epsilon, delta| SQRT_2 * noise(Calibration::Paper, epsilon, delta).0;
    let here = |epsilon, delta| noise(Calibration::Analytic, epsilon, delta).0;
    let outside = paper_mu(1.0, 1e-6);
    let allowed = gaussian::mu(Epsilon::new(1.0).expect("positive"), million);
    vec![
        ("limit-claimed", 4.0 * log),
        ("limit-factor", limit.0 / log),
        (
            "counterexample-delta",
            gaussian::delta(50.0, paper_mu(50.0, 1e-6)),
        ),
        ("counterexample-epsilon", spent(50.0, 1e-6)),
        ("valid-to-1e-5", valid_to(1e-5)),
        ("valid-to-1e-6", valid_to(1e-6)),
        ("valid-to-1e-8", valid_to(1e-8)),
        ("valid-to-1e-12", valid_to(1e-12)),
        ("label-100", spent(100.0, 1e-6)),
        ("label-300", spent(300.0, 1e-6)),
        ("label-1000", spent(1000.0, 1e-6)),
        ("hr-composed", (2.0 * log).sqrt() * hr_round),
        (
            "hr-actual",
            zcdp::bun_steinke_epsilon(hr_rho, million) / small,
        ),
        ("bdwy-ratio", bdwy(4.0, 1.0) / bdwy(1.0, 4.0)),
        ("noise-p1-1", p1(1.0, 1e-6)),
        ("noise-here-1", here(1.0, 1e-6)),
        ("noise-ratio-1", p1(1.0, 1e-6) / here(1.0, 1e-6)),
        ("noise-p1-5", p1(5.0, 1e-5)),
        ("noise-here-5", here(5.0, 1e-5)),
        ("noise-ratio-5", p1(5.0, 1e-5) / here(5.0, 1e-5)),
        ("own-noise-none", gaussian::epsilon(outside, million)),
        // s/(s − t) = 2: μ grows by √2.
        (
            "own-noise-half",
            gaussian::epsilon(outside * SQRT_2, million),
        ),
        ("own-noise-broken", 1.0 - (outside / allowed).powi(2)),
    ]
}

#[test]
fn the_counterexample_satisfies_the_hypothesis_of_theorem_3_2() {
    let million = 1e-6;
    assert!(50.0 <= -4.0 * delta(million).ln());
    assert!(gaussian::delta(50.0, paper_mu(50.0, million)) > 14.0 * million);
    // Within the corrected limit nothing is overspent, at any δ.
    for at in [1e-2, 1e-5, 1e-8, 1e-12, 1e-100] {
        let epsilon = (8.0 - 4.0 * SQRT_2) * -delta(at).ln();
        assert!(spent(epsilon, at) < epsilon);
        assert!(valid_to(at) > epsilon);
    }
}
