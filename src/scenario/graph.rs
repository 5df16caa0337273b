//! A private graph whose vertices are the peers: which keys go with it, how it is read, and on which graph it must not be run.
//!
//! # Neighbours stay neighbours
//! Peer v holds row v of the adjacency matrix as the file has it. No step in between looks at edges, so that graphs that differ in one edge
//! become rows that differ in its two entries. Which vertices there are, and in which order, is taken to be public; a file that lists edges
//! alone shows a vertex only by its edges.

use std::path::{Path, PathBuf};

use super::arranged::DataShape;
use super::error::{DataTableError, ExperimentError, NetworkError};
use super::in_memory::InMemory;
use super::rules::{Rule, keep_data};
use crate::algorithm::{OnBipartite, OnGraph, Output, Start};
use crate::config::{Config, Family, PeerCount, TopologySource};
use crate::data::{DataError, Loaded, Partition};
use crate::privacy::{Adjacency, OnDisconnect, Scheme, SensitivityRule};
use crate::topology::{LoadOptions, TopologyError, load_graph, load_recipe};

/// Whether every peer is a vertex, of a graph or of a bipartite matrix.
pub(crate) fn is_of_vertices(config: &Config) -> bool {
    config.data.is_graph() || config.data.is_bipartite()
}

/// What one record of it can be, where every peer is a vertex.
pub(crate) fn adjacency(config: &Config) -> Option<Adjacency> {
    match config.data.family() {
        Family::Graph => Some(Adjacency::Edge),
        Family::Bipartite => Some(Adjacency::EntryBipartite),
        _ => None,
    }
}

/// What is about vertices, of data that have none.
const OF_ROWS: &[Rule] = &[
    (
        "format",
        |config| config.privacy.adjacency == Adjacency::EntryBipartite,
        "and peers.count make no bipartite matrix, which privacy.adjacency = \"entry-bipartite\" is about: set a format of matrices and \
         peers.count = \"vertices\"",
    ),
    (
        "format",
        |config| config.peers.count == PeerCount::Vertices,
        "is neither \"graph\" nor one of matrices, whose vertices peers.count = \"vertices\" means: give both or neither",
    ),
    (
        "format",
        |config| config.privacy.adjacency == Adjacency::Edge,
        "is not \"graph\", whose edges privacy.adjacency = \"edge\" is about: set that format, or another adjacency",
    ),
];

/// What is about rows, of data that are vertices.
const OF_VERTICES: &[Rule] = &[
    (
        "format",
        |config| config.data.is_graph() && config.privacy.adjacency == Adjacency::EntryBipartite,
        OF_ROWS[0].2,
    ),
    (
        "format",
        |config| {
            let peers = &config.peers;
            peers.count != PeerCount::Vertices || peers.partition != Partition::RoundRobin
        },
        "= \"graph\" has one peer for every vertex: set peers.count = \"vertices\" and leave peers.partition out",
    ),
    (
        "format",
        |config| {
            let evaluation = &config.evaluation;
            let held_out = evaluation.holdout.is_some() || evaluation.test.is_some();
            held_out || evaluation.reference_floor.is_some() || evaluation.diagnostics
        },
        "is of vertices, of which nothing is held out and no bound is checked: leave [evaluation] out",
    ),
    (
        "format",
        |config| {
            let required = config.algorithm.table().requirements();
            required.start == Start::Popularity || required.output == Output::LowRank
        },
        "is of vertices, whose degrees are private and whose eigenvalues have signs: leave algorithm.start and algorithm.output out",
    ),
];

