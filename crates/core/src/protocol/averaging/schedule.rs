//! Averaging as a linear schedule of exchanges: what every peer sends, waits for and combines, round by round.

mod exact;

use std::sync::Arc;

use super::agreement;
use super::coefficients::Coefficients;
use super::common_end::CommonEnd;
use super::growth::{Growth, OwnGrowth, Sent};
use super::loss::Loss;
use super::neighbourhood::Neighbourhood;
use super::passing::{Contacts, Meeting, OwnContacts, Passing};
use super::step::{Expected, PeerStep, ScheduleError};
use super::window;

/// The compiled averaging of one sum: everything that is exchanged, and how it is combined.
///
/// In round k a peer that has a step in it first sends its value as it is, then waits for the messages the step
/// expects, which are of the same round, and combines them with its own value. Rounds in which it has no step do not
/// exist for it. After its last step the value times the last factor is its estimate of the sum. Messages, bytes,
/// rounds and error bounds are all derived from the schedule, here and nowhere else.
///
/// A schedule may be several that take turns, one sum after the other: [`Schedule::turn`].
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    rounds: u32,
    factor: f64,
    form: Form,
    digest: [u8; 32],
    ends_equal: bool,
    growth: Growth,
    /// The schedules that take turns; none where it is one.
    turns: Arc<[Self]>,
}

/// The three shapes of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// In every round every peer exchanges with all its neighbours, with these coefficients and the mixing weights.
    Recurrence(Arc<[Coefficients]>),
    /// Every peer's steps, in ascending rounds, each peer at least one.
    Listed(Arc<[Vec<PeerStep>]>),
    /// Peers give shares of their mass, and end with value and weight.
    Passing(Arc<Passing>),
}

impl Schedule {
    /// The schedule of a recurrence with these coefficients on this network. Its last factor is s.
    #[must_use]
    pub fn recurrence(network: &dyn Neighbourhood, coefficients: Vec<Coefficients>) -> Self {
        let peers = network.peers();
        let factor = peers as f64;
        let rounds = coefficients.len() as u32;
        let mut hasher = hasher(0, rounds, factor);
        for c in &coefficients {
            for weight in [c.mixed, c.current, c.previous] {
                hasher.update(&weight.to_bits().to_le_bytes());
            }
        }
        for u in 0..peers {
            hasher.update(&network.self_weight(u).to_bits().to_le_bytes());
            for weight in network.weights(u) {
                hasher.update(&weight.to_bits().to_le_bytes());
            }
        }
        Self {
            rounds,
            factor,
            growth: Growth::of_recurrence(network, &coefficients),
            form: Form::Recurrence(coefficients.into()),
            digest: *hasher.finalize().as_bytes(),
            ends_equal: false,
            turns: Arc::default(),
        }
    }

    /// A schedule given step by step, with this last factor. A peer without steps gets one that does nothing.
    ///
    /// # Errors
    /// [`ScheduleError`] if steps are not in order, a message is not listed at both ends, or a peer could have more than two
    /// messages of one neighbour to keep.
    pub fn listed(
        network: &dyn Neighbourhood,
        factor: f64,
        mut steps: Vec<Vec<PeerStep>>,
    ) -> Result<Self, ScheduleError> {
        let peers = network.peers();
        if steps.len() != peers {
            let found = steps.len();
            return Err(ScheduleError::Peers { found, peers });
        }
        for steps in steps.iter_mut().filter(|steps| steps.is_empty()) {
            steps.push(PeerStep::sending(0, &[]));
        }
        check_order(network, factor, &steps)?;
        check_matches(network, &steps)?;
        window::check(network, &steps)?;
        let last = steps.iter().filter_map(|steps| steps.last());
        let rounds = last.map(|step| step.round + 1).max().unwrap_or(1);
        let placed = steps.iter().flatten().any(|step| step.own_at != 0);
        let mut hasher = hasher(if placed { 2 } else { 1 }, rounds, factor);
        for steps in &steps {
            hasher.update(&(steps.len() as u64).to_le_bytes());
            for step in steps {
                hasher.update(&step.round.to_le_bytes());
                hasher.update(&step.own.to_bits().to_le_bytes());
                if placed {
                    hasher.update(&step.own_at.to_le_bytes());
                }
                hasher.update(&(step.send_to.len() as u64).to_le_bytes());
                for position in &*step.send_to {
                    hasher.update(&position.to_le_bytes());
                }
                hasher.update(&(step.expect.len() as u64).to_le_bytes());
                for expected in &step.expect {
                    hasher.update(&expected.position.to_le_bytes());
                    hasher.update(&expected.weight.to_bits().to_le_bytes());
                }
            }
        }
        let digest = *hasher.finalize().as_bytes();
        Ok(Self {
            rounds,
            factor,
            digest,
            ends_equal: agreement::common(network, &steps).is_some(),
            growth: Growth::Steps(Sent::default()),
            form: Form::Listed(steps.into()),
            turns: Arc::default(),
        })
    }

