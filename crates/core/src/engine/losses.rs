//! Which messages of a session are lost: a function of its seed and of the message's place, and of nothing else.
//!
//! # What a lost message tells
//! Whether a message is lost depends on seed, release, round, sender and receiver. None of them depends on anybody's data, and what
//! peers publish is fixed before the first averaging message of a release is sent. So whatever is computed from published inputs and a
//! pattern of loss is post-processing of the published inputs: a run that loses messages protects what one without does.

use super::outcome::Communication;
use super::session::Session;
use crate::protocol::averaging::{Phase, Traffic};
use crate::protocol::{Body, Message, Values, wire};
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
        let loss = session.schedule().loss();
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
        let place = (message.release, message.round);
        match Phase::of(&message.body) {
            Phase::Sums => Fate {
                attempts: 1,
                arrives: !self.average(place, ends),
            },
            phase => Fate {
                attempts: 1 + self.failures(phase, place, ends),
                arrives: true,
            },
        }
    }

    /// How often a message that is sent until it arrives is lost before it does.
    fn failures(
        &self,
        phase: Phase,
        (release, round): (ReleaseId, Round),
        ends: (PeerIndex, PeerIndex),
    ) -> u32 {
        let kind = match phase {
            Phase::Sums => return 0,
            Phase::Agreement => 1,
            Phase::Coordinates => 2,
        };
        let uniform = self.uniform([release.0, round.0, kind, 0], ends);
        // Above 0 and at most 1, so that the quotient is a number from 0 on.
        let failed = libm::log(1.0 - uniform) / libm::log(self.fraction);
        failed.floor().min(1e9) as u32
    }

    /// What a run of the first so many releases communicates that has lost so many averaging messages. What is sent until it arrives is
    /// counted as often as it is sent. With `agreed` there was one agreement more, after which the algorithm was done.
    pub(super) fn communication(
        &self,
        session: &Session,
        (releases, agreed): (usize, bool),
        mut lost: u64,
    ) -> Communication {
        let plan = session.plan();
        let (mut messages, mut sent) = session.public().sent(releases, agreed);
        let mut flooded = |release: ReleaseId, phase: Phase, bytes: usize| {
            for round in (0..plan.scale_rounds()).map(Round) {
                for (from, sent) in sent.iter_mut().enumerate() {
                    for &to in session.graph().neighbours(from) {
                        let ends = (PeerIndex::from_index(from), PeerIndex(to));
                        let again = u64::from(self.failures(phase, (release, round), ends));
                        sent.add(phase, again * bytes as u64);
                        messages += again;
                        lost += again;
                    }
                }
            }
        };
        let number = wire::framed_len(&Body::Scale(0.0), Values::F64);
        for (release, planned) in (1..)
            .map(ReleaseId)
            .zip(plan.releases().iter().take(releases))
        {
            if planned.agrees() {
                flooded(release, Phase::Agreement, number);
            }
            if planned.is_own() {
                let values = planned.values() * session.peers();
                let bytes = wire::framed_block_len(values, Values::F64);
                flooded(release, Phase::Coordinates, bytes);
            }
        }
        if agreed {
            flooded(ReleaseId(releases as u32 + 1), Phase::Agreement, number);
        }
        let rounds = session.public().communication(releases, agreed).rounds;
        let all = Traffic::counted(rounds.iter().sum(), messages, &sent);
        Communication {
            lost,
            ..Communication::of(all, rounds)
        }
    }

    fn uniform(&self, place: [u32; 4], (from, to): (PeerIndex, PeerIndex)) -> f64 {
        self.seed.key(Label::Loss, from.0, to.0).uniform(place)
    }
}
