//! Numbers of the errata page about private power iteration, rank k by deflation and the noisy power method.

use std::path::Path;

use crate::linalg::{SparseRows, top_eigenvectors};
use crate::privacy::{Delta, Epsilon, gaussian};
use crate::topology::{LoadOptions, load_graph};

/// ‖Ax‖/σ₁ after so many steps without noise from a start with equal weight on all of 1,000 eigenvectors, σ₁ = 100 and all others 95.
fn reached(steps: i32) -> f64 {
    let ratio = 100.0_f64 / 95.0;
    let first = ratio.powi(2 * steps) / 999.0;
    ((first + ratio.powi(-2)) / (first + 1.0)).sqrt()
}

/// HR's Theorem 2.4 on so many mechanisms of (ε′, δ′): √(2K ln(1/δ))·ε′ + 2Kε′², with the ε′ that its Figure 3 gives rank k.
fn composed(epsilon: f64, rank: f64, log: f64) -> f64 {
    let mechanisms = 2.0 * rank;
    let each = epsilon / (4.0 * rank * log).sqrt();
    (2.0 * mechanisms * log).sqrt() * each + 2.0 * mechanisms * each * each
}

/// The probability that an entry of N(0, 1/n)ⁿ exceeds √(C/n).
fn aborts_at_once(coherence: f64, n: f64) -> f64 {
    1.0 - (1.0 - libm::erfc((coherence / 2.0).sqrt())).powf(n)
}

/// n·max v₁² of the graph of Les Misérables, and n.
fn les_miserables() -> (f64, f64) {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("topologies/les-miserables.edges");
    let (graph, _) = load_graph(&path, LoadOptions::default()).expect("a graph");
    let n = graph.nodes();
    let mut rows = SparseRows::new(n);
    for v in 0..n {
        let edges = graph.neighbours(v).iter().map(|&t| (t, 1.0));
        rows.push_row(edges).expect("ascending");
    }
    let top = top_eigenvectors(&rows, 1).expect("converges");
    let largest = top.vectors.max_entry();
    (n as f64 * largest * largest, n as f64)
}

pub(super) fn numbers() -> Vec<(&'static str, f64)> {
    let million = Delta::new(1e-6).expect("a probability");
    let log = -million.ln();
    let printed = 1.0 / (4.0 * log.sqrt());
    let one = Epsilon::new(1.0).expect("valid");
    let (coherence, n) = les_miserables();
    let laplace = |rank: f64| 16.0 * (rank * 1e6).ln();
    vec![
        ("hr-steps", reached(19)),
        ("hr-steps-gap", reached(369)),
        ("hr-spent", gaussian::epsilon(printed, million)),
        ("hr-noise", gaussian::mu(one, million) / printed),
        ("hr-rank-k-1", composed(1.0, 4.0, log)),
        ("hr-rank-k-4", composed(4.0, 4.0, log)),
        ("hr-laplace-2", laplace(2.0)),
        ("hr-laplace-8", laplace(8.0)),
        ("hr-bipartite", 0.5 * (1.0 + 0.5_f64.exp())),
        ("hr-start", aborts_at_once(10.0, 4039.0)),
        ("hr-coherence", 16.0 * coherence * n.ln()),
        ("hp-low-rank", (3.0_f64 / 2.0).sqrt()),
        ("hp-one-step-claimed", (1000.0 * 1.0_f64.ln()).sqrt()),
    ]
}
