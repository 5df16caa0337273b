//! The task that owns a deployed peer: feeds it what its edges receive, and signs and hands on what it says.
//!
//! It runs on a thread of its own, since a contribution may take long and the gate waits for a disk.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::defect::Defect;
use super::edge::{Blame, Inbound, Outgoing, Record, Sending, blame};
use super::error::HostError;
use super::hub::Hub;
use super::setup::{Gate, HostEvent, Written};
use crate::protocol::{
    CollectingOutbox, Event, Input, Message, Peer, Targets, Timer, Values, wire,
};
use crate::session::{Identity, PublicId};
use crate::vocabulary::{PeerIndex, ReleaseId, Time};

/// How often a finished peer looks for neighbours that are lost.
const LOOK: Duration = Duration::from_millis(100);

/// Everything the task needs.
pub(super) struct Driver {
    pub(super) peer: Peer,
    pub(super) identity: Arc<Identity>,
    /// What the coordinates of sums are on the wire.
    pub(super) values: Values,
    pub(super) gate: Gate,
    /// The last release whose gate has been passed.
    pub(super) passed: ReleaseId,
    pub(super) inbox: mpsc::Receiver<Inbound>,
    /// Tells the readers which exchange the peer is in.
    pub(super) reached: watch::Sender<u64>,
    /// One per neighbour, in the order of the setup.
    pub(super) edges: Vec<Arc<Outgoing>>,
    pub(super) neighbours: Vec<(PeerIndex, PublicId)>,
    /// Told of every acknowledgement.
    pub(super) progress: Arc<Notify>,
    pub(super) hub: Arc<Hub>,
    /// Set, or gone, when the host ends.
    pub(super) stop: watch::Receiver<bool>,
    /// Time 0 of the run.
    pub(super) clock: Instant,
    /// Memory for what is being signed.
    pub(super) piece: Vec<u8>,
    pub(super) defect: Option<Defect>,
}

/// How a run ends before its end.
enum End {
    Failed(HostError),
    /// A neighbour is to be blamed.
    Fault(PublicId, Blame),
    /// The host ends.
    Stopped,
}

impl<E: Into<HostError>> From<E> for End {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl Driver {
    /// Runs the peer to its end and tells how it ended.
    pub(super) async fn drive(mut self) {
        match self.run().await {
            Ok(written) => self.hub.tell(HostEvent::Finished(written)).await,
            Err(End::Failed(error)) => self.hub.tell(HostEvent::Failed(error)).await,
            Err(End::Fault(culprit, blame)) => {
                let (what, evidence) = *blame;
                self.hub.blame(culprit, what, evidence).await;
            }
            Err(End::Stopped) => {}
        }
    }

    async fn run(&mut self) -> Result<Written, End> {
        let mut outbox = CollectingOutbox::default();
        let mut deadline: Option<(Timer, Instant)> = None;
        let mut stop = self.stop.clone();
        self.handle(Input::Start, &mut outbox, &mut deadline)
            .await?;
        while !self.peer.is_finished() {
            let at = deadline.map_or(self.clock, |(_, at)| at);
            let input = tokio::select! {
                // A message that is here wins over the timer that would call it missing.
                biased;
                _ = stop.wait_for(|stop| *stop) => return Err(End::Stopped),
                inbound = self.inbox.recv() => self.input(inbound)?,
                () = sleep_until(at), if deadline.is_some() => {
                    let Some((timer, _)) = deadline.take() else { continue };
                    Input::Timer(timer)
                }
            };
            self.handle(input, &mut outbox, &mut deadline).await?;
        }
        self.finish(stop).await
    }

    /// What the peer should be told of `inbound`.
    fn input(&self, inbound: Option<Inbound>) -> Result<Input, End> {
        match inbound {
            Some(Inbound::Message { from, message }) => Ok(Input::Message { from, message }),
            Some(Inbound::Fault {
                culprit,
                what,
                evidence,
            }) => Err(End::Fault(culprit, Box::new((what, evidence)))),
            None if self.edges.is_empty() => Err(HostError::TaskLost.into()),
            // Readers end with the host only.
            None => Err(End::Stopped),
        }
    }

