//! Plans by enumeration of larger coalitions and by certificates.

use std::path::Path;
use std::time::{Duration, Instant};

use super::super::tests::{
    HOLDS, Z, circulant, complete, exhaustive, graph, request, with_connectivity,
};
use super::super::{NoisePlan, NoiseRequest};
use super::bisected;
use crate::privacy::accountant::{
    AccountOptions, Bound, Connectivity, NoiseCovariance, PublicGraph, account,
    exact_variance_factors,
};
use crate::privacy::testing::algebraic_connectivity;
use crate::privacy::{Certificate, PrivacyError};
use crate::topology::generators::{BarabasiAlbert, RandomRegular};
use crate::topology::{GeneratorConfig, LoadOptions, load_graph};

#[test]
fn complete_graphs_are_planned_with_equality() {
    for (n, t) in [(8, 2), (9, 3), (5, 2)] {
        let g = complete(n);
        let plan = NoisePlan::new(&with_connectivity(&g, t)).expect("λ₂ = n");
        let worst = exhaustive(&g, plan.sigma_own(), plan.sigma_pairwise(), t);
        assert!(worst <= HOLDS && worst > 1.0 - 1e-3, "{worst}");
        assert!(exhaustive(&g, plan.sigma_own(), 0.5 * plan.sigma_pairwise(), t) > HOLDS);
        let view = plan.views().iter().find(|v| v.colluders == t);
        let view = view.expect("the view asked for");
        assert_eq!(view.view, format!("coalition of {t}"));
        assert_eq!(view.certificate, Certificate::ExactEnumeration);
    }
    // Too many coalitions to look at: the certificates meet with equality too.
    let (n, t) = (60, 5);
    let g = complete(n);
    let plan = NoisePlan::new(&with_connectivity(&g, t)).expect("λ₂ = n");
    let coalition: Vec<u32> = (0..t as u32).collect();
    let (own, pairwise) = (plan.sigma_own().powi(2), plan.sigma_pairwise().powi(2));
    let worst = |pairwise| {
        let factors = exact_variance_factors(&g, own, pairwise, &coalition).expect("valid");
        factors.into_iter().flatten().fold(0.0, f64::max) * Z * Z
    };
    assert!(worst(pairwise) <= HOLDS && worst(pairwise) > 1.0 - 1e-8);
    assert!(worst(0.5 * pairwise) > HOLDS);
    let view = plan.views().last().expect("a view");
    assert!((view.gap_to_central - (1.01_f64 * 60.0 / 55.0).sqrt()).abs() < 1e-6);
    assert!((view.gap_colluders - (60.0_f64 / 55.0).sqrt()).abs() < 1e-12);
    assert!((view.gap_finite - 1.01_f64.sqrt()).abs() < 1e-6);
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
    assert!(exhaustive(&g, plan.sigma_own(), plan.sigma_pairwise(), 5) <= HOLDS);
    assert!(matches!(
        NoisePlan::new(&request(&g, 12)),
        Err(PrivacyError::NobodyHonest { .. })
    ));
}

/// Bisection leaves out peers that are within the limit already.
#[test]
fn at_the_ratio_that_is_found_everybody_is_within_the_limit_and_just_below_it_somebody_is_not() {
    let uneven: Vec<(u32, u32)> = (1..90)
        .flat_map(|v| [v / 2, v * 7 % 11, v * 5 % 17].map(|u| (u.min(v), u.max(v))))
        .filter(|(u, v)| u != v)
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    let graphs = [
        graph(90, &uneven),
        circulant(600, &[1, 7, 58, 131, 277]),
        complete(60),
    ];
    let mut found_some = 0;
    for g in &graphs {
        for t in 0..3 {
            let public = PublicGraph::new(g, with_connectivity(g, t).connectivity);
            for overhead in [0.01, 0.3, 5.0] {
                let allowed = (1.0 + overhead) / (g.nodes() - t) as f64;
                let Some(ratio) = bisected(&public, t, allowed) else {
                    continue;
                };
                let within = |ratio| public.worst(ratio, t).0.factor <= allowed;
                assert!(within(ratio), "{} peers, {t}", g.nodes());
                assert!(!within(ratio * (1.0 - 2e-9)), "{} peers, {t}", g.nodes());
                found_some += 1;
            }
        }
    }
    assert!(found_some > 15, "{found_some}");
}

