//! The accountant on its own: what noise on a graph costs, and which noise keeps a promise. It knows no experiment.

use std::time::Instant;

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde::de::DeserializeOwned;
use undertone::privacy::accountant::{
    AccountOptions, NoiseCovariance, PublicGraph, account as accounted, certified_variance_factors,
    worst_coalition,
};
use undertone::privacy::{
    Budget, Calibrated, Connectivity, Delta, NoisePlan, NoiseRequest, PrivacyError, calibrate,
    gaussian,
};
use undertone::topology::{Graph, Provenance, Topology};

use crate::failure::Failure;
use crate::supervised::supervised;

/// One of the names of a choice, such as `"pairwise"`.
fn named<T: DeserializeOwned>(what: &str, name: &str) -> Result<T, Failure> {
    let value = serde_json::Value::String(name.to_owned());
    serde_json::from_value(value).map_err(|error| Failure::Value(format!("{what}: {error}")))
}

/// Pairs of peers, from an (m, 2) array.
pub(crate) fn edges_of(edges: &PyReadonlyArray2<'_, u32>) -> PyResult<Vec<(u32, u32)>> {
    let edges = edges.as_array();
    if edges.ncols() != 2 {
        return Err(PyValueError::new_err(format!(
            "edges are an array of shape (m, 2), found (m, {})",
            edges.ncols()
        )));
    }
    Ok(edges
        .rows()
        .into_iter()
        .map(|row| (row[0], row[1]))
        .collect())
}

/// A square, rounded as every plan rounds it.
fn squared(sigma: f64) -> f64 {
    sigma * sigma
}

/// Losses of honest peers; NaN for those who collude.
struct Losses {
    low: Vec<f64>,
    estimate: Vec<f64>,
    high: Vec<f64>,
    epsilon_low: Vec<f64>,
    epsilon: Vec<f64>,
    method: String,
    steps: usize,
    seconds: f64,
}

/// μ = Δ√(L·v), of the upper end rounded up.
struct Scale {
    sensitivity: f64,
    iterations: u32,
}

impl Scale {
    fn new(sensitivity: f64, iterations: u32) -> Result<Self, PrivacyError> {
        // Written so that NaN is refused too.
        if !(sensitivity > 0.0 && sensitivity.is_finite()) {
            return Err(PrivacyError::Parameter {
                name: "the sensitivity",
                found: sensitivity,
                expected: "a finite number above 0",
            });
        }
        match iterations {
            0 => Err(PrivacyError::Iterations),
            _ => Ok(Self {
                sensitivity,
                iterations,
            }),
        }
    }

    fn mu(&self, factor: f64) -> f64 {
        (factor * f64::from(self.iterations)).sqrt() * self.sensitivity
    }

    fn mu_high(&self, factor: f64) -> f64 {
        // Three roundings.
        let mu = self.mu(factor) * (1.0 + 4.0 * f64::EPSILON);
        if mu > 0.0 { mu.next_up() } else { mu }
    }
}

