//! How far one record can move A = Σ xxᵀ in the nuclear norm, the sum of absolute eigenvalues: what Wishart noise is scaled by.
//!
//! Every rule bounds Δ_* = max ‖A − A′‖_* over neighbouring data. The registry is one of its own and so is the type,
//! [`NuclearSensitivity`]: the nuclear norm of a change is up to √2 times its Frobenius norm, and noise that takes one for the other
//! promises nothing. A combination that is not registered is refused. The tests in `attacks.rs` try to beat every one that is.
//!
//! # One row in place of another: statement and proof
//! *‖xxᵀ − yyᵀ‖_* = ‖x − y‖₂·‖x + y‖₂ for all vectors x and y.*
//!
//! D = xxᵀ − yyᵀ has rank at most two. Its trace is τ = ‖x‖² − ‖y‖², and the sum of its squared eigenvalues
//! tr D² = ‖x‖⁴ + ‖y‖⁴ − 2⟨x, y⟩². So λ₁λ₂ = (τ² − tr D²)/2 = ⟨x, y⟩² − ‖x‖²‖y‖² ≤ 0 by Cauchy's inequality: the two have opposite signs, and
//! (|λ₁| + |λ₂|)² = τ² − 4λ₁λ₂ = (‖x‖² + ‖y‖²)² − 4⟨x, y⟩² = ‖x − y‖²·‖x + y‖². ∎
//!
//! A row that is not there is 0. x and y are the rows as they enter A, after every step between the file and the sum (clip, floor, means).
//!
//! | one record | rule | Δ_* | attained |
//! | --- | --- | --- | --- |
//! | a row of norm at most 1, there or not | `unit-row` | 1 | norm 1 |
//! | one in place of another | `unit-row` | 2 | orthogonal rows of norm 1 |
//! | a user of at most m interactions, there or not | `exact` | min(m, D)/D, without a cap 1 | d = min(m, D) |
//! | one in place of another | `exact` | twice that | no common item |
//! | one interaction | `exact` | max(√(4D − 3)/D, 2/√(D + 1)) | d = D − 1 → D, or D → D + 1 |
//! | one interaction | `root-floor` | √max((1 + 3t + 4t²)/((1 + t)·D), 4/(D + 1)), t = √(1 − 1/D) | the same |
//! | one item for another | `exact` | 2√(2D − 1)/D | d = D |
//! | one number of a row moves by s | `unit-row` | s·√(4 − s²) for s ≤ √2, else 2 | ±s/2 beside √(1 − s²/4) |
//!
//! `matrix`, `unit-spectral`, `entry`, `edge` and `entry-bipartite` change no row of a sum Σ xxᵀ, and have no rule here.
//!
//! # Source
//! The identity is elementary; the bounds are derived here. For the mechanism see [`wishart`](mod@crate::privacy::wishart).

mod interaction;
mod rating;
mod rows;
mod swap;
mod user;

#[cfg(test)]
mod attacks;

use std::fmt;

use super::rating_range::RatingRange;
use super::rule::{Public, SensitivityRule};
use crate::privacy::PrivacyError;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// A proved bound on Δ_*. The proof is in the documentation of the type that implements this.
trait NuclearRule {
    /// The adjacency of the proof.
    const ADJACENCY: Adjacency;

    /// The name of the rule in configurations.
    const RULE: SensitivityRule;

    /// Whether the proof covers a cap on a user's interactions.
    const COVERS_CAP: bool = false;

    /// Δ_*.
    fn bound(public: &Public) -> f64;
}

/// A [`NuclearRule`] as a line of the registry.
struct Line {
    adjacency: Adjacency,
    rule: SensitivityRule,
    covers_cap: bool,
    bound: fn(&Public) -> f64,
}

impl Line {
    const fn of<R: NuclearRule>() -> Self {
        Self {
            adjacency: R::ADJACENCY,
            rule: R::RULE,
            covers_cap: R::COVERS_CAP,
            bound: R::bound,
        }
    }
}

/// The combinations that have a proof.
static PROVED: &[Line] = &[
    Line::of::<rows::UnitRow<adjacency::User>>(),
    Line::of::<rows::UnitRow<adjacency::ReplaceUser>>(),
    Line::of::<rating::OneRating>(),
    Line::of::<user::Counted<adjacency::User>>(),
    Line::of::<user::Counted<adjacency::ReplaceUser>>(),
    Line::of::<interaction::Floored>(),
    Line::of::<interaction::RootFloored>(),
    Line::of::<swap::Exchanged>(),
];

/// A proved bound on Δ_* for one adjacency and rule, in the nuclear norm of the matrix Σ xxᵀ.
///
/// It does not depend on the coordinates in which the triangle of the matrix is released.
#[derive(Clone, Copy)]
pub struct NuclearSensitivity {
    line: &'static Line,
    quantity: Quantity,
    public: Public,
}

