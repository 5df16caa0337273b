//! Assertions about transcripts that any program wrote. They answer as JSON.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;
use serde::Serialize;
use undertone::privacy::{Delta, Epsilon};
use undertone::testing::{
    self, Finding, TranscriptError, assert_central_dp, assert_epsilon, assert_published_law,
};
use undertone::topology::{Graph, GraphError};

use crate::accountant::edges_of;
use crate::failure::Failure;
use crate::supervised::supervised;

/// What an assertion found, for Python.
#[derive(Default, Serialize)]
struct Answer {
    passed: bool,
    /// The runs needed, where there are fewer.
    needed: Option<u64>,
    runs: u64,
    findings: Vec<Finding>,
    /// What went wrong, in words.
    text: String,
}

/// A refuted claim and too few runs are answers; everything else is an error of input.
fn answer(result: Result<Vec<Finding>, TranscriptError>, runs: u64) -> Result<String, Failure> {
    let text = result.as_ref().err().map(ToString::to_string);
    let (passed, needed, findings) = match result {
        Ok(findings) => (true, None, findings),
        Err(TranscriptError::Failed { findings, .. }) => (false, None, findings),
        Err(TranscriptError::TooFewRuns { needed, .. }) => (false, Some(needed), Vec::new()),
        Err(other) => return Err(other.into()),
    };
    Ok(serde_json::to_string(&Answer {
        passed,
        needed,
        runs,
        findings,
        text: text.unwrap_or_default(),
    })?)
}

/// Names, number of nodes and edges as a graph.
fn graph_of(names: Vec<String>, edges: &[(u32, u32)]) -> Result<Graph, GraphError> {
    Graph::from_edges(names.len(), edges)?.with_names(names)
}

/// Sums against a trusted curator's noise.
#[pyfunction]
#[pyo3(signature = (sums, expected, sigma))]
pub(crate) fn test_central_dp(
    py: Python<'_>,
    sums: PyReadonlyArray2<'_, f64>,
    expected: PyReadonlyArray1<'_, f64>,
    sigma: f64,
) -> PyResult<String> {
    let runs = sums.as_array().nrows() as u64;
    let sums: Vec<f64> = sums.as_array().iter().copied().collect();
    let expected: Vec<f64> = expected.as_array().iter().copied().collect();
    supervised(py, None, move |_| {
        answer(assert_central_dp(&sums, &expected, sigma), runs)
    })
}

/// Messages against own and pairwise noise on a graph.
#[pyfunction]
#[pyo3(signature = (messages, contributions, names, edges, sigma_own, sigma_pairwise))]
pub(crate) fn test_published_law(
    py: Python<'_>,
    messages: PyReadonlyArray3<'_, f64>,
    contributions: PyReadonlyArray2<'_, f64>,
    names: Vec<String>,
    edges: PyReadonlyArray2<'_, u32>,
    sigma_own: f64,
    sigma_pairwise: f64,
) -> PyResult<String> {
    let runs = messages.as_array().shape()[0] as u64;
    let messages: Vec<f64> = messages.as_array().iter().copied().collect();
    let contributions: Vec<f64> = contributions.as_array().iter().copied().collect();
    let edges = edges_of(&edges)?;
    supervised(py, None, move |_| {
        let graph = graph_of(names, &edges)?;
        let tested =
            assert_published_law(&messages, &contributions, &graph, sigma_own, sigma_pairwise);
        answer(tested, runs)
    })
}

/// Transcripts of two neighbouring inputs against a claimed (ε, δ).
#[pyfunction]
#[pyo3(signature = (with_record, without_record, epsilon, delta))]
pub(crate) fn test_epsilon(
    py: Python<'_>,
    with_record: PyReadonlyArray2<'_, f64>,
    without_record: PyReadonlyArray2<'_, f64>,
    epsilon: f64,
    delta: Option<f64>,
) -> PyResult<String> {
    let (runs, values) = with_record.as_array().dim();
    let with: Vec<f64> = with_record.as_array().iter().copied().collect();
    let without: Vec<f64> = without_record.as_array().iter().copied().collect();
    supervised(py, None, move |_| {
        let (epsilon, delta) = claim(epsilon, delta)?;
        let tested = assert_epsilon(&with, &without, values, epsilon, delta);
        answer(tested, runs as u64)
    })
}

fn claim(epsilon: f64, delta: Option<f64>) -> Result<(Epsilon, Option<Delta>), Failure> {
    Ok((Epsilon::new(epsilon)?, delta.map(Delta::new).transpose()?))
}

/// Runs that a test of sums needs.
#[pyfunction]
#[pyo3(signature = (values))]
pub(crate) fn runs_for_central_dp(py: Python<'_>, values: usize) -> u64 {
    py.detach(|| testing::runs_for_central_dp(values))
}

/// Runs that a test of messages needs.
#[pyfunction]
#[pyo3(signature = (names, edges, sigma_own, sigma_pairwise, values))]
pub(crate) fn runs_for_published_law(
    py: Python<'_>,
    names: Vec<String>,
    edges: PyReadonlyArray2<'_, u32>,
    sigma_own: f64,
    sigma_pairwise: f64,
    values: usize,
) -> PyResult<u64> {
    let edges = edges_of(&edges)?;
    supervised(py, None, move |_| {
        let graph = graph_of(names, &edges)?;
        let runs = testing::runs_for_published_law(&graph, sigma_own, sigma_pairwise, values)?;
        Ok(runs)
    })
}

/// Runs of each input that a test of a claim needs.
#[pyfunction]
#[pyo3(signature = (epsilon, delta))]
pub(crate) fn runs_for_epsilon(py: Python<'_>, epsilon: f64, delta: Option<f64>) -> PyResult<u64> {
    supervised(py, None, move |_| {
        let (epsilon, delta) = claim(epsilon, delta)?;
        Ok(testing::runs_for_epsilon(epsilon, delta)?)
    })
}
