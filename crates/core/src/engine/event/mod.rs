//! Peers exchanging messages in virtual time.

// For faults that a program injects.
#[doc(hidden)]
pub mod faults;
mod link;
mod mail;
mod post;
mod queue;

pub use link::Latency;

use crate::protocol::averaging::{Form, PeerBytes, Phase, Traffic};
use crate::protocol::{CollectingOutbox, Input, Message, Peer, Targets, wire};
use crate::vocabulary::{Label, PeerIndex, Span, Time};

use super::losses::{Fate, Losses};
use super::{Collector, Communication, EngineError, Observer, Outcome, Session};
use link::Links;
use mail::{Mail, Parity};
use post::{Letter, Post, Receivers};
use queue::Queue;

/// What the queue holds.
#[derive(Clone, Copy, Debug)]
enum Arrival {
    /// The message that `from` said in a step of this parity arrives at all its neighbours, in ascending order.
    Everywhere { from: PeerIndex, parity: Parity },
    /// One copy arrives at `to`.
    Copy { to: PeerIndex, parity: Parity },
    /// A letter of the general path arrives.
    Letter { number: u32 },
}

/// How messages are held while they are under way.
enum Delivery {
    /// Every message goes to all neighbours and every exchange takes one of each: counters suffice.
    Broadcasts(Mail),
    /// Every message has its own receivers.
    Letters(Post),
}

