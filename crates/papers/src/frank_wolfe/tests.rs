//! Frank–Wolfe against its own statement, written down a second time over whole matrices, and against whoever wants to move it.

use std::f64::consts::SQRT_2;

use nalgebra::{DMatrix, DVector};
use rand::distr::Distribution;
use rand_distr::StandardNormal;

use super::*;
use crate::algorithm::{RatedRows, contribution};
use crate::linalg::start_block;

mod bounds;

const ROWS: RatedRows = RatedRows {
    slots: 30,
    radius: 2.0,
    most_ratings: 7,
    user_centred: true,
};

const TIGHT: FrankWolfeParameters = FrankWolfeParameters {
    rank: 2,
    iterations: 4,
    rows: ROWS,
    local: Local::FrankWolfe {
        nuclear: 20.0,
        step: StepRule::Constant,
    },
    global: Global::Covariance,
    mode: CompletionMode::Tight,
};

fn of(dimension: usize, parameters: FrankWolfeParameters) -> FrankWolfe {
    FrankWolfe {
        dimension,
        parameters,
    }
}

/// Ratings with gaps, explicit zeros among them, and a user without any.
fn rows(users: u32, items: u32) -> SparseRows {
    let mut rows = SparseRows::new(items as usize);
    for u in 0..users {
        let rated = (0..items).filter(|i| u > 0 && (u * 5 + i * i + u * i) % 4 > 0);
        let value = |i: u32| {
            let taste = f64::from(u % 5) - 2.0;
            (taste * (f64::from(i) - 2.5) + f64::from(u * i + u).sin()).trunc() / 2.0
        };
        rows.push_row(rated.map(|i| (i, value(i))))
            .expect("ascending");
    }
    rows
}

/// Symmetric noise of standard deviation σ on the diagonal and σ/√2 off it.
fn noise(n: usize, sigma: f64, number: u64) -> DMatrix<f64> {
    let mut generator = Seed::from_u64(number).generator(Label::Scenario);
    let normal = DMatrix::<f64>::from_fn(n, n, |_, _| {
        let x: f64 = StandardNormal.sample(&mut generator);
        x * sigma
    });
    (&normal + normal.transpose()) * 0.5
}

/// A symmetric matrix in isometric coordinates.
fn isometric_of(matrix: &DMatrix<f64>) -> Vec<f64> {
    let n = matrix.nrows();
    let pairs = (0..n).flat_map(|i| (i..n).map(move |j| (i, j)));
    let value = |(i, j)| {
        if i == j {
            matrix[(i, i)]
        } else {
            SQRT_2 * matrix[(i, j)]
        }
    };
    pairs.map(value).collect()
}

fn start(n: usize) -> PublicState {
    PublicState::new(Arc::new(
        start_block(&Seed::from_u64(3), n, 1).expect("full rank"),
    ))
}

/// The state after so many releases, with noise of standard deviation `sigma` on every coordinate of a sum.
fn run(algorithm: &FrankWolfe, rows: &SparseRows, sigma: f64, releases: usize) -> PublicState {
    let n = algorithm.dimension;
    let mut state = start(n);
    for (number, release) in (1..).zip(&algorithm.program().releases[..releases]) {
        let mut sum = contribution(algorithm, rows, state.history(), release.shape());
        if algorithm.parameters.global == Global::Covariance {
            let noise = isometric_of(&noise(n, sigma, u64::from(number)));
            let values = sum.values_mut().iter_mut();
            values.zip(noise).for_each(|(sum, x)| *sum += x);
        } else {
            let mut generator = Seed::from_u64(u64::from(number)).generator(Label::Scenario);
            for sum in sum.values_mut() {
                let x: f64 = StandardNormal.sample(&mut generator);
                *sum += sigma * x;
            }
        }
        state = algorithm
            .advance(&state, &Arc::new(sum), &[sigma])
            .expect("full rank");
        state.released = number;
        assert!(state.query.orthonormality_defect() < 1e-9);
        let basis = algorithm.estimate(&state);
        assert_eq!(basis.columns(), algorithm.parameters.rank);
        assert!(basis.orthonormality_defect() < 1e-12);
    }
    state
}

