//! Bounds on a single number, which are the same whichever way its change is measured.

use std::marker::PhantomData;

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::rule::{Public1, Rule1};
use crate::privacy::Adjacency;
use crate::vocabulary::Quantity;

/// The bound of `R` on one number.
///
/// # Proof
/// The absolute value of one number is its Euclidean norm. ∎
pub(super) struct Scalar<R>(PhantomData<R>);

impl<R: Rule> Scalar<R> {
    /// Only what is one number has the same bound.
    const ONE_NUMBER: () = assert!(matches!(R::QUANTITY, Quantity::RayleighQuotient));

    fn public(public: &Public1) -> Public {
        let () = Self::ONE_NUMBER;
        Public {
            degree_floor: public.degree_floor,
            degree_cap: public.degree_cap,
            rank: u32::try_from(public.columns).unwrap_or(u32::MAX),
            rating: None,
        }
    }
}

impl<R: Rule> Rule1 for Scalar<R> {
    const ADJACENCY: Adjacency = R::ADJACENCY;
    const RULE: SensitivityRule = R::RULE;
    const QUANTITY: Quantity = R::QUANTITY;
    const COVERS_CAP: bool = R::COVERS_CAP;

    fn statistic(public: &Public1) -> Statistic {
        R::statistic(&Self::public(public))
    }

    fn bound(public: &Public1, statistic: f64) -> f64 {
        R::bound(&Self::public(public), statistic)
    }
}
