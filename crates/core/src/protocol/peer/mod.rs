//! One peer as a state machine: messages and timers in; messages, timers, events and faults out.

mod adding;
mod error;
mod later;
mod passing;
mod phase;
mod setup;
mod steps;

use std::fmt;
use std::sync::Arc;

pub use error::PeerError;
pub use setup::{Input, PeerSetup};

use super::averaging::Part;
use super::fault::{Fault, FaultKind};
use super::finite::first_beyond;
use super::inbox::Inbox;
use super::kernel::check_start;
use super::lane::{Lane, Lanes};
use super::message::{Body, Message, Summand};
use super::outbox::Outbox;
use super::plan::PlannedRelease;
use super::values::Values;
use crate::algorithm::PublicState;
use crate::vocabulary::{PeerIndex, ReleaseId, Round, Time};
use phase::Phase;

/// A peer of the protocol.
///
/// # Contract
/// Call [`handle`](Self::handle) with `Input::Start` once and then with every message and due timer.
/// Outputs appear in the outbox before the call returns; nothing needs polling. Time must not go back.
/// Identical inputs per neighbour give identical outputs whatever their interleaving.
///
/// # Panics
/// Never, on any message. A message that breaks a rule becomes a [`Fault`] and is ignored.
pub struct Peer {
    setup: PeerSetup,
    state: PublicState,
    phase: Phase,
    inbox: Inbox,
    lanes: Lanes,
    /// Messages of one step, while they are combined.
    taken: Vec<Body>,
    /// Position of the exchange this peer is in, counted over the session.
    step: u64,
    started: bool,
    /// What it averages in its first release, if that was published before.
    given: Option<Arc<Vec<f64>>>,
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Peer({}, {}, step {})",
            self.setup.index,
            self.release(),
            self.step
        )
    }
}

impl Peer {
    /// A peer ready to start.
    ///
    /// # Errors
    /// [`PeerError`] if shapes, neighbours or noise do not fit the plan.
    pub fn new(setup: PeerSetup) -> Result<Self, PeerError> {
        let parameters = setup.plan.parameters();
        let check = |what, found, expected| {
            if found == expected {
                Ok(())
            } else {
                Err(PeerError::Shape {
                    what,
                    found,
                    expected,
                })
            }
        };
        check(
            "width of the private rows",
            setup.rows.rows().dimension(),
            parameters.program.items,
        )?;
        let (peer, release) = (setup.index, ReleaseId(1));
        if setup.plan.program().search.is_some() {
            return Err(PeerError::CuratorOnly { peer });
        }
        check_start(&setup.plan, &setup.start).map_err(|source| PeerError::Query {
            peer,
            release,
            source,
        })?;
        let partners = &setup.noise_partners;
        let known = |v: &PeerIndex| *v != peer && v.0 < parameters.peers;
        if !partners.is_sorted_by(|a, b| a < b) || !partners.iter().all(known) {
            return Err(PeerError::NoisePartners { peer });
        }
        let sigmas = setup.plan.sigmas();
        let laws = setup.plan.ring_laws().map(|laws| &**laws);
        if !setup.noise.is_planned(peer, partners, sigmas) || !setup.noise.is_in_ring(laws) {
            let (own, pairwise) = (sigmas.own, sigmas.pairwise);
            return Err(PeerError::Noise {
                peer,
                own,
                pairwise,
                partners: partners.len(),
            });
        }
        let ascending = setup.neighbours.is_sorted_by(|a, b| a < b);
        if !ascending || setup.neighbours.contains(&setup.index) {
            return Err(PeerError::Neighbours { peer: setup.index });
        }
        let schedule = &setup.schedule;
        if schedule.digest() != parameters.schedule || schedule.degree() != setup.neighbours.len() {
            return Err(PeerError::Schedule { peer });
        }
        if laws.is_some() && !schedule.only_adds() {
            return Err(PeerError::Inexact { peer });
        }
        let lanes = match schedule.part() {
            Part::Recurrence { .. } => Lanes::Same,
            Part::Listed { .. } | Part::Passing(_) => Lanes::Each(
                (0..setup.neighbours.len())
                    .map(|position| (Lane::of(&setup.plan, schedule, position), 0))
                    .collect(),
            ),
        };
        Ok(Self {
            state: PublicState::new(Arc::clone(&setup.start)),
            phase: Phase::Waiting,
            inbox: Inbox::new(setup.neighbours.len()),
            lanes,
            taken: Vec::new(),
            step: 0,
            started: false,
            given: None,
            setup,
        })
    }

