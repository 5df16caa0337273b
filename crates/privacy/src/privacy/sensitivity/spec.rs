//! What one record is and how its effect is bounded, before it is known what is released.

use serde::{Deserialize, Serialize};

use super::bound::{Sensitivity, unproved};
use super::l1::Sensitivity1;
use super::nuclear::NuclearSensitivity;
use super::own_rules::OwnRules;
use super::rating_range::RatingRange;
use super::rule::{Rule, SensitivityRule};
use crate::privacy::PrivacyError;
use crate::privacy::adjacency::Adjacency;
use crate::vocabulary::Quantity;

/// An adjacency, a rule and the public numbers of the data, from which the bound of every released quantity follows.
///
/// Bounds of your own are code, so that no file has them: a reader adds them with [`Self::with_rules`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensitivitySpec {
    adjacency: Adjacency,
    rule: SensitivityRule,
    degree_floor: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    degree_cap: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rating: Option<RatingRange>,
    /// Bounds of quantities that only an algorithm of your own releases.
    #[serde(skip)]
    own: OwnRules,
}

impl SensitivitySpec {
    /// Bounds for this adjacency by this rule, with public degree floor D ≥ 1 and an optional public cap on a user's
    /// interactions.
    #[must_use]
    pub fn new(
        adjacency: Adjacency,
        rule: SensitivityRule,
        degree_floor: u32,
        degree_cap: Option<u32>,
    ) -> Self {
        Self {
            adjacency,
            rule,
            degree_floor,
            degree_cap,
            rating: None,
            own: OwnRules::none(),
        }
    }

    /// The same where so much is public of one rating.
    #[must_use]
    pub fn with_rating(mut self, rating: Option<RatingRange>) -> Self {
        self.rating = rating;
        self
    }

    /// The same with a bound of your own, for [`Rule::QUANTITY`]. Its proof is yours.
    #[must_use]
    pub fn with_rule<R: Rule>(mut self) -> Self {
        self.own = self.own.with::<R>();
        self
    }

    /// The same with these bounds of your own and no others.
    #[must_use]
    pub fn with_rules(mut self, own: OwnRules) -> Self {
        self.own = own;
        self
    }

    /// What one record is.
    #[must_use]
    pub fn adjacency(&self) -> Adjacency {
        self.adjacency
    }

    /// How its effect is bounded.
    #[must_use]
    pub fn rule(&self) -> SensitivityRule {
        self.rule
    }

    /// The same for rows of which only a norm of at most 1 is known.
    #[must_use]
    pub fn of_unit_rows(self) -> Self {
        Self {
            rule: SensitivityRule::UnitRow,
            degree_floor: 1,
            ..self
        }
    }

    /// The public cap on a user's interactions.
    #[must_use]
    pub fn degree_cap(&self) -> Option<u32> {
        self.degree_cap
    }

    /// D, under which rows are.
    #[must_use]
    pub fn degree_floor(&self) -> u32 {
        self.degree_floor
    }

    /// The bound on this quantity of a query with so many columns.
    ///
    /// # Errors
    /// [`PrivacyError::Unproved`] for a quantity without a proved bound under this adjacency and rule, those of
    /// [`Sensitivity::of_quantity`], and [`PrivacyError::Bound`] for a bound that noise cannot be scaled by.
    pub fn of(&self, quantity: Quantity, columns: usize) -> Result<Sensitivity, PrivacyError> {
        let found = self.proved(quantity, columns)?;
        // Variances are squares: of a bound of 0, or whose square is, there would be no noise at all.
        let most = found.bound(1.0);
        match most > 0.0 && most.powi(2).is_normal() {
            true => Ok(found),
            false => Err(PrivacyError::Bound {
                release: quantity,
                found: most,
            }),
        }
    }

    fn proved(&self, quantity: Quantity, columns: usize) -> Result<Sensitivity, PrivacyError> {
        if !matches!(quantity, Quantity::Own(_)) {
            return Sensitivity::of_quantity(
                quantity,
                self.adjacency,
                self.rule,
                self.degree_floor,
                self.degree_cap,
                columns,
            )
            .map(|bound| bound.with_rating(self.rating));
        }
        match self.own.find(quantity, self.adjacency) {
            Some(line) => Sensitivity::of_line(line, self.degree_floor, self.degree_cap, columns),
            None => Err(unproved(quantity, self.adjacency, SensitivityRule::Own)),
        }
    }
}

impl SensitivitySpec {
    /// The bound on this quantity in the sum of absolute values, of a query with so many rows and columns.
    ///
    /// # Errors
    /// Those of [`Sensitivity1::of_quantity`]; bounds of one's own are of Euclidean length and do not count.
    pub fn of_absolute_values(
        &self,
        quantity: Quantity,
        shape: (usize, usize),
    ) -> Result<Sensitivity1, PrivacyError> {
        let asked = (self.adjacency, self.rule);
        Sensitivity1::of_quantity(quantity, asked, self.degree_floor, self.degree_cap, shape)
    }

    /// The bound on a triangle of Σ xxᵀ in the nuclear norm.
    ///
    /// # Errors
    /// Those of [`NuclearSensitivity::of_quantity`]; bounds of one's own are of Euclidean length and do not count.
    #[doc(hidden)]
    pub fn of_nuclear_norm(&self, quantity: Quantity) -> Result<NuclearSensitivity, PrivacyError> {
        let (asked, floor) = ((self.adjacency, self.rule), self.degree_floor);
        NuclearSensitivity::of_quantity(quantity, asked, floor, self.degree_cap, self.rating)
    }
}
