//! The covariance of one connected piece of the honest graph, and its inverse.

use nalgebra::DMatrix;

use crate::linalg::CheckedInverse;
use crate::privacy::PrivacyError;
use crate::topology::Graph;

/// (aI + bL + τ11ᵀ)⁻¹ for the subgraph induced by some nodes, where that subgraph is connected.
///
/// # Why τ
/// Σ = aI + bL has the eigenvector 1 with the tiny eigenvalue a, everything else is at least a + bλ₂.
/// Adding τ11ᵀ moves that one eigenvalue to a + τn and nothing else, so that the condition number is of
/// order d_max/λ₂ whatever b/a is, even for a = 0. What is taken away is known exactly:
/// [Σ⁻¹]_uu = 1/(n·a) + excess_u with
/// **excess_u = [(Σ + τ11ᵀ)⁻¹]_uu − 1/(n(a + τn))** = Σ_{k≥2} w_k/(a + bλ_k), w_k = (e_uᵀq_k)².
/// At a = 0, b = 1 the excess is the diagonal of the pseudo-inverse L⁺.
pub(super) struct Component {
    /// The nodes, ascending; row i of the matrices is node `nodes[i]`.
    pub nodes: Vec<u32>,
    /// (aI + bL + τ11ᵀ)⁻¹.
    pub inverse: DMatrix<f64>,
    /// τ.
    pub tau: f64,
    /// a.
    pub own: f64,
    /// The largest relative error any diagonal entry of `inverse` can have.
    pub relative_error: f64,
}

impl Component {
    /// Inverts the covariance of the subgraph induced by `nodes` (ascending, not empty, connected), with
    /// a = `own` ≥ 0 and b = `pairwise` ≥ 0, not both 0.
    ///
    /// # Errors
    /// [`PrivacyError::IllConditioned`] if the result fails its own check.
    pub(super) fn new(
        graph: &Graph,
        nodes: Vec<u32>,
        own: f64,
        pairwise: f64,
    ) -> Result<Self, PrivacyError> {
        let n = nodes.len();
        let neighbours: Vec<Vec<usize>> = nodes
            .iter()
            .map(|&u| {
                graph
                    .neighbours(u as usize)
                    .iter()
                    .filter_map(|v| nodes.binary_search(v).ok())
                    .collect()
            })
            .collect();
        let ends: usize = neighbours.iter().map(Vec::len).sum();
        // The eigenvalue of 1 becomes 2a + b·(mean degree), among the others.
        let mean = (own + pairwise * (ends as f64 / n as f64)).max(f64::MIN_POSITIVE);
        let tau = mean / n as f64;
        let mut matrix = DMatrix::from_element(n, n, tau);
        for (i, list) in neighbours.iter().enumerate() {
            matrix[(i, i)] += own + pairwise * list.len() as f64;
            for &j in list {
                matrix[(i, j)] -= pairwise;
            }
        }
        let CheckedInverse {
            inverse,
            relative_error,
        } = CheckedInverse::of(&matrix)?;
        Ok(Self {
            nodes,
            inverse,
            tau,
            own,
            relative_error,
        })
    }

    /// The excess of every node, in the order of `nodes`.
    pub(super) fn excess(&self) -> Vec<f64> {
        if self.nodes.len() == 1 {
            return vec![0.0];
        }
        let known = self.known_part(self.nodes.len());
        (0..self.nodes.len())
            .map(|i| (self.inverse[(i, i)] - known).max(0.0))
            .collect()
    }

    /// 1/(n(a + τn)): what τ leaves on the eigenvector 1 of a graph with n nodes.
    pub(super) fn known_part(&self, nodes: usize) -> f64 {
        let n = nodes as f64;
        1.0 / (n * (self.own + self.tau * n))
    }
}

/// The connected pieces of the graph without `removed`, each ascending.
pub(super) fn pieces(graph: &Graph, removed: &[u32]) -> Vec<Vec<u32>> {
    let mut pieces: Vec<Vec<u32>> = Vec::new();
    for (u, piece) in (0_u32..).zip(graph.components_without(removed)) {
        if let Some(piece) = piece {
            let piece = piece as usize;
            if pieces.len() <= piece {
                pieces.resize(piece + 1, Vec::new());
            }
            pieces[piece].push(u);
        }
    }
    pieces
}
