//! Executable adjacency relations: which data sets are neighbours, that is, what one record is.
//!
//! A guarantee says: whoever sees the output cannot tell two *adjacent* datasets apart. Each adjacency here
//! is a type that measures how many records apart two datasets are and draws a random neighbour, so that a
//! sensitivity bound can be attacked with real pairs ([`super::Sensitivity`]'s tests) and a run can be
//! audited on one. A sensitivity rule names the type it is proved for; there is no way to register it under
//! another.
//!
//! # What a record of a rating file is
//!
//! A guarantee is about the data **as read**: a public list of users, a public list of items, and for each user a set of
//! rating lines (item, value), at most one per item. A file that names a pair twice is no such data and is refused. Two files are
//! neighbours, the two lists being the same, under
//!
//! - `interaction` if one rating line of one named user is added, removed or given another value;
//! - `swap` if one rating line of one named user is replaced by one about another item, or as under `interaction`;
//! - `user` if all rating lines of one named user are removed, or added to a user who has none;
//! - `replace-user` if the rating lines of one named user become any others;
//! - `matrix` and `unit-spectral` if one peer's matrix A_u of the interactions above the threshold changes by C: they are
//!   about matrices, and a rating line more or less is no small change there.
//!
//! The types here compare what *peers hold*: interactions after the threshold, the item list, what is held out and the
//! degree cap. Every one of these steps maps neighbours to neighbours or to equal data, or the combination is
//! refused; the proofs stand where the steps are applied.
//!
//! Two things are assumed rather than protected. *Who takes part:* the list of users and its order, which is what
//! users are dealt to peers by; a user without any rating stays in it. *Which items there are,* in which order: where the list is
//! drawn from the data (every item of the file, or the most rated), one rating more can change the list, and with
//! it everybody's rows. No ε covers that. A list from a file of its own has no such gap.
//!
//! One file per adjacency. A new one is a file, a variant of [`Adjacency`], and its lines in `ALL`,
//! `Display` and `rows`.

use std::fmt;

use nalgebra::DMatrix;
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::data::Interactions;

mod interaction;
mod item_sets;
mod matrix;
mod replace_user;
mod swap;
mod unit_spectral;
mod user;

#[cfg(test)]
mod tests;

pub use interaction::Interaction;
pub use matrix::MatrixChange;
pub use replace_user::ReplaceUser;
pub use swap::Swap;
pub use unit_spectral::UnitSpectral;
pub use user::User;

/// Which datasets are neighbours, that is: what one record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjacency {
    /// One user gains or loses one interaction (one entry of R, 0 ↔ 1): [`Interaction`].
    Interaction,
    /// One user's row is zeroed out, or appears: all its interactions at once. Who takes part is public in
    /// a peer-to-peer network; what they have is not: [`User`].
    User,
    /// One user exchanges one of its items for another, or gains or loses one: [`Swap`].
    Swap,
    /// One user's row becomes any other row: [`ReplaceUser`].
    ReplaceUser,
    /// One peer's matrix A_u changes by any C with Σ_i ‖C_{i:}‖₁² ≤ 1 (the norm of P1, equation 7; symmetry is not
    /// needed): [`MatrixChange`]. See [`Self::is_of_matrix`] for changes at several peers.
    Matrix,
    /// One peer's matrix A_u changes by any C with ‖C‖₂ ≤ 1 (Hardt & Price 2014, Definition 4.4): [`UnitSpectral`]. See
    /// [`Self::is_of_matrix`] for changes at several peers.
    UnitSpectral,
}

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
    /// Every adjacency there is.
    pub const ALL: [Self; 6] = [
        Self::Interaction,
        Self::User,
        Self::Swap,
        Self::ReplaceUser,
        Self::Matrix,
        Self::UnitSpectral,
    ];

    /// Whether one record is a change of a matrix and not of a user's row.
    ///
    /// Such a change may be of the sum A = Σ_u A_u as long as only sums are seen: engines `central` and `federated`.
    /// Where every peer publishes its own noisy A_u X, it must lie within **one peer's** A_u. A change of A that is spread
    /// over k peers is k records ([`super::GroupLoss`]), even if A stays as it is: whether two peers exchanged
    /// their rows is not hidden by noise that is meant for one of them.
    #[must_use]
    pub fn is_of_matrix(self) -> bool {
        matches!(self, Self::Matrix | Self::UnitSpectral)
    }

    /// The adjacency on the rows of users; `None` for the two that change a matrix ([`Self::is_of_matrix`]).
    #[must_use]
    pub fn rows(self) -> Option<RowAdjacency> {
        match self {
            Self::Interaction => Some(RowAdjacency::of::<Interaction>()),
            Self::User => Some(RowAdjacency::of::<User>()),
            Self::Swap => Some(RowAdjacency::of::<Swap>()),
            Self::ReplaceUser => Some(RowAdjacency::of::<ReplaceUser>()),
            Self::Matrix | Self::UnitSpectral => None,
        }
    }
}

impl fmt::Display for Adjacency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interaction => "interaction",
            Self::User => "user",
            Self::Swap => "swap",
            Self::ReplaceUser => "replace-user",
            Self::Matrix => "matrix",
            Self::UnitSpectral => "unit-spectral",
        })
    }
}

/// b − a if the two have one shape and every entry of both is finite.
fn difference(a: &DMatrix<f64>, b: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let finite = |matrix: &DMatrix<f64>| matrix.iter().all(|value| value.is_finite());
    (a.shape() == b.shape() && finite(a) && finite(b)).then(|| b - a)
}

/// a + `change`, unless rounding loses the change: `None` if its distance from `a` is not 1 to a millionth.
fn shifted<A: Neighbouring<Data = DMatrix<f64>>>(
    a: &DMatrix<f64>,
    change: &DMatrix<f64>,
) -> Option<DMatrix<f64>> {
    let b = a + change;
    A::distance(a, &b)
        .is_some_and(|distance| (distance - 1.0).abs() < 1e-6)
        .then_some(b)
}
