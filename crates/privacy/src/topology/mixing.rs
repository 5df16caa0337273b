//! Metropolis–Hastings mixing weights, sparse.

use super::Graph;

/// The Metropolis–Hastings weight of an edge between nodes of degrees `a` and `b`: 1/(1 + max(a, b))
/// (Xiao & Boyd 2004).
///
/// A node needs its own degree and its neighbours' degrees for it, nothing else about the graph; two
/// ends computing it separately get equal bits.
#[must_use]
pub fn metropolis_weight(a: usize, b: usize) -> f64 {
    1.0 / (1.0 + a.max(b) as f64)
}

/// A node's weight on its own value: 1 minus its neighbours' weights, folded in ascending neighbour order.
#[must_use]
pub fn self_weight(neighbour_weights: &[f64]) -> f64 {
    1.0 - neighbour_weights.iter().sum::<f64>()
}

/// The mixing matrix W of a graph: symmetric, rows sum to 1, non-zero only on the diagonal and on edges.
///
/// One round of averaging replaces every value x_u by w_uu x_u + Σ_v w_uv x_v over the neighbours v.
///
/// Statement: every w_uu ≥ 1/(1 + d_u) > 0, so all eigenvalues of W lie in (−1, 1], and 1 is simple if
/// the graph is connected. Proof: each of the d_u neighbour weights is at most 1/(1 + d_u), which gives
/// the first part; Gershgorin's disc u is [2w_uu − 1, 1], which gives the second; and
/// xᵀ(I − W)x = Σ_edges w_uv (x_u − x_v)² vanishes on a connected graph for constant x only.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixing {
    offsets: Vec<usize>,
    neighbour_weights: Vec<f64>,
    self_weights: Vec<f64>,
}

impl Mixing {
    /// The Metropolis–Hastings weights of `graph`.
    ///
    /// # Cost
    /// O(nodes + edges) time and 8 bytes per node and per end of an edge.
    #[must_use]
    pub fn metropolis(graph: &Graph) -> Self {
        let mut offsets = vec![0];
        let mut neighbour_weights = Vec::with_capacity(2 * graph.edges());
        let mut self_weights = Vec::with_capacity(graph.nodes());
        for u in 0..graph.nodes() {
            let start = neighbour_weights.len();
            for &v in graph.neighbours(u) {
                neighbour_weights
                    .push(metropolis_weight(graph.degree(u), graph.degree(v as usize)));
            }
            self_weights.push(self_weight(&neighbour_weights[start..]));
            offsets.push(neighbour_weights.len());
        }
        Self {
            offsets,
            neighbour_weights,
            self_weights,
        }
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.self_weights.len()
    }

    /// w_uu.
    #[must_use]
    pub fn self_weight(&self, node: usize) -> f64 {
        self.self_weights[node]
    }

    /// The weights w_uv of `node`'s neighbours, in the order of [`Graph::neighbours`].
    #[must_use]
    pub fn neighbour_weights(&self, node: usize) -> &[f64] {
        &self.neighbour_weights[self.offsets[node]..self.offsets[node + 1]]
    }

    /// `out` = W · `x`: one round of averaging of one coordinate at every node of the graph these are the
    /// weights of.
    ///
    /// # Shapes
    /// `x` and `out` have one entry per node.
    pub fn multiply(&self, graph: &Graph, x: &[f64], out: &mut [f64]) {
        debug_assert!(x.len() == self.nodes() && out.len() == self.nodes());
        for (u, value) in out.iter_mut().enumerate() {
            let mut sum = self.self_weights[u] * x[u];
            for (&v, weight) in graph.neighbours(u).iter().zip(self.neighbour_weights(u)) {
                sum += weight * x[v as usize];
            }
            *value = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_a_path_of_three_are_thirds() {
        let graph = Graph::from_edges(3, &[(0, 1), (1, 2)]).expect("a path");
        let mixing = Mixing::metropolis(&graph);
        let third = 1.0 / 3.0;
        assert_eq!(mixing.neighbour_weights(1), [third, third]);
        assert!((mixing.self_weight(0) - 2.0 * third).abs() < 1e-15);
        assert!((mixing.self_weight(1) - third).abs() < 1e-15);
        let mut out = [0.0; 3];
        mixing.multiply(&graph, &[3.0, 0.0, 6.0], &mut out);
        for (found, expected) in out.iter().zip([2.0, 3.0, 4.0]) {
            assert!((found - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn both_ends_of_an_edge_agree_on_its_weight() {
        assert_eq!(
            metropolis_weight(2, 7).to_bits(),
            metropolis_weight(7, 2).to_bits()
        );
        assert_eq!(metropolis_weight(3, 1), 0.25);
    }
}