    /// A schedule of so many rounds in which mass is passed. Its last factor is s.
    ///
    /// # Errors
    /// [`ScheduleError`] if meetings are not in order, are not listed at both ends, or are beyond the last round.
    pub fn passing(
        network: &dyn Neighbourhood,
        rounds: u32,
        passing: Passing,
    ) -> Result<Self, ScheduleError> {
        let factor = network.peers() as f64;
        if let Contacts::Pairs(meetings) = &passing.contacts {
            check_meetings(network, rounds, meetings)?;
        }
        let mut hasher = hasher(2, rounds, factor);
        hasher.update(&passing.loss.fraction().to_bits().to_le_bytes());
        passing.contacts.hash(&mut hasher);
        Ok(Self {
            rounds,
            factor,
            ends_equal: false,
            growth: Growth::of_passing(network, rounds, &passing.contacts),
            form: Form::Passing(Arc::new(passing)),
            digest: *hasher.finalize().as_bytes(),
            turns: Arc::new([]),
        })
    }

    /// What its scheme promises of the whole program where no spectrum tells: the factor by which the spread between peers has shrunk
    /// at its end, for every start. A recurrence's follows from the mixing matrix, and a listed schedule has none.
    #[must_use]
    pub fn contraction(&self) -> Option<f64> {
        match &self.form {
            Form::Passing(passing) => Some(passing.contraction),
            Form::Recurrence(_) | Form::Listed(_) => None,
        }
    }

    /// The fraction of messages that may be lost.
    #[must_use]
    pub fn loss(&self) -> Loss {
        match &self.form {
            Form::Passing(passing) => passing.loss,
            Form::Recurrence(_) | Form::Listed(_) => Loss::NONE,
        }
    }

    /// Numbers that a message of a sum holds beside the values: the weight, where mass is passed.
    #[must_use]
    pub fn extra_values(&self) -> usize {
        usize::from(matches!(self.form, Form::Passing(_)))
    }

    /// A schedule of turns: sum number r of a session, counted from 0, is formed by the schedule number r mod m of these m. A single
    /// one is itself. All turns have as many rounds as the longest one; in those that are left nobody does anything.
    ///
    /// # Errors
    /// [`ScheduleError::Turns`] if there is none, or one that is a recurrence, has turns, another last factor or other peers.
    pub fn taking_turns(mut turns: Vec<Self>) -> Result<Self, ScheduleError> {
        let peers = |schedule: &Self| match &schedule.form {
            Form::Listed(steps) if schedule.turns.is_empty() => {
                Some((steps.len(), schedule.factor))
            }
            _ => None,
        };
        let first = turns.first().and_then(peers);
        if first.is_none() || turns.iter().any(|turn| peers(turn) != first) {
            return Err(ScheduleError::Turns);
        }
        if turns.len() == 1 {
            return Ok(turns.swap_remove(0));
        }
        let rounds = turns.iter().map(|turn| turn.rounds).max().unwrap_or(1);
        let factor = turns[0].factor;
        let mut hasher = hasher(3, rounds, factor);
        for turn in &turns {
            hasher.update(&turn.digest);
        }
        Ok(Self {
            rounds,
            factor,
            form: turns[0].form.clone(),
            digest: *hasher.finalize().as_bytes(),
            ends_equal: turns.iter().all(|turn| turn.ends_equal),
            growth: turns[0].growth.clone(),
            turns: turns.into(),
        })
    }

