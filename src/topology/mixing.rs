//! Sparse Metropolis-Hastings mixing weights.

use super::Graph;

/// The mixing matrix W as sparse rows aligned with the graph's adjacency lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixing {
    self_weights: Vec<f64>,
    weights: Vec<f64>,
    offsets: Vec<usize>,
}

impl Mixing {
    /// Metropolis-Hastings weights.
    #[must_use]
    pub fn metropolis(graph: &Graph) -> Self {
        let mut weights = Vec::new();
        let mut self_weights = Vec::new();
        let mut offsets = vec![0];
        for u in 0..graph.nodes() {
            let mut rest = 1.0;
            for &v in graph.neighbours(u) {
                let weight = 1.0 / (1 + graph.degree(u).max(graph.degree(v as usize))) as f64;
                weights.push(weight);
                rest -= weight;
            }
            self_weights.push(rest);
            offsets.push(weights.len());
        }
        Self {
            self_weights,
            weights,
            offsets,
        }
    }

    /// w_uu.
    #[must_use]
    pub fn self_weight(&self, u: usize) -> f64 {
        self.self_weights[u]
    }

    /// w_uv for the neighbours v of u, ascending.
    #[must_use]
    pub fn neighbour_weights(&self, u: usize) -> &[f64] {
        &self.weights[self.offsets[u]..self.offsets[u + 1]]
    }
}
