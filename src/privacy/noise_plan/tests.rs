//! Every planned σ against every coalition, by brute force; and mutated plans that must fail the same check.

use rand::RngExt;

use super::*;
use crate::privacy::coalition::exact_variance_factors;
use crate::privacy::testing::algebraic_connectivity;
use crate::vocabulary::{Label, Seed};

const Z: f64 = 3.7;

fn request(graph: &Graph, colluders: usize) -> NoiseRequest<'_> {
    NoiseRequest {
        graph,
        scheme: Scheme::Pairwise,
        noise_multiplier: Z,
        iterations: 3,
        delta: Delta::new(1e-6).expect("a probability"),
        colluders,
        overhead: 0.01,
        trusted_sum: false,
        connectivity: Connectivity {
            lower_bound: 0.0,
            certified: true,
        },
        on_disconnect: OnDisconnect::Refuse,
    }
}

fn with_connectivity(graph: &Graph, colluders: usize) -> NoiseRequest<'_> {
    NoiseRequest {
        connectivity: Connectivity {
            lower_bound: algebraic_connectivity(graph) - 1e-9,
            certified: true,
        },
        ..request(graph, colluders)
    }
}

fn graph(nodes: usize, edges: &[(u32, u32)]) -> Graph {
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
fn circulant(n: u32, steps: &[u32]) -> Graph {
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
fn exhaustive(graph: &Graph, sigma_own: f64, sigma_pairwise: f64, t: usize) -> f64 {
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

const HOLDS: f64 = 1.0 + 1e-12;

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
            let worst = exhaustive(&g, plan.sigma_own, plan.sigma_pairwise, t);
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
                u32::from(exhaustive(&g, plan.sigma_own, 0.5 * plan.sigma_pairwise, t) > HOLDS);
            // Mutation 2: own noise for n_H = s instead of s − t.
            let factor = (f64::from(n - t as u32) / f64::from(n)).sqrt();
            shared[t] += u32::from(
                exhaustive(&g, factor * plan.sigma_own, factor * plan.sigma_pairwise, t) > HOLDS,
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

fn complete(n: u32) -> Graph {
    let edges: Vec<_> = (0..n)
        .flat_map(|u| (u + 1..n).map(move |v| (u, v)))
        .collect();
    graph(n as usize, &edges)
}

#[test]
fn complete_graphs_are_planned_with_equality() {
    for (n, t) in [(8, 2), (9, 3), (5, 2)] {
        let g = complete(n);
        let plan = NoisePlan::new(&with_connectivity(&g, t)).expect("λ₂ = n");
        let worst = exhaustive(&g, plan.sigma_own, plan.sigma_pairwise, t);
        assert!(worst <= HOLDS && worst > 1.0 - 1e-3, "{worst}");
        assert!(exhaustive(&g, plan.sigma_own, 0.5 * plan.sigma_pairwise, t) > HOLDS);
        let view = plan.views.iter().find(|v| v.colluders == t);
        let view = view.expect("the view asked for");
        assert_eq!(view.view, format!("coalition of {t}"));
        assert_eq!(view.certificate, Certificate::ExactEnumeration);
    }
    // Too many coalitions to look at: the certificates meet with equality too.
    let (n, t) = (60, 5);
    let g = complete(n);
    let plan = NoisePlan::new(&with_connectivity(&g, t)).expect("λ₂ = n");
    let coalition: Vec<u32> = (0..t as u32).collect();
    let (own, pairwise) = (plan.sigma_own.powi(2), plan.sigma_pairwise.powi(2));
    let worst = |pairwise| {
        let factors = exact_variance_factors(&g, own, pairwise, &coalition).expect("valid");
        factors.into_iter().flatten().fold(0.0, f64::max) * Z * Z
    };
    assert!(worst(pairwise) <= HOLDS && worst(pairwise) > 1.0 - 1e-8);
    assert!(worst(0.5 * pairwise) > HOLDS);
    let view = plan.views.last().expect("a view");
    assert!((view.gap_to_central - (1.01_f64 * 60.0 / 55.0).sqrt()).abs() < 1e-6);
    assert!((view.gap_colluders - (60.0_f64 / 55.0).sqrt()).abs() < 1e-12);
    assert!((view.gap_finite - 1.01_f64.sqrt()).abs() < 1e-6);
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
    assert!((plan.sigma_own - Z * 1.01_f64.sqrt()).abs() < 1e-12);
    assert!(exhaustive(&g, plan.sigma_own, plan.sigma_pairwise, 1) <= HOLDS);
    let view = &plan.views[1];
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
        let worst = exhaustive(&g, plan.sigma_own, plan.sigma_pairwise, t);
        assert!(worst <= HOLDS && worst > 0.999, "{t}: {worst}");
        assert!(exhaustive(&g, plan.sigma_own, 0.5 * plan.sigma_pairwise, t) > HOLDS);
        assert!(exhaustive(&g, 0.99 * plan.sigma_own, plan.sigma_pairwise, t) > HOLDS);
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
    // An estimate that claims connectivity does not help.
    let lied = NoiseRequest {
        connectivity: Connectivity {
            lower_bound: 4.0,
            certified: false,
        },
        on_disconnect: OnDisconnect::SmallestComponent,
        ..request(&g, 2)
    };
    assert!(matches!(
        NoisePlan::new(&lied),
        Err(PrivacyError::Disconnected { .. })
    ));
}

#[test]
fn too_many_colluders_are_refused_with_the_largest_number_that_works() {
    let g = circulant(12, &[1, 2, 5]);
    let error = NoisePlan::new(&with_connectivity(&g, 6)).expect_err("as many as partners");
    let text = error.to_string();
    assert!(text.contains("no privacy.overhead helps"), "{text}");
    let PrivacyError::TooManyColluders {
        largest,
        degree,
        partners,
        needed,
        ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!((largest, degree, partners, needed), (Some(5), 11, 6, None));
    // Beyond λ₂, which is below 5, but no five peers split the graph.
    let plan = NoisePlan::new(&request(&g, 5)).expect("every coalition is looked at");
    assert!(exhaustive(&g, plan.sigma_own, plan.sigma_pairwise, 5) <= HOLDS);
    assert!(matches!(
        NoisePlan::new(&request(&g, 12)),
        Err(PrivacyError::NobodyHonest { .. })
    ));
}

#[test]
fn the_overhead_that_a_refusal_names_is_enough_and_half_of_it_is_not() {
    let g = circulant(600, &[1, 7, 58, 131, 277]);
    for t in [2, 5] {
        let error = NoisePlan::new(&request(&g, t)).expect_err("λ₂ unknown");
        let text = error.to_string();
        assert!(text.contains("set privacy.overhead to"), "{text}");
        assert!(text.contains("set colluders to 1 or fewer"), "{text}");
        let PrivacyError::TooManyColluders { needed, .. } = error else {
            panic!("{error}")
        };
        let needed = needed.expect("a forest survives");
        let with = |overhead| {
            NoisePlan::new(&NoiseRequest {
                overhead,
                ..request(&g, t)
            })
        };
        let plan = with(needed).expect("what was named");
        let view = plan.views.iter().find(|v| v.colluders == t);
        let view = view.expect("the view asked for");
        assert_eq!(view.certificate, Certificate::DisjointForest);
        assert!(view.mu <= 3.0_f64.sqrt() / Z * (1.0 + 1e-9));
        assert!((view.gap_finite - (1.0 + needed).sqrt()).abs() < 1e-6);
        assert!(matches!(
            with(0.5 * needed),
            Err(PrivacyError::TooManyColluders { .. })
        ));
        // More overhead than that buys smaller pairwise noise; absurd overhead is not spent.
        let more = with(2.0 * needed).expect("more of it");
        assert!(more.sigma_pairwise < 0.5 * plan.sigma_pairwise);
        let absurd = with(1e5).expect("far too much");
        assert!(absurd.sigma_own <= Z * (1.0 + 1e-8), "{}", absurd.sigma_own);
    }
}

#[test]
fn the_best_certificate_needs_less_pairwise_noise_than_connectivity_alone() {
    let g = circulant(300, &[1, 7, 58, 91, 131, 17, 33, 77]);
    let lambda2 = algebraic_connectivity(&g);
    assert!(lambda2 > 2.5, "{lambda2}");
    let plan = NoisePlan::new(&with_connectivity(&g, 2)).expect("below λ₂");
    let recipe = ((298.0 - 1.0) / 0.01 - 1.0) / (lambda2 - 2.0);
    let found = (plan.sigma_pairwise / plan.sigma_own).powi(2);
    assert!(found < 0.8 * recipe, "{found} {recipe}");
    // Views grow with the coalition, and the last one is a peer with all its partners against it, or close.
    let mu: Vec<f64> = plan.views.iter().map(|v| v.mu).collect();
    assert!(
        mu.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-9)),
        "{mu:?}"
    );
    for view in &plan.views {
        let product = view.gap_colluders * view.gap_finite;
        assert!((product / view.gap_to_central - 1.0).abs() < 1e-12);
        assert!(view.gap_finite >= 1.0 - 1e-9, "{view:?}");
    }
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
        assert!((6.0 * plan.sigma_own.powi(2) / (Z * Z) - 1.0).abs() < 1e-12);
        assert_eq!(plan.sigma_pairwise, 0.0);
        let sizes: Vec<usize> = plan.views.iter().map(|v| v.colluders).collect();
        assert_eq!(sizes, [0, 1, 2, 4, 5]);
        let last = &plan.views[3];
        assert!((last.mu - 3.0_f64.sqrt() / Z).abs() < 1e-12);
        assert_eq!(plan.epsilon, Some(last.epsilon));
        assert!((plan.views[0].gap_to_central - 1.0).abs() < 1e-12);
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
    assert_eq!((plan.sigma_own, plan.sigma_pairwise), (Z, 0.0));
    assert_eq!(plan.views[0].colluders, 3);
    assert!((plan.views[0].gap_to_central - 2.0).abs() < 1e-12);
    let none = NoiseRequest {
        scheme: Scheme::None,
        ..request(&g, 0)
    };
    let plan = NoisePlan::new(&none).expect("nothing to plan");
    assert_eq!(plan.epsilon, None);
    assert!(plan.views.is_empty() && plan.sigma_own == 0.0);
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
            connectivity: Connectivity {
                lower_bound: bad,
                certified: true,
            },
            ..request(&large, 2)
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
fn dense_and_huge_graphs_fall_back_on_certificates() {
    let known = |lower_bound, certified| Connectivity {
        lower_bound,
        certified,
    };
    // K₄₀₀ is too dense to enumerate; its degrees alone are enough.
    let dense = complete(400);
    for connectivity in [known(399.9, true), Connectivity::UNKNOWN] {
        let plan = NoisePlan::new(&NoiseRequest {
            connectivity,
            ..request(&dense, 1)
        })
        .expect("399 partners each");
        assert_eq!(plan.views[0].certificate, Certificate::Exact);
        assert_ne!(plan.views[1].certificate, Certificate::ExactEnumeration);
    }
    // Two of them joined by two edges fall apart too easily for any certificate.
    let mut edges: Vec<(u32, u32)> = dense.edge_list().collect();
    edges.extend(dense.edge_list().map(|(u, v)| (u + 400, v + 400)));
    edges.extend([(0, 400), (1, 401)]);
    let text = NoisePlan::new(&request(&graph(800, &edges), 1))
        .expect_err("λ₂ unknown")
        .to_string();
    assert!(text.contains("too dense"), "{text}");

    // C₂₀₀₁ is too large. Nobody inside: what is proved is enough, and preferred to an estimate.
    let large = circulant(2001, &[1, 2]);
    let plan = NoisePlan::new(&NoiseRequest {
        connectivity: known(4e-5, false),
        ..request(&large, 0)
    })
    .expect("connected");
    assert_eq!(plan.views[0].certificate, Certificate::DisjointForest);
    assert_eq!(plan.views[1].certificate, Certificate::DisjointForest);
    assert_eq!(plan.views[3].certificate, Certificate::OwnNoise);
    assert!(plan.views[1].mu < 0.1 * plan.views[3].mu);
    // Where only the estimate is enough, it is used and named.
    let expander = circulant(2001, &[1, 7, 58, 131, 277, 500, 901]);
    let request = NoiseRequest {
        connectivity: known(1.5, false),
        ..request(&expander, 1)
    };
    let plan = NoisePlan::new(&request).expect("λ₂ > 1, it is said");
    assert_eq!(plan.views[1].certificate, Certificate::Estimated);
}

#[test]
fn hundreds_of_peers_are_planned_in_seconds() {
    let g = circulant(610, &[1, 7, 58, 131, 277]);
    let plan = NoisePlan::new(&request(&g, 1)).expect("no cut vertex");
    let view = &plan.views[1];
    assert_eq!(view.certificate, Certificate::ExactEnumeration);
    let target = 3.0_f64.sqrt() / Z;
    assert!(view.mu <= target * (1.0 + 1e-8) && view.mu > 0.999 * target);
    // Independent check of a few coalitions.
    for c in [0, 17, 300] {
        let factors = exact_variance_factors(
            &g,
            plan.sigma_own.powi(2),
            plan.sigma_pairwise.powi(2),
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
    assert_eq!(plan.views[1].certificate, Certificate::ExactEnumeration);
}
