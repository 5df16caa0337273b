//! The algorithm of `examples/own_algorithm.rs` with its rule, and a rule that does not bound what it releases.

use undertone::privacy::{Adjacency, Public, Rule, Statistic};
use undertone::vocabulary::Quantity;

#[expect(dead_code, reason = "the example has a main of its own")]
#[path = "../../examples/own_algorithm.rs"]
mod example;

pub(super) use example::{CountingPower, OnePerPerson};

/// The same about persons who are replaced: no bound for those who are there or not.
pub(super) struct OnePerReplaced;

impl Rule for OnePerReplaced {
    const ADJACENCY: Adjacency = Adjacency::ReplaceUser;
    const QUANTITY: Quantity = example::COUNT;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        1.0
    }
}