/// Algorithm 1 over whole matrices: Y after `moves` steps, with the noise of [`run`].
fn by_matrices(algorithm: &FrankWolfe, rows: &SparseRows, sigma: f64, moves: u32) -> DMatrix<f64> {
    let FrankWolfeParameters {
        rows: RatedRows { radius, .. },
        iterations,
        local,
        mode,
        ..
    } = algorithm.parameters;
    let Local::FrankWolfe { nuclear, step } = local else {
        panic!("a Frank-Wolfe step");
    };
    let (users, n) = (rows.len(), algorithm.dimension);
    let paper = mode == CompletionMode::Paper;
    let unit = if paper { 2.0 * radius } else { radius };
    let mut ratings = DMatrix::<f64>::zeros(users, n);
    let mut seen = DMatrix::<f64>::zeros(users, n);
    for u in 0..users {
        let (items, values) = rows.row(u);
        for (&item, value) in items.iter().zip(values) {
            ratings[(u, item as usize)] = *value;
            seen[(u, item as usize)] = 1.0;
        }
    }
    let shortened = |matrix: &DMatrix<f64>, by: &DMatrix<f64>, most: f64| {
        let mut out = matrix.clone();
        for u in 0..users {
            let norm = by.row(u).norm();
            if norm > most {
                out.row_mut(u).scale_mut(most / norm);
            }
        }
        out
    };
    if paper {
        ratings = shortened(&ratings, &ratings, radius);
    }
    let mut y = DMatrix::<f64>::zeros(users, n);
    for t in 0..moves {
        let residual = (&y - &ratings).component_mul(&seen);
        let short = shortened(&residual, &residual, unit) / unit;
        let sum = short.tr_mul(&short) + noise(n, sigma, u64::from(t) + 1);
        let eigen = sum.symmetric_eigen();
        let top = eigen.eigenvalues.imax();
        let (w, v) = (
            eigen.eigenvalues[top],
            eigen.eigenvectors.column(top).into_owned(),
        );
        let length = if paper {
            let sigma = sigma * unit * unit;
            unit * w.sqrt() + (sigma * (3.0 * n as f64).ln()).sqrt() * (n as f64).powf(0.25)
        } else {
            let edge = SQRT_2 * sigma * (n as f64).sqrt();
            unit * ((w + (w * w - edge * edge).sqrt()) / 2.0).sqrt()
        };
        let eta = match step {
            StepRule::Constant => 1.0 / f64::from(iterations),
            StepRule::Standard => 2.0 / (f64::from(t) + 2.0),
        };
        y = &y * (1.0 - eta) - (&residual * &v) * v.transpose() * (eta * nuclear / length);
        if paper {
            y = shortened(&y, &y.component_mul(&seen), radius);
        }
    }
    y
}

fn completed(algorithm: &FrankWolfe, rows: &SparseRows, state: &PublicState) -> DMatrix<f64> {
    let steps = algorithm.counted(&state.past);
    let completer = FrankWolfeCompleter::new(algorithm.dimension, &algorithm.parameters, steps);
    let mut all = DMatrix::zeros(rows.len(), algorithm.dimension);
    for u in 0..rows.len() {
        let (items, values) = rows.row(u);
        let row = DVector::from_vec(completer.predict(items, values));
        all.row_mut(u).copy_from(&row.transpose());
    }
    all
}

#[test]
fn peers_without_matrices_make_the_moves_of_the_algorithm_over_matrices() {
    let rows = rows(30, 7);
    let standard = Local::FrankWolfe {
        nuclear: 9.0,
        step: StepRule::Standard,
    };
    let paper = FrankWolfeParameters {
        mode: CompletionMode::Paper,
        ..TIGHT
    };
    for (parameters, sigma) in [
        (TIGHT, 0.0),
        (TIGHT, 0.4),
        (
            FrankWolfeParameters {
                local: standard,
                ..TIGHT
            },
            0.4,
        ),
        (paper, 0.0),
        (paper, 0.05),
    ] {
        let algorithm = of(7, parameters);
        let releases = algorithm.program().releases.len();
        let printed = parameters.mode == CompletionMode::Paper;
        // The published loop does nothing in its first step and releases nothing in its last.
        assert_eq!(releases, if printed { 3 } else { 4 });
        let state = run(&algorithm, &rows, sigma, releases);
        assert_eq!(
            algorithm.counted(&state.past).len(),
            releases,
            "{parameters:?}"
        );
        let expected = by_matrices(&algorithm, &rows, sigma, releases as u32);
        let found = completed(&algorithm, &rows, &state);
        let gap = (&found - &expected).norm();
        assert!(
            gap < 1e-8 * expected.norm(),
            "{parameters:?}, {sigma}: {gap}"
        );
        assert!(expected.norm() > 1.0);
        // Who rated nothing is not moved.
        assert_eq!(found.row(0).norm(), 0.0);
    }
}

