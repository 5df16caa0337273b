//! Graphs made for these tests, and D + wL of their connected parts.

use std::collections::BTreeSet;

use rand::{Rng, RngExt};

use super::super::super::matrix::ShiftedLaplacian;

/// A simple graph over the nodes 0..`nodes`.
pub(super) struct Simple {
    pub(super) nodes: usize,
    neighbours: Vec<BTreeSet<u32>>,
}

impl Simple {
    pub(super) fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let mut graph = Self {
            nodes,
            neighbours: vec![BTreeSet::new(); nodes],
        };
        edges.iter().for_each(|&(u, v)| graph.join(u, v));
        graph
    }

    fn join(&mut self, u: u32, v: u32) {
        if u != v {
            self.neighbours[u as usize].insert(v);
            self.neighbours[v as usize].insert(u);
        }
    }

    /// Every node joins `each` of those before it, drawn by degree; a clique of the first `each` + 1.
    pub(super) fn attached(nodes: usize, each: usize, rng: &mut impl Rng) -> Self {
        let mut graph = Self::new(nodes, &[]);
        let mut ends: Vec<u32> = Vec::new();
        for v in 1..nodes as u32 {
            let mut chosen = BTreeSet::new();
            while chosen.len() < each.min(v as usize) {
                chosen.insert(if v as usize <= each {
                    chosen.len() as u32
                } else {
                    ends[rng.random_range(0..ends.len())]
                });
            }
            for u in chosen {
                graph.join(u, v);
                ends.extend([u, v]);
            }
        }
        graph
    }

    /// The first node joined to all others, and with a rim the others to the next.
    pub(super) fn star(nodes: usize, rim: bool) -> Self {
        let n = nodes as u32;
        let mut edges: Vec<(u32, u32)> = (1..n).map(|v| (0, v)).collect();
        if rim {
            edges.extend((1..n - 1).map(|v| (v, v + 1)));
        }
        Self::new(nodes, &edges)
    }

    /// A ring with edges to the next `reach` nodes, a share of them moved to a random end.
    pub(super) fn small_world(nodes: usize, reach: u32, moved: f64, rng: &mut impl Rng) -> Self {
        let n = nodes as u32;
        let mut graph = Self::new(nodes, &[]);
        for u in 0..n {
            for step in 1..=reach {
                let end = if rng.random::<f64>() < moved {
                    rng.random_range(0..n)
                } else {
                    (u + step) % n
                };
                graph.join(u, end);
            }
        }
        graph
    }

    /// The node with the most neighbours (the last of equals).
    pub(super) fn hub(&self) -> u32 {
        let most = (0..self.nodes).max_by_key(|&u| self.neighbours[u].len());
        most.expect("a node") as u32
    }

    /// D + `weight`·L on every connected part of the graph without `removed`, D being `own`.
    pub(super) fn matrices(
        &self,
        own: &[f64],
        weight: f64,
        removed: &[u32],
    ) -> Vec<ShiftedLaplacian> {
        let mut place: Vec<Option<u32>> = vec![None; self.nodes];
        let mut taken = vec![false; self.nodes];
        removed.iter().for_each(|&u| taken[u as usize] = true);
        let mut matrices = Vec::new();
        for start in 0..self.nodes {
            if taken[start] {
                continue;
            }
            let mut order = vec![start];
            taken[start] = true;
            let mut next = 0;
            while next < order.len() {
                place[order[next]] = Some(next as u32);
                for &v in &self.neighbours[order[next]] {
                    if !std::mem::replace(&mut taken[v as usize], true) {
                        order.push(v as usize);
                    }
                }
                next += 1;
            }
            let rows = order.iter().map(|&u| {
                let places = self.neighbours[u].iter().map(|&v| place[v as usize]);
                places.flatten().map(|v| (v, weight)).collect()
            });
            let diagonal = order.iter().map(|&u| own[u]).collect();
            matrices.push(ShiftedLaplacian::new(diagonal, rows));
        }
        matrices
    }

    /// The same where D = 1 everywhere and the graph is connected without `removed`.
    pub(super) fn matrix(&self, weight: f64, removed: &[u32]) -> ShiftedLaplacian {
        let mut matrices = self.matrices(&vec![1.0; self.nodes], weight, removed);
        assert_eq!(matrices.len(), 1, "a connected graph");
        matrices.remove(0)
    }
}
