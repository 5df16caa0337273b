//! The covariance of everybody's noise: own variances and one or several noise graphs.

use super::refused::{LARGEST_RATIO, check_coalition};
use crate::linalg::ShiftedLaplacian;
use crate::privacy::PrivacyError;
use crate::topology::Graph;

/// One connected component of honest peers with its noise.
pub(super) struct Piece {
    /// The peers in breadth-first order; row i of the covariance is peer `nodes[i]`.
    pub(super) nodes: Vec<u32>,
    /// The covariance.
    pub(super) noise: ShiftedLaplacian,
}

/// Σ = diag(σ_η,u²) + Σ_j σ_Δj² L_{G_j}: what the adversary does not know of the noise, before anybody colludes.
///
/// Several noise graphs over the same peers merge into one weighted Laplacian, because independent variances on
/// an edge add. A coalition knows every pairwise term with an end in it: those edges disappear, its peers too,
/// and each honest peer keeps its own variance.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseCovariance {
    own: Vec<f64>,
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Vec<f64>,
}

impl NoiseCovariance {
    /// Own noise of variance `own[u]` at peer u, and for every `(graph, variance)` pairwise noise of that
    /// variance on each edge of the graph. An edge of variance 0 is no edge.
    ///
    /// # Errors
    /// [`PrivacyError::PeerNoise`] for an own variance that is negative, subnormal, infinite or not a number;
    /// [`PrivacyError::Parameter`] for such a pairwise variance or for variances more than 1e100 apart;
    /// [`PrivacyError::PeerCount`] for a graph over another number of peers, or nobody at all.
    ///
    /// # Cost
    /// O(edges · log(graphs · degree)) time and memory for the merged edges.
    pub fn new(own: Vec<f64>, graphs: &[(&Graph, f64)]) -> Result<Self, PrivacyError> {
        let peers = own.len();
        if peers == 0 {
            return Err(PrivacyError::PeerCount { peers, found: 0 });
        }
        for (peer, &found) in (0_u32..).zip(&own) {
            if !(found == 0.0 || found.is_normal() && found > 0.0) {
                return Err(PrivacyError::PeerNoise {
                    peer,
                    found,
                    expected: "a finite number of at least 0",
                });
            }
        }
        for &(graph, variance) in graphs {
            if graph.nodes() != peers {
                return Err(PrivacyError::PeerCount {
                    peers,
                    found: graph.nodes(),
                });
            }
            check_pairwise(variance)?;
        }
        let mut merged = Self {
            offsets: vec![0],
            neighbours: Vec::new(),
            weights: Vec::new(),
            own,
        };
        let mut row: Vec<(u32, f64)> = Vec::new();
        for u in 0..peers {
            row.clear();
            for &(graph, variance) in graphs.iter().filter(|(_, variance)| *variance > 0.0) {
                row.extend(graph.neighbours(u).iter().map(|&v| (v, variance)));
            }
            merged.push_row(&mut row);
        }
        merged.check_range()?;
        Ok(merged)
    }