impl NuclearSensitivity {
    /// The bound for a triangle, adjacency and rule with public degree floor D ≥ 1, an optional public cap on a user's interactions, and
    /// an optional public range of one rating, in units of the largest norm of a row.
    ///
    /// # Errors
    /// [`PrivacyError::UnprovedNuclear`] for anything but a triangle and for a combination without a proof, naming those that have one;
    /// [`PrivacyError::CapNotProved`] for a cap with a rule whose proof does not cover one; [`PrivacyError::Zero`] for a floor or cap of 0.
    pub fn of_quantity(
        quantity: Quantity,
        (adjacency, rule): (Adjacency, SensitivityRule),
        degree_floor: u32,
        degree_cap: Option<u32>,
        rating: Option<RatingRange>,
    ) -> Result<Self, PrivacyError> {
        let triangle = matches!(
            quantity,
            Quantity::PackedTriangle | Quantity::IsometricTriangle
        );
        let line = PROVED
            .iter()
            .find(|line| (line.adjacency, line.rule) == (adjacency, rule));
        let Some(line) = line.filter(|_| triangle) else {
            let names = PROVED
                .iter()
                .map(|line| format!("{} + {}", line.adjacency, line.rule));
            return Err(PrivacyError::UnprovedNuclear {
                release: quantity,
                adjacency,
                rule,
                proved: names.collect::<Vec<_>>().join(", "),
            });
        };
        let counts = [
            ("data.degree_floor", degree_floor),
            ("degree_cap", degree_cap.unwrap_or(1)),
        ];
        if let Some((name, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(PrivacyError::Zero { name });
        }
        match degree_cap {
            Some(cap) if !line.covers_cap => Err(PrivacyError::CapNotProved { cap, adjacency }),
            _ => Ok(Self {
                line,
                quantity,
                public: Public {
                    degree_floor,
                    degree_cap,
                    rank: 1,
                    rating,
                },
            }),
        }
    }

    /// Δ_*: above 0 and at most 2.
    #[must_use]
    pub fn bound(&self) -> f64 {
        (self.line.bound)(&self.public)
    }

    /// All that tells this bound from others: plans are named by it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        format!("{self:?}")
    }
}

impl PartialEq for NuclearSensitivity {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint() == other.fingerprint()
    }
}

impl fmt::Debug for NuclearSensitivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NuclearSensitivity")
            .field("quantity", &self.quantity)
            .field("adjacency", &self.line.adjacency)
            .field("rule", &self.line.rule)
            .field("public", &self.public)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(
        asked: (Adjacency, SensitivityRule),
        floor: u32,
        cap: Option<u32>,
    ) -> Result<NuclearSensitivity, PrivacyError> {
        NuclearSensitivity::of_quantity(Quantity::PackedTriangle, asked, floor, cap, None)
    }

    #[test]
    fn documented_values() {
        let (exact, unit) = (SensitivityRule::Exact, SensitivityRule::UnitRow);
        let value = |asked, floor, cap| of(asked, floor, cap).expect("proved").bound();
        assert_eq!(value((Adjacency::User, unit), 1, None), 1.0);
        assert_eq!(value((Adjacency::ReplaceUser, unit), 1, None), 2.0);
        assert_eq!(value((Adjacency::User, exact), 5, Some(3)), 0.6);
        assert_eq!(value((Adjacency::ReplaceUser, exact), 5, Some(3)), 1.2);
        let one = value((Adjacency::Interaction, exact), 1, None);
        assert!((one - 2.0_f64.sqrt()).abs() < 1e-15);
        let root = value(
            (Adjacency::Interaction, SensitivityRule::RootFloor),
            2,
            None,
        );
        assert!((root - 1.5_f64.sqrt()).abs() < 1e-15);
        assert_eq!(value((Adjacency::Swap, exact), 1, None), 2.0);
    }

    #[test]
    fn what_has_no_proof_is_refused_and_names_what_has() {
        for adjacency in [
            Adjacency::Matrix,
            Adjacency::UnitSpectral,
            Adjacency::Entry,
            Adjacency::Edge,
            Adjacency::EntryBipartite,
        ] {
            let error = of((adjacency, SensitivityRule::Exact), 1, None).expect_err("unproved");
            assert!(error.to_string().contains("user + unit-row"), "{error}");
        }
        let user = (Adjacency::User, SensitivityRule::Exact);
        for quantity in [
            Quantity::Product,
            Quantity::RowSum,
            Quantity::TriangleAndMargins,
        ] {
            let error = NuclearSensitivity::of_quantity(quantity, user, 1, None, None);
            assert!(matches!(error, Err(PrivacyError::UnprovedNuclear { .. })));
        }
        let interaction = (Adjacency::Interaction, SensitivityRule::Exact);
        assert!(matches!(
            of(interaction, 1, Some(3)),
            Err(PrivacyError::CapNotProved { cap: 3, .. })
        ));
        assert!(of(user, 1, Some(0)).is_err() && of(user, 0, None).is_err());
        assert!(of(user, 1, Some(3)).is_ok());
    }
}