#[test]
fn every_cut_of_a_release_gives_the_same_bits() {
    let rows = rows(30, 7);
    let products = FrankWolfeParameters {
        global: Global::Power { inner: 3 },
        ..TIGHT
    };
    for (parameters, releases) in [(TIGHT, 2), (products, 4)] {
        let algorithm = of(7, parameters);
        let state = run(&algorithm, &rows, 0.1, releases);
        let (height, width) = algorithm.program().releases[releases].shape();
        let whole = contribution(&algorithm, &rows, state.history(), (height, width));
        let prepared = algorithm.prepare(&rows, state.history());
        for length in [1, 3, 5, 20] {
            let mut cut = vec![0.0; height * width];
            for (k, out) in cut.chunks_mut(length).enumerate() {
                let range = k * length..k * length + out.len();
                algorithm.add_contribution(state.history().release, &rows, &prepared, range, out);
            }
            assert_eq!(cut, whole.values(), "{length}");
        }
    }
}

/// A row replayed from the beginning has the bits of one that was kept and followed step by step.
#[test]
fn a_replayed_row_is_the_one_that_was_kept() {
    let rows = rows(20, 7);
    for mode in [CompletionMode::Tight, CompletionMode::Paper] {
        let algorithm = of(
            7,
            FrankWolfeParameters {
                mode,
                iterations: 6,
                ..TIGHT
            },
        );
        let releases = algorithm.program().releases.len();
        let state = run(&algorithm, &rows, 0.05, releases);
        let directions = FrankWolfe::directions(&state.past);
        for u in 0..rows.len() {
            let (items, values) = rows.row(u);
            let mut kept = Row::new(items, values, &algorithm.parameters);
            for step in 0..=releases {
                let replayed = algorithm.row(items, values, &directions[..step]);
                assert!(kept == replayed, "user {u}, step {step}");
                if let Some(direction) = directions.get(step) {
                    kept.follow(*direction, &algorithm.parameters);
                }
            }
        }
    }
}

/// Y* = k·uvᵀ with all of it seen, F = ‖Y − Y*‖²/(2|Ω|) in units of k²/|Ω|, and ‖Y‖_nuc/k, after T steps without noise.
fn rank_one(steps: u32, step: StepRule) -> (f64, f64) {
    const K: f64 = 100.0;
    let (users, items) = (9, 6);
    let unit = |count: u32, at: f64| {
        let x = DVector::from_fn(count as usize, |i, _| ((i as f64 + 1.0) * at).sin());
        x.normalize()
    };
    let truth = unit(users, 0.7) * unit(items, 1.3).transpose() * K;
    let mut rows = SparseRows::new(items as usize);
    for u in 0..users as usize {
        let row = (0..items).map(|i| (i, truth[(u, i as usize)]));
        rows.push_row(row).expect("ascending");
    }
    let parameters = FrankWolfeParameters {
        iterations: steps,
        rows: RatedRows {
            radius: 1e3,
            ..ROWS
        },
        local: Local::FrankWolfe { nuclear: K, step },
        ..TIGHT
    };
    let algorithm = of(items as usize, parameters);
    let state = run(&algorithm, &rows, 0.0, steps as usize);
    let found = completed(&algorithm, &rows, &state);
    let error = (&found - &truth).norm_squared() / (2.0 * K * K);
    (error, found.singular_values().sum() / K)
}

