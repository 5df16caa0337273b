//! The task that reads the records of one edge, on whichever stream the neighbour has opened last.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use libp2p::Stream;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::super::hub::{Hub, Member};
use super::super::streams::{self, Refusal};
use super::receiving::{Blame, blame};
use super::{ACKNOWLEDGED_EVERY, LARGE, Receiving};
use crate::node::error::HostError;
use crate::node::misbehaviour::Misbehaviour;
use crate::node::plain::Inbound;
use crate::protocol::wire::HEADER_LEN;
use crate::protocol::wire::signed::{self, DIGESTED, RECORD_HEAD_LEN};
use crate::protocol::{Lane, Message, SessionId};
use crate::vocabulary::PeerIndex;

/// How long a greeting may take to come.
const GREETING: Duration = Duration::from_secs(10);

/// How long a connection may take to be known as broken, once a stream on it has broken.
const SETTLING: Duration = Duration::from_millis(500);

/// Streams that may end within a record although their connection stays. A member that is about to use a newer connection may drop one.
const MOST_BROKEN_INSIDE: u32 = 3;

/// One directed edge at its receiver.
pub(in crate::node) struct Incoming {
    pub(in crate::node) hub: Arc<Hub>,
    pub(in crate::node) member: Arc<Member>,
    pub(in crate::node) from: PeerIndex,
    pub(in crate::node) session: SessionId,
    pub(in crate::node) lane: Lane,
    pub(in crate::node) inbox: mpsc::Sender<Inbound>,
    /// Which exchange the peer is in.
    pub(in crate::node) reached: watch::Receiver<u64>,
}

/// Why a stream is read no further.
#[derive(Debug)]
pub(in crate::node) enum Stopped {
    /// It ended or broke; inside a record or not.
    Broken { is_inside: bool },
    /// The neighbour is to be blamed.
    Misbehaved(Blame),
    /// The run is over.
    Unwanted,
}

/// A record that has come to its end.
#[derive(Debug)]
pub(in crate::node) struct Taken {
    pub(in crate::node) sequence: u64,
    /// Whether it is worth an acknowledgement of its own.
    is_large: bool,
    /// The message that it completes.
    pub(in crate::node) message: Option<Message>,
}

/// What a reader keeps from stream to stream.
struct Progress {
    receiving: Receiving,
    /// Messages that are complete.
    received: u64,
    /// The last of them, until the driver has it.
    undelivered: Option<Message>,
    /// Streams that ended within a record although their connection stayed.
    broken_inside: u32,
}

/// That nothing more is to be read.
struct Over;

impl From<Misbehaviour> for Stopped {
    fn from(what: Misbehaviour) -> Self {
        Self::Misbehaved(blame(what))
    }
}

impl From<Blame> for Stopped {
    fn from(blame: Blame) -> Self {
        Self::Misbehaved(blame)
    }
}

impl Incoming {
    /// Reads until the task is aborted, the run is over or the neighbour misbehaves, which the driver is told.
    pub(in crate::node) async fn read(self) {
        let culprit = self.member.id;
        if let Err(blame) = self.read_streams().await {
            let (what, evidence) = *blame;
            // A driver that is gone has nobody to blame any more.
            let misbehaved = HostError::Misbehaved {
                culprit,
                what,
                evidence: evidence.map(Box::new),
            };
            let _ = self.inbox.send(Inbound::Failed(misbehaved)).await;
        }
    }

    async fn read_streams(&self) -> Result<(), Blame> {
        let member = Arc::clone(&self.member);
        let mut progress = Progress {
            receiving: Receiving::new(member.id, self.lane.frame_sizes()),
            received: 0,
            undelivered: None,
            broken_inside: 0,
        };
        let mut piece = Vec::new();
        loop {
            let stream = member.edge.take().await;
            // Whatever was read of a record that is not complete will be sent again on the newer stream.
            tokio::select! {
                biased;
                () = member.edge.filled() => {}
                ended = self.read_stream(stream, &mut progress, &mut piece) => if ended?.is_some() {
                    return Ok(());
                },
            }
        }
    }

