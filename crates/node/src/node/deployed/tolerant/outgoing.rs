//! The task that writes one neighbour's frames, on another stream whenever a connection breaks.

use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use libp2p::Stream;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{sleep, timeout};

use super::greeting::{self, Answer, Standing};
use super::inbound::Inbound;
use super::queue::Queue;
use crate::node::deployed::hub::{Hub, Member, lock};
use crate::node::deployed::streams::{Refusal, TOLERANT};
use crate::node::deployed::tolerance::{Life, SignedLife};
use crate::node::error::HostError;
use crate::node::misbehaviour::Misbehaviour;
use crate::protocol::SessionId;
use crate::session::PublicId;
use crate::vocabulary::PeerIndex;

/// The pause between two attempts to open a stream.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a stream may go without an answer before another one is opened.
const ANSWER: Duration = Duration::from_secs(10);

/// What is said to one neighbour, and what is known of it.
pub(in super::super) struct Outgoing {
    pub(in super::super) member: Arc<Member>,
    /// Which of the neighbours it is.
    pub(super) place: usize,
    pub(super) neighbour: PeerIndex,
    pub(super) session: SessionId,
    me: PublicId,
    pub(super) own: SignedLife,
    pub(super) queue: Mutex<Queue>,
    /// Something is to be written.
    more: Notify,
    /// The neighbour's life, as the driver knows it.
    pub(super) life: watch::Sender<Option<Life>>,
    /// The last life that the neighbour has signed.
    shown: Mutex<Option<SignedLife>>,
    /// Whether the link is cut, or this peer has left.
    pub(super) is_cut: watch::Sender<bool>,
    /// When bytes of a long frame came last, by the clock of this process.
    pub(super) moved: Mutex<Duration>,
    /// The restart of the neighbour that was heard of before it came itself: what is kept is for that life.
    awaited: Mutex<Option<u8>>,
}

/// How a stream ended.
enum Ended {
    Broken,
    /// The other end says that the link is cut.
    Cut,
    /// This life is over, as a later one shows.
    Over,
    Misbehaved(Misbehaviour),
}

impl From<io::Error> for Ended {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

/// The place of a neighbour among these links, which ascend.
pub(super) fn place_of(links: &[Arc<Outgoing>], neighbour: PeerIndex) -> Option<usize> {
    let place = links.binary_search_by_key(&neighbour, |link| link.neighbour);
    place.ok()
}

impl Outgoing {
    pub(in super::super) fn new(
        member: Arc<Member>,
        (place, neighbour): (usize, PeerIndex),
        session: SessionId,
        (me, own): (PublicId, SignedLife),
        longest: usize,
    ) -> Self {
        Self {
            member,
            place,
            neighbour,
            session,
            me,
            own,
            queue: Mutex::new(Queue::of(longest)),
            more: Notify::new(),
            life: watch::Sender::new(None),
            shown: Mutex::default(),
            is_cut: watch::Sender::new(false),
            moved: Mutex::default(),
            awaited: Mutex::default(),
        }
    }

    /// Hands a frame on to the writer; false if there are too many. Over a link that is cut nothing goes.
    pub(super) fn push(&self, frame: &Arc<[u8]>) -> bool {
        if *self.is_cut.borrow() {
            return true;
        }
        let taken = lock(&self.queue).push(Arc::clone(frame));
        self.more.notify_one();
        taken
    }

    /// The neighbour lives this life now. Whether it has to be told what it cannot know: it may have been already, when others told of its restart.
    pub(super) fn begin(&self, life: Life) -> bool {
        let known = *self.life.borrow();
        if known.is_some_and(|known| known == life || !life.follows(known)) {
            return false;
        }
        let is_awaited = lock(&self.awaited).is_some_and(|restarts| restarts == life.restarts());
        let mut queue = lock(&self.queue);
        if !is_awaited && known.is_some() {
            queue.expect_another();
        }
        queue.begin(life);
        drop(queue);
        self.life.send_replace(Some(life));
        !is_awaited && life.restarts() > 0
    }

