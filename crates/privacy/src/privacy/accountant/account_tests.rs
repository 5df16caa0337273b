//! The accountant against the shared vectors, against plain dense arithmetic, and against itself.

use nalgebra::DMatrix;
use rand::{Rng, RngExt};

use super::*;
use crate::privacy::PrivacyError;
use crate::privacy::testing::accounting_vectors;
use crate::topology::Graph;
use crate::vocabulary::{Label, Seed};

fn graph(nodes: usize, edges: &[(u32, u32)]) -> Graph {
    Graph::from_edges(nodes, edges).expect("a simple graph")
}

fn random(rng: &mut impl Rng, n: u32, probability: f64) -> Graph {
    let mut edges = Vec::new();
    for u in 0..n {
        for v in u + 1..n {
            if rng.random::<f64>() < probability {
                edges.push((u, v));
            }
        }
    }
    graph(n as usize, &edges)
}

fn with(engine: Engine, gap: f64) -> AccountOptions {
    AccountOptions {
        gap,
        engine,
        ..AccountOptions::default()
    }
}

/// [Σ_H⁻¹]_uu of every honest peer by eigen-decomposition-free, plain elimination in the same double precision.
fn plainly(covariance: &NoiseCovariance, coalition: &[u32]) -> Vec<Option<f64>> {
    let n = covariance.peers();
    let honest: Vec<usize> = (0..n)
        .filter(|u| !coalition.contains(&(*u as u32)))
        .collect();
    let position = |v: u32| honest.iter().position(|&u| u == v as usize);
    let mut matrix = DMatrix::zeros(honest.len(), honest.len());
    for (i, &u) in honest.iter().enumerate() {
        matrix[(i, i)] += covariance.own()[u];
        for (v, weight) in covariance.partners(u) {
            if let Some(j) = position(v) {
                matrix[(i, i)] += weight;
                matrix[(i, j)] -= weight;
            }
        }
    }
    let inverse = matrix.full_piv_lu().try_inverse().expect("not singular");
    let mut factors = vec![None; n];
    for (i, &u) in honest.iter().enumerate() {
        factors[u] = Some(inverse[(i, i)]);
    }
    factors
}

#[test]
fn every_shared_vector_is_met_by_both_engines() {
    for row in accounting_vectors("every_shared_vector_is_met_by_both_engines")
        .into_iter()
        .flatten()
    {
        let covariance =
            NoiseCovariance::uniform(&row.graph, row.own, row.pairwise).expect("valid");
        for engine in [Engine::Dense, Engine::Quadrature] {
            let found = account(&covariance, &row.coalition, with(engine, 1e-11)).expect("valid");
            let bracket = found.brackets[row.peer].expect("honest");
            assert!(
                bracket.contains(row.factor),
                "{engine:?} {bracket:?} {row:?}"
            );
            for end in [bracket.low, bracket.estimate, bracket.high] {
                assert!(
                    (end / row.factor - 1.0).abs() < 1e-10,
                    "{engine:?} {bracket:?} {row:?}"
                );
            }
        }
    }
}

