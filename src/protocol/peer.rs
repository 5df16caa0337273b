//! One peer as a state machine: messages and timers in; messages, timers, events and faults out.

use std::fmt;
use std::sync::Arc;

use super::averaging::{Part, PeerProgram, fold, mix};
use super::fault::{Fault, FaultKind};
use super::finite::first_not_finite;
use super::inbox::Inbox;
use super::lane::{Lane, Lanes};
use super::message::{Body, Message};
use super::outbox::{Event, Outbox, Targets, Timer};
use super::plan::Plan;
use super::query::{QueryError, check_query, check_start};
use crate::algorithm::{self, Algorithm, PublicState};
use crate::linalg::{Block, NotFullRank, SparseRows};
use crate::noise::PeerNoise;
use crate::vocabulary::{Iteration, PeerIndex, Round, Span, Time};

/// Everything one peer starts from. `rows` and `noise` are its secrets.
pub struct PeerSetup {
    /// This peer.
    pub index: PeerIndex,
    /// What all peers agreed on.
    pub plan: Arc<Plan>,
    /// Neighbours in the communication graph, in ascending order.
    pub neighbours: Vec<PeerIndex>,
    /// This peer's part of the plan's averaging program.
    pub program: PeerProgram,
    /// The private rows.
    pub rows: SparseRows,
    /// The peer's noise terms.
    pub noise: PeerNoise,
    /// Its neighbours in the noise graph, ascending: with each it shares one term unless σ_pair is 0.
    pub noise_partners: Vec<PeerIndex>,
    /// The public starting block X⁰, whose hash is in the plan.
    pub start: Arc<Block>,
    /// How long a step may wait before its silent neighbours are reported; `None` waits for ever.
    pub patience: Option<Span>,
}

/// What a driver feeds a peer.
#[derive(Clone, Debug)]
pub enum Input {
    /// Begin; exactly once, before anything else is answered. Messages may arrive earlier.
    Start,
    /// A message, with its sender as authenticated by the transport.
    Message {
        /// The sender.
        from: PeerIndex,
        /// What it said.
        message: Message,
    },
    /// A timer set through the outbox has come due.
    Timer(Timer),
}

/// The peer was set up or driven wrongly, or cannot go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PeerError {
    /// Shapes of plan, rows and start block disagree.
    #[error("the {what} has {found} entries, the plan needs {expected}")]
    Shape {
        /// Which part.
        what: &'static str,
        /// Size found.
        found: usize,
        /// Size the plan needs.
        expected: usize,
    },
    /// Noise that is not the plan's: a peer must not publish with less.
    #[error(
        "the noise of {peer} is not what the plan calls for: one own term of scale {own}, and with each of its \
         {partners} partners in the noise graph one term of scale {pairwise}, positive towards higher peers, in ascending order"
    )]
    Noise {
        /// The peer.
        peer: PeerIndex,
        /// σ_η of the plan.
        own: f64,
        /// σ_Δ of the plan.
        pairwise: f64,
        /// Partners in the noise graph.
        partners: usize,
    },
    /// Noise partners that are not in strictly ascending order, are not peers of the plan, or include the peer itself.
    #[error(
        "the noise partners of {peer} must ascend strictly, be peers of the plan and not include it"
    )]
    NoisePartners {
        /// The peer.
        peer: PeerIndex,
    },
    /// A public query that the sensitivity does not bound.
    #[error("{peer} does not contribute in {iteration}: {source}")]
    Query {
        /// The peer.
        peer: PeerIndex,
        /// The iteration.
        iteration: Iteration,
        /// Why.
        source: QueryError,
    },
    /// Neighbours that are not in strictly ascending order, or include the peer itself.
    #[error("the neighbours of {peer} must ascend strictly and not include it")]
    Neighbours {
        /// The peer.
        peer: PeerIndex,
    },
    /// An averaging program that is not the plan's, or was made for another peer.
    #[error(
        "the averaging program of {peer} is not the one the plan names: compile it from the session's own topology"
    )]
    Program {
        /// The peer.
        peer: PeerIndex,
    },
    /// `Start` came twice.
    #[error("{peer} was started twice")]
    StartedTwice {
        /// The peer.
        peer: PeerIndex,
    },
    /// The noisy sum has no unique basis.
    #[error("{peer} cannot advance {iteration}: {source}")]
    NotFullRank {
        /// The peer.
        peer: PeerIndex,
        /// The iteration.
        iteration: Iteration,
        /// Why.
        source: NotFullRank,
    },
    /// An average or the sum is not finite, although every message was.
    #[error("the values of {iteration} overflowed at {peer}")]
    Overflow {
        /// The peer.
        peer: PeerIndex,
        /// The iteration.
        iteration: Iteration,
    },
}

