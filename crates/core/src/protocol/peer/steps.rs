//! What a peer does from one exchange to the next.

use std::sync::Arc;

use super::phase::Phase;
use super::{Peer, PeerError};
use crate::algorithm::Next;
use crate::protocol::averaging::{Part, PeerSchedule};
use crate::protocol::fault::{Fault, FaultKind};
use crate::protocol::finite::first_not_finite;
use crate::protocol::inbox::Slot;
use crate::protocol::kernel;
use crate::protocol::lane::Lanes;
use crate::protocol::message::{Body, Message, Summand};
use crate::protocol::outbox::{Event, Outbox, Targets, Timer};
use crate::protocol::plan::{PlannedRelease, Terms};
use crate::protocol::release_error::ReleaseError;
use crate::vocabulary::{PeerIndex, ReleaseId, Round, Span, Time};

impl Peer {
    /// The release this peer is in; after the last one the one that would follow.
    pub(super) fn release(&self) -> ReleaseId {
        ReleaseId(self.state.released).next()
    }

    fn planned(&self) -> &PlannedRelease {
        // `SessionPlan::next` says that there is a release before anybody begins one.
        let index = self
            .release()
            .index()
            .min(self.setup.plan.releases().len() - 1);
        &self.setup.plan.releases()[index]
    }

    pub(super) fn failed(&self, error: ReleaseError) -> PeerError {
        PeerError::at(self.setup.index, self.release(), error)
    }

    /// Begins what the algorithm wants next.
    pub(super) fn go_on(&mut self, now: Time, outbox: &mut impl Outbox) -> Result<(), PeerError> {
        let plan = Arc::clone(&self.setup.plan);
        let next = plan.next(&self.state).map_err(|error| self.failed(error))?;
        match next {
            Next::Agree => {
                let value = self.planned().proposal(plan.algorithm(), &self.state);
                if !value.is_finite() {
                    return Err(self.failed(ReleaseError::Overflow));
                }
                if plan.scale_rounds() == 0 {
                    // Nobody else to agree with.
                    return self.agreed(value, now, outbox);
                }
                self.step = plan.first_step(self.release());
                self.phase = Phase::Agree { round: 0, value };
                self.say(Targets::All, Round(0), Body::Scale(value), outbox);
                self.wait(1, now, outbox);
                Ok(())
            }
            Next::Release(_) => {
                let agreement = plan.agreement_rounds(self.release());
                self.step = plan.first_step(self.release()) + u64::from(agreement);
                self.publish(now, outbox)
            }
            Next::Done => {
                self.phase = Phase::Finished;
                self.step = plan.first_step(ReleaseId(u32::MAX));
                outbox.emit(Event::Finished);
                Ok(())
            }
        }
    }

    /// Notes the number all peers agreed on, and goes on.
    fn agreed(&mut self, value: f64, now: Time, outbox: &mut impl Outbox) -> Result<(), PeerError> {
        self.state.agreed = Some(value);
        self.go_on(now, outbox)
    }

    /// Contributes to the release: local product, own noise, pairwise noise; then publishes it.
    fn publish(&mut self, now: Time, outbox: &mut impl Outbox) -> Result<(), PeerError> {
        let (release, plan) = (self.release(), Arc::clone(&self.setup.plan));
        let given = self.given.take();
        let planned = self.planned();
        let terms = planned.terms(self.state.agreed.unwrap_or(0.0));
        if let Some(current) = given {
            let previous = Arc::clone(&current);
            self.phase = Phase::Average {
                at: 0,
                terms,
                current,
                previous,
            };
            self.enter_average(now, outbox);
            return Ok(());
        }
        let history = self.state.history();
        let rows = kernel::contributing(planned, &self.setup.rows);
        let local = kernel::contribution(&plan, planned, rows, history, &terms);
        if let Some(steps) = terms.steps().copied() {
            return self.publish_integers(local.values(), (terms, steps), now, outbox);
        }
        let mut input = local.into_values();
        let (own, values) = (planned.is_own(), planned.values());
        if own {
            self.setup
                .noise
                .add_to_own(release, terms.scale, &mut input);
        } else {
            self.setup.noise.add_to(release, terms.scale, &mut input);
            // What is published is what is sent.
            plan.values().round(&mut input);
        }
        if first_not_finite(&input).is_some() {
            return Err(self.failed(ReleaseError::Overflow));
        }
        let input = Arc::new(input);
        outbox.emit(Event::Published {
            release,
            input: Summand::Reals(Arc::clone(&input)),
        });
        if let (false, Some(holding)) = (own, self.holding_of(&input)) {
            return self.meet((0, terms, holding), now, outbox);
        }
        if !own {
            self.phase = Phase::Average {
                at: 0,
                terms,
                current: Arc::clone(&input),
                previous: input,
            };
            self.enter_average(now, outbox);
            return Ok(());
        }
        let mut known = vec![f64::NEG_INFINITY; values * plan.parameters().peers as usize];
        let place = self.setup.index.index() * values;
        known[place..place + values].copy_from_slice(&input);
        let known = Arc::new(known);
        let body = Body::Coordinates(Arc::clone(&known));
        let round = 0;
        self.phase = Phase::Gather {
            round,
            terms,
            known,
        };
        if plan.scale_rounds() > 0 {
            self.say(Targets::All, Round(round), body, outbox);
        }
        self.wait(1, now, outbox);
        Ok(())
    }

