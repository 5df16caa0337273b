//! What a bound in the sum of absolute values is, together with the adjacency it is proved for.

use super::super::rule::SensitivityRule;
use super::super::statistic::Statistic;
use crate::privacy::Adjacency;
use crate::vocabulary::Quantity;

/// What is public and fixed before a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Public1 {
    /// D ≥ 1.
    pub(super) degree_floor: u32,
    /// m ≥ 1, if there is a cap.
    pub(super) degree_cap: Option<u32>,
    /// n ≥ 1.
    pub(super) dimension: usize,
    /// p ≥ 1, the columns of X.
    pub(super) columns: usize,
}

impl Public1 {
    /// n.
    pub(super) fn items(&self) -> f64 {
        self.dimension as f64
    }

    /// p.
    pub(super) fn rank(&self) -> f64 {
        self.columns as f64
    }

    /// D.
    pub(super) fn floor(&self) -> f64 {
        f64::from(self.degree_floor)
    }

    /// The most interactions of one user: min(m, n).
    pub(super) fn most(&self) -> f64 {
        self.degree_cap
            .map_or(self.items(), |cap| f64::from(cap).min(self.items()))
    }
}

/// A proved bound. The proof is in the documentation of the type that implements this.
pub(super) trait Rule1 {
    /// The adjacency of the proof.
    const ADJACENCY: Adjacency;

    /// What configurations call it.
    const RULE: SensitivityRule;

    /// What is released.
    const QUANTITY: Quantity;

    /// Whether the proof covers a cap on a user's interactions.
    const COVERS_CAP: bool = false;

    /// The public number of X that [`Self::bound`] takes.
    fn statistic(_: &Public1) -> Statistic {
        Statistic::None
    }

    /// Δ₁, given the statistic in (0, 1]; nondecreasing in it.
    fn bound(public: &Public1, statistic: f64) -> f64;
}

/// A [`Rule1`] as a line of the registry.
pub(super) struct Proved1 {
    pub(super) quantity: Quantity,
    pub(super) adjacency: Adjacency,
    pub(super) rule: SensitivityRule,
    pub(super) covers_cap: bool,
    pub(super) statistic: fn(&Public1) -> Statistic,
    pub(super) bound: fn(&Public1, f64) -> f64,
}

impl Proved1 {
    pub(super) const fn of<R: Rule1>() -> Self {
        Self {
            quantity: R::QUANTITY,
            adjacency: R::ADJACENCY,
            rule: R::RULE,
            covers_cap: R::COVERS_CAP,
            statistic: R::statistic,
            bound: R::bound,
        }
    }
}
