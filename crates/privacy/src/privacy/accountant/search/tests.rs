//! Brackets against exhaustive search.

use rand::{Rng, RngExt};

use super::*;
use crate::privacy::accountant::{Connectivity, exact_variance_factors};
use crate::privacy::testing::algebraic_connectivity;
use crate::topology::Graph;
use crate::vocabulary::{Label, Seed};

fn random(rng: &mut impl Rng, n: u32, probability: f64) -> Graph {
    let edges: Vec<(u32, u32)> = (0..n)
        .flat_map(|u| (u + 1..n).map(move |v| (u, v)))
        .filter(|&(u, v)| v == u + 1 || (u == 0 && v == n - 1) || rng.random::<f64>() < probability)
        .collect();
    Graph::from_edges(n as usize, &edges).expect("a simple graph")
}

fn learned(graph: &Graph, own: f64, pairwise: f64, coalition: &[u32], victim: u32) -> f64 {
    exact_variance_factors(graph, own, pairwise, coalition).expect("valid")[victim as usize]
        .expect("honest")
}

#[test]
fn both_ends_are_true_with_any_budget_and_meet_with_a_large_one() {
    let mut rng = Seed::from_u64(61).generator(Label::Scenario);
    let (mut tight, mut searched) = (0, 0);
    for trial in 0..60 {
        let n = 5 + trial % 7;
        let g = random(&mut rng, n, 0.45);
        let connectivity = Connectivity {
            lower_bound: algebraic_connectivity(&g) - 1e-9,
        };
        let public = PublicGraph::new(&g, connectivity);
        for t in 0..4 {
            for (own, pairwise) in [(2.0, 10.0), (1e-3, 1.0)] {
                let full = worst_coalition(&public, own, pairwise, t, 1e9).expect("valid");
                assert!(full.at_least <= full.at_most * (1.0 + 1e-12));
                assert!(full.width() < 1.0 + 1e-9, "{full:?}");
                assert_eq!(full.attained_by.len(), t);
                let truth = learned(&g, own, pairwise, &full.attained_by, full.victim);
                assert!(
                    (full.at_least / truth - 1.0).abs() < 1e-9,
                    "{full:?} {truth}"
                );
                if full.by == Certificate::OwnNoise {
                    continue;
                }
                let none = worst_coalition(&public, own, pairwise, t, 0.0).expect("valid");
                assert!(!none.exhaustive && none.by != Certificate::ExactEnumeration);
                let found = local::search(&public, pairwise / own, t, 1e6);
                for (at_least, coalition, victim) in [
                    (none.at_least, &none.attained_by, none.victim),
                    (
                        found.factor * ROUNDING / own,
                        &found.coalition,
                        found.victim,
                    ),
                ] {
                    assert_eq!(coalition.len(), t);
                    let truth = learned(&g, own, pairwise, coalition, victim);
                    assert!(at_least <= truth * (1.0 + 1e-10), "{at_least} {truth}");
                    assert!(at_least >= truth * (1.0 - 1e-6), "{at_least} {truth}");
                    assert!(at_least <= full.at_most * (1.0 + 1e-9));
                }
                assert!(none.at_most >= full.at_least * (1.0 - 1e-9));
                searched += 1;
                tight += u32::from(found.factor / own > 0.999 * full.at_least);
            }
        }
    }
    // The search finds the worst coalition nearly always; it is deterministic, so this cannot fail by chance.
    assert!(searched > 300, "{searched}");
    assert!(
        f64::from(tight) > 0.4 * f64::from(searched),
        "{tight} of {searched}"
    );
}

#[test]
fn a_peer_with_few_partners_is_isolated_by_them() {
    let mut rng = Seed::from_u64(62).generator(Label::Scenario);
    let g = random(&mut rng, 30, 0.0);
    let public = PublicGraph::new(&g, Connectivity::UNKNOWN);
    let found = worst_coalition(&public, 4.0, 100.0, 3, 0.0).expect("valid");
    assert_eq!((found.at_least, found.at_most), (0.25, 0.25));
    assert_eq!(
        learned(&g, 4.0, 100.0, &found.attained_by, found.victim),
        0.25
    );
    assert_eq!(found.attained_by.len(), 3);
}

#[test]
fn a_separator_is_found_where_enumeration_is_out_of_reach() {
    // Two rings of cliques joined at three peers: the separator {0, 20, 40} leaves 7 peers behind.
    let mut edges: BTreeEdges = BTreeEdges::new();
    for block in 0..8_u32 {
        for u in 0..10 {
            for v in u + 1..10 {
                edges.insert((block * 10 + u, block * 10 + v));
            }
        }
        // Three peers of a block stand for it in every other.
        for other in 0..8 {
            for link in 0..3 {
                let (a, b) = (block * 10 + link, other * 10 + link);
                if a != b {
                    edges.insert((a.min(b), a.max(b)));
                }
            }
        }
    }
    let edges: Vec<_> = edges.into_iter().collect();
    let g = Graph::from_edges(80, &edges).expect("a simple graph");
    let public = PublicGraph::new(&g, Connectivity::UNKNOWN);
    let found = worst_coalition(&public, 1.0, 1e6, 3, 3e7).expect("valid");
    assert!(!found.exhaustive);
    assert!(found.at_least > 1.0 / 7.0 - 1e-6, "{found:?}");
    assert!(found.at_most >= found.at_least);
    // The forest bound keeps six of the nine trees around a peer.
    assert!(found.at_most < 0.2, "{found:?}");
}

type BTreeEdges = std::collections::BTreeSet<(u32, u32)>;

#[test]
fn nonsense_is_refused() {
    let g = Graph::from_edges(3, &[(0, 1), (1, 2)]).expect("a path");
    let public = PublicGraph::new(&g, Connectivity::UNKNOWN);
    assert!(worst_coalition(&public, f64::NAN, 1.0, 1, 1e9).is_err());
    assert!(worst_coalition(&public, 1.0, -1.0, 1, 1e9).is_err());
    assert!(matches!(
        worst_coalition(&public, 1.0, 1.0, 3, 1e9),
        Err(PrivacyError::NobodyHonest { .. })
    ));
    // A budget that is no number allows nothing, and still brackets.
    assert!(
        worst_coalition(&public, 1.0, 1.0, 0, f64::NAN)
            .expect("valid")
            .at_most
            > 0.0
    );
}
