//! Bounds of one's own, for quantities that only an algorithm of one's own releases.

use std::fmt;

use super::rule::{Line, Proved, Rule};
use crate::privacy::adjacency::Adjacency;
use crate::vocabulary::Quantity;

/// A list of bounds of your own, each for [`Rule::QUANTITY`]. Their proofs are yours.
#[derive(Clone, Default)]
pub struct OwnRules(Vec<&'static Proved>);

impl OwnRules {
    /// No bounds.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// The same with this bound.
    #[must_use]
    pub fn with<R: Rule>(mut self) -> Self {
        self.0.push(Line::<R>::LINE);
        self
    }

    /// The quantities that they bound.
    #[must_use]
    pub fn quantities(&self) -> Vec<Quantity> {
        self.0.iter().map(|line| line.quantity).collect()
    }

    /// The bound of this quantity under this adjacency.
    pub(super) fn find(&self, quantity: Quantity, adjacency: Adjacency) -> Option<&'static Proved> {
        let known = |line: &&&Proved| (line.quantity, line.adjacency) == (quantity, adjacency);
        self.0.iter().find(known).copied()
    }
}

impl PartialEq for OwnRules {
    fn eq(&self, other: &Self) -> bool {
        let parts = |rules: &Self| -> Vec<_> {
            let lines = rules.0.iter();
            let parts = lines.map(|line| (line.quantity, line.adjacency, (line.name)()));
            parts.collect()
        };
        parts(self) == parts(other)
    }
}

impl fmt::Debug for OwnRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.quantities()).finish()
    }
}
