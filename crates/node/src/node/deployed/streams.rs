//! Streams between members: opened until they are answered, since the library may drop those that arrive at once.
//!
//! ```text
//! control   opener  mark, version                      acceptor  mark
//! edge      opener  mark, version, session (16)        acceptor  mark, version, session (16), last record received (8)
//! ```

use std::io;
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use libp2p::{PeerId, Stream, StreamProtocol};
use libp2p_stream::Control;
use tokio::time::{sleep, timeout};

use crate::node::misbehaviour::Misbehaviour;
use crate::protocol::SessionId;
use crate::protocol::wire::signed::SIGNED_VERSION;

/// Control frames, one stream per direction of a connection.
pub(super) const CONTROL: StreamProtocol = StreamProtocol::new("/undertone/session/2");

/// Records of one directed edge, and their acknowledgements.
pub(super) const EDGE: StreamProtocol = StreamProtocol::new("/undertone/edge/4");

/// Frames of peers that tolerate losses, one stream per direction.
pub(super) const TOLERANT: StreamProtocol = StreamProtocol::new("/undertone/tolerant/1");

const CONTROL_MARK: u8 = 0x71;
const CONTROL_VERSION: u8 = 2;
const CONTROL_ANSWER: u8 = 0x72;
const EDGE_MARK: u8 = 0x73;
const EDGE_ANSWER: u8 = 0x74;

/// The pause between two attempts to open a stream grows by this much, up to the last.
const PAUSE: Duration = Duration::from_millis(5);
const LAST_PAUSE: Duration = Duration::from_millis(100);

/// How long a stream may go without an answer before another one is opened.
const ANSWER: Duration = Duration::from_secs(10);

/// Why a greeting led to nothing.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The stream broke; another one may do.
    Broken(io::Error),
    /// The other end does not speak the protocol.
    Misbehaved(Misbehaviour),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

/// What a stream is opened for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// Control frames.
    Control,
    /// Records of this session.
    Edge(SessionId),
}

/// Opens a stream to a member and greets it, again and again until it answers. Gives the number of the last record that the member has
/// received; 0 on a control stream.
///
/// # Errors
/// What the member answers, if that is no answer.
pub(super) async fn open(
    control: &Control,
    member: PeerId,
    purpose: Purpose,
) -> Result<(Stream, u64), Misbehaviour> {
    let mut control = control.clone();
    let mut pause = PAUSE;
    loop {
        match timeout(ANSWER, attempt(&mut control, member, purpose)).await {
            Ok(Ok(opened)) => return Ok(opened),
            Ok(Err(Refusal::Misbehaved(what))) => return Err(what),
            Ok(Err(Refusal::Broken(error))) => {
                tracing::trace!(%member, ?purpose, %error, "a stream was not answered");
            }
            Err(_) => {}
        }
        sleep(pause).await;
        pause = LAST_PAUSE.min(pause + PAUSE);
    }
}

async fn attempt(
    control: &mut Control,
    member: PeerId,
    purpose: Purpose,
) -> Result<(Stream, u64), Refusal> {
    let protocol = match purpose {
        Purpose::Control => CONTROL,
        Purpose::Edge(_) => EDGE,
    };
    let opened = control.open_stream(member, protocol).await;
    let mut stream = opened.map_err(io::Error::other)?;
    let last = match purpose {
        Purpose::Control => greet_control(&mut stream).await.map(|()| 0),
        Purpose::Edge(session) => greet_edge(&mut stream, session).await,
    }?;
    Ok((stream, last))
}

/// Says nothing more on a stream, and waits until the other end, which then says nothing more either, has read everything.
/// A connection that is closed at once may take with it what is still under way.
pub(super) async fn part(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    let mut rest = [0; 1024];
    if stream.close().await.is_ok() {
        while matches!(stream.read(&mut rest).await, Ok(1..)) {}
    }
}

/// The opener's half of the greeting of a control stream.
async fn greet_control(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Result<(), Refusal> {
    stream.write_all(&[CONTROL_MARK, CONTROL_VERSION]).await?;
    stream.flush().await?;
    let mut answer = [0];
    stream.read_exact(&mut answer).await?;
    if answer == [CONTROL_ANSWER] {
        Ok(())
    } else {
        Err(Refusal::Misbehaved(Misbehaviour::NotAGreeting))
    }
}

/// The acceptor's half.
pub(super) async fn answer_control(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
) -> Result<(), Refusal> {
    let mut greeting = [0; 2];
    stream.read_exact(&mut greeting).await?;
    if greeting != [CONTROL_MARK, CONTROL_VERSION] {
        return Err(Refusal::Misbehaved(Misbehaviour::NotAGreeting));
    }
    stream.write_all(&[CONTROL_ANSWER]).await?;
    stream.flush().await?;
    Ok(())
}

/// The opener's half of the greeting of an edge: the number of the last record that the acceptor has received.
async fn greet_edge(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    session: SessionId,
) -> Result<u64, Refusal> {
    stream.write_all(&edge_greeting(EDGE_MARK, session)).await?;
    stream.flush().await?;
    let mut answer = [0; 18];
    stream.read_exact(&mut answer).await?;
    check_edge(EDGE_ANSWER, &answer, session).map_err(Refusal::Misbehaved)?;
    let mut last = [0; 8];
    stream.read_exact(&mut last).await?;
    Ok(u64::from_le_bytes(last))
}

/// The acceptor's half, which says what it has received. It answers a member of another session, too, so that both ends know.
pub(super) async fn answer_edge(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    session: SessionId,
    last: u64,
) -> Result<(), Refusal> {
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting).await?;
    let checked = check_edge(EDGE_MARK, &greeting, session);
    stream
        .write_all(&edge_greeting(EDGE_ANSWER, session))
        .await?;
    stream.write_all(&last.to_le_bytes()).await?;
    stream.flush().await?;
    checked.map_err(Refusal::Misbehaved)
}

fn edge_greeting(mark: u8, session: SessionId) -> [u8; 18] {
    let mut greeting = [0; 18];
    greeting[0] = mark;
    greeting[1] = SIGNED_VERSION;
    greeting[2..].copy_from_slice(&session.0);
    greeting
}

fn check_edge(mark: u8, greeting: &[u8; 18], expected: SessionId) -> Result<(), Misbehaviour> {
    let [first, version, session @ ..] = *greeting;
    if first != mark {
        return Err(Misbehaviour::NotAGreeting);
    }
    if version != SIGNED_VERSION {
        return Err(Misbehaviour::Version {
            found: version,
            expected: SIGNED_VERSION,
        });
    }
    let found = SessionId(session);
    if found == expected {
        Ok(())
    } else {
        Err(Misbehaviour::WrongSession { expected, found })
    }
}
