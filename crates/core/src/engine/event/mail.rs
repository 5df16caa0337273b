//! What peers have said and what of it has arrived.

use crate::protocol::Message;
use crate::topology::Graph;
use crate::vocabulary::PeerIndex;

/// Messages under way and delivered, each held once, at its sender.
///
/// A peer does nothing until the last message of its step is there, so an arrival is a number counted down, and
/// the messages are handed over together. Counters are small and dense: at ten thousand peers they stay in
/// the second-level cache, where peers and their inboxes do not.
///
/// Two messages per sender and two counters per receiver suffice, by parity of step: a neighbour is at most one
/// step ahead (see [`crate::protocol`]), so nobody says step k + 2 before all its neighbours took step k.
#[derive(Debug)]
pub(super) struct Mail {
    /// By parity, then sender: a step is read from one of the two.
    said: [Vec<Option<Message>>; 2],
    next: Vec<Parity>,
    missing: Vec<[u32; 2]>,
}

/// Whether a step is even (0) or odd (1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Parity(u8);

impl Parity {
    fn other(self) -> Self {
        Self(1 - self.0)
    }

    fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl Mail {
    /// Nothing said, nothing arrived.
    pub(super) fn new(graph: &Graph) -> Self {
        let degree = |u| graph.neighbours(u).len() as u32;
        Self {
            said: [vec![None; graph.nodes()], vec![None; graph.nodes()]],
            next: vec![Parity::default(); graph.nodes()],
            missing: (0..graph.nodes()).map(|u| [degree(u); 2]).collect(),
        }
    }

    /// Keeps what `from` says in its next step, until it says the one after the next.
    pub(super) fn say(&mut self, from: PeerIndex, message: Message) -> Parity {
        let next = &mut self.next[from.index()];
        let parity = *next;
        *next = parity.other();
        self.said[parity.index()][from.index()] = Some(message);
        parity
    }

    /// A message arrives at `to`; whether it was the last one of its step.
    pub(super) fn arrive(&mut self, to: PeerIndex, parity: Parity) -> bool {
        let missing = &mut self.missing[to.index()][parity.index()];
        *missing -= 1;
        *missing == 0
    }

    /// The step `to` is in, if all its messages are there; they then count as handed over, and the counter begins anew for
    /// the step after the next.
    pub(super) fn take(&mut self, to: PeerIndex, degree: usize) -> Option<Parity> {
        // A peer is in the step of what it said last.
        let parity = self.next[to.index()].other();
        let missing = &mut self.missing[to.index()][parity.index()];
        let complete = *missing == 0 && degree > 0;
        if complete {
            *missing = degree as u32;
        }
        complete.then_some(parity)
    }

    /// What `from` said.
    pub(super) fn said(&self, from: PeerIndex, parity: Parity) -> Option<&Message> {
        self.said[parity.index()][from.index()].as_ref()
    }
}
