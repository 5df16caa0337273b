//! What the tasks of one host share: its members, its streams, and where its events go.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use libp2p::{Multiaddr, PeerId, Stream};
use libp2p_stream::Control;
use tokio::sync::{Notify, mpsc, watch};

use super::awake::Awake;
use super::frames::{Heard, Log};
use super::received::KeptStamps;
use super::serving::{Command, Link};
use super::setup::HostEvent;
use crate::node::equivocation::Evidence;
use crate::node::misbehaviour::Misbehaviour;
use crate::session::PublicId;

/// A place for one thing, which a newer one replaces.
#[derive(Debug)]
pub(super) struct Slot<T> {
    content: Mutex<Option<T>>,
    filled: Notify,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self {
            content: Mutex::new(None),
            filled: Notify::new(),
        }
    }
}

impl<T> Slot<T> {
    /// Puts something there, and drops what was there before.
    pub(super) fn put(&self, thing: T) {
        *lock(&self.content) = Some(thing);
        self.filled.notify_one();
    }

    /// Waits until something is there.
    pub(super) async fn filled(&self) {
        while lock(&self.content).is_none() {
            self.filled.notified().await;
        }
    }

    /// Takes what is there, or waits for something. Loses nothing when it is dropped; one task may wait.
    pub(super) async fn take(&self) -> T {
        loop {
            if let Some(thing) = lock(&self.content).take() {
                return thing;
            }
            self.filled.notified().await;
        }
    }
}

/// Locks what no task holds for long. Nobody panics while holding it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One of the others.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) id: PublicId,
    pub(super) peer: PeerId,
    pub(super) addresses: Vec<Multiaddr>,
    /// Whether this host dials it; otherwise it dials this host.
    pub(super) is_dialled: bool,
    /// Whether words are passed on to it.
    pub(super) is_near: bool,
    /// Whether a connection is wanted; one that the other end makes is kept in any case.
    pub(super) is_wanted: watch::Sender<bool>,
    pub(super) link: watch::Sender<Link>,
    /// How many control frames have been written to the present stream.
    pub(super) said: AtomicUsize,
    /// When anything came on its control stream, by the clock of this process.
    pub(super) last_heard: Mutex<Duration>,
    /// The control frames that came from it.
    pub(super) heard: Mutex<Heard>,
    /// BLAKE3 of the control frames that came on its present connection: it need not be said those.
    pub(super) has: Mutex<HashSet<[u8; 32]>>,
    /// Set once it has misbehaved: nothing more is read from it.
    pub(super) is_barred: AtomicBool,
    /// The newest stream of records that it has opened, until a reader takes it.
    pub(super) edge: Slot<Stream>,
    /// The newest stream of frames between peers that tolerate losses that it has opened, until a reader takes it.
    pub(super) tolerant: Slot<Stream>,
}

impl Member {
    /// Waits until this is not the connection any more. Streams need not notice: one whose connection is closed at this end hears nothing of it.
    pub(super) async fn leaves(&self, connection: Option<u64>) {
        let mut link = self.link.subscribe();
        // It is there as long as this member.
        let _ = link.wait_for(|link| link.connection != connection).await;
    }

    /// Something came of it at this time.
    pub(super) fn note_life(&self, now: Duration) {
        *lock(&self.last_heard) = now;
    }
}

/// What all tasks of a host share.
pub(super) struct Hub {
    pub(super) members: BTreeMap<PeerId, Arc<Member>>,
    pub(super) streams: Control,
    pub(super) commands: mpsc::Sender<Command>,
    pub(super) events: mpsc::Sender<HostEvent>,
    pub(super) log: Log,
    /// What neighbours have signed of what they sent.
    pub(super) stamps: KeptStamps,
    /// What members are handed who ask for the result.
    pub(super) result: Mutex<Option<Arc<[u8]>>>,
    /// BLAKE3 of the control frames that the caller has said or been told. There are as many as members may say.
    pub(super) told: Mutex<HashSet<[u8; 32]>>,
    pub(super) grace: Duration,
    /// What silence and absence are measured with.
    pub(super) awake: Awake,
    /// Set when the host is about to end, so that streams are ended first.
    pub(super) closing: watch::Sender<bool>,
    /// Shared with every stream that this host says something on.
    pub(super) speaking: Arc<()>,
}

impl Hub {
    /// Tells the caller of the host, who may be slow.
    pub(super) async fn tell(&self, event: HostEvent) {
        // A host that is gone needs no news.
        let _ = self.events.send(event).await;
    }

    /// Whether the caller has been told these bytes before, or has said them. From now on it has.
    pub(super) fn told_before(&self, bytes: &[u8]) -> bool {
        let digest = *blake3::hash(bytes).as_bytes();
        !lock(&self.told).insert(digest)
    }

    /// Waits until the host is about to end.
    pub(super) async fn closes(&self) {
        let mut closing = self.closing.subscribe();
        // It is there as long as this hub.
        let _ = closing.wait_for(|closing| *closing).await;
    }

    pub(super) async fn blame(
        &self,
        culprit: PublicId,
        what: Misbehaviour,
        evidence: Option<Evidence>,
    ) {
        tracing::info!(%culprit, %what, "a member misbehaves");
        self.tell(HostEvent::Fault {
            culprit,
            what,
            evidence,
        })
        .await;
    }
}