enum Phase {
    Waiting,
    Scale {
        round: u32,
        value: f64,
    },
    Average {
        /// Position in the peer's list of steps; the round, in a recurrence.
        at: usize,
        statistic: f64,
        sensitivity: f64,
        current: Arc<Vec<f64>>,
        previous: Arc<Vec<f64>>,
    },
    Finished,
}

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
    algorithm: Box<dyn Algorithm>,
    state: PublicState,
    iteration: Iteration,
    phase: Phase,
    inbox: Inbox,
    lanes: Lanes,
    /// Messages of one step, while they are combined.
    taken: Vec<Body>,
    /// Position of the exchange this peer is in, counted over the session.
    step: u64,
    started: bool,
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Peer({}, {}, step {})",
            self.setup.index, self.iteration, self.step
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
            setup.rows.dimension(),
            parameters.dimension,
        )?;
        let algorithm = setup.plan.algorithm();
        let (peer, iteration) = (setup.index, Iteration(1));
        check_start(&setup.plan, &setup.start).map_err(|source| PeerError::Query {
            peer,
            iteration,
            source,
        })?;
        let partners = &setup.noise_partners;
        let known = |v: &PeerIndex| *v != peer && v.0 < parameters.peers;
        if !partners.is_sorted_by(|a, b| a < b) || !partners.iter().all(known) {
            return Err(PeerError::NoisePartners { peer });
        }
        let (own, pairwise) = (parameters.sigma_own, parameters.sigma_pairwise);
        if !setup.noise.is_planned(peer, partners, (own, pairwise)) {
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
        let program = &setup.program;
        if program.digest() != parameters.program || program.degree() != setup.neighbours.len() {
            return Err(PeerError::Program { peer });
        }
        let lanes = match program.part() {
            Part::Recurrence { .. } => Lanes::Same,
            Part::Listed { .. } => Lanes::Each(
                (0..setup.neighbours.len())
                    .map(|position| (Lane::of(&setup.plan, program, position), 0))
                    .collect(),
            ),
        };
        Ok(Self {
            algorithm,
            state: PublicState::new(Arc::clone(&setup.start)),
            iteration,
            phase: Phase::Waiting,
            inbox: Inbox::new(setup.neighbours.len()),
            lanes,
            taken: Vec::new(),
            step: 0,
            started: false,
            setup,
        })
    }

    /// The peer's number.
    #[must_use]
    pub fn index(&self) -> PeerIndex {
        self.setup.index
    }

    /// The exchange this peer is in, counted over the session. Whatever came for an earlier one has been
    /// dropped; a message for a later one need not be fetched yet.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Whether all iterations are done.
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
                self.begin_iteration(now, outbox)?;
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
                .all(|(_, message)| check_values(&message.body).is_ok())
    }

    /// Checks a message and puts it into its slot.
    fn accept(&mut self, from: PeerIndex, message: Message) -> Result<(), FaultKind> {
        let position = self
            .setup
            .neighbours
            .binary_search(&from)
            .map_err(|_| FaultKind::UnknownSender)?;
        let step = self.check_header(&message)?;
        check_values(&message.body)?;
        let Message {
            iteration,
            round,
            body,
            ..
        } = message;
        let (number, due, expected) = match &self.lanes {
            Lanes::Same => (step, self.step, self.step),
            Lanes::Each(lanes) => {
                let (lane, due) = &lanes[position];
                let number = lane
                    .number(iteration, round, &body)
                    .ok_or(FaultKind::Unexpected { iteration, round })?;
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
        let (iteration, round) = (message.iteration, message.round);
        let step = plan
            .step(iteration, round, &message.body)
            .ok_or(FaultKind::NoSuchStep { iteration, round })?;
        if let Body::Average(values) = &message.body {
            let (expected, found) = (plan.values(), values.len());
            if found != expected {
                return Err(FaultKind::WrongShape { expected, found });
            }
        }
        Ok(step)
    }

    fn begin_iteration(&mut self, now: Time, outbox: &mut impl Outbox) -> Result<(), PeerError> {
        let parameters = self.setup.plan.parameters();
        let statistic = parameters.sensitivity.statistic().of(&self.state.query);
        self.step = self.setup.plan.first_step(self.iteration);
        if parameters.scale_rounds == 0 {
            self.begin_averaging(statistic, now, outbox)
        } else {
            self.phase = Phase::Scale {
                round: 0,
                value: statistic,
            };
            self.say(Targets::All, Round(0), Body::Scale(statistic), outbox);
            self.wait(1, now, outbox);
            Ok(())
        }
    }

    /// Contributes to the sum: local product, own noise, pairwise noise; then publishes it.
    fn begin_averaging(
        &mut self,
        statistic: f64,
        now: Time,
        outbox: &mut impl Outbox,
    ) -> Result<(), PeerError> {
        let sensitivity = self.setup.plan.parameters().sensitivity.bound(statistic);
        let query = self.state.query.values();
        let contribution =
            algorithm::contribution(self.algorithm.as_ref(), &self.setup.rows, query);
        let mut input = contribution.into_values();
        let scale = self.setup.plan.noise_scale(self.iteration, sensitivity);
        self.setup.noise.add_to(self.iteration, scale, &mut input);
        if first_not_finite(&input).is_some() {
            let (peer, iteration) = (self.setup.index, self.iteration);
            return Err(PeerError::Overflow { peer, iteration });
        }
        let current = Arc::new(input);
        let previous = Arc::clone(&current);
        outbox.emit(Event::Published {
            iteration: self.iteration,
            input: Arc::clone(&current),
        });
        self.phase = Phase::Average {
            at: 0,
            statistic,
            sensitivity,
            current,
            previous,
        };
        self.enter_average(now, outbox);
        Ok(())
    }

    /// The round of the averaging step at position `at` of this peer's list, if there is one.
    fn round_of(&self, at: usize) -> Option<u32> {
        match self.setup.program.part() {
            Part::Recurrence { coefficients, .. } => (at < coefficients.len()).then_some(at as u32),
            Part::Listed { steps, .. } => Some(steps.get(at)?.round),
        }
    }

    /// Begins the averaging step the phase names: sends what it sends, and waits.
    fn enter_average(&mut self, now: Time, outbox: &mut impl Outbox) {
        let Phase::Average { at, current, .. } = &self.phase else {
            return;
        };
        let (at, body) = (*at, Body::Average(Arc::clone(current)));
        let Some(round) = self.round_of(at) else {
            return;
        };
        let targets = match self.setup.program.part() {
            Part::Recurrence { .. } => Some(Targets::All),
            Part::Listed { steps, .. } => {
                let send_to = &steps[at].send_to;
                (!send_to.is_empty()).then(|| Targets::Positions(Arc::clone(send_to)))
            }
        };
        let scale_rounds = self.setup.plan.parameters().scale_rounds;
        let first = self.setup.plan.first_step(self.iteration);
        self.step = first + u64::from(scale_rounds) + u64::from(round);
        if let Some(targets) = targets {
            self.say(targets, Round(round), body, outbox);
        }
        // Whoever is waited for may itself wait for others in every round since this peer last heard from somebody. A step
        // that only sends is no clock: it is done at once, whatever its round.
        let heard = match self.setup.program.part() {
            Part::Recurrence { .. } => at.checked_sub(1),
            Part::Listed { steps, .. } => {
                steps[..at].iter().rposition(|step| !step.expect.is_empty())
            }
        };
        let heard = heard.and_then(|before| self.round_of(before));
        let rounds = heard.map_or(round + 1, |heard| round - heard);
        self.wait(rounds, now, outbox);
    }

    /// What the present step waits for, as positions and numbers of messages.
    fn expected(&self) -> Vec<(usize, u64)> {
        let listed = match (&self.phase, self.setup.program.part()) {
            (Phase::Average { at, .. }, Part::Listed { steps, .. }) => steps.get(*at),
            _ => None,
        };
        let due = |position: usize| match &self.lanes {
            Lanes::Same => (position, self.step),
            Lanes::Each(lanes) => (position, lanes[position].1),
        };
        match listed {
            Some(step) => {
                let positions = step.expect.iter().map(|e| e.position as usize);
                positions.map(due).collect()
            }
            None => (0..self.setup.neighbours.len()).map(due).collect(),
        }
    }

    /// Begins to wait for the present step's messages, for at most `rounds` times the patience.
    fn wait(&mut self, rounds: u32, now: Time, outbox: &mut impl Outbox) {
        match &self.lanes {
            Lanes::Same => {
                let (count, step) = (self.setup.neighbours.len(), self.step);
                self.inbox
                    .expect(count, (0..count).map(|position| (position, step)));
            }
            Lanes::Each(_) => {
                let expected = self.expected();
                self.inbox.expect(expected.len(), expected.into_iter());
                if self.inbox.missing() == 0 {
                    return;
                }
            }
        }
        if let Some(patience) = self.setup.patience {
            let patience = Span(patience.0.saturating_mul(u64::from(rounds)));
            outbox.set_timer(Timer { step: self.step }, now + patience);
        }
    }

    /// Goes on as far as the messages that are here allow.
    fn finish_steps(&mut self, now: Time, outbox: &mut impl Outbox) -> Result<(), PeerError> {
        while self.started && !self.is_finished() && self.inbox.missing() == 0 {
            let mut taken = std::mem::take(&mut self.taken);
            for (position, number) in self.expected() {
                taken.extend(self.inbox.take(position, number));
                if let Lanes::Each(lanes) = &mut self.lanes {
                    lanes[position].1 += 1;
                }
            }
            self.finish_step(taken.iter(), now, outbox)?;
            taken.clear();
            self.taken = taken;
        }
        Ok(())
    }

    /// Folds the complete step, whose messages are given in neighbour order, and moves to the next one.
    fn finish_step<'m>(
        &mut self,
        bodies: impl Iterator<Item = &'m Body>,
        now: Time,
        outbox: &mut impl Outbox,
    ) -> Result<(), PeerError> {
        match std::mem::replace(&mut self.phase, Phase::Waiting) {
            Phase::Scale { round, value } => {
                let value = bodies
                    .map(|body| match body {
                        Body::Scale(other) => *other,
                        Body::Average(_) => {
                            unreachable!("the plan maps this step to scale messages")
                        }
                    })
                    .fold(value, f64::max);
                self.step += 1;
                if round + 1 < self.setup.plan.parameters().scale_rounds {
                    self.phase = Phase::Scale {
                        round: round + 1,
                        value,
                    };
                    self.say(Targets::All, Round(round + 1), Body::Scale(value), outbox);
                    self.wait(1, now, outbox);
                    Ok(())
                } else {
                    self.begin_averaging(value, now, outbox)
                }
            }
            Phase::Average {
                at,
                statistic,
                sensitivity,
                current,
                previous,
            } => {
                let next = self.combined(at, bodies, &current, &previous);
                if first_not_finite(&next).is_some() {
                    let (peer, iteration) = (self.setup.index, self.iteration);
                    return Err(PeerError::Overflow { peer, iteration });
                }
                if self.round_of(at + 1).is_some() {
                    self.phase = Phase::Average {
                        at: at + 1,
                        statistic,
                        sensitivity,
                        current: next,
                        previous: current,
                    };
                    self.enter_average(now, outbox);
                    Ok(())
                } else {
                    self.finish_averaging(statistic, sensitivity, &next, now, outbox)
                }
            }
            Phase::Waiting | Phase::Finished => {
                unreachable!("only started, unfinished peers fold steps")
            }
        }
    }

    /// The peer's value after the step at position `at`.
    fn combined<'m>(
        &self,
        at: usize,
        bodies: impl Iterator<Item = &'m Body>,
        current: &Arc<Vec<f64>>,
        previous: &[f64],
    ) -> Arc<Vec<f64>> {
        let mut blocks = bodies.map(|body| match body {
            Body::Average(values) => values,
            Body::Scale(_) => unreachable!("the plan maps this step to blocks"),
        });
        match self.setup.program.part() {
            Part::Recurrence {
                coefficients,
                self_weight,
                weights,
            } => {
                let blocks = blocks.map(|values| values.as_slice());
                let neighbours: Vec<(f64, &[f64])> = weights.iter().copied().zip(blocks).collect();
                let mut out = vec![0.0; current.len()];
                let coefficients = coefficients[at];
                mix(
                    coefficients,
                    *self_weight,
                    current,
                    &neighbours,
                    previous,
                    &mut out,
                );
                Arc::new(out)
            }
            Part::Listed { steps, .. } => {
                let step = &steps[at];
                match (step.own == 0.0, step.expect.as_slice()) {
                    // Nothing changes: the block itself goes on, as 1 times it would.
                    (false, []) if step.own == 1.0 => Arc::clone(current),
                    (true, [only]) if only.weight == 1.0 => {
                        Arc::clone(blocks.next().unwrap_or(current))
                    }
                    _ => {
                        let weights = step.expect.iter().map(|expected| expected.weight);
                        let messages = weights.zip(blocks.map(|values| values.as_slice()));
                        let mut out = vec![0.0; current.len()];
                        fold(step.own, current, messages, &mut out);
                        Arc::new(out)
                    }
                }
            }
        }
    }

    /// Turns the last value into the sum, advances the public state and begins the next iteration.
    fn finish_averaging(
        &mut self,
        statistic: f64,
        sensitivity: f64,
        value: &[f64],
        now: Time,
        outbox: &mut impl Outbox,
    ) -> Result<(), PeerError> {
        let parameters = self.setup.plan.parameters();
        let factor = self.setup.program.factor();
        let values: Vec<f64> = value.iter().map(|x| factor * x).collect();
        let (peer, iteration) = (self.setup.index, self.iteration);
        if values.iter().any(|v| !v.is_finite()) {
            return Err(PeerError::Overflow { peer, iteration });
        }
        let (rows, columns) = self.setup.plan.shape();
        let sum = Arc::new(Block::from_values(rows, columns, values));
        let scale = self.setup.plan.noise_scale(iteration, sensitivity);
        let sigma = self.setup.plan.sigma_of_sum(scale);
        let last = self.iteration.0 >= parameters.iterations;
        let advanced = if last {
            self.algorithm.conclude(&self.state, &sum, sigma)
        } else {
            self.algorithm.advance(&self.state, &sum, sigma)
        };
        let state = advanced.map_err(|source| PeerError::NotFullRank {
            peer,
            iteration,
            source,
        })?;
        if !last {
            check_query(&state.query).map_err(|source| PeerError::Query {
                peer,
                iteration: Iteration(iteration.0 + 1),
                source,
            })?;
        }
        self.state = state;
        outbox.emit(Event::Averaged {
            iteration,
            statistic,
            sensitivity,
            sum,
        });
        outbox.emit(Event::Advanced {
            iteration,
            query: Arc::clone(&self.state.query),
            basis: self.algorithm.estimate(&self.state),
        });
        if last {
            self.phase = Phase::Finished;
            self.step = self.setup.plan.first_step(Iteration(iteration.0 + 1));
            outbox.emit(Event::Finished);
            return Ok(());
        }
        self.iteration = Iteration(iteration.0 + 1);
        self.begin_iteration(now, outbox)
    }

    fn say(&self, targets: Targets, round: Round, body: Body, outbox: &mut impl Outbox) {
        let message = Message {
            session: self.setup.plan.session(),
            iteration: self.iteration,
            round,
            body,
        };
        outbox.send(targets, message);
    }
}

/// Refuses values that no honest peer sends.
fn check_values(body: &Body) -> Result<(), FaultKind> {
    match body {
        // Rounding may push the norm of a unit row a little above 1, never further.
        Body::Scale(value) if !(0.0..=1.0 + 1e-9).contains(value) => {
            Err(FaultKind::ScaleOutOfRange { value: *value })
        }
        Body::Scale(_) => Ok(()),
        Body::Average(values) => first_not_finite(values).map_or(Ok(()), |coordinate| {
            Err(FaultKind::NotFinite { coordinate })
        }),
    }
}