#[test]
fn the_overhead_that_a_refusal_names_is_enough_and_half_of_it_is_not() {
    let g = circulant(600, &[1, 7, 58, 131, 277]);
    // Less than half of a peer's ten trees may be spoilt for the rest to overlap.
    for t in [6, 7] {
        let error = NoisePlan::new(&request(&g, t)).expect_err("λ₂ unknown");
        let text = error.to_string();
        assert!(text.contains("set privacy.overhead to"), "{text}");
        let PrivacyError::TooManyColluders {
            needed, largest, ..
        } = error
        else {
            panic!("{error}")
        };
        let largest = largest.expect("some number works");
        assert!(largest >= 4, "{text}");
        assert!(NoisePlan::new(&request(&g, largest)).is_ok(), "{text}");
        let needed = needed.expect("a forest survives");
        let with = |overhead| {
            NoisePlan::new(&NoiseRequest {
                overhead,
                ..request(&g, t)
            })
        };
        let plan = with(needed).expect("what was named");
        let view = plan.views().iter().find(|v| v.colluders == t);
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
        assert!(more.sigma_pairwise < 0.5 * plan.sigma_pairwise());
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
    let found = (plan.sigma_pairwise() / plan.sigma_own()).powi(2);
    assert!(found < 0.8 * recipe, "{found} {recipe}");
    // Views grow with the coalition, and the last one is a peer with all its partners against it, or close.
    let mu: Vec<f64> = plan.views().iter().map(|v| v.mu).collect();
    assert!(
        mu.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-9)),
        "{mu:?}"
    );
    for view in plan.views() {
        let product = view.gap_colluders * view.gap_finite;
        assert!((product / view.gap_to_central - 1.0).abs() < 1e-12);
        assert!(view.gap_finite >= 1.0 - 1e-9, "{view:?}");
    }
}

#[test]
fn dense_and_huge_graphs_fall_back_on_certificates() {
    // K₄₀₀ is too dense to enumerate; its degrees alone are enough.
    let dense = complete(400);
    let known = Connectivity { lower_bound: 399.9 };
    for connectivity in [known, Connectivity::UNKNOWN] {
        let plan = NoisePlan::new(&NoiseRequest {
            connectivity,
            ..request(&dense, 1)
        })
        .expect("399 partners each");
        assert_eq!(plan.views()[0].certificate, Certificate::Exact);
        assert_ne!(plan.views()[1].certificate, Certificate::ExactEnumeration);
    }
    // Two of them joined by two edges: nobody alone can part them, but two can.
    let mut edges: Vec<(u32, u32)> = dense.edge_list().collect();
    edges.extend(dense.edge_list().map(|(u, v)| (u + 400, v + 400)));
    edges.extend([(0, 400), (1, 401)]);
    let joined = graph(800, &edges);
    let plan = NoisePlan::new(&request(&joined, 1)).expect("one edge is left");
    let single = plan.views()[1].certificate;
    assert!(
        [Certificate::Overlap, Certificate::Detour].contains(&single),
        "{single:?}"
    );
    let (own, pairwise) = (plan.sigma_own().powi(2), plan.sigma_pairwise().powi(2));
    for c in [0, 1, 5, 400] {
        let factors = exact_variance_factors(&joined, own, pairwise, &[c]).expect("valid");
        let worst = factors.into_iter().flatten().fold(0.0, f64::max) * Z * Z;
        assert!(worst <= HOLDS, "{c}: {worst}");
    }
    let error = NoisePlan::new(&request(&joined, 2)).expect_err("two can part them");
    assert!(
        matches!(
            error,
            PrivacyError::TooManyColluders {
                largest: Some(1),
                ..
            }
        ),
        "{error}"
    );

    // C₂₀₀₁ is too large to enumerate.
    let large = circulant(2001, &[1, 2]);
    let plan = NoisePlan::new(&request(&large, 0)).expect("connected");
    assert_eq!(plan.views()[0].certificate, Certificate::DisjointForest);
    let single = plan.views()[1].certificate;
    assert!(
        [Certificate::Overlap, Certificate::Detour].contains(&single),
        "{single:?}"
    );
    assert_eq!(plan.views()[3].certificate, Certificate::OwnNoise);
    assert!(plan.views()[1].mu < 0.1 * plan.views()[3].mu);
    // Nobody knows λ₂, and still what is promised is proved and within the overhead of the best there is.
    let expander = circulant(2001, &[1, 7, 58, 131, 277, 500, 901]);
    for t in [1, 2, 5] {
        let plan = NoisePlan::new(&request(&expander, t)).expect("14 trees each");
        let view = plan.views().iter().find(|view| view.colluders == t);
        let view = view.expect("the view asked for");
        assert!(
            [Certificate::Overlap, Certificate::Detour].contains(&view.certificate),
            "{view:?}"
        );
        assert!((view.gap_finite - 1.01_f64.sqrt()).abs() < 1e-3, "{view:?}");
    }
}

