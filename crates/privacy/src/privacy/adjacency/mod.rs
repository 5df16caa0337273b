//! Adjacency relations: which data sets are neighbours, that is, what one record is.
//!
//! A guarantee says: whoever sees the output cannot tell two *adjacent* datasets apart. Each adjacency here
//! is executable: a type of `types.rs` measures how many records apart two datasets are and draws a random neighbour, so that a
//! sensitivity bound can be attacked with real pairs ([`super::Sensitivity`]'s tests) and a run can be
//! audited on one. A sensitivity rule names the adjacency it is proved for ([`super::Rule::ADJACENCY`]) and is registered under no other.
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
//! - `matrix`, `unit-spectral` and `entry` if one peer's matrix A_u of the interactions above the threshold changes by C: they are
//!   about matrices, and a rating line more or less is no small change there;
//! - `rating` if one rating of one named user, kept as a number, has another value or is there or not;
//! - `edge` if the file is a graph and one of its edges is there or not.
//!
//! Distances compare what *peers hold*: interactions after the threshold, the item list, what is held out and the
//! degree cap. Every one of these steps maps neighbours to neighbours or to equal data, or the combination is
//! refused; the proofs stand where the steps are applied.
//!
//! Two things are assumed rather than protected. *Who takes part:* the list of users and its order, which is what
//! users are dealt to peers by; a user without any rating stays in it. Where users are numbered as the data first name them, one line more or less
//! can change that order; a list from a file of its own, or a partition by hashes of names, has no such gap. *Which items there are,* in which order: where the list is
//! drawn from the data (every item of the file, or the most rated), one rating more can change the list, and with
//! it everybody's rows. No ε covers that. A list from a file of its own has no such gap.
//!
//! Each type's distance and draw stand in one file of `neighbours/`, the only place here that knows how data are
//! held. A new adjacency is such a file with its type, a variant of [`Adjacency`], and its lines in `ALL`, `Display` and `rows`.

mod types;

use std::fmt;

use serde::{Deserialize, Serialize};

// For bounds, and for tests that draw neighbours.
#[doc(hidden)]
pub use types::{
    Edge, Entry, EntryBipartite, Interaction, MatrixChange, Neighbouring, Rating, ReplaceUser,
    Swap, UnitSpectral, User,
};

/// Which datasets are neighbours, that is: what one record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjacency {
    /// One user gains or loses one interaction (one entry of R, 0 ↔ 1).
    Interaction,
    /// One user's row is zeroed out, or appears: all its interactions at once. Who takes part is public in
    /// a peer-to-peer network; what they have is not. Turning one nonempty row into another takes two such steps.
    User,
    /// One user exchanges one of its items for another, or gains or loses one.
    ///
    /// Why additions and removals belong to it: an exchange of two *ratings* becomes one where a threshold, an item list
    /// or a hold-out keeps only one of the two items. The bounds for this adjacency are proved for all three.
    Swap,
    /// One user's row becomes any other row, empty or not.
    ReplaceUser,
    /// One peer's matrix A_u changes by any C with Σ_i ‖C_{i:}‖₁² ≤ 1 (the norm of P1, equation 7; symmetry is not
    /// needed). See [`Self::is_of_matrix`] for changes at several peers.
    ///
    /// P1 states it for the sum A, which is right for a curator, and asks for a symmetric C as well. Nothing needs it, and with it a single
    /// entry off the diagonal would not be a neighbour; so C is any matrix.
    Matrix,
    /// One peer's matrix A_u changes by any C with ‖C‖₂ ≤ 1 (Hardt & Price 2014, Definition 4.4, after Kapralov & Talwar). See
    /// [`Self::is_of_matrix`] for changes at several peers.
    ///
    /// Of all adjacencies here this one protects most of what one peer holds: every change of a user's row, with
    /// ‖r̂ᵀr̂‖₂ ≤ 1, is covered, and so are n of them in orthogonal directions at once, all at the same peer. Its sensitivity
    /// grows as √p for it.
    UnitSpectral,
    /// One entry of one peer's matrix A_u changes by at most 1, or several by as much together: Σ_ij |C_ij| ≤ 1 (Hardt & Roth 2013,
    /// Definition 2.1). See [`Self::is_of_matrix`] for changes at several peers.
    ///
    /// Every C of the set is a mean of changes of single entries by 1 and of none, so that bounds, being norms of linear images of C, are
    /// those of single entries.
    Entry,
    /// One undirected edge of a private graph is there or not: the symmetric matrix A changes by ±(e_s e_tᵀ + e_t e_sᵀ), at two vertices and so at two peers.
    ///
    /// Whoever is an end of an edge knows it. A promise about edges is one about those between honest peers.
    Edge,
    /// One rating of one user, kept as a number, is another.
    ///
    /// By how much one moves is at most the width of the public range, so that it is the range that decides the bound
    /// ([`RatingRange`](super::RatingRange)), not the adjacency. A rating that is not there is a number that the range covers too.
    Rating,
    /// One entry of a matrix whose rows and columns are the peers changes by at most 1, or several by as much together (Hardt & Roth 2013,
    /// Definition 2.1). It is known to its row and to its column.
    EntryBipartite,
}

impl Adjacency {
    /// Every adjacency there is.
    pub const ALL: [Self; 10] = [
        Self::Interaction,
        Self::User,
        Self::Swap,
        Self::ReplaceUser,
        Self::Matrix,
        Self::UnitSpectral,
        Self::Entry,
        Self::Edge,
        Self::Rating,
        Self::EntryBipartite,
    ];

    /// Whether one record is a change of a matrix and not of a user's row.
    ///
    /// Such a change may be of the sum A = Σ_u A_u as long as only sums are seen: engines `central` and `federated`.
    /// Where every peer publishes its own noisy A_u X, it must lie within **one peer's** A_u. A change of A that is spread
    /// over k peers is k records ([`super::GroupLoss`]), even if A stays as it is: whether two peers exchanged
    /// their rows is not hidden by noise that is meant for one of them.
    #[must_use]
    pub fn is_of_matrix(self) -> bool {
        matches!(self, Self::Matrix | Self::UnitSpectral | Self::Entry)
    }

    /// Whether one record is a change of one user's row. A person then has such a record at every participant whose file names them.
    #[must_use]
    pub fn is_of_rows(self) -> bool {
        !self.is_of_matrix() && !matches!(self, Self::Edge | Self::EntryBipartite)
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
            Self::Entry => "entry",
            Self::Edge => "edge",
            Self::Rating => "rating",
            Self::EntryBipartite => "entry-bipartite",
        })
    }
}
