//! How far one record can move the sum, in the sum of absolute values: what Laplace noise is scaled by.
//!
//! Every rule bounds Δ₁ = max Σ_ij |f(X) − f′(X)|_ij over neighbouring data, in the very coordinates that are released. The registry
//! is one of its own and so is the type, [`Sensitivity1`]: a bound in Euclidean length is below one in absolute values, up to √m times for m
//! coordinates, and noise that takes one for the other promises nothing. A combination that is not registered is refused. The tests in
//! `attacks.rs` try to beat every one that is.
//!
//! | one record | A X | packed triangle | isometric triangle | Σ r | vᵀAv |
//! | --- | --- | --- | --- | --- | --- |
//! | a row of norm at most 1, there or not | √(np) | (n+1)/2 | 1 + (n−1)/√2 | √n | 1 |
//! | one in place of another | √(np·min(p, 2)) | n/√2 + 1 | n + 2 − √2 | 2√n, √(2n) | 1 |
//! | a user of at most m interactions, there or not | √(pm) | (m+1)/2 | 1 + (m−1)/√2 | | 1 |
//! | one interaction | 3√p·D̂ | 3/2 | 3/√2 | | as in length |
//! | any C with ‖C‖₂ ≤ 1 | p√n | | | | 1 |
//! | one entry | max_i ‖x_i‖₁ | | | | as in length |
//!
//! (with a degree floor of 1; the files say what larger ones give). Noise of Δ₁/ε on each of m coordinates has length √(2m)·Δ₁/ε. For a
//! triangle that is about n²/(2ε) where Gaussian noise of Δ = 1 has n·z/√2: a factor of n/ε beside z. It is what δ = 0 costs.
//!
//! # Source
//! Dwork, McSherry, Nissim & Smith 2006 for the mechanism; Hardt & Price 2014, Lemma 4.5, for p√n. The other bounds are
//! derived here.

mod interaction;
mod matrix;
mod row_sum;
mod rule;
mod scalar;
mod unit_row;
mod user;

#[cfg(test)]
mod attacks;

use std::fmt;

use super::row_sum::{AnySign, Nonnegative};
use super::rule::SensitivityRule;
use super::statistic::Statistic;
use crate::privacy::PrivacyError;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;
use rule::{Proved1, Public1};

/// The combinations that have a proof.
static PROVED: &[Proved1] = &[
    Proved1::of::<unit_row::UnitRow<adjacency::User, unit_row::Product>>(),
    Proved1::of::<unit_row::UnitRow<adjacency::User, unit_row::Packed>>(),
    Proved1::of::<unit_row::UnitRow<adjacency::User, unit_row::Isometric>>(),
    Proved1::of::<unit_row::UnitRow<adjacency::User, unit_row::Rayleigh>>(),
    Proved1::of::<unit_row::UnitRow<adjacency::ReplaceUser, unit_row::Product>>(),
    Proved1::of::<unit_row::UnitRow<adjacency::ReplaceUser, unit_row::Packed>>(),
    Proved1::of::<unit_row::UnitRow<adjacency::ReplaceUser, unit_row::Isometric>>(),
    Proved1::of::<unit_row::UnitRow<adjacency::ReplaceUser, unit_row::Rayleigh>>(),
    Proved1::of::<row_sum::RowSum<adjacency::User, AnySign>>(),
    Proved1::of::<row_sum::RowSum<adjacency::User, Nonnegative>>(),
    Proved1::of::<row_sum::RowSum<adjacency::ReplaceUser, AnySign>>(),
    Proved1::of::<row_sum::RowSum<adjacency::ReplaceUser, Nonnegative>>(),
    Proved1::of::<user::Counted<unit_row::Product>>(),
    Proved1::of::<user::Counted<unit_row::Packed>>(),
    Proved1::of::<user::Counted<unit_row::Isometric>>(),
    Proved1::of::<interaction::One<unit_row::Product>>(),
    Proved1::of::<interaction::One<unit_row::Packed>>(),
    Proved1::of::<interaction::One<unit_row::Isometric>>(),
    Proved1::of::<matrix::Spectral>(),
    Proved1::of::<matrix::SingleEntry>(),
    Proved1::of::<scalar::Scalar<super::rayleigh::Rayleigh<adjacency::Interaction>>>(),
    Proved1::of::<scalar::Scalar<super::rayleigh::Rayleigh<adjacency::User>>>(),
    Proved1::of::<scalar::Scalar<super::rayleigh::Rayleigh<adjacency::UnitSpectral>>>(),
    Proved1::of::<scalar::Scalar<super::rayleigh::Rayleigh<adjacency::Entry>>>(),
];

