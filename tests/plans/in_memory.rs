//! Plans of sessions of rows in memory.

use std::num::NonZeroU32;
use std::sync::Arc;

use undertone::algorithm::{Covariance, Krylov, PowerMethod};
use undertone::data::{Dataset, Interactions};
use undertone::engine::Simulation;
use undertone::linalg::SparseRows;
use undertone::papers::Deflation;
use undertone::plan::{Noise, Promise};
use undertone::privacy::Adjacency;
use undertone::protocol::averaging::AveragingKind;
use undertone::topology::{Graph, Provenance, Topology};

use super::facts::of_simulated;

const ITEMS: usize = 6;

fn samples() -> Dataset {
    let mut rows = SparseRows::new(ITEMS);
    for sample in 0..60_u32 {
        let number = |item| f64::from((sample * 7 + item * item * 3) % 11) / 8.0;
        let row = (0..ITEMS as u32).map(|item| (item, number(item)));
        rows.push_row(row).expect("ascending");
    }
    Dataset::Samples { rows, radius: 2.0 }
}

fn interactions() -> Dataset {
    let users: Vec<Vec<u32>> = (0..40_u32)
        .map(|user| {
            (0..ITEMS as u32)
                .filter(|item| (user + item * item) % 3 != 0)
                .collect()
        })
        .collect();
    Dataset::Interactions {
        interactions: Interactions::from_rows(ITEMS, &users).expect("items"),
        degree_floor: NonZeroU32::new(3).expect("not 0"),
    }
}

/// A ring of twelve with chords.
fn graph() -> Topology {
    let edges = (0..12)
        .map(|u| (u, (u + 1) % 12))
        .chain((0..6).map(|u| (u, u + 6)));
    let graph = Graph::from_edges(12, &edges.collect::<Vec<_>>()).expect("simple");
    Topology::from_graph(graph, Provenance::edges("twelve"))
}

pub(super) fn found() -> Vec<(String, Vec<String>)> {
    let privacy = |adjacency| Promise::new(1.0, 1e-5, adjacency).expect("valid");
    let power = |items| PowerMethod::new(items, 2, 3).expect("valid");
    let krylov = || Krylov::new(ITEMS, 2, 3, 2).expect("valid");
    let deflation = |items| Deflation::new(items, 2, 2, 0.1).expect("valid");
    let covariance = Covariance::new(ITEMS, 2).expect("valid");
    let vertices = Dataset::Graph {
        vertices: 12,
        edges: (0..12)
            .map(|u| (u, (u + 3) % 12))
            .map(|(u, v)| (u.min(v), u.max(v)))
            .collect(),
    };
    let of_users = || privacy(Adjacency::User);
    let simulations = [
        (
            "samples",
            Simulation::new(samples(), covariance, of_users()).peers(20),
        ),
        (
            "samples, replaced",
            Simulation::new(samples(), krylov(), privacy(Adjacency::ReplaceUser)).topology(graph()),
        ),
        (
            "samples, ring",
            Simulation::new(
                samples(),
                power(ITEMS),
                of_users().with_noise(Noise::ring(0.02)),
            )
            .peers(12)
            .averaging(AveragingKind::Tree),
        ),
        (
            "samples, local, shares",
            Simulation::new(
                samples(),
                deflation(ITEMS),
                of_users().with_noise(Noise::Local),
            )
            .peers(12),
        ),
        (
            "samples, no noise",
            Simulation::new(samples(), power(ITEMS), Promise::none(Adjacency::User)).peers(12),
        ),
        (
            "samples, an algorithm of one's own",
            Simulation::new(samples(), Arc::new(krylov()), of_users()).peers(12),
        ),
        (
            "interactions",
            Simulation::new(
                interactions(),
                power(ITEMS),
                privacy(Adjacency::Interaction).with_noise(Noise::pairwise(0.05)),
            )
            .topology(graph()),
        ),
        (
            "interactions, another noise graph",
            Simulation::new(interactions(), power(ITEMS), of_users())
                .peers(12)
                .noise_topology(graph()),
        ),
        (
            "graph",
            Simulation::new(vertices.clone(), power(12), privacy(Adjacency::Edge))
                .topology(graph()),
        ),
        (
            "graph, sums too",
            Simulation::new(vertices, deflation(12), privacy(Adjacency::Edge)).topology(graph()),
        ),
    ];
    let built = simulations.map(|(name, simulation)| {
        let built = simulation.seed(3).build();
        let built = built.unwrap_or_else(|error| panic!("{name}: {error}"));
        (format!("memory: {name}"), of_simulated(&built))
    });
    built.into()
}
