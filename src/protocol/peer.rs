//! One peer as a state machine: messages and timers in; messages, timers, events and faults out.

use std::fmt;
use std::sync::Arc;

use super::averaging::mix;
use super::fault::{Fault, FaultKind};
use super::finite::first_not_finite;
use super::inbox::Inbox;
use super::message::{Body, Message};
use super::outbox::{Event, Outbox, Timer};
use super::plan::Plan;
use super::query::{QueryError, check_query, check_start};
use crate::algorithm::{self, Algorithm, PublicState};
use crate::linalg::{Block, NotFullRank, SparseRows};
use crate::noise::PeerNoise;
use crate::vocabulary::{Iteration, PeerIndex, Round, Span, Time};

/// A neighbour in the communication graph and the mixing weight of its messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// The neighbour.
    pub index: PeerIndex,
    /// w_uv of the mixing matrix.
    pub weight: f64,
}

/// Everything one peer starts from. `rows` and `noise` are its secrets.
pub struct PeerSetup {
    /// This peer.
    pub index: PeerIndex,
    /// What all peers agreed on.
    pub plan: Arc<Plan>,
    /// Neighbours in ascending order.
    pub neighbours: Vec<Neighbour>,
    /// w_uu of the mixing matrix.
    pub self_weight: f64,
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
        round: u32,
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
        let ascending = setup.neighbours.windows(2).all(|w| w[0].index < w[1].index);
        if !ascending || setup.neighbours.iter().any(|n| n.index == setup.index) {
            return Err(PeerError::Neighbours { peer: setup.index });
        }
        Ok(Self {
            algorithm,
            state: PublicState::new(Arc::clone(&setup.start)),
            iteration,
            phase: Phase::Waiting,
            inbox: Inbox::new(setup.neighbours.len()),
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
                    for position in self.inbox.missing(self.step) {
                        let culprit = self.setup.neighbours[position].index;
                        outbox.fault(Fault {
                            culprit,
                            kind: FaultKind::Silent { step: self.step },
                        });
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
            && self.inbox.is_empty(self.step)
            && senders.eq(neighbours.iter().map(|n| n.index))
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
            .binary_search_by_key(&from, |n| n.index)
            .map_err(|_| FaultKind::UnknownSender)?;
        let step = self.check_header(&message)?;
        check_values(&message.body)?;
        if self.is_finished() {
            return Err(FaultKind::OutOfStep {
                expected: self.step,
                found: step,
            });
        }
        self.inbox.store(self.step, step, position, message.body)
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
        if parameters.scale_rounds == 0 {
            self.begin_averaging(statistic, now, outbox)
        } else {
            self.phase = Phase::Scale {
                round: 0,
                value: statistic,
            };
            self.say(Round(0), Body::Scale(statistic), now, outbox);
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
        self.say(Round(0), Body::Average(Arc::clone(&current)), now, outbox);
        self.phase = Phase::Average {
            round: 0,
            statistic,
            sensitivity,
            current,
            previous,
        };
        Ok(())
    }

    /// Goes on as far as the messages that are here allow.
    fn finish_steps(&mut self, now: Time, outbox: &mut impl Outbox) -> Result<(), PeerError> {
        while self.started && !self.is_finished() && self.inbox.complete(self.step) {
            let step = self.step;
            let bodies = self.inbox.take(step);
            self.finish_step(bodies.iter().flatten(), now, outbox)?;
            self.inbox.give_back(step, bodies);
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
                    self.say(Round(round + 1), Body::Scale(value), now, outbox);
                    Ok(())
                } else {
                    self.begin_averaging(value, now, outbox)
                }
            }
            Phase::Average {
                round,
                statistic,
                sensitivity,
                current,
                previous,
            } => {
                let next = Arc::new(self.mixed(round, bodies, &current, &previous));
                if first_not_finite(&next).is_some() {
                    let (peer, iteration) = (self.setup.index, self.iteration);
                    return Err(PeerError::Overflow { peer, iteration });
                }
                self.step += 1;
                if round + 1 < self.setup.plan.averaging_rounds() {
                    self.say(
                        Round(round + 1),
                        Body::Average(Arc::clone(&next)),
                        now,
                        outbox,
                    );
                    self.phase = Phase::Average {
                        round: round + 1,
                        statistic,
                        sensitivity,
                        current: next,
                        previous: current,
                    };
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

    fn mixed<'m>(
        &self,
        round: u32,
        bodies: impl Iterator<Item = &'m Body>,
        current: &[f64],
        previous: &[f64],
    ) -> Vec<f64> {
        let coefficients = self.setup.plan.parameters().schedule[round as usize];
        let mut out = vec![0.0; current.len()];
        let bodies = bodies.map(|body| match body {
            Body::Average(values) => values.as_slice(),
            Body::Scale(_) => unreachable!("the plan maps this step to blocks"),
        });
        let neighbours: Vec<(f64, &[f64])> = self
            .setup
            .neighbours
            .iter()
            .map(|n| n.weight)
            .zip(bodies)
            .collect();
        mix(
            coefficients,
            self.setup.self_weight,
            current,
            &neighbours,
            previous,
            &mut out,
        );
        out
    }

    /// Turns the mean into the sum, advances the public state and begins the next iteration.
    fn finish_averaging(
        &mut self,
        statistic: f64,
        sensitivity: f64,
        mean: &[f64],
        now: Time,
        outbox: &mut impl Outbox,
    ) -> Result<(), PeerError> {
        let parameters = self.setup.plan.parameters();
        let peers = f64::from(parameters.peers);
        let values: Vec<f64> = mean.iter().map(|x| peers * x).collect();
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
            outbox.emit(Event::Finished);
            return Ok(());
        }
        self.iteration = Iteration(iteration.0 + 1);
        self.begin_iteration(now, outbox)
    }

    fn say(&self, round: Round, body: Body, now: Time, outbox: &mut impl Outbox) {
        let message = Message {
            session: self.setup.plan.session(),
            iteration: self.iteration,
            round,
            body,
        };
        outbox.broadcast(message);
        if let Some(patience) = self.setup.patience {
            outbox.set_timer(Timer { step: self.step }, now + patience);
        }
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