/// A proved bound on Δ₁ for one adjacency and rule, in the sum of absolute values.
#[derive(Clone, Copy)]
pub struct Sensitivity1 {
    line: &'static Proved1,
    public: Public1,
}

impl Sensitivity1 {
    /// The bound for this quantity, adjacency and rule on `dimension` items, with public degree floor D ≥ 1, an optional public cap on
    /// a user's interactions, and `columns` columns of X.
    ///
    /// # Errors
    /// [`PrivacyError::Unproved1`] for a combination without a proof, naming those that have one; [`PrivacyError::CapNotProved`] for a
    /// cap with a rule whose proof does not cover one; [`PrivacyError::Zero`] for a floor, cap, dimension or number of columns of 0.
    pub fn of_quantity(
        quantity: Quantity,
        (adjacency, rule): (Adjacency, SensitivityRule),
        degree_floor: u32,
        degree_cap: Option<u32>,
        (dimension, columns): (usize, usize),
    ) -> Result<Self, PrivacyError> {
        let Some(line) = proved(quantity, adjacency, rule) else {
            let same = PROVED.iter().filter(|line| line.quantity == quantity);
            let names = same.map(|line| format!("{} + {}", line.adjacency, line.rule));
            return Err(PrivacyError::Unproved1 {
                release: quantity,
                adjacency,
                rule,
                proved: names.collect::<Vec<_>>().join(", "),
            });
        };
        let counts = [
            ("data.degree_floor", degree_floor as usize),
            ("degree_cap", degree_cap.map_or(1, |cap| cap as usize)),
            ("the number of items", dimension),
            ("algorithm.rank", columns),
        ];
        if let Some((name, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(PrivacyError::Zero { name });
        }
        match degree_cap {
            Some(cap) if !line.covers_cap => Err(PrivacyError::CapNotProved { cap, adjacency }),
            _ => Ok(Self {
                line,
                public: Public1 {
                    degree_floor,
                    degree_cap,
                    dimension,
                    columns,
                },
            }),
        }
    }

    /// Which public number of X [`Self::bound`] takes.
    #[must_use]
    pub fn statistic(&self) -> Statistic {
        (self.line.statistic)(&self.public)
    }

    /// Δ₁, given the agreed statistic of X; nondecreasing in it. What lies outside (0, 1] counts as 1, the worst case: a broken
    /// statistic must never reduce the noise.
    #[must_use]
    pub fn bound(&self, statistic: f64) -> f64 {
        let valid = statistic > 0.0 && statistic <= 1.0;
        (self.line.bound)(&self.public, if valid { statistic } else { 1.0 })
    }

    /// What it bounds the change of.
    #[must_use]
    pub fn quantity(&self) -> Quantity {
        self.line.quantity
    }

    /// Columns p of the X it is a bound for.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.public.columns
    }

    /// All that tells this bound from others: plans are named by it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        format!("{self:?}")
    }
}

impl PartialEq for Sensitivity1 {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint() == other.fingerprint()
    }
}

impl fmt::Debug for Sensitivity1 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sensitivity1")
            .field("quantity", &self.line.quantity)
            .field("adjacency", &self.line.adjacency)
            .field("rule", &self.line.rule)
            .field("public", &self.public)
            .finish()
    }
}