    /// The exchange this peer is in, counted over the session. Whatever came for an earlier one has been
    /// dropped; a message for a later one need not be fetched yet.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Whether the present step waits for a message of this neighbour, or the peer has not started.
    #[must_use]
    pub fn waits_for(&self, neighbour: PeerIndex) -> bool {
        if self.is_finished() {
            return false;
        }
        let Ok(position) = self.setup.neighbours.binary_search(&neighbour) else {
            return false;
        };
        let mut expected = self.expected().into_iter();
        let due = expected.find(|(at, _)| *at == position);
        !self.started || due.is_some_and(|(_, number)| !self.inbox.holds(position, number))
    }

    /// Whether all releases are done.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Finished)
    }

    /// The whole interface: one input, all outputs in `outbox`.
    ///
    /// # Errors
    /// [`PeerError`] if the driver broke the contract or the computation cannot go on; the peer must then
    /// be dropped.
    pub fn handle(
        &mut self,
        input: Input,
        now: Time,
        outbox: &mut impl Outbox,
    ) -> Result<(), PeerError> {
        match input {
            Input::Start => {
                if self.started {
                    return Err(PeerError::StartedTwice {
                        peer: self.setup.index,
                    });
                }
                self.started = true;
                self.go_on(now, outbox)?;
            }
            Input::Message { from, message } => {
                if let Err(kind) = self.accept(from, message) {
                    outbox.fault(Fault {
                        culprit: from,
                        kind,
                    });
                    return Ok(());
                }
            }
            Input::Lost {
                from,
                release,
                round,
            } => self.lose(from, (release, round))?,
            Input::Timer(timer) => {
                if timer.step == self.step && self.started && !self.is_finished() {
                    for (position, number) in self.expected() {
                        if !self.inbox.holds(position, number) {
                            outbox.fault(Fault {
                                culprit: self.setup.neighbours[position],
                                kind: FaultKind::Silent { step: self.step },
                            });
                        }
                    }
                }
                return Ok(());
            }
        }
        self.finish_steps(now, outbox)
    }

    /// Messages that a driver kept until it had several: the same as handling one after the other, with nothing stored
    /// and no count of owners touched where they are what the peer waits for, one of each neighbour in
    /// ascending order.
    ///
    /// # Errors
    /// As [`handle`](Self::handle).
    pub fn handle_messages<'m>(
        &mut self,
        messages: impl Iterator<Item = (PeerIndex, &'m Message)> + Clone,
        now: Time,
        outbox: &mut impl Outbox,
    ) -> Result<(), PeerError> {
        if self.is_whole_step(&messages) {
            // Where all neighbours are heard in every exchange, messages are numbered by it: nothing is left to count.
            self.finish_step(messages.map(|(_, message)| &message.body), now, outbox)?;
            return self.finish_steps(now, outbox);
        }
        messages
            .map(|(from, message)| (from, message.clone()))
            .try_for_each(|(from, message)| {
                self.handle(Input::Message { from, message }, now, outbox)
            })
    }

    /// Whether these are faultless messages of the step this peer is in, from all its neighbours in order.
    fn is_whole_step<'m>(
        &self,
        messages: &(impl Iterator<Item = (PeerIndex, &'m Message)> + Clone),
    ) -> bool {
        let neighbours = &self.setup.neighbours;
        let senders = messages.clone().map(|(from, _)| from);
        // Headers of all first, values of all then: what misses the caches is under way together.
        self.started
            && !self.is_finished()
            && !neighbours.is_empty()
            && matches!(self.lanes, Lanes::Same)
            && self.inbox.missing() == neighbours.len()
            && senders.eq(neighbours.iter().copied())
            && messages
                .clone()
                .all(|(_, message)| self.check_header(message) == Ok(self.step))
            && messages
                .clone()
                .enumerate()
                .all(|(at, (_, message))| self.check_values(at, message).is_ok())
    }

    /// Checks a message and puts it into its slot.
    fn accept(&mut self, from: PeerIndex, message: Message) -> Result<(), FaultKind> {
        let position = self
            .setup
            .neighbours
            .binary_search(&from)
            .map_err(|_| FaultKind::UnknownSender)?;
        let step = self.check_header(&message)?;
        self.check_values(position, &message)?;
        let Message {
            release,
            round,
            body,
            ..
        } = message;
        let (number, due, expected) = match &self.lanes {
            Lanes::Same => (step, self.step, self.step),
            Lanes::Each(lanes) => {
                let (lane, due) = &lanes[position];
                let number = lane
                    .number(release, round, &body)
                    .ok_or(FaultKind::Unexpected { release, round })?;
                if number < *due && matches!(self.setup.schedule.part(), Part::Passing(_)) {
                    // It was given up: what it told has come, or will come, with a later one.
                    return Ok(());
                }
                (number, *due, lane.step(*due).unwrap_or(self.step))
            }
        };
        if self.is_finished() {
            let found = step;
            return Err(FaultKind::OutOfStep { expected, found });
        }
        let now = self.started && step == self.step;
        self.inbox
            .store((position, number, due), (step, now), expected, body)
    }

    /// The step of a message of this session and shape.
    fn check_header(&self, message: &Message) -> Result<u64, FaultKind> {
        let plan = &self.setup.plan;
        let (expected, found) = (plan.session(), message.session);
        if found != expected {
            return Err(FaultKind::WrongSession { expected, found });
        }
        let (release, round) = (message.release, message.round);
        let missing = FaultKind::NoSuchStep { release, round };
        let planned = plan.release(release).ok_or(missing.clone())?;
        check_kind(&message.body, plan.values())?;
        let step = plan.step(release, round, &message.body).ok_or(missing)?;
        let peers = plan.parameters().peers as usize;
        let (expected, found) = match &message.body {
            Body::Scale(value) => {
                return check_agreed(planned, *value).map(|()| step);
            }
            Body::Average(values) => {
                let extra = self.setup.schedule.extra_values();
                (planned.values() + extra, values.len())
            }
            Body::Residues(values) => (planned.values(), values.len()),
            Body::Coordinates(values) => (planned.values() * peers, values.len()),
        };
        if found != expected {
            return Err(FaultKind::WrongShape { expected, found });
        }
        Ok(step)
    }

    /// Refuses what no honest peer publishes in a release.
    pub(in crate::protocol) fn check_published(
        &self,
        release: ReleaseId,
        input: &Summand,
    ) -> Result<(), FaultKind> {
        let (plan, body, round) = (&self.setup.plan, input.body(), Round(0));
        let missing = FaultKind::NoSuchStep { release, round };
        let expected = plan.release(release).ok_or(missing)?.values();
        check_kind(&body, plan.values())?;
        let found = input.len();
        if found != expected {
            return Err(FaultKind::WrongShape { expected, found });
        }
        check_body(&body, plan.values(), plan.largest_published(release))
    }

    /// Refuses values that no honest peer sends: see [`SessionPlan::largest_sent`](crate::protocol::SessionPlan::largest_sent).
    fn check_values(&self, position: usize, message: &Message) -> Result<(), FaultKind> {
        let (plan, release) = (&self.setup.plan, message.release);
        let limit = match &message.body {
            Body::Average(_) => {
                let turn = self.setup.schedule.turn(plan.sums_before(release));
                plan.largest_sent(release, turn.growth(position, message.round.0))
            }
            Body::Scale(_) | Body::Residues(_) | Body::Coordinates(_) => {
                plan.largest_published(release)
            }
        };
        check_body(&message.body, plan.values(), limit)
    }
}

