//! The detour bound, from how far apart honest peers can be once any one peer is removed.
//!
//! # Statement
//! Let t ≤ 1 and let any two honest peers be at most ℓ edges apart in H = G − S for every coalition S of t peers. Then
//! v_u ≤ 1/(n_H σ_η²) + ℓ/σ_Δ² for every honest u, n_H = s − t.
//!
//! # Proof
//! By the principle in the proof of [`super::star::star_bound`] σ_η²v_u ≤ ‖τ‖² + (σ_η²/σ_Δ²)·‖f‖² for every flow f that carries
//! the unit of u to the distribution τ. Take τ even, 1/n_H everywhere, and for f the mean over v of the unit flows along a
//! shortest path from u to v. Each has ‖·‖² ≤ ℓ, and ‖·‖ is convex. ∎
//!
//! # Which ℓ
//! t = 0: twice the largest distance from one peer r. t = 1: let T be the breadth-first tree of r. Without c ≠ r a peer
//! that is not below c keeps its distance to r; the others are reached over the edges that lead below c from elsewhere,
//! and their distances to r are found by a breadth-first search of that part alone. Every peer is below as many others as
//! it is deep, so all c together cost O(|E|·depth). Without r the same is asked of another peer. By the triangle
//! inequality ℓ is at most twice the largest distance found. ∎
//!
//! It is far from tight for finite σ_Δ, but exact in the limit of large σ_Δ, needs no eigenvalue, and takes a moment for
//! a million peers.

use super::{PerPeer, PublicGraph};
use crate::topology::Graph;

/// Visits of an edge after which nothing is said: graphs so long that another bound is needed anyway.
const MOST_VISITS: usize = 500_000_000;

const FAR: u32 = u32::MAX;

/// ℓ for coalitions of `colluders` ≤ 1; `None` where one of them may split the graph, or the search is given up.
pub(super) fn longest(graph: &Graph, colluders: usize) -> Option<u32> {
    let peers = graph.nodes();
    let hub = |spared: Option<usize>| {
        (0..peers)
            .filter(|&u| Some(u) != spared)
            .max_by_key(|&u| (graph.degree(u), std::cmp::Reverse(u)))
    };
    let root = hub(None)?;
    let tree = Tree::new(graph, root, None)?;
    let deepest = tree.distance.iter().copied().max().unwrap_or(0);
    if colluders == 0 {
        return deepest.checked_mul(2);
    }
    if colluders > 1 || peers < 3 {
        // Whoever is left of two peers is alone.
        return (colluders == 1 && peers == 2).then_some(0);
    }
    let second = Tree::new(graph, hub(Some(root))?, Some(root))?;
    let reachable = second.distance.iter().zip(0..);
    let without_root = reachable
        .filter(|&(_, u)| u != root)
        .map(|(&distance, _)| distance)
        .max()?;
    tree.without_any(graph)?
        .max(without_root)
        .max(deepest)
        .checked_mul(2)
}

/// A breadth-first tree in depth-first numbering.
struct Tree {
    root: usize,
    distance: Vec<u32>,
    /// The peers, every one before those below it, which follow it without a gap.
    preorder: Vec<u32>,
    /// Position in the preorder.
    position: Vec<usize>,
    /// Number of peers below, itself included.
    size: Vec<usize>,
}

impl Tree {
    /// The tree of `root` in the graph without `removed`; `None` if it does not reach everybody else.
    fn new(graph: &Graph, root: usize, removed: Option<usize>) -> Option<Self> {
        let peers = graph.nodes();
        let mut distance = vec![FAR; peers];
        let mut parent = vec![root; peers];
        let mut order = vec![root];
        distance[root] = 0;
        let mut next = 0;
        while let Some(&u) = order.get(next) {
            next += 1;
            for &v in graph.neighbours(u) {
                let v = v as usize;
                if distance[v] == FAR && Some(v) != removed {
                    distance[v] = distance[u] + 1;
                    parent[v] = u;
                    order.push(v);
                }
            }
        }
        if order.len() + usize::from(removed.is_some()) < peers {
            return None;
        }
        let mut size = vec![1; peers];
        for &u in order.iter().skip(1).rev() {
            size[parent[u]] += size[u];
        }
        // Breadth-first order visits parents first: each hands its children consecutive ranges.
        let mut free = vec![0; peers];
        let mut position = vec![0; peers];
        let mut preorder = vec![0; order.len()];
        free[root] = 1;
        preorder[0] = root as u32;
        for &u in order.iter().skip(1) {
            let place = free[parent[u]];
            free[parent[u]] += size[u];
            position[u] = place;
            free[u] = place + 1;
            preorder[place] = u as u32;
        }
        Some(Self {
            root,
            distance,
            preorder,
            position,
            size,
        })
    }

