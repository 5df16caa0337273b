//! Data and graphs that a program holds in memory, in place of files that a configuration names.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{Config, DataFormat, TopologySource, anchored};
use crate::data::Loaded;
use crate::topology::{Graph, Provenance, Topology, TopologyError};

/// Data and graphs in memory, by the paths that configurations have for them.
#[derive(Clone, Default)]
pub(super) struct InMemory {
    data: BTreeMap<PathBuf, (DataFormat, Arc<Loaded>)>,
    graphs: BTreeMap<PathBuf, Arc<Graph>>,
    /// Of graphs that were read from a file: which.
    read_from: BTreeMap<PathBuf, PathBuf>,
}

impl InMemory {
    /// Takes these data for what is at `path` in this format.
    pub(super) fn know_data(&mut self, path: PathBuf, format: DataFormat, loaded: Arc<Loaded>) {
        self.data.insert(path, (format, loaded));
    }

    /// Takes this graph for what is at `path`.
    pub(super) fn know_graph(&mut self, path: PathBuf, graph: Arc<Graph>) {
        self.graphs.insert(path, graph);
    }

    /// Says that the graph at `path` was read from this file.
    pub(super) fn know_origin(&mut self, path: PathBuf, file: PathBuf) {
        self.read_from.insert(path, file);
    }

    /// The file of this path: what a graph in memory was read from, and nothing where it was read from none.
    pub(super) fn file(&self, path: &Path, base: &Path) -> Option<PathBuf> {
        match self.graphs.contains_key(path) {
            true => self.read_from.get(path).map(|file| base.join(file)),
            false => Some(base.join(path)),
        }
    }

    /// The data at `path` and their format, if they are in memory.
    pub(super) fn data(&self, path: &Path) -> Option<&(DataFormat, Arc<Loaded>)> {
        self.data.get(path)
    }

    /// A digest of the data at `path`, if they are in memory. It is a secret like the data.
    pub(super) fn digest(&self, path: &Path) -> Option<blake3::Hash> {
        let (_, loaded) = self.data.get(path)?;
        Some(loaded.content_digest())
    }

    /// Whether the graph of this source is in memory.
    pub(super) fn has_graph(&self, source: &TopologySource) -> bool {
        self.graph(source).is_some()
    }

    fn graph<'a>(&self, source: &'a TopologySource) -> Option<(&'a Path, &Arc<Graph>)> {
        match source {
            TopologySource::File(source) => {
                let graph = self.graphs.get(&source.file)?;
                Some((&source.file, graph))
            }
            _ => None,
        }
    }

    /// The topology of a graph in memory for `peers` peers; `None` where it is not in memory.
    ///
    /// # Errors
    /// [`TopologyError`] for a graph that is not connected, or not of so many nodes.
    pub(super) fn topology(
        &self,
        source: &TopologySource,
        peers: usize,
    ) -> Option<Result<Topology, TopologyError>> {
        let (path, graph) = self.graph(source)?;
        Some(connected(path, graph, peers))
    }

    /// The configuration with its paths, which start at `base`, made absolute. What is in memory is no file: its path stays as it is.
    pub(super) fn anchored(&self, config: Config, base: &Path) -> Config {
        let mut whole = anchored(config.clone(), base);
        if self.data.contains_key(config.data.path()) {
            *whole.data.path_mut() = config.data.path().to_owned();
        }
        if self.has_graph(&config.topology) {
            whole.topology = config.topology;
        }
        if config
            .noise_topology
            .as_ref()
            .is_some_and(|graph| self.has_graph(graph))
        {
            whole.noise_topology = config.noise_topology;
        }
        whole
    }
}

/// The paths, and nothing of the data.
impl fmt::Debug for InMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InMemory")
            .field("data", &self.data.keys())
            .field("graphs", &self.graphs.keys())
            .finish()
    }
}

