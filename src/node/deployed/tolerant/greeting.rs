//! How two ends of a stream of frames find out which life of the other they speak to, and what has arrived.
//!
//! ```text
//! opener     mark, version, session (16), its life (8)
//! acceptor   mark, version, session (16), its life (8), standing (1), the opener's life as it knows it (8), last frame received (8)
//! ```

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::Life;
use crate::node::deployed::error::Misbehaviour;
use crate::node::deployed::streams::Refusal;
use crate::protocol::SessionId;

const MARK: u8 = 0x75;
const ANSWER: u8 = 0x76;
const VERSION: u8 = 1;

/// What an acceptor says of the link, and of the opener's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Frames are taken.
    Open,
    /// The link is cut, or the acceptor has left.
    Cut,
    /// The opener's life is one that is over.
    Over,
}

/// An acceptor's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The acceptor's life.
    pub(super) life: Life,
    pub(super) standing: Standing,
    /// The opener's life as the acceptor knows it.
    pub(super) known: Life,
    /// The number of the last frame of that life that the acceptor has.
    pub(super) last: u64,
}

fn head(mark: u8, session: SessionId, life: Life) -> [u8; 26] {
    let mut bytes = [0; 26];
    bytes[0] = mark;
    bytes[1] = VERSION;
    bytes[2..18].copy_from_slice(&session.0);
    bytes[18..].copy_from_slice(&life.number().to_le_bytes());
    bytes
}

/// Reads the first half of a greeting: the other end's life.
async fn read_head(
    stream: &mut (impl AsyncRead + Unpin),
    mark: u8,
    session: SessionId,
) -> Result<Life, Refusal> {
    let mut bytes = [0; 26];
    stream.read_exact(&mut bytes).await?;
    let [first, version, rest @ ..] = bytes;
    if first != mark {
        return Err(Refusal::Misbehaved(Misbehaviour::NotAGreeting));
    }
    if version != VERSION {
        let (found, expected) = (version, VERSION);
        return Err(Refusal::Misbehaved(Misbehaviour::Version {
            found,
            expected,
        }));
    }
    let mut found = SessionId([0; 16]);
    found.0.copy_from_slice(&rest[..16]);
    if found != session {
        let expected = session;
        return Err(Refusal::Misbehaved(Misbehaviour::WrongSession {
            expected,
            found,
        }));
    }
    let mut life = [0; 8];
    life.copy_from_slice(&rest[16..]);
    Ok(Life::from_number(u64::from_le_bytes(life)))
}

/// The opener's half.
pub(super) async fn greet(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    session: SessionId,
    own: Life,
) -> Result<Answer, Refusal> {
    stream.write_all(&head(MARK, session, own)).await?;
    stream.flush().await?;
    let life = read_head(stream, ANSWER, session).await?;
    let mut rest = [0; 17];
    stream.read_exact(&mut rest).await?;
    let number = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&rest[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    let standing = match rest[0] {
        0 => Standing::Open,
        1 => Standing::Cut,
        2 => Standing::Over,
        _ => return Err(Refusal::Misbehaved(Misbehaviour::NotAGreeting)),
    };
    Ok(Answer {
        life,
        standing,
        known: Life::from_number(number(1)),
        last: number(9),
    })
}

/// The acceptor hears who opens: its life.
pub(super) async fn hear(
    stream: &mut (impl AsyncRead + Unpin),
    session: SessionId,
) -> Result<Life, Refusal> {
    read_head(stream, MARK, session).await
}

/// The acceptor's half.
pub(super) async fn answer(
    stream: &mut (impl AsyncWrite + Unpin),
    session: SessionId,
    answer: Answer,
) -> Result<(), Refusal> {
    stream
        .write_all(&head(ANSWER, session, answer.life))
        .await?;
    let standing = match answer.standing {
        Standing::Open => 0,
        Standing::Cut => 1,
        Standing::Over => 2,
    };
    stream.write_all(&[standing]).await?;
    stream
        .write_all(&answer.known.number().to_le_bytes())
        .await?;
    stream.write_all(&answer.last.to_le_bytes()).await?;
    stream.flush().await?;
    Ok(())
}