/// The published bound on F for step 1/T is k²/(|Ω|T). The step forgets nothing of the start, F = ½(1 − 1/T)^{2T} k²/|Ω|, and the bound
/// fails from T = 16 on.
#[test]
fn the_constant_step_keeps_a_part_of_the_start_and_the_standard_one_converges() {
    for steps in [1_u32, 5, 15, 16, 60, 400] {
        let (error, nuclear) = rank_one(steps, StepRule::Constant);
        let kept = (1.0 - f64::from(steps).recip()).powi(steps as i32);
        assert!((error - 0.5 * kept * kept).abs() < 1e-9, "{steps}: {error}");
        assert!((nuclear - (1.0 - kept)).abs() < 1e-9, "{steps}: {nuclear}");
        assert_eq!(
            error > f64::from(steps).recip(),
            steps >= 16,
            "{steps}: {error}"
        );
    }
    let (error, nuclear) = rank_one(400, StepRule::Constant);
    assert!((error - 0.0675).abs() < 5e-5 && (nuclear - 0.63258).abs() < 5e-6);
    let standard: Vec<f64> = [20, 80, 320]
        .into_iter()
        .map(|steps| rank_one(steps, StepRule::Standard).0)
        .collect();
    assert!(
        standard[2] < 1e-5 && standard.is_sorted_by(|a, b| a > b),
        "{standard:?}"
    );
}

#[test]
fn products_find_what_the_matrix_has_and_every_step_starts_anew() {
    let rows = rows(30, 7);
    let covariance = run(&of(7, TIGHT), &rows, 0.0, 1);
    for global in [
        Global::Power { inner: 60 },
        Global::Oja {
            inner: 60,
            step: OjaStep::Theorem,
        },
    ] {
        let algorithm = of(7, FrankWolfeParameters { global, ..TIGHT });
        assert_eq!(algorithm.program().releases.len(), 240);
        let half = run(&algorithm, &rows, 0.0, 59);
        assert!(half.past.is_empty());
        let state = run(&algorithm, &rows, 0.0, 60);
        let (found, expected) = (&state.past[0], &covariance.past[0]);
        let along = dot(found.query.values(), expected.query.values()).abs();
        assert!((along - 1.0).abs() < 1e-9, "{along}");
        for at in [EIGENVALUE, LENGTH] {
            let (found, expected) = (found.sum.values()[at], expected.sum.values()[at]);
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        }
        let second = run(&algorithm, &rows, 0.0, 120);
        assert_eq!(second.past.len(), 2);
        let fresh = following(start(7).query.as_ref(), 1).expect("full rank");
        assert_eq!(*state.query, fresh);
        assert_ne!(*second.query, fresh);
    }
}

/// One step of Oja's method with noise, by hand; the printed step is √Γ smaller than that of the theorem.
#[test]
fn ojas_steps_are_those_of_the_theorem_and_of_print() {
    let (n, inner, sigma) = (4, 16, 0.5);
    let query = Block::from_values(4, 1, vec![1.0, 0.0, 0.0, 0.0]);
    let product = Block::from_values(4, 1, vec![0.0, 3.0, 0.0, 4.0]);
    for (step, eta) in [
        (OjaStep::Theorem, 1.0 / (sigma * 8.0)),
        (OjaStep::Printed, 1.0 / (sigma * 32.0)),
    ] {
        let global = Global::Oja { inner, step };
        let algorithm = of(n, FrankWolfeParameters { global, ..TIGHT });
        let found = algorithm
            .towards(&query, &product, sigma)
            .expect("full rank");
        let norm = (1.0 + 25.0 * eta * eta).sqrt();
        for (found, expected) in found.values().iter().zip([1.0, 3.0 * eta, 0.0, 4.0 * eta]) {
            assert!((found - expected / norm).abs() < 1e-15, "{step:?}");
        }
    }
}

