//! Fixtures that several tests of this layer share.

use std::path::Path;

use nalgebra::{DMatrix, SymmetricEigen};
use serde_json::Value;

use super::{Delta, Epsilon};
use crate::topology::Graph;
use crate::vocabulary::testing::skipped;

/// Rows of one of the files of vectors that lie beside the repository; `None`, and a line that says so, where they do not.
pub(super) fn shared_vectors(file: &str, test: &str) -> Option<Vec<Value>> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("../shared/vectors")
        .join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        skipped(format_args!("{test}, the shared vectors are absent"));
        return None;
    };
    Some(serde_json::from_str(&text).expect("valid JSON"))
}

/// One of the vectors of the accountant: what an honest peer of a graph is charged against a coalition.
#[derive(Debug)]
pub(super) struct AccountingVector {
    pub(super) graph: Graph,
    /// σ_η², the variance of every peer's own noise.
    pub(super) own: f64,
    /// σ_Δ², the variance of the noise on every edge.
    pub(super) pairwise: f64,
    pub(super) coalition: Vec<u32>,
    /// The honest peer in question.
    pub(super) peer: usize,
    /// [Σ_H⁻¹]_uu of that peer, from exact rationals.
    pub(super) factor: f64,
    /// What three releases of sensitivity 1 cost: μ, and ε at δ = 10⁻⁶.
    pub(super) spent: (f64, f64),
}

/// All vectors of the accountant; `None`, and a line that says so, where they are absent.
pub(super) fn accounting_vectors(test: &str) -> Option<Vec<AccountingVector>> {
    let rows = shared_vectors("test_vectors_gopa.json", test)?;
    assert_eq!(rows.len(), 20);
    let parsed = rows.iter().map(|row| {
        let edges: Vec<(u32, u32)> =
            serde_json::from_value(row["edges"].clone()).expect("pairs of nodes");
        let nodes = edges.iter().map(|e| e.0.max(e.1)).max().expect("edges") as usize + 1;
        let number = |key: &str| row[key].as_f64().expect("a number");
        let decimal =
            |key: &str| -> f64 { row[key].as_str().expect("text").parse().expect("a number") };
        AccountingVector {
            graph: Graph::from_edges(nodes, &edges).expect("a simple graph"),
            own: number("sigma_eta2"),
            pairwise: number("sigma_delta2"),
            coalition: serde_json::from_value(row["coalition"].clone()).expect("nodes"),
            peer: row["u"].as_u64().expect("a node") as usize,
            factor: decimal("decimal"),
            spent: (decimal("mu_L3"), decimal("eps_L3_delta1e6")),
        }
    });
    Some(parsed.collect())
}

/// λ₂ of the Laplacian by a dense eigensolver.
pub(super) fn algebraic_connectivity(graph: &Graph) -> f64 {
    let n = graph.nodes();
    let mut laplacian = DMatrix::zeros(n, n);
    for u in 0..n {
        laplacian[(u, u)] = graph.degree(u) as f64;
        for &v in graph.neighbours(u) {
            laplacian[(u, v as usize)] = -1.0;
        }
    }
    let mut values: Vec<f64> = SymmetricEigen::new(laplacian)
        .eigenvalues
        .iter()
        .copied()
        .collect();
    values.sort_by(f64::total_cmp);
    values[1]
}

/// The ρ at which `zcdp::bun_steinke_epsilon` equals ε: (√(ln(1/δ) + ε) − √ln(1/δ))², without the
/// cancellation.
pub(super) fn bun_steinke_rho(epsilon: Epsilon, delta: Delta) -> f64 {
    let log = -delta.ln();
    let root = epsilon.get() / ((log + epsilon.get()).sqrt() + log.sqrt());
    root * root
}