/// What every honest peer loses to one coalition.
#[pyfunction]
#[pyo3(signature = (own, edges, pairwise, coalition, sensitivity, iterations, delta, gap, method))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn account<'py>(
    py: Python<'py>,
    own: PyReadonlyArray1<'py, f64>,
    edges: PyReadonlyArray2<'py, u32>,
    pairwise: PyReadonlyArray1<'py, f64>,
    coalition: Vec<u32>,
    sensitivity: f64,
    iterations: u32,
    delta: f64,
    gap: f64,
    method: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let own: Vec<f64> = own.as_array().iter().copied().collect();
    let pairs = edges_of(&edges)?;
    let pairwise: Vec<f64> = pairwise.as_array().iter().copied().collect();
    let engine = named("method", method)?;
    let losses = supervised(py, None, move |_| {
        let since = Instant::now();
        let scale = Scale::new(sensitivity, iterations)?;
        let delta = Delta::new(delta)?;
        refuse_negative(&own, &pairwise)?;
        let peers = own.len();
        let variances: Vec<f64> = own.iter().map(|&sigma| squared(sigma)).collect();
        let uniform = pairwise.first().copied();
        let uniform = uniform.filter(|first| pairwise.iter().all(|sigma| sigma == first));
        let options = AccountOptions {
            gap,
            engine,
            ..AccountOptions::default()
        };
        let covariance = match uniform {
            Some(sigma) => {
                let graph = Graph::from_edges(peers, &pairs)?;
                NoiseCovariance::new(variances, &[(&graph, squared(sigma))])?
            }
            None => {
                let weighted: Vec<(u32, u32, f64)> = pairs
                    .iter()
                    .zip(&pairwise)
                    .map(|(&(u, v), &sigma)| (u, v, squared(sigma)))
                    .collect();
                NoiseCovariance::of_edges(variances, &weighted)?
            }
        };
        let found = accounted(&covariance, &coalition, options)?;
        let of = |end: &dyn Fn(&undertone::linalg::Bracket) -> f64| -> Vec<f64> {
            let brackets = found.brackets.iter();
            brackets
                .map(|bracket| bracket.as_ref().map_or(f64::NAN, end))
                .collect()
        };
        let low = of(&|bracket| scale.mu(bracket.low));
        let estimate = of(&|bracket| scale.mu(bracket.estimate));
        let high = of(&|bracket| scale.mu_high(bracket.high));
        let epsilon = |mus: &[f64]| -> Vec<f64> {
            let of = |&mu: &f64| match mu.is_nan() {
                true => f64::NAN,
                false => gaussian::epsilon(mu, delta),
            };
            mus.iter().map(of).collect()
        };
        Ok(Losses {
            epsilon_low: epsilon(&low),
            epsilon: epsilon(&high),
            low,
            estimate,
            high,
            method: serde_json::to_value(found.engine)?
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            steps: found.steps,
            seconds: since.elapsed().as_secs_f64(),
        })
    })?;
    let answer = PyDict::new(py);
    for (key, values) in [
        ("mu_low", losses.low),
        ("mu_estimate", losses.estimate),
        ("mu", losses.high),
        ("epsilon_low", losses.epsilon_low),
        ("epsilon", losses.epsilon),
    ] {
        answer.set_item(key, PyArray1::from_vec(py, values))?;
    }
    answer.set_item("method", losses.method)?;
    answer.set_item("steps", losses.steps)?;
    answer.set_item("seconds", losses.seconds)?;
    Ok(answer)
}

/// Squares forget signs.
fn refuse_negative(own: &[f64], pairwise: &[f64]) -> Result<(), PrivacyError> {
    // Written so that NaN is refused too.
    let refused = |sigma: &&f64| !(**sigma >= 0.0 && sigma.is_finite());
    for (name, sigmas) in [("sigma_own", own), ("sigma_pairwise", pairwise)] {
        if let Some(&found) = sigmas.iter().find(refused) {
            return Err(PrivacyError::Parameter {
                name,
                found,
                expected: "a finite number of at least 0",
            });
        }
    }
    Ok(())
}

/// What is proved of λ₂ of a graph.
fn connectivity_of(graph: &Graph) -> Connectivity {
    let topology = Topology::from_graph(graph.clone(), Provenance::edges("python"));
    topology.spectrum().algebraic_connectivity.into()
}

#[derive(Serialize)]
struct Worst {
    /// μ that the named coalition learns about the named peer at least.
    mu_at_least: f64,
    epsilon_at_least: f64,
    /// μ that no coalition of the size exceeds about anybody.
    mu_at_most: f64,
    epsilon_at_most: f64,
    attained_by: Vec<u32>,
    victim: u32,
    exhaustive: bool,
    certificate: serde_json::Value,
    /// Of every peer, against every coalition of the size that leaves it honest.
    mu: Vec<f64>,
    epsilon: Vec<f64>,
    certificates: Vec<serde_json::Value>,
}

