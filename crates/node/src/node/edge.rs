//! Reads and writes the frames of one directed edge over one persistent stream.
//!
//! ```text
//! opener (writer task)                         acceptor (reader task)
//!   hello: mark, version, session  ──────▶
//!                                  ◀──────     ack
//!   frame, frame, …                ──────▶     decoded, handed to the node's inbox
//! ```
//!
//! After the ack bytes go one way only. libp2p-stream may drop an inbound stream after the opener's
//! `open_stream` has returned `Ok`; the dropped stream never acks, so the opener tries again. Hello and
//! ack are not counted as communication.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, StreamExt};
use libp2p::{PeerId, Stream, StreamProtocol};
use libp2p_stream::{Control, IncomingStreams};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout_at};

use super::deployed::Written;
use super::error::HostError;
use super::exchange::Said;
use super::identity::Roster;
use super::plain::Inbound;
use crate::protocol::averaging::Phase;
use crate::protocol::wire::{self, Arriving, FrameSizes, Memory, WireError};
use crate::protocol::{Body, Fault, FaultKind, Lane, Message, SessionId, SessionPlan, Values};
use crate::vocabulary::PeerIndex;

/// The name under which libp2p negotiates these streams.
pub(super) const PROTOCOL: StreamProtocol = StreamProtocol::new("/undertone/edge/1");

/// Bytes read from a stream at a time, on their way into a block: they stay in the first cache.
const PIECE: usize = 16 * 1024;

const HELLO_LEN: usize = 18;
const HELLO_MARK: u8 = 0x75;
const ACK: u8 = 0x76;

/// Streams opened to one neighbour before giving up.
const MAX_ATTEMPTS: u32 = 1000;
/// The pause between two attempts grows by this much, up to [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// A directed edge as its writer knows it.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) me: PeerIndex,
    pub(super) neighbour: PeerIndex,
    pub(super) id: PeerId,
    pub(super) session: SessionId,
    pub(super) patience: Duration,
    /// Resolves when the neighbour is connected.
    pub(super) connected: oneshot::Receiver<()>,
    /// What the coordinates of sums are on the wire.
    pub(super) values: Values,
    /// What to write; closed after the last message.
    pub(super) messages: mpsc::Receiver<Said>,
    /// Told when the neighbour has acknowledged the stream.
    pub(super) inbox: mpsc::Sender<Inbound>,
    /// Messages written by all nodes, for progress only.
    pub(super) progress: Arc<AtomicU64>,
}

/// Opens the edge's stream and writes every message to it, frame by frame. Returns what was written once the queue is
/// closed and empty.
///
/// # Errors
/// [`HostError`] if the stream cannot be opened or breaks.
pub(super) async fn write(mut edge: Outgoing, control: Control) -> Result<Written, HostError> {
    let (peer, neighbour) = (edge.me, edge.neighbour);
    let deadline = Instant::now() + edge.patience;
    if !matches!(timeout_at(deadline, edge.connected).await, Ok(Ok(()))) {
        return Err(HostError::Unconnected {
            peer,
            neighbour,
            after: edge.patience,
        });
    }
    let mut stream = open(control, edge.id, edge.session, deadline)
        .await
        .map_err(|(attempts, source)| HostError::Handshake {
            from: peer,
            to: neighbour,
            attempts,
            source,
        })?;
    let mut written = Written::default();
    // The driver drains its inbox until the run ends; if it is gone, so is the run.
    let _ = edge.inbox.send(Inbound::Opened).await;
    let failed = |source| HostError::Write {
        peer,
        neighbour,
        source,
    };
    let mut part = Vec::new();
    while let Some(said) = edge.messages.recv().await {
        match said {
            Said::Frame(phase, frame) => {
                stream.write_all(&frame).await.map_err(failed)?;
                written.bytes.add(phase, frame.len() as u64);
            }
            Said::Long(message) => {
                let phase = Phase::of(&message.body);
                for frame in 0..wire::frames(&message, edge.values) {
                    wire::encode_frame_into(&message, edge.values, frame, &mut part);
                    stream.write_all(&part).await.map_err(failed)?;
                    written.bytes.add(phase, part.len() as u64);
                }
            }
        }
        stream.flush().await.map_err(failed)?;
        written.messages += 1;
        edge.progress.fetch_add(1, Ordering::Relaxed);
    }
    stream.close().await.map_err(failed)?;
    Ok(written)
}

