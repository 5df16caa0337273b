//! A bound on how far one record moves a sum, ready to be evaluated.

use std::fmt;

use serde::Serialize;

use super::rating_range::RatingRange;
use super::registry::{PROVED, proved};
use super::rule::{Proved, Public, SensitivityRule};
use super::statistic::Statistic;
use crate::privacy::PrivacyError;
use crate::privacy::adjacency::Adjacency;
use crate::vocabulary::Quantity;

/// A proved bound on Δ for one adjacency and rule.
#[derive(Clone, Copy, Serialize)]
pub struct Sensitivity {
    quantity: Quantity,
    adjacency: Adjacency,
    rule: SensitivityRule,
    degree_floor: u32,
    degree_cap: Option<u32>,
    rank: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    rating: Option<RatingRange>,
    #[serde(skip)]
    line: &'static Proved,
}

impl Sensitivity {
    /// The bound on the change of a product A X: [`Self::of_quantity`] with [`Quantity::Product`].
    ///
    /// # Errors
    /// As [`Self::of_quantity`].
    pub fn new(
        adjacency: Adjacency,
        rule: SensitivityRule,
        degree_floor: u32,
        degree_cap: Option<u32>,
        rank: usize,
    ) -> Result<Self, PrivacyError> {
        Self::of_quantity(
            Quantity::Product,
            adjacency,
            rule,
            degree_floor,
            degree_cap,
            rank,
        )
    }

    /// The bound for this quantity, adjacency and rule, with public degree floor D ≥ 1, an optional public cap on a
    /// user's interactions (every user drops what exceeds it, by a rule that looks at its own row only), and
    /// p = `rank` columns of X.
    ///
    /// # Errors
    /// [`PrivacyError::Unproved`] for a combination without a proof, naming those that have one;
    /// [`PrivacyError::CapNotProved`] for a cap with a rule whose proof does not cover one;
    /// [`PrivacyError::Zero`] for a floor, cap or rank of 0.
    pub fn of_quantity(
        quantity: Quantity,
        adjacency: Adjacency,
        rule: SensitivityRule,
        degree_floor: u32,
        degree_cap: Option<u32>,
        rank: usize,
    ) -> Result<Self, PrivacyError> {
        let Some(line) = proved(quantity, adjacency, rule) else {
            return Err(unproved(quantity, adjacency, rule));
        };
        Self::of_line(line, degree_floor, degree_cap, rank)
    }

    /// The bound of this line.
    ///
    /// # Errors
    /// As [`Self::of_quantity`].
    pub(super) fn of_line(
        line: &'static Proved,
        degree_floor: u32,
        degree_cap: Option<u32>,
        rank: usize,
    ) -> Result<Self, PrivacyError> {
        let adjacency = line.adjacency;
        if degree_floor == 0 {
            return Err(PrivacyError::Zero {
                name: "data.degree_floor",
            });
        }
        if rank == 0 {
            return Err(PrivacyError::Zero {
                name: "algorithm.rank",
            });
        }
        match degree_cap {
            Some(0) => return Err(PrivacyError::Zero { name: "degree_cap" }),
            Some(cap) if !line.covers_cap => {
                return Err(PrivacyError::CapNotProved { cap, adjacency });
            }
            _ => {}
        }
        Ok(Self {
            quantity: line.quantity,
            adjacency,
            rule: line.rule,
            degree_floor,
            degree_cap,
            rating: None,
            line,
            // Above 2³² columns the bound saturates at ‖X‖₂ long before p matters.
            rank: u32::try_from(rank).unwrap_or(u32::MAX),
        })
    }

    /// Which public number of X [`Self::bound`] takes.
    #[must_use]
    pub fn statistic(&self) -> Statistic {
        (self.line.statistic)(&self.public())
    }