/// What a private graph needs.
const GRAPH: &[Rule] = &[
    (
        "format",
        |config| {
            let sketch = config.algorithm.table().sketch();
            sketch.is_none_or(|program| OnGraph::check(&program).is_err())
        },
        "= \"graph\" runs with algorithm.kind = \"power\", \"ppi\" and \"deflation\": choose one of them",
    ),
    (
        "format",
        |config| {
            let privacy = &config.privacy;
            let of_graph = matches!(privacy.adjacency, Adjacency::Edge | Adjacency::Entry);
            !of_graph || privacy.sensitivity() != SensitivityRule::Exact
        },
        "= \"graph\" protects edges: set privacy.adjacency = \"edge\" (an edge is there or not) or \"entry\" (one entry of one row changes) \
         and leave privacy.sensitivity at \"exact\"",
    ),
];

/// What a matrix needs whose rows and columns publish in turns.
const BIPARTITE: &[Rule] = &[
    (
        "format",
        |config| {
            let table = config.algorithm.table();
            let sketch = table.sketch();
            let fits = sketch.is_some_and(|program| OnBipartite::check(&program).is_ok());
            !fits || !table.iterations().is_multiple_of(2)
        },
        "is a matrix whose rows and columns publish in turns: set algorithm.kind = \"power\" or \"ppi\" and an even number of \
         algorithm.iterations, so that the last turn is the columns'",
    ),
    (
        "format",
        |config| {
            let privacy = &config.privacy;
            privacy.adjacency != Adjacency::EntryBipartite
                || privacy.sensitivity() != SensitivityRule::Exact
        },
        "is a matrix whose rows and columns are the peers: set privacy.adjacency = \"entry-bipartite\" and leave privacy.sensitivity at \
         \"exact\"",
    ),
];

/// Whole and real noise at every vertex.
const NOISE: &[Rule] = &[(
    "format",
    |config| {
        config.noise.scheme == Scheme::Ring || config.privacy.on_disconnect != OnDisconnect::Refuse
    },
    "is of vertices, each of which has real noise of its own: set noise.scheme = \"local\" or \"pairwise\", and leave privacy.on_disconnect out",
)];

/// Refuses keys of other tables that do not go with a graph or a bipartite matrix, and those of either without one.
pub(super) fn check(config: &Config) -> Result<(), ExperimentError> {
    let lists: &[&[Rule]] = match config.data.family() {
        Family::Graph => &[OF_VERTICES, GRAPH, NOISE],
        Family::Bipartite => &[OF_VERTICES, BIPARTITE, NOISE],
        _ => &[OF_ROWS],
    };
    lists.iter().try_for_each(|rules| keep_data(rules, config))
}

/// Fills in who adds noise where nothing is summed: every vertex all of it, whatever sums would have.
pub(super) fn complete(config: &mut Config) {
    let sketch = config.algorithm.table().sketch();
    // Of products, of which every vertex publishes its own row.
    let own = sketch.is_some_and(|program| OnBipartite::check(&program).is_ok());
    if is_of_vertices(config) && own && config.noise.scheme != Scheme::None {
        config.noise.scheme = Scheme::Local;
    }
}

/// What the rows of peers are to one another; `rows` is how many rows the matrix of a bipartite one has.
pub(crate) fn shape(config: &Config, rows: usize) -> DataShape {
    match config.data.family() {
        Family::Graph => DataShape::Graph,
        Family::Bipartite => DataShape::Bipartite {
            rows,
            in_unit_range: config.data.ranges().is_some(),
        },
        _ => DataShape::Rows,
    }
}

/// Reads the graph. That it falls apart is no reason to refuse it, and would tell about its edges.
pub(super) fn load(path: &Path) -> Result<Loaded, ExperimentError> {
    let options = LoadOptions {
        disconnected: true,
        ..LoadOptions::default()
    };
    let (graph, provenance) = load_graph(path, options).map_err(|error| match error {
        TopologyError::Unreadable { path, source } => DataTableError::from(DataError::Open {
            file: path.display().to_string(),
            kind: source.kind(),
        }),
        other => DataTableError::Graph(other),
    })?;
    if let Some(what) = provenance.left_out {
        let path = path.to_owned();
        return Err(DataTableError::Graph(TopologyError::Weighted { path, what }).into());
    }
    let names: Vec<String> = (0..graph.nodes()).map(|v| graph.name(v)).collect();
    let loaded = Loaded::of_graph(&names, graph.edge_list()).map_err(DataTableError::from)?;
    Ok(loaded)
}

