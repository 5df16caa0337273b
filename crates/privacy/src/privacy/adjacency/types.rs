//! Adjacencies as types: what bounds are generic over, and what measures distances and draws neighbours.

use rand::Rng;

use super::Adjacency;

/// An executable adjacency: it measures distances between data sets and draws neighbours.
pub trait Neighbouring {
    /// What a dataset is: binary rows of users, or the matrix of one peer (of a curator: A itself).
    type Data;

    /// Its name.
    const ADJACENCY: Adjacency;

    /// How far apart `a` and `b` are: 0 if equal, 1 if one record differs.
    ///
    /// On rows the least number of single records changed one after the other, a whole number. On matrices a
    /// norm of the difference, neighbours being everything up to 1. `None` if no sequence of changes leads from
    /// `a` to `b`: other users, other items, another shape, entries that are not finite.
    fn distance(a: &Self::Data, b: &Self::Data) -> Option<f64>;

    /// A random dataset at distance 1 from `a` (to rounding, for matrices); `None` if `a` has none. Every
    /// neighbour of row data can occur; of the matrices those on the boundary can.
    fn random_adjacent<R: Rng + ?Sized>(a: &Self::Data, rng: &mut R) -> Option<Self::Data>;
}

/// [`Adjacency::Entry`], also Hardt & Price 2014, Definition 4.1. The distance is Σ_ij |C_ij|.
#[derive(Clone, Copy, Debug)]
pub struct Entry;

/// [`Adjacency::EntryBipartite`]. The distance is Σ_ij |C_ij|.
#[derive(Clone, Copy, Debug)]
pub struct EntryBipartite;

/// [`Adjacency::Rating`]. The data are ratings mapped to 0 to 1, users × items; the distance is the number of ratings that differ.
#[derive(Clone, Copy, Debug)]
pub struct Rating;

/// [`Adjacency::Edge`]. The distance is Σ_{s<t} |C_st|, of graphs the number of edges that only one of them has.
#[derive(Clone, Copy, Debug)]
pub struct Edge;

/// [`Adjacency::Interaction`]. The distance is the number of entries of R that differ.
#[derive(Clone, Copy, Debug)]
pub struct Interaction;

/// [`Adjacency::User`]. Turning one nonempty row into another takes two steps, so the distance is the sum over users of 0 (equal), 1 (one of the
/// two is empty) or 2.
#[derive(Clone, Copy, Debug)]
pub struct User;

/// [`Adjacency::Swap`]. The distance is the least number of such steps: per user the larger of the numbers of items that only one of the
/// two rows has.
///
/// # The distance is a metric, and counts steps
/// A step changes |r∖r′| and |r′∖r| by at most 1 each, so no fewer steps than the larger of the two lead from r to r′.
/// That many do: exchange min(|r∖r′|, |r′∖r|) pairs, then add or remove the rest. ∎
#[derive(Clone, Copy, Debug)]
pub struct Swap;

/// [`Adjacency::ReplaceUser`]. The distance is the number of users whose rows differ.
#[derive(Clone, Copy, Debug)]
pub struct ReplaceUser;

/// [`Adjacency::Matrix`]. The distance is √(Σ_i ‖C_{i:}‖₁²), the ℓ2 norm of the ℓ1 norms of the rows.
#[derive(Clone, Copy, Debug)]
pub struct MatrixChange;

/// [`Adjacency::UnitSpectral`]. The distance is the spectral norm of the difference.
#[derive(Clone, Copy, Debug)]
pub struct UnitSpectral;