/// w = 5 above an edge of 4 is l = 4, and cos² of the angle 1 − 16/64; below the edge nothing is left.
#[test]
fn predictions_follow_directions_as_far_as_they_are_not_noise() {
    let step = Released {
        release: ReleaseId(1),
        query: Arc::new(Block::from_values(1, 1, vec![1.0])),
        sum: Arc::new(Block::from_values(2, 1, vec![5.0, 3.0])),
        sigmas: [1.0].into(),
    };
    let ridge = FrankWolfeParameters {
        local: Local::Ridge,
        ..TIGHT
    };
    for (parameters, edge, expected) in [
        (TIGHT, 4.0, 4.0),
        (TIGHT, 0.0, 3.0),
        (TIGHT, 6.0, 0.0),
        (ridge, 4.0, 3.0 * 0.75_f64.sqrt()),
        (ridge, 6.0, 0.0),
    ] {
        let steps = std::slice::from_ref(&step);
        let mut completer = FrankWolfeCompleter::new(1, &parameters, steps);
        completer.shrink([edge].into_iter());
        let found = completer.parts().of_directions["length"][0];
        assert!((found - expected).abs() < 1e-12, "{edge}: {found}");
    }
}

/// c from the normal equations, solved another way.
#[test]
fn a_ridge_regression_on_all_directions_is_that_of_its_definition() {
    let rows = rows(30, 7);
    let parameters = FrankWolfeParameters {
        local: Local::Ridge,
        ..TIGHT
    };
    let algorithm = of(7, parameters);
    let state = run(&algorithm, &rows, 0.05, 3);
    let completer = FrankWolfeCompleter::new(7, &parameters, &state.past);
    for u in 0..rows.len() {
        let (items, values) = rows.row(u);
        // Ratings below ridge rows that pull to 0: least squares by a pseudo-inverse.
        let design = DMatrix::from_fn(items.len() + 3, 3, |e, j| match items.get(e) {
            Some(&item) => state.past[j].query.values()[item as usize],
            None if e - items.len() == j => {
                let length = state.past[j].sum.values()[LENGTH];
                (30.0 * 4.0 / (7.0 * length * length)).sqrt()
            }
            None => 0.0,
        });
        let right = DVector::from_fn(items.len() + 3, |e, _| {
            values.get(e).copied().unwrap_or(0.0)
        });
        let inverse = design.pseudo_inverse(1e-14).expect("finite");
        let coefficients = inverse * right;
        let found = completer.predict(items, values);
        for (i, found) in found.iter().enumerate() {
            let terms = (0..3).map(|j| coefficients[j] * state.past[j].query.values()[i]);
            let expected: f64 = terms.sum();
            assert!((found - expected).abs() < 1e-10, "{found} {expected}");
        }
    }
    // No direction at all.
    let none = algorithm.completer(&start(7)).expect("one");
    assert_eq!(none.complete(&[0, 3], &[1.0, -2.0]), vec![0.0; 7]);
}

/// A completer made again of its parts predicts the same bits; parts that are not those of a run are refused.
#[test]
fn a_completer_is_made_again_of_its_parts() {
    let rows = rows(30, 7);
    let standard = Local::FrankWolfe {
        nuclear: 9.0,
        step: StepRule::Standard,
    };
    for (local, mode) in [
        (TIGHT.local, CompletionMode::Tight),
        (standard, CompletionMode::Tight),
        (Local::Ridge, CompletionMode::Tight),
        (TIGHT.local, CompletionMode::Paper),
    ] {
        let algorithm = of(
            7,
            FrankWolfeParameters {
                local,
                mode,
                ..TIGHT
            },
        );
        let state = run(&algorithm, &rows, 0.05, 3);
        let ours = algorithm.completer(&state).expect("one");
        let again = crate::tests::made_again(&ours.parts()).expect("its own parts");
        for u in 0..rows.len() {
            let (items, values) = rows.row(u);
            assert_eq!(ours.complete(items, values), again.complete(items, values));
        }
        for name in [
            "steps",
            "radius",
            "ridge",
            "published",
            "slots",
            "standard step",
        ] {
            for wrong in [f64::NAN, -1.0, 0.5] {
                let mut parts = ours.parts();
                parts.constants.insert(name.to_owned(), wrong);
                assert!(
                    crate::tests::made_again(&parts).is_err() || (name, wrong) == ("radius", 0.5),
                    "{name}"
                );
            }
            let mut parts = ours.parts();
            parts.constants.remove(name);
            assert!(crate::tests::made_again(&parts).is_err(), "{name}");
        }
        let mut parts = ours.parts();
        parts.of_directions.insert("length".to_owned(), vec![1.0]);
        assert!(crate::tests::made_again(&parts).is_err());
    }
}
