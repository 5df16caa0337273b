//! The task that owns one peer: feeds it what its readers decode, and hands its messages to the writers they are for.
//!
//! It waits for its inbox, its writers and its timer in one place, and while reporting for the collector,
//! which waits for nobody. Its readers wait for it and it never waits for them, so no cycle of full
//! channels can form.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};
use tokio::task::{self, JoinSet};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::error::SwarmError;
use super::exchange::{Frame, Inbound, QUEUE, Report, Said, Written};
use crate::protocol::averaging::Phase;
use crate::protocol::{CollectingOutbox, Input, Message, Peer, Targets, Timer, Values, wire};
use crate::vocabulary::{PeerIndex, Time};

/// Frames kept for their memory: when the third is made, every neighbour has read the first.
const KEPT: usize = 2;

/// Everything the task needs.
pub(super) struct Driver {
    pub(super) peer: Peer,
    pub(super) inbox: mpsc::Receiver<Inbound>,
    /// Tells the readers which exchange the peer is in.
    pub(super) reached: watch::Sender<u64>,
    /// The last frames, whose memory is used again once every writer is done with it.
    pub(super) frames: VecDeque<Frame>,
    /// The queue of each neighbour's writer.
    pub(super) edges: Vec<(PeerIndex, mpsc::Sender<Said>)>,
    /// What the coordinates of sums are on the wire.
    pub(super) values: Values,
    pub(super) writers: JoinSet<Result<Written, SwarmError>>,
    /// The neighbour that each writer writes to.
    pub(super) written_to: BTreeMap<task::Id, PeerIndex>,
    /// How long the writers may take for the last frames once the peer has finished.
    pub(super) patience: Duration,
    pub(super) reports: mpsc::Sender<(PeerIndex, Report)>,
    /// Time 0 of the run.
    pub(super) clock: Instant,
    /// Streams that are not acknowledged yet: all of them at first.
    pub(super) unopened: usize,
    /// Neighbours that have closed their streams, with the messages received and expected.
    pub(super) ended: Vec<(PeerIndex, u64, u64)>,
}

impl Driver {
    /// Runs the peer to its end and reports how it ended.
    pub(super) async fn drive(mut self) {
        let report = match self.run().await {
            Ok(written) => Report::Done(written),
            Err(error) => Report::Failed(error),
        };
        // Sent before anything is dropped: neighbours that notice the loss report after us. If the
        // collector is gone the run is over.
        let _ = self.reports.send((self.peer.index(), report)).await;
    }

    async fn run(&mut self) -> Result<Written, SwarmError> {
        let mut outbox = CollectingOutbox::default();
        let mut deadline: Option<(Timer, Instant)> = None;
        if self.unopened == 0 {
            self.handle(Input::Start, &mut outbox, &mut deadline)
                .await?;
        }
        while !self.peer.is_finished() {
            let at = deadline.map_or(self.clock, |(_, at)| at);
            let input = tokio::select! {
                // A message that is here wins over the timer that would call it missing.
                biased;
                received = self.inbox.recv() => {
                    let inbound = received.ok_or(SwarmError::TaskLost)?;
                    match self.input(inbound)? {
                        Some(input) => input,
                        None => continue,
                    }
                }
                Some(ended) = self.writers.join_next() => {
                    // A writer ends by itself only in failure: its queue is open.
                    return match ended {
                        Ok(Err(error)) => Err(error),
                        Ok(Ok(_)) | Err(_) => Err(SwarmError::TaskLost),
                    };
                }
                () = sleep_until(at), if deadline.is_some() => {
                    let Some((timer, _)) = deadline.take() else { continue };
                    Input::Timer(timer)
                }
            };
            self.handle(input, &mut outbox, &mut deadline).await?;
        }
        self.finish().await
    }

    /// What the peer should be told of `inbound`, if anything.
    fn input(&mut self, inbound: Inbound) -> Result<Option<Input>, SwarmError> {
        let reporter = self.peer.index();
        Err(match inbound {
            Inbound::Opened => {
                self.unopened -= 1;
                return Ok((self.unopened == 0).then_some(Input::Start));
            }
            Inbound::Message { from, message } => {
                return Ok(Some(Input::Message { from, message }));
            }
            Inbound::Fault(fault) => SwarmError::Fault { reporter, fault },
            Inbound::Lost {
                from,
                received,
                expected,
                source,
            } => SwarmError::Disconnected {
                reporter,
                neighbour: from,
                received,
                expected,
                source,
            },
            Inbound::Ended {
                from,
                received,
                expected,
            } => {
                self.ended.push((from, received, expected));
                self.check_ended()?;
                return Ok(None);
            }
            Inbound::Failed(error) => error,
        })
    }

