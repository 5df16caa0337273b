//! Adjacency by an entry of a matrix whose rows and columns are the peers.

use nalgebra::DMatrix;
use rand::Rng;

use super::super::adjacency::{Adjacency, Entry, EntryBipartite, Neighbouring};

/// The changes are those of [`Entry`]; who knows them is another matter, and so is what is released.
impl Neighbouring for EntryBipartite {
    type Data = DMatrix<f64>;

    const ADJACENCY: Adjacency = Adjacency::EntryBipartite;

    fn distance(a: &DMatrix<f64>, b: &DMatrix<f64>) -> Option<f64> {
        Entry::distance(a, b)
    }

    /// A uniform entry, one more or one less.
    fn random_adjacent<R: Rng + ?Sized>(a: &DMatrix<f64>, rng: &mut R) -> Option<DMatrix<f64>> {
        Entry::random_adjacent(a, rng)
    }
}
