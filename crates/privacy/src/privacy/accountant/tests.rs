//! The accountant against exact rationals, against itself, and against its own bounds.

use rand::RngExt;

use super::bounds::{lambda2_bound, star_bound};
use super::refused::check_variances;
use super::single::Exposure;
use super::*;
use crate::privacy::PrivacyError;
use crate::privacy::testing::accounting_vectors;
use crate::topology::Graph;
use crate::vocabulary::{Label, Seed};

fn graph(nodes: usize, edges: &[(u32, u32)]) -> Graph {
    Graph::from_edges(nodes, edges).expect("a simple graph")
}

fn cycle(n: u32) -> Graph {
    let edges: Vec<_> = (0..n)
        .map(|u| (u.min((u + 1) % n), u.max((u + 1) % n)))
        .collect();
    graph(n as usize, &edges)
}

fn complete(n: u32) -> Graph {
    let edges: Vec<_> = (0..n)
        .flat_map(|u| (u + 1..n).map(move |v| (u, v)))
        .collect();
    graph(n as usize, &edges)
}

/// A random graph: a cycle (connected) or nothing, plus edges with the given probability.
fn random(rng: &mut impl rand::Rng, n: u32, probability: f64, connected: bool) -> Graph {
    let mut edges = Vec::new();
    for u in 0..n {
        for v in u + 1..n {
            let ring = v == u + 1 || (u == 0 && v == n - 1);
            if (connected && ring) || rng.random::<f64>() < probability {
                edges.push((u, v));
            }
        }
    }
    graph(n as usize, &edges)
}

fn factor(graph: &Graph, own: f64, pairwise: f64, coalition: &[u32], u: usize) -> f64 {
    exact_variance_factors(graph, own, pairwise, coalition).expect("valid")[u].expect("honest")
}

/// Graph, σ_η², σ_Δ², coalition, u, [Σ_H⁻¹]_uu.
type Case<'a> = (&'a Graph, f64, f64, &'a [u32], usize, f64);

