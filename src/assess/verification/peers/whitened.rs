//! Residuals made independent standard normals by the inverse factor of their covariance.

use std::collections::VecDeque;

use nalgebra::{Cholesky, DMatrix, Dyn};
use rayon::prelude::*;

use super::super::statistics::{chi_squared, kolmogorov_smirnov_normal, least_likely};
use super::places::Places;
use crate::topology::Graph;
use crate::vocabulary::ReleaseId;

/// Peers whitened together: the dense factor then takes at most 8 MiB.
const MOST_PEERS: usize = 1024;

/// Patches of a larger network.
const PATCHES: usize = 4;

/// Whitened residuals kept for the Kolmogorov–Smirnov test, over all runs and per patch.
const MOST_SAMPLES: usize = 400_000;

/// Iterations whose sums over runs are kept.
const MOST_ITERATIONS: usize = 16;

/// A sum of squares of independent standard normals.
#[derive(Clone, Copy, Debug, Default)]
struct Squares {
    total: f64,
    count: usize,
}

impl Squares {
    fn add(&mut self, normals: impl Iterator<Item = f64>) {
        for x in normals {
            self.total += x * x;
            self.count += 1;
        }
    }

    fn test(self) -> (f64, f64) {
        chi_squared(self.total, self.count as f64)
    }

    /// The same with the mean correlation of the `summed` terms behind each normal: their sum over √m has mean square
    /// 1 + (m − 1)ρ.
    fn test_of_sums(self, summed: usize) -> (f64, f64) {
        let (ratio, p) = self.test();
        ((ratio - 1.0) / (summed as f64 - 1.0), p)
    }
}

/// Peers whose residuals are whitened together, and what has been seen of them.
#[derive(Debug)]
struct Patch {
    peers: Vec<u32>,
    factor: Cholesky<f64, Dyn>,
    entries: Squares,
    /// The first whitened residuals of every iteration.
    samples: Vec<f64>,
    coordinates: Squares,
    /// Σ_l W_l of the run under way.
    over_iterations: DMatrix<f64>,
    iterations: Squares,
    /// Σ_r W_r of each of the first iterations.
    over_runs: Vec<DMatrix<f64>>,
}

/// What is collected of the whitened residuals.
#[derive(Debug)]
pub(in crate::assess) struct Whitened {
    patches: Vec<Patch>,
    /// Whether Σ could be factorised.
    definite: bool,
    runs: usize,
    iterations: usize,
}

impl Whitened {
    /// For own and pairwise noise of these variances, and this many runs and iterations.
    pub(in crate::assess) fn new(
        graph: &Graph,
        (own, pairwise): (f64, f64),
        (runs, iterations): (u32, u32),
    ) -> Self {
        let patches: Option<Vec<Patch>> = patches(graph)
            .into_iter()
            .map(|peers| {
                let factor = covariance(graph, &peers, (own, pairwise)).cholesky()?;
                Some(Patch {
                    peers,
                    factor,
                    entries: Squares::default(),
                    samples: Vec::new(),
                    coordinates: Squares::default(),
                    over_iterations: DMatrix::zeros(0, 0),
                    iterations: Squares::default(),
                    over_runs: Vec::new(),
                })
            })
            .collect();
        Self {
            definite: patches.is_some(),
            patches: patches.unwrap_or_default(),
            runs: runs as usize,
            iterations: iterations as usize,
        }
    }

    /// Takes in the residuals of one iteration, `places` of every peer.
    pub(in crate::assess) fn add(
        &mut self,
        residuals: &[f64],
        places: &Places,
        release: ReleaseId,
    ) {
        let quota = (MOST_SAMPLES / (self.runs * self.iterations).max(1)).max(64);
        let last = release.0 as usize == self.iterations;
        for patch in &mut self.patches {
            let white = patch.whiten(residuals, places);
            patch.entries.add(white.iter().copied());
            patch.samples.extend(white.iter().take(quota));
            let length = places.pattern_len();
            for pattern in 0..white.ncols() / length {
                let sums = white.columns(pattern * length, length).column_sum();
                let scale = (length as f64).sqrt();
                patch.coordinates.add(sums.iter().map(|x| x / scale));
            }
            if release.0 == 1 {
                patch.over_iterations = DMatrix::zeros(white.nrows(), white.ncols());
            }
            patch.over_iterations += &white;
            if last {
                let scale = (self.iterations as f64).sqrt();
                let sums = patch.over_iterations.iter().map(|x| x / scale);
                patch.iterations.add(sums);
            }
            let index = release.0 as usize - 1;
            if index < patch.over_runs.len() {
                patch.over_runs[index] += white;
            } else if index < MOST_ITERATIONS {
                patch.over_runs.push(white);
            }
        }
    }