    /// The same own variance σ_η² = `own` everywhere and σ_Δ² = `pairwise` on every edge of one graph.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn uniform(graph: &Graph, own: f64, pairwise: f64) -> Result<Self, PrivacyError> {
        Self::new(vec![own; graph.nodes()], &[(graph, pairwise)])
    }

    /// Own noise of variance `own[u]` at peer u, and pairwise noise of its own variance on every edge `(u, v, variance)`. The variances
    /// of an edge that is named more than once add up.
    ///
    /// # Errors
    /// Those of [`Self::new`], [`PrivacyError::Edge`] for an edge that ends where no peer is or where it began.
    ///
    /// # Cost
    /// O(edges · log degree) time and memory.
    pub fn of_edges(own: Vec<f64>, edges: &[(u32, u32, f64)]) -> Result<Self, PrivacyError> {
        let mut merged = Self::new(own, &[])?;
        let peers = merged.own.len();
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); peers];
        for &(u, v, variance) in edges {
            if u == v || u.max(v) as usize >= peers {
                return Err(PrivacyError::Edge { u, v, peers });
            }
            check_pairwise(variance)?;
            if variance > 0.0 {
                rows[u as usize].push((v, variance));
                rows[v as usize].push((u, variance));
            }
        }
        merged.offsets.truncate(1);
        for row in &mut rows {
            merged.push_row(row);
        }
        merged.check_range()?;
        Ok(merged)
    }

    /// The next peer's partners, in any order and several times each.
    fn push_row(&mut self, row: &mut [(u32, f64)]) {
        // Stable, so that both directions of an edge add in the same order.
        row.sort_by_key(|&(v, _)| v);
        let first = self.neighbours.len();
        for &(v, variance) in &*row {
            if self.neighbours.len() > first && self.neighbours.last() == Some(&v) {
                if let Some(weight) = self.weights.last_mut() {
                    *weight += variance;
                }
            } else {
                self.neighbours.push(v);
                self.weights.push(variance);
            }
        }
        self.offsets.push(self.neighbours.len());
    }

    /// Number of peers, s.
    #[must_use]
    pub fn peers(&self) -> usize {
        self.own.len()
    }

    /// σ_η,u² of every peer.
    #[must_use]
    pub fn own(&self) -> &[f64] {
        &self.own
    }

    /// The noise partners of `peer`, ascending, with the variance shared with each.
    pub fn partners(&self, peer: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.offsets[peer]..self.offsets[peer + 1];
        let neighbours = self.neighbours[range.clone()].iter().copied();
        neighbours.zip(self.weights[range].iter().copied())
    }

    /// The connected components of what a coalition leaves, each in breadth-first order.
    ///
    /// # Errors
    /// [`PrivacyError::Coalition`] for a peer that does not exist or is named twice,
    /// [`PrivacyError::NobodyHonest`] for a coalition of everybody, [`PrivacyError::PeerNoise`] for a component
    /// in which nobody adds own noise: Σ_H is singular there and protects nothing.
    pub(super) fn pieces(&self, coalition: &[u32]) -> Result<Vec<Piece>, PrivacyError> {
        let peers = self.peers();
        check_coalition(peers, coalition)?;
        if coalition.len() >= peers {
            return Err(PrivacyError::NobodyHonest {
                colluders: coalition.len(),
                peers,
            });
        }
        // Position in its own piece; the coalition counts as taken.
        const FREE: u32 = u32::MAX;
        let mut position = vec![FREE; peers];
        for &peer in coalition {
            position[peer as usize] = 0;
        }
        let mut colluding = vec![false; peers];
        for &peer in coalition {
            colluding[peer as usize] = true;
        }
        let mut pieces = Vec::new();
        for start in 0..peers as u32 {
            if position[start as usize] != FREE {
                continue;
            }
            let mut nodes = vec![start];
            position[start as usize] = 0;
            let mut next = 0;
            while next < nodes.len() {
                for (v, _) in self.partners(nodes[next] as usize) {
                    if position[v as usize] == FREE {
                        position[v as usize] = nodes.len() as u32;
                        nodes.push(v);
                    }
                }
                next += 1;
            }
            let own: Vec<f64> = nodes.iter().map(|&u| self.own[u as usize]).collect();
            if own.iter().all(|&variance| variance == 0.0) {
                return Err(PrivacyError::PeerNoise {
                    peer: start,
                    found: 0.0,
                    expected: "above 0, because no honest peer it is connected to adds own noise either",
                });
            }
            let rows = nodes.iter().map(|&u| {
                self.partners(u as usize)
                    .filter(|&(v, _)| !colluding[v as usize])
                    .map(|(v, weight)| (position[v as usize], weight))
                    .collect::<Vec<_>>()
            });
            let noise = ShiftedLaplacian::new(own, rows);
            pieces.push(Piece { nodes, noise });
        }
        Ok(pieces)
    }

    /// Ratios beyond 1e100 would overflow when squared.
    fn check_range(&self) -> Result<(), PrivacyError> {
        let positive = || self.own.iter().copied().filter(|&variance| variance > 0.0);
        let least = positive().fold(f64::INFINITY, f64::min);
        let largest = self.weights.iter().copied().chain(positive());
        let largest = largest.fold(0.0, f64::max);
        // Nobody with own noise: singular, which the pieces say with a peer's number.
        if least.is_infinite() || largest / least <= LARGEST_RATIO {
            return Ok(());
        }
        Err(PrivacyError::Parameter {
            name: "the ratio of the largest variance to the smallest own variance",
            found: largest / least,
            expected: "at most 1e100",
        })
    }
}

