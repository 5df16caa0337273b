//! An undirected simple graph with sorted adjacency lists.

use std::collections::BTreeMap;

use petgraph::algo::articulation_points::articulation_points;
use petgraph::graph::UnGraph;

use crate::vocabulary::printed;

/// An undirected graph without self-loops or parallel edges.
///
/// Neighbours are listed in ascending order; that order is the order of every sum over neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    names: Option<Vec<String>>,
}

/// A list of edges that is not a simple graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// An edge from a node to itself.
    #[error(
        "edge number {position} is a self-loop at node {node}; remove it (a peer always keeps its own value)"
    )]
    SelfLoop {
        /// Position in the edge list, from 1.
        position: usize,
        /// The node.
        node: u32,
    },
    /// The same pair twice, in either direction.
    #[error("the edge {u} - {v} occurs more than once; keep one")]
    ParallelEdge {
        /// Lower end.
        u: u32,
        /// Upper end.
        v: u32,
    },
    /// An end beyond the node count.
    #[error("edge number {position} names node {node}, but there are {nodes} nodes, 0 to {}", nodes.saturating_sub(1))]
    NodeOutOfRange {
        /// Position in the edge list, from 1.
        position: usize,
        /// The node named.
        node: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// A graph without nodes, or with more than 32 bits can count.
    #[error("a graph needs between 1 and {} nodes, found {nodes}", u32::MAX)]
    NodeCount {
        /// Number of nodes asked for.
        nodes: usize,
    },
    /// Two nodes of one name.
    #[error(
        "nodes number {first} and {second}, counted from 0, are both named {}; give every node a name of its own",
        printed(name)
    )]
    DuplicateName {
        /// The name.
        name: String,
        /// The first node that has it, from 0.
        first: usize,
        /// The second one, from 0.
        second: usize,
    },
    /// A list of names of the wrong length.
    #[error("{names} node names for {nodes} nodes")]
    NameCount {
        /// Number of names.
        names: usize,
        /// Number of nodes.
        nodes: usize,
    },
}

impl Graph {
    /// Builds the graph with `nodes` nodes and these edges.
    ///
    /// # Errors
    /// [`GraphError`] for self-loops, parallel edges and ends out of range.
    ///
    /// # Cost
    /// O(nodes + edges · log degree) time.
    pub fn from_edges(nodes: usize, edges: &[(u32, u32)]) -> Result<Self, GraphError> {
        if nodes == 0 || u32::try_from(nodes).is_err() {
            return Err(GraphError::NodeCount { nodes });
        }
        let mut degrees = vec![0_usize; nodes];
        for (index, &(u, v)) in edges.iter().enumerate() {
            for node in [u, v] {
                if node as usize >= nodes {
                    return Err(GraphError::NodeOutOfRange {
                        position: index + 1,
                        node,
                        nodes,
                    });
                }
            }
            if u == v {
                return Err(GraphError::SelfLoop {
                    position: index + 1,
                    node: u,
                });
            }
            degrees[u as usize] += 1;
            degrees[v as usize] += 1;
        }
        let mut offsets = Vec::with_capacity(nodes + 1);
        offsets.push(0);
        let mut total = 0;
        for degree in &degrees {
            total += degree;
            offsets.push(total);
        }
        let mut next = offsets.clone();
        let mut neighbours = vec![0_u32; total];
        for &(u, v) in edges {
            for (from, to) in [(u, v), (v, u)] {
                neighbours[next[from as usize]] = to;
                next[from as usize] += 1;
            }
        }
        for u in 0..nodes {
            let list = &mut neighbours[offsets[u]..offsets[u + 1]];
            list.sort_unstable();
            if let Some(pair) = list.windows(2).find(|pair| pair[0] == pair[1]) {
                let (a, b) = (u as u32, pair[0]);
                return Err(GraphError::ParallelEdge {
                    u: a.min(b),
                    v: a.max(b),
                });
            }
        }
        Ok(Self {
            offsets,
            neighbours,
            names: None,
        })
    }