    /// This peer's part of the averaging schedule that the present sum takes.
    pub(super) fn turn(&self) -> &PeerSchedule {
        let sum = self.setup.plan.sums_before(self.release());
        self.setup.schedule.turn(sum)
    }

    pub(super) fn part(&self) -> &Part {
        self.turn().part()
    }

    /// The round of the averaging step at position `at` of this peer's list, if there is one.
    pub(super) fn round_of(&self, at: usize) -> Option<u32> {
        match self.part() {
            Part::Recurrence { coefficients, .. } => (at < coefficients.len()).then_some(at as u32),
            Part::Listed { steps, .. } => Some(steps.get(at)?.round),
            Part::Passing(_) => Some(self.meeting(at)?.0),
        }
    }

    /// Begins the averaging step the phase names: sends what it sends, and waits.
    pub(super) fn enter_average(&mut self, now: Time, outbox: &mut impl Outbox) {
        let (at, body) = match &self.phase {
            Phase::Average { at, current, .. } => (*at, Body::Average(Arc::clone(current))),
            Phase::Add { at, current, .. } => (*at, Body::Residues(Arc::clone(current))),
            _ => return,
        };
        let Some(round) = self.round_of(at) else {
            return;
        };
        let targets = match self.part() {
            Part::Recurrence { .. } => Some(Targets::All),
            // Shares are given elsewhere.
            Part::Passing(_) => None,
            Part::Listed { steps, .. } => {
                let send_to = &steps[at].send_to;
                (!send_to.is_empty()).then(|| Targets::Positions(Arc::clone(send_to)))
            }
        };
        let agreement = self.setup.plan.agreement_rounds(self.release());
        let first = self.setup.plan.first_step(self.release());
        self.step = first + u64::from(agreement) + u64::from(round);
        if let Some(targets) = targets {
            self.say(targets, Round(round), body, outbox);
        }
        // Whoever is waited for may itself wait for others in every round since this peer last heard from somebody. A step
        // that only sends is no clock: it is done at once, whatever its round.
        let heard = match self.part() {
            Part::Recurrence { .. } | Part::Passing(_) => at.checked_sub(1),
            Part::Listed { steps, .. } => {
                steps[..at].iter().rposition(|step| !step.expect.is_empty())
            }
        };
        let heard = heard.and_then(|before| self.round_of(before));
        let rounds = heard.map_or(round + 1, |heard| round - heard);
        self.wait(rounds, now, outbox);
    }

    /// What the present step waits for, as positions and numbers of messages.
    pub(super) fn expected(&self) -> Vec<(usize, u64)> {
        let listed = match (&self.phase, self.part()) {
            (Phase::Average { at, .. } | Phase::Add { at, .. }, Part::Listed { steps, .. }) => {
                steps.get(*at)
            }
            _ => None,
        };
        let due = |position: usize| match &self.lanes {
            Lanes::Same => (position, self.step),
            Lanes::Each(lanes) => (position, lanes[position].1),
        };
        if let Phase::Pass { at, .. } = &self.phase {
            let positions = self.meeting(*at).map_or(0..0, |(_, met)| met.positions());
            return positions.map(due).collect();
        }
        match listed {
            Some(step) => {
                let positions = step.expect.iter().map(|e| e.position as usize);
                positions.map(due).collect()
            }
            None => (0..self.setup.neighbours.len()).map(due).collect(),
        }
    }

