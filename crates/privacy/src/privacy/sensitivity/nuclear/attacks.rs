//! Attacks on every registered bound in the nuclear norm: adjacent data whose matrices are farther apart than the bound says.
//!
//! Data are those of the attacks on Euclidean bounds, put through the normalisation that runs use. Eigenvalues are computed, so that the
//! identity of the module is tested too. No pair may beat a bound, and every bound must be attained: one that is scaled down by a
//! thousandth is beaten.

use nalgebra::DMatrix;

use super::super::attacks::{self, Case};
use super::*;
use crate::privacy::adjacency::{Interaction, Rating, ReplaceUser, Swap, User};
use crate::vocabulary::{Label, Seed};

use Adjacency as A;
use SensitivityRule::{Exact, RootFloor, UnitRow};

/// Adjacency, rule, D, m, and the number of items on which the bound is attained.
type Attack = (Adjacency, SensitivityRule, u32, Option<u32>, usize);

const CASES: &[Attack] = &[
    (A::User, UnitRow, 1, None, 3),
    (A::ReplaceUser, UnitRow, 1, None, 4),
    (A::Rating, UnitRow, 1, None, 3),
    (A::Rating, UnitRow, 1, None, 7),
    (A::User, Exact, 1, None, 3),
    (A::User, Exact, 5, None, 6),
    (A::User, Exact, 5, Some(3), 6),
    (A::User, Exact, 2, Some(3), 6),
    (A::ReplaceUser, Exact, 1, None, 4),
    (A::ReplaceUser, Exact, 4, Some(2), 6),
    (A::ReplaceUser, Exact, 3, None, 7),
    (A::Interaction, Exact, 1, None, 3),
    (A::Interaction, Exact, 2, None, 4),
    (A::Interaction, Exact, 3, None, 5),
    (A::Interaction, Exact, 6, None, 8),
    (A::Interaction, RootFloor, 1, None, 3),
    (A::Interaction, RootFloor, 2, None, 4),
    (A::Interaction, RootFloor, 3, None, 5),
    (A::Interaction, RootFloor, 6, None, 8),
    (A::Swap, Exact, 1, None, 4),
    (A::Swap, Exact, 2, None, 5),
    (A::Swap, Exact, 4, Some(5), 7),
];

/// ‖C‖_*.
fn nuclear(change: &DMatrix<f64>) -> f64 {
    change
        .clone()
        .symmetric_eigenvalues()
        .iter()
        .map(|x| x.abs())
        .sum()
}

/// The largest ‖A − A′‖_*/Δ_* over the pairs of data that are tried.
fn attack(&(adjacency, rule, floor, cap, n): &Attack) -> f64 {
    let quantity = Quantity::IsometricTriangle;
    let case = Case {
        quantity,
        adjacency,
        rule,
        floor,
        cap,
    };
    let mut rng = Seed::from_u64(20).generator(Label::Scenario);
    let changes = match adjacency {
        A::Interaction => attacks::changes::<Interaction>(case, n, &mut rng),
        A::User => attacks::changes::<User>(case, n, &mut rng),
        A::Swap => attacks::changes::<Swap>(case, n, &mut rng),
        A::ReplaceUser => attacks::changes::<ReplaceUser>(case, n, &mut rng),
        A::Rating => attacks::changes::<Rating>(case, n, &mut rng),
        other => unreachable!("{other} has no bound in the nuclear norm"),
    };
    let range = Some(attacks::unit_ratings(n)).filter(|_| adjacency == A::Rating);
    let bound = NuclearSensitivity::of_quantity(quantity, (adjacency, rule), floor, cap, range);
    let bound = bound.expect("proved").bound();
    let found = changes.iter().map(|change| nuclear(change) / bound);
    found.fold(0.0, f64::max)
}

#[test]
fn no_bound_is_beaten_and_every_one_is_attained() {
    for case in CASES {
        let found = attack(case);
        assert!(found <= 1.0 + attacks::ROUNDING, "{case:?}: {found}");
        assert!(found >= 1.0 - 1e-9, "{case:?}: {found}");
    }
}

#[test]
fn every_registered_bound_is_attacked() {
    for line in PROVED {
        let asked = (line.adjacency, line.rule);
        let listed = CASES.iter().any(|case| (case.0, case.1) == asked);
        assert!(listed, "{asked:?}");
    }
}

/// The Frobenius bound of the same change is smaller, so that noise scaled by it would promise nothing.
#[test]
fn bounds_of_length_are_beaten_in_the_nuclear_norm() {
    for (adjacency, rule) in [
        (A::Interaction, Exact),
        (A::Swap, Exact),
        (A::ReplaceUser, UnitRow),
    ] {
        let asked = (adjacency, rule);
        let of = NuclearSensitivity::of_quantity(Quantity::IsometricTriangle, asked, 1, None, None);
        let length = super::super::Sensitivity::of_quantity(
            Quantity::IsometricTriangle,
            adjacency,
            rule,
            1,
            None,
            1,
        );
        let (nuclear, length) = (
            of.expect("proved").bound(),
            length.expect("proved").bound(1.0),
        );
        assert!(
            (nuclear / length - 2.0_f64.sqrt()).abs() < 1e-12,
            "{asked:?}"
        );
    }
}
