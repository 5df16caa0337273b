//! Weighted Laplacians: the graph's own, and I − W of its mixing matrix.

use nalgebra::DMatrix;

use super::super::{Graph, Mixing};

/// M = Σ_edges w_uv (e_u − e_v)(e_u − e_v)ᵀ with all w_uv = 1 (the graph Laplacian L) or with mixing
/// weights (M = I − W, because the rows of W sum to 1).
///
/// M is positive semidefinite with M1 = 0. All three numbers of a spectrum are extreme eigenvalues of
/// such a matrix on 1^⊥: λ₂(L), 1 − λ₂(W) and 1 − λ_min(W).
#[derive(Clone, Copy)]
pub(super) struct Laplacian<'a> {
    graph: &'a Graph,
    mixing: Option<&'a Mixing>,
}

impl<'a> Laplacian<'a> {
    pub(super) fn of_graph(graph: &'a Graph) -> Self {
        Self {
            graph,
            mixing: None,
        }
    }

    pub(super) fn of_mixing(graph: &'a Graph, mixing: &'a Mixing) -> Self {
        Self {
            graph,
            mixing: Some(mixing),
        }
    }

    pub(super) fn graph(&self) -> &'a Graph {
        self.graph
    }

    pub(super) fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    /// The diagonal entry of `node`.
    pub(super) fn diagonal(&self, node: usize) -> f64 {
        self.mixing.map_or_else(
            || self.graph.degree(node) as f64,
            |mixing| mixing.neighbour_weights(node).iter().sum(),
        )
    }

    pub(super) fn largest_diagonal(&self) -> f64 {
        (0..self.nodes()).fold(0.0, |most, u| self.diagonal(u).max(most))
    }

    /// Gershgorin: no eigenvalue is above twice the largest diagonal entry (4 ulp added per summand).
    pub(super) fn ceiling(&self) -> f64 {
        let rounding = 1.0 + 4.0 * (self.graph.max_degree() + 1) as f64 * super::UNIT;
        2.0 * self.largest_diagonal() * rounding
    }

    /// The smallest weight of an edge.
    pub(super) fn least_weight(&self) -> f64 {
        self.mixing.map_or(1.0, |_| {
            super::super::metropolis_weight(self.graph.max_degree(), 0)
        })
    }

    fn weights(&self, node: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let weights = self.mixing.map(|mixing| mixing.neighbour_weights(node));
        self.graph
            .neighbours(node)
            .iter()
            .enumerate()
            .map(move |(i, &v)| (v as usize, weights.map_or(1.0, |w| w[i])))
    }

    /// `out` = M · `x`.
    pub(super) fn multiply(&self, x: &[f64], out: &mut [f64]) {
        for (u, value) in out.iter_mut().enumerate() {
            let here = x[u];
            let neighbours = self.graph.neighbours(u);
            *value = match self.mixing {
                None => neighbours.iter().map(|&v| here - x[v as usize]).sum(),
                Some(mixing) => neighbours
                    .iter()
                    .zip(mixing.neighbour_weights(u))
                    .map(|(&v, w)| w * (here - x[v as usize]))
                    .sum(),
            };
        }
    }

    /// M · `x`.
    pub(super) fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut image = vec![0.0; x.len()];
        self.multiply(x, &mut image);
        image
    }

    /// xᵀMx / ‖x − mean‖², at least λ₂(M) and at most λ_max(M), with relative error below
    /// [`Self::quotient_error`].
    pub(super) fn quotient(&self, x: &[f64]) -> f64 {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let square: f64 = x.iter().map(|v| (v - mean) * (v - mean)).sum();
        let energy: f64 = (0..self.nodes())
            .flat_map(|u| {
                self.weights(u)
                    .filter(move |(v, _)| *v > u)
                    .map(move |(v, w)| w * (x[u] - x[v]) * (x[u] - x[v]))
            })
            .sum();
        energy / square
    }

    /// Relative rounding error of [`Self::quotient`]: two sums of non-negative terms.
    pub(super) fn quotient_error(&self) -> f64 {
        4.0 * (self.nodes() + self.graph.edges() + 8) as f64 * super::UNIT
    }

    /// `sign` · M + `shift` · 11ᵀ/s + `diagonal` · I, dense.
    pub(super) fn dense(&self, sign: f64, shift: f64, diagonal: f64) -> DMatrix<f64> {
        let nodes = self.nodes();
        let mut dense = DMatrix::from_element(nodes, nodes, shift / nodes as f64);
        for u in 0..nodes {
            for (v, weight) in self.weights(u) {
                dense[(v, u)] -= sign * weight;
            }
            dense[(u, u)] += sign * self.diagonal(u) + diagonal;
        }
        dense
    }
}
