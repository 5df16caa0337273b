//! Every planned σ against every coalition, by brute force; and mutated plans that must fail the same check.

use rand::RngExt;

use super::*;
use crate::privacy::accountant::exact_variance_factors;
use crate::privacy::rounded_up::rounded_up;
use crate::privacy::testing::algebraic_connectivity;
use crate::privacy::{Budget, Calibration, calibrate};
use crate::vocabulary::{Label, Seed};

pub(super) const Z: f64 = 3.7;

pub(super) fn request(graph: &Graph, colluders: usize) -> NoiseRequest<'_> {
    NoiseRequest {
        graph,
        scheme: Scheme::Pairwise,
        noise_multiplier: Z,
        iterations: 3,
        delta: Delta::new(1e-6).expect("a probability"),
        colluders,
        overhead: 0.01,
        trusted_sum: false,
        connectivity: Connectivity { lower_bound: 0.0 },
        on_disconnect: OnDisconnect::Refuse,
        ring: None,
    }
}

pub(super) fn with_connectivity(graph: &Graph, colluders: usize) -> NoiseRequest<'_> {
    NoiseRequest {
        connectivity: Connectivity {
            lower_bound: algebraic_connectivity(graph) - 1e-9,
        },
        ..request(graph, colluders)
    }
}

pub(super) fn graph(nodes: usize, edges: &[(u32, u32)]) -> Graph {
    Graph::from_edges(nodes, edges).expect("a simple graph")
}

/// A random graph on a cycle with chords.
fn random(rng: &mut impl rand::Rng, n: u32, probability: f64) -> Graph {
    let mut edges = Vec::new();
    for u in 0..n {
        for v in u + 1..n {
            let ring = v == u + 1 || (u == 0 && v == n - 1);
            if ring || rng.random::<f64>() < probability {
                edges.push((u, v));
            }
        }
    }
    graph(n as usize, &edges)
}

/// Node u is joined to u ± 1, 2, 5, 11, … : a deterministic stand-in for a random regular graph of even degree.
pub(super) fn circulant(n: u32, steps: &[u32]) -> Graph {
    let mut edges: Vec<(u32, u32)> = steps
        .iter()
        .flat_map(|&step| (0..n).map(move |u| (u, (u + step) % n)))
        .map(|(u, v)| (u.min(v), u.max(v)))
        .collect();
    edges.sort_unstable();
    edges.dedup();
    graph(n as usize, &edges)
}

/// z²·max v_u over every coalition of exactly t peers: at most 1 if the plan keeps its promise.
pub(super) fn exhaustive(graph: &Graph, sigma_own: f64, sigma_pairwise: f64, t: usize) -> f64 {
    let n = graph.nodes() as u32;
    let mut largest = 0.0_f64;
    for mask in 0_u32..1 << n {
        if mask.count_ones() as usize != t {
            continue;
        }
        let coalition: Vec<u32> = (0..n).filter(|u| mask >> u & 1 == 1).collect();
        let factors =
            exact_variance_factors(graph, sigma_own.powi(2), sigma_pairwise.powi(2), &coalition)
                .expect("valid");
        largest = factors.into_iter().flatten().fold(largest, f64::max);
    }
    largest * Z * Z
}

pub(super) const HOLDS: f64 = 1.0 + 1e-12;

#[test]
fn every_plan_withstands_every_coalition_and_mutated_plans_do_not() {
    let mut rng = Seed::from_u64(41).generator(Label::Scenario);
    let (mut plans, mut halved, mut shared) = ([0; 4], [0; 4], [0; 4]);
    for trial in 0..48 {
        let n = 4 + trial % 9;
        let g = random(&mut rng, n, if trial % 2 == 0 { 0.2 } else { 0.8 });
        for t in 0..=3 {
            let Ok(plan) = NoisePlan::new(&with_connectivity(&g, t)) else {
                assert!(t >= 2, "a graph with a Hamiltonian cycle has no cut vertex");
                continue;
            };
            let worst = exhaustive(&g, plan.sigma_own(), plan.sigma_pairwise(), t);
            assert!(worst <= HOLDS, "n = {n}, t = {t}: {worst}");
            let view = plan
                .views
                .iter()
                .find(|v| v.colluders == t)
                .expect("the view asked for");
            let mu = (3.0 * worst).sqrt() / Z;
            assert!(
                view.mu >= mu * (1.0 - 1e-12),
                "n = {n}, t = {t}: view understates"
            );
            if t <= 1 {
                assert!(view.mu <= mu * (1.0 + 1e-7), "an exact view is exact");
                // The enumerated recipe is tight to second order.
                assert!(worst > 0.9998, "{worst}");
            }
            plans[t] += 1;
            // Mutation 1: half the pairwise noise.
            halved[t] +=
                u32::from(exhaustive(&g, plan.sigma_own(), 0.5 * plan.sigma_pairwise(), t) > HOLDS);
            // Mutation 2: own noise for n_H = s instead of s − t.
            let factor = (f64::from(n - t as u32) / f64::from(n)).sqrt();
            shared[t] += u32::from(
                exhaustive(
                    &g,
                    factor * plan.sigma_own(),
                    factor * plan.sigma_pairwise(),
                    t,
                ) > HOLDS,
            );
        }
    }
    // Red for every enumerated plan; for λ₂ plans, which keep a margin, wherever the margin is smaller.
    assert_eq!((plans[0], plans[1]), (48, 48));
    assert_eq!((halved[0], halved[1]), (48, 48));
    assert!(plans[2] >= 10 && plans[3] >= 5, "{plans:?}");
    assert!(halved[2] > 0, "{halved:?}");
    assert_eq!(
        (shared[1], shared[2], shared[3]),
        (plans[1], plans[2], plans[3])
    );
    assert_eq!(shared[0], 0, "with t = 0 the mutation changes nothing");
}