    /// Others tell that the neighbour has started again, for the so manieth time. Whether that is news: then everything from here on is for its
    /// next life, and it has to be told what it cannot know.
    pub(super) fn awaits(&self, restarts: u8) -> bool {
        let is_here = self
            .life
            .borrow()
            .is_some_and(|life| life.restarts() >= restarts);
        let mut awaited = lock(&self.awaited);
        if is_here || awaited.is_some_and(|known| known >= restarts) {
            return false;
        }
        *awaited = Some(restarts);
        lock(&self.queue).expect_another();
        true
    }

    /// Nothing goes over this link any more, in either direction.
    pub(super) fn cut(&self) {
        self.is_cut.send_replace(true);
        lock(&self.queue).clear();
    }

    /// Whether everything has been written, as far as somebody is there to read it.
    pub(in super::super) fn is_written(&self) -> bool {
        let is_there = self.member.link.borrow().connection.is_some();
        !is_there || *self.is_cut.borrow() || lock(&self.queue).is_written()
    }

    /// Bytes of frames written, and frames written again.
    pub(in super::super) fn counted(&self) -> (u64, u64) {
        lock(&self.queue).counted()
    }

    /// Waits until the link is cut.
    pub(super) async fn is_over(&self) {
        let mut is_cut = self.is_cut.subscribe();
        // It is there as long as this link.
        let _ = is_cut.wait_for(|is_cut| *is_cut).await;
    }

    /// Writes until the link is cut here or there.
    pub(in super::super) async fn write(
        self: Arc<Self>,
        hub: Arc<Hub>,
        inbox: mpsc::Sender<Inbound>,
    ) {
        let ended = tokio::select! {
            ended = self.write_streams(&hub, &inbox) => ended,
            () = self.is_over() => return,
        };
        let told = match ended {
            Ended::Misbehaved(what) => {
                tracing::info!(member = %self.member.id, %what, "a neighbour misbehaves");
                Inbound::Gone(self.place)
            }
            Ended::Over => Inbound::Failed(HostError::OtherLife {
                member: self.member.id,
            }),
            Ended::Cut | Ended::Broken => Inbound::Gone(self.place),
        };
        // A driver that is gone has nobody to tell any more.
        let _ = inbox.send(told).await;
    }

    async fn write_streams(&self, hub: &Hub, inbox: &mpsc::Sender<Inbound>) -> Ended {
        loop {
            self.member.leaves(None).await;
            let connection = self.member.link.borrow().connection;
            let ended = tokio::select! {
                ended = self.write_stream(hub, inbox) => ended,
                () = self.member.leaves(connection) => Ended::Broken,
            };
            match ended {
                Ended::Broken => sleep(PAUSE).await,
                ended => return ended,
            }
        }
    }

    /// Opens a stream and writes on it until it breaks.
    async fn write_stream(&self, hub: &Hub, inbox: &mpsc::Sender<Inbound>) -> Ended {
        let (stream, answer) = match timeout(ANSWER, self.open(hub)).await {
            Ok(Ok(opened)) => opened,
            Ok(Err(Refusal::Misbehaved(what))) => return Ended::Misbehaved(what),
            Ok(Err(Refusal::Broken(_))) | Err(_) => return Ended::Broken,
        };
        match answer.standing {
            Standing::Cut => return Ended::Cut,
            Standing::Over(shown) if self.is_over_by(&shown) => return Ended::Over,
            Standing::Over(_) => return Ended::Misbehaved(Misbehaviour::LifeNotShown),
            Standing::Open => {}
        }
        let life = answer.life;
        if !self.learn(life, inbox).await {
            return Ended::Broken;
        }
        if !lock(&self.queue).arrived(life, answer.last) {
            return Ended::Misbehaved(self.misacknowledged(answer.last));
        }
        let speaking = Arc::clone(&hub.speaking);
        let (reader, writer) = stream.split();
        let ended = tokio::select! {
            ended = self.write_from(hub, writer, (life, answer.last + 1)) => ended,
            ended = self.hear(reader, life) => ended,
            () = self.changes(life) => Err(Ended::Broken),
        };
        drop(speaking);
        match ended {
            Ok(never) => match never {},
            Err(ended) => ended,
        }
    }