    /// The schedule of sum number `sum` of a session, counted from 0. It may have fewer rounds than the whole.
    #[must_use]
    pub fn turn(&self, sum: u64) -> &Self {
        let turns = self.turns();
        &turns[(sum % turns.len() as u64) as usize]
    }

    /// The schedules that take turns: itself where it is one.
    #[must_use]
    pub fn turns(&self) -> &[Self] {
        if self.turns.is_empty() {
            std::slice::from_ref(self)
        } else {
            &self.turns
        }
    }

    /// Rounds K of one sum.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// What a peer's last value is multiplied by to give the sum: s where it is a mean, 1 where it is the sum.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// Whether all peers end with the same bits for all inputs, as the steps show. A recurrence only comes close.
    #[must_use]
    pub fn ends_equal(&self) -> bool {
        self.ends_equal
    }

    /// What all peers end with, turn by turn, where they end with the same bits in every turn.
    #[must_use]
    pub fn common_ends(&self, network: &dyn Neighbourhood) -> Option<Vec<CommonEnd>> {
        let common = |turn: &Self| match &turn.form {
            Form::Listed(steps) if turn.ends_equal => CommonEnd::of(network, steps, turn.factor),
            _ => None,
        };
        self.turns().iter().map(common).collect()
    }

    /// The exchanges of the first turn; all are of the same form.
    #[must_use]
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// BLAKE3 over rounds, factor, exchanges and weights: the plan names it, and with it the session.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Bytes that the exchanges take in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        if !self.turns.is_empty() {
            return self.turns.iter().map(Self::bytes).sum();
        }
        match &self.form {
            Form::Recurrence(coefficients) => size_of_val(&**coefficients) as u64,
            Form::Listed(steps) => {
                let of_step = |step: &PeerStep| {
                    size_of::<PeerStep>()
                        + step.expect.capacity() * size_of::<Expected>()
                        + 16
                        + 4 * step.send_to.len()
                };
                let of_peer = |steps: &Vec<PeerStep>| 24 + steps.iter().map(of_step).sum::<usize>();
                steps.iter().map(of_peer).sum::<usize>() as u64
            }
            Form::Passing(passing) => passing.contacts.bytes(),
        }
    }

    /// The part of one peer.
    ///
    /// # Panics
    /// If the network has no such peer.
    #[must_use]
    pub fn peer(&self, network: &dyn Neighbourhood, peer: usize) -> PeerSchedule {
        PeerSchedule {
            digest: self.digest,
            rounds: self.rounds,
            factor: self.factor,
            growth: match &self.form {
                Form::Listed(steps) => self.growth.of_peer(network, peer, steps),
                Form::Recurrence(_) | Form::Passing(_) => self.growth.of_peer(network, peer, &[]),
            },
            part: match &self.form {
                Form::Recurrence(coefficients) => Part::Recurrence {
                    coefficients: Arc::clone(coefficients),
                    self_weight: network.self_weight(peer),
                    weights: network.weights(peer).to_vec(),
                },
                Form::Listed(steps) => {
                    let mut heard = vec![Vec::new(); network.neighbours(peer).len()];
                    for step in &steps[peer] {
                        for expected in &step.expect {
                            heard[expected.position as usize].push(step.round);
                        }
                    }
                    Part::Listed {
                        steps: steps[peer].clone(),
                        heard,
                    }
                }
                Form::Passing(passing) => {
                    let degree = network.neighbours(peer).len();
                    Part::Passing(passing.contacts.of_peer(peer, degree))
                }
            },
            turns: self
                .turns
                .iter()
                .map(|turn| turn.peer(network, peer))
                .collect(),
        }
    }
}

