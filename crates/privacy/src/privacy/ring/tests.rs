//! The masks and the bound on sums against enumeration: every published vector, every value of a small sum.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;

use crate::privacy::gaussian;
use crate::topology::Graph;
use crate::vocabulary::{Label, Seed};

/// μ²σ² of one shift K of a sum over n = `peers` rounded Gaussians: Σ_j (K_j² + r_j(n − r_j))/n, which is an integer. Infinite for
/// no peers.
pub(in crate::privacy) fn cost(shift: &[i64], peers: usize) -> f64 {
    let Ok(n) = i128::try_from(peers) else {
        return f64::INFINITY;
    };
    if n == 0 {
        return f64::INFINITY;
    }
    shift
        .iter()
        .map(|&k| {
            let (q, r) = (i128::from(k).div_euclid(n), i128::from(k).rem_euclid(n));
            // q²n ≤ k²/n and every term stays below 2¹²⁷.
            (n * q * q + (2 * q + 1) * r) as f64
        })
        .sum()
}

/// P(round(N(0, σ²)) = k), k from −w to w with w beyond fourteen standard deviations.
fn rounded(sigma: f64) -> Vec<f64> {
    let upper = |x: f64| 0.5 * libm::erfc(x / sigma / std::f64::consts::SQRT_2);
    let w = (14.0 * sigma) as i64 + 3;
    (-w..=w)
        .map(|k| {
            let k = k.abs() as f64;
            if k == 0.0 {
                1.0 - 2.0 * upper(0.5)
            } else {
                upper(k - 0.5) - upper(k + 0.5)
            }
        })
        .collect()
}

/// The law of the sum of two independent integers, both centred.
fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; a.len() + b.len() - 1];
    for (i, p) in a.iter().enumerate() {
        for (j, q) in b.iter().enumerate() {
            sum[i + j] += p * q;
        }
    }
    sum
}

/// The law of the sum of n rounded Gaussians.
fn sum_of(peers: usize, sigma: f64) -> Vec<f64> {
    let one = rounded(sigma);
    (1..peers).fold(one.clone(), |sum, _| convolved(&sum, &one))
}

/// The exact δ(ε) of telling a law from itself moved by `shift`, both wrapped mod `modulus` if there is one. The law is even,
/// so that both directions agree.
fn exact_delta(law: &[f64], shift: usize, epsilon: f64, modulus: Option<usize>) -> f64 {
    let length = modulus.unwrap_or(law.len() + shift);
    let (mut base, mut moved) = (vec![0.0; length], vec![0.0; length]);
    for (i, p) in law.iter().enumerate() {
        base[i % length] += p;
        moved[(i + shift) % length] += p;
    }
    let factor = epsilon.exp();
    moved
        .iter()
        .zip(&base)
        .map(|(p, q)| (p - factor * q).max(0.0))
        .sum()
}

fn certified(shift: &[i64], peers: usize, sigma: f64, epsilon: f64) -> f64 {
    gaussian::delta(epsilon, cost(shift, peers).sqrt() / sigma)
}

/// A δ that exceeds the certified one by more than the rounding of the enumeration.
fn exceeds(exact: f64, certified: f64) -> bool {
    exact > certified * (1.0 + 1e-9) + 1e-12
}

