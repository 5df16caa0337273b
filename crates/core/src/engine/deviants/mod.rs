//! A session with peers that deviate: what they spoil, and who is named.
//!
//! All peers are unchanged [`Peer`](crate::protocol::Peer)s. A deviant's messages are changed on their way out, and so is what it says when averaging is judged by
//! [`probe`](crate::protocol::probe). The outcome is a pure function of session and deviants: messages are delivered in the order in which they are sent.

mod network;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{EngineError, Session};
use crate::linalg::Block;
use crate::protocol::PeerError;
use crate::protocol::probe::{Unprobed, Verdict};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// What a deviant does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deviation {
    /// Sends one of its neighbours another block than the others.
    Equivocate,
    /// Sends what it sent the time before, and says that it held it.
    Stale,
    /// Sends its value with an error, and says that it held it.
    WrongStep,
    /// Averages as it should and says that it held something else.
    FalseAccount,
    /// Averages as it should and then says nothing.
    NoAccount,
    /// Averages as it should and shows a block that its first neighbour has not sent.
    Forgery,
    /// Averages as it should and does not show what it was sent by those who give no account.
    Silence,
}

impl Deviation {
    /// As files name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Equivocate => "equivocate",
            Self::Stale => "stale",
            Self::WrongStep => "wrong-step",
            Self::FalseAccount => "false-account",
            Self::NoAccount => "no-account",
            Self::Forgery => "forgery",
            Self::Silence => "silence",
        }
    }
}

/// A peer that deviates once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviant {
    /// Who.
    pub peer: PeerIndex,
    /// In the averaging of which release.
    pub release: ReleaseId,
    /// In which of the steps at which it sends, counted from 0; the last one where it has fewer.
    pub turn: usize,
    /// How.
    pub deviation: Deviation,
    /// The error that it puts into a block's coordinate, or a reading.
    pub error: f64,
}

/// What came of a run with deviants.
#[derive(Clone, Debug)]
pub struct DeviantOutcome {
    /// Who was named, release by release.
    pub verdicts: Vec<(ReleaseId, Verdict)>,
    /// Per release, every peer's estimate of the sum.
    pub sums: Vec<Vec<Arc<Block>>>,
    /// Bytes that accounts have on every link, over all releases.
    pub account_bytes: u64,
    /// Who could not go on with what it was sent, and why: an honest session ends there, and what comes after is not judged.
    pub stopped: BTreeMap<PeerIndex, PeerError>,
}

/// Why a run with deviants came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum DeviantError {
    /// Its averaging is not tested.
    #[error(transparent)]
    Unprobed(#[from] Unprobed),
    /// The session cannot run.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A peer cannot be built.
    #[error(transparent)]
    Peer(#[from] PeerError),
}

/// Runs a session in which these peers deviate, and judges the averaging of every release.
///
/// # Errors
/// [`DeviantError`].
pub fn run(session: &Session, deviants: &[Deviant]) -> Result<DeviantOutcome, DeviantError> {
    network::Network::new(session, deviants)?.run()
}