    /// Reads one stream until it ends, which is nothing, or until the run or the host does. May be dropped at any point.
    async fn read_stream(
        &self,
        mut stream: Stream,
        progress: &mut Progress,
        piece: &mut Vec<u8>,
    ) -> Result<Option<Over>, Blame> {
        // A stream may be here before its connection is known to be.
        self.member.leaves(None).await;
        let connection = self.member.link.borrow().connection;
        self.deliver(progress).await;
        let last = progress.receiving.last();
        let answer = streams::answer_edge(&mut stream, self.session, last);
        match timeout(GREETING, answer).await {
            Ok(Ok(())) => {}
            Ok(Err(Refusal::Misbehaved(what))) => return Err(blame(what)),
            Ok(Err(Refusal::Broken(_))) | Err(_) => return Ok(None),
        }
        let _speaking = Arc::clone(&self.hub.speaking);
        loop {
            let record = tokio::select! {
                () = self.member.leaves(connection) => return Ok(None),
                () = self.hub.closes() => {
                    // Acknowledgements arrive before the connection is closed.
                    streams::part(&mut stream).await;
                    return Ok(Some(Over));
                }
                record = self.record(&mut stream, progress, piece) => record,
            };
            let Taken {
                sequence,
                is_large,
                message,
            } = match record {
                Ok(taken) => taken,
                Err(Stopped::Misbehaved(blame)) => return Err(blame),
                Err(Stopped::Unwanted) => return Ok(Some(Over)),
                Err(Stopped::Broken { is_inside }) => {
                    if is_inside && self.is_alive(connection).await {
                        progress.broken_inside += 1;
                        if progress.broken_inside > MOST_BROKEN_INSIDE {
                            return Err(blame(Misbehaviour::Truncated));
                        }
                    }
                    return Ok(None);
                }
            };
            if let Some(stamp) = progress.receiving.last_stamp() {
                self.hub.stamps.keep(self.member.id, *stamp);
            }
            progress.received += u64::from(message.is_some());
            progress.undelivered = message;
            let is_last = progress.received == self.lane.messages();
            if is_last || is_large || sequence.is_multiple_of(ACKNOWLEDGED_EVERY) {
                let acknowledged = acknowledge(&mut stream, sequence).await;
                if acknowledged.is_err() {
                    return Ok(None);
                }
            }
            self.deliver(progress).await;
        }
    }

    /// Hands the last message on, unless that is done.
    async fn deliver(&self, progress: &mut Progress) {
        if progress.undelivered.is_none() {
            return;
        }
        let permit = self.inbox.reserve().await;
        if let (Some(message), Ok(permit)) = (progress.undelivered.take(), permit) {
            let from = self.from;
            permit.send(Inbound::Message { from, message });
        }
        // A driver that has finished needs nothing more; its neighbours need answers.
    }

    /// The next record. The first of a message stays with its sender until the peer has come to the message's exchange; only then is
    /// it read, and memory taken.
    async fn record(
        &self,
        stream: &mut (impl AsyncRead + Unpin),
        progress: &mut Progress,
        piece: &mut Vec<u8>,
    ) -> Result<Taken, Stopped> {
        // What was read of a record on another stream comes again.
        progress.receiving.forget();
        let mut reached = self.reached.clone();
        let is_within = progress.receiving.is_within_a_message();
        let received = progress.received;
        let wanted = async {
            if is_within {
                return true;
            }
            // A message beyond the last one is read as soon as it comes: the peer will refuse it.
            let exchange = self.lane.step(received).unwrap_or(0);
            reached.wait_for(|step| *step >= exchange).await.is_ok()
        };
        read_record(stream, &mut progress.receiving, wanted, piece).await
    }

    /// Whether this connection stays although a stream on it has ended.
    async fn is_alive(&self, connection: Option<u64>) -> bool {
        timeout(SETTLING, self.member.leaves(connection))
            .await
            .is_err()
    }
}

/// Reads a record and takes it, piece by piece in the memory of `piece`. If this is dropped or fails before the end, the record has to be
/// forgotten.
pub(in crate::node) async fn read_record(
    stream: &mut (impl AsyncRead + Unpin),
    receiving: &mut Receiving,
    wanted: impl Future<Output = bool>,
    piece: &mut Vec<u8>,
) -> Result<Taken, Stopped> {
    let inside = |_: io::Error| Stopped::Broken { is_inside: true };
    let mut head = [0; RECORD_HEAD_LEN];
    let Ok(begun @ 1..) = stream.read(&mut head).await else {
        return Err(Stopped::Broken { is_inside: false });
    };
    stream
        .read_exact(&mut head[begun..])
        .await
        .map_err(inside)?;
    let checked = signed::check_record_head(&head, receiving.sizes());
    let (length, sequence) = checked.map_err(Misbehaviour::from)?;
    if !wanted.await {
        return Err(Stopped::Unwanted);
    }
    let mut header = [0; HEADER_LEN];
    stream.read_exact(&mut header).await.map_err(inside)?;
    receiving.begin((length, sequence), &header)?;
    while receiving.missing() > 0 {
        piece.resize(receiving.missing().min(DIGESTED), 0);
        stream.read_exact(piece).await.map_err(inside)?;
        receiving.take(piece);
    }
    let mut signature = [0; 64];
    stream.read_exact(&mut signature).await.map_err(inside)?;
    Ok(Taken {
        sequence,
        is_large: length >= LARGE,
        message: receiving.end(signature)?,
    })
}

/// Says that everything up to this record is here.
async fn acknowledge(stream: &mut Stream, sequence: u64) -> io::Result<()> {
    stream.write_all(&sequence.to_le_bytes()).await?;
    stream.flush().await
}
