//! What does not change while a run is watched: its setting, the graph, and what every peer's data costs.

use serde::Serialize;

use crate::assess::peer_costs;
use crate::config::EngineKind;
use crate::report::{is_drawn, places};
use crate::scenario::Experiment;
use crate::topology::Graph;

/// The setting, once per browser.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Scene {
    kind: &'static str,
    name: String,
    engine: &'static str,
    peers: usize,
    edges: usize,
    iterations: u32,
    rank: usize,
    /// The promise in a sentence, if there is one.
    promise: Option<String>,
    /// Whether it can be paused.
    steps: bool,
    /// Places from 0 to 1, two per peer; empty where the graph is too large to be drawn.
    places: Vec<f32>,
    /// Ends of the drawn edges.
    links: Vec<[u32; 2]>,
    /// Names of the drawn peers.
    names: Vec<String>,
    /// Loss of each drawn peer against nobody who colludes.
    epsilon: Vec<f64>,
}

impl Scene {
    pub(super) fn of(experiment: &Experiment) -> Self {
        let graph = experiment.topology().graph();
        let config = experiment.config();
        let mut scene = Self {
            kind: "run",
            name: config.name.clone(),
            engine: config.engine.kind.name(),
            peers: graph.nodes(),
            edges: graph.edges(),
            iterations: experiment.iterations(),
            rank: config.algorithm.table().rank(),
            promise: experiment
                .is_private()
                .then(|| experiment.statement().sentence()),
            steps: config.engine.kind == EngineKind::Event,
            places: Vec::new(),
            links: Vec::new(),
            names: Vec::new(),
            epsilon: Vec::new(),
        };
        if is_drawn(graph) {
            scene.places = placed(graph);
            scene.links = graph.edge_list().map(|(u, v)| [u, v]).collect();
            scene.names = (0..graph.nodes()).map(|u| graph.printed(u)).collect();
            // A colour says less than a number: where it cannot be said, peers have the colour of their state alone.
            let costs = peer_costs(experiment, &[]).unwrap_or_default();
            if costs.len() == graph.nodes() {
                scene.epsilon = costs.iter().map(|cost| cost.epsilon).collect();
            }
        }
        scene
    }
}

/// Places from 0 to 1, two per node.
pub(super) fn placed(graph: &Graph) -> Vec<f32> {
    let places = places(graph).into_iter();
    places.flat_map(|(x, y)| [x as f32, y as f32]).collect()
}
