//! Which messages of a session are lost: a function of its seed and of the message's place, and of nothing else.
//!
//! # What a lost message tells
//! Whether a message is lost depends on seed, release, round, sender and receiver. None of them depends on anybody's data, and what
//! peers publish is fixed before the first averaging message of a release is sent. So whatever is computed from published inputs and a
//! pattern of loss is post-processing of the published inputs: a run that loses messages protects what one without does.

use super::session::Session;
use crate::protocol::{Body, Message};
use crate::vocabulary::{Label, PeerIndex, ReleaseId, Round, Seed};

/// What happens to the messages of one session whose averaging is made for loss.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    seed: Seed,
    fraction: f64,
}

/// What happens to one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fate {
    /// How often it is sent.
    pub(super) attempts: u32,
    /// Whether the last attempt arrives.
    pub(super) arrives: bool,
}

impl Losses {
    /// The losses of a session; nothing where every message arrives.
    pub(super) fn of(session: &Session) -> Option<Self> {
        let loss = session.program().loss();
        (!loss.is_none()).then(|| Self {
            seed: session.seed().clone(),
            fraction: loss.fraction(),
        })
    }

    /// Whether the averaging message of this round is lost on its way.
    pub(super) fn average(
        &self,
        (release, round): (ReleaseId, Round),
        (from, to): (PeerIndex, PeerIndex),
    ) -> bool {
        self.uniform([release.0, round.0, 0, 0], (from, to)) < self.fraction
    }

    /// What happens to a message. One of averaging is sent once. Numbers to agree on and own coordinates are sent until they
    /// arrive: each attempt is lost with the same probability, so k attempts are all lost with its k-th power.
    pub(super) fn fate(&self, message: &Message, ends: (PeerIndex, PeerIndex)) -> Fate {
        let kind = match &message.body {
            Body::Average(_) | Body::Residues(_) => {
                let arrives = !self.average((message.release, message.round), ends);
                return Fate {
                    attempts: 1,
                    arrives,
                };
            }
            Body::Scale(_) => 1,
            Body::Coordinates(_) => 2,
        };
        let uniform = self.uniform([message.release.0, message.round.0, kind, 0], ends);
        // Above 0 and at most 1, so that the quotient is a number from 0 on.
        let failed = (1.0 - uniform).ln() / self.fraction.ln();
        Fate {
            attempts: 1 + failed.floor().min(1e9) as u32,
            arrives: true,
        }
    }

    fn uniform(&self, place: [u32; 4], (from, to): (PeerIndex, PeerIndex)) -> f64 {
        self.seed.key(Label::Loss, from.0, to.0).uniform(place)
    }
}
