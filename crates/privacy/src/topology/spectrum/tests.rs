//! Intervals against dense eigenvalues and closed forms.

use std::f64::consts::PI;

use nalgebra::DMatrix;
use proptest::prelude::*;

use super::*;
use crate::linalg::lanczos::centred::Effort;
use crate::topology::{GeneratorConfig, REGISTRY};

fn generate(text: &str, nodes: usize) -> Graph {
    let config: GeneratorConfig = toml::from_str(&format!("generator = \"{text}")).expect(text);
    config.generate(nodes).expect(text)
}

fn spectrum(graph: &Graph) -> Spectrum {
    Spectrum::of(graph, &Mixing::metropolis(graph))
}

/// Ascending eigenvalues of L and W by nalgebra's symmetric solver.
fn dense(graph: &Graph) -> (Vec<f64>, Vec<f64>) {
    let n = graph.nodes();
    let mixing = Mixing::metropolis(graph);
    let (mut l, mut w) = (DMatrix::zeros(n, n), DMatrix::zeros(n, n));
    for u in 0..n {
        l[(u, u)] = graph.degree(u) as f64;
        w[(u, u)] = mixing.self_weight(u);
        for (&v, weight) in graph.neighbours(u).iter().zip(mixing.neighbour_weights(u)) {
            l[(u, v as usize)] = -1.0;
            w[(u, v as usize)] = *weight;
        }
    }
    let sorted = |m: DMatrix<f64>| {
        let mut values: Vec<f64> = m.symmetric_eigenvalues().iter().copied().collect();
        values.sort_by(f64::total_cmp);
        values
    };
    (sorted(l), sorted(w))
}

/// The interval holds the reference up to the reference's own rounding and is narrow.
fn check(interval: &Interval, reference: f64, distance: f64, what: &str) {
    let blur = 1e-12;
    assert!(interval.certified, "{what}");
    assert!(
        interval.low <= interval.estimate && interval.estimate <= interval.high,
        "{what} {interval:?}"
    );
    assert!(
        interval.low <= reference + blur && reference - blur <= interval.high,
        "{what}: {reference} in {interval:?}"
    );
    assert!(
        interval.high - interval.low <= 1e-7 * distance,
        "{what}: {interval:?} is wide"
    );
}

fn check_all(graph: &Graph, what: &str) {
    let found = spectrum(graph);
    let n = graph.nodes();
    let (l, w) = dense(graph);
    check(&found.algebraic_connectivity, l[1], l[1], what);
    check(&found.mixing_second, w[n - 2], 1.0 - w[n - 2], what);
    check(&found.mixing_smallest, w[0], 1.0 + w[0], what);
    assert!(found.spectral_gap() > 0.0 && found.spectral_gap() <= 1.0 + 1e-12);
    assert!(found.is_certified());
}

#[test]
fn certified_intervals_hold_the_dense_eigenvalues_of_every_family() {
    for entry in REGISTRY {
        let (config, nodes) = (entry.example)(5);
        check_all(&config.generate(nodes).expect(entry.name), entry.name);
    }
    check_all(&generate("k-out\"\nk = 2\nseed = 1", 200), "k-out 200");
    check_all(
        &generate("random-geometric\"\nradius = 0.15\nseed = 1", 150),
        "geometric",
    );
}

#[test]
fn closed_forms() {
    let connectivity = |text, n| spectrum(&generate(text, n)).algebraic_connectivity;
    let cosine = |angle: f64| 2.0 - 2.0 * libm::cos(angle);
    for n in [3, 16, 100] {
        check(
            &connectivity("ring\"", n),
            cosine(2.0 * PI / n as f64),
            1.0,
            "ring",
        );
    }
    for n in [2, 3, 60] {
        check(
            &connectivity("path\"", n),
            cosine(PI / n as f64),
            1.0,
            "path",
        );
        check(&connectivity("complete\"", n), n as f64, 1.0, "complete");
    }
    for n in [3, 80] {
        check(&connectivity("star\"", n), 1.0, 1.0, "star");
    }
    check(&connectivity("hypercube\"", 64), 2.0, 1.0, "hypercube");
    check(
        &connectivity("torus\"", 64),
        cosine(2.0 * PI / 8.0),
        1.0,
        "torus",
    );
    check(&connectivity("grid\"", 64), cosine(PI / 8.0), 1.0, "grid");
    let complete = spectrum(&generate("complete\"", 16));
    assert!(complete.mixing_second.high.abs() < 1e-8 && complete.spectral_gap() > 1.0 - 1e-8);
    let ring = spectrum(&generate("ring\"", 64));
    assert!((ring.mixing_smallest.estimate + 1.0 / 3.0).abs() < 1e-9);
}

