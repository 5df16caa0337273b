//! The peers of an experiment and both graphs between them.

use std::sync::Arc;

use super::clock::Clock;
use super::error::{EngineTableError, ExperimentError, NetworkError};
use super::materials::Materials;
use super::peer_names::{self, Matched};
use crate::config::{Config, EngineKind, PeerCount};
use crate::data;
use crate::engine::Analytic;
use crate::topology::Topology;

/// How many peers there are.
pub(super) fn peer_count(config: &Config, loaded: &data::Loaded) -> usize {
    match config.peers.count {
        PeerCount::Vertices if config.data.is_bipartite() => {
            loaded.interactions.users() + loaded.interactions.items()
        }
        PeerCount::Auto | PeerCount::Users | PeerCount::Vertices => loaded.interactions.users(),
        PeerCount::Number(count) => count,
    }
}

/// The communication graph and the noise graph over so many peers, under one list of names.
pub(super) fn matched(
    config: &Config,
    peers: usize,
    topology: Arc<Topology>,
    materials: &Materials,
    clock: &mut Clock,
) -> Result<Matched, ExperimentError> {
    let nodes = topology.graph().nodes();
    if peers != nodes {
        return Err(NetworkError::NodeCount { peers, nodes }.into());
    }
    let most = peers.min(Analytic::MAX_PROBES);
    let found = config.engine.probes;
    if config.engine.kind == EngineKind::Analytic && !(1..=most).contains(&found) {
        return Err(EngineTableError::Probes { found, most }.into());
    }
    let noise_topology = match &config.noise_topology {
        Some(source) => clock
            .time("topology", || materials.topology(source, peers))
            .map_err(NetworkError::NoiseTopology)?,
        None => Arc::clone(&topology),
    };
    let matched = peer_names::matched(topology, noise_topology);
    Ok(matched.map_err(NetworkError::from)?)
}