    /// Δ, given the agreed statistic of X; nondecreasing in it, so an upper bound on the statistic gives an
    /// upper bound on Δ. [`Statistic::None`] ignores the argument.
    ///
    /// Both statistics of a matrix with orthonormal columns lie in (0, 1]. What does not (NaN, 0, negative,
    /// above 1) counts as 1, the worst case: a broken statistic must never reduce the noise.
    #[must_use]
    pub fn bound(&self, statistic_value: f64) -> f64 {
        let value = if statistic_value > 0.0 && statistic_value <= 1.0 {
            statistic_value
        } else {
            1.0
        };
        (self.line.bound)(&self.public(), value)
    }

    /// The most that one row adds to any coordinate, in units of the least Δ that a query of `dimension` items can have; public.
    ///
    /// # Errors
    /// [`PrivacyError::Unbounded`] where the rule declares no finite bound on coordinates.
    pub fn largest_per_row(&self, dimension: usize) -> Result<f64, PrivacyError> {
        let most = (self.line.largest_per_row)(&self.public());
        let (least, _) = self.statistic().range(dimension, self.columns());
        // Queries are orthonormal to 1e-9.
        let delta = self.bound(least * (1.0 - 1e-8)) * (1.0 - 1e-8);
        let found = most.map(|most| most / delta);
        found
            .filter(|found| found.is_finite() && *found >= 0.0)
            .ok_or(PrivacyError::Unbounded {
                release: self.quantity,
            })
    }

    fn public(&self) -> Public {
        Public {
            degree_floor: self.degree_floor,
            degree_cap: self.degree_cap,
            rank: self.rank,
            rating: self.rating,
        }
    }

    /// The same where so much is public of one rating; `None` for nothing. Bounds for other records do not look at it.
    #[must_use]
    pub fn with_rating(self, rating: Option<RatingRange>) -> Self {
        Self { rating, ..self }
    }

    /// All that tells this bound from others. A rule of your own is told by its type, its statistic and its values, because plans
    /// are named and noise is bound by this: two rules for one quantity must not share a stream at different scales.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut text = format!("{self:?}");
        if self.rule == SensitivityRule::Own {
            let grid = (0..=64).map(|k| self.bound(f64::from(k) / 64.0).to_bits());
            let values: Vec<String> = grid.map(|bits| format!("{bits:x}")).collect();
            let (name, statistic) = ((self.line.name)(), self.statistic());
            text += &format!(" {name} {statistic:?} {}", values.join(" "));
        }
        text
    }

    /// What is public of one rating.
    #[must_use]
    pub fn rating(&self) -> Option<RatingRange> {
        self.rating
    }

    /// What it bounds the change of.
    #[must_use]
    pub fn quantity(&self) -> Quantity {
        self.quantity
    }

    /// Columns p of the X it is a bound for.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.rank as usize
    }

    /// The adjacency the bound is for.
    #[must_use]
    pub fn adjacency(&self) -> Adjacency {
        self.adjacency
    }

    /// The rule it is computed by.
    #[must_use]
    pub fn rule(&self) -> SensitivityRule {
        self.rule
    }
}

/// Two bounds are the same if they are of the same quantity, adjacency, rule and public numbers; rules of your own also if they
/// are of the same type and bound the same.
impl PartialEq for Sensitivity {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint() == other.fingerprint()
    }
}

impl fmt::Debug for Sensitivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Sensitivity");
        fields
            .field("quantity", &self.quantity)
            .field("adjacency", &self.adjacency)
            .field("rule", &self.rule)
            .field("degree_floor", &self.degree_floor)
            .field("degree_cap", &self.degree_cap)
            .field("rank", &self.rank);
        if let Some(rating) = &self.rating {
            fields.field("rating", rating);
        }
        fields.finish()
    }
}

/// The refusal of a combination without a proof, naming those that have one.
pub(super) fn unproved(
    quantity: Quantity,
    adjacency: Adjacency,
    rule: SensitivityRule,
) -> PrivacyError {
    let names = PROVED
        .iter()
        .filter(|line| line.quantity == quantity)
        .map(|line| format!("{} + {}", line.adjacency, line.rule));
    PrivacyError::Unproved {
        release: quantity,
        adjacency,
        rule,
        proved: names.collect::<Vec<_>>().join(", "),
    }
}