    /// The tests of the whitened residuals.
    pub(in crate::assess) fn tests(&self, places: &Places) -> Vec<(&'static str, (f64, f64))> {
        if !self.definite {
            // Nothing was tested, so nothing may pass.
            let name = "covariance of the plan is not positive definite to working precision";
            return vec![(name, (0.0, 0.0))];
        }
        let least = |of: &dyn Fn(&Patch) -> (f64, f64)| least_likely(self.patches.iter().map(of));
        let mut tests = vec![
            (
                "whitened: Kolmogorov-Smirnov distance to N(0, 1)",
                least(&|patch| kolmogorov_smirnov_normal(&patch.samples)),
            ),
            (
                "whitened: mean square (chi-squared)",
                least(&|patch| patch.entries.test()),
            ),
        ];
        let length = places.pattern_len();
        if length > 1 {
            tests.push((
                "whitened: correlation between coordinates",
                least(&|patch| patch.coordinates.test_of_sums(length)),
            ));
        }
        if self.iterations > 1 {
            tests.push((
                "whitened: correlation between iterations",
                least(&|patch| patch.iterations.test_of_sums(self.iterations)),
            ));
        }
        if self.runs > 1 {
            tests.push((
                "whitened: correlation between runs",
                least(&|patch| patch.between_runs(self.runs)),
            ));
        }
        let found = tests.into_iter();
        found
            .filter_map(|(name, result)| Some((name, result?)))
            .collect()
    }
}

impl Patch {
    /// F⁻¹R at the patterns' coordinates: peers × coordinates.
    fn whiten(&self, residuals: &[f64], places: &Places) -> DMatrix<f64> {
        let width = places.all().len();
        let columns: Vec<usize> = places.patterns().collect();
        let peers = self.peers.len();
        let mut white = DMatrix::zeros(peers, columns.len());
        white
            .as_mut_slice()
            .par_chunks_exact_mut(peers)
            .zip(columns)
            .for_each(|(out, column)| {
                for (x, &u) in out.iter_mut().zip(&self.peers) {
                    *x = residuals[u as usize * width + column];
                }
                solve_lower(self.factor.l_dirty(), out);
            });
        white
    }

    fn between_runs(&self, runs: usize) -> (f64, f64) {
        let mut squares = Squares::default();
        let scale = (runs as f64).sqrt();
        for sum in &self.over_runs {
            squares.add(sum.iter().map(|x| x / scale));
        }
        squares.test_of_sums(runs)
    }
}

/// Replaces `x` by F⁻¹x, where F is the lower triangle of `factor`.
fn solve_lower(factor: &DMatrix<f64>, x: &mut [f64]) {
    let n = x.len();
    for j in 0..n {
        let column = &factor.as_slice()[j * n + j..(j + 1) * n];
        let (head, tail) = x[j..].split_at_mut(1);
        head[0] /= column[0];
        for (value, f) in tail.iter_mut().zip(&column[1..]) {
            *value -= head[0] * f;
        }
    }
}

/// Σ of these peers: their block of σ_η² I + σ_Δ² L.
fn covariance(graph: &Graph, peers: &[u32], (own, pairwise): (f64, f64)) -> DMatrix<f64> {
    let mut sigma = DMatrix::zeros(peers.len(), peers.len());
    for (i, &u) in peers.iter().enumerate() {
        sigma[(i, i)] = own + pairwise * graph.degree(u as usize) as f64;
        let inside = |v: &u32| peers.binary_search(v).ok();
        for j in graph.neighbours(u as usize).iter().filter_map(inside) {
            sigma[(i, j)] = -pairwise;
        }
    }
    sigma
}

/// All peers, or patches of neighbouring peers, ascending: breadth-first from peers that are evenly spaced.
fn patches(graph: &Graph) -> Vec<Vec<u32>> {
    let peers = graph.nodes();
    if peers <= MOST_PEERS {
        return vec![(0..peers as u32).collect()];
    }
    let patch = |k: usize| {
        let mut seen = vec![false; peers];
        let mut found = Vec::new();
        let mut queue = VecDeque::new();
        // A noise graph in pieces is continued at the next peer that has not been met.
        let from = k * peers / PATCHES;
        for start in (from..peers).chain(0..from) {
            if !seen[start] {
                seen[start] = true;
                queue.push_back(start as u32);
            }
            while let Some(u) = queue.pop_front() {
                found.push(u);
                if found.len() == MOST_PEERS {
                    found.sort_unstable();
                    return found;
                }
                for &v in graph.neighbours(u as usize) {
                    if !seen[v as usize] {
                        seen[v as usize] = true;
                        queue.push_back(v);
                    }
                }
            }
        }
        found.sort_unstable();
        found
    };
    (0..PATCHES).map(patch).collect()
}
