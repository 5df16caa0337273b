//! Variances of single peers and covariances of pairs of peers.

use rayon::prelude::*;

use super::super::statistics::{chi_squared, least_likely_place, partial_correlation};
use crate::topology::Graph;

/// The most edges, and the most other pairs, whose covariance is collected.
const MOST_PAIRS: usize = 1 << 17;

/// A test's name, the peers that it is about, and its statistic and p-value.
pub(in crate::assess) type LocatedTest = (&'static str, Vec<u32>, (f64, f64));

/// Two peers and Σ_uv.
#[derive(Debug)]
struct Pair {
    lower: u32,
    upper: u32,
    covariance: f64,
}

/// Sums of squares and products of residuals.
#[derive(Debug)]
pub(in crate::assess) struct Marginals {
    /// Σ_uu.
    variances: Vec<f64>,
    /// Edges first, then pairs that have a partner in common.
    pairs: Vec<Pair>,
    edges: usize,
    squares: Vec<f64>,
    products: Vec<f64>,
    samples: usize,
}

impl Marginals {
    /// For own and pairwise noise of these variances.
    pub(in crate::assess) fn new(graph: &Graph, (own, pairwise): (f64, f64)) -> Self {
        let mut pairs: Vec<(u32, u32)> = evenly(graph.edge_list().collect());
        let edges = pairs.len();
        pairs.extend(evenly(apart(graph)));
        let pair = |(k, (lower, upper)): (usize, (u32, u32))| Pair {
            lower,
            upper,
            covariance: if k < edges { -pairwise } else { 0.0 },
        };
        let variance = |u| own + pairwise * graph.degree(u) as f64;
        Self {
            variances: (0..graph.nodes()).map(variance).collect(),
            squares: vec![0.0; graph.nodes()],
            products: vec![0.0; pairs.len()],
            pairs: pairs.into_iter().enumerate().map(pair).collect(),
            edges,
            samples: 0,
        }
    }

    /// Takes in one iteration: `width` residuals of every peer.
    pub(in crate::assess) fn add(&mut self, residuals: &[f64], width: usize) {
        let of = |u: u32| &residuals[u as usize * width..][..width];
        let peers = residuals.par_chunks_exact(width);
        self.squares
            .par_iter_mut()
            .zip(peers)
            .for_each(|(sum, residual)| *sum += dot(residual, residual));
        self.products
            .par_iter_mut()
            .zip(&self.pairs)
            .for_each(|(sum, pair)| *sum += dot(of(pair.lower), of(pair.upper)));
        self.samples += width;
    }

    /// The tests: least likely peer, edge, and pair without an edge.
    pub(super) fn tests(&self) -> Vec<(&'static str, (f64, f64))> {
        let located = self.located_tests().into_iter();
        located.map(|(name, _, test)| (name, test)).collect()
    }

    /// The tests, each with the peer or the two peers that are least likely.
    pub(in crate::assess) fn located_tests(&self) -> Vec<LocatedTest> {
        let samples = self.samples as f64;
        let peers = self.squares.iter().zip(&self.variances).zip(0_u32..);
        let variances = peers.map(|((square, variance), peer)| {
            (vec![peer], chi_squared(square / variance, samples))
        });
        let covariances = |range: std::ops::Range<usize>| {
            let pairs = self.pairs[range.clone()].iter();
            let tested = pairs
                .zip(&self.products[range])
                .map(|(pair, product)| (pair, self.covariance(pair, *product)));
            let least = least_likely_place(tested);
            least.map(|(pair, test)| (vec![pair.lower, pair.upper], test))
        };
        let mut tests = Vec::new();
        let mut add = |name, least: Option<(Vec<u32>, (f64, f64))>| {
            tests.extend(least.map(|(peers, test)| (name, peers, test)));
        };
        add(
            "least likely variance of one peer",
            least_likely_place(variances),
        );
        // Of one sample no correlation is known: Student's t would have no degree of freedom.
        if self.samples >= 2 {
            add(
                "least likely covariance of one edge",
                covariances(0..self.edges),
            );
            let apart = covariances(self.edges..self.pairs.len());
            add("least likely covariance without edge", apart);
        }
        tests
    }

    fn covariance(&self, pair: &Pair, product: f64) -> (f64, f64) {
        let (u, v) = (pair.lower as usize, pair.upper as usize);
        let slope = pair.covariance / self.variances[u];
        partial_correlation(
            (self.squares[u], self.squares[v], product),
            slope,
            self.samples as f64,
        )
    }
}

/// Pairs of consecutive partners of one peer that are not partners themselves, ascending, each once. Streams that are keyed
/// by one end of an edge alone make partners on the same side of that end correlate, and those are consecutive.
fn apart(graph: &Graph) -> Vec<(u32, u32)> {
    let of = |u: usize| graph.neighbours(u).windows(2).map(|two| (two[0], two[1]));
    let mut pairs: Vec<_> = (0..graph.nodes()).flat_map(of).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.retain(|&(u, v)| !graph.has_edge(u, v));
    pairs
}

/// At most [`MOST_PAIRS`] of them, evenly chosen.
fn evenly(pairs: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    let stride = pairs.len().div_ceil(MOST_PAIRS).max(1);
    pairs.into_iter().step_by(stride).collect()
}

/// Σ a_i b_i in eight sums, which the compiler can keep in registers.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, rest), (b, left)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let rest: f64 = rest.iter().zip(left).map(|(x, y)| x * y).sum();
    let mut sums = [0.0; 8];
    for at in 0..a.len().min(b.len()) {
        let (x, y) = (&a[at], &b[at]);
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    rest + sums.iter().sum::<f64>()
}
