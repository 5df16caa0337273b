//! Peers exchanging messages in virtual time.

mod link;
mod mail;
mod queue;

pub use link::Latency;

use crate::protocol::{CollectingOutbox, Input, Peer, wire};
use crate::vocabulary::{Label, PeerIndex, Span, Time};

use super::{Collector, Communication, EngineError, Observer, Outcome, Session};
use link::Links;
use mail::{Mail, Parity};
use queue::Queue;

/// What the queue holds.
#[derive(Clone, Copy, Debug)]
enum Arrival {
    /// The message that `from` said in a step of this parity arrives at all its neighbours, in ascending order.
    Everywhere { from: PeerIndex, parity: Parity },
    /// One copy arrives at `to`.
    Copy { to: PeerIndex, parity: Parity },
}

/// Runs the session's peers over links with this latency, without loss.
///
/// Arrivals are ordered by (virtual time, order of sending), so a run is a function of its seed. A peer is handed the
/// messages of a step together, when the last of them arrives: by the contract of [`Peer`] it puts nothing out
/// before. Every message is one shared block for all neighbours; bytes are counted as on the wire.
///
/// # Errors
/// [`EngineError`] if a peer fails, reports a neighbour, or waits for ever.
///
/// # Cost
/// O(messages · n p) time; memory of two steps per peer plus open iterations, and 16 bytes per message under way (per
/// broadcast under way with constant latency).
pub fn run(
    session: &Session,
    latency: Latency,
    observer: &mut dyn Observer,
) -> Result<Outcome, EngineError> {
    Simulation::new(session, latency, observer)?.run()
}

struct Simulation<'a> {
    session: &'a Session,
    observer: &'a mut dyn Observer,
    nodes: Vec<Peer>,
    links: Links,
    queue: Queue<Arrival>,
    mail: Mail,
    collector: Collector,
    outbox: CollectingOutbox,
    /// Bytes sent by each peer.
    sent: Vec<u64>,
    messages: u64,
    /// Messages of a whole run.
    expected: u64,
}

impl<'a> Simulation<'a> {
    fn new(
        session: &'a Session,
        latency: Latency,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, EngineError> {
        let peers = session.peers();
        Ok(Self {
            session,
            observer,
            nodes: (0..peers)
                .map(|u| Peer::new(session.peer_setup(PeerIndex::from_index(u), None)))
                .collect::<Result<_, _>>()?,
            links: Links::new(latency, session.seed().generator(Label::Latency)),
            queue: Queue::default(),
            mail: Mail::new(session.graph()),
            collector: Collector::new(session.clone()),
            outbox: CollectingOutbox::default(),
            sent: vec![0; peers],
            messages: 0,
            expected: 2
                * session.graph().edges() as u64
                * u64::from(session.plan().steps_per_iteration())
                * u64::from(session.plan().parameters().iterations),
        })
    }

    fn run(mut self) -> Result<Outcome, EngineError> {
        for u in 0..self.nodes.len() {
            self.nodes[u].handle(Input::Start, Time(0), &mut self.outbox)?;
            self.carry_out(PeerIndex::from_index(u), 0)?;
        }
        while let Some((now, arrival)) = self.queue.pop() {
            match arrival {
                Arrival::Everywhere { from, parity } => {
                    for &to in self.session.graph().neighbours(from.index()) {
                        self.arrive(PeerIndex(to), parity, now)?;
                    }
                }
                Arrival::Copy { to, parity } => self.arrive(to, parity, now)?,
            }
        }
        let waiting = self.nodes.iter().filter(|peer| !peer.is_finished()).count();
        if waiting > 0 {
            let peers = self.nodes.len();
            return Err(EngineError::Stalled { waiting, peers });
        }
        let plan = self.session.plan();
        Ok(Outcome {
            records: self.collector.into_records(),
            communication: Communication {
                rounds: vec![plan.steps_per_iteration(); plan.parameters().iterations as usize],
                messages: self.messages,
                bytes_total: self.sent.iter().sum(),
                bytes_max_peer: self.sent.iter().copied().max().unwrap_or(0),
            },
        })
    }

    /// Notes a message; the last one of the step the peer is in makes it go on, as far as it can.
    fn arrive(&mut self, to: PeerIndex, parity: Parity, now: u64) -> Result<(), EngineError> {
        if !self.mail.arrive(to, parity) {
            return Ok(());
        }
        let neighbours = self.session.graph().neighbours(to.index());
        let degree = neighbours.len();
        // A step may be complete before the one the peer is in: then it waits for its turn.
        while let Some(parity) = self.mail.take(to, degree) {
            let time = Time(0) + Span::from_micros(now);
            let messages = neighbours.iter().filter_map(|&from| {
                let from = PeerIndex(from);
                Some((from, self.mail.said(from, parity)?))
            });
            self.nodes[to.index()].handle_messages(messages, time, &mut self.outbox)?;
            self.carry_out(to, now)?;
        }
        Ok(())
    }

    /// Sends what a peer says, counts and reports.
    fn carry_out(&mut self, from: PeerIndex, now: u64) -> Result<(), EngineError> {
        let outbox = &mut self.outbox;
        if let Some(fault) = outbox.faults.drain(..).next() {
            return Err(EngineError::Fault {
                reporter: from,
                fault,
            });
        }
        debug_assert!(outbox.timers.is_empty(), "peers wait for ever");
        for message in outbox.messages.drain(..) {
            self.collector.message(from, &message);
            let neighbours = self.session.graph().neighbours(from.index());
            let copies = neighbours.len() as u64;
            self.sent[from.index()] += copies * wire::framed_len(&message.body) as u64;
            self.messages += copies;
            let parity = self.mail.say(from, message);
            if let Some(at) = self.links.common_arrival(now) {
                self.queue.push(at, Arrival::Everywhere { from, parity });
            } else {
                for &neighbour in neighbours {
                    let copy = Arrival::Copy {
                        to: PeerIndex(neighbour),
                        parity,
                    };
                    self.queue.push(self.links.arrival(now), copy);
                }
            }
            self.observer.progress(self.messages, self.expected);
        }
        for event in outbox.events.drain(..) {
            self.collector.event(from, &event, self.observer);
        }
        Ok(())
    }
}
