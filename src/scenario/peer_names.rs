//! One list of names for the peers of an experiment, whichever of its graphs it comes from.
//!
//! Peer i is node i of both graphs. Where both come from files, peers are matched by name, and the noise graph is
//! renumbered in the order of the communication graph. A generated graph has no names of its own and takes the other's.

use std::sync::Arc;

use super::experiment::Experiment;
use crate::topology::{Graph, GraphError, Origin, PeerNameError, Provenance, Topology};
use crate::vocabulary::printed;

/// Why the peers of two graphs cannot be matched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeerMatchError {
    /// A peer of the noise graph that the communication graph does not have.
    #[error(
        "the noise graph has a peer {}, which the communication graph has not ({naming}): both graphs must be over \
         the same peers, by name; change one of the files, or use a generator for one of the graphs",
        printed(name)
    )]
    Unknown {
        /// Its name.
        name: String,
        /// What peers of the communication graph are called.
        naming: String,
    },
    /// Graphs of unequal size.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// Both graphs over the same peers.
pub(super) struct Matched {
    /// The communication graph.
    pub(super) topology: Arc<Topology>,
    /// The noise graph.
    pub(super) noise_topology: Arc<Topology>,
    /// Whether the nodes of the noise graph have other numbers than its file gave them.
    pub(super) renumbered: bool,
}

/// The two graphs with node i of both the same peer, of the same name.
pub(super) fn matched(
    topology: Arc<Topology>,
    noise_topology: Arc<Topology>,
) -> Result<Matched, PeerMatchError> {
    let mut found = Matched {
        topology,
        noise_topology,
        renumbered: false,
    };
    let same = found.topology.graph().names() == found.noise_topology.graph().names();
    match (has_names(&found.topology), has_names(&found.noise_topology)) {
        (true, true) if !same => {
            found.noise_topology = Arc::new(renumbered(&found.topology, &found.noise_topology)?);
            found.renumbered = true;
        }
        (false, true) if !same => {
            let named = Topology::clone(&found.topology);
            found.topology = Arc::new(named.with_names_of(found.noise_topology.graph())?);
        }
        (_, false) if !same => {
            let named = Topology::clone(&found.noise_topology);
            found.noise_topology = Arc::new(named.with_names_of(found.topology.graph())?);
        }
        _ => {}
    }
    Ok(found)
}

/// Whether somebody chose what the nodes are called: a file (numbers are names there), or a program that gave names.
fn has_names(topology: &Topology) -> bool {
    match topology.provenance().origin {
        Origin::File { .. } => true,
        Origin::Edges => topology.graph().names().is_some(),
        Origin::Generated(_) => false,
    }
}

/// The noise graph with the numbers that its peers have in the communication graph.
fn renumbered(topology: &Topology, noise: &Topology) -> Result<Topology, PeerMatchError> {
    let (graph, shared) = (topology.graph(), noise.graph());
    let numbers: Result<Vec<u32>, PeerMatchError> = match graph.names() {
        None => (0..shared.nodes())
            .map(|v| found(topology, graph.find(&shared.name(v)), shared, v))
            .collect(),
        Some(names) => {
            let places: std::collections::BTreeMap<&str, u32> =
                names.iter().map(String::as_str).zip(0..).collect();
            let place = |v| places.get(shared.name(v).as_str()).copied();
            (0..shared.nodes())
                .map(|v| found(topology, place(v), shared, v))
                .collect()
        }
    };
    let numbers = numbers?;
    let edges: Vec<(u32, u32)> = shared
        .edge_list()
        .map(|(u, v)| (numbers[u as usize], numbers[v as usize]))
        .collect();
    // Names are distinct and both graphs have as many nodes, so that every number occurs once.
    let renumbered = Graph::from_edges(shared.nodes(), &edges)?.with_names_of(graph)?;
    let provenance: Provenance = noise.provenance().clone();
    Ok(Topology::from_graph(renumbered, provenance))
}

fn found(
    topology: &Topology,
    number: Option<u32>,
    shared: &Graph,
    v: usize,
) -> Result<u32, PeerMatchError> {
    number.ok_or_else(|| PeerMatchError::Unknown {
        name: shared.name(v),
        naming: topology.naming(),
    })
}