#[test]
fn exact_deltas_of_small_sums_are_those_of_40_digit_arithmetic() {
    // (n, σ, K, ε, exact δ, certified δ, δ of the bound without r(n − r)): mpmath, convolutions of differences of Φ.
    let rows = [
        (
            4,
            0.25,
            1,
            1.0,
            0.694_558_358_033_399_8,
            0.926_711_281_255_480_5,
            0.509_861_660_054_670_2,
        ),
        (
            4,
            0.25,
            2,
            1.0,
            0.910_037_549_349_385_9,
            0.992_387_828_945_021_2,
            0.926_711_281_255_480_5,
        ),
        (
            3,
            0.5,
            1,
            1.0,
            0.133_458_555_734_437_7,
            0.509_861_660_054_670_2,
            0.184_018_971_295_845_6,
        ),
        (
            5,
            0.4,
            7,
            2.0,
            0.995_611_368_530_563_8,
            0.999_910_342_614_142_1,
            0.999_759_496_336_489_6,
        ),
        (
            2,
            1.0,
            1,
            0.0,
            0.270_914_286_168_929_2,
            0.382_924_922_548_026_2,
            0.276_326_390_168_236_9,
        ),
        (
            6,
            0.7,
            4,
            0.5,
            0.651_405_529_366_577_2,
            0.805_303_601_504_991_3,
            0.691_514_631_534_260_5,
        ),
        (
            1,
            0.3,
            1,
            3.0,
            0.047_784_594_722_083_64,
            0.675_239_717_928_266_4,
            0.675_239_717_928_266_4,
        ),
    ];
    for (peers, sigma, k, epsilon, exact, bound, naive) in rows {
        let close = |found: f64, expected: f64| {
            assert!(
                (found - expected).abs() < 1e-11,
                "{peers} {sigma} {k}: {found} {expected}"
            );
        };
        let law = sum_of(peers, sigma);
        close(exact_delta(&law, k as usize, epsilon, None), exact);
        close(certified(&[k], peers, sigma, epsilon), bound);
        let mu = k as f64 / (peers as f64).sqrt() / sigma;
        close(gaussian::delta(epsilon, mu), naive);
    }
    // Without the remainder the first row would be a false promise, by 0.185.
    assert!((rows[0].4 - rows[0].6 - 0.1847).abs() < 1e-4);
    assert!(rows.iter().all(|row| !exceeds(row.4, row.5)));
}

#[test]
fn wrapping_and_a_second_coordinate_change_nothing_about_the_bound() {
    for (peers, sigma) in [(1, 0.3), (2, 0.25), (3, 0.5), (4, 0.25), (5, 0.8)] {
        let law = sum_of(peers, sigma);
        for epsilon in [0.0, 0.5, 1.0, 3.0] {
            for k in 1..=5_i64 {
                let bound = certified(&[k], peers, sigma, epsilon);
                for modulus in [2, 4, 8] {
                    let exact = exact_delta(&law, k as usize, epsilon, Some(modulus));
                    assert!(!exceeds(exact, bound), "{peers} {sigma} {k} mod {modulus}");
                }
                // Two coordinates at once: the product law.
                for other in 0..=2_i64 {
                    let bound = certified(&[k, -other], peers, sigma, epsilon);
                    let mut exact = 0.0;
                    let at = |i: i64| {
                        let index = usize::try_from(i).ok();
                        index.and_then(|i| law.get(i)).copied().unwrap_or(0.0)
                    };
                    for i in 0..law.len() as i64 + k {
                        for j in 0..law.len() as i64 + other {
                            let (moved, base) = (at(i - k) * at(j - other), at(i) * at(j));
                            exact += (moved - epsilon.exp() * base).max(0.0);
                        }
                    }
                    assert!(
                        !exceeds(exact, bound),
                        "{peers} {sigma} ({k}, {other}): {exact}"
                    );
                }
            }
        }
    }
}

/// A random graph and a random coalition of it.
fn drawn(rng: &mut impl rand::Rng) -> (Graph, Vec<u32>) {
    let peers = rng.random_range(2..=6_u32);
    let dense = rng.random_range(0.2..0.9);
    let mut edges = Vec::new();
    for u in 0..peers {
        for v in u + 1..peers {
            if rng.random::<f64>() < dense {
                edges.push((u, v));
            }
        }
    }
    let mut coalition: Vec<u32> = (0..peers).filter(|_| rng.random::<f64>() < 0.25).collect();
    coalition.truncate(peers as usize - 1);
    let graph = Graph::from_edges(peers as usize, &edges).expect("a simple graph");
    (graph, coalition)
}