fn hasher(form: u8, rounds: u32, factor: f64) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 averaging program v1");
    hasher.update(&[form]);
    hasher.update(&rounds.to_le_bytes());
    hasher.update(&factor.to_bits().to_le_bytes());
    hasher
}

/// Every meeting is at one neighbour, in ascending rounds, and that neighbour's too.
fn check_meetings(
    network: &dyn Neighbourhood,
    rounds: u32,
    meetings: &[Vec<Meeting>],
) -> Result<(), ScheduleError> {
    if meetings.len() != network.peers() {
        let (found, peers) = (meetings.len(), network.peers());
        return Err(ScheduleError::Peers { found, peers });
    }
    for (peer, own) in meetings.iter().enumerate() {
        let ascending = own.is_sorted_by(|a, b| a.round < b.round);
        let within = own.iter().all(|meeting| meeting.round < rounds);
        if own.is_empty() || !ascending || !within {
            return Err(ScheduleError::Step { peer });
        }
        for &Meeting { round, with } in own {
            let Some(with) = with else { continue };
            let other = network.neighbours(peer).get(with as usize);
            let other = *other.ok_or(ScheduleError::Step { peer })? as usize;
            let back = network.neighbours(other).binary_search(&(peer as u32));
            let back = back.ok().map(|back| back as u32);
            let expected = Meeting { round, with: back };
            let at = meetings[other].binary_search_by_key(&round, |one| one.round);
            let met = at.is_ok_and(|at| meetings[other][at] == expected);
            if back.is_none() || !met {
                return Err(ScheduleError::Unmatched { peer, round });
            }
        }
    }
    Ok(())
}

fn check_order(
    network: &dyn Neighbourhood,
    factor: f64,
    steps: &[Vec<PeerStep>],
) -> Result<(), ScheduleError> {
    for (peer, steps) in steps.iter().enumerate() {
        let degree = network.neighbours(peer).len();
        let valid = |step: &PeerStep| {
            let senders = step.expect.iter();
            step.send_to.is_sorted_by(|a, b| a < b)
                && step.send_to.iter().all(|p| (*p as usize) < degree)
                && step.expect.is_sorted_by(|a, b| a.position < b.position)
                && senders
                    .map(|e| (e.position, e.weight))
                    .all(|(position, w)| (position as usize) < degree && w.is_finite())
                && step.own.is_finite()
                && step.own_at as usize
                    <= if step.own == 0.0 {
                        0
                    } else {
                        step.expect.len()
                    }
                && step.round < super::MAX_ROUNDS
        };
        let ascending = steps.is_sorted_by(|a, b| a.round < b.round);
        if !(ascending && steps.iter().all(valid) && factor.is_finite()) {
            return Err(ScheduleError::Step { peer });
        }
    }
    Ok(())
}

/// Every message sent is expected by its receiver in that round, and as many are expected as sent: so they are the same.
fn check_matches(
    network: &dyn Neighbourhood,
    steps: &[Vec<PeerStep>],
) -> Result<(), ScheduleError> {
    let (mut sent, mut expected) = (vec![0_u32; steps.len()], vec![0_u32; steps.len()]);
    for (peer, own) in steps.iter().enumerate() {
        for step in own {
            expected[peer] += step.expect.len() as u32;
            for &position in &*step.send_to {
                let to = network.neighbours(peer)[position as usize] as usize;
                let back = network.neighbours(to).binary_search(&(peer as u32));
                let known = back.is_ok_and(|back| {
                    let at = steps[to].binary_search_by_key(&step.round, |s| s.round);
                    at.is_ok_and(|at| {
                        let expect = &steps[to][at].expect;
                        expect
                            .binary_search_by_key(&(back as u32), |e| e.position)
                            .is_ok()
                    })
                });
                if !known {
                    let round = step.round;
                    return Err(ScheduleError::Unmatched { peer, round });
                }
                sent[to] += 1;
            }
        }
    }
    match sent.iter().zip(&expected).position(|(a, b)| a != b) {
        Some(peer) => {
            let waiting = steps[peer].iter().find(|step| !step.expect.is_empty());
            let round = waiting.map_or(0, |step| step.round);
            Err(ScheduleError::Unmatched { peer, round })
        }
        None => Ok(()),
    }
}