/// Refuses to send, or to share noise, along the edges that are to be kept private: whoever sees who sends to whom would have them.
///
/// What is compared are files and not edges. A refusal because two graphs *are* the same would tell this graph from its neighbours, which
/// are not refused; which files a configuration names tells nothing.
///
/// # Errors
/// [`NetworkError::PrivateEdges`] if `[topology]` or `[noise_topology]` names the file of the data, or a recipe that does.
pub(super) fn keep_apart(
    config: &Config,
    base: &Path,
    in_memory: &InMemory,
) -> Result<(), NetworkError> {
    if !config.data.is_graph() || config.noise.scheme == Scheme::None {
        return Ok(());
    }
    let private = the_file(&base.join(config.data.path()));
    let graphs = [
        ("topology", Some(&config.topology)),
        ("noise_topology", config.noise_topology.as_ref()),
    ];
    for (table, source) in graphs {
        if let Some(TopologySource::File(source)) = source
            && let Some(file) = in_memory.file(&source.file, base)
            && the_file(&file) == private
        {
            return Err(NetworkError::PrivateEdges { table });
        }
    }
    Ok(())
}

/// The file that a path leads to in the end: links followed, recipes read. A path that leads nowhere stays as it is; it is refused elsewhere.
fn the_file(path: &Path) -> PathBuf {
    let resolved = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let is_recipe = path.extension().is_some_and(|ending| ending == "toml");
    let named = is_recipe.then(|| load_recipe(path).ok()?.file).flatten();
    match (named, path.parent()) {
        (Some(file), Some(folder)) => resolved(&folder.join(file)),
        _ => resolved(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::config::read_config;
    use crate::topology::Graph;

    /// Files are the same by whatever path, through links and recipes.
    #[test]
    fn the_file_of_the_data_is_known_by_whatever_path_it_is_named() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let kept_apart = |data: &str, topology: &str, in_memory: &InMemory| {
            let set = [
                format!("data={{path=\"{data}\",format=\"graph\"}}"),
                "peers.count=vertices".to_owned(),
                "privacy.adjacency=edge".to_owned(),
                format!("topology={{file=\"{topology}\"}}"),
            ];
            let config = read_config(&root.join("tests/power.toml"), &set).expect("valid keys");
            keep_apart(&config, &root.join("sims"), in_memory).is_ok()
        };
        let refused =
            |data: &str, topology: &str| !kept_apart(data, topology, &InMemory::default());
        let karate = "../topologies/karate.edges";
        for (data, topology) in [
            (karate, "../topologies/karate.edges"),
            (karate, "../tests/../topologies/karate.edges"),
            (karate, "../topologies/karate.toml"),
            ("../topologies/karate.toml", "../topologies/karate.edges"),
        ] {
            assert!(refused(data, topology), "{data} {topology}");
        }
        assert!(!refused(karate, "../topologies/les-miserables.edges"));
        assert!(!refused(karate, "../topologies/torus-8x8.toml"));
        // A graph in memory is the file that it was read from, and no file where it was read from none.
        let pair = Graph::from_edges(2, &[(0, 1)]).expect("an edge");
        let mut memory = InMemory::default();
        memory.know_graph("topology.gml".into(), Arc::new(pair));
        assert!(kept_apart("topology.gml", "topology.gml", &memory));
        memory.know_origin("topology.gml".into(), root.join("topologies/karate.toml"));
        assert!(!kept_apart(karate, "topology.gml", &memory));
        assert!(kept_apart(
            "../topologies/les-miserables.edges",
            "topology.gml",
            &memory
        ));
    }
}