#[test]
fn the_gap_counts_the_eigenvalue_of_largest_modulus() {
    // K_{3,3}: W has the eigenvalues 1, 1/4 (four times) and −1/2.
    let edges: Vec<_> = (0..3).flat_map(|u| (3..6).map(move |v| (u, v))).collect();
    let found = spectrum(&Graph::from_edges(6, &edges).expect("simple"));
    assert!((found.mixing_second.estimate - 0.25).abs() < 1e-12);
    assert!((found.spectral_gap() - 0.5).abs() < 1e-12);
}

#[test]
fn a_ring_beyond_the_size_limit_is_estimated_by_the_inverse() {
    let n = 2600;
    let found = spectrum(&generate("ring\"", n)).algebraic_connectivity;
    let exact = 2.0 - 2.0 * libm::cos(2.0 * PI / n as f64);
    assert!(!found.certified && found.low < 0.95 * exact && found.low > 0.85 * exact);
    assert!(
        (found.estimate / exact - 1.0).abs() < 1e-3,
        "{found:?} {exact}"
    );
}

#[test]
fn a_long_path_is_bounded_within_a_fifth_without_an_eigenvalue() {
    for n in [201, 20_000] {
        let graph = generate("path\"", n);
        let exact = 2.0 - 2.0 * libm::cos(PI / n as f64);
        let found = distance_floor(Laplacian::of_graph(&graph));
        assert!(
            found <= exact && found > 0.8 * exact,
            "{n}: {found} {exact}"
        );
    }
    // A star, whose λ₂ is 1, and a ring.
    let star = distance_floor(Laplacian::of_graph(&generate("star\"", 100)));
    assert!(star <= 1.0 && star > 0.99, "{star}");
    let ring = distance_floor(Laplacian::of_graph(&generate("ring\"", 300)));
    let exact = 2.0 - 2.0 * libm::cos(2.0 * PI / 300.0);
    assert!(ring <= exact && ring > 0.15 * exact, "{ring} {exact}");
}

#[test]
fn graphs_without_an_edge_or_in_two_parts_have_conventional_values() {
    let one = spectrum(&Graph::from_edges(1, &[]).expect("a node"));
    assert_eq!(one.mixing_second.high, 0.0);
    let two = spectrum(&Graph::from_edges(2, &[]).expect("two nodes"));
    assert_eq!(two.algebraic_connectivity.high, 0.0);
    assert_eq!(two.mixing_second.low, 1.0);
    assert!(two.mixing_smallest.low <= 1.0);
    let pairs = spectrum(&Graph::from_edges(4, &[(0, 1), (2, 3)]).expect("two edges"));
    assert_eq!(pairs.algebraic_connectivity.estimate, 0.0);
    assert_eq!(pairs.spectral_gap(), 0.0);
}

#[test]
fn a_slow_ring_at_the_size_limit_is_still_certified_away_from_zero() {
    let n = 700;
    let found = spectrum(&generate("ring\"", n)).algebraic_connectivity;
    let exact = 2.0 - 2.0 * libm::cos(2.0 * PI / n as f64);
    assert!(found.certified && found.low <= exact && exact <= found.high * (1.0 + 1e-12));
    assert!(found.low > 0.99 * exact, "{found:?} {exact}");
}

#[test]
fn estimates_beyond_the_limit_keep_their_safety_margin() {
    for (text, nodes) in [
        ("random-regular\"\ndegree = 6\nseed = 1", 300),
        ("barabasi-albert\"\nedges_per_node = 3\nseed = 1", 400),
        ("ring\"", 301),
        ("path\"", 200),
        ("path\"", 900),
        ("star\"", 100),
        ("complete\"", 50),
    ] {
        let graph = generate(text, nodes);
        let mixing = Mixing::metropolis(&graph);
        let (l, w) = dense(&graph);
        let of_graph = estimated::second_smallest(Laplacian::of_graph(&graph));
        let of_mixing = Laplacian::of_mixing(&graph, &mixing);
        let gap = estimated::second_smallest(of_mixing);
        let top = estimated::largest(of_mixing);
        for (interval, reference) in [
            (of_graph, l[1]),
            (gap, 1.0 - w[nodes - 2]),
            (top, 1.0 - w[0]),
        ] {
            assert!(
                interval.low <= reference * (1.0 + 1e-9)
                    && reference * (1.0 - 1e-9) <= interval.high,
                "{text}: {reference} in {interval:?}"
            );
        }
        for (interval, reference) in [(of_graph, l[1]), (gap, 1.0 - w[nodes - 2])] {
            // What is proved needs no margin.
            assert!(
                interval.low > 0.85 * reference
                    && (interval.certified || interval.low < 0.95 * reference),
                "{text}: {reference} in {interval:?}"
            );
        }
    }
}

