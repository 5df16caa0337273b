//! Numbers of the errata page about private matrix completion.

use std::f64::consts::SQRT_2;

use nalgebra::{DMatrix, DVector};

use crate::privacy::bisection::crossing;
use crate::privacy::{Budget, Calibration, Delta, Epsilon, calibrate, gaussian};

/// δ of their experiments.
fn million() -> Delta {
    Delta::new(1e-6).expect("a probability")
}

/// σ/L² of Algorithm 1 for T steps at ε.
fn sigma(steps: u32, epsilon: f64) -> f64 {
    let budget = Budget::new(epsilon, million().get()).expect("valid");
    let printed = calibrate(Calibration::JainThakkarThakurta, budget, steps - 1);
    4.0 * printed.expect("in range").z()
}

/// The exact ε of T steps labelled `epsilon`, where a user's change moves the first release by `first` L² and the others by `later` L².
fn spent(steps: u32, epsilon: f64, first: f64, later: f64) -> f64 {
    let squares = first * first + f64::from(steps - 2) * later * later;
    gaussian::epsilon(squares.sqrt() / sigma(steps, epsilon), million())
}

/// The largest ε up to which T steps keep it for neighbours that replace a row.
fn replaced_to(steps: u32) -> f64 {
    let within = |epsilon| spent(steps, epsilon, SQRT_2, 4.0 * SQRT_2) <= epsilon;
    crossing(1.0, within).0
}

/// 16√(Γ ln(2/δ)), σ/L² of Algorithm 2 at ε = 1.
fn oja(inner: f64) -> f64 {
    16.0 * (inner * (2.0_f64.ln() - million().ln())).sqrt()
}

/// F after T steps of 1/T from 0 without noise on Y* = uvᵀ, all of it seen, over F at the start; and ‖Y‖_nuc.
fn constant_step(steps: u32) -> (f64, f64) {
    let unit = |count: usize, at: f64| {
        DVector::from_fn(count, |i, _| ((i as f64 + 1.0) * at).sin()).normalize()
    };
    let truth = unit(5, 0.7) * unit(4, 1.3).transpose();
    let mut y = DMatrix::zeros(5, 4);
    let eta = f64::from(steps).recip();
    for _ in 0..steps {
        let residual = &y - &truth;
        let parts = residual.tr_mul(&residual).symmetric_eigen();
        let top = parts.eigenvalues.imax();
        let right = parts.eigenvectors.column(top).into_owned();
        let left = (residual * &right).normalize();
        y = y * (1.0 - eta) - left * right.transpose() * eta;
    }
    let error = (&y - &truth).norm_squared() / truth.norm_squared();
    (error, y.singular_values().sum())
}

/// The curvature of F over the ball, attained from −s to s: 2(F(s) − F(−s) − ⟨2s, ∇F(−s)⟩) in units of k²/|Ω|.
fn curvature() -> f64 {
    let truth = DMatrix::from_fn(5, 4, |i, j| ((3 * i + j) as f64).cos());
    let s = DVector::from_element(5, 0.2_f64.sqrt()) * DVector::from_element(4, 0.5).transpose();
    let f = |y: &DMatrix<f64>| 0.5 * (y - &truth).norm_squared();
    let gradient = -&s - &truth;
    2.0 * (f(&s) - f(&-&s) - (&s * 2.0).dot(&gradient))
}

/// The most that one rating of a row of norm at most 10 moves rᵀr by, over 10², where ratings are within ±5 of the mean and one changes by 5.
fn one_rating() -> f64 {
    let moved = |old: f64| {
        let new = old - 5.0;
        let rest = 100.0 - old.abs().max(new.abs()).powi(2);
        let (a, b) = (
            DVector::from_vec(vec![old, rest.sqrt()]),
            DVector::from_vec(vec![new, rest.sqrt()]),
        );
        (&a * a.transpose() - &b * b.transpose()).norm() / 100.0
    };
    (0..=1000)
        .map(|k| moved(0.005 * f64::from(k)))
        .fold(0.0, f64::max)
}

