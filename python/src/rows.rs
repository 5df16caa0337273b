//! Rows that a caller has in memory, verified without an experiment.

use std::sync::Arc;

use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use undertone::assess::verification::{VerifyOptions, verify};
use undertone::config::{AnyAlgorithmTable, ReadTable as _};
use undertone::data::Dataset;
use undertone::linalg::SparseRows;
use undertone::plan::{Noise, Promise};
use undertone::privacy::{Adjacency, Scheme};
use undertone::protocol::averaging::AveragingKind;
use undertone::scenario;
use undertone::topology::Graph;
use undertone::vocabulary::Distribution;

use crate::accountant::{edges_of, named};
use crate::assessments::Verified;
use crate::failure::Failure;
use crate::supervised::{Watching, supervised};
use crate::tables;

/// What is promised of rows, and how they are averaged, by the names that experiment files have.
#[derive(FromPyObject)]
pub(crate) struct Promised {
    epsilon: f64,
    delta: Option<f64>,
    row_clip: f64,
    adjacency: String,
    noise: String,
    colluders: usize,
    averaging: String,
}

impl Promised {
    fn promise(&self) -> Result<Promise, Failure> {
        let adjacency: Adjacency = named("adjacency", &self.adjacency)?;
        let scheme: Scheme = named("noise", &self.noise)?;
        let (promise, distribution) = match self.delta {
            Some(delta) => (
                Promise::new(self.epsilon, delta, adjacency)?,
                Distribution::Gaussian,
            ),
            None => (
                Promise::pure(self.epsilon, adjacency)?,
                Distribution::Laplace,
            ),
        };
        // Without noise nothing is promised, whatever epsilon and delta say.
        let promise = match scheme {
            Scheme::None => Promise::none(adjacency),
            scheme => promise.with_noise(Noise::of(distribution, scheme)),
        };
        Ok(promise.against(self.colluders))
    }

    /// R, to which longer rows are shortened. It is checked here, where the error can name the argument.
    fn radius(&self) -> Result<f64, Failure> {
        let found = self.row_clip;
        match found.is_finite() && found > 0.0 && found.recip().is_finite() {
            true => Ok(found),
            false => Err(Failure::Value(format!(
                "row_clip is {found:?}, expected a finite number above 0 whose reciprocal is finite"
            ))),
        }
    }
}

/// The rows of an array; zeros are left out.
fn rows_of(array: &PyReadonlyArray2<'_, f64>) -> Result<SparseRows, Failure> {
    let array = array.as_array();
    let mut rows = SparseRows::new(array.ncols());
    for (number, row) in array.rows().into_iter().enumerate() {
        let entries = (0_u32..).zip(row.iter().copied());
        rows.push_row(entries.filter(|(_, value)| *value != 0.0))
            .map_err(|error| Failure::Value(format!("row {number}: {error}")))?;
    }
    Ok(rows)
}

/// The statistical test that a decentralised computation over these rows is what its plan says.
#[pyfunction]
#[pyo3(signature = (rows, peers, edges, algorithm, promised, runs, significance, seed, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn verify_rows(
    py: Python<'_>,
    rows: PyReadonlyArray2<'_, f64>,
    peers: Option<usize>,
    edges: Option<PyReadonlyArray2<'_, u32>>,
    algorithm: &Bound<'_, PyDict>,
    promised: Promised,
    runs: u32,
    significance: f64,
    seed: u64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let table = AnyAlgorithmTable::of_table(tables::table(algorithm)?);
    let table = table.map_err(|error| Failure::Value(format!("algorithm: {}", error.message())))?;
    let promise = promised.promise()?;
    let averaging: AveragingKind = named("averaging", &promised.averaging)?;
    let dataset = Dataset::Samples {
        rows: rows_of(&rows)?,
        radius: promised.radius()?,
    };
    let mut builder = scenario::simulation(dataset, &table, promise)
        .map_err(|error| Failure::value(&error))?
        .averaging(averaging)
        .seed(seed);
    if let Some(peers) = peers {
        builder = builder.peers(peers);
    }
    if let (Some(nodes), Some(edges)) = (peers, &edges) {
        let graph = Graph::from_edges(nodes, &edges_of(edges)?).map_err(Failure::from)?;
        builder = builder.graph(graph);
    }
    supervised(py, progress, move |watch| {
        let simulation = builder.build().map_err(|error| Failure::value(&error))?;
        watch.pass();
        let options = VerifyOptions { runs, significance };
        let table = verify(&simulation, options, &mut Watching(Arc::clone(watch)))?;
        let name = simulation.program().kind();
        let engine = simulation.runner().name();
        Ok(serde_json::to_string(&Verified::of(
            &name,
            engine,
            &table,
            Vec::new(),
        ))?)
    })
}