/// Opens a stream and has it acknowledged, trying again while there is time.
///
/// # Errors
/// The number of attempts and how the last one failed.
pub(super) async fn open(
    mut control: Control,
    id: PeerId,
    session: SessionId,
    deadline: Instant,
) -> Result<Stream, (u32, io::Error)> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let attempt = async {
            let mut stream = control
                .open_stream(id, PROTOCOL)
                .await
                .map_err(io::Error::other)?;
            greet(&mut stream, session).await.map(|()| stream)
        };
        let error = match timeout_at(deadline, attempt).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => error,
            Err(_) => return Err((attempts, io::ErrorKind::TimedOut.into())),
        };
        let pause = LONGEST_PAUSE.min(PAUSE * attempts);
        if attempts >= MAX_ATTEMPTS || Instant::now() + pause >= deadline {
            return Err((attempts, error));
        }
        sleep(pause).await;
    }
}

/// The opener's half of the handshake.
async fn greet(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    session: SessionId,
) -> io::Result<()> {
    let mut hello = [0; HELLO_LEN];
    hello[0] = HELLO_MARK;
    hello[1] = wire::VERSION;
    hello[2..].copy_from_slice(&session.0);
    stream.write_all(&hello).await?;
    stream.flush().await?;
    let mut ack = [0];
    stream.read_exact(&mut ack).await?;
    if ack[0] == ACK {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the neighbour answered with something else than an acknowledgement",
        ))
    }
}

/// Why a handshake led to no edge.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The opener went away; it will try again.
    Gone,
    /// The opener is in another session or does not speak the protocol.
    Fault(FaultKind),
}

/// The acceptor's half of the handshake.
pub(super) async fn answer(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    session: SessionId,
) -> Result<(), Refusal> {
    let mut hello = [0; HELLO_LEN];
    stream
        .read_exact(&mut hello)
        .await
        .map_err(|_| Refusal::Gone)?;
    let [mark, version, found @ ..] = hello;
    let found = SessionId(found);
    if mark != HELLO_MARK {
        return Err(Refusal::Fault(WireError::NotAFrame.into()));
    }
    if version != wire::VERSION {
        return Err(Refusal::Fault(WireError::Version { found: version }.into()));
    }
    if found != session {
        return Err(Refusal::Fault(FaultKind::WrongSession {
            expected: session,
            found,
        }));
    }
    let acknowledge = async {
        stream.write_all(&[ACK]).await?;
        stream.flush().await
    };
    acknowledge.await.map_err(|_| Refusal::Gone)
}

/// Accepts the streams of neighbours, at most one at a time from each, and reads every one in a task of
/// its own. Must come back to the queue at once: libp2p-stream drops what arrives meanwhile.
pub(super) async fn accept(
    (me, mut incoming): (PeerIndex, IncomingStreams),
    roster: Roster,
    (plan, lanes): (Arc<SessionPlan>, BTreeMap<PeerIndex, Lane>),
    inbox: mpsc::Sender<Inbound>,
    step: watch::Receiver<u64>,
) {
    let mut readers = JoinSet::new();
    let mut reading: BTreeMap<PeerIndex, AbortHandle> = BTreeMap::new();
    loop {
        tokio::select! {
            stream = incoming.next() => {
                let Some((id, stream)) = stream else { return };
                // Strangers cannot even connect; this is the second lock on that door.
                let Some(from) = roster.index_of(&id) else { continue };
                let Some(lane) = lanes.get(&from) else { continue };
                if reading.get(&from).is_none_or(AbortHandle::is_finished) {
                    let (plan, step) = (Arc::clone(&plan), step.clone());
                    let reader = read((me, from, lane.clone()), stream, plan, inbox.clone(), step);
                    reading.insert(from, readers.spawn(reader));
                }
            }
            Some(ended) = readers.join_next() => {
                if ended.is_err() {
                    let _ = inbox.send(Inbound::Failed(HostError::TaskLost)).await;
                }
            }
        }
    }
}

