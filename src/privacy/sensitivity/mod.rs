//! How far one record can move the sum.
//!
//! Every rule bounds Δ = max ‖f(X) − f′(X)‖_F, where f and f′ are one peer's contributions on adjacent data: A_u X for
//! a public X with p orthonormal columns, or, in `packed/`, the upper triangle of A_u itself. Which of the two is
//! the rule's [`Release`]. One file per rule, with its statement and proof. A rule names the adjacency of its proof as
//! a type and is registered under that and its release; a combination that is not registered is refused. The tests in `attacks/` try to beat every registered one.
//!
//! Adjacency is about one record of one *user*. A peer that holds several users contributes the sum of
//! their terms, and the terms of the other users cancel in the difference: Δ does not depend on how users
//! are dealt to peers.
//!
//! Notation: r_u ∈ {0,1}ⁿ the interactions of user u, d = |r_u|, D the public degree floor,
//! r̂_u = r_u/√max(d, D), A_u = r̂_uᵀr̂_u, D̂ = max_i‖X_{i:}‖₂ ≤ 1.

use std::fmt;

use serde::{Deserialize, Serialize};

use self::rule::{PROVED, Proved, Public, proved};
use super::PrivacyError;
use super::adjacency::{self, Adjacency};
use crate::linalg::Block;
use crate::vocabulary::Release;

mod exact;
mod max_entry;
mod packed;
mod row_norm;
mod rule;
mod worst_case;

#[cfg(test)]
pub(super) mod attacks;

/// How the bound is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SensitivityRule {
    /// The tight bounds of ref F.1.3, F.2 and DESIGN 7.
    Exact,
    /// P1's bound from the largest row norm D̂.
    RowNorm,
    /// The earlier bound from the largest entry (Hardt & Price; Balcan et al.).
    MaxEntry,
    /// The bound for the largest entry any X can have, in the FedPower-style baseline (a reconstruction).
    WorstCase,
}

/// The public number of X that peers agree on by max-consensus before they can scale their noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// Nothing: Δ is known in advance.
    None,
    /// D̂ = max_i‖X_{i:}‖₂.
    MaxRowNorm,
    /// ‖X‖_max = max_{ij}|X_{ij}|.
    MaxEntry,
}

impl Statistic {
    /// The statistic of one basis: 0 for [`Statistic::None`].
    #[must_use]
    pub fn of(self, basis: &Block) -> f64 {
        match self {
            Self::None => 0.0,
            Self::MaxRowNorm => basis.max_row_norm(),
            Self::MaxEntry => basis.max_entry(),
        }
    }
}

/// A proved bound on Δ for one adjacency and rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sensitivity {
    release: Release,
    adjacency: Adjacency,
    rule: SensitivityRule,
    degree_floor: u32,
    degree_cap: Option<u32>,
    rank: u32,
}

impl Sensitivity {
    /// The bound on the change of a product A X: [`Self::of_release`] with [`Release::Product`].
    ///
    /// # Errors
    /// As [`Self::of_release`].
    pub fn new(
        adjacency: Adjacency,
        rule: SensitivityRule,
        degree_floor: u32,
        degree_cap: Option<u32>,
        rank: usize,
    ) -> Result<Self, PrivacyError> {
        Self::of_release(
            Release::Product,
            adjacency,
            rule,
            degree_floor,
            degree_cap,
            rank,
        )
    }

