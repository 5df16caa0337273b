//! Graph files: edge lists, tables, GraphML, GML, GEXF, node-link JSON, sparse matrices and recipes.
//!
//! What a file holds is hostile: its size, its lines, its nodes and edges are bounded, no count it
//! declares is believed, and every fault is reported with its line. Nothing is repaired unless an option
//! asks for it, and nothing is guessed: what could be read in two ways is refused. The grammar of each format
//! stands in its module; common to all: UTF-8 with or without a byte-order mark, lines that end with LF or CR LF,
//! no control characters, names without characters that cannot be seen, and no two names that are one in two
//! spellings ([`Spellings`](crate::vocabulary::Spellings)); otherwise names are compared byte by byte.

mod edge_line;
mod edge_table;
mod edges;
mod gexf;
mod gml;
mod graphml;
mod headings;
mod matrix;
mod node_link;
mod parsed;
mod recipe;
mod records;
mod writing;
mod xml;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod zoo;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::{FileProblem, Graph, Origin, Provenance, Topology, TopologyError};
use crate::vocabulary::hidden;
use parsed::{Fault, Parsed};

pub use recipe::{Expected, ParallelEdges, Recipe};
pub use writing::write_edges;

/// The largest file read, in bytes after decompression.
pub(super) const MAX_FILE: usize = 256 << 20;

/// The largest recipe read, in bytes.
const MAX_RECIPE: usize = 1 << 20;

/// What to do with a graph that cannot be used as it stands in its file. Recipes can ask for the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Keep the largest connected component of a disconnected graph (`largest_component = true`).
    pub largest_component: bool,
    /// Keep one of several edges between the same nodes (`parallel_edges = "merge"`).
    pub merge_parallel: bool,
    /// Take a disconnected graph as it is: for graphs that nobody sends along.
    pub disconnected: bool,
    /// The number of nodes needed. It completes a recipe whose generator has no `n`; any other graph
    /// must have it.
    pub nodes: Option<usize>,
}

/// A file format, told by the ending of a file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// Lines of two ids.
    Edges,
    /// Records, separated by tabs or otherwise.
    Records {
        tabs: bool,
    },
    GraphMl,
    Gml,
    Gexf,
    NodeLink,
    /// A sparse matrix of NumPy arrays.
    Matrix,
    Recipe,
}

impl Format {
    fn of(path: &Path) -> Option<(Self, bool)> {
        let name = path.file_name()?.to_str()?.to_lowercase();
        let (stem, zipped) = match name.strip_suffix(".gz") {
            Some(stem) => (stem, true),
            None => (name.as_str(), false),
        };
        let format = match stem.rsplit_once('.')?.1 {
            "edges" | "edgelist" | "txt" => Self::Edges,
            "csv" => Self::Records { tabs: false },
            "tsv" => Self::Records { tabs: true },
            "graphml" => Self::GraphMl,
            "gml" => Self::Gml,
            "gexf" => Self::Gexf,
            "json" => Self::NodeLink,
            "npz" => Self::Matrix,
            "toml" => Self::Recipe,
            _ => return None,
        };
        Some((format, zipped))
    }

    fn parse(self, bytes: &[u8]) -> Result<Parsed, Fault> {
        let text = || plain_text(bytes);
        match self {
            Self::Edges => edges::parse(text()?),
            Self::Records { tabs } => records::parse(text()?, tabs),
            Self::Gexf => gexf::parse(text()?),
            Self::NodeLink => node_link::parse(text()?),
            Self::Matrix => matrix::parse(bytes),
            Self::GraphMl => graphml::parse(text()?),
            Self::Gml => gml::parse(text()?),
            Self::Recipe => {
                let file = "a recipe".to_owned();
                Err((1, FileProblem::RecipeFile { file }))
            }
        }
    }
}