#[test]
fn what_does_not_converge_is_bounded_and_not_guessed() {
    let n = 3000;
    let graph = generate("path\"", n);
    let m = Laplacian::of_graph(&graph);
    let exact = 2.0 - 2.0 * libm::cos(PI / n as f64);
    let lazy = Effort {
        steps: 20,
        cycles: 1,
        patience: 0.2,
    };
    let found = estimated::second_smallest_within(m, lazy, 1_000_000);
    assert!(found.low > 0.0 && found.low < exact && exact < found.high);
    assert!(found.certified && found.estimate == found.low);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn certified_intervals_hold_for_arbitrary_connected_graphs(
        n in 2_usize..14,
        choices in proptest::collection::vec(any::<u32>(), 14),
        extra in proptest::collection::vec((0_u32..14, 0_u32..14), 0..30),
    ) {
        let mut edges: Vec<(u32, u32)> = (1..n as u32).map(|v| (choices[v as usize] % v, v)).collect();
        edges.extend(extra.into_iter().filter(|(u, v)| u < v && (*v as usize) < n));
        edges.sort_unstable();
        edges.dedup();
        check_all(&Graph::from_edges(n, &edges).expect("simple"), "arbitrary");
    }
}

#[test]
#[ignore = "a measurement"]
fn spectra_take_reasonable_time() {
    for (text, nodes) in [
        ("random-regular\"\ndegree = 10\nseed = 1", 610),
        ("barabasi-albert\"\nedges_per_node = 5\nseed = 1", 610),
        ("ring\"", 2000),
        ("path\"", 2000),
        ("barabasi-albert\"\nedges_per_node = 5\nseed = 1", 2000),
        ("random-regular\"\ndegree = 10\nseed = 1", 25_000),
        ("k-out\"\nk = 10\nseed = 1", 25_000),
        ("barabasi-albert\"\nedges_per_node = 5\nseed = 1", 25_000),
        (
            "watts-strogatz\"\ndegree = 10\nrewire = 0.1\nseed = 1",
            25_000,
        ),
        ("ring\"", 5_000),
        ("path\"", 5_000),
        ("ring\"", 25_000),
        ("random-regular\"\ndegree = 10\nseed = 1", 1_000_000),
    ] {
        let graph = generate(text, nodes);
        let start = std::time::Instant::now();
        let found = spectrum(&graph);
        eprintln!("{text:?} {nodes}: {:?}\n  {found:?}", start.elapsed());
    }
}

/// Where no method converges, what is given is a floor, and says so: the path of 20,000 nodes has
/// λ₂ = 2 − 2cos(π/n) = 2.47e-8, of which 1e-8 is proved.
#[test]
fn a_lower_bound_is_called_one() {
    let path = |nodes: usize| {
        let edges: Vec<(u32, u32)> = (1..nodes as u32).map(|v| (v - 1, v)).collect();
        Graph::from_edges(nodes, &edges).expect("a path")
    };
    let graph = path(20_000);
    let bound = estimated::second_smallest_within(
        Laplacian::of_graph(&graph),
        Effort {
            steps: 20,
            cycles: 1,
            patience: 0.2,
        },
        0,
    );
    let truth = 2.0 - 2.0 * (PI / 20_000.0).cos();
    assert!(bound.estimate < truth && truth < bound.high, "{bound:?}");
    assert_eq!(bound.known(), Known::AtLeast);
    assert_eq!(
        (Known::AtLeast.words(), Known::Value.words()),
        ("at least ", "")
    );
    let small = path(20);
    let found = Spectrum::of(&small, &Mixing::metropolis(&small)).algebraic_connectivity;
    assert_eq!(found.known(), Known::Value);
    assert_eq!(Interval::exactly(0.0).known(), Known::Value);
}
