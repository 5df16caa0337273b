//! The engine's own claims, one by one: orthogonality, floor, rounding, and that a false floor or a wrong
//! deflation would be seen.

mod graphs;
mod hubs;

use nalgebra::{DMatrix, SymmetricEigen};
use rand::{Rng, RngExt};

use super::super::dense;
use super::lanczos::{self, Mode, Start, Workspace};
use super::scalar::Scalar;
use super::*;
use crate::vocabulary::{Label, Seed};
use graphs::Simple;

/// A random connected graph: a tree, more edges, entries of D spread over e^`spread`.
fn sigma(rng: &mut impl Rng, n: u32, extra: f64, spread: f64, pairwise: f64) -> ShiftedLaplacian {
    let mut edges: Vec<(u32, u32)> = (1..n).map(|v| (rng.random_range(0..v), v)).collect();
    for u in 0..n {
        for v in u + 1..n {
            if rng.random::<f64>() < extra {
                edges.push((u, v));
            }
        }
    }
    let own: Vec<f64> = (0..n)
        .map(|_| libm::exp(spread * (rng.random::<f64>() - 0.5)))
        .collect();
    let graph = Simple::new(n as usize, &edges);
    graph.matrices(&own, pairwise, &[]).remove(0)
}

/// 𝓛 of a matrix, densely.
fn laplacian(sigma: &ShiftedLaplacian) -> DMatrix<f64> {
    let n = sigma.len();
    let mut matrix = DMatrix::zeros(n, n);
    for i in 0..n {
        for (j, weight) in sigma.row(i) {
            matrix[(i, i)] += weight / sigma.own[i];
            matrix[(i, j)] -= weight / (sigma.own[i] * sigma.own[j]).sqrt();
        }
    }
    matrix
}

fn second_smallest(matrix: DMatrix<f64>) -> f64 {
    let mut values: Vec<f64> = SymmetricEigen::new(matrix)
        .eigenvalues
        .iter()
        .copied()
        .collect();
    values.sort_by(f64::total_cmp);
    values[1]
}

/// The vectors themselves: each is what a run of one step more leaves behind.
fn vectors<S: Scalar>(
    operator: &Operator<'_, S>,
    u: u32,
    steps: usize,
    mode: Mode,
) -> DMatrix<f64> {
    let n = operator.len();
    let q = nalgebra::DVector::from_fn(n, |i, _| operator.exact_null[i]);
    let mut all = DMatrix::zeros(n, steps + 1);
    let mut first = nalgebra::DVector::zeros(n);
    first[u as usize] = 1.0;
    first -= &q * q[u as usize];
    all.set_column(0, &first.normalize());
    for k in 1..=steps {
        let mut workspace = Workspace::<S, 1>::new(n);
        let found = lanczos::run(
            operator,
            &[Start::unit(operator, u)],
            k,
            mode,
            &mut workspace,
        );
        let beta = found[0].betas[k - 1];
        let mut v = nalgebra::DVector::from_fn(n, |i, _| workspace.last()[i][0].wide() / beta);
        v -= &q * q.dot(&v);
        all.set_column(k, &v);
    }
    all
}

fn orthogonality_holds<S: Scalar>(seed: u64, steps: usize, mode: Mode) {
    let mut rng = Seed::from_u64(seed).generator(Label::Scenario);
    for trial in 0..12 {
        let (n, extra) = (60 + 10 * trial, [0.03, 0.1, 0.4][trial as usize % 3]);
        let sigma = sigma(&mut rng, n, extra, f64::from(trial % 2), 1e3);
        let operator = Operator::<S>::new(&sigma);
        let v = vectors(&operator, 5, steps, mode);
        let mut workspace = Workspace::<S, 1>::new(n as usize);
        let start = [Start::unit(&operator, 5)];
        let found = &lanczos::run(&operator, &start, steps, mode, &mut workspace)[0];
        assert_eq!(found.betas.len(), steps);
        let defects = orthogonality::defects(found);
        for (k, defect) in defects.iter().enumerate() {
            let columns = v.columns(0, k + 1);
            let actual = (columns.transpose() * columns - DMatrix::identity(k + 1, k + 1)).norm();
            assert!(
                actual <= *defect,
                "trial {trial} k {k}: {actual:e} {defect:e}"
            );
        }
        // The recurrence holds up to what it admits to: BV = VT + β_k v_{k+1}e_kᵀ − F.
        let b = laplacian(&sigma) / operator.scale;
        for k in 0..steps {
            let mut rest = &b * v.column(k) - v.column(k) * found.alphas[k];
            rest -= v.column(k + 1) * found.betas[k];
            if k > 0 {
                rest -= v.column(k - 1) * found.betas[k - 1];
            }
            assert!(
                rest.norm() <= found.local,
                "{:e} {:e}",
                rest.norm(),
                found.local
            );
        }
    }
}

