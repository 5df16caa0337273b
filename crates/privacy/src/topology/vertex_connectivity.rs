//! How many nodes a graph can lose before it falls apart.

use std::collections::VecDeque;

use super::graph::Graph;

/// κ(G), the least number of nodes whose removal leaves two nodes that do not reach each other, or `most` if it is larger. The complete graph
/// of s nodes has s − 1, a graph that is not connected 0.
///
/// # Method
/// Whether κ ≥ k is decided by paths (Even, *SIAM J. Comput.* 4, 1975): take any k nodes v₁ … v_k. κ ≥ k if and only if there are more than k nodes,
/// every two of the v's that are no neighbours have k paths between them that share no other node, and so has every other node with a new
/// node x that is joined to all v's.
///
/// *Proof.* Let C separate the graph with |C| < k. Some v_i is not in C. If another v lies in another part, the two have at most |C| such paths, by
/// Menger's theorem. If not, take a node u of another part: it is none of the v's, and C separates it from x, whose neighbours all
/// lie in C or in the part of v_i. Conversely, let κ ≥ k. Menger gives the paths between v's. To G with x joined to k nodes
/// belongs κ ≥ k as well: a set that separates it and has fewer than k nodes leaves a neighbour of x, and would separate G without x. ∎
///
/// # Cost
/// O(k²·(s + k²)·(s + e)) at the very most, for k up to the result; an augmenting path is O(s + e) and at most k are sought for each of s + k² pairs.
#[must_use]
pub fn vertex_connectivity(graph: &Graph, most: usize) -> usize {
    (1..=most)
        .find(|&k| !is_connected_by(graph, k))
        .map_or(most, |k| k - 1)
}

/// Whether κ ≥ k, for k ≥ 1.
fn is_connected_by(graph: &Graph, k: usize) -> bool {
    let nodes = graph.nodes();
    if nodes <= k || graph.min_degree() < k {
        return false;
    }
    let mut paths = Paths::new(graph, k);
    let mut between = (0..k).flat_map(|u| (u + 1..k).map(move |v| (u, v)));
    between.all(|(u, v)| graph.has_edge(u as u32, v as u32) || paths.are(k, Paths::exit(u), v))
        && (k..nodes).all(|v| paths.are(k, Paths::joined(nodes), v))
}

/// Node-disjoint paths as a flow: every node is an entrance and an exit with room for one path between them.
struct Paths {
    /// Per place, the arcs that leave it.
    leaving: Vec<Vec<usize>>,
    /// Where every arc leads. An arc and the one back are neighbours in the list.
    ends: Vec<usize>,
    /// Whether a path may still take it.
    free: Vec<bool>,
}

impl Paths {
    fn entrance(node: usize) -> usize {
        2 * node
    }

    fn exit(node: usize) -> usize {
        2 * node + 1
    }

    /// The place of x, which is joined to the first k nodes.
    fn joined(nodes: usize) -> usize {
        2 * nodes
    }

    fn new(graph: &Graph, k: usize) -> Self {
        let nodes = graph.nodes();
        let mut paths = Self {
            leaving: vec![Vec::new(); 2 * nodes + 1],
            ends: Vec::new(),
            free: Vec::new(),
        };
        for node in 0..nodes {
            paths.add(Self::entrance(node), Self::exit(node));
            for &next in graph.neighbours(node) {
                paths.add(Self::exit(node), Self::entrance(next as usize));
            }
        }
        for node in 0..k {
            paths.add(Self::joined(nodes), Self::entrance(node));
        }
        paths
    }

    fn add(&mut self, from: usize, to: usize) {
        self.leaving[from].push(self.ends.len());
        self.ends.push(to);
        self.leaving[to].push(self.ends.len());
        self.ends.push(from);
    }

    /// Whether k paths that share no other node lead from this place to this node.
    fn are(&mut self, k: usize, from: usize, to: usize) -> bool {
        self.free.clear();
        self.free
            .extend((0..self.ends.len()).map(|arc| arc % 2 == 0));
        (0..k).all(|_| self.augment(from, Self::entrance(to)))
    }

    /// One more path, by a walk that may take back parts of those before.
    fn augment(&mut self, from: usize, to: usize) -> bool {
        let mut came = vec![None; self.leaving.len()];
        let mut todo = VecDeque::from([from]);
        while let Some(here) = todo.pop_front() {
            for &arc in &self.leaving[here] {
                let next = self.ends[arc];
                if self.free[arc] && next != from && came[next].is_none() {
                    came[next] = Some(arc);
                    todo.push_back(next);
                }
            }
        }
        let mut here = to;
        while let Some(arc) = came[here] {
            self.free[arc] = false;
            self.free[arc ^ 1] = true;
            here = self.ends[arc ^ 1];
        }
        here == from && from != to
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::GeneratorConfig;

    fn generated(text: &str, nodes: usize) -> Graph {
        let config: GeneratorConfig = toml::from_str(text).expect("a generator");
        config.generate(nodes).expect("a graph")
    }

    /// By trying all sets of nodes.
    fn tried(graph: &Graph) -> usize {
        let nodes = graph.nodes();
        let all = 0..1_u32 << nodes;
        let removed = |set: u32| (0..nodes as u32).filter(move |u| set >> u & 1 == 1);
        let splits = |set: &u32| {
            let removed: Vec<u32> = removed(*set).collect();
            graph.component_sizes_without(&removed).len() > 1
        };
        let least = all.filter(splits).map(u32::count_ones).min();
        least.map_or(nodes - 1, |size| size as usize)
    }

    #[test]
    fn families_have_the_connectivity_that_is_known_of_them() {
        for (text, nodes, expected) in [
            ("generator = \"star\"", 9, 1),
            ("generator = \"path\"", 9, 1),
            ("generator = \"ring\"", 9, 2),
            ("generator = \"complete\"", 9, 8),
            (
                "generator = \"random-regular\"\ndegree = 10\nseed = 1",
                64,
                10,
            ),
        ] {
            let graph = generated(text, nodes);
            assert_eq!(vertex_connectivity(&graph, 20), expected, "{text}");
            assert_eq!(vertex_connectivity(&graph, 1), 1, "{text}");
        }
        let apart = Graph::from_edges(4, &[(0, 1), (2, 3)]).expect("a graph");
        assert_eq!(vertex_connectivity(&apart, 3), 0);
    }

    #[test]
    fn it_is_what_trying_all_sets_of_nodes_finds() {
        let mut found = [0; 7];
        for seed in 0..300_u64 {
            let nodes = 4 + (seed % 6) as u32;
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
            let mut drawn = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state % 100
            };
            let dense = 30 + 15 * (seed % 5);
            let all = (0..nodes).flat_map(|u| (u + 1..nodes).map(move |v| (u, v)));
            let edges: Vec<(u32, u32)> = all.filter(|_| drawn() < dense).collect();
            let graph = Graph::from_edges(nodes as usize, &edges).expect("a graph");
            let expected = tried(&graph);
            assert_eq!(vertex_connectivity(&graph, 20), expected, "{edges:?}");
            found[expected.min(6)] += 1;
        }
        assert!(found[..5].iter().all(|count| *count > 5), "{found:?}");
    }
}