#[test]
fn embedded_rationals_are_met() {
    let star = graph(5, &[(0, 1), (0, 2), (0, 3), (0, 4)]);
    let path = graph(4, &[(0, 1), (1, 2), (2, 3)]);
    let bridge = graph(6, &[(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]);
    let cases: [Case<'_>; 9] = [
        (&complete(5), 1.0, 10.0, &[], 0, 11.0 / 51.0),
        (&complete(5), 1.0, 10.0, &[4], 0, 11.0 / 41.0),
        (&cycle(6), 2.0, 50.0, &[3], 0, 701.0 / 6502.0),
        (&cycle(6), 2.0, 50.0, &[3], 1, 253_513.0 / 2_278_951.0),
        (&path, 1.0, 100.0, &[], 0, 1_060_501.0 / 4_100_601.0),
        (&star, 1.0, 25.0, &[], 1, 751.0 / 3276.0),
        (&star, 1.0, 25.0, &[0], 1, 1.0),
        (&bridge, 1.0, 9.0, &[2], 0, 10.0 / 19.0),
        (&bridge, 1.0, 9.0, &[2], 3, 5.0 / 14.0),
    ];
    for (graph, own, pairwise, coalition, u, expected) in cases {
        let found = factor(graph, own, pairwise, coalition, u);
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }
}

#[test]
fn every_shared_vector_is_met() {
    for row in accounting_vectors("every_shared_vector_is_met")
        .into_iter()
        .flatten()
    {
        let found = factor(&row.graph, row.own, row.pairwise, &row.coalition, row.peer);
        assert!((found / row.factor - 1.0).abs() < 1e-10, "{row:?}");
        let mu = (3.0 * found).sqrt();
        assert!((mu / row.spent.0 - 1.0).abs() < 1e-10, "{row:?}");
        let delta = crate::privacy::Delta::new(1e-6).expect("valid");
        let epsilon = crate::privacy::gaussian::epsilon(mu, delta);
        assert!((epsilon / row.spent.1 - 1.0).abs() < 1e-10, "{row:?}");
    }
}

#[test]
fn enumeration_by_updates_is_enumeration_by_inverses() {
    let mut rng = Seed::from_u64(31).generator(Label::Scenario);
    for trial in 0..60 {
        let n = 2 + trial % 17;
        let g = random(&mut rng, n, 0.3, trial % 3 != 0);
        for (own, pairwise) in [
            (1.0, 0.0),
            (1.0, 3.0),
            (0.5, 1e4),
            (1.0, 1e8),
            (1e-180, 1e-100),
        ] {
            let direct = (0..n)
                .flat_map(|c| exact_variance_factors(&g, own, pairwise, &[c]).expect("valid"))
                .flatten()
                .fold(0.0, f64::max);
            let found = worst_single(&g, own, pairwise)
                .expect("well conditioned")
                .expect("small enough");
            let ratio = found.variance_factor(own) / direct;
            // Never below the truth beyond rounding, never above by more than the stated allowance.
            assert!(
                (1.0 - 1e-13..1.0 + 2e-8).contains(&ratio),
                "{n} {own} {pairwise}: {ratio}"
            );
            let coalition = [found.colluder.expect("one peer")];
            let named = factor(&g, own, pairwise, &coalition, found.peer as usize);
            assert!((named / direct - 1.0).abs() < 1e-7);
        }
    }
}

#[test]
fn the_excess_at_zero_own_noise_is_the_pseudo_inverse() {
    let mut rng = Seed::from_u64(32).generator(Label::Scenario);
    let g = random(&mut rng, 9, 0.3, true);
    let mut laplacian = nalgebra::DMatrix::zeros(9, 9);
    for (u, v) in g.edge_list() {
        let (u, v) = (u as usize, v as usize);
        laplacian[(u, u)] += 1.0;
        laplacian[(v, v)] += 1.0;
        laplacian[(u, v)] -= 1.0;
        laplacian[(v, u)] -= 1.0;
    }
    let pseudo = laplacian.pseudo_inverse(1e-9).expect("a tolerance above 0");
    let expected = (0..9).map(|u| pseudo[(u, u)]).fold(0.0, f64::max);
    let found = enumerate(&g, 0.0, 1.0, false)
        .expect("valid")
        .expect("small")
        .alone[0];
    assert!((found.excess / expected - 1.0).abs() < 2e-8);
}

#[test]
fn bounds_are_never_below_the_exact_value() {
    let mut rng = Seed::from_u64(33).generator(Label::Scenario);
    for trial in 0..40 {
        let n = 4 + trial % 8;
        let g = random(&mut rng, n, 0.5, true);
        let lambda2 = connectivity(&g);
        for pairwise in [0.1, 10.0, 1e5] {
            for mask in 0_u32..1 << n {
                let coalition: Vec<u32> = (0..n).filter(|u| mask >> u & 1 == 1).collect();
                let t = coalition.len();
                if t > 3 || t >= n as usize {
                    continue;
                }
                let bound = lambda2_bound(n as usize - t, lambda2 - t as f64, 1.0, pairwise);
                for (u, v) in exact_variance_factors(&g, 1.0, pairwise, &coalition)
                    .expect("valid")
                    .into_iter()
                    .enumerate()
                {
                    let Some(v) = v else { continue };
                    if lambda2 > t as f64 {
                        assert!(v <= bound * (1.0 + 1e-9), "{v} {bound}");
                    }
                    let star = star_bound(g.degree(u).saturating_sub(t), 1.0, pairwise);
                    assert!(v <= star * (1.0 + 1e-9), "{v} {star}");
                }
            }
        }
    }
    // Both are attained: the λ₂ bound by complete graphs, the star bound at the centre of a star.
    let v = factor(&complete(6), 1.0, 7.0, &[2], 0);
    assert!((lambda2_bound(5, 6.0 - 1.0, 1.0, 7.0) / v - 1.0).abs() < 1e-12);
    let v = factor(&graph(4, &[(0, 1), (0, 2), (0, 3)]), 1.0, 7.0, &[], 0);
    assert!((star_bound(3, 1.0, 7.0) / v - 1.0).abs() < 1e-12);
}

/// The worst variance factor [Σ_H⁻¹]_uu over all coalitions of one peer and all honest u, by enumeration,
/// with own noise of variance σ_η² = `own` and pairwise noise of variance σ_Δ² = `pairwise`.
///
/// `None` beyond [`ENUMERATED_UP_TO`] peers, for graphs too dense to enumerate, and for a graph of one peer.
fn worst_single(graph: &Graph, own: f64, pairwise: f64) -> Result<Option<Exposure>, PrivacyError> {
    check_variances(own, pairwise)?;
    let exposures = enumerate(graph, 1.0, pairwise / own, true)?;
    let found = exposures.and_then(|exposures| worst(&exposures.single?, 1.0));
    Ok(found.map(|exposure| Exposure {
        excess: exposure.excess / own,
        ..exposure
    }))
}

/// λ₂ of a small graph, minus a margin for rounding.
fn connectivity(graph: &Graph) -> f64 {
    crate::privacy::testing::algebraic_connectivity(graph) - 1e-9
}

#[test]
fn coalitions_and_variances_are_validated() {
    let g = cycle(5);
    for bad in [vec![5], vec![1, 1], vec![u32::MAX]] {
        assert!(matches!(
            exact_variance_factors(&g, 1.0, 1.0, &bad),
            Err(PrivacyError::Coalition { .. })
        ));
    }
    for (own, pairwise) in [
        (0.0, 1.0),
        (f64::NAN, 1.0),
        (1.0, -1.0),
        (1.0, f64::INFINITY),
        (1.0, f64::NAN),
        (1e-200, 1.0),
    ] {
        assert!(matches!(
            exact_variance_factors(&g, own, pairwise, &[]),
            Err(PrivacyError::Parameter { .. })
        ));
        assert!(worst_single(&g, own, pairwise).is_err());
    }
    assert!(
        exact_variance_factors(&g, 1.0, 1.0, &[0, 1, 2, 3, 4])
            .expect("valid")
            .iter()
            .all(Option::is_none)
    );
}

#[test]
fn what_is_too_large_or_too_dense_is_left_to_the_bounds() {
    assert_eq!(worst_single(&cycle(2001), 1.0, 1.0), Ok(None));
    assert_eq!(worst_single(&complete(500), 1.0, 1.0), Ok(None));
    assert_eq!(worst_single(&graph(1, &[]), 1.0, 1.0), Ok(None));
}
