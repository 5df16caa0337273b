//! The `[topology]` table: a generator with its parameters, or a file.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::topology::{GeneratorConfig, LoadOptions, ParallelEdges, Topology, TopologyError};

/// Where a graph comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum TopologySource {
    /// Drawn or constructed for the experiment's number of peers.
    Generator(GeneratorConfig),
    /// Read from a file: `.edges`, `.graphml`, `.gml` or a `.toml` recipe.
    File(FileSource),
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
    /// The path of the file, if it is one.
    pub(super) fn file_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::Generator(_) => None,
            Self::File(source) => Some(&mut source.file),
        }
    }

    /// The topology for `peers` peers; file paths are relative to `base`.
    ///
    /// # Errors
    /// [`TopologyError`] with the file and line, or the parameter to change; a file's node count must be
    /// the number of peers.
    pub fn resolve(&self, base: &Path, peers: usize) -> Result<Topology, TopologyError> {
        match self {
            Self::Generator(generator) => Topology::generate(generator, peers),
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
            Self::Generator(generator) => generator.serialize(serializer),
            Self::File(file) => file.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for TopologySource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = toml::Table::deserialize(deserializer)?;
        match (table.contains_key("generator"), table.contains_key("file")) {
            (true, false) => GeneratorConfig::deserialize(table)
                .map(Self::Generator)
                .map_err(de::Error::custom),
            (false, true) => FileSource::deserialize(table)
                .map(Self::File)
                .map_err(de::Error::custom),
            (true, true) => Err(de::Error::custom(
                "give either `generator` or `file`, not both",
            )),
            (false, false) => Err(de::Error::custom(
                "expected `generator = \"random-regular\"` (see `undertone topology list`) or `file = \"../topologies/karate.edges\"`",
            )),
        }
    }
}