/// Runs the session's peers over links with this latency. Messages are lost where the averaging is made for it, and only there.
///
/// Arrivals are ordered by (virtual time, order of sending), so a run is a function of its seed. Where the averaging is a
/// recurrence, a peer is handed the messages of a step together, when the last of them arrives: by the contract of [`Peer`] it
/// puts nothing out before. In other programs it is handed every message when that arrives, and where one is lost the end of the
/// wait for it at the time at which it would have arrived; numbers to agree on and own coordinates are sent again until they arrive. Every message is one shared block for all neighbours; bytes are counted as on the wire.
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
    delivery: Delivery,
    losses: Option<Losses>,
    collector: Collector,
    outbox: CollectingOutbox,
    /// Bytes sent by each peer.
    sent: Vec<PeerBytes>,
    messages: u64,
    lost: u64,
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
            delivery: match session.schedule().form() {
                Form::Recurrence(_) => Delivery::Broadcasts(Mail::new(session.graph())),
                Form::Listed(_) | Form::Passing(_) => Delivery::Letters(Post::default()),
            },
            losses: Losses::of(session),
            collector: Collector::new(session.clone()),
            outbox: CollectingOutbox::default(),
            sent: vec![PeerBytes::default(); peers],
            messages: 0,
            lost: 0,
            expected: session
                .public()
                .traffic(session.plan().releases().len())
                .messages,
        })
    }

    fn run(mut self) -> Result<Outcome, EngineError> {
        for u in 0..self.nodes.len() {
            self.nodes[u].handle(Input::Start, Time(0), &mut self.outbox)?;
            self.carry_out(PeerIndex::from_index(u), 0)?;
        }
        while let Some((now, arrival)) = self.queue.pop() {
            self.observer.step(Time(0) + Span::from_micros(now));
            match arrival {
                Arrival::Everywhere { from, parity } => {
                    for &to in self.session.graph().neighbours(from.index()) {
                        self.arrive(PeerIndex(to), parity, now)?;
                    }
                }
                Arrival::Copy { to, parity } => self.arrive(to, parity, now)?,
                Arrival::Letter { number } => self.deliver(number, now)?,
            }
        }
        let waiting = self.nodes.iter().filter(|peer| !peer.is_finished()).count();
        if waiting > 0 {
            let peers = self.nodes.len();
            return Err(EngineError::Stalled { waiting, peers });
        }
        let records = self.collector.into_records();
        let rounds = self
            .session
            .public()
            .communication(records.len(), false)
            .rounds;
        let all = Traffic::counted(rounds.iter().sum(), self.messages, &self.sent);
        Ok(Outcome {
            records,
            communication: Communication {
                lost: self.lost,
                ..Communication::of(all, rounds)
            },
        })
    }

    /// Notes a message; the last one of the step the peer is in makes it go on, as far as it can.
    fn arrive(&mut self, to: PeerIndex, parity: Parity, now: u64) -> Result<(), EngineError> {
        let Delivery::Broadcasts(mail) = &mut self.delivery else {
            return Ok(());
        };
        if !mail.arrive(to, parity) {
            return Ok(());
        }
        let neighbours = self.session.graph().neighbours(to.index());
        let degree = neighbours.len();
        // A step may be complete before the one the peer is in: then it waits for its turn.
        while let Delivery::Broadcasts(mail) = &mut self.delivery
            && let Some(parity) = mail.take(to, degree)
        {
            let time = Time(0) + Span::from_micros(now);
            let messages = neighbours.iter().filter_map(|&from| {
                let from = PeerIndex(from);
                Some((from, mail.said(from, parity)?))
            });
            self.nodes[to.index()].handle_messages(messages, time, &mut self.outbox)?;
            self.carry_out(to, now)?;
        }
        Ok(())
    }

    /// Hands a letter to whom it is for.
    fn deliver(&mut self, number: u32, now: u64) -> Result<(), EngineError> {
        let Delivery::Letters(post) = &mut self.delivery else {
            return Ok(());
        };
        let Some(Letter {
            from,
            to,
            message,
            lost,
        }) = post.arrive(number)
        else {
            return Ok(());
        };
        if lost && let Receivers::One(to) = to {
            let (release, round) = (message.release, message.round);
            let input = Input::Lost {
                from,
                release,
                round,
            };
            return self.hand(to, input, now);
        }
        match to {
            Receivers::One(to) => self.hand_over(from, to, message, now),
            Receivers::These(targets) => {
                let session = self.session;
                let neighbours = session.graph().neighbours(from.index());
                receivers(neighbours, &targets)
                    .try_for_each(|to| self.hand_over(from, to, message.clone(), now))
            }
        }
    }

    fn hand_over(
        &mut self,
        from: PeerIndex,
        to: PeerIndex,
        message: Message,
        now: u64,
    ) -> Result<(), EngineError> {
        self.hand(to, Input::Message { from, message }, now)
    }

    fn hand(&mut self, to: PeerIndex, input: Input, now: u64) -> Result<(), EngineError> {
        let time = Time(0) + Span::from_micros(now);
        self.nodes[to.index()].handle(input, time, &mut self.outbox)?;
        self.carry_out(to, now)
    }

    /// Sends what a peer says, counts and reports.
    fn carry_out(&mut self, from: PeerIndex, now: u64) -> Result<(), EngineError> {
        let values = self.session.plan().values();
        let outbox = &mut self.outbox;
        if let Some(fault) = outbox.faults.drain(..).next() {
            return Err(EngineError::Fault {
                reporter: from,
                fault,
            });
        }
        debug_assert!(outbox.timers.is_empty(), "peers wait for ever");
        for (targets, message) in outbox.messages.drain(..) {
            let neighbours = self.session.graph().neighbours(from.index());
            let copies = match &targets {
                Targets::All => neighbours.len(),
                Targets::Positions(positions) => positions.len(),
            } as u64;
            let bytes = copies * wire::framed_len(&message.body, values) as u64;
            self.sent[from.index()].add(Phase::of(&message.body), bytes);
            self.messages += copies;
            let (links, queue) = (&mut self.links, &mut self.queue);
            match &mut self.delivery {
                Delivery::Broadcasts(mail) => {
                    let parity = mail.say(from, message);
                    if let Some(at) = links.common_arrival(now) {
                        queue.push(at, Arrival::Everywhere { from, parity });
                    } else {
                        for &neighbour in neighbours {
                            let copy = Arrival::Copy {
                                to: PeerIndex(neighbour),
                                parity,
                            };
                            queue.push(links.arrival(now), copy);
                        }
                    }
                }
                Delivery::Letters(post) if self.losses.is_some() => {
                    let framed = wire::framed_len(&message.body, values) as u64;
                    for to in receivers(neighbours, &targets) {
                        let fate = self
                            .losses
                            .as_ref()
                            .map(|all| all.fate(&message, (from, to)));
                        let Fate { attempts, arrives } = fate.unwrap_or(Fate {
                            attempts: 1,
                            arrives: true,
                        });
                        let again = u64::from(attempts - 1);
                        self.sent[from.index()].add(Phase::of(&message.body), again * framed);
                        self.messages += again;
                        self.lost += again + u64::from(!arrives);
                        let number = post.send(Letter {
                            from,
                            to: Receivers::One(to),
                            message: message.clone(),
                            lost: !arrives,
                        });
                        // It is sent again when it should have arrived.
                        let once = links.arrival(now) - now;
                        let at = now.saturating_add(once.saturating_mul(u64::from(attempts)));
                        queue.push(at, Arrival::Letter { number });
                    }
                }
                Delivery::Letters(post) => {
                    let lost = false;
                    if let Some(at) = links.common_arrival(now) {
                        let to = Receivers::These(targets);
                        let number = post.send(Letter {
                            from,
                            to,
                            message,
                            lost,
                        });
                        queue.push(at, Arrival::Letter { number });
                    } else {
                        for to in receivers(neighbours, &targets) {
                            let number = post.send(Letter {
                                from,
                                to: Receivers::One(to),
                                message: message.clone(),
                                lost,
                            });
                            queue.push(links.arrival(now), Arrival::Letter { number });
                        }
                    }
                }
            }
            self.observer
                .progress(self.messages.min(self.expected), self.expected);
        }
        for event in outbox.events.drain(..) {
            self.collector.event(from, &event, self.observer);
        }
        Ok(())
    }
}

/// The peers that a message goes to, in ascending order.
fn receivers<'a>(
    neighbours: &'a [u32],
    targets: &'a Targets,
) -> Box<dyn Iterator<Item = PeerIndex> + 'a> {
    match targets {
        Targets::All => Box::new(neighbours.iter().map(|&v| PeerIndex(v))),
        Targets::Positions(positions) => {
            let of = |position: &u32| PeerIndex(neighbours[*position as usize]);
            Box::new(positions.iter().map(of))
        }
    }
}
