//! The selected inverse against the dense one and against closed forms, on graphs of many families.

use rand::{Rng, RngExt};

use super::*;
use crate::linalg::laplacian::dense;
use crate::vocabulary::{Label, Seed};

/// D + K with these own entries and weighted edges.
fn sigma(own: Vec<f64>, edges: &[(u32, u32, f64)]) -> ShiftedLaplacian {
    let mut rows = vec![Vec::new(); own.len()];
    for &(u, v, weight) in edges {
        rows[u as usize].push((v, weight));
        rows[v as usize].push((u, weight));
    }
    ShiftedLaplacian::new(own, rows.into_iter())
}

/// The name of a family of graphs, and nodes and edges of a member.
type Family = (&'static str, u32, Vec<(u32, u32)>);

fn families(rng: &mut impl Rng) -> Vec<Family> {
    let path = |n: u32| (1..n).map(|v| (v - 1, v)).collect::<Vec<_>>();
    let star = |n: u32| (1..n).map(|v| (0, v)).collect::<Vec<_>>();
    let complete = |n: u32| {
        let pairs = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v)));
        pairs.collect::<Vec<_>>()
    };
    let grid = |k: u32| {
        let along = (0..k * k).filter(|u| u % k + 1 < k).map(|u| (u, u + 1));
        along
            .chain((0..k * (k - 1)).map(|u| (u, u + k)))
            .collect::<Vec<_>>()
    };
    let ring = path(80).into_iter().chain([(0, 79)]).collect();
    let wheel = star(90)
        .into_iter()
        .chain(path(90).into_iter().skip(1))
        .collect();
    let tree = (1..120).map(|v| (rng.random_range(0..v), v)).collect();
    let mut chords = path(200);
    for _ in 0..300 {
        let (u, v) = (rng.random_range(0..200_u32), rng.random_range(0..200_u32));
        let edge = (u.min(v), u.max(v));
        if u != v && !chords.contains(&edge) {
            chords.push(edge);
        }
    }
    vec![
        ("pair", 2, path(2)),
        ("path", 70, path(70)),
        ("ring", 80, ring),
        ("star", 90, star(90)),
        ("wheel", 90, wheel),
        ("grid", 144, grid(12)),
        ("tree", 120, tree),
        ("path with chords", 200, chords),
        // More than two blocks of columns in the core.
        ("complete", 150, complete(150)),
    ]
}

#[test]
fn every_family_meets_the_dense_inverse() {
    let mut rng = Seed::from_u64(91).generator(Label::Scenario);
    for (name, n, edges) in families(&mut rng) {
        for (spread, pairwise) in [(0.0, 5e3), (0.0, 1e-3), (4.0, 1.0), (2.0, 1e8)] {
            let mut spread = || libm::exp(spread * (rng.random::<f64>() - 0.5));
            let own = (0..n).map(|_| spread()).collect();
            let weighted = edges.iter().map(|&(u, v)| (u, v, pairwise * spread()));
            let sigma = sigma(own, &weighted.collect::<Vec<_>>());
            let found = inverse_diagonal_with(&sigma, 1.0).expect("nothing is too dense");
            let exact = dense::inverse_diagonal(&sigma).expect("well conditioned");
            for (found, exact) in found.iter().zip(&exact) {
                assert!(
                    found.low <= exact.high && exact.low <= found.high,
                    "{name}: {found:?} {exact:?}"
                );
                assert!(
                    (found.estimate / exact.estimate - 1.0).abs() < 1e-9,
                    "{name}"
                );
                assert!(found.gap() < 1e-11, "{name}: {:e}", found.gap());
            }
        }
    }
}

/// Two rows have a closed form without subtraction, whatever the weight of their edge.
#[test]
fn own_and_pairwise_noise_may_be_far_apart() {
    for weight in [1e-300, 1e-30, 1.0, 1e30, 1e99] {
        let sigma = sigma(vec![1.5, 1.0], &[(0, 1, weight)]);
        let found = inverse_diagonal_with(&sigma, 1.0).expect("in range");
        for (bracket, (own, other)) in found.iter().zip([(1.5, 1.0), (1.0, 1.5)]) {
            let exact = 1.0 / (own + weight * other / (weight + other));
            assert!(bracket.contains(exact), "{weight:e}: {bracket:?} {exact}");
            assert!(bracket.gap() < 1e-13);
        }
    }
    // Without own noise, and beyond the range that the proof covers.
    for own in [0.0, 1e-110] {
        assert!(inverse_diagonal_with(&sigma(vec![1.0, own], &[(0, 1, 1.0)]), 1.0).is_none());
    }
}

#[test]
fn a_graph_that_fills_up_is_left_to_others() {
    let mut rng = Seed::from_u64(92).generator(Label::Scenario);
    for (name, n, edges) in families(&mut rng) {
        let weighted: Vec<_> = edges.iter().map(|&(u, v)| (u, v, 7.0)).collect();
        let found = inverse_diagonal(&sigma(vec![1.0; n as usize], &weighted));
        let sparse = !["path with chords", "complete"].contains(&name);
        assert_eq!(found.is_some(), sparse, "{name}");
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let mut rng = Seed::from_u64(93).generator(Label::Scenario);
    for (_, n, edges) in families(&mut rng) {
        let weighted: Vec<_> = edges.iter().map(|&(u, v)| (u, v, 3.0)).collect();
        let sigma = sigma(vec![1.0; n as usize], &weighted);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("a pool");
            pool.install(|| inverse_diagonal_with(&sigma, 1.0))
        };
        assert!(with(1) == with(3));
    }
}
