//! What peers say to each other.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::vocabulary::{ReleaseId, Round};

/// Names one session: a hash of everything the peers must agree on. Peers with different plans refuse
/// each other's messages instead of averaging by mistake.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionId(pub [u8; 16]);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({self})")
    }
}

/// One message to some or all neighbours. Everything in it is public by assumption: the privacy statement holds
/// against whoever sees every message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The session both ends believe to be in.
    pub session: SessionId,
    /// The release, from 1.
    pub release: ReleaseId,
    /// The round within the phase, from 0.
    pub round: Round,
    /// What is said.
    pub body: Body,
}

/// The kinds of content.
#[derive(Clone, PartialEq)]
pub enum Body {
    /// Max-consensus of a public number, such as the statistic that scales the noise.
    Scale(f64),
    /// The coordinates being averaged, as many as the plan's release has.
    Average(Arc<Vec<f64>>),
    /// The coordinates being averaged as integers mod 2^k, k from the plan, each below 2^k.
    Residues(Arc<Vec<u64>>),
    /// The own coordinates of all peers as far as they have come, peer after peer; −∞ for those that have not.
    Coordinates(Arc<Vec<f64>>),
}

/// What a peer puts into a sum, and what it holds while the sum is formed. Public by assumption, as messages are.
#[derive(Clone, PartialEq)]
pub enum Summand {
    /// Real numbers.
    Reals(Arc<Vec<f64>>),
    /// Integers mod 2^k, k from the plan, each below 2^k.
    Residues(Arc<Vec<u64>>),
}

impl Summand {
    /// How many values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Reals(values) => values.len(),
            Self::Residues(values) => values.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The real numbers, if it is of those.
    #[must_use]
    pub fn reals(&self) -> Option<&Arc<Vec<f64>>> {
        match self {
            Self::Reals(values) => Some(values),
            Self::Residues(_) => None,
        }
    }

    /// The residues, if it is of those.
    #[must_use]
    pub fn residues(&self) -> Option<&Arc<Vec<u64>>> {
        match self {
            Self::Reals(_) => None,
            Self::Residues(values) => Some(values),
        }
    }

    /// What a message of it holds.
    #[must_use]
    pub fn body(&self) -> Body {
        match self {
            Self::Reals(values) => Body::Average(Arc::clone(values)),
            Self::Residues(values) => Body::Residues(Arc::clone(values)),
        }
    }
}

impl fmt::Debug for Summand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reals(values) => write!(f, "Reals({} values)", values.len()),
            Self::Residues(values) => write!(f, "Residues({} values)", values.len()),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scale(value) => write!(f, "Scale({value})"),
            Self::Average(values) => write!(f, "Average({} values)", values.len()),
            Self::Residues(values) => write!(f, "Residues({} values)", values.len()),
            Self::Coordinates(values) => write!(f, "Coordinates({} values)", values.len()),
        }
    }
}