/// The honest peers that `start` reaches over honest peers, found without the crate's own search.
fn piece(graph: &Graph, coalition: &[u32], start: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::from([start]);
    loop {
        let more: Vec<u32> = graph
            .edge_list()
            .flat_map(|(u, v)| [(u, v), (v, u)])
            .filter(|(u, v)| found.contains(u) && !found.contains(v) && !coalition.contains(v))
            .map(|(_, v)| v)
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

#[test]
fn a_coalition_learns_the_sums_of_the_pieces_and_nothing_else() {
    const MODULUS: u32 = 3;
    let mut rng = Seed::from_u64(41).generator(Label::Scenario);
    let mut seen = 0;
    while seen < 200 {
        let (graph, coalition) = drawn(&mut rng);
        // Masks with an end in the coalition are known and can be subtracted: only the others are drawn.
        let honest = |u: &u32| !coalition.contains(u);
        let edges: Vec<(u32, u32)> = graph
            .edge_list()
            .filter(|(u, v)| honest(u) && honest(v))
            .collect();
        if edges.len() > 8 {
            continue;
        }
        seen += 1;
        let peers: Vec<u32> = (0..graph.nodes() as u32).filter(honest).collect();
        let inputs: Vec<u32> = (0..graph.nodes())
            .map(|_| rng.random_range(0..MODULUS))
            .collect();
        let mut counts: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        for code in 0..MODULUS.pow(edges.len() as u32) {
            let mut published = inputs.clone();
            for (e, &(u, v)) in edges.iter().enumerate() {
                let mask = code / MODULUS.pow(e as u32) % MODULUS;
                published[u as usize] = (published[u as usize] + mask) % MODULUS;
                published[v as usize] = (published[v as usize] + MODULUS - mask) % MODULUS;
            }
            let view = peers.iter().map(|&u| published[u as usize]).collect();
            *counts.entry(view).or_default() += 1;
        }
        // Every view has the sums of the pieces, all are equally likely, and they are all that there are.
        let pieces: BTreeSet<BTreeSet<u32>> = peers
            .iter()
            .map(|&u| piece(&graph, &coalition, u))
            .collect();
        let free = peers.len() - pieces.len();
        assert_eq!(
            counts.len(),
            3_usize.pow(free as u32),
            "{graph:?} {coalition:?}"
        );
        let first = *counts.values().next().expect("a view");
        assert!(counts.values().all(|&count| count == first));
        for view in counts.keys() {
            for piece in &pieces {
                let inside = |(u, _): &(&u32, &u32)| piece.contains(u);
                let sum: u32 = peers.iter().zip(view).filter(inside).map(|(_, y)| y).sum();
                let expected: u32 = piece.iter().map(|&u| inputs[u as usize]).sum();
                assert_eq!(sum % MODULUS, expected % MODULUS);
            }
        }
    }
}

#[test]
fn no_peer_of_two_hundred_graphs_loses_more_than_is_certified() {
    let mut rng = Seed::from_u64(42).generator(Label::Scenario);
    let laws: Vec<Vec<Vec<f64>>> = [0.25, 0.4, 0.7, 1.0]
        .iter()
        .map(|&sigma| (1..=6).map(|peers| sum_of(peers, sigma)).collect())
        .collect();
    let (mut naive_fails, mut tightest) = (0, f64::INFINITY);
    for _ in 0..200 {
        let (graph, coalition) = drawn(&mut rng);
        for u in (0..graph.nodes() as u32).filter(|u| !coalition.contains(u)) {
            let peers = piece(&graph, &coalition, u).len();
            for (laws, sigma) in laws.iter().zip([0.25, 0.4, 0.7, 1.0]) {
                let k = rng.random_range(1..=6_i64);
                for epsilon in [0.0, 0.3, 1.0, 2.0, 5.0] {
                    let exact = exact_delta(&laws[peers - 1], k as usize, epsilon, None);
                    let bound = certified(&[k], peers, sigma, epsilon);
                    assert!(
                        !exceeds(exact, bound),
                        "{peers} {sigma} {k} {epsilon}: {exact} > {bound}"
                    );
                    let naive = gaussian::delta(epsilon, k as f64 / (peers as f64).sqrt() / sigma);
                    naive_fails += u32::from(exceeds(exact, naive));
                    if exact > 0.01 {
                        tightest = tightest.min(bound / exact);
                    }
                }
            }
        }
    }
    // The check can fail, and the bound is no formality.
    assert!(naive_fails > 10, "{naive_fails}");
    assert!(tightest < 1.05, "{tightest}");
}
