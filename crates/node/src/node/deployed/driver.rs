//! Where a deployed peer runs: what it says is signed and handed to its edges, and every release passes its gate first.
//!
//! It runs on a thread of its own, since a contribution may take long and the gate waits for a disk.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::defect::Defect;
use super::edge::{Outgoing, Record, Sending};
use super::hub::Hub;
use super::setup::{Gate, HostEvent, Written};
use crate::node::error::HostError;
use crate::node::plain::{Inbound, PlainPeer, for_each_target};
use crate::node::runtime::{Host, Runtime};
use crate::protocol::{Event, Message, Targets, Values, wire};
use crate::session::{Identity, PublicId};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// How often a finished peer looks for neighbours that are lost.
const LOOK: Duration = Duration::from_millis(100);

/// A peer that signs what it says, to be run to its end.
pub(super) struct Driver {
    pub(super) runtime: Runtime<PlainPeer, Signing, Instant>,
    pub(super) neighbours: Vec<(PeerIndex, PublicId)>,
    /// Told of every acknowledgement.
    pub(super) progress: Arc<Notify>,
    /// Set, or gone, when the host ends.
    pub(super) stop: watch::Receiver<bool>,
}

/// The host of a deployed peer.
pub(super) struct Signing {
    pub(super) identity: Arc<Identity>,
    /// What the coordinates of sums are on the wire.
    pub(super) values: Values,
    pub(super) gate: Gate,
    /// One per neighbour, in the order of the setup.
    pub(super) edges: Vec<Arc<Outgoing>>,
    pub(super) hub: Arc<Hub>,
    /// Memory for what is being signed.
    pub(super) piece: Vec<u8>,
    pub(super) defect: Option<Defect>,
}

impl Host<PlainPeer> for Signing {
    /// Signs the frames of a message, each once for all it is for, and hands each to the edges before the next is signed.
    fn send(&mut self, targets: &Targets, message: Message) -> Result<Vec<Inbound>, HostError> {
        let defect = self.defect.as_ref();
        let distorted = defect.and_then(|defect| defect.distorted(&message));
        let message = distorted.as_ref().unwrap_or(&message);
        for frame in 0..wire::frames(message, self.values) {
            let (values, identity) = (self.values, &self.identity);
            let record = Record::of(message, values, frame, identity, &mut self.piece);
            let record = Arc::new(record);
            let other = defect.and_then(|defect| defect.other(message, targets));
            let other = other.map(|(to, other)| {
                let other = Record::of(&other, values, frame, identity, &mut self.piece);
                (to, Arc::new(other))
            });
            for_each_target(targets, &self.edges, |edge| {
                let said = match &other {
                    Some((to, other)) if Arc::ptr_eq(edge, &self.edges[*to]) => other,
                    _ => &record,
                };
                let handed = edge.push(said);
                handed.map_err(|what| HostError::Misbehaved {
                    culprit: edge.member.id,
                    what,
                    evidence: None,
                })
            })?;
        }
        Ok(Vec::new())
    }

    fn charge(&mut self, release: ReleaseId) -> Result<(), HostError> {
        (self.gate)(release).map_err(|source| HostError::Charge { release, source })
    }

    fn persist(&mut self, _: Vec<Infallible>) -> Result<(), HostError> {
        Ok(())
    }

    async fn tell(&mut self, event: Event) -> Result<(), HostError> {
        self.hub.tell(HostEvent::Event(event)).await;
        Ok(())
    }
}

impl Driver {
    /// Runs the peer to its end and tells how it ended.
    pub(super) async fn drive(mut self) {
        let ended = self.run().await;
        let hub = &self.runtime.host.hub;
        let failed = match ended {
            Ok(None) => return,
            Ok(Some(written)) => return hub.tell(HostEvent::Finished(written)).await,
            Err(HostError::Misbehaved {
                culprit,
                what,
                evidence,
            }) => return hub.blame(culprit, what, evidence.map(|proof| *proof)).await,
            Err(HostError::Fault { fault, .. }) => {
                let known = |(index, _): &&(PeerIndex, PublicId)| *index == fault.culprit;
                match self.neighbours.iter().find(known) {
                    Some(&(_, culprit)) => return hub.blame(culprit, fault.into(), None).await,
                    None => HostError::Neighbours,
                }
            }
            Err(error) => error,
        };
        hub.tell(HostEvent::Failed(failed)).await;
    }

    /// Runs the peer; nothing if the host ends before.
    async fn run(&mut self) -> Result<Option<Written>, HostError> {
        let mut stop = self.stop.clone();
        let stopped = async { _ = stop.wait_for(|stop| *stop).await };
        if self.runtime.run(stopped, pending()).await? {
            return self.finish().await;
        }
        match self.runtime.host.edges.is_empty() {
            true => Err(HostError::TaskLost),
            // Readers end with the host only.
            false => Ok(None),
        }
    }

    /// Waits until every neighbour that is not lost has acknowledged everything, and adds up what was sent.
    async fn finish(&mut self) -> Result<Option<Written>, HostError> {
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let is_done = |edge: &Arc<Outgoing>| {
            edge.sent(Sending::is_clear) || edge.member.link.borrow().is_lost
        };
        let edges = &self.runtime.host.edges;
        while !edges.iter().all(is_done) {
            tokio::select! {
                _ = self.stop.wait_for(|stop| *stop) => return Ok(None),
                () = self.progress.notified() => {}
                inbound = self.runtime.inbox.recv() => match inbound {
                    Some(Inbound::Failed(error)) => return Err(error),
                    // A message now is one too many, and no harm.
                    Some(_) => {}
                    None => return Ok(None),
                },
                _ = look.tick() => {}
            }
        }
        let mut total = Written::default();
        for edge in edges {
            total += edge.sent(Sending::written);
        }
        Ok(Some(total))
    }
}
