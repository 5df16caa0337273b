//! Graphs: who can talk to whom, who shares noise with whom.

mod graph;

pub use graph::{Graph, GraphError};