    /// Feeds the peer and passes on what it puts out.
    async fn handle(
        &mut self,
        input: Input,
        outbox: &mut CollectingOutbox,
        deadline: &mut Option<(Timer, Instant)>,
    ) -> Result<(), End> {
        let now = Time(u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX));
        self.peer
            .handle(input, now, outbox)
            .map_err(HostError::from)?;
        let step = self.peer.step();
        self.reached.send_if_modified(|reached| {
            let moved = *reached != step;
            *reached = step;
            moved
        });
        if let Some(fault) = outbox.faults.drain(..).next() {
            let index = fault.culprit;
            let culprit = self.neighbours.iter().find(|(known, _)| *known == index);
            return Err(match culprit {
                Some(&(_, culprit)) => End::Fault(culprit, blame(fault.into())),
                None => HostError::Neighbours.into(),
            });
        }
        // A timer of a step that the peer has left means nothing to it, so the newest is enough.
        if let Some((timer, at)) = outbox.timers.drain(..).next_back() {
            *deadline = Some((timer, self.clock + Duration::from_nanos(at.0)));
        }
        for (targets, message) in outbox.messages.drain(..) {
            self.pass(message.release)?;
            self.say(&targets, &message)?;
        }
        for event in outbox.events.drain(..) {
            if let Event::Published { release, .. } = &event {
                self.pass(*release)?;
            }
            self.hub.tell(HostEvent::Event(event)).await;
        }
        Ok(())
    }

    /// Passes the gates of all releases up to this one. Nothing of a release leaves, not even to the caller, before its gate is passed.
    fn pass(&mut self, release: ReleaseId) -> Result<(), End> {
        while self.passed < release {
            let next = self.passed.next();
            (self.gate)(next).map_err(|source| HostError::Gate {
                release: next,
                source,
            })?;
            self.passed = next;
        }
        Ok(())
    }

    /// Signs the frames of a message, each once for all it is for, and hands each to the edges before the next is signed.
    fn say(&mut self, targets: &Targets, message: &Message) -> Result<(), End> {
        let defect = self.defect.as_ref();
        let distorted = defect.and_then(|defect| defect.distorted(message));
        let message = distorted.as_ref().unwrap_or(message);
        for frame in 0..wire::frames(message, self.values) {
            let (values, identity) = (self.values, &self.identity);
            let record = Record::of(message, values, frame, identity, &mut self.piece);
            let record = Arc::new(record);
            let other = defect.and_then(|defect| defect.other(message, targets));
            let other = other.map(|(to, other)| {
                let other = Record::of(&other, values, frame, identity, &mut self.piece);
                (to, Arc::new(other))
            });
            let hand_on = |edge: &Arc<Outgoing>| {
                let said = match &other {
                    Some((to, other)) if Arc::ptr_eq(edge, &self.edges[*to]) => other,
                    _ => &record,
                };
                let handed = edge.push(said);
                handed.map_err(|what| End::Fault(edge.member.id, blame(what)))
            };
            match targets {
                Targets::All => self.edges.iter().try_for_each(hand_on)?,
                Targets::Positions(positions) => {
                    let edges = positions.iter().map(|&position| position as usize);
                    edges
                        .filter_map(|position| self.edges.get(position))
                        .try_for_each(hand_on)?;
                }
            }
        }
        Ok(())
    }

    /// Waits until every neighbour that is not lost has acknowledged everything, and adds up what was sent.
    async fn finish(&mut self, mut stop: watch::Receiver<bool>) -> Result<Written, End> {
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let is_done = |edge: &Arc<Outgoing>| {
            edge.sent(Sending::is_clear) || edge.member.link.borrow().is_lost
        };
        while !self.edges.iter().all(is_done) {
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return Err(End::Stopped),
                () = self.progress.notified() => {}
                inbound = self.inbox.recv() => {
                    // A message now is one too many, and no harm.
                    self.input(inbound)?;
                }
                _ = look.tick() => {}
            }
        }
        let mut total = Written::default();
        for edge in &self.edges {
            let written = edge.sent(Sending::written);
            total.messages += written.messages;
            total.bytes += written.bytes;
            total.resent += written.resent;
        }
        Ok(total)
    }
}
