//! Where a peer of a swarm runs: its messages go to the writers they are for, and it reports to the collector, which waits for nobody.
//!
//! Its readers wait for it and it never waits for them, so no cycle of full channels can form.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::{self, JoinSet};
use tokio::time::{Instant, timeout_at};

use super::deployed::Written;
use super::error::HostError;
use super::exchange::{Frame, QUEUE, Report, Said};
use super::plain::{Inbound, PlainPeer, for_each_target};
use super::runtime::{Host, Runtime};
use crate::protocol::averaging::Phase;
use crate::protocol::{Event, Message, Targets, Values, wire};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// Frames kept for their memory: when the third is made, every neighbour has read the first.
const KEPT: usize = 2;

/// A peer of a swarm, to be run to its end.
pub(super) struct Driver {
    pub(super) runtime: Runtime<PlainPeer, Reporting, Instant>,
    pub(super) writers: Writers,
}

/// The writers of one peer.
pub(super) struct Writers {
    pub(super) tasks: JoinSet<Result<Written, HostError>>,
    /// The neighbour that each of them writes to.
    pub(super) written_to: BTreeMap<task::Id, PeerIndex>,
    /// How long they may take for the last frames once the peer has finished.
    pub(super) patience: Duration,
}

/// The host of a peer of a swarm.
pub(super) struct Reporting {
    pub(super) me: PeerIndex,
    /// The last frames, whose memory is used again once every writer is done with it.
    pub(super) frames: VecDeque<Frame>,
    /// The queue of each neighbour's writer.
    pub(super) edges: Vec<(PeerIndex, mpsc::Sender<Said>)>,
    /// What the coordinates of sums are on the wire.
    pub(super) values: Values,
    pub(super) reports: mpsc::Sender<(PeerIndex, Report)>,
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
        let _ = self.runtime.host.report(report).await;
    }

    async fn run(&mut self) -> Result<Written, HostError> {
        let broken = self.writers.broken();
        if !self.runtime.run(pending(), broken).await? {
            return Err(HostError::TaskLost);
        }
        let host = &mut self.runtime.host;
        host.edges.clear();
        self.writers.finish(host.me).await
    }
}

impl Writers {
    /// Why a writer has ended: by itself it does so only in failure, while its queue is open.
    async fn broken(&mut self) -> HostError {
        match self.tasks.join_next().await {
            Some(Ok(Err(error))) => error,
            Some(Ok(Ok(_)) | Err(_)) => HostError::TaskLost,
            None => pending().await,
        }
    }

    /// Lets the writers empty their queues and adds up what they have written.
    ///
    /// # Errors
    /// [`HostError::Unread`] with the first neighbour that has not taken its last frames when the patience ends.
    async fn finish(&mut self, peer: PeerIndex) -> Result<Written, HostError> {
        let mut total = Written::default();
        let deadline = Instant::now() + self.patience;
        loop {
            let ended = match timeout_at(deadline, self.tasks.join_next_with_id()).await {
                Ok(Some(ended)) => ended,
                Ok(None) => return Ok(total),
                Err(_) => {
                    let unread = self.written_to.values().min();
                    let neighbour = *unread.ok_or(HostError::TaskLost)?;
                    return Err(HostError::Unread {
                        peer,
                        neighbour,
                        after: self.patience,
                    });
                }
            };
            let (writer, written) = ended.map_err(|_| HostError::TaskLost)?;
            self.written_to.remove(&writer);
            total += written?;
        }
    }
}

impl Host<PlainPeer> for Reporting {
    fn send(&mut self, targets: &Targets, message: Message) -> Result<Vec<Inbound>, HostError> {
        let said = self.said(message);
        let me = self.me;
        for_each_target(targets, &self.edges, |(neighbour, queue)| {
            match queue.try_send(said.clone()) {
                // A writer that has failed closes its queue; the next turn of the loop reports why.
                Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
                Err(TrySendError::Full(_)) => Err(HostError::QueueFull {
                    peer: me,
                    neighbour: *neighbour,
                    capacity: QUEUE,
                }),
            }
        })?;
        Ok(Vec::new())
    }

    /// A simulation charges nothing.
    fn charge(&mut self, _: ReleaseId) -> Result<(), HostError> {
        Ok(())
    }

    fn persist(&mut self, _: Vec<Infallible>) -> Result<(), HostError> {
        Ok(())
    }

    async fn tell(&mut self, event: Event) -> Result<(), HostError> {
        self.report(Report::Event(event)).await
    }
}

impl Reporting {
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

    async fn report(&self, report: Report) -> Result<(), HostError> {
        let sent = self.reports.send((self.me, report)).await;
        sent.map_err(|_| HostError::TaskLost)
    }
}
