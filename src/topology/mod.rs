//! Graphs: who can talk to whom, who shares noise with whom.

mod error;
mod generators;
mod graph;
mod mixing;
mod spectrum;

pub use error::TopologyError;
pub use generators::{
    ATTEMPTS, BarabasiAlbert, Complete, Entry, ErdosRenyi, GeneratorConfig, Grid, Hypercube, KOut,
    MAX_EDGES, MAX_NODES, Path, REGISTRY, RandomGeometric, RandomRegular, Ring, Star, Torus,
    WattsStrogatz,
};
pub use graph::{Graph, GraphError};
pub use mixing::{Mixing, metropolis_weight, self_weight};
pub use spectrum::{CERTIFIED_UP_TO, Interval, SAFETY, Spectrum};