#[test]
fn brackets_always_hold_the_dense_value() {
    let mut rng = Seed::from_u64(71).generator(Label::Scenario);
    let mut checked = 0;
    for trial in 0..250 {
        let n = 2 + trial % 11;
        let (first, second) = (random(&mut rng, n, 0.45), random(&mut rng, n, 0.2));
        let spread = [0.0, 1.0, 6.0][trial as usize % 3];
        let own: Vec<f64> = (0..n)
            .map(|_| libm::exp(spread * (rng.random::<f64>() - 0.5)))
            .collect();
        let pairwise = [0.3, 20.0, 1e4][trial as usize / 3 % 3];
        let covariance =
            NoiseCovariance::new(own, &[(&first, pairwise), (&second, 2.0)]).expect("valid");
        let coalition: Vec<u32> = (1..n).filter(|_| rng.random::<f64>() < 0.2).collect();
        let expected = plainly(&covariance, &coalition);
        for engine in [Engine::Auto, Engine::Dense, Engine::Quadrature] {
            for gap in [1e-10, 1e-2] {
                let found = account(&covariance, &coalition, with(engine, gap)).expect("valid");
                for (bracket, expected) in found.brackets.iter().zip(&expected) {
                    assert_eq!(bracket.is_some(), expected.is_some());
                    let (Some(bracket), Some(expected)) = (bracket, expected) else {
                        continue;
                    };
                    // The plain inverse itself is only good to its condition number.
                    let doubt = 1e-14 * (1.0 + pairwise * 20.0) * expected;
                    assert!(
                        bracket.low - doubt <= *expected && *expected <= bracket.high + doubt,
                        "{engine:?} {gap:e} trial {trial}: {bracket:?} {expected:e}"
                    );
                    // On its own the quadrature may be left with what rounding cost it.
                    let reached = match engine {
                        Engine::Quadrature => 1e-6_f64.max(gap),
                        _ => 1e-9_f64.max(gap),
                    };
                    assert!(
                        bracket.gap() <= reached,
                        "{engine:?} {gap:e} trial {trial}: {bracket:?}"
                    );
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 5000);
}

#[test]
fn a_peer_without_own_noise_hides_behind_the_others() {
    let mut rng = Seed::from_u64(72).generator(Label::Scenario);
    let mut checked = 0;
    for trial in 0..60 {
        let n = 3 + trial % 8;
        let graph = random(&mut rng, n, 0.6);
        let own: Vec<f64> = (0..n)
            .map(|_| f64::from(u8::from(rng.random::<f64>() < 0.5)) * 1.5)
            .collect();
        let covariance = NoiseCovariance::new(own, &[(&graph, 30.0)]).expect("valid");
        let Ok(found) = account(&covariance, &[0], AccountOptions::default()) else {
            // Singular: some component has no own noise at all, and the error says so.
            assert!(matches!(
                account(&covariance, &[0], AccountOptions::default()),
                Err(PrivacyError::PeerNoise { .. })
            ));
            continue;
        };
        for (bracket, expected) in found.brackets.iter().zip(plainly(&covariance, &[0])) {
            if let (Some(bracket), Some(expected)) = (bracket, expected) {
                assert!((bracket.estimate / expected - 1.0).abs() < 1e-10);
                assert!(bracket.low * (1.0 - 1e-11) <= expected);
                assert!(expected <= bracket.high * (1.0 + 1e-11) && bracket.gap() < 1e-9);
                checked += 1;
            }
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn slow_graphs_get_wide_brackets_or_the_dense_inverse_but_never_wrong_ones() {
    let path = |n: u32| graph(n as usize, &(1..n).map(|v| (v - 1, v)).collect::<Vec<_>>());
    let star = |n: u32| graph(n as usize, &(1..n).map(|v| (0, v)).collect::<Vec<_>>());
    for (graph, pairwise) in [(path(700), 1e5), (star(700), 1e5), (path(700), 1e-3)] {
        let covariance = NoiseCovariance::uniform(&graph, 2.0, pairwise).expect("valid");
        let exact = account(&covariance, &[], with(Engine::Dense, 1e-9)).expect("valid");
        let quick = account(&covariance, &[], with(Engine::Quadrature, 1e-9)).expect("valid");
        for (exact, quick) in exact
            .brackets
            .iter()
            .flatten()
            .zip(quick.brackets.iter().flatten())
        {
            assert!(
                quick.low <= exact.high && exact.low <= quick.high,
                "{quick:?} {exact:?}"
            );
        }
        let found = account(&covariance, &[], with(Engine::Auto, 1e-6)).expect("valid");
        assert_eq!((found.engine, found.steps), (Engine::Sparse, 0));
        assert!(found.gap() <= 1e-11, "{:e}", found.gap());
        for (exact, found) in exact.brackets.iter().zip(&found.brackets) {
            let (exact, found) = (exact.expect("honest"), found.expect("honest"));
            assert!((exact.estimate / found.estimate - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn options_that_mean_nothing_are_refused_and_the_worst_peer_is_named() {
    let g = graph(4, &[(0, 1), (0, 2), (0, 3)]);
    let covariance = NoiseCovariance::uniform(&g, 1.0, 10.0).expect("valid");
    let good = AccountOptions::default();
    for bad in [
        AccountOptions { gap: 0.0, ..good },
        AccountOptions {
            gap: f64::NAN,
            ..good
        },
        AccountOptions {
            connectivity: -1.0,
            ..good
        },
        AccountOptions {
            connectivity: f64::NAN,
            ..good
        },
        AccountOptions { steps: 0, ..good },
    ] {
        assert!(matches!(
            account(&covariance, &[], bad),
            Err(PrivacyError::Parameter { .. })
        ));
    }
    let found = account(&covariance, &[], good).expect("valid");
    assert_eq!(found.worst().map(|(peer, _)| peer), Some(1));
    let split = account(&covariance, &[0], good).expect("valid");
    assert!(split.brackets[0].is_none() && split.brackets[3].expect("honest").contains(1.0));
    assert_eq!(split.engine, Engine::Dense);
}
