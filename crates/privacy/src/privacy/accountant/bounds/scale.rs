//! Bounds at extremes: of every peer of real networks in seconds, without pairwise noise, and with all of it.

use std::path::Path;
use std::time::{Duration, Instant};

use super::*;
use crate::privacy::accountant::worst_coalition;
use crate::topology::{LoadOptions, load_graph};

/// Generous: a lightly optimised build on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

fn on(file: &str, nodes: usize) {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("../shared/data/graphs")
        .join(file);
    if !path.exists() {
        crate::vocabulary::testing::skipped(format_args!("bounds on {file}, which is absent"));
        return;
    }
    let (graph, _) = load_graph(&path, LoadOptions::default()).expect("an edge list");
    assert_eq!(graph.nodes(), nodes);
    let start = Instant::now();
    let public = PublicGraph::new(&graph, Connectivity::UNKNOWN);
    let mut before: Option<Vec<CertifiedFactor>> = None;
    for t in [0, 1, 2, 5] {
        let found = certified_variance_factors(&public, 1.0, 1e6, t).expect("valid");
        let certified = found.iter().filter(|f| f.factor < 0.1).count();
        let bracket = worst_coalition(&public, 1.0, 1e6, t, 1e9).expect("valid");
        println!(
            "{file}, t = {t}: {certified} of {nodes} peers below a tenth of local noise, worst {:.3e} to {:.3e}, {:?}",
            bracket.at_least,
            bracket.at_most,
            start.elapsed()
        );
        assert!(
            found
                .iter()
                .all(|f| f.factor > 0.0 && f.factor <= 1.0 + 1e-9)
        );
        assert!(bracket.at_least <= bracket.at_most);
        // Peers with at most t partners can be isolated; only they, and few others, may be left without a certificate.
        for (u, f) in found.iter().enumerate() {
            assert!(graph.degree(u) > t || t == 0 || f.by == Bound::OwnNoise);
        }
        assert!(certified * 20 > nodes, "{certified}");
        if let Some(before) = before {
            assert!(before.iter().zip(&found).all(|(a, b)| a.factor <= b.factor));
        }
        before = Some(found);
    }
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
}

#[test]
fn the_autonomous_systems_are_bounded_in_seconds() {
    on("oregon1-010331.edges.gz", 10_670);
}

#[test]
fn ego_facebook_is_bounded_in_seconds() {
    on("ego-facebook.edges.gz", 4039);
}

#[test]
fn every_bound_falls_from_own_noise_alone_to_a_limit() {
    let edges: Vec<(u32, u32)> = (0..13_u32)
        .flat_map(|u| [1, 2, 5].map(|step| (u, (u + step) % 13)))
        .map(|(u, v)| (u.min(v), u.max(v)))
        .collect();
    let graph = Graph::from_edges(13, &edges).expect("a circulant");
    let connectivity = Connectivity {
        lower_bound: crate::privacy::testing::algebraic_connectivity(&graph) * (1.0 - 1e-12),
    };
    let public = PublicGraph::new(&graph, connectivity);
    let ratios = [0.0, 1e-300, 1e-3, 1.0, 1e3, 1e100, 1e300, f64::INFINITY];
    let mut limits = Vec::new();
    for bound in Bound::all() {
        for t in 0..13 {
            let mut before = vec![Some(1.0); 13];
            for ratio in ratios {
                let factor = bound.relative(&public, ratio, t);
                let found: Vec<Option<f64>> = (0..13).map(factor).collect();
                for (a, b) in before.iter().zip(&found) {
                    let (Some(a), Some(b)) = (a, b) else { continue };
                    assert!(b <= a && *b > 0.0, "{bound:?}, t = {t}, {ratio}: {a} {b}");
                    assert!(ratio > 1e-200 || *b == 1.0, "{bound:?} at {ratio}: {b}");
                }
                before = found;
            }
            // 13 − t peers are left at most.
            let least = 1.0 / (13 - t) as f64;
            assert!(before.iter().flatten().all(|&limit| limit >= least));
            limits.extend(before.into_iter().flatten());
        }
    }
    assert!(limits.iter().any(|&limit| limit < 1.0 / 12.9));
}
