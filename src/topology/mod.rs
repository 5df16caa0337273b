//! Graphs: who can talk to whom, who shares noise with whom.

mod graph;
mod mixing;

pub use graph::{Graph, GraphError};
pub use mixing::Mixing;
