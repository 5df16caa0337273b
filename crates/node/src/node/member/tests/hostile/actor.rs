//! What a hostile member does with what its honest process would send.

use super::process::{Process, Run};
use super::tolerant::Lossy;
use super::*;
use crate::protocol::Message;
use crate::protocol::tolerant::Frame;
use crate::session::{Identity, SessionHash, Signed, Statement};
use crate::vocabulary::Span;

/// Something that one member sends to another.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A signed statement.
    Statement(Arc<[u8]>),
    /// A message of a plain peer, which is signed as it leaves.
    Message(Message),
    /// A record as bytes, with its number.
    Record(Vec<u8>),
    /// A frame of a tolerant peer.
    Frame(Frame),
    /// Bytes in place of one.
    Bytes(Arc<[u8]>),
}

/// What the hostile member has at hand, and what it does.
pub(super) struct Hands<'a> {
    pub(super) me: usize,
    pub(super) ids: &'a [PublicId],
    pub(super) identity: &'a Identity,
    pub(super) session: SessionHash,
    pub(super) process: Option<&'a Process>,
    /// What leaves: to whom, how much later, what.
    pub(super) sent: Vec<(usize, Span, Item)>,
    /// When it wants to act, with a number; as a session begins.
    pub(super) times: Vec<(u64, Span)>,
    /// Whose process is killed when, when it starts again, and whether with the files that it had at the beginning; as a session begins.
    pub(super) crashes: Vec<(usize, Span, Option<Span>, bool)>,
}

impl Hands<'_> {
    pub(super) fn send(&mut self, to: usize, item: Item) {
        self.sent.push((to, Span(0), item));
    }

    pub(super) fn sign(&self, statement: Statement) -> Arc<[u8]> {
        Signed::new(self.identity, self.session, statement).bytes
    }

    /// Everybody else.
    pub(super) fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.me;
        (0..self.ids.len()).filter(move |to| *to != me)
    }

    pub(super) fn say_to_all(&mut self, bytes: &Arc<[u8]>) {
        for to in self.others() {
            self.send(to, Item::Statement(Arc::clone(bytes)));
        }
    }

    /// What its tolerant peer is made of.
    pub(super) fn lossy(&self) -> Option<&Lossy> {
        match &self.process?.run {
            Run::Lossy(lossy) => Some(lossy),
            _ => None,
        }
    }
}

/// A hostile member's program.
pub(super) trait Actor {
    /// A session, or another attempt at it, is about to begin.
    fn begins(&mut self, _: &mut Hands<'_>) {}

    /// Its honest process would send this.
    fn sends(&mut self, hands: &mut Hands<'_>, to: usize, item: Item) {
        hands.send(to, item);
    }

    /// A statement has come.
    fn hears(&mut self, _: &Arc<[u8]>) {}

    /// A time that it asked for has come.
    fn acts(&mut self, _: &mut Hands<'_>, _: u64) {}
}
