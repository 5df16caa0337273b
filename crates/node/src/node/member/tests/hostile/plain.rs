//! The peer of a session that the loss of a member ends, over signed records as bytes.

use std::collections::VecDeque;

use futures::executor::block_on;
use futures::io::Cursor;

use super::case::{GRACE, STEP};
use super::process::{Effect, Process};
use super::*;
use crate::node::HostError;
use crate::node::deployed::{
    Blame, FrameRecord, Gate, Receiving, SIGNED_STAMP_LEN, Stopped, blame, read_record,
};
use crate::node::member::error::MemberError;
use crate::node::network::span;
use crate::protocol::wire::HEADER_LEN;
use crate::protocol::wire::signed::{RECORD_HEAD_LEN, STAMP_LEN};
use crate::protocol::{
    CollectingOutbox, Event, Input, Lane, Message, Peer, Targets, Timer, Values,
};
use crate::session::{AssemblyError, Identity};
use crate::vocabulary::{ReleaseId, Time};

/// How a run ends before its end.
pub(super) enum End {
    Failed(HostError),
    Fault(PublicId, Blame),
}

/// One directed edge at its receiver.
struct Edge {
    from: PeerIndex,
    id: PublicId,
    lane: Lane,
    receiving: Receiving,
    received: u64,
    waiting: VecDeque<Vec<u8>>,
}

pub(super) struct Plain {
    peer: Peer,
    gate: Gate,
    passed: ReleaseId,
    edges: Vec<Edge>,
    values: Values,
    /// Stamps of the records that have come, with their signatures.
    pub(super) stamps: Vec<(PublicId, [u8; SIGNED_STAMP_LEN])>,
    pub(super) effects: Vec<Effect>,
    pub(super) events: Vec<Event>,
}

/// The records of a message as they travel, numbered from this one on.
pub(super) fn records(
    message: &Message,
    values: Values,
    identity: &Identity,
    first: u64,
) -> Vec<Vec<u8>> {
    let frames = 0..crate::protocol::wire::frames(message, values);
    let mut piece = Vec::new();
    let written = frames.map(|frame| {
        let record = FrameRecord::of(message, values, frame, identity, &mut piece);
        let mut bytes = Vec::new();
        block_on(record.write(first + frame as u64, &mut bytes, &mut Vec::new())).expect("memory");
        bytes
    });
    written.collect()
}

/// The signed stamp of a record.
fn stamp(record: &[u8]) -> [u8; SIGNED_STAMP_LEN] {
    let mut stamp = [0; SIGNED_STAMP_LEN];
    let (frame, signature) =
        record[RECORD_HEAD_LEN..].split_at(record.len() - RECORD_HEAD_LEN - 64);
    let (header, values) = frame.split_at(HEADER_LEN);
    stamp[..HEADER_LEN].copy_from_slice(header);
    stamp[HEADER_LEN..STAMP_LEN].copy_from_slice(blake3::hash(values).as_bytes());
    stamp[STAMP_LEN..].copy_from_slice(signature);
    stamp
}

impl Plain {
    pub(super) fn new(process: &mut Process, assembled: &Assembled) -> Result<Self, MemberError> {
        let planned = process.planned.as_ref().expect("all are ready");
        let session = &planned.session;
        let own = process.identity.id();
        let place = process.roster.iter().position(|id| *id == own);
        let index = place.map(PeerIndex::from_index);
        let index =
            index.ok_or_else(|| MemberError::Assembly(Box::new(AssemblyError::Excluded)))?;
        let noise = process.ready.peer_noise(session, index, assembled)?;
        let patience = span(Duration::from_secs(STEP + GRACE));
        let rows = process.setup.rows.take().map_err(MemberError::Plan)?;
        let setup = session.peer_setup(index, rows, noise, Some(patience));
        let lanes = setup.neighbours.iter().enumerate();
        let edges = lanes.map(|(position, from)| {
            let lane = Lane::of(&setup.plan, &setup.schedule, position);
            let id = process.roster[from.index()];
            Edge {
                from: *from,
                id,
                receiving: Receiving::new(id, lane.frame_sizes()),
                lane,
                received: 0,
                waiting: VecDeque::new(),
            }
        });
        let hash = process.setup.invitation.hash();
        let gate = process.ready.gate(hash, &planned.charges, None);
        Ok(Self {
            edges: edges.collect(),
            values: session.plan().values(),
            peer: Peer::new(setup).map_err(HostError::from)?,
            gate,
            passed: ReleaseId(0),
            stamps: Vec::new(),
            effects: Vec::new(),
            events: Vec::new(),
        })
    }