    /// The largest distance from the root to anybody once any other one peer is gone.
    fn without_any(&self, graph: &Graph) -> Option<u32> {
        let mut left = MOST_VISITS;
        let mut longest = 0;
        let mut reached = vec![FAR; graph.nodes()];
        let mut by_distance: Vec<Vec<u32>> = Vec::new();
        for c in (0..graph.nodes()).filter(|&c| c != self.root && self.size[c] > 1) {
            let start = self.position[c];
            let below = &self.preorder[start + 1..start + self.size[c]];
            let is_below = |v: usize| (start..start + self.size[c]).contains(&self.position[v]);
            // Peers of the part that have a partner elsewhere, by the distance over it.
            for &w in below {
                let around = graph.neighbours(w as usize);
                left = left.checked_sub(2 * around.len())?;
                let over = around.iter().map(|&v| v as usize);
                let over = over.filter(|&v| !is_below(v)).map(|v| self.distance[v] + 1);
                if let Some(distance) = over.min() {
                    put(&mut by_distance, distance, w);
                }
            }
            let mut found = 0;
            let mut distance = 0;
            while distance < by_distance.len() {
                for w in std::mem::take(&mut by_distance[distance]) {
                    if reached[w as usize] != FAR {
                        continue;
                    }
                    reached[w as usize] = distance as u32;
                    found += 1;
                    longest = longest.max(distance as u32);
                    for &v in graph.neighbours(w as usize) {
                        let open = v as usize != c && is_below(v as usize);
                        if open && reached[v as usize] == FAR {
                            put(&mut by_distance, distance as u32 + 1, v);
                        }
                    }
                }
                distance += 1;
            }
            if found < below.len() {
                return None;
            }
            for &w in below {
                reached[w as usize] = FAR;
            }
            by_distance.clear();
        }
        Some(longest)
    }
}

fn put(by_distance: &mut Vec<Vec<u32>>, distance: u32, peer: u32) {
    let distance = distance as usize;
    if by_distance.len() <= distance {
        by_distance.resize_with(distance + 1, Vec::new);
    }
    by_distance[distance].push(peer);
}

/// With ℓ of all coalitions of this size; nothing for t > 1.
pub(super) fn per_peer<'a>(
    public: &'a PublicGraph<'_>,
    ratio: f64,
    colluders: usize,
) -> PerPeer<'a> {
    let peers = public.graph().nodes();
    let bound = public
        .detour(colluders)
        .map(|length| even_bound(peers - colluders, f64::from(length), ratio));
    Box::new(move |_| bound)
}

/// 1/n_H + R/κ: what a flow of energy R to everybody honest gives, per unit of 1/σ_η².
pub(super) fn even_bound(honest: usize, energy: f64, ratio: f64) -> f64 {
    let way = if energy > 0.0 { energy / ratio } else { 0.0 };
    1.0 / honest as f64 + way
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::vocabulary::{Label, Seed};

    fn distances(graph: &Graph, from: usize, removed: usize) -> Vec<Option<u32>> {
        let edges: Vec<(u32, u32)> = graph
            .edge_list()
            .filter(|&(u, v)| u as usize != removed && v as usize != removed)
            .collect();
        let rest = Graph::from_edges(graph.nodes(), &edges).expect("a simple graph");
        rest.distances(from)
    }

    #[test]
    fn nobody_is_farther_away_than_said_whoever_is_gone() {
        let mut rng = Seed::from_u64(61).generator(Label::Scenario);
        let (mut whole, mut split) = (0, 0);
        for trial in 0..200 {
            let n = 3 + trial % 30;
            let mut edges: Vec<(u32, u32)> = (1..n).map(|v| (rng.random_range(0..v), v)).collect();
            for _ in 0..n * (trial % 4) / 2 {
                let (u, v) = (rng.random_range(0..n), rng.random_range(0..n));
                edges.extend((u != v).then_some((u.min(v), u.max(v))));
            }
            edges.sort_unstable();
            edges.dedup();
            let n = n as usize;
            let graph = Graph::from_edges(n, &edges).expect("a simple graph");
            let said = longest(&graph, 1);
            let mut truth = Some(0);
            for c in 0..n {
                for u in (0..n).filter(|&u| u != c) {
                    let found = distances(&graph, u, c);
                    for v in (0..n).filter(|&v| v != c) {
                        truth = truth.zip(found[v]).map(|(a, b)| a.max(b));
                    }
                }
            }
            assert_eq!(said.is_some(), truth.is_some(), "{graph:?}");
            let Some((said, truth)) = said.zip(truth) else {
                split += 1;
                continue;
            };
            whole += 1;
            assert!(truth <= said && said <= 2 * truth, "{said} {truth}");
        }
        assert!(whole > 20 && split > 20, "{whole} {split}");
    }
}
