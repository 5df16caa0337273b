//! The `[topology]` table: a generator with its parameters, a file, or a list of edges.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::peer_name::PeerName;
use crate::topology::{
    GeneratorConfig, LoadOptions, NamedEdges, ParallelEdges, Topology, TopologyError,
};

/// Where a graph comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum TopologySource {
    /// Where absent: a random regular graph of degree 10, or a complete one of up to eleven peers.
    #[default]
    Auto,
    /// Drawn or constructed for the experiment's number of peers.
    Generator(GeneratorConfig),
    /// Read from a graph file or a `.toml` recipe.
    File(FileSource),
    /// Written out, edge by edge.
    Edges(EdgesSource),
}

/// Edges between peers that are called by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgesSource {
    /// The names of the peers, in order. Absent where they are the numbers from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<PeerName>>,
    /// Every edge once: the names of its ends.
    pub edges: Vec<(PeerName, PeerName)>,
}

impl EdgesSource {
    fn topology(&self, peers: usize) -> Result<Topology, TopologyError> {
        let pairs = self.edges.iter();
        let names = self.nodes.as_ref();
        let named = NamedEdges {
            names: names.map(|names| names.iter().map(|name| name.0.as_str()).collect()),
            edges: pairs.map(|(u, v)| (u.0.as_str(), v.0.as_str())).collect(),
        };
        named.topology(peers)
    }
}

/// A graph file and what to do with its irregularities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSource {
    /// The file, relative to the experiment file.
    pub file: PathBuf,
    /// Take the largest connected component instead of refusing a disconnected graph.
    #[serde(default)]
    pub largest_component: bool,
    /// Merge parallel edges instead of refusing them.
    #[serde(default)]
    pub parallel_edges: ParallelEdges,
}

impl TopologySource {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }

    /// What so many peers have where nothing is said.
    pub(crate) fn usual(peers: usize) -> Self {
        Self::Generator(GeneratorConfig::usual(peers, 1))
    }

    /// The path of the file, if it is one.
    pub(super) fn file_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::Auto | Self::Generator(_) | Self::Edges(_) => None,
            Self::File(source) => Some(&mut source.file),
        }
    }

    /// The topology for `peers` peers; file paths are relative to `base`.
    ///
    /// # Errors
    /// [`TopologyError`] with the file and line, or the parameter to change; the nodes of a file or of a list must be as many as
    /// the peers.
    pub fn resolve(&self, base: &Path, peers: usize) -> Result<Topology, TopologyError> {
        match self {
            Self::Auto => Self::usual(peers).resolve(base, peers),
            Self::Generator(generator) => Topology::generate(generator, peers),
            Self::Edges(edges) => edges.topology(peers),
            Self::File(source) => {
                let options = LoadOptions {
                    largest_component: source.largest_component,
                    merge_parallel: source.parallel_edges == ParallelEdges::Merge,
                    nodes: Some(peers),
                    ..LoadOptions::default()
                };
                crate::topology::load(&base.join(&source.file), options)
            }
        }
    }
}

impl Serialize for TopologySource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            // Files leave it out.
            Self::Auto => toml::Table::new().serialize(serializer),
            Self::Generator(generator) => generator.serialize(serializer),
            Self::File(file) => file.serialize(serializer),
            Self::Edges(edges) => edges.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for TopologySource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = toml::Table::deserialize(deserializer)?;
        let given: Vec<&str> = ["generator", "file", "edges"]
            .into_iter()
            .filter(|key| table.contains_key(*key))
            .collect();
        match given.as_slice() {
            ["generator"] => GeneratorConfig::deserialize(table)
                .map(Self::Generator)
                .map_err(de::Error::custom),
            ["file"] => FileSource::deserialize(table)
                .map(Self::File)
                .map_err(de::Error::custom),
            ["edges"] => EdgesSource::deserialize(table)
                .map(Self::Edges)
                .map_err(de::Error::custom),
            [] => Err(de::Error::custom(
                "expected `generator = \"random-regular\"` (see `undertone topology list`), `file = \"../topologies/karate.edges\"` \
                 or `edges = [[\"ulm\", \"bonn\"], [\"bonn\", \"kiel\"]]`",
            )),
            several => Err(de::Error::custom(format!(
                "give one of `generator`, `file` and `edges`, not {}",
                several.join(" and ")
            ))),
        }
    }
}
