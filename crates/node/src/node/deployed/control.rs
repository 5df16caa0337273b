//! The control streams of one connection: one that this host speaks on, one that it hears.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::{AsyncWrite, AsyncWriteExt, StreamExt};
use libp2p::{PeerId, Stream};
use libp2p_stream::IncomingStreams;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::frames::{self, MAX_CONTROL_FRAMES, Pace, Unreadable};
use super::hub::{Hub, Member, lock};
use super::serving::Command;
use super::setup::HostEvent;
use super::streams::{self, Purpose, Refusal};
use crate::session::Signed;

/// How often a host shows that it is alive, at least and at most; in between, a quarter of the grace.
const LIFE: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(5));

/// Signs of life that may be missing before a connection is taken for dead.
const MISSED: u32 = 4;

/// How long to wait for more to say.
const MOMENT: Duration = Duration::from_millis(10);

/// How long a greeting may take to come.
const GREETING: Duration = Duration::from_secs(10);

/// How often a host with this grace shows that it is alive.
fn life(grace: Duration) -> Duration {
    (grace / 4).clamp(LIFE.0, LIFE.1)
}

/// Speaks to a connected member until it is dropped, on another stream whenever one breaks: all that is said, from the
/// beginning. Closes the connection where nothing has come on it for too long.
pub(super) async fn speak(hub: &Hub, member: &Member) {
    let every = life(hub.grace);
    let listening = async {
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let now = hub.awake.now();
            if now.saturating_sub(*lock(&member.last_heard)) > MISSED * every {
                tracing::info!(member = %member.id, "no sign of life: closing the connection");
                member.note_life(now);
                let _ = hub.commands.send(Command::Close(member.peer)).await;
            }
        }
    };
    let speaking = async {
        loop {
            match streams::open(&hub.streams, member.peer, Purpose::Control).await {
                Ok((mut stream, _)) => {
                    let speaking = Arc::clone(&hub.speaking);
                    match say_all(hub, member, &mut stream, every).await {
                        Ok(()) => {
                            streams::part(&mut stream).await;
                            drop(speaking);
                            return std::future::pending().await;
                        }
                        Err(error) => {
                            tracing::debug!(member = %member.id, %error, "the control stream broke");
                        }
                    }
                }
                Err(what) => {
                    hub.blame(member.id, what, None).await;
                    return std::future::pending().await;
                }
            }
        }
    };
    tokio::select! {
        () = listening => {}
        () = speaking => {}
    }
}

/// Says all there is and will be, and shows life in between, until the host is about to end.
async fn say_all(
    hub: &Hub,
    member: &Member,
    stream: &mut (impl AsyncWrite + Unpin),
    every: Duration,
) -> io::Result<()> {
    let mut changes = hub.log.changes();
    let (mut at, mut gathered) = (0, Vec::new());
    member.said.store(at, Ordering::Relaxed);
    loop {
        changes.mark_unchanged();
        loop {
            let to = (&member.id, member.is_near);
            at = hub.log.gather(to, &lock(&member.has), at, &mut gathered);
            if gathered.is_empty() {
                break;
            }
            stream.write_all(&gathered).await?;
        }
        stream.flush().await?;
        member.said.store(at, Ordering::Relaxed);
        tokio::select! {
            // More to say, or the host is gone and this task with it. What is said within a moment is written at once.
            _ = changes.changed() => sleep(MOMENT).await,
            () = hub.closes() => return Ok(()),
            () = sleep(every) => frames::write(stream, &[]).await?,
        }
    }
}

/// Accepts the control streams of members, one at a time from each, and hears every one in a task of its own. Must come
/// back to the queue at once: the library drops what arrives meanwhile.
pub(super) async fn accept(hub: Arc<Hub>, mut incoming: IncomingStreams) {
    let mut hearing = JoinSet::new();
    let mut current: BTreeMap<PeerId, AbortHandle> = BTreeMap::new();
    loop {
        tokio::select! {
            stream = incoming.next() => {
                let Some((peer, stream)) = stream else { return };
                // Strangers cannot even connect; this is the second lock on that door.
                let Some(member) = hub.members.get(&peer) else { continue };
                if member.is_barred.load(Ordering::Relaxed) {
                    continue;
                }
                let heard = hear(Arc::clone(&hub), Arc::clone(member), stream);
                if let Some(older) = current.insert(peer, hearing.spawn(heard)) {
                    older.abort();
                }
            }
            Some(_) = hearing.join_next() => {}
        }
    }
}

/// Hears one stream to its end.
async fn hear(hub: Arc<Hub>, member: Arc<Member>, mut stream: Stream) {
    let what = match timeout(GREETING, streams::answer_control(&mut stream)).await {
        Ok(Ok(())) => match hear_frames(&hub, &member, &mut stream).await {
            Unreadable::Broken => return,
            Unreadable::Misbehaved(what) => what,
        },
        Ok(Err(Refusal::Misbehaved(what))) => what,
        Ok(Err(Refusal::Broken(_))) | Err(_) => return,
    };
    member.is_barred.store(true, Ordering::Relaxed);
    hub.blame(member.id, what, None).await;
}

async fn hear_frames(hub: &Hub, member: &Member, stream: &mut Stream) -> Unreadable {
    let mut pace = Pace::default();
    let mut repeated = 0;
    let connection = member.link.borrow().connection;
    loop {
        let bytes = match frames::read(stream).await {
            Ok(bytes) => bytes,
            Err(unreadable) => return unreadable,
        };
        member.note_life(hub.awake.now());
        pace.keep().await;
        if bytes.is_empty() {
            continue;
        }
        let digest = *blake3::hash(&bytes).as_bytes();
        let new = lock(&member.heard).is_new(digest);
        let is_present = connection.is_some() && member.link.borrow().connection == connection;
        if new.is_ok() && is_present {
            lock(&member.has).insert(digest);
        }
        match new {
            Ok(true) => {
                // The caller is told once, whoever says it; of a departure also when its member says so itself.
                let is_departure = Signed::claims_departure(&bytes, &member.id);
                if !hub.told_before(&bytes) || is_departure {
                    let from = member.id;
                    hub.tell(HostEvent::Control { from, bytes }).await;
                }
            }
            // Said again on a new stream, where everything is said once.
            Ok(false) if repeated < MAX_CONTROL_FRAMES => repeated += 1,
            Ok(false) => {
                let limit = MAX_CONTROL_FRAMES;
                return Unreadable::Misbehaved(
                    crate::node::misbehaviour::Misbehaviour::ControlTooMany { limit },
                );
            }
            Err(what) => return Unreadable::Misbehaved(what),
        }
    }
}