fn connected(path: &Path, graph: &Arc<Graph>, peers: usize) -> Result<Topology, TopologyError> {
    let nodes = graph.nodes();
    let sizes = graph.component_sizes_without(&[]);
    if sizes.len() != 1 {
        return Err(TopologyError::Pieces {
            components: sizes.len(),
            largest: sizes.into_iter().max().unwrap_or(0),
            nodes,
        });
    }
    if nodes != peers {
        return Err(TopologyError::NodeCountMismatch {
            declared: nodes,
            wanted: peers,
        });
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(Topology::from_graph(
        Graph::clone(graph),
        Provenance::edges(&name),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{MatrixFormat, RatingColumns};
    use crate::scenario::{Experiment, Materials};

    const NPY: DataFormat = DataFormat::Matrix(MatrixFormat::Npy);

    const ROWS: &str = "format = \"npy\", row_clip = 2.0";
    const BASE: &str = "name = \"held\"\npeers.count = 6\n\
         data = { path = \"rows.npy\", format = \"npy\", row_clip = 2.0 }\n\
         topology = { file = \"ring.gml\" }\n\
         algorithm = { kind = \"power\", rank = 1, iterations = 2 }\n\
         averaging = { scheme = \"chebyshev\" }\n\
         privacy = { epsilon = 1.0, delta = 1e-5, adjacency = \"user\", sensitivity = \"unit-row\" }\n";

    fn config(more: &str) -> Config {
        let text = format!("{BASE}{more}");
        Config::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn ring(nodes: u32) -> Arc<Graph> {
        let edges: Vec<_> = (0..nodes).map(|u| (u, (u + 1) % nodes)).collect();
        let graph = Graph::from_edges(nodes as usize, &edges).expect("a ring");
        let names = (0..nodes).map(|u| format!("ward {u}")).collect();
        Arc::new(graph.with_names(names).expect("distinct"))
    }

    fn rows() -> Arc<Loaded> {
        let number = |row: usize, column: usize| ((row * 7 + column * 3) % 5) as f64 - 1.5;
        Arc::new(Loaded::from_array((12, 3), number).expect("finite"))
    }

    fn materials() -> Materials {
        let mut materials = Materials::new(Path::new("/nowhere"));
        materials.know_data(Path::new("rows.npy"), NPY, rows());
        materials.know_graph(Path::new("ring.gml"), ring(6));
        materials.know_graph(Path::new("all.gml"), ring(6));
        materials
    }

    #[test]
    fn an_experiment_over_memory_reads_no_file_nor_does_what_it_is_compared_with() {
        let compared = "noise_topology = { file = \"all.gml\" }\n\
                        compare = { algorithm = { kind = \"covariance\", iterations = 1 }, averaging = { scheme = \"tree\" } }";
        let experiment = Experiment::resolve_from(config(compared), &materials()).expect("valid");
        assert_eq!(experiment.peer_name(3), "ward 3");
        let other = experiment.compared().expect("valid");
        assert_eq!(other.expect("[compare]").peer_name(3), "ward 3");
        // Without it the same configuration is about files, which are not there.
        let files = Materials::new(Path::new("/nowhere"));
        let error = Experiment::resolve_from(config(""), &files).expect_err("no file");
        assert!(error.to_string().contains("rows.npy"), "{error}");
    }

    #[test]
    fn what_is_in_memory_keeps_its_path_and_other_paths_become_absolute() {
        let experiment = Experiment::resolve_from(config(""), &materials()).expect("valid");
        let portable = experiment.portable_config();
        assert_eq!(portable.data.path(), Path::new("rows.npy"));
        assert_eq!(portable.topology, experiment.config().topology);
        let text = BASE.replace(ROWS, "format = \"csv-triples\", users_file = \"users.txt\"");
        let file = Config::read(&format!(
            "{text}noise_topology = {{ file = \"other.gml\" }}"
        ));
        let whole = materials().anchored(file.expect("valid"));
        let users = whole.data.users_file().map(|path| path.as_path());
        assert_eq!(users, Some(Path::new("/nowhere/users.txt")));
        let text = toml::to_string(&whole.noise_topology).expect("a table");
        assert!(text.contains("\"/nowhere/other.gml\""), "{text}");
    }

    #[test]
    fn a_graph_that_falls_apart_or_is_of_other_peers_is_refused() {
        let mut apart = materials();
        let pieces = Graph::from_edges(6, &[(0, 1), (2, 3), (3, 4), (4, 5)]).expect("two paths");
        apart.know_graph(Path::new("ring.gml"), Arc::new(pieces));
        let mut smaller = materials();
        smaller.know_graph(Path::new("ring.gml"), ring(5));
        for (materials, says) in [
            (apart, "2 components, the largest with 4 of 6 nodes"),
            (smaller, "the topology has 5 nodes, but 6 peers"),
        ] {
            let error = Experiment::resolve_from(config(""), &materials).expect_err("refused");
            let words = format!("{error} {:?}", std::error::Error::source(&error));
            assert!(
                words.contains(says) || error.to_string().contains(says),
                "{words}"
            );
        }
    }

    #[test]
    fn data_are_read_in_their_own_format_with_columns_left_out_and_above_a_threshold() {
        let of = |keys: &str| {
            let config = Config::read(&BASE.replace(ROWS, keys));
            config.expect("valid").data
        };
        let materials = materials();
        let left = materials.loaded(&of(&format!("{ROWS}, drop = [2]")));
        assert_eq!(left.expect("two columns").interactions.items(), 2);
        let interactions = of("format = \"csv-triples\"");
        let refused = materials.loaded(&interactions).expect_err("another format");
        assert!(refused.to_string().contains("leave it out"), "{refused}");

        let (users, items) = (["a", "b", "a"], ["x", "x", "y"]);
        let ratings = Loaded::from_ratings(RatingColumns {
            users: &users.map(str::to_owned),
            items: &items.map(str::to_owned),
            ratings: Some(&[1.0, 2.0, 3.0]),
        });
        let mut materials = Materials::new(Path::new("/nowhere"));
        let path = Path::new("rows.npy");
        materials.know_data(
            path,
            interactions.format(),
            Arc::new(ratings.expect("three")),
        );
        let above = |threshold: &str| {
            let keys = format!("format = \"csv-triples\", threshold = {threshold}");
            materials.loaded(&of(&keys))
        };
        for (threshold, left) in [("0.0", 3), ("1.0", 2), ("2.5", 1)] {
            let loaded = above(threshold).expect("read");
            assert_eq!(loaded.interactions.len(), left);
        }
        assert!(above("nan").is_err());
    }

    #[test]
    fn rows_are_not_shown_and_have_a_digest() {
        let mut memory = InMemory::default();
        memory.know_data("rows.npy".into(), NPY, rows());
        memory.know_graph("ring.gml".into(), ring(6));
        let shown = format!("{memory:?}");
        assert!(
            shown.contains("rows.npy") && shown.contains("ring.gml"),
            "{shown}"
        );
        assert!(!shown.contains("1.5") && !shown.contains("ward"), "{shown}");
        assert_eq!(
            memory.digest(Path::new("rows.npy")),
            Some(rows().content_digest())
        );
        assert_eq!(memory.digest(Path::new("ring.gml")), None);
    }
}