    /// The same graph with a name per node.
    ///
    /// # Errors
    /// [`GraphError::NameCount`] if there are not as many names as nodes, [`GraphError::DuplicateName`] if two are alike:
    /// a name that stands for two peers could not be typed.
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self, GraphError> {
        if names.len() != self.nodes() {
            return Err(GraphError::NameCount {
                names: names.len(),
                nodes: self.nodes(),
            });
        }
        let mut first = BTreeMap::new();
        for (second, name) in names.iter().enumerate() {
            if let Some(first) = first.insert(name, second) {
                let name = name.clone();
                return Err(GraphError::DuplicateName {
                    name,
                    first,
                    second,
                });
            }
        }
        drop(first);
        self.names = Some(names);
        Ok(self)
    }

    /// The same graph with the names of `other`, or none if that has none.
    ///
    /// # Errors
    /// [`GraphError::NameCount`] if the two have not as many nodes.
    pub fn with_names_of(mut self, other: &Self) -> Result<Self, GraphError> {
        if other.nodes() != self.nodes() {
            return Err(GraphError::NameCount {
                names: other.nodes(),
                nodes: self.nodes(),
            });
        }
        self.names.clone_from(&other.names);
        Ok(self)
    }

    /// Number of nodes, s.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of edges.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// The neighbours of `node`, ascending.
    #[must_use]
    pub fn neighbours(&self, node: usize) -> &[u32] {
        &self.neighbours[self.offsets[node]..self.offsets[node + 1]]
    }

    /// Position of `node`'s first neighbour in the concatenation of all adjacency lists; per-edge data
    /// kept in that order is addressed with it.
    #[must_use]
    pub fn offset(&self, node: usize) -> usize {
        self.offsets[node]
    }

    /// Number of neighbours of `node`.
    #[must_use]
    pub fn degree(&self, node: usize) -> usize {
        self.offsets[node + 1] - self.offsets[node]
    }

    /// The smallest degree.
    #[must_use]
    pub fn min_degree(&self) -> usize {
        (0..self.nodes()).map(|u| self.degree(u)).min().unwrap_or(0)
    }

    /// The largest degree.
    #[must_use]
    pub fn max_degree(&self) -> usize {
        (0..self.nodes()).map(|u| self.degree(u)).max().unwrap_or(0)
    }

    /// The graph of these edges among some of the nodes, who are numbered by their place in `nodes`. Edges with another end are left out.
    ///
    /// # Errors
    /// As [`Self::from_edges`].
    pub fn among(
        nodes: &[u32],
        edges: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<Self, GraphError> {
        debug_assert!(nodes.is_sorted(), "nodes ascend");
        let place = |node: u32| nodes.binary_search(&node).ok().map(|place| place as u32);
        let edges = edges.into_iter();
        let inside = edges.filter_map(|(u, v)| Some((place(u)?, place(v)?)));
        Self::from_edges(nodes.len(), &inside.collect::<Vec<_>>())
    }

    /// Every edge once, as (lower, upper), in ascending order.
    pub fn edge_list(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.nodes()).flat_map(move |u| {
            let u = u as u32;
            self.neighbours(u as usize)
                .iter()
                .filter(move |&&v| v > u)
                .map(move |&v| (u, v))
        })
    }

    /// Whether `u` and `v` are neighbours.
    #[must_use]
    pub fn has_edge(&self, u: u32, v: u32) -> bool {
        self.neighbours(u as usize).binary_search(&v).is_ok()
    }

    /// The name of `node`: the one from its file, or its number.
    #[must_use]
    pub fn name(&self, node: usize) -> String {
        self.names
            .as_ref()
            .map_or_else(|| node.to_string(), |names| names[node].clone())
    }