/// The line for this combination, if it has a proof.
fn proved(
    quantity: Quantity,
    adjacency: Adjacency,
    rule: SensitivityRule,
) -> Option<&'static Proved1> {
    let asked = (quantity, adjacency, rule);
    PROVED
        .iter()
        .find(|line| (line.quantity, line.adjacency, line.rule) == asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(
        quantity: Quantity,
        asked: (Adjacency, SensitivityRule),
        shape: (usize, usize),
    ) -> f64 {
        Sensitivity1::of_quantity(quantity, asked, 1, None, shape)
            .expect("proved")
            .bound(0.5)
    }

    #[test]
    fn documented_values() {
        let user = (Adjacency::User, SensitivityRule::UnitRow);
        assert_eq!(bound(Quantity::Product, user, (64, 4)), 16.0);
        assert_eq!(bound(Quantity::PackedTriangle, user, (64, 8)), 32.5);
        let isometric = bound(Quantity::IsometricTriangle, user, (64, 8));
        assert!((isometric - (1.0 + 63.0 / 2.0_f64.sqrt())).abs() < 1e-12);
        assert_eq!(bound(Quantity::RowSum, user, (64, 8)), 8.0);
        let spectral = (Adjacency::UnitSpectral, SensitivityRule::Exact);
        assert_eq!(bound(Quantity::Product, spectral, (64, 8)), 64.0);
        let entry = (Adjacency::Entry, SensitivityRule::Exact);
        assert_eq!(bound(Quantity::Product, entry, (64, 4)), 1.0);
        let one = (Adjacency::Interaction, SensitivityRule::Exact);
        assert_eq!(bound(Quantity::PackedTriangle, one, (64, 4)), 1.5);
    }

    #[test]
    fn what_has_no_proof_is_refused_and_names_what_has() {
        let of = |quantity, adjacency, rule, cap| {
            Sensitivity1::of_quantity(quantity, (adjacency, rule), 1, cap, (5, 2))
        };
        for (adjacency, rule) in [
            (Adjacency::Swap, SensitivityRule::Exact),
            (Adjacency::Interaction, SensitivityRule::RowNorm),
            (Adjacency::Matrix, SensitivityRule::Exact),
        ] {
            let error = of(Quantity::Product, adjacency, rule, None).expect_err("unproved");
            assert!(error.to_string().contains("user + unit-row"), "{error}");
        }
        let exact = SensitivityRule::Exact;
        for adjacency in [Adjacency::Interaction, Adjacency::UnitSpectral] {
            assert!(matches!(
                of(Quantity::Product, adjacency, exact, Some(3)),
                Err(PrivacyError::CapNotProved { cap: 3, .. })
            ));
        }
        assert!(of(Quantity::Product, Adjacency::User, exact, Some(3)).is_ok());
        assert!(of(Quantity::Product, Adjacency::User, exact, Some(0)).is_err());
    }

    #[test]
    fn a_broken_statistic_never_reduces_the_noise_and_larger_ones_never_do() {
        for line in PROVED {
            let asked = (line.adjacency, line.rule);
            for floor in [1, 2, 7, 100] {
                let columns = match line.quantity {
                    Quantity::RayleighQuotient => 1,
                    _ => 3,
                };
                let found =
                    Sensitivity1::of_quantity(line.quantity, asked, floor, None, (9, columns));
                let found = found.expect("proved");
                let worst = found.bound(1.0);
                assert!(worst.is_finite() && worst > 0.0, "{found:?}");
                for bad in [f64::NAN, 0.0, -0.1, 1.5, f64::INFINITY] {
                    assert_eq!(found.bound(bad), worst);
                }
                let values: Vec<f64> = (1..=200)
                    .map(|k| found.bound(0.005 * f64::from(k)))
                    .collect();
                assert!(values.is_sorted(), "{found:?}");
            }
        }
    }
}