/// The text of a file without the byte-order mark it may begin with. Control characters other than tabs and line
/// ends stand in none of the formats.
fn plain_text(bytes: &[u8]) -> Result<&str, Fault> {
    let line_of = |offset: usize| 1 + bytes[..offset].iter().filter(|b| **b == b'\n').count();
    let text = std::str::from_utf8(bytes)
        .map_err(|error| (line_of(error.valid_up_to()), FileProblem::NotText))?;
    let control = |b: &u8| b.is_ascii_control() && !matches!(b, b'\t' | b'\n' | b'\r');
    if let Some(offset) = bytes.iter().position(control) {
        let line = text[..offset].rfind('\n').map_or(0, |end| end + 1);
        if let Some(found) = hidden(&text[line..=offset]) {
            return Err((line_of(offset), FileProblem::Hidden { found }));
        }
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Reads a connected graph from a file (`.edges`, `.edgelist`, `.txt`, `.csv`, `.tsv`, `.graphml`, `.gml`, `.gexf`, `.json`, each also with `.gz`, and `.npz`) or makes it
/// by a recipe (`.toml`), and computes its weights and spectrum.
///
/// # Errors
/// [`TopologyError`] with file, line and what to change.
///
/// # Cost
/// That of the format, near-linear in the file, and that of [`super::Spectrum::of`].
pub fn load(path: &Path, options: LoadOptions) -> Result<Topology, TopologyError> {
    let (graph, provenance) = load_graph(path, options)?;
    Ok(Topology::from_graph(graph, provenance))
}

/// [`load`] without weights and spectrum.
///
/// # Errors
/// As [`load`].
pub fn load_graph(path: &Path, options: LoadOptions) -> Result<(Graph, Provenance), TopologyError> {
    let Some((format, zipped)) = Format::of(path) else {
        let path = path.to_owned();
        return Err(TopologyError::UnknownFormat { path });
    };
    let (graph, provenance) = if format == Format::Recipe {
        let recipe = recipe::parse(&read(path, zipped, MAX_RECIPE)?).map_err(at(path))?;
        make(path, recipe, options)?
    } else {
        read_graph(path, format, zipped, options)?
    };
    match options.nodes {
        Some(wanted) if wanted != graph.nodes() => Err(TopologyError::NodeCountMismatch {
            declared: graph.nodes(),
            wanted,
        }),
        _ => Ok((graph, provenance)),
    }
}

/// The recipe in `path`, without making its graph.
///
/// # Errors
/// [`TopologyError`] with file and line.
pub fn load_recipe(path: &Path) -> Result<Recipe, TopologyError> {
    recipe::parse(&read(path, false, MAX_RECIPE)?).map_err(at(path))
}

fn read_graph(
    path: &Path,
    format: Format,
    zipped: bool,
    options: LoadOptions,
) -> Result<(Graph, Provenance), TopologyError> {
    let bytes = read(path, zipped, MAX_FILE)?;
    let parsed = format.parse(&bytes).map_err(at(path))?;
    drop(bytes);
    let directed = parsed.edges.iter().filter(|edge| edge.directed).count();
    // An edge with two directions is listed twice.
    let listed = parsed.edges.len() - directed / 2;
    let left_out = parsed.left_out.clone();
    let graph = parsed
        .into_graph(options.merge_parallel)
        .map_err(at(path))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut provenance = Provenance {
        name: name.split('.').next().unwrap_or_default().to_owned(),
        origin: Origin::File {
            file: name.into_owned(),
        },
        source: None,
        licence: None,
        merged_edges: listed - graph.edges(),
        dropped_nodes: 0,
        left_out,
    };
    if options.disconnected && !options.largest_component {
        return Ok((graph, provenance));
    }
    let graph = connected(path, graph, options.largest_component, &mut provenance)?;
    Ok((graph, provenance))
}

fn make(
    path: &Path,
    recipe: Recipe,
    options: LoadOptions,
) -> Result<(Graph, Provenance), TopologyError> {
    let options = LoadOptions {
        largest_component: options.largest_component || recipe.largest_component,
        merge_parallel: options.merge_parallel || recipe.parallel_edges == ParallelEdges::Merge,
        ..options
    };
    let (graph, mut provenance) = match (recipe.generator, recipe.file) {
        (Some(config), _) => {
            let nodes = config.nodes().or(options.nodes).ok_or_else(|| {
                TopologyError::NodeCountUnknown {
                    generator: config.name(),
                }
            })?;
            let mut provenance = Provenance::generated(config.clone());
            let graph = if options.largest_component {
                connected(path, config.generate_any(nodes)?, true, &mut provenance)?
            } else if options.disconnected {
                config.generate_any(nodes)?
            } else {
                config.generate(nodes)?
            };
            (graph, provenance)
        }
        (None, file) => {
            let file = file.unwrap_or_default();
            let relative = Path::new(&file);
            let target = path.parent().unwrap_or(Path::new("")).join(relative);
            match Format::of(&target) {
                Some((format, zipped)) if format != Format::Recipe && !relative.has_root() => {
                    read_graph(&target, format, zipped, options)?
                }
                _ => return Err(at(path)((1, FileProblem::RecipeFile { file }))),
            }
        }
    };
    provenance.name = recipe.name;
    provenance.source = recipe.source;
    provenance.licence = recipe.licence;
    if let Some(expected) = recipe.expected {
        for (what, expected, found) in [
            ("nodes", expected.nodes, graph.nodes()),
            ("edges", expected.edges, graph.edges()),
        ] {
            if expected != found {
                return Err(TopologyError::Expectation {
                    path: path.to_owned(),
                    what,
                    expected,
                    found,
                });
            }
        }
    }
    Ok((graph, provenance))
}

/// The graph, or its largest component if that was asked for.
fn connected(
    path: &Path,
    graph: Graph,
    largest_component: bool,
    provenance: &mut Provenance,
) -> Result<Graph, TopologyError> {
    let sizes = graph.component_sizes_without(&[]);
    if sizes.len() == 1 {
        return Ok(graph);
    }
    let largest = sizes.iter().copied().max().unwrap_or(0);
    if !largest_component {
        return Err(TopologyError::Disconnected {
            path: path.to_owned(),
            components: sizes.len(),
            largest,
            nodes: graph.nodes(),
        });
    }
    provenance.dropped_nodes = graph.nodes() - largest;
    Ok(graph.largest_component())
}

fn at(path: &Path) -> impl Fn(Fault) -> TopologyError {
    move |(line, problem)| TopologyError::File {
        path: path.to_owned(),
        line,
        problem,
    }
}

/// The content of a file, decompressed, if it is at most `most` bytes.
fn read(path: &Path, zipped: bool, most: usize) -> Result<Vec<u8>, TopologyError> {
    let unreadable = |source| TopologyError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    let limit = most as u64 + 1;
    if zipped {
        MultiGzDecoder::new(file)
            .take(limit)
            .read_to_end(&mut bytes)
    } else {
        file.take(limit).read_to_end(&mut bytes)
    }
    .map_err(|source| match source.kind() {
        ErrorKind::UnexpectedEof if zipped => at(path)((1, FileProblem::TruncatedGzip)),
        ErrorKind::InvalidInput | ErrorKind::InvalidData if zipped => {
            at(path)((1, FileProblem::CorruptGzip))
        }
        _ => unreadable(source),
    })?;
    if bytes.len() > most {
        return Err(at(path)((1, FileProblem::TooLarge { most })));
    }
    Ok(bytes)
}