    /// The names, if the graph came with any.
    #[must_use]
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// The connected component of every node, numbered in order of first appearance, after removing the
    /// nodes in `removed` (whose component is `None`).
    #[must_use]
    pub fn components_without(&self, removed: &[u32]) -> Vec<Option<u32>> {
        let mut component = vec![None; self.nodes()];
        let mut blocked = vec![false; self.nodes()];
        for &node in removed {
            blocked[node as usize] = true;
        }
        let mut count = 0;
        let mut stack = Vec::new();
        for start in 0..self.nodes() {
            if blocked[start] || component[start].is_some() {
                continue;
            }
            component[start] = Some(count);
            stack.push(start);
            while let Some(u) = stack.pop() {
                for &v in self.neighbours(u) {
                    let v = v as usize;
                    if !blocked[v] && component[v].is_none() {
                        component[v] = Some(count);
                        stack.push(v);
                    }
                }
            }
            count += 1;
        }
        component
    }

    /// Sizes of the connected components after removing `removed`, in the numbering of
    /// [`Self::components_without`].
    #[must_use]
    pub fn component_sizes_without(&self, removed: &[u32]) -> Vec<usize> {
        let mut sizes = Vec::new();
        for component in self.components_without(removed).into_iter().flatten() {
            let index = component as usize;
            if sizes.len() <= index {
                sizes.resize(index + 1, 0);
            }
            sizes[index] += 1;
        }
        sizes
    }

