//! What a session promises and what it takes to keep that, planned from data alone.
//!
//! A [`Program`](crate::algorithm::Program) says what is released, a [`Promise`] what is promised of it to whom, a [`Network`] over which graphs it runs.
//! [`Plan::of`] is the only planner: it calibrates noise, divides the budget, compiles the averaging and certifies every coalition. It reads no row,
//! no file, no engine's name and no algorithm's name. Experiment files, rows in memory, session files and receipts are builders of
//! the same three values.
//!
//! The half of a plan that a receipt can check needs no communication graph: [`Guarantee::of`].

mod budget_share;
mod division;
mod error;
mod guarantee;
mod laplace;
mod memo;
mod network;
mod noise;
mod promise;
mod ring;
mod session;
mod wishart;

pub use budget_share::{BudgetShare, NotAShare};
pub use error::PlanError;
pub use guarantee::Guarantee;
pub use network::{Averaging, Network};
pub use noise::{Holders, Noise, SchemeNumbers};
pub use promise::{LossTolerance, Promise};
pub use session::Plan;
// For the other crates of Undertone.
#[doc(hidden)]
pub use {
    division::Division, guarantee::NoiseMemo, guarantee::multiplier, guarantee::search_epsilon,
    memo::Memo, network::graphs_digest, network::mixing_bounds,
};
