//! The task that reads one neighbour's frames, on whichever stream the neighbour has opened last.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use libp2p::Stream;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::greeting::{self, Answer, Standing};
use super::inbound::Inbound;
use super::outgoing::Outgoing;
use super::stalling::WAITING;
use crate::node::deployed::defect::Defect;
use crate::node::deployed::hub::{Hub, lock};
use crate::node::deployed::streams;
use crate::node::deployed::tolerance::Life;
use crate::node::misbehaviour::Misbehaviour;
use crate::protocol::tolerant::{Format, Frame};

/// How long a greeting may take to come.
const GREETING: Duration = Duration::from_secs(10);

/// Frames between two acknowledgements, but for long ones.
const ACKNOWLEDGED_EVERY: u64 = 4;

/// Bytes of a frame that is acknowledged whatever its number.
const LARGE: usize = 64 * 1024;

/// Bytes that are read at a time: memory is taken for what has come, and not for what is announced.
const PIECE: usize = 256 * 1024;

/// One neighbour's frames at their receiver.
pub(in super::super) struct Incoming {
    pub(in super::super) hub: Arc<Hub>,
    /// The other direction, which knows lives and cuts.
    pub(in super::super) link: Arc<Outgoing>,
    pub(in super::super) format: Arc<Format>,
    pub(in super::super) inbox: mpsc::Sender<Inbound>,
    pub(in super::super) defect: Option<Defect>,
}

/// What was read.
enum Read {
    Frame(Frame),
    /// See [`WAITING`].
    Waiting(u8),
}

/// Why a stream is read no further.
enum Stopped {
    Broken,
    /// What came is nothing that the protocol has.
    Misbehaved,
    Over,
}

impl From<io::Error> for Stopped {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

impl Incoming {
    /// Reads until the task is aborted or the run is over. Over a link that is cut, whoever opens a stream is told so.
    pub(in super::super) async fn read(self) {
        let mut last = None;
        let member = Arc::clone(&self.link.member);
        loop {
            let stream = member.tolerant.take().await;
            let stopped = tokio::select! {
                biased;
                // What was read of a frame that is not complete will be sent again on the newer stream.
                () = member.tolerant.filled() => continue,
                Err(stopped) = self.read_stream(stream, &mut last) => stopped,
            };
            match stopped {
                Stopped::Broken => {}
                Stopped::Over => return,
                Stopped::Misbehaved => {
                    tracing::info!(member = %member.id, "a neighbour sends what is no frame");
                    let _ = self.inbox.send(Inbound::Gone(self.link.place)).await;
                }
            }
        }
    }

    /// Reads one stream to its end. May be dropped at any point. `last` is the number of the last frame of the neighbour's present life.
    async fn read_stream(
        &self,
        mut stream: Stream,
        last: &mut Option<(Life, u64)>,
    ) -> Result<std::convert::Infallible, Stopped> {
        let link = &self.link;
        // A stream may be here before its connection is known to be.
        link.member.leaves(None).await;
        let connection = link.member.link.borrow().connection;
        let heard = timeout(GREETING, greeting::hear(&mut stream, link.session)).await;
        let signed = match heard {
            Ok(Ok(signed)) if signed.is_of(&link.member.id, link.session) => signed,
            Ok(Ok(_)) => {
                tracing::info!(member = %link.member.id, what = %Misbehaviour::LifeNotSigned, "a neighbour misbehaves");
                return Err(Stopped::Misbehaved);
            }
            Ok(Err(streams::Refusal::Misbehaved(_))) => return Err(Stopped::Misbehaved),
            Ok(Err(streams::Refusal::Broken(_))) | Err(_) => return Err(Stopped::Broken),
        };
        let life = signed.life();
        let is_cut = *link.is_cut.borrow();
        let is_present = !is_cut && link.learn(life, &self.inbox).await;
        let standing = match link.shows_over(life) {
            _ if is_cut => Standing::Cut,
            _ if is_present => Standing::Open,
            // Nobody is refused but by what it has signed itself.
            shown => shown.map_or(Standing::Cut, Standing::Over),
        };
        if is_present {
            link.show(signed);
        }
        let claimed = self.defect.as_ref();
        let claimed = claimed.and_then(|defect| defect.claimed(link.place, &signed, &link.own));
        let standing = claimed.map_or(standing, Standing::Over);
        if is_present && last.is_none_or(|(of, _)| of != life) {
            *last = Some((life, 0));
        }
        let answer = Answer {
            life: link.own.life(),
            standing,
            last: last
                .filter(|(of, _)| *of == life)
                .map_or(0, |(_, last)| last),
        };
        let answered = timeout(
            GREETING,
            greeting::answer(&mut stream, link.session, answer),
        )
        .await;
        if !matches!(answered, Ok(Ok(()))) || standing != Standing::Open {
            let _ = stream.close().await;
            return Err(Stopped::Broken);
        }
        let speaking = Arc::clone(&self.hub.speaking);
        tokio::select! {
            () = link.member.leaves(connection) => Err(Stopped::Broken),
            () = link.is_over() => Err(Stopped::Broken),
            () = self.hub.closes() => {
                drop(speaking);
                Err(Stopped::Over)
            }
            stopped = self.read_frames(&mut stream, last) => stopped,
        }
    }

    async fn read_frames(
        &self,
        stream: &mut Stream,
        last: &mut Option<(Life, u64)>,
    ) -> Result<std::convert::Infallible, Stopped> {
        loop {
            let Some((_, before)) = last else {
                return Err(Stopped::Broken);
            };
            let number = *before + 1;
            let (frame, length) = self.read_frame(stream, number).await?;
            self.link.member.note_life(self.hub.awake.now());
            // From here on nothing is waited for before the driver has it.
            let Ok(permit) = self.inbox.reserve().await else {
                return Err(Stopped::Over);
            };
            let place = self.link.place;
            permit.send(match frame {
                Read::Frame(frame) => Inbound::Frame { place, frame },
                Read::Waiting(hops) => Inbound::Waiting { place, hops },
            });
            *before = number;
            if length >= LARGE || number.is_multiple_of(ACKNOWLEDGED_EVERY) {
                stream.write_all(&number.to_le_bytes()).await?;
                stream.flush().await?;
            }
        }
    }

    /// The next frame, which must have this number.
    async fn read_frame(
        &self,
        stream: &mut (impl AsyncRead + Unpin),
        number: u64,
    ) -> Result<(Read, usize), Stopped> {
        let mut head = [0; 12];
        stream.read_exact(&mut head).await?;
        let [a, b, c, d, found @ ..] = head;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        if u64::from_le_bytes(found) != number || length > self.format.longest() {
            return Err(Stopped::Misbehaved);
        }
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let from = bytes.len();
            bytes.resize(length.min(from + PIECE), 0);
            stream.read_exact(&mut bytes[from..]).await?;
            if length >= LARGE {
                let now = self.hub.awake.now();
                self.link.member.note_life(now);
                *lock(&self.link.moved) = now;
            }
        }
        if let [WAITING, hops] = bytes[..] {
            return Ok((Read::Waiting(hops), length));
        }
        match self.format.frame(&bytes) {
            Ok(frame) => Ok((Read::Frame(frame), length)),
            Err(error) => {
                tracing::info!(member = %self.link.member.id, %error, "not a frame");
                Err(Stopped::Misbehaved)
            }
        }
    }
}
