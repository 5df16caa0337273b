//! The result of a session, handed to members who come too late to have it: it is public among them.
//!
//! ```text
//! asker    mark, version
//! holder   mark, length (8), bytes: of length 0 while there is none
//! ```
//!
//! What the bytes are is the caller's business, and so is whether they are to be believed.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, StreamExt};
use libp2p::{PeerId, Stream, StreamProtocol};
use libp2p_stream::IncomingStreams;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::hub::{Hub, lock};

/// Results, one stream for each time that somebody asks.
pub(super) const RESULT: StreamProtocol = StreamProtocol::new("/undertone/result/1");

const MARK: u8 = 0x77;
const ANSWER: u8 = 0x78;
const VERSION: u8 = 1;

/// How long handing a result over may take.
const HANDING: Duration = Duration::from_secs(60);

/// Bytes that are read at a time: memory is taken for what has come, and not for what is announced.
const PIECE: usize = 256 * 1024;

/// Hands the result to whoever of the members asks, one stream at a time to each.
pub(super) async fn accept(hub: Arc<Hub>, mut incoming: IncomingStreams) {
    let mut handing = JoinSet::new();
    let mut current: BTreeMap<PeerId, AbortHandle> = BTreeMap::new();
    loop {
        tokio::select! {
            stream = incoming.next() => {
                let Some((peer, stream)) = stream else { return };
                if !hub.members.contains_key(&peer) {
                    continue;
                }
                let handed = hand(Arc::clone(&hub), stream);
                if let Some(older) = current.insert(peer, handing.spawn(handed)) {
                    older.abort();
                }
            }
            Some(_) = handing.join_next() => {}
        }
    }
}

async fn hand(hub: Arc<Hub>, mut stream: Stream) {
    let result = lock(&hub.result).clone().unwrap_or_default();
    let speaking = Arc::clone(&hub.speaking);
    let handed = timeout(HANDING, answer(&mut stream, &result)).await;
    if let Ok(Err(error)) = handed {
        tracing::debug!(%error, "a result was not handed over");
    }
    drop(speaking);
}

async fn answer(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    result: &[u8],
) -> io::Result<()> {
    let mut head = [0; 2];
    stream.read_exact(&mut head).await?;
    if head != [MARK, VERSION] {
        return Err(io::ErrorKind::InvalidData.into());
    }
    stream.write_all(&[ANSWER]).await?;
    stream
        .write_all(&(result.len() as u64).to_le_bytes())
        .await?;
    stream.write_all(result).await?;
    stream.flush().await?;
    stream.close().await
}

/// Asks a member for its result: at most so many bytes, nothing if it has none.
pub(super) async fn ask(hub: &Hub, member: PeerId, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut control = hub.streams.clone();
    let opened = control.open_stream(member, RESULT).await;
    let mut stream = opened.map_err(io::Error::other)?;
    take(&mut stream, most).await
}

async fn take(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    most: usize,
) -> io::Result<Option<Vec<u8>>> {
    stream.write_all(&[MARK, VERSION]).await?;
    stream.flush().await?;
    let mut head = [0; 9];
    stream.read_exact(&mut head).await?;
    let [first, length @ ..] = head;
    let length = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX);
    if first != ANSWER || length > most {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    while bytes.len() < length {
        let from = bytes.len();
        bytes.resize(length.min(from + PIECE), 0);
        stream.read_exact(&mut bytes[from..]).await?;
    }
    Ok((length > 0).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use futures::executor::block_on;
    use futures::io::Cursor;

    use super::*;

    /// A stream that gives these bytes and takes whatever is written.
    struct Ends {
        input: Cursor<Vec<u8>>,
        output: Vec<u8>,
    }

    impl AsyncRead for Ends {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut [u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.input).poll_read(context, buffer)
        }
    }

    impl AsyncWrite for Ends {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.output.extend_from_slice(buffer);
            Poll::Ready(Ok(buffer.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    fn ends(input: &[u8]) -> Ends {
        Ends {
            input: Cursor::new(input.to_vec()),
            output: Vec::new(),
        }
    }

    #[test]
    fn what_is_handed_over_is_what_is_taken_within_its_bounds() {
        for length in [0, 1, PIECE + 7] {
            let result = vec![9; length];
            let mut holder = ends(&[MARK, VERSION]);
            block_on(answer(&mut holder, &result)).expect("it asks as it should");
            let said = holder.output;
            let taken = block_on(take(&mut ends(&said), length)).expect("whole");
            assert_eq!(taken, (length > 0).then(|| result.clone()));
            if length > 0 {
                assert!(block_on(take(&mut ends(&said), length - 1)).is_err());
                assert!(block_on(take(&mut ends(&said[..said.len() - 1]), length)).is_err());
            }
        }
        assert!(block_on(answer(&mut ends(&[MARK, 2]), &[1])).is_err());
        let mut huge = vec![ANSWER];
        huge.extend(u64::MAX.to_le_bytes());
        assert!(block_on(take(&mut ends(&huge), usize::MAX)).is_err());
        assert!(block_on(take(&mut ends(&huge), 1 << 30)).is_err());
    }
}
