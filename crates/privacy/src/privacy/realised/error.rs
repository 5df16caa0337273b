//! What cannot have happened in a session.

use crate::privacy::PrivacyError;
use crate::topology::GraphError;
use crate::vocabulary::ReleaseId;

/// Why an account of what happened is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RealisedError {
    /// A standard deviation that no noise has, or that hides nothing.
    #[error("the {of} noise has the standard deviation {found}; expected {expected}")]
    Sigma {
        /// Own or pairwise.
        of: &'static str,
        /// What was given.
        found: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// Members without scales, scales without members, or nobody.
    #[error(
        "an attempt of {members} members has {scales} scales; give at least one member, and a scale for each"
    )]
    Scales {
        /// How many members.
        members: usize,
        /// How many scales.
        scales: usize,
    },
    /// A scale by which noise cannot be multiplied.
    #[error(
        "peer index {peer} scaled its noise by {found}; a scale is a finite number above 0, not smaller than 1e-150 times the sensitivity"
    )]
    Scale {
        /// Who.
        peer: u32,
        /// What was given.
        found: f64,
    },
    /// A sensitivity that nothing has.
    #[error("a release has the sensitivity {found}; expected a finite number of at least 0")]
    Sensitivity {
        /// What was given.
        found: f64,
    },
    /// A peer where it cannot be.
    #[error("peer index {peer} of the list `{of}` {problem}")]
    Peer {
        /// Which list.
        of: &'static str,
        /// Who.
        peer: u32,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A pairwise term that nobody added.
    #[error(
        "peers {u} and {v} shared no noise in this attempt, so nothing of it can have been revealed"
    )]
    NoTerm {
        /// Lower end.
        u: u32,
        /// Upper end.
        v: u32,
    },
    /// An attempt that is recorded already.
    #[error(
        "{release}, retry {retry}, view {view} is recorded already: attempts have noise of their own, and two of one address would share it"
    )]
    Twice {
        /// Of which release.
        release: ReleaseId,
        /// Its retry counter.
        retry: u32,
        /// Its view.
        view: u64,
    },
    /// A view that had other members in another attempt.
    #[error("view {view} had other members in another attempt: one of the two records is wrong")]
    View {
        /// Which.
        view: u64,
    },
    /// Fewer members than the plan tolerates.
    #[error("view {view} had {members} members and the plan covers no fewer than {floor}")]
    Floor {
        /// Which.
        view: u64,
        /// How many.
        members: usize,
        /// The least number.
        floor: usize,
    },
    /// Pairwise terms that became known: no plan covers that.
    #[error(
        "pairwise terms of {release} in view {view} became known, which no plan covers: ask for the exact loss"
    )]
    Revealed {
        /// Of which release.
        release: ReleaseId,
        /// In which view.
        view: u64,
    },
    /// A coalition that cannot be, or a loss that cannot be computed.
    #[error(transparent)]
    Accounting(#[from] PrivacyError),
    /// Edges that are no graph; never of a graph that was one.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl RealisedError {
    pub(super) fn coalition(peer: u32, is_there: bool, peers: usize) -> Self {
        let problem = match is_there {
            true => "twice",
            false => "which does not exist",
        };
        Self::Accounting(PrivacyError::Coalition {
            peer,
            problem,
            peers,
        })
    }
}