impl Experiment {
    /// The indices of the peers with these names, in the order given: what the user's graph file calls them, or
    /// numbers from 0 for generated graphs. Everything below the experiment knows peers by index.
    ///
    /// # Errors
    /// [`PeerNameError`] for a name that no peer has, or that occurs twice.
    pub fn peers_named<S: AsRef<str>>(&self, names: &[S]) -> Result<Vec<u32>, PeerNameError> {
        self.topology().find_all(names)
    }

    /// The name of the peer with this index, as [`Self::peers_named`] takes it.
    #[must_use]
    pub fn peer_name(&self, peer: u32) -> String {
        self.topology().graph().name(peer as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology(names: Option<&[&str]>, edges: &[(u32, u32)], origin: Origin) -> Arc<Topology> {
        let nodes = edges.iter().map(|&(_, v)| v + 1).max().expect("edges") as usize;
        let mut graph = Graph::from_edges(nodes, edges).expect("valid");
        if let Some(names) = names {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            graph = graph.with_names(names).expect("distinct");
        }
        let mut provenance = Provenance::edges("test");
        provenance.origin = origin;
        Arc::new(Topology::from_graph(graph, provenance))
    }

    fn file() -> Origin {
        Origin::File {
            file: "f.edges".to_owned(),
        }
    }

    fn generated() -> Origin {
        Origin::Generated(toml::from_str("generator = \"ring\"").expect("valid"))
    }

    /// The edges by the names of their ends, whatever the numbers.
    fn by_name(topology: &Topology) -> Vec<(String, String)> {
        let graph = topology.graph();
        let mut edges: Vec<_> = graph
            .edge_list()
            .map(|(u, v)| {
                let mut ends = [graph.name(u as usize), graph.name(v as usize)];
                ends.sort();
                ends.into()
            })
            .collect();
        edges.sort();
        edges
    }

    #[test]
    fn two_files_are_matched_by_name_whatever_their_order() {
        let messages = topology(
            Some(&["a", "b", "c", "d"]),
            &[(0, 1), (1, 2), (2, 3)],
            file(),
        );
        let noise = topology(
            Some(&["c", "a", "d", "b"]),
            &[(0, 1), (1, 2), (0, 3)],
            file(),
        );
        let before = by_name(&noise);
        let found = matched(messages, noise).expect("the same peers");
        assert!(found.renumbered);
        let (graph, shared) = (found.topology.graph(), found.noise_topology.graph());
        assert_eq!(graph.names(), shared.names());
        assert_eq!(by_name(&found.noise_topology), before);
        assert_eq!(
            shared.edge_list().collect::<Vec<_>>(),
            [(0, 2), (0, 3), (1, 2)]
        );
    }

    #[test]
    fn files_over_other_peers_are_refused_even_with_as_many() {
        let messages = topology(Some(&["1", "2", "3"]), &[(0, 1), (1, 2)], file());
        for noise in [
            topology(Some(&["1", "2", "x"]), &[(0, 1), (1, 2)], file()),
            topology(None, &[(0, 1), (1, 2)], file()),
        ] {
            let error = matched(Arc::clone(&messages), noise)
                .err()
                .expect("refused");
            let text = error.to_string();
            assert!(
                text.contains("the 3 peers are named as in f.edges: 1, 2, 3"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_generated_graph_takes_the_names_of_the_other() {
        let names = ["1", "2", "3"];
        let named = topology(Some(&names), &[(0, 1), (1, 2)], file());
        let plain = topology(None, &[(0, 1), (0, 2)], generated());
        for (messages, noise) in [(&named, &plain), (&plain, &named)] {
            let found = matched(Arc::clone(messages), Arc::clone(noise)).expect("alike");
            for (topology, given) in [(&found.topology, messages), (&found.noise_topology, noise)] {
                assert_eq!(topology.graph().names().expect("names"), names);
                let edges = |t: &Topology| t.graph().edge_list().collect::<Vec<_>>();
                assert_eq!(edges(topology), edges(given), "the edges stay");
            }
            assert!(!found.renumbered);
        }
        let found = matched(Arc::clone(&plain), Arc::clone(&plain)).expect("one graph");
        assert!(Arc::ptr_eq(&found.topology, &plain) && found.topology.graph().names().is_none());
    }
}
