//! Arrays, tables and graphs that a caller has in memory, as the data and graphs of an experiment.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use toml::{Table, Value};
use undertone::config::{Config, DataFormat, FileSource, TopologySource};
use undertone::data::{Format, Loaded, MatrixFormat, RatingColumns};
use undertone::scenario::Materials;
use undertone::topology::{Graph, ParallelEdges};
use undertone::vocabulary::Spellings;

use crate::accountant::edges_of;
use crate::failure::Failure;

/// Names that configurations have for what is in memory: of files with the same content in the folder of the configuration.
const ROWS: &str = "rows.npy";
const RATINGS: &str = "interactions.csv";
const TOPOLOGY: &str = "topology.gml";
const NOISE_TOPOLOGY: &str = "noise-topology.gml";

/// Data and graphs of a caller. There is no `Debug`: rows are private.
#[derive(Clone)]
pub(crate) struct Memory {
    data: Option<(DataFormat, Arc<Loaded>)>,
    topology: Option<Held>,
    noise_topology: Option<Held>,
}

/// A graph, and the file that it was read from, if it was.
#[derive(Clone)]
struct Held {
    graph: Arc<Graph>,
    file: Option<PathBuf>,
}

/// Users, items and ratings, one entry per rating.
type Ratings<'py> = (Vec<String>, Vec<String>, Option<PyReadonlyArray1<'py, f64>>);

/// The names of the nodes, edges between their numbers, and the file that they were read from.
type Named<'py> = (Vec<String>, PyReadonlyArray2<'py, u32>, Option<PathBuf>);

impl Memory {
    /// Copies what Python hands over: `rows`, or `ratings` as columns, and the graphs by their tables.
    pub(crate) fn of(given: &Bound<'_, PyDict>) -> PyResult<Self> {
        let graph = |key: &str| -> PyResult<Option<Held>> {
            let given = given.get_item(key)?;
            given
                .map(|given| graph_of(key, given.extract()?))
                .transpose()
        };
        let data = match (given.get_item("rows")?, given.get_item("ratings")?) {
            (Some(rows), _) => Some((
                DataFormat::Matrix(MatrixFormat::Npy),
                rows_of(&rows.extract()?)?,
            )),
            (None, Some(ratings)) => Some((
                DataFormat::Ratings(Format::CsvTriples),
                ratings_of(ratings.extract()?)?,
            )),
            (None, None) => None,
        };
        Ok(Self {
            data,
            topology: graph("topology")?,
            noise_topology: graph("noise_topology")?,
        })
    }

    /// The file that a configuration names for the data, and its format.
    fn data(&self) -> Option<(&'static str, DataFormat, &Arc<Loaded>)> {
        let (format, loaded) = self.data.as_ref()?;
        let file = match format {
            DataFormat::Ratings(_) => RATINGS,
            _ => ROWS,
        };
        Some((file, *format, loaded))
    }

    /// The graphs with their tables and the files that a configuration names for them.
    fn graphs(&self) -> impl Iterator<Item = (&'static str, &'static str, &Held)> {
        let all = [
            ("topology", TOPOLOGY, &self.topology),
            ("noise_topology", NOISE_TOPOLOGY, &self.noise_topology),
        ];
        let given = all.into_iter();
        given.filter_map(|(key, file, graph)| Some((key, file, graph.as_ref()?)))
    }

    /// The table with what is in memory in place of what it says.
    pub(crate) fn over(&self, mut table: Table) -> Result<Table, Failure> {
        if let Some((file, format, _)) = self.data() {
            let data = table
                .entry("data")
                .or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(data) = data else {
                return Err(Failure::Value("data is not a table".to_owned()));
            };
            let format =
                Value::try_from(format).map_err(|error| Failure::Value(error.to_string()))?;
            data.insert("path".to_owned(), Value::String(file.to_owned()));
            data.insert("format".to_owned(), format);
            data.remove("obtain");
            data.remove("generate");
        }
        for (key, file, _) in self.graphs() {
            let file = Value::String(file.to_owned());
            let source = Table::from_iter([("file".to_owned(), file)]);
            table.insert(key.to_owned(), Value::Table(source));
        }
        Ok(table)
    }

    /// The configuration with the names of what is in memory, whatever was set on top.
    pub(crate) fn named(&self, mut config: Config) -> Config {
        if let Some((file, ..)) = self.data() {
            *config.data.path_mut() = file.into();
        }
        for (key, file, _) in self.graphs() {
            let source = TopologySource::File(FileSource {
                file: file.into(),
                largest_component: false,
                parallel_edges: ParallelEdges::default(),
            });
            match key {
                "topology" => config.topology = source,
                _ => config.noise_topology = Some(source),
            }
        }
        config
    }

    /// Makes it known, so that no file is read for it.
    pub(crate) fn make_known(&self, materials: &mut Materials) {
        if let Some((file, format, loaded)) = self.data() {
            materials.know_data(Path::new(file), format, Arc::clone(loaded));
        }
        for (_, file, graph) in self.graphs() {
            let (path, held) = (Path::new(file), Arc::clone(&graph.graph));
            match &graph.file {
                Some(from) => materials.know_graph_of_file(path, held, from),
                None => materials.know_graph(path, held),
            }
        }
    }
}

/// The numbers of an array.
fn rows_of(array: &PyReadonlyArray2<'_, f64>) -> PyResult<Arc<Loaded>> {
    let array = array.as_array();
    let loaded = Loaded::from_array(array.dim(), |row, column| array[[row, column]]);
    let loaded = loaded.map_err(|error| PyValueError::new_err(format!("data: {error}")))?;
    Ok(Arc::new(loaded))
}

fn ratings_of((users, items, ratings): Ratings<'_>) -> PyResult<Arc<Loaded>> {
    let ratings = ratings.map(|ratings| ratings.as_array().to_vec());
    let loaded = Loaded::from_ratings(RatingColumns {
        users: &users,
        items: &items,
        ratings: ratings.as_deref(),
    });
    let loaded = loaded.map_err(|error| PyValueError::new_err(format!("data: {error}")))?;
    Ok(Arc::new(loaded))
}

fn graph_of(key: &str, (names, edges, file): Named<'_>) -> PyResult<Held> {
    let mut spellings = Spellings::default();
    let mut known = BTreeSet::new();
    for name in &names {
        if let Some(earlier) = spellings.clash(name, |form| known.contains(form)) {
            return Err(PyValueError::new_err(format!(
                "{key}: the nodes '{earlier}' and '{name}' are named by two spellings of one name; rename one"
            )));
        }
        known.insert(name.as_str());
    }
    let graph = Graph::from_edges(names.len(), &edges_of(&edges)?)
        .and_then(|graph| graph.with_names(names));
    let graph = graph.map_err(|error| PyValueError::new_err(format!("{key}: {error}")))?;
    Ok(Held {
        graph: Arc::new(graph),
        file,
    })
}
