//! A peer that tolerates no loss, as the loop runs it.

use std::convert::Infallible;

use tokio::sync::watch;

use super::error::HostError;
use super::runtime::{Actor, Input, Output};
use crate::protocol::{self, CollectingOutbox, Event, Message, Peer, Targets, Timer};
use crate::vocabulary::{PeerIndex, ReleaseId, Time};

/// What the tasks around a plain peer tell it.
#[derive(Debug)]
pub(super) enum Inbound {
    /// A neighbour has acknowledged the stream opened to it.
    Opened,
    /// A message, with its sender as authenticated by the connection.
    Message { from: PeerIndex, message: Message },
    /// A neighbour closed its stream between two frames and before its last one: it may have been done early, as this
    /// peer will be then; otherwise this is why it cannot go on. All it said has been handed over before.
    Ended(PeerIndex, HostError),
    /// The peer cannot go on.
    Failed(HostError),
}

/// A plain peer with what is known of its edges.
pub(super) struct PlainPeer {
    peer: Peer,
    /// Tells the readers which exchange the peer is in.
    reached: watch::Sender<u64>,
    /// Streams that have to be acknowledged before it begins.
    unopened: usize,
    /// Neighbours that have closed their streams.
    ended: Vec<(PeerIndex, HostError)>,
    /// The last release that was charged.
    charged: ReleaseId,
    deadline: Option<(Timer, Time)>,
    outbox: CollectingOutbox,
}

impl PlainPeer {
    /// A peer that begins once so many streams are acknowledged.
    pub(super) fn new(peer: Peer, reached: watch::Sender<u64>, unopened: usize) -> Self {
        Self {
            peer,
            reached,
            unopened,
            ended: Vec::new(),
            charged: ReleaseId(0),
            deadline: None,
            outbox: CollectingOutbox::default(),
        }
    }

    /// What the peer is to be fed, if anything.
    fn input(&mut self, input: Input<Inbound>) -> Result<Option<protocol::Input>, HostError> {
        Ok(match input {
            Input::Start => (self.unopened == 0).then_some(protocol::Input::Start),
            Input::Heard(Inbound::Opened) => {
                self.unopened = self.unopened.saturating_sub(1);
                (self.unopened == 0).then_some(protocol::Input::Start)
            }
            Input::Heard(Inbound::Message { from, message }) => {
                Some(protocol::Input::Message { from, message })
            }
            Input::Heard(Inbound::Ended(from, error)) => {
                self.ended.push((from, error));
                self.check_ended()?;
                None
            }
            Input::Heard(Inbound::Failed(error)) => return Err(error),
            Input::Due => {
                let deadline = self.deadline.take();
                deadline.map(|(timer, _)| protocol::Input::Timer(timer))
            }
        })
    }

    /// Fails if the peer waits for a neighbour that will say nothing more.
    fn check_ended(&mut self) -> Result<(), HostError> {
        let waits = |(from, _): &(PeerIndex, HostError)| self.peer.waits_for(*from);
        let ended = self.ended.iter().position(waits);
        ended.map_or(Ok(()), |at| Err(self.ended.remove(at).1))
    }
}

impl Actor for PlainPeer {
    type Inbound = Inbound;
    type Price = ReleaseId;
    type Record = Infallible;
    type Targets = Targets;
    type Message = Message;
    type News = Event;

    /// Nothing leaves after a fault, and nothing of a release before it is charged, not even to the caller.
    fn handle(
        &mut self,
        input: Input<Inbound>,
        now: Time,
        out: &mut Vec<Output<Self>>,
    ) -> Result<(), HostError> {
        let Some(input) = self.input(input)? else {
            return Ok(());
        };
        self.peer.handle(input, now, &mut self.outbox)?;
        let step = self.peer.step();
        self.reached.send_if_modified(|reached| {
            let moved = *reached != step;
            *reached = step;
            moved
        });
        if let Some(fault) = self.outbox.faults.drain(..).next() {
            let reporter = self.peer.index();
            return Err(HostError::Fault { reporter, fault });
        }
        self.check_ended()?;
        // A timer of a step that the peer has left means nothing to it, so the newest is enough.
        if let Some(deadline) = self.outbox.timers.drain(..).next_back() {
            self.deadline = Some(deadline);
        }
        let charged = &mut self.charged;
        let mut charge = |release: ReleaseId, out: &mut Vec<Output<Self>>| {
            while *charged < release {
                *charged = charged.next();
                out.push(Output::Charge(*charged));
            }
        };
        for (to, message) in self.outbox.messages.drain(..) {
            charge(message.release, out);
            out.push(Output::Send(to, message));
        }
        for event in self.outbox.events.drain(..) {
            if let Event::Published { release, .. } = &event {
                charge(*release, out);
            }
            out.push(Output::Tell(event));
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.peer.is_finished()
    }

    fn due(&self) -> Option<Time> {
        self.deadline.map(|(_, at)| at)
    }
}

/// Does something with the edge of each neighbour that a message is for.
pub(super) fn for_each_target<E>(
    targets: &Targets,
    edges: &[E],
    hand_on: impl FnMut(&E) -> Result<(), HostError>,
) -> Result<(), HostError> {
    match targets {
        Targets::All => edges.iter().try_for_each(hand_on),
        Targets::Positions(positions) => {
            let positions = positions.iter().map(|&position| position as usize);
            positions
                .filter_map(|at| edges.get(at))
                .try_for_each(hand_on)
        }
    }
}
