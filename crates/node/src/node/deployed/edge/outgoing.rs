//! The task that writes the records of one edge, on another stream whenever a connection breaks.

use std::io;
use std::sync::{Arc, Mutex};

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use libp2p::Stream;
use tokio::sync::{Notify, mpsc};

use super::super::hub::{Hub, Member, lock};
use super::super::streams::{self, Purpose};
use super::{Record, Sending};
use crate::node::error::HostError;
use crate::node::misbehaviour::Misbehaviour;
use crate::node::plain::Inbound;
use crate::protocol::SessionId;

/// One directed edge at its sender.
pub(in super::super) struct Outgoing {
    pub(in super::super) member: Arc<Member>,
    session: SessionId,
    sending: Mutex<Sending>,
    /// Something is to be written.
    more: Notify,
    /// Told of every acknowledgement.
    progress: Arc<Notify>,
}

/// How a stream ended.
enum Ended {
    Broken(io::Error),
    Misbehaved(Misbehaviour),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

impl Outgoing {
    pub(in super::super) fn new(
        member: Arc<Member>,
        session: SessionId,
        limit: usize,
        progress: Arc<Notify>,
    ) -> Self {
        Self {
            member,
            session,
            sending: Mutex::new(Sending::new(limit)),
            more: Notify::new(),
            progress,
        }
    }

    /// Hands a record on to the writer.
    ///
    /// # Errors
    /// [`Misbehaviour::Unacknowledged`].
    pub(in super::super) fn push(&self, record: &Arc<Record>) -> Result<(), Misbehaviour> {
        lock(&self.sending).push(Arc::clone(record))?;
        self.more.notify_one();
        Ok(())
    }

    /// Looks at what has been sent.
    pub(in super::super) fn sent<T>(&self, look: impl FnOnce(&Sending) -> T) -> T {
        look(&lock(&self.sending))
    }

    /// Writes until the task is aborted or the neighbour misbehaves, which the driver is told.
    pub(in super::super) async fn write(
        self: Arc<Self>,
        hub: Arc<Hub>,
        inbox: mpsc::Sender<Inbound>,
    ) {
        let what = loop {
            // A broken link is waited for until it is another one.
            self.member.leaves(None).await;
            let connection = self.member.link.borrow().connection;
            let ended = tokio::select! {
                ended = self.write_on(&hub) => ended,
                () = self.member.leaves(connection) => {
                    Ended::Broken(io::ErrorKind::ConnectionAborted.into())
                }
            };
            match ended {
                Ended::Misbehaved(what) => break what,
                Ended::Broken(error) => {
                    tracing::debug!(member = %self.member.id, %error, "an edge broke");
                }
            }
        };
        let misbehaved = HostError::Misbehaved {
            culprit: self.member.id,
            what,
            evidence: None,
        };
        // A driver that is gone has nobody to blame any more.
        let _ = inbox.send(Inbound::Failed(misbehaved)).await;
    }

    /// Opens a stream and writes on it until it breaks.
    async fn write_on(&self, hub: &Hub) -> Ended {
        let purpose = Purpose::Edge(self.session);
        match streams::open(&hub.streams, self.member.peer, purpose).await {
            Ok((stream, last)) => self.resume(stream, last).await,
            Err(what) => Ended::Misbehaved(what),
        }
    }

    /// Goes on after the last record that the neighbour has.
    async fn resume(&self, stream: Stream, last: u64) -> Ended {
        if let Err(what) = self.acknowledge(last) {
            return Ended::Misbehaved(what);
        }
        let (reader, writer) = stream.split();
        let ended = tokio::select! {
            ended = self.write_from(writer, last + 1) => ended,
            ended = self.hear(reader) => ended,
        };
        match ended {
            Ok(never) => match never {},
            Err(ended) => ended,
        }
    }

    fn acknowledge(&self, last: u64) -> Result<(), Misbehaviour> {
        lock(&self.sending).acknowledge(last)?;
        self.progress.notify_one();
        Ok(())
    }

    /// The record of this number, which counts as sent from here on.
    fn begin(&self, sequence: u64) -> Option<Arc<Record>> {
        let mut sending = lock(&self.sending);
        let record = sending.get(sequence)?;
        sending.begin(sequence);
        Some(record)
    }

    async fn write_from(
        &self,
        mut stream: impl AsyncWrite + Unpin,
        mut next: u64,
    ) -> Result<std::convert::Infallible, Ended> {
        let mut piece = Vec::new();
        loop {
            let Some(record) = self.begin(next) else {
                stream.flush().await?;
                // A record that came meanwhile has left a permit.
                self.more.notified().await;
                continue;
            };
            record.write(next, &mut stream, &mut piece).await?;
            next += 1;
        }
    }

    /// Hears acknowledgements.
    async fn hear(
        &self,
        mut stream: impl AsyncRead + Unpin,
    ) -> Result<std::convert::Infallible, Ended> {
        loop {
            let mut last = [0; 8];
            stream.read_exact(&mut last).await?;
            let acknowledged = self.acknowledge(u64::from_le_bytes(last));
            acknowledged.map_err(Ended::Misbehaved)?;
        }
    }
}