/// Reads one neighbour's stream to its end. Whatever happens on it is blamed on `from`, the identity
/// that Noise has authenticated.
///
/// Frames come in the order of the neighbour's lane. A frame for an exchange that the peer has not
/// reached stays with its sender: it is not read before `step` gets there. By then the peer has dropped
/// the values that came before, so a reader needs memory for one block, and uses the same again and again.
async fn read(
    (reporter, from, lane): (PeerIndex, PeerIndex, Lane),
    mut stream: Stream,
    plan: Arc<SessionPlan>,
    inbox: mpsc::Sender<Inbound>,
    mut step: watch::Receiver<u64>,
) {
    let fault = |kind| {
        let culprit = from;
        let fault = Fault { culprit, kind };
        Inbound::Failed(HostError::Fault { reporter, fault })
    };
    match answer(&mut stream, plan.session()).await {
        Ok(()) => {}
        Err(Refusal::Gone) => return,
        Err(Refusal::Fault(kind)) => {
            let _ = inbox.send(fault(kind)).await;
            return;
        }
    }
    let (expected, sizes) = (lane.messages(), lane.frame_sizes());
    let mut received = 0;
    let mut reading = Reading::default();
    loop {
        let lost = |source| HostError::Disconnected {
            reporter,
            neighbour: from,
            received,
            expected,
            source,
        };
        // A frame beyond the last one is read as soon as it comes: the peer will refuse it.
        let exchange = lane.step(received).unwrap_or(0);
        let mut reached = async |exchange| step.wait_for(|step| *step >= exchange).await.is_ok();
        let next = reading.next(&mut stream, &sizes, reached(exchange));
        let last = match next.await {
            Ok(Some(message)) => {
                received += 1;
                // Fails when the node has finished or the run has ended: nobody needs the message.
                if inbox
                    .send(Inbound::Message { from, message })
                    .await
                    .is_err()
                {
                    return;
                }
                continue;
            }
            Ok(None) if received >= expected => return,
            Ok(None) => Inbound::Ended(from, lost(io::ErrorKind::UnexpectedEof.into())),
            Err(Unreadable::Unwanted) => return,
            Err(Unreadable::Malformed(error)) => fault(error.into()),
            Err(Unreadable::Broken(source)) => Inbound::Failed(lost(source)),
        };
        let _ = inbox.send(last).await;
        return;
    }
}

/// Why no message could be read.
#[derive(Debug)]
enum Unreadable {
    /// The bytes are no message of this plan.
    Malformed(WireError),
    /// The stream broke, possibly in the middle of a frame.
    Broken(io::Error),
    /// The node has finished or the run has ended.
    Unwanted,
}

/// What a reader keeps from message to message.
#[derive(Debug, Default)]
struct Reading {
    /// Bytes on their way from the stream to the block.
    piece: Vec<u8>,
    /// The last sum handed on; its memory is used again once the peer has dropped it.
    last: Option<Body>,
}

impl Reading {
    /// The next message of a plan whose messages have these sizes, or `None` at the end of the stream.
    ///
    /// The announced length of its first frame is checked at once. Then the frame waits until `wanted` says yes; only then are
    /// its header and values read, and memory taken. The other frames of the message follow.
    async fn next(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        sizes: &FrameSizes,
        wanted: impl Future<Output = bool>,
    ) -> Result<Option<Message>, Unreadable> {
        let mut first = [0];
        let begun = stream.read(&mut first).await;
        if begun.map_err(Unreadable::Broken)? == 0 {
            return Ok(None);
        }
        let [first] = first;
        let [second, third, fourth] = exactly(stream).await?;
        let prefix = [first, second, third, fourth];
        let length = wire::check_announced_len(prefix, sizes).map_err(Unreadable::Malformed)?;
        if !wanted.await {
            return Err(Unreadable::Unwanted);
        }
        let header = exactly(stream).await?;
        let memory = self.last.take().map(Memory::of).unwrap_or_default();
        let arriving = Arriving::new(&header, length, sizes, memory);
        let mut arriving = arriving.map_err(Unreadable::Malformed)?;
        self.values(stream, &mut arriving).await?;
        while !arriving.is_complete() {
            let prefix = exactly(stream).await?;
            let length = wire::check_announced_len(prefix, sizes).map_err(Unreadable::Malformed)?;
            let header = exactly(stream).await?;
            let next = arriving.next_frame(&header, length);
            next.map_err(Unreadable::Malformed)?;
            self.values(stream, &mut arriving).await?;
        }
        let message = arriving.finish().map_err(Unreadable::Malformed)?;
        if let Body::Average(_) | Body::Residues(_) = &message.body {
            self.last = Some(message.body.clone());
        }
        Ok(Some(message))
    }

    /// The values of one frame.
    async fn values(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        arriving: &mut Arriving,
    ) -> Result<(), Unreadable> {
        loop {
            let expected = arriving.missing().min(PIECE);
            if expected == 0 {
                return Ok(());
            }
            self.piece.resize(expected, 0);
            let piece = stream.read_exact(&mut self.piece).await;
            piece.map_err(Unreadable::Broken)?;
            arriving.take(&self.piece).map_err(Unreadable::Malformed)?;
        }
    }
}