    pub(super) fn start(&mut self, now: Time) -> Result<(), End> {
        self.handle(Input::Start, now)?;
        self.read(now)
    }

    pub(super) fn timer(&mut self, timer: Timer, now: Time) -> Result<(), End> {
        if self.peer.is_finished() {
            return Ok(());
        }
        self.handle(Input::Timer(timer), now)?;
        self.read(now)
    }

    /// A record has come over the edge of this neighbour.
    pub(super) fn came(&mut self, from: PublicId, bytes: Vec<u8>, now: Time) -> Result<(), End> {
        if let Some(edge) = self.edges.iter_mut().find(|edge| edge.id == from) {
            edge.waiting.push_back(bytes);
        }
        self.read(now)
    }

    /// Reads what the peer has come to.
    fn read(&mut self, now: Time) -> Result<(), End> {
        let mut place = 0;
        while place < self.edges.len() && !self.peer.is_finished() {
            match self.read_one(place)? {
                Some(message) => {
                    let from = self.edges[place].from;
                    self.handle(Input::Message { from, message }, now)?;
                    place = 0;
                }
                None => place += 1,
            }
        }
        Ok(())
    }

    /// The next message of an edge whose exchange the peer has reached.
    fn read_one(&mut self, place: usize) -> Result<Option<Message>, End> {
        let step = self.peer.step();
        let edge = &mut self.edges[place];
        while let Some(bytes) = edge.waiting.front() {
            let exchange = edge.lane.step(edge.received).unwrap_or(0);
            if !edge.receiving.is_within_a_message() && step < exchange {
                return Ok(None);
            }
            let mut stream = Cursor::new(bytes);
            let wanted = std::future::ready(true);
            let (receiving, mut piece) = (&mut edge.receiving, Vec::new());
            let read = block_on(read_record(&mut stream, receiving, wanted, &mut piece));
            let bytes = edge.waiting.pop_front().unwrap_or_default();
            match read {
                Ok(taken) => {
                    self.stamps.push((edge.id, stamp(&bytes)));
                    if let Some(message) = taken.message {
                        edge.received += 1;
                        return Ok(Some(message));
                    }
                }
                Err(Stopped::Misbehaved(blame)) => return Err(End::Fault(edge.id, blame)),
                // It comes again on another stream, or never.
                Err(Stopped::Broken { .. } | Stopped::Unwanted) => edge.receiving.forget(),
            }
        }
        Ok(None)
    }

    fn handle(&mut self, input: Input, now: Time) -> Result<(), End> {
        let mut outbox = CollectingOutbox::default();
        let handled = self.peer.handle(input, now, &mut outbox);
        handled.map_err(|error| End::Failed(error.into()))?;
        if let Some(fault) = outbox.faults.drain(..).next() {
            let culprit = self.edges.iter().find(|edge| edge.from == fault.culprit);
            return Err(match culprit {
                Some(edge) => End::Fault(edge.id, blame(fault.into())),
                None => End::Failed(HostError::Neighbours),
            });
        }
        if let Some((timer, at)) = outbox.timers.drain(..).next_back() {
            self.effects.push(Effect::Timer(timer, at));
        }
        for (targets, message) in outbox.messages.drain(..) {
            self.pass(message.release)?;
            let all = 0..self.edges.len();
            let to: Vec<usize> = match targets {
                Targets::All => all.collect(),
                Targets::Positions(positions) => positions.iter().map(|p| *p as usize).collect(),
            };
            for place in to {
                let id = self.edges[place].id;
                self.effects.push(Effect::Message(id, message.clone()));
            }
        }
        for event in outbox.events.drain(..) {
            if let Event::Published { release, .. } = &event {
                self.pass(*release)?;
            }
            self.events.push(event);
        }
        Ok(())
    }

    fn pass(&mut self, release: ReleaseId) -> Result<(), End> {
        while self.passed < release {
            let next = self.passed.next();
            (self.gate)(next).map_err(|source| {
                End::Failed(HostError::Charge {
                    release: next,
                    source,
                })
            })?;
            self.passed = next;
        }
        Ok(())
    }

    /// What the coordinates of sums are on the wire.
    pub(super) fn values(&self) -> Values {
        self.values
    }
}