/// What every peer loses at most to any coalition of a size, and the worst coalition found.
#[pyfunction]
#[pyo3(signature = (peers, edges, own, pairwise, colluders, sensitivity, iterations, delta, effort))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn worst(
    py: Python<'_>,
    peers: usize,
    edges: PyReadonlyArray2<'_, u32>,
    own: f64,
    pairwise: f64,
    colluders: usize,
    sensitivity: f64,
    iterations: u32,
    delta: f64,
    effort: f64,
) -> PyResult<String> {
    let pairs = edges_of(&edges)?;
    supervised(py, None, move |watch| {
        let scale = Scale::new(sensitivity, iterations)?;
        let delta = Delta::new(delta)?;
        refuse_negative(&[own], &[pairwise])?;
        let graph = Graph::from_edges(peers, &pairs)?;
        let public = PublicGraph::new(&graph, connectivity_of(&graph));
        let (own, pairwise) = (squared(own), squared(pairwise));
        let per_peer = certified_variance_factors(&public, own, pairwise, colluders)?;
        watch.pass();
        let bracket = worst_coalition(&public, own, pairwise, colluders, effort)?;
        let at_most = scale.mu_high(bracket.at_most);
        // Looked at one by one, the coalitions say more than the rules do.
        let per_peer: Vec<(f64, serde_json::Value)> = per_peer
            .iter()
            .map(|found| {
                let mu = scale.mu_high(found.factor);
                Ok(match mu <= at_most {
                    true => (mu, serde_json::to_value(found.by.certificate())?),
                    false => (at_most, serde_json::to_value(bracket.by)?),
                })
            })
            .collect::<Result<_, serde_json::Error>>()?;
        // Ends that are both exact may cross in the last digits.
        let at_least = scale.mu(bracket.at_least).min(at_most);
        let epsilon = |mu: f64| gaussian::epsilon(mu, delta);
        Ok(serde_json::to_string(&Worst {
            mu_at_least: at_least,
            epsilon_at_least: epsilon(at_least),
            mu_at_most: at_most,
            epsilon_at_most: epsilon(at_most),
            attained_by: bracket.attained_by,
            victim: bracket.victim,
            exhaustive: bracket.exhaustive,
            certificate: serde_json::to_value(bracket.by)?,
            epsilon: per_peer.iter().map(|&(mu, _)| epsilon(mu)).collect(),
            mu: per_peer.iter().map(|&(mu, _)| mu).collect(),
            certificates: per_peer.into_iter().map(|(_, name)| name).collect(),
        })?)
    })
}

#[derive(Serialize)]
struct Planned {
    calibrated: Calibrated,
    warning: Option<String>,
    plan: NoisePlan,
}

/// The noise that keeps a promise on a graph, per unit sensitivity.
#[pyfunction]
#[pyo3(signature = (peers, edges, epsilon, delta, colluders, iterations, scheme, overhead, on_disconnect, calibration, trusted_sum))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn plan(
    py: Python<'_>,
    peers: usize,
    edges: PyReadonlyArray2<'_, u32>,
    epsilon: f64,
    delta: f64,
    colluders: usize,
    iterations: u32,
    scheme: &str,
    overhead: f64,
    on_disconnect: &str,
    calibration: &str,
    trusted_sum: bool,
) -> PyResult<String> {
    let pairs = edges_of(&edges)?;
    let scheme = named("scheme", scheme)?;
    let on_disconnect = named("on_disconnect", on_disconnect)?;
    let calibration = named("calibration", calibration)?;
    supervised(py, None, move |watch| {
        let budget = Budget::new(epsilon, delta)?;
        let calibrated = calibrate(calibration, budget, iterations)?;
        let graph = Graph::from_edges(peers, &pairs)?;
        watch.pass();
        let plan = NoisePlan::new(&NoiseRequest {
            graph: &graph,
            scheme,
            noise_multiplier: calibrated.z(),
            iterations,
            delta: budget.delta,
            colluders,
            overhead,
            trusted_sum,
            connectivity: connectivity_of(&graph),
            on_disconnect,
            ring: None,
        })?;
        Ok(serde_json::to_string(&Planned {
            warning: calibrated.warning().map(ToString::to_string),
            calibrated,
            plan,
        })?)
    })
}
