//! Adjacency by one edge of a private graph.

use nalgebra::DMatrix;
use rand::{Rng, RngExt};

use super::super::adjacency::{Adjacency, Edge, Neighbouring};
use super::changes::{difference, shifted};

/// Whether this is the matrix of a graph, possibly with weights: symmetric, nothing on the diagonal.
fn is_of_graph(a: &DMatrix<f64>) -> bool {
    a.is_square() && a.diagonal().iter().all(|entry| *entry == 0.0) && *a == a.transpose()
}

impl Neighbouring for Edge {
    type Data = DMatrix<f64>;

    const ADJACENCY: Adjacency = Adjacency::Edge;

    /// `None` also for matrices that are not symmetric or have a diagonal: those are of no graph.
    fn distance(a: &DMatrix<f64>, b: &DMatrix<f64>) -> Option<f64> {
        if !is_of_graph(a) || !is_of_graph(b) {
            return None;
        }
        let twice: f64 = difference(a, b)?.iter().map(|value| value.abs()).sum();
        Some(twice / 2.0)
    }

    /// A uniform pair of vertices: an edge if there was none, none if there was one.
    fn random_adjacent<R: Rng + ?Sized>(a: &DMatrix<f64>, rng: &mut R) -> Option<DMatrix<f64>> {
        let n = a.nrows();
        if n < 2 || !is_of_graph(a) {
            return None;
        }
        let s = rng.random_range(0..n);
        let other = rng.random_range(0..n - 1);
        let t = if other < s { other } else { other + 1 };
        let mut change = DMatrix::zeros(n, n);
        let by = if a[(s, t)] > 0.5 { -1.0 } else { 1.0 };
        (change[(s, t)], change[(t, s)]) = (by, by);
        shifted::<Self>(a, &change)
    }
}
