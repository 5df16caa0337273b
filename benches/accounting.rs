//! What exact accounting of every peer costs, doubling by doubling, beside the plain dense inverse.
//!
//! `cargo bench --no-default-features --bench accounting` runs 1,250 to 10,000 peers; with
//! `UNDERTONE_BENCH_PEERS=100000` it goes on to that many, at a gap of 1 %. An argument after `--` runs that many peers alone,
//! `hubs` the graphs with hubs alone. The noise is what a plan for ε = 2, δ = 1e-5, 3 iterations, one colluder and 1 %
//! overhead chooses: on a random 10-regular graph against peer 0, and on graphs of preferential attachment (Barabási &
//! Albert), 10,000 peers with 3 and 5 edges each, against the largest hub.

use std::hint::black_box;
use std::time::Instant;

use nalgebra::{Cholesky, DMatrix};
use undertone::privacy::accountant::{
    AccountOptions, Accounted, Connectivity, Engine, NoiseCovariance, account,
};
use undertone::privacy::{
    Budget, Calibration, NoisePlan, NoiseRequest, OnDisconnect, Scheme, noise_multiplier,
};
use undertone::topology::generators::{BarabasiAlbert, RandomRegular};
use undertone::topology::{GeneratorConfig, Graph};

/// Peers up to which the plain dense inverse is run too.
const DENSE: usize = 2500;

fn main() {
    let largest = std::env::var("UNDERTONE_BENCH_PEERS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(10_000_usize);
    println!(
        "{:>8} {:>9} {:>10} {:>7} {:>6} {:>10} {:>11} {:>11} {:>10}",
        "peers", "gap asked", "gap", "steps", "", "seconds", "x / doubling", "dense s", "peak MiB"
    );
    let mut before: Option<(usize, f64, f64)> = None;
    if std::env::args().any(|text| text == "hubs") {
        hubs();
        return;
    }
    if let Some(only) = std::env::args().skip(1).find_map(|text| text.parse().ok()) {
        row(only, if only > 10_000 { 1e-2 } else { 1e-9 }, None);
        return;
    }
    let mut peers = 1250;
    while peers <= largest.min(10_000) {
        before = Some(row(peers, 1e-9, before));
        peers *= 2;
    }
    hubs();
    before = None;
    let mut peers = 12_500;
    while peers <= largest {
        before = Some(row(peers, 1e-2, before));
        peers *= 2;
    }
}

/// The lines of graphs with hubs, each with the view of its plan over the worst exact cost.
fn hubs() {
    for edges_per_node in [3, 5] {
        let config = GeneratorConfig::BarabasiAlbert(BarabasiAlbert {
            n: None,
            edges_per_node,
            seed: 7,
        });
        let graph = config.generate(10_000).expect("preferential attachment");
        let hub = (0..graph.nodes()).max_by_key(|&u| graph.degree(u));
        let hub = hub.expect("a hub");
        println!(
            "hubs: {edges_per_node} edges each, up to {}",
            graph.degree(hub)
        );
        line(&graph, hub as u32, 1e-9, None);
    }
}

/// One line of the table; returns its size and times.
fn row(peers: usize, gap: f64, before: Option<(usize, f64, f64)>) -> (usize, f64, f64) {
    line(&regular(peers), 0, gap, before)
}

fn line(
    graph: &Graph,
    colluder: u32,
    gap: f64,
    before: Option<(usize, f64, f64)>,
) -> (usize, f64, f64) {
    let peers = graph.nodes();
    let clock = Instant::now();
    let plan = plan(graph);
    let planned = clock.elapsed().as_secs_f64();
    let (own, pairwise) = (plan.sigma_own().powi(2), plan.sigma_pairwise().powi(2));
    let covariance = NoiseCovariance::uniform(graph, own, pairwise).expect("a plan is usable");
    let options = AccountOptions {
        gap,
        engine: Engine::Quadrature,
        ..AccountOptions::default()
    };
    let clock = Instant::now();
    let found = account(&covariance, &[colluder], options).expect("accountable");
    let seconds = clock.elapsed().as_secs_f64();
    let dense = if peers <= DENSE {
        let clock = Instant::now();
        let difference = plain_dense(graph, own, pairwise, colluder as usize, &found);
        assert!(
            difference < 1e-6,
            "dense and quadrature differ by {difference:e}"
        );
        clock.elapsed().as_secs_f64()
    } else {
        f64::NAN
    };
    let ratio = before.map_or(f64::NAN, |(_, last, _)| seconds / last);
    println!(
        "{peers:>8} {gap:>9.0e} {:>10.1e} {:>7} {:>6} {seconds:>10.2} {ratio:>11.2} {dense:>11.2} {:>10.0}",
        found.gap(),
        found.steps,
        "",
        peak_mebibytes()
    );
    let (_, worst) = found.worst().expect("somebody is honest");
    let view = plan.views().iter().find(|view| view.colluders == 1);
    let stated = view.expect("the view asked for").mu.powi(2) / 3.0;
    println!(
        "         planned in {planned:.2} s, sigma ratio {:.0}; the view against one peer is {:.4} times the exact worst here",
        plan.sigma_pairwise() / plan.sigma_own(),
        (stated / worst.low).sqrt()
    );
    (peers, seconds, dense)
}

fn regular(peers: usize) -> Graph {
    let config = GeneratorConfig::RandomRegular(RandomRegular {
        n: None,
        degree: 10,
        seed: 7,
    });
    config.generate(peers).expect("a random regular graph")
}

fn plan(graph: &Graph) -> NoisePlan {
    let budget = Budget::new(2.0, 1e-5).expect("a budget");
    NoisePlan::new(&NoiseRequest {
        graph,
        scheme: Scheme::Pairwise,
        noise_multiplier: noise_multiplier(Calibration::Analytic, budget, 3).expect("in range"),
        iterations: 3,
        delta: budget.delta,
        colluders: 1,
        overhead: 0.01,
        trusted_sum: false,
        // As for every plan of more than 2,000 peers.
        connectivity: Connectivity::UNKNOWN,
        on_disconnect: OnDisconnect::Refuse,
        ring: None,
    })
    .expect("an expander can be planned")
}

/// The covariance without `colluder`, inverted as it stands; the largest relative difference to `found`.
fn plain_dense(graph: &Graph, own: f64, pairwise: f64, colluder: usize, found: &Accounted) -> f64 {
    let honest: Vec<usize> = (0..graph.nodes()).filter(|&u| u != colluder).collect();
    let position = |u: usize| if u < colluder { u } else { u - 1 };
    let mut matrix = DMatrix::identity(honest.len(), honest.len()) * own;
    for &u in &honest {
        for &v in graph.neighbours(u) {
            let v = v as usize;
            if v != colluder {
                matrix[(position(u), position(u))] += pairwise;
                matrix[(position(u), position(v))] -= pairwise;
            }
        }
    }
    let inverse = Cholesky::new(black_box(matrix))
        .expect("positive definite")
        .inverse();
    honest
        .iter()
        .map(|&u| {
            let bracket = found.brackets[u].expect("honest");
            (inverse[(position(u), position(u))] / bracket.estimate - 1.0).abs()
        })
        .fold(0.0, f64::max)
}

/// The most memory this process has held, from the kernel; not a number where that is not said.
fn peak_mebibytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok())
        .map_or(f64::NAN, |kibibytes| kibibytes / 1024.0)
}
