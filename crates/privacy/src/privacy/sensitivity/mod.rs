//! How far one record can move the sum.
//!
//! Every rule bounds Δ = max ‖f(X) − f′(X)‖_F, where f and f′ are one peer's contributions on adjacent data: A_u X for
//! a public X with p orthonormal columns, or, in `packed/` and `isometric/`, the upper triangle of A_u itself. Which of these is
//! the rule's [`Quantity`](crate::vocabulary::Quantity). One file per rule, with its statement and proof. A rule names the adjacency of its proof
//! and is registered under that and its release; a combination that is not registered is refused. The tests in `attacks/` try to beat every registered one.
//!
//! Adjacency is about one record of one *user*. A peer that holds several users contributes the sum of
//! their terms, and the terms of the other users cancel in the difference: Δ does not depend on how users
//! are dealt to peers.
//!
//! An algorithm of your own brings its own bound: implement [`Rule`] for a type of yours, with the proof in its
//! documentation, and hand it to [`SensitivitySpec::with_rule`].
//!
//! What Laplace noise is scaled by is a bound of another kind, [`Sensitivity1`], with a registry of its own in `l1/`, and what
//! Wishart noise is scaled by is one of a third kind, [`NuclearSensitivity`], in `nuclear/`.
//!
//! Notation: r_u ∈ {0,1}ⁿ the interactions of user u, d = |r_u|, D the public degree floor,
//! r̂_u = r_u/√max(d, D), A_u = r̂_uᵀr̂_u, D̂ = max_i‖X_{i:}‖₂ ≤ 1.

mod bound;
mod clipped;
mod exact;
mod graph;
mod isometric;
mod item_shares;
mod l1;
mod margins;
mod max_entry;
mod nuclear;
mod own_rules;
mod packed;
mod rating;
mod rating_range;
mod rayleigh;
mod registry;
mod root_floor;
mod row_norm;
mod row_sum;
mod rule;
mod spec;
mod statistic;
mod tail_counts;
mod unit_row;
mod worst_case;

#[cfg(test)]
pub(super) mod attacks;

pub use bound::Sensitivity;
pub use l1::Sensitivity1;
pub use nuclear::NuclearSensitivity;
pub use own_rules::OwnRules;
pub use rating_range::RatingRange;
#[cfg(test)]
use registry::PROVED;
pub use rule::{Public, Rule, SensitivityRule};
pub use spec::SensitivitySpec;
pub use statistic::Statistic;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{Adjacency, PrivacyError};
    use crate::vocabulary::Quantity;

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
            Sensitivity::of_quantity(Quantity::PackedTriangle, adjacency, rule, 4, None, 3)
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
        for line in PROVED {
            let (adjacency, rule) = (line.adjacency, line.rule);
            for floor in [1, 2, 7] {
                let sensitivity =
                    Sensitivity::of_quantity(line.quantity, adjacency, rule, floor, None, 4)
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
        for line in PROVED {
            let rule = line.rule;
            assert_eq!(
                serde_json::to_string(&rule).expect("serialises"),
                format!("\"{rule}\"")
            );
        }
    }
}
