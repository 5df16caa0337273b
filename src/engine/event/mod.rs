//! Peers exchanging messages in virtual time.

mod link;
mod queue;

pub use link::Latency;

use crate::protocol::{CollectingOutbox, Input, Peer, wire};
use crate::vocabulary::{Label, PeerIndex, Time};

use super::{Collector, Communication, EngineError, Observer, Outcome, Session};
use link::Links;
use queue::Queue;

/// What the queue holds.
#[derive(Debug)]
struct Delivery {
    to: PeerIndex,
    input: Input,
}

/// Runs the session's peers over links with this latency, without loss.
///
/// Events are ordered by (virtual time, order of scheduling), so a run is a function of its seed. Every
/// message is delivered as the same shared block to each neighbour; bytes are counted as on the wire.
///
/// # Errors
/// [`EngineError`] if a peer fails, reports a neighbour, or waits for ever.
///
/// # Cost
/// O(messages · (n p + log messages)) time; memory of two steps per peer plus open iterations.
pub fn run(
    session: &Session,
    latency: Latency,
    observer: &mut dyn Observer,
) -> Result<Outcome, EngineError> {
    let peers = session.peers();
    let indices = || (0..peers).map(PeerIndex::from_index);
    let mut nodes = indices()
        .map(|index| Peer::new(session.peer_setup(index, None)))
        .collect::<Result<Vec<_>, _>>()?;
    let mut links = Links::new(latency, session.seed.generator(Label::Latency));
    let mut queue = Queue::default();
    for to in indices() {
        queue.push(
            Time(0),
            Delivery {
                to,
                input: Input::Start,
            },
        );
    }
    let mut collector = Collector::new(session.clone());
    let mut sent = vec![0_u64; peers];
    let mut messages = 0_u64;
    let parameters = session.plan.parameters();
    let expected = 2
        * session.graph().edges() as u64
        * u64::from(session.plan.steps_per_iteration())
        * u64::from(parameters.iterations);
    let mut outbox = CollectingOutbox::default();
    while let Some((now, Delivery { to, input })) = queue.pop() {
        nodes[to.index()].handle(input, now, &mut outbox)?;
        if let Some(fault) = outbox.faults.drain(..).next() {
            return Err(EngineError::Fault {
                reporter: to,
                fault,
            });
        }
        for (timer, at) in outbox.timers.drain(..) {
            queue.push(
                at,
                Delivery {
                    to,
                    input: Input::Timer(timer),
                },
            );
        }
        for message in outbox.messages.drain(..) {
            collector.message(to, &message);
            for &neighbour in session.graph().neighbours(to.index()) {
                sent[to.index()] += wire::framed_len(&message.body) as u64;
                messages += 1;
                let input = Input::Message {
                    from: to,
                    message: message.clone(),
                };
                queue.push(
                    links.arrival(now),
                    Delivery {
                        to: PeerIndex(neighbour),
                        input,
                    },
                );
            }
            observer.progress(messages, expected);
        }
        for event in outbox.events.drain(..) {
            if let Some(record) = collector.event(to, &event) {
                observer.iteration(record);
            }
        }
    }
    let waiting = nodes.iter().filter(|peer| !peer.is_finished()).count();
    if waiting > 0 {
        return Err(EngineError::Stalled { waiting, peers });
    }
    Ok(Outcome {
        records: collector.into_records(),
        communication: Communication {
            rounds: vec![session.plan.steps_per_iteration(); parameters.iterations as usize],
            messages,
            bytes_total: sent.iter().sum(),
            bytes_max_peer: sent.iter().copied().max().unwrap_or(0),
        },
    })
}