    /// Fails if the peer waits for a neighbour that will say nothing more.
    fn check_ended(&self) -> Result<(), SwarmError> {
        let waiting = |(from, _, _): &&(PeerIndex, u64, u64)| self.peer.waits_for(*from);
        match self.ended.iter().find(waiting) {
            None => Ok(()),
            Some(&(neighbour, received, expected)) => Err(SwarmError::Disconnected {
                reporter: self.peer.index(),
                neighbour,
                received,
                expected,
                source: std::io::ErrorKind::UnexpectedEof.into(),
            }),
        }
    }

    /// Feeds the peer and passes on what it puts out.
    async fn handle(
        &mut self,
        input: Input,
        outbox: &mut CollectingOutbox,
        deadline: &mut Option<(Timer, Instant)>,
    ) -> Result<(), SwarmError> {
        let index = self.peer.index();
        let now = Time(u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX));
        self.peer.handle(input, now, outbox)?;
        let step = self.peer.step();
        self.reached.send_if_modified(|reached| {
            let moved = *reached != step;
            *reached = step;
            moved
        });
        if let Some(fault) = outbox.faults.drain(..).next() {
            return Err(SwarmError::Fault {
                reporter: index,
                fault,
            });
        }
        self.check_ended()?;
        // A timer of a step that the peer has left means nothing to it, so the newest is enough.
        if let Some((timer, at)) = outbox.timers.drain(..).next_back() {
            *deadline = Some((timer, self.clock + Duration::from_nanos(at.0)));
        }
        for (targets, message) in outbox.messages.drain(..) {
            let said = self.said(message);
            match &targets {
                Targets::All => {
                    for edge in &self.edges {
                        hand_on(index, edge, &said)?;
                    }
                }
                Targets::Positions(positions) => {
                    let edges = positions.iter().map(|&position| position as usize);
                    for edge in edges.filter_map(|position| self.edges.get(position)) {
                        hand_on(index, edge, &said)?;
                    }
                }
            }
        }
        for event in outbox.events.drain(..) {
            self.report(Report::Event(event)).await?;
        }
        Ok(())
    }

    /// What writers are handed: a message of one frame encoded, once for all it is for, in the memory of a frame that is
    /// written everywhere.
    fn said(&mut self, message: Message) -> Said {
        if wire::frames(&message, self.values) > 1 {
            return Said::Long(message);
        }
        let oldest = (self.frames.len() >= KEPT).then(|| self.frames.pop_front());
        let memory = oldest.flatten().and_then(Arc::into_inner);
        let memory = memory.unwrap_or_default();
        let phase = Phase::of(&message.body);
        let frame = Arc::new(wire::encode_framed_into(&message, self.values, memory));
        self.frames.push_back(Arc::clone(&frame));
        Said::Frame(phase, frame)
    }

    async fn report(&self, report: Report) -> Result<(), SwarmError> {
        let sent = self.reports.send((self.peer.index(), report)).await;
        sent.map_err(|_| SwarmError::TaskLost)
    }

    /// Lets the writers empty their queues and adds up what they have written.
    ///
    /// # Errors
    /// [`SwarmError::Unread`] with the first neighbour that has not taken its last frames when the patience ends.
    async fn finish(&mut self) -> Result<Written, SwarmError> {
        self.edges.clear();
        let mut total = Written::default();
        let deadline = Instant::now() + self.patience;
        loop {
            let ended = match timeout_at(deadline, self.writers.join_next_with_id()).await {
                Ok(Some(ended)) => ended,
                Ok(None) => return Ok(total),
                Err(_) => {
                    let unread = self.written_to.values().min();
                    let neighbour = *unread.ok_or(SwarmError::TaskLost)?;
                    return Err(SwarmError::Unread {
                        peer: self.peer.index(),
                        neighbour,
                        after: self.patience,
                    });
                }
            };
            let (writer, written) = ended.map_err(|_| SwarmError::TaskLost)?;
            self.written_to.remove(&writer);
            let written = written?;
            total.messages += written.messages;
            total.bytes += written.bytes;
        }
    }
}

/// Puts a message into the queue of one neighbour's writer.
fn hand_on(
    peer: PeerIndex,
    (neighbour, queue): &(PeerIndex, mpsc::Sender<Said>),
    said: &Said,
) -> Result<(), SwarmError> {
    match queue.try_send(said.clone()) {
        // A writer that has failed closes its queue; the next turn of the loop reports why.
        Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
        Err(TrySendError::Full(_)) => Err(SwarmError::QueueFull {
            peer,
            neighbour: *neighbour,
            capacity: QUEUE,
        }),
    }
}
