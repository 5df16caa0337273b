//! How two ends of a stream of frames find out which life of the other they speak to, and what has arrived.
//!
//! ```text
//! opener     mark, version, session (16), its life (8), signed (64)
//! acceptor   mark, version, session (16), its life (8), standing (1), last frame received (8); if the opener's life is over, a later one (8), signed (64)
//! ```
//!
//! An opener signs its life, and an acceptor keeps the signature of the last one: it can show whoever works on files from a backup what that member itself has
//! signed. Without such a signature the claim that a life is over proves nothing, and only the link to whoever makes it is cut.

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::node::deployed::streams::Refusal;
use crate::node::deployed::tolerance::{Life, SignedLife};
use crate::node::misbehaviour::Misbehaviour;
use crate::protocol::SessionId;

const MARK: u8 = 0x75;
const ANSWER: u8 = 0x76;
const VERSION: u8 = 3;

/// What an acceptor says of the link, and of the opener's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Frames are taken.
    Open,
    /// The link is cut, or the acceptor has left.
    Cut,
    /// The opener's life is over, as this later one of its own shows.
    Over(SignedLife),
}

/// An acceptor's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The acceptor's life.
    pub(super) life: Life,
    pub(super) standing: Standing,
    /// The number of the last frame of the opener's life that the acceptor has.
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
    own: SignedLife,
) -> Result<Answer, Refusal> {
    let signed = own.to_bytes();
    stream.write_all(&head(MARK, session, own.life())).await?;
    stream.write_all(&signed[8..]).await?;
    stream.flush().await?;
    let life = read_head(stream, ANSWER, session).await?;
    let (mut kind, mut last) = ([0; 1], [0; 8]);
    stream.read_exact(&mut kind).await?;
    stream.read_exact(&mut last).await?;
    let standing = match kind {
        [0] => Standing::Open,
        [1] => Standing::Cut,
        [2] => {
            let mut shown = [0; SignedLife::LEN];
            stream.read_exact(&mut shown).await?;
            Standing::Over(SignedLife::from_bytes(shown))
        }
        _ => return Err(Refusal::Misbehaved(Misbehaviour::NotAGreeting)),
    };
    Ok(Answer {
        life,
        standing,
        last: u64::from_le_bytes(last),
    })
}

/// The acceptor hears who opens: its life, with a signature that is still to be verified.
pub(super) async fn hear(
    stream: &mut (impl AsyncRead + Unpin),
    session: SessionId,
) -> Result<SignedLife, Refusal> {
    let life = read_head(stream, MARK, session).await?;
    let mut signed = [0; SignedLife::LEN];
    signed[..8].copy_from_slice(&life.number().to_le_bytes());
    stream.read_exact(&mut signed[8..]).await?;
    Ok(SignedLife::from_bytes(signed))
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
    let (kind, shown) = match answer.standing {
        Standing::Open => (0, None),
        Standing::Cut => (1, None),
        Standing::Over(shown) => (2, Some(shown)),
    };
    stream.write_all(&[kind]).await?;
    stream.write_all(&answer.last.to_le_bytes()).await?;
    if let Some(shown) = shown {
        stream.write_all(&shown.to_bytes()).await?;
    }
    stream.flush().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use futures::io::Cursor;

    use super::*;
    use crate::session::Identity;

    const SESSION: SessionId = SessionId([3; 16]);

    /// A stream that gives these bytes and takes whatever is written.
    struct Ends {
        input: Cursor<Vec<u8>>,
        output: Vec<u8>,
    }

    impl AsyncRead for Ends {
        fn poll_read(
            mut self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
            bytes: &mut [u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            std::pin::Pin::new(&mut self.input).poll_read(context, bytes)
        }
    }

    impl AsyncWrite for Ends {
        fn poll_write(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            bytes: &[u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            self.output.extend_from_slice(bytes);
            std::task::Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Ready(Ok(()))
        }

        fn poll_close(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Ready(Ok(()))
        }
    }

    fn ends(input: Vec<u8>) -> Ends {
        Ends {
            input: Cursor::new(input),
            output: Vec::new(),
        }
    }

    #[test]
    fn both_ends_learn_whom_they_speak_to_and_nothing_else_is_taken_for_a_greeting() {
        let (life, other) = (Life::new(2, 1, 77), Life::new(0, 0, 5));
        let identity = Identity::from_secret([4; 32].into());
        let own = SignedLife::sign(&identity, SESSION, life);
        assert!(own.is_of(&identity.id(), SESSION));
        let later = SignedLife::sign(&identity, SESSION, Life::new(3, 1, 7));
        for standing in [Standing::Open, Standing::Cut, Standing::Over(later)] {
            let said = Answer {
                life: other,
                standing,
                last: 9,
            };
            let mut acceptor = ends(Vec::new());
            block_on(answer(&mut acceptor, SESSION, said)).expect("written");
            let bytes = acceptor.output;
            let mut opener = ends(bytes.clone());
            let heard = block_on(greet(&mut opener, SESSION, own)).expect("an answer");
            assert_eq!(heard, said);
            // What the opener said is heard as its life.
            let greeting = opener.output;
            let signed = block_on(hear(&mut ends(greeting.clone()), SESSION));
            assert_eq!(signed.expect("a greeting"), own);
            let elsewhere = block_on(hear(&mut ends(greeting.clone()), SessionId([4; 16])));
            assert!(matches!(
                elsewhere,
                Err(Refusal::Misbehaved(Misbehaviour::WrongSession { .. }))
            ));
            for at in [0, 1] {
                let mut changed = greeting.clone();
                changed[at] ^= 1;
                let refused = block_on(hear(&mut ends(changed), SESSION));
                assert!(matches!(refused, Err(Refusal::Misbehaved(_))), "{at}");
            }
            for length in 0..bytes.len() {
                let cut = block_on(greet(&mut ends(bytes[..length].to_vec()), SESSION, own));
                assert!(matches!(cut, Err(Refusal::Broken(_))), "{length}");
            }
            let mut changed = bytes;
            changed[26] = 3;
            let refused = block_on(greet(&mut ends(changed), SESSION, own));
            assert!(matches!(refused, Err(Refusal::Misbehaved(_))));
        }
    }
}
