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
use crate::algorithm::{OnBipartite, OnGraph, Output, Start};
use crate::config::{Config, DataConfig, DataFormat, PeerCount, TopologySource};
use crate::data::{DataError, Loaded, Partition};
use crate::privacy::{Adjacency, OnDisconnect, Scheme, SensitivityRule};
use crate::topology::{LoadOptions, TopologyError, load_graph, load_recipe};

/// Whether the data are a private graph.
pub(crate) fn is_meant(data: &DataConfig) -> bool {
    data.format == DataFormat::Graph
}

/// Whether the rows and the columns of a matrix are the peers: a bipartite graph with weights.
pub(crate) fn is_bipartite(config: &Config) -> bool {
    let is_matrix = matches!(
        config.data.format,
        DataFormat::Matrix(_) | DataFormat::Generated
    );
    is_matrix && config.peers.count == PeerCount::Vertices
}

/// Whether every peer is a vertex, of either.
pub(crate) fn is_of_vertices(config: &Config) -> bool {
    is_meant(&config.data) || is_bipartite(config)
}

/// What one record of it can be, where every peer is a vertex.
pub(crate) fn adjacency(config: &Config) -> Option<Adjacency> {
    match (is_meant(&config.data), is_bipartite(config)) {
        (true, _) => Some(Adjacency::Edge),
        (_, true) => Some(Adjacency::EntryBipartite),
        _ => None,
    }
}

/// Refuses keys that do not go with a graph or a bipartite matrix, and those of either without one.
pub(super) fn check(config: &Config) -> Result<(), ExperimentError> {
    let data = &config.data;
    let refuse = |key, why| Err(DataTableError::Key { key, why }.into());
    let vertices = config.peers.count == PeerCount::Vertices;
    let bipartite = is_bipartite(config);
    if !bipartite && config.privacy.adjacency == Adjacency::EntryBipartite {
        return refuse(
            "format",
            "and peers.count make no bipartite matrix, which privacy.adjacency = \"entry-bipartite\" is about: set a format of matrices and \
             peers.count = \"vertices\"",
        );
    }
    if !is_meant(data) && !bipartite {
        if vertices {
            return refuse(
                "format",
                "is neither \"graph\" nor one of matrices, whose vertices peers.count = \"vertices\" means: give both or neither",
            );
        }
        if config.privacy.adjacency == Adjacency::Edge {
            return refuse(
                "format",
                "is not \"graph\", whose edges privacy.adjacency = \"edge\" is about: set that format, or another adjacency",
            );
        }
        return Ok(());
    }
    if !vertices || config.peers.partition != Partition::RoundRobin {
        return refuse(
            "format",
            "= \"graph\" has one peer for every vertex: set peers.count = \"vertices\" and leave peers.partition out",
        );
    }
    let given = [
        ("threshold", data.threshold != 0.0),
        ("items", data.items > 0),
        ("items_file", data.items_file.is_some()),
        ("users_file", data.users_file.is_some()),
        ("degree_floor", data.degree_floor != 1),
        ("degree_cap", data.degree_cap.is_some()),
        ("header", data.header.is_some() && !bipartite),
        ("drop", data.drop.is_some() && !bipartite),
        ("ranges", data.ranges.is_some() && !bipartite),
        ("row_limit", data.row_limit.is_some()),
        ("centre", data.centre.is_some()),
        ("means", data.means.is_some()),
        ("raw_clip", data.raw_clip.is_some()),
        ("mean_share", data.mean_share.is_some()),
        ("row_clip", data.row_clip.is_some()),
        ("values", data.values.is_some()),
        ("scale", data.scale.is_some()),
        ("image", data.image.is_some()),
    ];
    if let Some((key, _)) = given.into_iter().find(|(_, given)| *given) {
        return refuse(
            key,
            "is about ratings or rows, and this file is a graph or a matrix whose rows and columns are the peers: leave it out",
        );
    }
    let evaluation = &config.evaluation;
    if evaluation.holdout.is_some()
        || evaluation.test.is_some()
        || evaluation.reference_floor.is_some()
        || evaluation.diagnostics
    {
        return refuse(
            "format",
            "is of vertices, of which nothing is held out and no bound is checked: leave [evaluation] out",
        );
    }
    if config.algorithm.table().requirements().start == Start::Popularity
        || config.algorithm.table().requirements().output == Output::LowRank
    {
        return refuse(
            "format",
            "is of vertices, whose degrees are private and whose eigenvalues have signs: leave algorithm.start and algorithm.output out",
        );
    }
    if bipartite {
        return check_bipartite(config);
    }
    let sketch = config.algorithm.table().sketch();
    if sketch.is_none_or(|program| OnGraph::check(&program).is_err()) {
        return refuse(
            "format",
            "= \"graph\" runs with algorithm.kind = \"power\", \"ppi\" and \"deflation\": choose one of them",
        );
    }
    let privacy = &config.privacy;
    let of_graph = matches!(privacy.adjacency, Adjacency::Edge | Adjacency::Entry)
        && privacy.sensitivity() == SensitivityRule::Exact;
    if !of_graph {
        return refuse(
            "format",
            "= \"graph\" protects edges: set privacy.adjacency = \"edge\" (an edge is there or not) or \"entry\" (one entry of one row changes) \
             and leave privacy.sensitivity at \"exact\"",
        );
    }
    check_noise(config)
}

/// Rows and columns publish in turns.
fn check_bipartite(config: &Config) -> Result<(), ExperimentError> {
    let refuse = |key, why| Err(DataTableError::Key { key, why }.into());
    let algorithm = &config.algorithm;
    let fits = algorithm
        .table()
        .sketch()
        .is_some_and(|program| OnBipartite::check(&program).is_ok());
    if !fits || !algorithm.table().iterations().is_multiple_of(2) {
        return refuse(
            "format",
            "is a matrix whose rows and columns publish in turns: set algorithm.kind = \"power\" or \"ppi\" and an even number of \
             algorithm.iterations, so that the last turn is the columns'",
        );
    }
    let privacy = &config.privacy;
    if privacy.adjacency != Adjacency::EntryBipartite
        || privacy.sensitivity() != SensitivityRule::Exact
    {
        return refuse(
            "format",
            "is a matrix whose rows and columns are the peers: set privacy.adjacency = \"entry-bipartite\" and leave privacy.sensitivity at \
             \"exact\"",
        );
    }
    check_noise(config)
}

/// Whole and real noise at every vertex.
fn check_noise(config: &Config) -> Result<(), ExperimentError> {
    let refuse = |key, why| Err(DataTableError::Key { key, why }.into());
    if config.noise.scheme == Scheme::Ring || config.privacy.on_disconnect != OnDisconnect::Refuse {
        return refuse(
            "format",
            "is of vertices, each of which has real noise of its own: set noise.scheme = \"local\" or \"pairwise\", and leave privacy.on_disconnect out",
        );
    }
    Ok(())
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
    match (is_meant(&config.data), is_bipartite(config)) {
        (true, _) => DataShape::Graph,
        (_, true) => DataShape::Bipartite {
            rows,
            in_unit_range: config.data.ranges.is_some(),
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
    if !is_meant(&config.data) || config.noise.scheme == Scheme::None {
        return Ok(());
    }
    let private = the_file(&base.join(&config.data.path));
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
                "data.format=graph".to_owned(),
                format!("data.path={data}"),
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