    /// Whether every node can reach every other.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.component_sizes_without(&[]).len() == 1
    }

    /// The largest connected component as a graph of its own, the first one if several are largest. Nodes
    /// keep their order, and as names the ones they had: those from the file, or their numbers.
    #[must_use]
    pub fn largest_component(&self) -> Self {
        let sizes = self.component_sizes_without(&[]);
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let chosen = sizes.iter().position(|size| *size == largest);
        let mut numbers = vec![None; self.nodes()];
        let mut kept = Vec::new();
        for (node, component) in self.components_without(&[]).into_iter().enumerate() {
            if component.map(|c| c as usize) == chosen {
                numbers[node] = Some(kept.len() as u32);
                kept.push(node);
            }
        }
        let mut offsets = vec![0];
        let mut neighbours = Vec::new();
        for &node in &kept {
            // A neighbour is in the same component, and the order of numbers is kept.
            neighbours.extend(
                self.neighbours(node)
                    .iter()
                    .filter_map(|v| numbers[*v as usize]),
            );
            offsets.push(neighbours.len());
        }
        Self {
            offsets,
            neighbours,
            names: Some(kept.into_iter().map(|node| self.name(node)).collect()),
        }
    }

    /// The nodes whose removal disconnects what is left of their component, ascending (Tarjan, by petgraph).
    #[must_use]
    pub fn cut_vertices(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = articulation_points(&self.to_petgraph())
            .iter()
            .map(|n| n.index() as u32)
            .collect();
        nodes.sort_unstable();
        nodes
    }

    /// Hop distances from `source`; unreachable nodes are `None`.
    #[must_use]
    pub fn distances(&self, source: usize) -> Vec<Option<u32>> {
        let mut distance = vec![None; self.nodes()];
        distance[source] = Some(0);
        let mut frontier = vec![source];
        let mut hops = 0;
        while !frontier.is_empty() {
            hops += 1;
            let mut next = Vec::new();
            for u in frontier {
                for &v in self.neighbours(u) {
                    if distance[v as usize].is_none() {
                        distance[v as usize] = Some(hops);
                        next.push(v as usize);
                    }
                }
            }
            frontier = next;
        }
        distance
    }

    /// A number of hops after which a value has reached every node of a connected graph: the exact
    /// diameter up to 2,000 nodes, beyond that twice the smallest eccentricity of a few nodes (never
    /// below the diameter). `None` if the graph is not connected.
    ///
    /// # Cost
    /// O(nodes · edges) up to 2,000 nodes, O(edges) beyond.
    #[must_use]
    pub fn diameter_bound(&self) -> Option<u32> {
        let eccentricity = |u: usize| {
            self.distances(u)
                .into_iter()
                .try_fold(0, |m, d| d.map(|d| m.max(d)))
        };
        if self.nodes() <= 2000 {
            return (0..self.nodes()).try_fold(0, |m, u| eccentricity(u).map(|e| m.max(e)));
        }
        let mut best = u32::MAX;
        let mut node = 0;
        for _ in 0..4 {
            let distances = self.distances(node);
            let farthest = distances
                .iter()
                .copied()
                .try_fold(0, |m, d| d.map(|d| m.max(d)))?;
            best = best.min(2 * farthest);
            // Half-way along a longest shortest path lies a more central node.
            node = distances.iter().position(|d| *d == Some(farthest / 2))?;
        }
        Some(best)
    }

    /// The graph as petgraph's type, for its algorithms.
    #[must_use]
    pub fn to_petgraph(&self) -> UnGraph<(), ()> {
        let mut graph = UnGraph::with_capacity(self.nodes(), self.edges());
        for _ in 0..self.nodes() {
            graph.add_node(());
        }
        for (u, v) in self.edge_list() {
            graph.add_edge(u.into(), v.into(), ());
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(n: u32) -> Graph {
        let edges: Vec<_> = (1..n).map(|v| (v - 1, v)).collect();
        Graph::from_edges(n as usize, &edges).expect("a path")
    }

    #[test]
    fn adjacency_is_sorted_whatever_the_edge_order() {
        let graph = Graph::from_edges(4, &[(3, 0), (0, 2), (1, 0)]).expect("a star");
        assert_eq!(graph.neighbours(0), [1, 2, 3]);
        assert_eq!(
            graph.edge_list().collect::<Vec<_>>(),
            [(0, 1), (0, 2), (0, 3)]
        );
        assert_eq!(
            (graph.min_degree(), graph.max_degree(), graph.edges()),
            (1, 3, 3)
        );
        assert!(graph.has_edge(3, 0) && !graph.has_edge(1, 2));
    }

    #[test]
    fn what_is_not_simple_is_refused() {
        assert!(matches!(
            Graph::from_edges(3, &[(0, 1), (2, 2)]),
            Err(GraphError::SelfLoop {
                position: 2,
                node: 2
            })
        ));
        assert!(matches!(
            Graph::from_edges(3, &[(0, 1), (1, 0)]),
            Err(GraphError::ParallelEdge { u: 0, v: 1 })
        ));
        assert!(matches!(
            Graph::from_edges(3, &[(0, 3)]),
            Err(GraphError::NodeOutOfRange { node: 3, .. })
        ));
        assert!(matches!(
            Graph::from_edges(0, &[]),
            Err(GraphError::NodeCount { .. })
        ));
    }

    #[test]
    fn connectivity_cuts_and_diameter_of_a_path() {
        let graph = path(5);
        assert!(graph.is_connected());
        assert_eq!(graph.cut_vertices(), [1, 2, 3]);
        assert_eq!(graph.component_sizes_without(&[1]), [1, 3]);
        assert_eq!(graph.diameter_bound(), Some(4));
        assert_eq!(
            Graph::from_edges(3, &[(0, 1)])
                .expect("valid")
                .diameter_bound(),
            None
        );
    }

    #[test]
    fn the_largest_component_keeps_order_and_names() {
        let graph = Graph::from_edges(7, &[(0, 3), (1, 5), (5, 6), (1, 6)]).expect("valid");
        let largest = graph.largest_component();
        assert_eq!(
            largest.edge_list().collect::<Vec<_>>(),
            [(0, 1), (0, 2), (1, 2)]
        );
        assert_eq!(largest.names().expect("names"), ["1", "5", "6"]);
        assert!(largest.is_connected());
    }

    #[test]
    fn the_bound_beyond_two_thousand_nodes_is_a_bound() {
        let bound = path(2500).diameter_bound().expect("connected");
        assert!((2499..=2 * 2499).contains(&bound), "{bound}");
    }
}