/// Refuses values that are not what the plan exchanges, or exceed `limit`.
fn check_body(body: &Body, values: Values, limit: f64) -> Result<(), FaultKind> {
    let (reals, beyond, out_of_range): (&[f64], _, _) = match body {
        Body::Scale(_) => (&[], None, None),
        Body::Average(block) => (
            block,
            first_beyond(block, limit),
            values.first_changed(block),
        ),
        Body::Residues(block) => (&[], None, values.first_unreduced(block)),
        Body::Coordinates(block) => {
            // What has not come yet is −∞.
            let within = |v: &f64| v.abs() <= limit || *v == f64::NEG_INFINITY;
            (block, block.iter().position(|v| !within(v)), None)
        }
    };
    if let Some(coordinate) = beyond {
        return Err(match reals[coordinate].is_finite() {
            true => FaultKind::TooLarge { coordinate },
            false => FaultKind::NotFinite { coordinate },
        });
    }
    out_of_range.map_or(Ok(()), |coordinate| {
        let values = values.name();
        Err(FaultKind::OutOfRange { coordinate, values })
    })
}

/// Refuses a sum of integers where the plan exchanges real numbers, and the other way round.
fn check_kind(body: &Body, values: Values) -> Result<(), FaultKind> {
    let found = match body {
        Body::Average(_) if values.is_residues() => "real numbers",
        Body::Residues(_) if !values.is_residues() => "integers",
        _ => return Ok(()),
    };
    let expected = values.name();
    Err(FaultKind::OtherValues { expected, found })
}

/// Refuses a number to agree on that no honest peer proposes.
fn check_agreed(planned: &PlannedRelease, value: f64) -> Result<(), FaultKind> {
    // Rounding may push the norm of a unit row a little above 1, never further.
    let valid = match planned.spec().agreement {
        Some(number) => number.admits(value),
        None => (0.0..=1.0 + 1e-9).contains(&value),
    };
    if valid {
        Ok(())
    } else {
        Err(FaultKind::ScaleOutOfRange { value })
    }
}