#[test]
fn the_degree_that_a_refusal_names_is_enough_where_nobody_proves_the_connectivity() {
    let regular = |degree| {
        let config = GeneratorConfig::RandomRegular(RandomRegular {
            n: None,
            degree,
            seed: 3,
        });
        config.generate(2100).expect("a random regular graph")
    };
    let t = 9;
    let error = NoisePlan::new(&request(&regular(12), t)).expect_err("three trees of twelve");
    let PrivacyError::TooManyColluders { degree, .. } = error else {
        panic!("{error}")
    };
    assert!(
        NoisePlan::new(&request(&regular(degree), t)).is_ok(),
        "{degree}"
    );
}

/// Without a proof of λ₂ nothing was promised against anybody inside, and with an estimate something that was not proved.
#[test]
fn graphs_with_hubs_are_planned_against_every_single_peer_with_a_proof() {
    for edges_per_node in [3, 5] {
        let config = GeneratorConfig::BarabasiAlbert(BarabasiAlbert {
            n: None,
            edges_per_node,
            seed: 7,
        });
        let g = config.generate(2400).expect("a graph");
        let plan = NoisePlan::new(&request(&g, 1)).expect("two trees of three are left");
        let view = &plan.views()[1];
        assert!(
            [Certificate::Overlap, Certificate::Detour].contains(&view.certificate),
            "{view:?}"
        );
        assert!(view.gap_finite < 1.006, "{view:?}");
        // The truth against the largest hub and against a peer with few partners.
        let hub = (0..2400)
            .max_by_key(|&u| g.degree(u as usize))
            .expect("a hub");
        let covariance =
            NoiseCovariance::uniform(&g, plan.sigma_own().powi(2), plan.sigma_pairwise().powi(2))
                .expect("valid");
        for c in [hub, 2399] {
            let options = AccountOptions {
                gap: 1e-6,
                ..AccountOptions::default()
            };
            let exact = account(&covariance, &[c], options).expect("accountable");
            let (_, worst) = exact.worst().expect("somebody");
            let ours = (view.mu * view.mu) / 3.0;
            assert!(
                worst.low <= ours && ours <= 1.05 * worst.low,
                "{c}: {worst:?} {ours}"
            );
        }
    }
    // One edge each: every partner of a leaf parts it from the rest.
    let config = GeneratorConfig::BarabasiAlbert(BarabasiAlbert {
        n: None,
        edges_per_node: 1,
        seed: 7,
    });
    let tree = config.generate(2400).expect("a tree");
    assert!(matches!(
        NoisePlan::new(&request(&tree, 1)),
        Err(PrivacyError::CutVertex { .. })
    ));
}

