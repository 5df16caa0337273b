//! The recommender a basis serves: low-pass filtered scores, rankings, and how good they are.
//!
//! # What is private, and what is not
//!
//! The basis U is the output of a differentially private mechanism. A user's scores are a function of U, of
//! the public item degrees and of the user's **own** row, computed on the user's own device: nothing
//! leaves it, so nobody else's view changes. Everything *others* see of a user is protected as the basis is.
//! This is joint differential privacy by the billboard argument (J. Hsu, Z. Huang, A. Roth, T. Roughgarden
//! & Z. S. Wu, Private Matchings and Allocations, STOC 2014): a public, private output, which each user
//! combines with the user's own data.
//!
//! - **Item degrees are treated as public. They are not protected:** one interaction more changes one of
//!   them by 1, in the clear. Where they must not be public, a private count of them needs its own budget.
//! - **The linear filter of GF-CF** adds r R̃ᵀR̃ to the scores, and R̃ᵀR̃ holds who liked what together with what: it is
//!   everybody's raw data and no function of a basis. It is offered where a Gram matrix was released under noise ([`gram`]),
//!   and computed from that.
//! - **Measured quality is not private.** Recall and NDCG are computed from everybody's held-out items, for
//!   the researcher.

// For runs, and for tests of their recommender.
#[doc(hidden)]
pub mod gram;
mod low_pass;
mod ranking;
mod scoring;
mod split;

pub use ranking::{Ranked, top_items};
pub use scoring::{LowPassScorer, Scorer, ScoringError};

// For integration tests.
#[doc(hidden)]
pub use self::{
    low_pass::{FilterForm, LowPassFilter},
    ranking::{RankingQuality, RankingTotals, evaluate},
    scoring::Popularity,
    split::{SplitError, TestSet, hold_out, match_test},
};

pub(crate) use split::SplitCounts;
