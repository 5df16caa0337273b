//! Matrix completion under joint privacy: what is released is public, what is predicted for a user stays with the user.
//!
//! Rows are ratings less what is known to the user alone (the user's own mean), *not* shortened: every contribution shortens what it is
//! made of to R itself, so that no bound depends on rows or on history. The set of explicit entries of a row is the set of items that
//! the user rated, an entry of 0 included.

mod own_check;
mod parts;

use std::fmt;

pub use own_check::{CHECKED, checked, freed, has_signal, overlap};
pub use parts::{CompleterParts, PartsError};

/// Predicts one user's row from what was released and the user's own row.
///
/// # Privacy
/// Everything in it is a function of public history. A prediction is made by the peer that holds the row, is a function of
/// that row and of this, and is sent to nobody: everything that others see of a user is the released sums, which are
/// (ε, δ)-private in the user's row, so that together they are jointly private (the billboard lemma; Kearns, Pai, Roth &
/// Ullman 2014; Jain, Thakkar & Thakurta 2018, Definition 2.2).
pub trait Completer: fmt::Debug + Send + Sync {
    /// One prediction per item, in the units of the row: what was taken from the row before (the user's mean) is not in it.
    /// `items` ascend; `values` are the user's numbers at those.
    fn complete(&self, items: &[u32], values: &[f64]) -> Vec<f64>;

    /// All public numbers that it consists of; [`AlgorithmTable::completer`](super::AlgorithmTable::completer) makes it again from them.
    fn parts(&self) -> CompleterParts;
}