/// The next `N` bytes.
async fn exactly<const N: usize>(
    stream: &mut (impl AsyncRead + Unpin),
) -> Result<[u8; N], Unreadable> {
    let mut bytes = [0; N];
    let read = stream.read_exact(&mut bytes).await;
    read.map_err(Unreadable::Broken)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use futures::executor::block_on;
    use futures::io::Cursor;

    use super::*;
    use crate::vocabulary::{ReleaseId, Round};

    fn framed(values: Vec<f64>) -> Vec<u8> {
        let message = Message {
            session: SessionId([3; 16]),
            release: ReleaseId(1),
            round: Round(0),
            body: Body::Average(Arc::new(values)),
        };
        wire::encode_framed(&message, Values::F64)
    }

    fn next(bytes: &[u8], values: usize) -> Result<Option<Message>, Unreadable> {
        let sizes = FrameSizes::from(values);
        block_on(Reading::default().next(&mut Cursor::new(bytes), &sizes, ready(true)))
    }

    #[test]
    fn messages_are_read_one_by_one_up_to_a_clean_end() {
        let mut bytes = framed(vec![1.0, 2.0]);
        bytes.extend(framed(vec![3.0, 4.0]));
        let mut stream = Cursor::new(bytes);
        let mut reading = Reading::default();
        for first in [1.0, 3.0] {
            let message = block_on(reading.next(&mut stream, &FrameSizes::from(2), ready(true)));
            let Ok(Some(Message {
                body: Body::Average(values),
                ..
            })) = message
            else {
                panic!("{message:?}");
            };
            assert_eq!(values[0], first);
        }
        let end = block_on(reading.next(&mut stream, &FrameSizes::from(2), ready(true)));
        assert!(matches!(end, Ok(None)));
    }

    #[test]
    fn a_block_that_the_peer_has_dropped_is_used_again_and_one_that_it_keeps_is_not() {
        let many = 3 * PIECE / 8 + 5;
        let bytes: Vec<_> = (0..3)
            .flat_map(|k| framed(vec![f64::from(k); many]))
            .collect();
        let mut stream = Cursor::new(bytes);
        let mut reading = Reading::default();
        let mut block =
            || match block_on(reading.next(&mut stream, &FrameSizes::from(many), ready(true))) {
                Ok(Some(Message {
                    body: Body::Average(values),
                    ..
                })) => values,
                other => panic!("{other:?}"),
            };
        let first = block();
        let place = first.as_ptr();
        drop(first);
        let second = block();
        assert_eq!(second.as_ptr(), place);
        let third = block();
        assert_ne!(third.as_ptr(), place);
        assert_eq!((second[many - 1], third[many - 1]), (1.0, 2.0));
    }

    #[test]
    fn a_frame_that_is_not_wanted_yet_takes_no_memory() {
        let bytes = framed(vec![1.0; 100]);
        let mut stream = Cursor::new(bytes);
        let mut reading = Reading::default();
        let ended = block_on(reading.next(&mut stream, &FrameSizes::from(100), ready(false)));
        assert!(matches!(ended, Err(Unreadable::Unwanted)));
        assert_eq!(stream.position(), wire::PREFIX_LEN as u64);
        assert!(reading.piece.capacity() == 0 && reading.last.is_none());
    }

    #[test]
    fn a_length_beyond_the_plan_is_refused_although_nothing_follows_it() {
        // Reading on, or allocating 4 GiB first, would give another error or none.
        assert!(matches!(
            next(&u32::MAX.to_le_bytes(), 2),
            Err(Unreadable::Malformed(WireError::TooLong { .. }))
        ));
        let one_too_long = framed(vec![1.0, 2.0, 3.0]);
        assert!(matches!(
            next(&one_too_long[..wire::PREFIX_LEN], 2),
            Err(Unreadable::Malformed(WireError::TooLong { .. }))
        ));
    }

    #[test]
    fn a_stream_that_ends_within_a_frame_is_broken_and_garbage_is_malformed() {
        let bytes = framed(vec![1.0, 2.0]);
        for end in 1..bytes.len() {
            assert!(matches!(next(&bytes[..end], 2), Err(Unreadable::Broken(_))));
        }
        let mut garbage = bytes;
        garbage[wire::PREFIX_LEN] ^= 0xff;
        assert!(matches!(
            next(&garbage, 2),
            Err(Unreadable::Malformed(WireError::NotAFrame))
        ));
    }
}
