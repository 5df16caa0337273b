//! What processes put out: to the others, and for the hostile one through its actor.

use super::actor::{Hands, Item};
use super::case::GRACE;
use super::plain::records;
use super::process::{Effect, Run};
use super::world::{Due, SECOND, World};
use super::*;
use crate::protocol::Values;
use crate::vocabulary::Span;

impl World {
    pub(super) fn carry_out(&mut self, member: usize, effect: Effect) {
        let now = self.now;
        match effect {
            Effect::Say(bytes) => {
                self.notes.said(member, &bytes);
                for to in (0..self.seats.len()).filter(|to| *to != member) {
                    if self.seats[member].said[to].insert(*blake3::hash(&bytes).as_bytes()) {
                        self.send(member, to, Item::Statement(Arc::clone(&bytes)));
                    }
                }
            }
            Effect::Wake(at) => {
                let seat = &mut self.seats[member];
                if seat.wake.is_none_or(|wake| at < wake) {
                    seat.wake = Some(at);
                    self.due(at.max(now), member, Due::Wake);
                }
            }
            Effect::Plan(assembled) => {
                self.notes.assembled(member, &assembled);
                self.seats[member].planning = assembled.hash;
                self.due(now + Span(SECOND / 10), member, Due::Plan(assembled));
            }
            Effect::Message(id, message) => {
                self.send(member, self.place(id), Item::Message(message))
            }
            Effect::Timer(timer, at) => self.due(at.max(now), member, Due::Timer(timer)),
            Effect::Frame(id, frame) => self.send(member, self.place(id), Item::Frame(frame)),
            Effect::Waiting(id, bytes) => {
                self.send(member, self.place(id), Item::Bytes(Arc::from(bytes)));
            }
            Effect::Alarm(serial, at) => self.due(at.max(now), member, Due::Alarm(serial)),
            Effect::Cut(id) => self.deliver(member, self.place(id), Due::Gone(member)),
            Effect::Look(pause) => self.due(now + pause, member, Due::Look),
            Effect::Expect => self.due(now + Span(GRACE * SECOND), member, Due::Expected),
        }
    }

    fn place(&self, id: PublicId) -> usize {
        self.ids.binary_search(&id).expect("invited")
    }

    fn send(&mut self, from: usize, to: usize, item: Item) {
        if Some(from) != self.hostile {
            let process = self.seats[from].process.as_ref();
            let roster = process.map_or(&[][..], |process| &process.roster[..]);
            let peers: Vec<usize> = roster.iter().map(|id| self.place(*id)).collect();
            self.notes.sent(from, &item, &peers);
            return self.leaves(from, to, Span(0), item);
        }
        let Some(mut actor) = self.actor.take() else {
            return self.leaves(from, to, Span(0), item);
        };
        let mut hands = self.hands();
        actor.sends(&mut hands, to, item);
        let sent = std::mem::take(&mut hands.sent);
        self.actor = Some(actor);
        for (to, after, item) in sent {
            self.leaves(from, to, after, item);
        }
    }

    pub(super) fn act(&mut self, number: u64) {
        let Some(mut actor) = self.actor.take() else {
            return;
        };
        let mut hands = self.hands();
        actor.acts(&mut hands, number);
        let sent = std::mem::take(&mut hands.sent);
        self.actor = Some(actor);
        let hostile = self.hostile.expect("it has an actor");
        for (to, after, item) in sent {
            self.leaves(hostile, to, after, item);
        }
    }

    pub(super) fn hands(&self) -> Hands<'_> {
        let hostile = self.hostile.expect("it has an actor");
        Hands {
            me: hostile,
            ids: &self.ids,
            identity: &self.seats[hostile].identity,
            session: self.invitation.hash(),
            process: self.seats[hostile].process.as_ref(),
            sent: Vec::new(),
            times: Vec::new(),
            crashes: Vec::new(),
        }
    }

    /// Something leaves as it is.
    fn leaves(&mut self, from: usize, to: usize, after: Span, item: Item) {
        if to == from || to >= self.seats.len() {
            return;
        }
        let life = self.seats[from].life;
        match item {
            Item::Statement(bytes) => {
                self.seats[from].log[to].push(Arc::clone(&bytes));
                self.deliver_after(from, to, after, Due::Control(from, bytes));
            }
            Item::Message(message) => {
                let Some(values) = self.values(from) else {
                    return;
                };
                let identity = Arc::clone(&self.seats[from].identity);
                let first = self.seats[from].sent[to] + 1;
                for bytes in records(&message, values, &identity, first) {
                    self.seats[from].sent[to] += 1;
                    self.notes.record(from, &bytes);
                    self.deliver_after(from, to, after, Due::Record(from, bytes));
                }
            }
            Item::Record(bytes) => self.deliver_after(from, to, after, Due::Record(from, bytes)),
            Item::Frame(frame) => {
                let process = self.seats[from].process.as_ref();
                let Some(Run::Lossy(lossy)) = process.map(|process| &process.run) else {
                    return;
                };
                let bytes = lossy.format.frame_bytes(&frame).into();
                self.deliver_after(from, to, after, Due::Frame(from, life, bytes));
            }
            Item::Bytes(bytes) => {
                self.deliver_after(from, to, after, Due::Frame(from, life, bytes))
            }
        }
    }

    fn values(&self, member: usize) -> Option<Values> {
        match &self.seats[member].process.as_ref()?.run {
            Run::Plain(plain) => Some(plain.values()),
            _ => None,
        }
    }
}
