//! The public numbers that advice rests on.

use serde::Serialize;

/// All that is used of the data besides the degree of every item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PublicQuantities {
    /// Users.
    pub users: usize,
    /// Items n.
    pub items: usize,
    /// Interactions.
    pub interactions: u64,
}