/// Small graphs are planned by looking at every coalition; here their certificates are held against the same.
#[test]
fn the_ratio_from_certificates_withstands_every_coalition_and_half_of_it_does_not_always() {
    let (mut plans, mut halved) = (0, 0);
    for steps in [
        &[1, 2][..],
        &[1, 3, 4],
        &[1, 2, 5],
        &[1, 2, 3, 4, 5],
        &[1, 2, 3, 4, 5, 6],
    ] {
        for n in [11, 12] {
            let g = circulant(n, steps);
            let known = with_connectivity(&g, 0).connectivity;
            for connectivity in [known, Connectivity::UNKNOWN] {
                let public = PublicGraph::new(&g, connectivity);
                for (t, overhead) in [(1, 0.01), (2, 0.01), (2, 1.0), (3, 0.5), (3, 4.0), (4, 2.0)]
                {
                    let allowed = (1.0 + overhead) / f64::from(n - t);
                    let Some(ratio) = bisected(&public, t as usize, allowed) else {
                        continue;
                    };
                    let own = Z * allowed.sqrt();
                    let worst = |ratio: f64| exhaustive(&g, own, own * ratio.sqrt(), t as usize);
                    assert!(worst(ratio) <= HOLDS, "{n} {steps:?} {t}: {}", worst(ratio));
                    plans += 1;
                    halved += u32::from(worst(0.5 * ratio) > HOLDS);
                }
            }
        }
    }
    assert!(plans > 60 && halved > 15, "{plans} {halved}");
}

#[test]
fn bounds_are_called_in_views_what_they_are_called_in_the_registry() {
    for bound in Bound::all() {
        let name = serde_json::to_value(bound).expect("a name");
        let certificate = serde_json::to_value(bound.certificate()).expect("a name");
        assert_eq!(name, certificate);
    }
    // What is not proved has no name to be promised under.
    assert!(serde_json::from_str::<Certificate>("\"estimated\"").is_err());
}

#[test]
fn real_networks_are_planned_or_refused_in_seconds() {
    let folder =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("../shared/data/graphs");
    for file in [
        "karate.edges",
        "ego-facebook.edges.gz",
        "oregon1-010331.edges.gz",
    ] {
        let path = folder.join(file);
        if !path.exists() {
            crate::vocabulary::testing::skipped(format_args!("a plan on {file}, which is absent"));
            continue;
        }
        let (network, _) = load_graph(&path, LoadOptions::default()).expect("an edge list");
        let start = Instant::now();
        let plan = NoisePlan::new(&request(&network, 0)).expect("connected");
        let sizes: Vec<usize> = plan.views().iter().map(|v| v.colluders).collect();
        assert_eq!(sizes, [0, 1, 2, 5], "{file}");
        assert!((plan.views()[0].gap_to_central - 1.01_f64.sqrt()).abs() < 0.005);
        let local = plan.views()[3].mu;
        assert!(local > 5.0 * plan.views()[0].mu);
        println!(
            "{file}: σ_Δ/σ_η = {:.1}, {:?}",
            plan.sigma_pairwise() / plan.sigma_own(),
            start.elapsed()
        );
        // In each of them some peer has one partner: one curious peer is enough to isolate it.
        assert!(matches!(
            NoisePlan::new(&request(&network, 1)),
            Err(PrivacyError::CutVertex { .. })
        ));
        for t in [2, 5] {
            let error = NoisePlan::new(&request(&network, t)).expect_err("a peer with one partner");
            let PrivacyError::TooManyColluders {
                needed,
                largest,
                partners,
                ..
            } = error
            else {
                panic!("{error}");
            };
            assert_eq!((needed, largest, partners), (None, Some(0), 1), "{file}");
        }
        println!("{file}: with refusals {:?}", start.elapsed());
        // Generous: a lightly optimised build on a busy machine.
        assert!(start.elapsed() < Duration::from_secs(120));
    }
}