pub(super) fn complete(n: u32) -> Graph {
    let edges: Vec<_> = (0..n)
        .flat_map(|u| (u + 1..n).map(move |v| (u, v)))
        .collect();
    graph(n as usize, &edges)
}

/// Zachary's shape in small: node 0 is the only neighbour of node 3.
fn pendant() -> Graph {
    graph(5, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 4)])
        .with_names(
            ["ada", "bob", "cyd", "dan", "eve"]
                .map(str::to_owned)
                .to_vec(),
        )
        .expect("five names")
}

#[test]
fn a_cut_vertex_is_named_together_with_whom_it_isolates() {
    let g = pendant();
    let error = NoisePlan::new(&request(&g, 1)).expect_err("a cut vertex");
    assert_eq!(
        error,
        PrivacyError::CutVertex {
            vertex: "ada".to_owned(),
            isolated: vec!["dan".to_owned()],
            remaining: 3,
        }
    );
    assert!(NoisePlan::new(&request(&g, 0)).is_ok());
}

#[test]
fn the_smallest_component_can_be_paid_for() {
    let g = pendant();
    let plan = NoisePlan::new(&NoiseRequest {
        on_disconnect: OnDisconnect::SmallestComponent,
        ..request(&g, 1)
    })
    .expect("an explicit choice");
    assert!((plan.sigma_own() - Z * 1.01_f64.sqrt()).abs() < 1e-8);
    assert!(exhaustive(&g, plan.sigma_own(), plan.sigma_pairwise(), 1) <= HOLDS);
    let view = &plan.views()[1];
    // dan alone: 1/σ_η², against 1/(5σ_η²) for a curator.
    assert!(
        (view.gap_to_central - 5.0_f64.sqrt()).abs() < 1e-6,
        "{view:?}"
    );

    // Two triangles joined at a peer, plus a separate triangle: pieces of 2, 2 and 3.
    let g = graph(
        8,
        &[
            (0, 1),
            (0, 2),
            (1, 2),
            (2, 3),
            (2, 4),
            (3, 4),
            (5, 6),
            (5, 7),
            (6, 7),
        ],
    );
    for t in [0, 1] {
        let plan = NoisePlan::new(&NoiseRequest {
            on_disconnect: OnDisconnect::SmallestComponent,
            ..request(&g, t)
        })
        .expect("an explicit choice");
        let worst = exhaustive(&g, plan.sigma_own(), plan.sigma_pairwise(), t);
        assert!(worst <= HOLDS && worst > 0.999, "{t}: {worst}");
        assert!(exhaustive(&g, plan.sigma_own(), 0.5 * plan.sigma_pairwise(), t) > HOLDS);
        assert!(exhaustive(&g, 0.99 * plan.sigma_own(), plan.sigma_pairwise(), t) > HOLDS);
    }
}

#[test]
fn pieces_are_named_when_the_graph_is_not_connected() {
    let g = graph(5, &[(0, 1), (1, 2), (3, 4)]);
    for t in [0, 1, 2] {
        let text = NoisePlan::new(&with_connectivity(&g, t))
            .expect_err("in pieces")
            .to_string();
        assert!(
            text.contains("2 components, 2 peers: 3, 4; 3 peers: 0, 1, 2"),
            "{text}"
        );
    }
    // A claim of connectivity does not help.
    let lied = NoiseRequest {
        connectivity: Connectivity { lower_bound: 4.0 },
        on_disconnect: OnDisconnect::SmallestComponent,
        ..request(&g, 2)
    };
    assert!(matches!(
        NoisePlan::new(&lied),
        Err(PrivacyError::Disconnected { .. })
    ));
}