/// ‖y‖ over ‖y*‖ after ten steps y ← y − ½(y* − y) from 0, the printed sign.
fn wrong_sign() -> f64 {
    (0..10).fold(0.0, |y: f64, _| y - 0.5 * (1.0 - y)).abs()
}

pub(super) fn numbers() -> Vec<(&'static str, f64)> {
    let (left, nuclear) = constant_step(400);
    let from = (1..100).find(|&steps| constant_step(steps).0 > 2.0 / f64::from(steps));
    let (a, b) = (
        DVector::from_vec(vec![2.0, 0.0]),
        DVector::from_vec(vec![0.0, 2.0]),
    );
    let replaced = (&a * a.transpose() - &b * b.transpose()).norm();
    let log = -million().ln();
    let one = gaussian::mu(Epsilon::new(1.0).expect("positive"), million());
    // Γ products and an eigenvalue in each of fifty calls, 4L² each.
    let calls = (50.0_f64 * 21.0).sqrt() * 4.0 / oja(20.0);
    let limit = crossing(1.0, |epsilon| {
        gaussian::epsilon(epsilon / (2.0 * log).sqrt(), million()) <= epsilon
    });
    vec![
        ("jtt-noise", sigma(10, 1.0)),
        ("jtt-noise-ratio", sigma(10, 1.0) * one / 10.0_f64.sqrt()),
        ("jtt-start-left", left),
        ("jtt-start-bound", 2.0 / 400.0),
        ("jtt-start-nuclear", nuclear),
        ("jtt-start-from", f64::from(from.expect("some"))),
        ("jtt-curvature", curvature()),
        ("jtt-replace", replaced),
        ("jtt-replace-limit", limit.0),
        ("jtt-replace-10", replaced_to(10)),
        ("jtt-replace-20", replaced_to(20)),
        ("jtt-replace-50", replaced_to(50)),
        ("jtt-replace-5", spent(5, 2.0 * log, SQRT_2, 4.0 * SQRT_2)),
        ("jtt-hypothesis", 2.0 * log),
        ("jtt-two-steps", spent(2, 1.0, 1.0, 4.0)),
        ("jtt-oja-100", gaussian::epsilon(10.0, million())),
        ("jtt-oja-400", gaussian::epsilon(20.0, million())),
        ("jtt-oja-900", gaussian::epsilon(30.0, million())),
        ("jtt-oja-noise", oja(20.0)),
        ("jtt-oja-ratio", oja(20.0) * one / 21.0_f64.sqrt()),
        ("jtt-oja-step", 20.0 / 20.0_f64.sqrt()),
        ("jtt-oja-composed", gaussian::epsilon(calls, million())),
        ("jtt-gradient", wrong_sign().powi(2)),
        ("jtt-entry", one_rating()),
        ("jtt-entry-claimed", 1.0 / 80.0),
    ]
}

/// The closed forms behind the recursions.
#[test]
fn what_is_iterated_is_what_is_stated() {
    for steps in [1_u32, 7, 16, 60] {
        let kept = (1.0 - f64::from(steps).recip()).powi(steps as i32);
        let (left, nuclear) = constant_step(steps);
        assert!((left - kept * kept).abs() < 1e-12, "{steps}");
        assert!((nuclear - (1.0 - kept)).abs() < 1e-12, "{steps}");
    }
    assert!((wrong_sign() - (1.5_f64.powi(10) - 1.0)).abs() < 1e-10);
    assert!((oja(20.0) / 272.551_513_701_986_27 - 1.0).abs() < 1e-10);
    assert!((sigma(10, 1.0) / 94.031_520_019_071_98 - 1.0).abs() < 1e-10);
    // For a user that is there or not the printed condition is right.
    for steps in [2, 5, 50] {
        let log = -million().ln();
        assert!(spent(steps, 2.0 * log, 1.0, 4.0) < 2.0 * log);
    }
}
