//! Finds peers by the names that their graph's file gives them.

use super::{Graph, Origin, Topology};
use crate::vocabulary::printed;

/// Most names that an error lists as examples, besides the last.
const SHOWN: usize = 4;

/// Most names that an error proposes instead of an unknown one.
const PROPOSED: usize = 3;

/// A list of peers that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeerNameError {
    /// A name that no peer has.
    #[error("no peer is named {}{}; {naming}", printed(name), proposed(near))]
    Unknown {
        /// What was asked for.
        name: String,
        /// Names that are much like it, the likeliest first.
        near: Vec<String>,
        /// What names look like here.
        naming: String,
    },
    /// One peer twice.
    #[error("peer {} is named twice; name every peer once", printed(name))]
    Twice {
        /// Its name.
        name: String,
    },
}

fn proposed(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => {
            let near: Vec<_> = near.iter().map(|name| printed(name)).collect();
            format!(", did you mean {}?", near.join(" or "))
        }
    }
}

impl Graph {
    /// The name of `node` as it stands in text: `printed`, so that it can be typed back.
    #[must_use]
    pub fn printed(&self, node: usize) -> String {
        printed(&self.name(node)).into_owned()
    }

    /// The node with this very name; a number in decimal digits where nodes have no names.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u32> {
        let node = match self.names() {
            Some(names) => names.iter().position(|own| own == name)?,
            None => name
                .parse()
                .ok()
                .filter(|node: &usize| *node < self.nodes() && node.to_string() == name)?,
        };
        u32::try_from(node).ok()
    }
}

impl Topology {
    /// The index of the peer with this name.
    ///
    /// # Errors
    /// [`PeerNameError::Unknown`], with what names look like and which are near.
    pub fn find(&self, name: &str) -> Result<u32, PeerNameError> {
        let graph = self.graph();
        graph.find(name).ok_or_else(|| PeerNameError::Unknown {
            name: name.to_owned(),
            near: near(graph, name),
            naming: self.naming(),
        })
    }

    /// The indices of the peers with these names, in the order given.
    ///
    /// # Errors
    /// [`PeerNameError`] for a name that no peer has, or that occurs twice.
    pub fn find_all<S: AsRef<str>>(&self, names: &[S]) -> Result<Vec<u32>, PeerNameError> {
        let mut peers = Vec::with_capacity(names.len());
        for name in names {
            let peer = self.find(name.as_ref())?;
            if peers.contains(&peer) {
                let name = name.as_ref().to_owned();
                return Err(PeerNameError::Twice { name });
            }
            peers.push(peer);
        }
        Ok(peers)
    }

    /// What peers are called: "the 34 peers are named as in karate.edges: 1, 2, 3, 4, ..., 34".
    #[must_use]
    pub fn naming(&self) -> String {
        let graph = self.graph();
        let source = match (&self.provenance().origin, graph.names()) {
            (Origin::File { file }, _) => format!("named as in {file}"),
            (_, Some(_)) => "named".to_owned(),
            (_, None) => "numbered from 0".to_owned(),
        };
        let nodes = graph.nodes();
        let mut examples: Vec<String> = (0..nodes.min(SHOWN)).map(|u| graph.printed(u)).collect();
        if nodes > SHOWN + 1 {
            examples.push("...".to_owned());
        }
        if nodes > SHOWN {
            examples.push(graph.printed(nodes - 1));
        }
        format!("the {nodes} peers are {source}: {}", examples.join(", "))
    }
}

/// The names most like `name`: equal but for case, blanks or leading zeros, or at most two letters away.
fn near(graph: &Graph, name: &str) -> Vec<String> {
    let plain = |text: &str| text.trim().to_lowercase();
    let wanted = plain(name);
    let number = |text: &str| text.parse::<u64>().ok();
    let mut found: Vec<(usize, String)> = (0..graph.nodes())
        .filter_map(|node| {
            let own = graph.name(node);
            let distance = match (number(&wanted), number(&own)) {
                // A wrong digit is another peer, no slip.
                (Some(a), Some(b)) => (a == b).then_some(0)?,
                _ => distance(&wanted, &plain(&own))?,
            };
            Some((distance, own))
        })
        .collect();
    found.sort();
    found.truncate(PROPOSED);
    found.into_iter().map(|(_, name)| name).collect()
}

/// How many letters must be put in, taken out or exchanged to turn `a` into `b` (Levenshtein), if at most two and less
/// than half of them.
fn distance(a: &str, b: &str) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let most = 2.min((a.len().max(b.len()).saturating_sub(1)) / 2);
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let exchanged = above[j] + usize::from(x != y);
            row.push(exchanged.min(above[j + 1] + 1).min(row[j] + 1));
        }
        above = row;
    }
    let distance = above[b.len()];
    (distance <= most).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{GraphError, Provenance};

    fn topology(names: Option<&[&str]>, origin: Origin) -> Topology {
        let nodes = names.map_or(12, <[_]>::len) as u32;
        let edges: Vec<_> = (1..nodes).map(|v| (v - 1, v)).collect();
        let mut graph = Graph::from_edges(nodes as usize, &edges).expect("a path");
        if let Some(names) = names {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            graph = graph.with_names(names).expect("distinct");
        }
        let mut provenance = Provenance::edges("test");
        provenance.origin = origin;
        Topology::from_graph(graph, provenance)
    }

    #[test]
    fn a_peer_is_found_by_its_name_and_by_nothing_else() {
        let file = Origin::File {
            file: "one.edges".to_owned(),
        };
        let named = topology(Some(&["1", "2", "0", "Oslo", "oslo", " x"]), file);
        for (node, name) in ["1", "2", "0", "Oslo", "oslo", " x"].iter().enumerate() {
            assert_eq!(named.find(name), Ok(node as u32));
        }
        for unknown in ["3", "5", "OSLO", "x", "01", "", "peer 1"] {
            let error = named.find(unknown).expect_err(unknown).to_string();
            assert!(
                error.contains("the 6 peers are named as in one.edges: 1, 2, 0, Oslo, ..., \" x\""),
                "{error}"
            );
        }
        let near = named.find("OSLO").expect_err("case").to_string();
        assert!(near.contains("did you mean Oslo or oslo?"), "{near}");
        let near = named.find("x").expect_err("a blank").to_string();
        assert!(near.contains("did you mean \" x\"?"), "{near}");
        let near = named.find("01").expect_err("a zero").to_string();
        assert!(near.contains("did you mean 1?"), "{near}");
        let twice = named.find_all(&["2", "Oslo", "2"]).expect_err("twice");
        assert!(twice.to_string().contains("peer 2 is named twice"));
    }

    #[test]
    fn peers_without_names_are_numbers_in_one_spelling() {
        let plain = topology(None, Origin::Edges);
        assert_eq!(plain.find_all(&["11", "0"]), Ok(vec![11, 0]));
        for unknown in ["12", "-1", "+1", "01", "1.0", " 1", "", "4294967296"] {
            let error = plain.find(unknown).expect_err(unknown).to_string();
            assert!(
                error.contains("the 12 peers are numbered from 0: 0, 1, 2, 3, ..., 11"),
                "{error}"
            );
        }
    }

    #[test]
    fn two_nodes_of_one_name_are_refused() {
        let graph = Graph::from_edges(3, &[(0, 1), (1, 2)]).expect("a path");
        let names = ["a", "b", "a"].map(str::to_owned).to_vec();
        assert_eq!(
            graph.with_names(names),
            Err(GraphError::DuplicateName {
                name: "a".to_owned(),
                first: 0,
                second: 2
            })
        );
    }
}