#[test]
fn secure_sums_share_the_noise_among_the_honest() {
    let g = circulant(10, &[1]);
    for scheme in [Scheme::Independent, Scheme::Pairwise] {
        let plan = NoisePlan::new(&NoiseRequest {
            scheme,
            trusted_sum: true,
            ..request(&g, 4)
        })
        .expect("a secure sum");
        assert!((6.0 * plan.sigma_own().powi(2) / (Z * Z) - 1.0).abs() < 1e-12);
        assert_eq!(plan.sigma_pairwise(), 0.0);
        let sizes: Vec<usize> = plan.views().iter().map(|v| v.colluders).collect();
        assert_eq!(sizes, [0, 1, 2, 4, 5]);
        let last = &plan.views()[3];
        assert!((last.mu - 3.0_f64.sqrt() / Z).abs() < 1e-12);
        assert_eq!(plan.epsilon(), Some(last.epsilon));
        assert!((plan.views()[0].gap_to_central - 1.0).abs() < 1e-12);
    }
    let open = NoiseRequest {
        scheme: Scheme::Independent,
        ..request(&g, 0)
    };
    assert_eq!(
        NoisePlan::new(&open),
        Err(PrivacyError::IndependentInTheOpen)
    );
}

#[test]
fn local_noise_protects_from_everybody_and_none_from_nobody() {
    let g = graph(4, &[(0, 1)]);
    let local = NoiseRequest {
        scheme: Scheme::Local,
        ..request(&g, 3)
    };
    let plan = NoisePlan::new(&local).expect("needs no graph");
    assert_eq!(
        (plan.sigma_own(), plan.sigma_pairwise()),
        (rounded_up(Z), 0.0)
    );
    assert_eq!(plan.views()[0].colluders, 3);
    assert!((plan.views()[0].gap_to_central - 2.0).abs() < 1e-12);
    let none = NoiseRequest {
        scheme: Scheme::None,
        ..request(&g, 0)
    };
    let plan = NoisePlan::new(&none).expect("nothing to plan");
    assert_eq!(plan.epsilon(), None);
    assert!(plan.views().is_empty() && plan.sigma_own() == 0.0);
}

#[test]
fn nonsense_is_refused_not_planned() {
    let g = circulant(6, &[1, 2]);
    // Too large to look at every coalition of two.
    let large = circulant(600, &[1, 2]);
    for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        let z = NoiseRequest {
            noise_multiplier: bad,
            ..request(&g, 0)
        };
        let overhead = NoiseRequest {
            overhead: bad,
            ..request(&g, 0)
        };
        let connectivity = NoiseRequest {
            connectivity: Connectivity { lower_bound: bad },
            ..request(&large, 3)
        };
        assert!(matches!(
            NoisePlan::new(&z),
            Err(PrivacyError::Parameter { .. })
        ));
        assert!(matches!(
            NoisePlan::new(&overhead),
            Err(PrivacyError::Parameter { .. })
        ));
        assert!(matches!(
            NoisePlan::new(&connectivity),
            Err(PrivacyError::TooManyColluders { .. })
        ));
    }
    let frugal = NoiseRequest {
        overhead: 1e-200,
        ..request(&g, 1)
    };
    assert!(matches!(
        NoisePlan::new(&frugal),
        Err(PrivacyError::Parameter { .. })
    ));
    let idle = NoiseRequest {
        iterations: 0,
        ..request(&g, 0)
    };
    assert_eq!(NoisePlan::new(&idle), Err(PrivacyError::Iterations));
}

#[test]
fn hundreds_of_peers_are_planned_in_seconds() {
    let g = circulant(610, &[1, 7, 58, 131, 277]);
    let plan = NoisePlan::new(&request(&g, 1)).expect("no cut vertex");
    let view = &plan.views()[1];
    assert_eq!(view.certificate, Certificate::ExactEnumeration);
    let target = 3.0_f64.sqrt() / Z;
    assert!(view.mu <= target * (1.0 + 1e-8) && view.mu > 0.999 * target);
    // Independent check of a few coalitions.
    for c in [0, 17, 300] {
        let factors = exact_variance_factors(
            &g,
            plan.sigma_own().powi(2),
            plan.sigma_pairwise().powi(2),
            &[c],
        )
        .expect("valid");
        let worst = factors.into_iter().flatten().fold(0.0, f64::max);
        assert!(3.0 * worst <= view.mu.powi(2));
        assert!(worst * Z * Z <= HOLDS);
    }
}

#[test]
fn the_largest_enumerated_size_is_planned_in_seconds() {
    let g = circulant(2000, &[1, 7, 58, 131, 277]);
    let plan = NoisePlan::new(&request(&g, 1)).expect("no cut vertex");
    assert_eq!(plan.views()[1].certificate, Certificate::ExactEnumeration);
}

/// Larger coalitions have views of their own, which the stated ε of a plan with own coordinates does not come from.
#[test]
fn a_plan_with_own_coordinates_states_the_loss_against_the_coalition_asked_for() {
    let g = circulant(12, &[1, 2, 5]);
    let plan = NoisePlan::new(&request(&g, 1)).expect("no cut vertex");
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    let calibrated = calibrate(Calibration::Analytic, budget, 3).expect("in range");
    let plan = plan.with_coordinates(&calibrated, (3, 1), budget.delta);
    let of = |colluders: usize| {
        let mut views = plan.views().iter();
        views
            .find(|view| view.colluders == colluders)
            .expect("stated")
            .epsilon
    };
    assert!(of(2) > of(1), "{} {}", of(2), of(1));
    assert_eq!(plan.epsilon(), Some(of(1)));
}
