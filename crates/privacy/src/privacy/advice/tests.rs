//! Advice that is followed must be enough, and not much more than enough.

use std::path::Path;

use super::*;
use crate::privacy::{Delta, NoisePlan, NoiseRequest, OnDisconnect, Scheme};
use crate::topology::{LoadOptions, load_graph};

fn stored(name: &str) -> Graph {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("topologies")
        .join(name);
    load_graph(&path, LoadOptions::default())
        .expect("a stored topology")
        .0
}

fn ring(n: u32) -> Graph {
    let edges: Vec<_> = (0..n)
        .map(|u| (u.min((u + 1) % n), u.max((u + 1) % n)))
        .collect();
    Graph::from_edges(n as usize, &edges).expect("a ring")
}

/// The gap of a plan on the graph, with the overhead that the target allows.
fn planned(graph: &Graph, colluders: usize, target: f64) -> Result<f64, PrivacyError> {
    let peers = graph.nodes() as f64;
    let lambda2 = Spectrum::of(graph, &Mixing::metropolis(graph)).algebraic_connectivity;
    let plan = NoisePlan::new(&NoiseRequest {
        graph,
        scheme: Scheme::Pairwise,
        noise_multiplier: 2.0,
        iterations: 3,
        delta: Delta::new(1e-6).expect("a probability"),
        colluders,
        overhead: target * target * (peers - colluders as f64) / peers - 1.0,
        trusted_sum: false,
        connectivity: Connectivity::from(lambda2),
        on_disconnect: OnDisconnect::Refuse,
        ring: None,
    })?;
    let view = plan.views().iter().find(|view| view.colluders == colluders);
    Ok(view.expect("the view asked for").gap_to_central)
}

#[test]
fn following_the_advice_reaches_the_target_and_little_of_it_is_idle() {
    let graphs = [
        ("karate", stored("karate.edges")),
        ("ring", ring(20)),
        ("abilene", stored("abilene.toml")),
        ("geant", stored("geant-2012.toml")),
    ];
    let mut followed = 0;
    for (name, graph) in graphs {
        for (t, target) in [(1, 1.1), (2, 1.5), (3, 2.0)] {
            let advice = advise(&graph, t, target).expect("a target within reach");
            if advice.gap < target {
                assert!(t == 1 && advice.edges.is_empty(), "{name}");
                continue;
            }
            followed += 1;
            assert!(planned(&graph, t, target).is_err(), "{name}: nothing to do");
            let better = with_edges(&graph, &advice.edges);
            println!(
                "{name}, t = {t}: {} edges more than {}, gap {:.3} to {:.3}, or {:?}",
                advice.edges.len(),
                graph.edges(),
                advice.gap,
                advice.reached,
                advice.regular
            );
            assert!(advice.reached < target);
            let gap = planned(&better, t, target).expect("a plan exists");
            assert!(gap <= target * (1.0 + 1e-6), "{name}: {gap}");
            // Without the first edge the certificate does not reach it.
            let fewer = with_edges(&graph, &advice.edges[1..]);
            assert!(gap_of(&fewer, t, target) >= target, "{name}");
            // The alternative works too.
            let regular = advice.regular.expect("a small graph");
            let config = GeneratorConfig::RandomRegular(RandomRegular {
                n: None,
                degree: regular.degree,
                seed: regular.seed,
            });
            let drawn = config
                .generate(graph.nodes())
                .expect("a degree that exists");
            assert!(planned(&drawn, t, target).expect("a plan exists") <= target * (1.0 + 1e-6));
            assert_eq!(
                advise(&graph, t, target),
                Ok(advise(&graph, t, target).expect("again"))
            );
        }
    }
    assert!(followed >= 9, "{followed}");
}

#[test]
fn pieces_are_joined_and_nothing_is_advised_where_nothing_is_missing() {
    let pieces = Graph::from_edges(7, &[(0, 1), (2, 3), (3, 4), (5, 6)]).expect("three pieces");
    let advice = advise(&pieces, 0, 1.01).expect("within reach");
    assert_eq!(advice.edges.len(), 2);
    assert!(with_edges(&pieces, &advice.edges).is_connected());
    let whole = advise(&ring(9), 1, 1.1).expect("within reach");
    assert!(whole.edges.is_empty() && whole.gap == whole.reached);
}

#[test]
fn targets_that_no_graph_reaches_are_refused() {
    let g = ring(10);
    for target in [f64::NAN, 0.0, 1.0, 1.05, f64::INFINITY] {
        assert!(matches!(
            advise(&g, 1, target),
            Err(PrivacyError::Parameter { .. })
        ));
    }
    assert!(matches!(
        advise(&g, 10, 2.0),
        Err(PrivacyError::NobodyHonest { .. })
    ));
}