/// Refuses what is no variance of pairwise noise.
fn check_pairwise(variance: f64) -> Result<(), PrivacyError> {
    // Written so that NaN is refused too.
    if variance == 0.0 || variance.is_normal() && variance > 0.0 {
        return Ok(());
    }
    Err(PrivacyError::Parameter {
        name: "the variance of the pairwise noise",
        found: variance,
        expected: "a finite number of at least 0",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: usize, edges: &[(u32, u32)]) -> Graph {
        Graph::from_edges(nodes, edges).expect("a simple graph")
    }

    #[test]
    fn several_noise_graphs_merge_into_one() {
        let (path, pair) = (graph(3, &[(0, 1), (1, 2)]), graph(3, &[(0, 1)]));
        let sum = NoiseCovariance::new(vec![1.0, 2.0, 3.0], &[(&path, 5.0), (&pair, 0.5)])
            .expect("valid");
        assert_eq!(sum.partners(1).collect::<Vec<_>>(), [(0, 5.5), (2, 5.0)]);
        assert_eq!(sum.partners(0).collect::<Vec<_>>(), [(1, 5.5)]);
        // Without variance there is no edge.
        let none = NoiseCovariance::uniform(&path, 1.0, 0.0).expect("valid");
        assert_eq!(none.pieces(&[]).expect("valid").len(), 3);
    }

    #[test]
    fn every_edge_may_have_a_variance_of_its_own() {
        let (path, pair) = (graph(3, &[(0, 1), (1, 2)]), graph(3, &[(0, 1)]));
        let own = vec![1.0, 2.0, 3.0];
        let graphs = NoiseCovariance::new(own.clone(), &[(&path, 5.0), (&pair, 0.5)]);
        let edges = [(1, 0, 5.0), (2, 1, 5.0), (0, 1, 0.5), (0, 2, 0.0)];
        let edges = NoiseCovariance::of_edges(own.clone(), &edges);
        assert_eq!(edges.expect("valid"), graphs.expect("valid"));
        for (u, v) in [(0, 3), (1, 1), (u32::MAX, 0)] {
            assert!(matches!(
                NoiseCovariance::of_edges(own.clone(), &[(u, v, 1.0)]),
                Err(PrivacyError::Edge { peers: 3, .. })
            ));
        }
        for bad in [f64::NAN, -1.0, f64::INFINITY, 1e-310] {
            assert!(NoiseCovariance::of_edges(own.clone(), &[(0, 1, bad)]).is_err());
        }
        assert!(NoiseCovariance::of_edges(vec![], &[]).is_err());
    }

    #[test]
    fn edges_to_the_coalition_disappear_and_own_variances_stay() {
        let g = graph(4, &[(0, 1), (1, 2), (2, 3), (0, 3)]);
        let sum = NoiseCovariance::new(vec![1.0, 2.0, 3.0, 4.0], &[(&g, 7.0)]).expect("valid");
        let pieces = sum.pieces(&[1]).expect("valid");
        assert_eq!(pieces.len(), 1);
        assert_eq!(pieces[0].nodes, [0, 3, 2]);
        assert_eq!(pieces[0].noise.row(0).collect::<Vec<_>>().len(), 1);
        assert_eq!(pieces[0].noise.row(1).collect::<Vec<_>>().len(), 2);
        assert_eq!(sum.pieces(&[1, 3]).expect("valid").len(), 2);
    }

    #[test]
    fn what_means_nothing_is_refused_with_the_peer_named() {
        let g = graph(3, &[(0, 1)]);
        for bad in [f64::NAN, -1.0, f64::INFINITY, 1e-310] {
            assert!(matches!(
                NoiseCovariance::new(vec![1.0, bad, 1.0], &[(&g, 1.0)]),
                Err(PrivacyError::PeerNoise { peer: 1, .. })
            ));
            assert!(matches!(
                NoiseCovariance::new(vec![1.0; 3], &[(&g, bad)]),
                Err(PrivacyError::Parameter { .. })
            ));
        }
        assert!(NoiseCovariance::new(vec![1.0, 1e-200, 1.0], &[]).is_err());
        assert!(matches!(
            NoiseCovariance::new(vec![1.0; 4], &[(&g, 1.0)]),
            Err(PrivacyError::PeerCount { peers: 4, found: 3 })
        ));
        assert!(NoiseCovariance::new(vec![], &[]).is_err());
        let silent = NoiseCovariance::new(vec![1.0, 0.0, 0.0], &[(&g, 1.0)]).expect("valid");
        // Peer 1 hides behind peer 0; peer 2 has nobody, and without peer 0 neither has peer 1.
        assert!(matches!(
            silent.pieces(&[]),
            Err(PrivacyError::PeerNoise { peer: 2, .. })
        ));
        assert!(silent.pieces(&[2]).is_ok());
        assert!(matches!(
            silent.pieces(&[2, 0]),
            Err(PrivacyError::PeerNoise { peer: 1, .. })
        ));
        assert!(matches!(
            silent.pieces(&[0, 0]),
            Err(PrivacyError::Coalition { peer: 0, .. })
        ));
        assert!(matches!(
            silent.pieces(&[3]),
            Err(PrivacyError::Coalition { peer: 3, .. })
        ));
        assert!(matches!(
            silent.pieces(&[2, 1, 0]),
            Err(PrivacyError::NobodyHonest { .. })
        ));
    }
}