    async fn open(&self, hub: &Hub) -> Result<(Stream, Answer), Refusal> {
        let mut control = hub.streams.clone();
        let opened = control.open_stream(self.member.peer, TOLERANT).await;
        let mut stream = opened.map_err(io::Error::other)?;
        let answer = greeting::greet(&mut stream, self.session, self.own).await?;
        Ok((stream, answer))
    }

    /// Whether this peer itself has signed a life that is later than its own, or one beside it.
    fn is_over_by(&self, shown: &SignedLife) -> bool {
        shown.ends(self.own.life()) && shown.is_of(&self.me, self.session)
    }

    /// Keeps the last life that the neighbour has signed.
    pub(super) fn show(&self, signed: SignedLife) {
        *lock(&self.shown) = Some(signed);
    }

    /// The life that shows the neighbour that another one is over, if it has signed one.
    pub(super) fn shows_over(&self, life: Life) -> Option<SignedLife> {
        let shown = *lock(&self.shown);
        shown.filter(|shown| shown.ends(life))
    }

    /// Waits until the driver knows this life of the neighbour; false if it knows a later one.
    pub(super) async fn learn(&self, life: Life, inbox: &mpsc::Sender<Inbound>) -> bool {
        let known = *self.life.borrow();
        if known == Some(life) {
            return true;
        }
        if known.is_some_and(|known| !life.follows(known)) {
            return false;
        }
        let place = self.place;
        if inbox.send(Inbound::Back { place, life }).await.is_err() {
            return false;
        }
        let mut lives = self.life.subscribe();
        let reached = lives
            .wait_for(|known| known.is_some_and(|known| known == life || !life.follows(known)))
            .await;
        reached.is_ok_and(|known| *known == Some(life))
    }

    /// Waits until the neighbour lives another life.
    async fn changes(&self, life: Life) {
        let mut lives = self.life.subscribe();
        let _ = lives.wait_for(|known| *known != Some(life)).await;
    }

    async fn write_from(
        &self,
        hub: &Hub,
        mut stream: impl AsyncWrite + Unpin,
        (life, mut next): (Life, u64),
    ) -> Result<Infallible, Ended> {
        loop {
            let frame = lock(&self.queue).take(life, next);
            let Some(frame) = frame else {
                stream.flush().await?;
                tokio::select! {
                    // A frame that came meanwhile has left a permit.
                    () = self.more.notified() => {}
                    () = hub.closes() => {
                        // What is written is read to its end.
                        stream.close().await?;
                        return std::future::pending().await;
                    }
                }
                continue;
            };
            stream
                .write_all(&(frame.len() as u32).to_le_bytes())
                .await?;
            stream.write_all(&next.to_le_bytes()).await?;
            stream.write_all(&frame).await?;
            next += 1;
        }
    }

    /// Hears what has arrived.
    async fn hear(
        &self,
        mut stream: impl AsyncRead + Unpin,
        life: Life,
    ) -> Result<Infallible, Ended> {
        loop {
            let mut last = [0; 8];
            stream.read_exact(&mut last).await?;
            let last = u64::from_le_bytes(last);
            if !lock(&self.queue).arrived(life, last) {
                return Err(Ended::Misbehaved(self.misacknowledged(last)));
            }
        }
    }

    fn misacknowledged(&self, found: u64) -> Misbehaviour {
        Misbehaviour::Acknowledgement {
            found,
            acknowledged: 0,
            sent: 0,
        }
    }
}