#[test]
fn loss_of_orthogonality_and_rounding_stay_below_their_bounds() {
    orthogonality_holds::<f64>(81, 9, Mode::Recurrence);
    orthogonality_holds::<f32>(82, 9, Mode::Recurrence);
    orthogonality_holds::<f64>(85, 25, Mode::Reorthogonal);
    orthogonality_holds::<f32>(86, 12, Mode::Reorthogonal);
}

#[test]
fn the_floor_is_below_the_second_eigenvalue_and_worth_having_on_expanders() {
    let mut rng = Seed::from_u64(83).generator(Label::Scenario);
    let mut useful = 0;
    for trial in 0..60 {
        let (n, extra) = (20 + 5 * trial, [0.02, 0.1, 0.5][trial as usize % 3]);
        let spread = f64::from(trial % 4);
        let sigma = sigma(&mut rng, n, extra, spread, [1.0, 1e5][trial as usize % 2]);
        let operator = Operator::<f32>::new(&sigma);
        let floor = floor::certified::<f32, SINGLE>(&sigma, &operator, 30);
        let truth = (1.0 + second_smallest(laplacian(&sigma))) / operator.scale;
        assert!(floor <= truth, "trial {trial}: {floor} {truth}");
        useful += u32::from(floor > 1e-3 * truth);
    }
    assert!(useful >= 30, "{useful}");
}

fn gap(gap: f64) -> Target {
    Target {
        gap,
        steps: 64,
        connectivity: 0.0,
        reached_only: false,
    }
}

#[test]
fn quadrature_meets_the_dense_inverse_in_both_precisions() {
    let mut rng = Seed::from_u64(84).generator(Label::Scenario);
    for (n, spread, pairwise) in [(300, 0.0, 1e6), (300, 3.0, 1e4), (500, 0.0, 10.0)] {
        let sigma = sigma(&mut rng, n, 0.04, spread, pairwise);
        let exact = dense::inverse_diagonal(&sigma).expect("well conditioned");
        for target in [gap(1e-2), gap(1e-9)] {
            let (found, steps) = inverse_diagonal(&sigma, target).expect("not only if reached");
            for (found, exact) in found.iter().zip(&exact) {
                assert!(
                    found.low <= exact.high && exact.low <= found.high,
                    "{found:?} {exact:?}"
                );
                assert!(found.gap() <= target.gap, "{steps} {found:?}");
            }
        }
        // A known connectivity may only help.
        let known = second_smallest(laplacian(&sigma))
            * sigma.unit
            * 0.9
            * sigma.own.iter().copied().fold(f64::INFINITY, f64::min);
        let target = Target {
            connectivity: known,
            ..gap(1e-6)
        };
        for (found, exact) in inverse_diagonal(&sigma, target)
            .expect("not only if reached")
            .0
            .iter()
            .zip(&exact)
        {
            assert!(found.low <= exact.high && exact.low <= found.high);
        }
    }
}

/// How many of the brackets of `view` after k steps miss the truth.
fn misses(view: &View<'_>, operator: &Operator<'_, f64>, k: usize, exact: &[Bracket]) -> usize {
    let rows: Vec<u32> = (0..exact.len() as u32).collect();
    let found = view.brackets::<f64, DOUBLE>(operator, &rows, k, Mode::Recurrence);
    found
        .iter()
        .zip(exact)
        .filter(|(found, exact)| found.high < exact.low || exact.high < found.low)
        .count()
}

#[test]
fn a_floor_that_is_too_large_or_a_wrong_deflation_is_seen() {
    // Two communities joined by one edge: λ₂ is far below everything else.
    let mut edges = vec![(0_u32, 40_u32)];
    for (start, end) in [(0, 40), (40, 80)] {
        for u in start..end {
            edges.extend(
                (u + 1..end)
                    .filter(|v| (u * v + v) % 3 == 0)
                    .map(|v| (u, v)),
            );
            edges.extend((u + 1 < end).then_some((u, u + 1)));
        }
    }
    let sigma = Simple::new(80, &edges).matrix(50.0, &[]);
    let exact = dense::inverse_diagonal(&sigma).expect("well conditioned");
    let mut operator = Operator::<f64>::new(&sigma);
    let mut view = View::new(&sigma, &operator, 0.0);
    let truth = (1.0 + second_smallest(laplacian(&sigma))) / operator.scale;
    view.floor = truth * (1.0 - 1e-9);
    for k in 1..6 {
        assert_eq!(misses(&view, &operator, k, &exact), 0, "{k}");
    }
    view.floor = 4.0 * truth;
    assert!(misses(&view, &operator, 4, &exact) > 0);
    view.floor = truth * (1.0 - 1e-9);
    operator.exact_null.fill(0.0);
    operator.null.fill(0.0);
    assert!(misses(&view, &operator, 6, &exact) > 0);
}