    /// Begins to wait for the present step's messages, for at most `rounds` times the patience.
    pub(super) fn wait(&mut self, rounds: u32, now: Time, outbox: &mut impl Outbox) {
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
    pub(super) fn finish_steps(
        &mut self,
        now: Time,
        outbox: &mut impl Outbox,
    ) -> Result<(), PeerError> {
        while self.started && !self.is_finished() && self.inbox.missing() == 0 {
            let mut taken = std::mem::take(&mut self.taken);
            for (position, number) in self.expected() {
                taken.extend(match self.inbox.take(position, number) {
                    Some(Slot::Message(body)) => Some(body),
                    Some(Slot::Lost) => self.unheard(position),
                    None => None,
                });
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
    pub(super) fn finish_step<'m>(
        &mut self,
        bodies: impl Iterator<Item = &'m Body>,
        now: Time,
        outbox: &mut impl Outbox,
    ) -> Result<(), PeerError> {
        match std::mem::replace(&mut self.phase, Phase::Waiting) {
            Phase::Agree { round, value } => {
                let numbers = bodies.filter_map(|body| match body {
                    Body::Scale(other) => Some(*other),
                    // The plan maps this step to numbers: others were refused when they came.
                    Body::Average(_) | Body::Residues(_) | Body::Coordinates(_) => None,
                });
                let value = numbers.fold(value, f64::max);
                self.step += 1;
                let round = round + 1;
                if round >= self.setup.plan.scale_rounds() {
                    return self.agreed(value, now, outbox);
                }
                self.phase = Phase::Agree { round, value };
                self.say(Targets::All, Round(round), Body::Scale(value), outbox);
                self.wait(1, now, outbox);
                Ok(())
            }
            Phase::Average {
                at,
                terms,
                current,
                previous,
            } => {
                let next = self.combined(at, bodies, &current, previous);
                if first_not_finite(&next).is_some() {
                    return Err(self.failed(ReleaseError::Overflow));
                }
                if self.round_of(at + 1).is_none() {
                    let factor = self.turn().factor();
                    let values: Vec<f64> = next.iter().map(|x| factor * x).collect();
                    return self.conclude(terms, values, now, outbox);
                }
                self.phase = Phase::Average {
                    at: at + 1,
                    terms,
                    current: next,
                    previous: current,
                };
                self.enter_average(now, outbox);
                Ok(())
            }
            Phase::Add {
                at,
                terms,
                steps,
                current,
            } => self.add((at, terms, steps, current), bodies, now, outbox),
            Phase::Pass { at, terms, holding } => {
                self.met((at, terms, holding), bodies, now, outbox)
            }
            Phase::Gather {
                round,
                terms,
                mut known,
            } => {
                let all = Arc::make_mut(&mut known);
                // Gathering steps wait for all neighbours, in this order.
                for (&culprit, body) in self.setup.neighbours.iter().zip(bodies) {
                    let Body::Coordinates(others) = body else {
                        continue;
                    };
                    // Each coordinate has one owner, and its first number stays: a peer's own is there from the beginning.
                    let mut wrong = None;
                    for (at, (mine, &other)) in all.iter_mut().zip(others.iter()).enumerate() {
                        if *mine == f64::NEG_INFINITY {
                            *mine = other;
                        } else if other != f64::NEG_INFINITY && other.to_bits() != mine.to_bits() {
                            wrong = wrong.or(Some(at));
                        }
                    }
                    if let Some(coordinate) = wrong {
                        let kind = FaultKind::Contradiction { coordinate };
                        outbox.fault(Fault { culprit, kind });
                    }
                }
                self.step += 1;
                let round = round + 1;
                if round >= self.setup.plan.scale_rounds() {
                    return self.conclude(terms, known.to_vec(), now, outbox);
                }
                let body = Body::Coordinates(Arc::clone(&known));
                self.phase = Phase::Gather {
                    round,
                    terms,
                    known,
                };
                self.say(Targets::All, Round(round), body, outbox);
                self.wait(1, now, outbox);
                Ok(())
            }
            Phase::Waiting | Phase::Finished => {
                unreachable!("only started, unfinished peers fold steps")
            }
        }
    }

    /// The peer's value after the step at position `at`, rounded to what travels unchanged.
    fn combined<'m>(
        &self,
        at: usize,
        bodies: impl Iterator<Item = &'m Body>,
        current: &Arc<Vec<f64>>,
        previous: Arc<Vec<f64>>,
    ) -> Arc<Vec<f64>> {
        let blocks = bodies.filter_map(|body| match body {
            Body::Average(values) => Some(values),
            // The plan maps this step to blocks: others were refused when they came.
            Body::Scale(_) | Body::Residues(_) | Body::Coordinates(_) => None,
        });
        let values = self.setup.plan.values();
        self.turn()
            .combined(at, (current, previous), blocks, values)
    }

    /// Takes the released values, advances the public state and goes on.
    pub(super) fn conclude(
        &mut self,
        terms: Terms,
        values: Vec<f64>,
        now: Time,
        outbox: &mut impl Outbox,
    ) -> Result<(), PeerError> {
        let (release, plan) = (self.release(), Arc::clone(&self.setup.plan));
        let planned = self.planned();
        let sigmas = terms.sigmas(plan.sigma_of_release(planned, terms.scale));
        let advanced = kernel::released(planned, &terms, values)
            .and_then(|sum| Ok((kernel::advance(&plan, &self.state, &sum, &sigmas)?, sum)));
        let (state, sum) = advanced.map_err(|error| self.failed(error))?;
        self.state = state;
        outbox.emit(Event::Released {
            release,
            terms,
            sum,
        });
        outbox.emit(Event::Advanced {
            release,
            state: self.state.clone(),
            basis: plan.algorithm().estimate(&self.state),
        });
        self.go_on(now, outbox)
    }

    pub(super) fn say(&self, targets: Targets, round: Round, body: Body, outbox: &mut impl Outbox) {
        let message = Message {
            session: self.setup.plan.session(),
            release: self.release(),
            round,
            body,
        };
        outbox.send(targets, message);
    }

    /// The peer's number.
    #[must_use]
    pub fn index(&self) -> PeerIndex {
        self.setup.index
    }
}
