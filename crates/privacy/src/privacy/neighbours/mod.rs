//! Distances between datasets and random neighbours, for every adjacency.

mod changes;
mod edge;
mod entry;
mod entry_bipartite;
mod interaction;
mod item_sets;
mod matrix;
mod rating;
mod replace_user;
mod swap;
mod unit_spectral;
mod user;

#[cfg(test)]
mod tests;

use rand::Rng;

use super::adjacency::{Adjacency, Interaction, Neighbouring, ReplaceUser, Swap, User};
use crate::interactions::Interactions;

/// An adjacency on row data, chosen at run time.
#[derive(Clone, Copy, Debug)]
pub struct RowAdjacency {
    distance: fn(&Interactions, &Interactions) -> Option<f64>,
    random_adjacent: fn(&Interactions, &mut dyn Rng) -> Option<Interactions>,
}

impl RowAdjacency {
    const fn of<A: Neighbouring<Data = Interactions>>() -> Self {
        Self {
            distance: A::distance,
            random_adjacent: |rows, rng| A::random_adjacent(rows, rng),
        }
    }

    /// [`Neighbouring::distance`].
    #[must_use]
    pub fn distance(&self, a: &Interactions, b: &Interactions) -> Option<f64> {
        (self.distance)(a, b)
    }

    /// [`Neighbouring::random_adjacent`]. Users and items of the result are named by their numbers.
    #[must_use]
    pub fn random_adjacent(&self, a: &Interactions, rng: &mut dyn Rng) -> Option<Interactions> {
        (self.random_adjacent)(a, rng)
    }
}

impl Adjacency {
    /// The adjacency on the rows of users; `None` for those that change a matrix ([`Self::is_of_matrix`]), a graph or a
    /// number.
    #[must_use]
    pub fn rows(self) -> Option<RowAdjacency> {
        match self {
            Self::Interaction => Some(RowAdjacency::of::<Interaction>()),
            Self::User => Some(RowAdjacency::of::<User>()),
            Self::Swap => Some(RowAdjacency::of::<Swap>()),
            Self::ReplaceUser => Some(RowAdjacency::of::<ReplaceUser>()),
            Self::Matrix
            | Self::UnitSpectral
            | Self::Entry
            | Self::Edge
            | Self::Rating
            | Self::EntryBipartite => None,
        }
    }
}
