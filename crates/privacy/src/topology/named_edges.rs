//! A graph from a list of edges between nodes that are called by name.

use std::collections::BTreeMap;

use super::{Graph, NamedEdgesError, Provenance, Topology, TopologyError};
use crate::vocabulary::hidden;

/// Limit on names and on edges of a list that an experiment file or a session holds.
const MOST: usize = 1_000_000;

/// A list of edges, as an experiment file or a session holds it.
#[derive(Clone, Debug)]
pub struct NamedEdges<'a> {
    /// The names of the nodes, in order. Without them nodes are the numbers from 0.
    pub names: Option<Vec<&'a str>>,
    /// Every edge once: the names of its ends.
    pub edges: Vec<(&'a str, &'a str)>,
}

impl NamedEdges<'_> {
    /// The topology of these edges between `peers` peers.
    ///
    /// # Errors
    /// [`TopologyError::NodeCountMismatch`] if there are not so many names, [`TopologyError::Edges`] for ends without a node, names that cannot be
    /// typed or are given twice, loops and repeated edges. A disconnected graph is accepted, as by [`Topology::from_graph`].
    pub fn topology(&self, peers: usize) -> Result<Topology, TopologyError> {
        if let Some(names) = &self.names
            && names.len() != peers
        {
            return Err(TopologyError::NodeCountMismatch {
                declared: names.len(),
                wanted: peers,
            });
        }
        let graph = self.graph(peers)?;
        Ok(Topology::from_graph(graph, Provenance::edges("edges")))
    }

    fn graph(&self, peers: usize) -> Result<Graph, NamedEdgesError> {
        for (what, found) in [("edges", self.edges.len()), ("peers", peers)] {
            if found > MOST {
                let most = MOST;
                return Err(NamedEdgesError::TooMany { what, found, most });
            }
        }
        let Some(names) = &self.names else {
            let numbered = |name: &str| {
                let number = name.parse::<u32>().ok()?;
                ((number as usize) < peers && number.to_string() == name).then_some(number)
            };
            let naming = "peers are the numbers from 0; give `nodes`, the list of their names, or write a number below peers.count";
            return Ok(Graph::from_edges(peers, &self.pairs(numbered, naming)?)?);
        };
        for &name in names {
            let wrong = hidden(name);
            if let Some(found) = wrong {
                let name = name.to_owned();
                return Err(NamedEdgesError::Hidden { name, found });
            }
        }
        let numbers: BTreeMap<&str, u32> = names.iter().copied().zip(0..).collect();
        let naming = "no name of `nodes` is written like that";
        let pairs = self.pairs(|name| numbers.get(name).copied(), naming)?;
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Ok(Graph::from_edges(peers, &pairs)?.with_names(names)?)
    }

    fn pairs(
        &self,
        number: impl Fn(&str) -> Option<u32>,
        naming: &'static str,
    ) -> Result<Vec<(u32, u32)>, NamedEdgesError> {
        let pairs = (1..).zip(&self.edges).map(|(position, &(u, v))| {
            let end = |name: &str| {
                number(name).ok_or_else(|| NamedEdgesError::Unknown {
                    position,
                    name: name.to_owned(),
                    naming,
                })
            };
            Ok((end(u)?, end(v)?))
        });
        pairs.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(named: &NamedEdges<'_>, peers: usize) -> String {
        named.topology(peers).expect_err("refused").to_string()
    }

    #[test]
    fn nodes_are_in_the_order_of_their_names_and_edges_are_found_by_them() {
        let named = NamedEdges {
            names: Some(vec!["ulm", "bonn", "kiel"]),
            edges: vec![("kiel", "ulm"), ("bonn", "kiel")],
        };
        let topology = named.topology(3).expect("a path");
        let graph = topology.graph();
        assert_eq!(graph.edge_list().collect::<Vec<_>>(), [(0, 2), (1, 2)]);
        assert_eq!(graph.name(1), "bonn");
        let numbered = NamedEdges {
            names: None,
            edges: vec![("0", "2"), ("2", "1")],
        };
        let plain = numbered.topology(3).expect("a path");
        assert_eq!(
            plain.graph().edge_list().collect::<Vec<_>>(),
            [(0, 2), (1, 2)]
        );
        assert_eq!(plain.graph().names(), None);
    }

    #[test]
    fn what_is_no_graph_of_these_peers_is_refused_by_name() {
        let of =
            |names: Option<&[&'static str]>, edges: &[(&'static str, &'static str)]| NamedEdges {
                names: names.map(<[_]>::to_vec),
                edges: edges.to_vec(),
            };
        let three: &[&str] = &["a", "b", "c"];
        for (named, peers, expected) in [
            (
                of(Some(three), &[("a", "b")]),
                4,
                "the topology has 3 nodes, but 4 peers",
            ),
            (
                of(Some(three), &[("a", "b"), ("b", "d")]),
                3,
                "edge number 2 of `edges` names d: no name",
            ),
            (of(Some(three), &[("a", "a")]), 3, "self-loop"),
            (
                of(Some(three), &[("a", "b"), ("b", "a")]),
                3,
                "more than once",
            ),
            (
                of(Some(&["a", "b", "a"]), &[("a", "b")]),
                3,
                "are both named a",
            ),
            (
                of(Some(&["a", "b", "c\u{202e}"]), &[("a", "b")]),
                3,
                "cannot be used",
            ),
            (
                of(None, &[("0", "3")]),
                3,
                "names 3: peers are the numbers from 0",
            ),
            (
                of(None, &[("0", "01")]),
                3,
                "names 01: peers are the numbers from 0",
            ),
            (of(None, &[("0", "ulm")]), 3, "give `nodes`"),
            (of(None, &[]), MOST + 1, "write them to a file"),
        ] {
            let found = error(&named, peers);
            assert!(found.contains(expected), "{found}\n{expected}");
        }
    }
}
