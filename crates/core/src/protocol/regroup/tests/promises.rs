//! What must hold in every schedule, and what came of one.

use std::collections::{BTreeMap, BTreeSet};

/// A promise that a schedule broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Broken {
    /// Somebody opened more attempts at one release than were paid for.
    One,
    /// Somebody opened what not all had sealed.
    All,
    /// Somebody opened where not all held what their neighbours sealed.
    Held,
    /// Finished members differ in who took part.
    Same,
    /// Members go on from sums of one attempt that were averaged in different views, whose last bits differ.
    Bits,
    /// Somebody neither ends nor goes on.
    Live,
    /// Somebody heard of the end before it had all sums.
    Early,
    /// A step of a view came to somebody who had not decided it.
    Order,
    /// Fewer take part than the noise is planned for.
    Few,
    /// Contributions to one attempt were made twice.
    Fresh,
    /// Somebody honest is proved to deviate.
    Blame,
    /// Somebody honest published two attempts of one try in the open.
    Twice,
    /// More than the retries, or none where somebody's contribution had left in the open.
    Charged,
}

/// What happened in a schedule.
#[derive(Clone, Debug, Default)]
pub(super) struct Story {
    pub(super) broken: BTreeSet<Broken>,
    pub(super) crashes: u64,
    pub(super) restarts: u64,
    pub(super) suspicions: u64,
    pub(super) views: u64,
    pub(super) attempts_again: u64,
    pub(super) averagings_again: u64,
    pub(super) ends: BTreeMap<&'static str, u64>,
    /// Who is proved to deviate, rightly.
    pub(super) proofs: u64,
    /// Statements that were refused.
    pub(super) refused: u64,
}
