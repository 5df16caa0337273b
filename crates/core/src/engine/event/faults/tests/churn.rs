//! Slow links that lose much, and peers that come and go: everybody finishes, on graphs that one lost peer would take apart, too.

use std::path::Path;

use super::{ITERATIONS, KINDS, Scene, check, run, scene_on, tolerance};
use crate::engine::event::Latency;
use crate::engine::event::faults::{Crash, CrashPoint, FaultSchedule};
use crate::protocol::regroup::End;
use crate::topology::{GeneratorConfig, Graph, LoadOptions, load};

fn generated(text: &str, nodes: usize) -> Graph {
    let config: GeneratorConfig = toml::from_str(text).expect("a generator");
    config.generate(nodes).expect("a graph")
}

fn graphs() -> Vec<(&'static str, Graph)> {
    let abilene =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("topologies/abilene.toml");
    let abilene = load(&abilene, LoadOptions::default()).expect("a topology");
    vec![
        ("ring", generated("generator = \"ring\"", 20)),
        ("line", generated("generator = \"path\"", 10)),
        ("star", generated("generator = \"star\"", 20)),
        ("abilene", abilene.graph().clone()),
        (
            "random-regular",
            generated("generator = \"random-regular\"\ndegree = 4\nseed = 1", 20),
        ),
    ]
}

/// One peer in ten crashes in every iteration, and comes back within the grace.
fn churn(scene: &Scene, seed: u64) -> FaultSchedule {
    let peers = scene.session.peers() as u32;
    let each = peers.div_ceil(10);
    let mut schedule = FaultSchedule {
        latency: Some(Latency::Exponential {
            mean_micros: 100_000,
        }),
        loss: 0.2,
        resend_micros: 400_000,
        grace_micros: 600_000_000,
        patience_micros: 600_000_000,
        ..FaultSchedule::none(seed)
    };
    for iteration in 0..ITERATIONS {
        for turn in 0..each {
            let number = iteration * each + turn;
            schedule.crashes.push(Crash {
                peer: (seed as u32 + 3 * number) % peers,
                // Spread over the records of three iterations.
                after: 3 + 9 * iteration + turn,
                at: [CrashPoint::AfterRecord, CrashPoint::TornRecord][(number % 2) as usize],
                restart_micros: Some(1_000_000),
            });
        }
    }
    schedule
}

#[test]
fn everybody_finishes_under_loss_latency_and_churn_on_every_graph() {
    let mut restarts = 0;
    for (name, graph) in graphs() {
        for (seed, kind) in (1..).zip(KINDS) {
            let scene = scene_on(&graph, kind, seed);
            let tolerance = tolerance(graph.nodes() as u32, 0, 40);
            let schedule = churn(&scene, seed);
            let outcome = run(&scene.views, &tolerance, &schedule).expect("runs");
            let finished = check(&scene, &outcome, &tolerance).expect("holds");
            let ends: Vec<Option<End>> = outcome.peers.iter().map(|peer| peer.end).collect();
            assert_eq!(finished, graph.nodes() as u64, "{name}, {kind:?}: {ends:?}");
            assert!(outcome.fired.frames_lost > 0);
            restarts += outcome.fired.restarts;
        }
    }
    assert!(restarts > 50, "{restarts}");
}