    /// The bound for this release, adjacency and rule, with public degree floor D ≥ 1, an optional public cap on a
    /// user's interactions (every user drops what exceeds it, by a rule that looks at its own row only), and
    /// p = `rank` columns of X.
    ///
    /// # Errors
    /// [`PrivacyError::Unproved`] for a combination without a proof, naming those that have one;
    /// [`PrivacyError::CapNotProved`] for a cap with a rule whose proof does not cover one;
    /// [`PrivacyError::Zero`] for a floor, cap or rank of 0.
    pub fn of_release(
        release: Release,
        adjacency: Adjacency,
        rule: SensitivityRule,
        degree_floor: u32,
        degree_cap: Option<u32>,
        rank: usize,
    ) -> Result<Self, PrivacyError> {
        let Some(line) = proved(release, adjacency, rule) else {
            let names = PROVED
                .iter()
                .filter(|line| line.release == release)
                .map(|line| format!("{} + {}", line.adjacency, line.rule));
            return Err(PrivacyError::Unproved {
                release,
                adjacency,
                rule,
                proved: names.collect::<Vec<_>>().join(", "),
            });
        };
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
            release,
            adjacency,
            rule,
            degree_floor,
            degree_cap,
            // Above 2³² columns the bound saturates at ‖X‖₂ long before p matters.
            rank: u32::try_from(rank).unwrap_or(u32::MAX),
        })
    }

    /// Which public number of X [`Self::bound`] takes.
    #[must_use]
    pub fn statistic(&self) -> Statistic {
        (self.line().statistic)(&self.public())
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
        (self.line().bound)(&self.public(), value)
    }

    fn line(&self) -> &'static Proved {
        proved(self.release, self.adjacency, self.rule)
            .expect("the only constructor refuses combinations that are not registered")
    }

    fn public(&self) -> Public {
        Public {
            degree_floor: self.degree_floor,
            degree_cap: self.degree_cap,
            rank: self.rank,
        }
    }

    /// What it bounds the change of.
    #[must_use]
    pub fn release(&self) -> Release {
        self.release
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

impl fmt::Display for SensitivityRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::RowNorm => "row-norm",
            Self::MaxEntry => "max-entry",
            Self::WorstCase => "worst-case",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_proof_is_refused_and_names_what_has() {
        for adjacency in [
            Adjacency::Swap,
            Adjacency::ReplaceUser,
            Adjacency::UnitSpectral,
        ] {
            assert!(Sensitivity::new(adjacency, SensitivityRule::RowNorm, 1, None, 4).is_err());
            assert!(Sensitivity::new(adjacency, SensitivityRule::Exact, 1, None, 4).is_ok());
        }
        for rule in [
            SensitivityRule::RowNorm,
            SensitivityRule::MaxEntry,
            SensitivityRule::WorstCase,
        ] {
            let error = Sensitivity::new(Adjacency::User, rule, 1, None, 4).expect_err("unproved");
            let text = error.to_string();
            assert!(
                text.contains("user + exact") && !text.contains("user + row"),
                "{text}"
            );
        }
        let capped = |adjacency| Sensitivity::new(adjacency, SensitivityRule::Exact, 1, Some(5), 4);
        assert!(matches!(
            capped(Adjacency::Interaction),
            Err(PrivacyError::CapNotProved { cap: 5, .. })
        ));
        for adjacency in Adjacency::ALL {
            let covered =
                [Adjacency::User, Adjacency::ReplaceUser, Adjacency::Swap].contains(&adjacency);
            assert_eq!(capped(adjacency).is_ok(), covered, "{adjacency}");
        }
        for (floor, cap, rank) in [(0, None, 1), (1, Some(0), 1), (1, None, 0)] {
            assert!(matches!(
                Sensitivity::new(Adjacency::User, SensitivityRule::Exact, floor, cap, rank),
                Err(PrivacyError::Zero { .. })
            ));
        }
    }

    #[test]
    fn a_bound_is_found_under_its_own_release_only() {
        let packed = |adjacency, rule| {
            Sensitivity::of_release(Release::PackedTriangle, adjacency, rule, 4, None, 3)
        };
        for rule in [SensitivityRule::RowNorm, SensitivityRule::MaxEntry] {
            let error = packed(Adjacency::Interaction, rule).expect_err("proved for products");
            let text = error.to_string();
            assert!(text.contains("packed triangle"), "{text}");
            assert!(!text.contains("interaction + row-norm,"), "{text}");
        }
        assert!(packed(Adjacency::UnitSpectral, SensitivityRule::Exact).is_err());
        let of_triangle = packed(Adjacency::Interaction, SensitivityRule::Exact).expect("proved");
        let of_product =
            Sensitivity::new(Adjacency::Interaction, SensitivityRule::Exact, 4, None, 3)
                .expect("proved");
        assert_ne!(of_triangle, of_product);
        assert_eq!(of_triangle.bound(0.1), 0.5);
        assert_eq!(of_triangle.statistic(), Statistic::None);
    }

    #[test]
    fn a_broken_statistic_never_reduces_the_noise() {
        for line in &PROVED {
            let (adjacency, rule) = (line.adjacency, line.rule);
            for floor in [1, 2, 7] {
                let sensitivity =
                    Sensitivity::of_release(line.release, adjacency, rule, floor, None, 4)
                        .expect("proved");
                let worst = sensitivity.bound(1.0);
                for bad in [f64::NAN, 0.0, -0.1, 1.5, f64::INFINITY, f64::NEG_INFINITY] {
                    assert_eq!(sensitivity.bound(bad), worst);
                }
                let mut last = 0.0;
                for step in 1..=1000 {
                    let bound = sensitivity.bound(0.001 * f64::from(step));
                    assert!(bound >= last, "{adjacency} {rule} at {step}");
                    last = bound;
                }
            }
        }
    }

    #[test]
    fn names_in_files_are_the_documented_ones() {
        for line in &PROVED {
            let rule = line.rule;
            assert_eq!(
                serde_json::to_string(&rule).expect("serialises"),
                format!("\"{rule}\"")
            );
        }
    }
}