/// One peer's part of a schedule, with what identifies the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerSchedule {
    digest: [u8; 32],
    rounds: u32,
    factor: f64,
    growth: OwnGrowth,
    part: Part,
    /// Its parts of the schedules that take turns; none where it is one.
    turns: Vec<Self>,
}

/// A peer's part of either form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Recurrence {
        coefficients: Arc<[Coefficients]>,
        /// w_uu.
        self_weight: f64,
        /// w_uv, one per neighbour.
        weights: Vec<f64>,
    },
    Listed {
        steps: Vec<PeerStep>,
        /// Per neighbour: the rounds in which it is expected, ascending.
        heard: Vec<Vec<u32>>,
    },
    Passing(OwnContacts),
}

impl PeerSchedule {
    /// The digest of the whole program.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// What the last value is multiplied by to give the sum.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// Neighbours it was made for.
    #[must_use]
    pub fn degree(&self) -> usize {
        match &self.part {
            Part::Recurrence { weights, .. } => weights.len(),
            Part::Listed { heard, .. } => heard.len(),
            Part::Passing(contacts) => contacts.degree(),
        }
    }

    /// The part in sum number `sum` of a session, counted from 0.
    #[must_use]
    pub fn turn(&self, sum: u64) -> &Self {
        let turns = self.turns();
        &turns[(sum % turns.len() as u64) as usize]
    }

    /// The parts of the schedules that take turns: itself where it is one.
    pub(crate) fn turns(&self) -> &[Self] {
        if self.turns.is_empty() {
            std::slice::from_ref(self)
        } else {
            &self.turns
        }
    }

    /// The rounds of the first turn in which the neighbour at `position` sends something.
    ///
    /// # Panics
    /// If there is no such neighbour.
    #[must_use]
    pub fn heard(&self, position: usize) -> HeardRounds {
        match &self.part {
            Part::Recurrence { .. } | Part::Passing(OwnContacts::All { .. }) => {
                HeardRounds::Every(self.rounds)
            }
            Part::Passing(OwnContacts::Pairs { heard, .. }) => {
                HeardRounds::Listed(heard[position].as_slice().into())
            }
            Part::Listed { heard, .. } => HeardRounds::Listed(heard[position].as_slice().into()),
        }
    }

    /// The most that the neighbour at `position` sends in this round of the first turn, in absolute value, where no input exceeds 1; the largest number where it sends nothing.
    pub(crate) fn growth(&self, position: usize, round: u32) -> f64 {
        self.growth.of_message(position, round)
    }

    /// Rounds of the whole program.
    pub(crate) fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Numbers that a message of a sum holds beside the values.
    #[must_use]
    pub fn extra_values(&self) -> usize {
        usize::from(matches!(self.part, Part::Passing(_)))
    }

    /// The exchanges of the first turn.
    pub(crate) fn part(&self) -> &Part {
        &self.part
    }
}

/// The rounds of one iteration in which one neighbour sends something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeardRounds {
    /// All of so many.
    Every(u32),
    /// These, ascending.
    Listed(Box<[u32]>),
}

impl HeardRounds {
    /// How many.
    #[must_use]
    pub fn count(&self) -> u32 {
        match self {
            Self::Every(rounds) => *rounds,
            Self::Listed(rounds) => rounds.len() as u32,
        }
    }

    /// The number of earlier ones, if `round` is one of them.
    #[must_use]
    pub fn index_of(&self, round: u32) -> Option<u32> {
        match self {
            Self::Every(rounds) => (round < *rounds).then_some(round),
            Self::Listed(rounds) => rounds.binary_search(&round).ok().map(|index| index as u32),
        }
    }

    /// The round of number `index`, if there are as many.
    #[must_use]
    pub fn round(&self, index: u32) -> Option<u32> {
        match self {
            Self::Every(rounds) => (index < *rounds).then_some(index),
            Self::Listed(rounds) => rounds.get(index as usize).copied(),
        }
    }
}
