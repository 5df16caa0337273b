//! One deployed process on the network: members, control frames, and the peer that runs over them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use libp2p::identity::Keypair;
use libp2p::{PeerId, Stream};
use libp2p_stream::IncomingStreams;
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::address::{parse, parse_listen};
use super::awake::Awake;
use super::defect::Defect;
use super::driver::{Driver, Signing};
use super::edge::{Incoming, Outgoing, Sending};
use super::frames::{Audience, Heard, Log};
use super::hub::{Hub, Member, Slot, lock};
use super::received::KeptStamps;
use super::serving::{self, Command, Link};
use super::setup::{HostEvent, HostSetup, MemberAddress, PeerRun};
use super::streams::{CONTROL, EDGE, TOLERANT};
use super::tolerance::TolerantRun;
use super::tolerant;
use super::{barring, control, handing, links, transport};
use crate::node::equivocation::SIGNED_STAMP_LEN;
use crate::node::error::HostError;
use crate::node::plain::PlainPeer;
use crate::node::runtime::Runtime;
use crate::protocol::{Lane, Peer};
use crate::session::{Identity, PublicId};
use crate::vocabulary::{PeerIndex, Time};

/// Events that may wait for the caller; beyond that members wait.
const EVENTS: usize = 256;

/// Commands that may wait for the swarm.
const COMMANDS: usize = 64;

/// Records that may be unacknowledged beyond the two messages that the protocol has in flight.
const SLACK: usize = 64;

/// How long a result may take to come.
const FETCHING: Duration = Duration::from_secs(20);

/// How often a host that ends looks whether everything has been said.
const LOOK: Duration = Duration::from_millis(10);

/// The network of one deployed process. Dropping it closes everything at once.
///
/// It knows members by their ids and addresses and carries two things: control frames, whose content it does not look into, and the
/// signed frames of one peer of the protocol. A pair of members has at most one connection, which is made again whenever it breaks;
/// what was said and may not have arrived is said again.
pub struct Host {
    identity: Arc<Identity>,
    addresses: Vec<String>,
    hub: Arc<Hub>,
    by_id: BTreeMap<PublicId, Arc<Member>>,
    events: mpsc::Receiver<HostEvent>,
    tasks: JoinSet<()>,
    stop: watch::Sender<bool>,
    /// The edges of the run, once there is one.
    edges: Option<Vec<Arc<Outgoing>>>,
    /// The links of a peer that tolerates losses, once there is one, and where its driver is told of neighbours that are gone.
    links: Vec<Arc<tolerant::Outgoing>>,
    gone: Option<mpsc::Sender<tolerant::Inbound>>,
    defect: Option<Defect>,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Host({}, {} members)",
            self.identity.id(),
            self.by_id.len()
        )
    }
}

/// The id that libp2p knows a member by.
fn peer_id(id: &PublicId) -> PeerId {
    let text = id.to_string();
    text.parse().expect("public ids are written as peer ids")
}

impl Host {
    /// Listens, and begins to dial every member near that it is to dial: of two reachable members the one with the lower key dials, and an
    /// unreachable one dials everybody. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// [`HostError`] if an address is none, a member is listed twice, or the host cannot listen.
    pub async fn start(setup: HostSetup) -> Result<Self, HostError> {
        Self::start_with(setup, None).await
    }

    /// As [`Self::start`], with a defect if there is one.
    pub(in crate::node) async fn start_with(
        setup: HostSetup,
        defect: Option<Defect>,
    ) -> Result<Self, HostError> {
        let HostSetup {
            identity,
            listen,
            members,
            near,
            grace,
            limits,
        } = setup;
        let by_id = members_of(&identity.id(), &members, near.as_ref())?;
        let listen: Result<Vec<_>, _> = listen.iter().map(|text| parse_listen(text)).collect();
        let listen = listen?;
        let keypair = Keypair::ed25519_from_bytes(*identity.secret());
        let keypair = keypair.map_err(|error| HostError::Encryption(Box::new(error)))?;
        let peers = by_id.values().map(|member| member.peer);
        let mut swarm = transport::build(&keypair, peers, &limits)?;
        let mut addresses = Vec::new();
        for address in &listen {
            let at = transport::listen(&mut swarm, address).await?;
            tracing::info!(%at, "listening");
            addresses.push(at.to_string());
        }
        let mut streams = swarm.behaviour().streams.new_control();
        let accept = |incoming: Result<IncomingStreams, _>| {
            incoming.expect("the swarm is new, so nothing accepts this protocol yet")
        };
        let controls = accept(streams.accept(CONTROL));
        let edges = accept(streams.accept(EDGE));
        let tolerant = accept(streams.accept(TOLERANT));
        let results = accept(streams.accept(handing::RESULT));
        let (commands, commanded) = mpsc::channel(COMMANDS);
        let (events_sender, events) = mpsc::channel(EVENTS);
        let members = by_id
            .values()
            .map(|member| (member.peer, Arc::clone(member)));
        let hub = Arc::new(Hub {
            members: members.collect(),
            streams,
            commands,
            events: events_sender,
            log: Log::new(),
            stamps: KeptStamps::default(),
            result: Mutex::default(),
            told: Mutex::default(),
            grace,
            awake: Awake::default(),
            closing: watch::Sender::new(false),
            speaking: Arc::new(()),
        });
        let link = |member: &Arc<Member>| (member.peer, member.link.clone());
        let links = by_id.values().map(link).collect();
        let mut tasks = JoinSet::new();
        let kept = Arc::clone(&hub);
        tasks.spawn(async move { kept.awake.keep().await });
        tasks.spawn(serving::serve(swarm, commanded, links));
        tasks.spawn(control::accept(Arc::clone(&hub), controls));
        tasks.spawn(accept_into(Arc::clone(&hub), edges, |member| &member.edge));
        tasks.spawn(accept_into(Arc::clone(&hub), tolerant, |member| {
            &member.tolerant
        }));
        tasks.spawn(handing::accept(Arc::clone(&hub), results));
        if defect.is_some() {
            let hub = Arc::clone(&hub);
            tasks.spawn(barring::follow(defect.clone(), identity.id(), hub));
        }
        for member in by_id.values() {
            tasks.spawn(links::keep(Arc::clone(&hub), Arc::clone(member)));
        }
        Ok(Self {
            identity,
            addresses,
            hub,
            by_id,
            events,
            tasks,
            stop: watch::Sender::new(false),
            edges: None,
            links: Vec::new(),
            gone: None,
            defect,
        })
    }

    /// Where it listens, with the ports that were given out.
    #[must_use]
    pub fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// Says a control frame to every member: to those that are connected now, and to the others when they come. It is kept until the
    /// host ends, and said again to whoever comes back; members tell it to their callers once, and when it comes back to this one it is
    /// not told. An empty frame is not said.
    ///
    /// # Errors
    /// [`HostError::ControlTooLong`] and [`HostError::ControlTooMany`], with nothing said.
    pub fn broadcast(&self, bytes: Arc<[u8]>) -> Result<(), HostError> {
        self.hub.told_before(&bytes);
        self.hub.log.say(Audience::All, bytes)
    }

    /// Says a control frame of another member to those near, as [`broadcast`](Self::broadcast) does to all.
    ///
    /// # Errors
    /// As for [`broadcast`](Self::broadcast).
    pub fn relay(&self, bytes: Arc<[u8]>) -> Result<(), HostError> {
        self.hub.told_before(&bytes);
        self.hub.log.say(Audience::Near, bytes)
    }

    /// Wants a connection to every member from now on. Words are passed on to those near only, as before.
    pub fn widen(&self) {
        for member in self.by_id.values() {
            member.is_wanted.send_replace(true);
        }
    }

    /// Says a control frame to one member, as [`broadcast`](Self::broadcast) does to all.
    ///
    /// # Errors
    /// As for [`broadcast`](Self::broadcast).
    pub fn send(&self, to: PublicId, bytes: Arc<[u8]>) -> Result<(), HostError> {
        self.hub.log.say(Audience::One(to), bytes)
    }

    /// Starts the peer over signed edges to its neighbours. What it says and how it ends comes out of [`next`](Self::next). Its patience
    /// should be longer than the grace: it counts while a connection is broken, too.
    ///
    /// # Errors
    /// [`HostError::BegunBefore`], [`HostError::Neighbours`], and [`HostError::Peer`] if its parts do not fit its plan.
    pub fn begin(&mut self, run: PeerRun) -> Result<(), HostError> {
        if self.edges.is_some() {
            return Err(HostError::BegunBefore);
        }
        let PeerRun {
            setup,
            neighbours,
            gate,
        } = run;
        if !neighbours
            .iter()
            .map(|(index, _)| index)
            .eq(&setup.neighbours)
        {
            return Err(HostError::Neighbours);
        }
        let members = self.neighbours(&neighbours)?;
        let (plan, schedule) = (Arc::clone(&setup.plan), setup.schedule.clone());
        let peer = Peer::new(setup)?;
        let session = plan.session();
        // A message and a fault of each neighbour, and air.
        let (sender, inbox) = mpsc::channel(2 * members.len() + 1);
        let (reached, step) = watch::channel(0);
        let progress = Arc::new(Notify::new());
        let mut edges = Vec::new();
        for (position, (member, (from, _))) in members.into_iter().zip(&neighbours).enumerate() {
            let lane = Lane::of(&plan, &schedule, position);
            let limit = 2 * lane.frame_sizes().most_frames() + SLACK;
            let edge = Outgoing::new(Arc::clone(&member), session, limit, Arc::clone(&progress));
            let edge = Arc::new(edge);
            let writing = Arc::clone(&edge).write(Arc::clone(&self.hub), sender.clone());
            edges.push(edge);
            self.tasks.spawn(writing);
            let incoming = Incoming {
                hub: Arc::clone(&self.hub),
                member,
                from: *from,
                session,
                lane,
                inbox: sender.clone(),
                reached: step.clone(),
            };
            self.tasks.spawn(incoming.read());
        }
        let signing = Signing {
            identity: Arc::clone(&self.identity),
            values: plan.values(),
            gate,
            edges: edges.clone(),
            hub: Arc::clone(&self.hub),
            piece: Vec::new(),
            defect: self.defect.clone(),
        };
        let actor = PlainPeer::new(peer, reached, 0);
        let driver = Driver {
            runtime: Runtime::new(actor, signing, Instant::now(), inbox),
            neighbours,
            progress,
            stop: self.stop.subscribe(),
        };
        self.edges = Some(edges);
        let runtime = Handle::current();
        self.tasks
            .spawn_blocking(move || runtime.block_on(driver.drive()));
        Ok(())
    }

    /// Starts a peer that tolerates losses over links to its neighbours. What it tells comes out of [`next`](Self::next); it answers until the
    /// host ends.
    ///
    /// # Errors
    /// [`HostError::BegunBefore`] and [`HostError::Neighbours`].
    pub fn begin_tolerant(&mut self, run: TolerantRun) -> Result<(), HostError> {
        if self.edges.is_some() || self.gone.is_some() {
            return Err(HostError::BegunBefore);
        }
        let TolerantRun {
            peer,
            format,
            session,
            neighbours,
            me,
            life,
            step_limit,
            keeper,
        } = run;
        let members = self.neighbours(&neighbours)?;
        let is_ascending = neighbours.is_sorted_by(|(a, _), (b, _)| a < b);
        if !is_ascending {
            return Err(HostError::Neighbours);
        }
        let format = Arc::new(format);
        let stalling = tolerant::Stalling::new(step_limit, members.len(), self.by_id.len() + 1);
        // Of whoever sends without end a few frames are held, and the rest is not read.
        let (sender, inbox) = mpsc::channel(2 * members.len() + 1);
        for (place, member) in members.into_iter().enumerate() {
            let link = tolerant::Outgoing::new(
                member,
                (place, neighbours[place].0),
                session,
                (me, life),
                format.longest(),
            );
            let link = Arc::new(link);
            let writing = Arc::clone(&link).write(Arc::clone(&self.hub), sender.clone());
            self.tasks.spawn(writing);
            let incoming = tolerant::Incoming {
                hub: Arc::clone(&self.hub),
                link: Arc::clone(&link),
                format: Arc::clone(&format),
                inbox: sender.clone(),
                defect: self.defect.clone(),
            };
            self.tasks.spawn(incoming.read());
            self.links.push(link);
        }
        let began = self.hub.awake.now();
        let actor = tolerant::LinkedPeer {
            peer,
            links: self.links.clone(),
            stalling,
            began,
            alarm: None,
            look: Time(0),
        };
        let keeping = tolerant::Keeping {
            format,
            keeper,
            links: self.links.clone(),
            hub: Arc::clone(&self.hub),
            defect: self.defect.clone(),
        };
        let clock = tolerant::AwakeSince(Arc::clone(&self.hub), began);
        let driver = tolerant::Driver {
            runtime: Runtime::new(actor, keeping, clock, inbox),
            stop: self.stop.subscribe(),
        };
        self.gone = Some(sender);
        let runtime = Handle::current();
        self.tasks
            .spawn_blocking(move || runtime.block_on(driver.drive()));
        Ok(())
    }

    /// Tells a peer that tolerates losses that a neighbour is not there any more, or deviates; nothing happens if it is none.
    pub fn give_up(&mut self, id: &PublicId) {
        let place = self.links.iter().position(|link| link.member.id == *id);
        if let (Some(place), Some(gone)) = (place, self.gone.clone()) {
            // Its inbox may be full for a moment, and this must not wait.
            self.tasks.spawn(async move {
                let _ = gone.send(tolerant::Inbound::Gone(place)).await;
            });
        }
    }

    /// What a peer that tolerates losses has written so far: bytes of frames, and frames that were written again.
    #[must_use]
    pub fn counted(&self) -> (u64, u64) {
        let counts = self.links.iter().map(|link| link.counted());
        counts.fold((0, 0), |(bytes, again), (more, resent)| {
            (bytes + more, again + resent)
        })
    }

    /// The last stamps of frames that neighbours have sent, with who signed them, the newest last.
    #[must_use]
    pub fn stamps(&self) -> Vec<(PublicId, [u8; SIGNED_STAMP_LEN])> {
        self.hub.stamps.all()
    }

    /// Hands these bytes to every member that asks for the result, from now on.
    pub fn publish(&self, result: Arc<[u8]>) {
        *lock(&self.hub.result) = Some(result);
    }

    /// Asks a member for its result, of at most so many bytes; nothing if it has none, or cannot be reached.
    pub async fn fetch(&self, from: &PublicId, most: usize) -> Option<Vec<u8>> {
        let member = self.by_id.get(from)?;
        let asked = timeout(FETCHING, handing::ask(&self.hub, member.peer, most)).await;
        asked.ok()?.ok()?
    }

    /// How long this process has run since it started: what it spent waiting for a processor does not count.
    #[must_use]
    pub fn awake(&self) -> Duration {
        self.hub.awake.now()
    }

    /// What happens next. Waits for ever where nothing does; loses nothing when it is dropped.
    pub async fn next(&mut self) -> HostEvent {
        loop {
            tokio::select! {
                biased;
                event = self.events.recv() => match event {
                    Some(event) => return event,
                    None => return HostEvent::Failed(HostError::TaskLost),
                },
                // Tasks end in silence only when they panic.
                Some(ended) = self.tasks.join_next() => if ended.is_err() {
                    return HostEvent::Failed(HostError::TaskLost);
                },
            }
        }
    }

    /// What has happened already and was not told; `None` if nothing has.
    pub fn try_next(&mut self) -> Option<HostEvent> {
        self.events.try_recv().ok()
    }

    /// Ends: waits for up to `linger` until the neighbours have acknowledged every record and every control frame has been written to
    /// the members that are connected, then closes the connections, in order.
    pub async fn shutdown(mut self, linger: Duration) {
        let edges = self.edges.take().unwrap_or_default();
        let parted = async {
            let is_clear = |edge: &Arc<Outgoing>| edge.sent(Sending::is_clear);
            let is_written = |link: &Arc<tolerant::Outgoing>| link.is_written();
            while !edges.iter().all(is_clear)
                || !self.links.iter().all(is_written)
                || !self.is_said()
            {
                self.pass_time().await;
            }
            self.hub.closing.send_replace(true);
            while Arc::strong_count(&self.hub.speaking) > 1 {
                self.pass_time().await;
            }
        };
        let _ = timeout(linger, parted).await;
        self.stop.send_replace(true);
        if self.hub.commands.send(Command::Stop).await.is_ok() {
            let closed = async {
                while !self.hub.commands.is_closed() {
                    sleep(LOOK).await
                }
            };
            let _ = timeout(Duration::from_secs(1), closed).await;
        }
        self.tasks.abort_all();
    }
}

impl Host {
    /// The neighbours of a run, to whom connections are wanted from now on.
    fn neighbours(&self, of: &[(PeerIndex, PublicId)]) -> Result<Vec<Arc<Member>>, HostError> {
        let members = of.iter().map(|(_, id)| self.by_id.get(id).cloned());
        let members: Option<Vec<_>> = members.collect();
        let members = members.ok_or(HostError::Neighbours)?;
        for member in &members {
            member.is_wanted.send_replace(true);
        }
        Ok(members)
    }

    /// Waits a moment. Whoever waits for the caller to take an event must not wait in vain.
    async fn pass_time(&mut self) {
        tokio::select! {
            _ = self.next() => {}
            () = sleep(LOOK) => {}
        }
    }

    /// Whether every member that is connected has been written every control frame.
    fn is_said(&self) -> bool {
        let frames = self.hub.log.len();
        self.by_id.values().all(|member| {
            let is_connected = member.link.borrow().connection.is_some();
            !is_connected || member.said.load(Ordering::Relaxed) >= frames
        })
    }
}

#[cfg(test)]
impl Host {
    /// For tests that speak for a member themselves.
    pub(super) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }
}

/// The others, with what this host knows of each.
fn members_of(
    own: &PublicId,
    members: &[MemberAddress],
    near: Option<&BTreeSet<PublicId>>,
) -> Result<BTreeMap<PublicId, Arc<Member>>, HostError> {
    let listed = |id| members.iter().find(|member| member.id == id);
    let is_reachable = listed(*own).is_none_or(|own| own.reachable);
    let mut seen = BTreeSet::new();
    let mut by_id = BTreeMap::new();
    for member in members {
        let id = member.id;
        if !seen.insert(id) {
            return Err(HostError::MemberTwice { id });
        }
        if id == *own {
            continue;
        }
        let addresses: Result<Vec<_>, _> =
            member.addresses.iter().map(|text| parse(text)).collect();
        let is_near = near.is_none_or(|near| near.contains(&id));
        let known = Member {
            id,
            peer: peer_id(&id),
            addresses: addresses?,
            is_dialled: member.reachable && (!is_reachable || *own < id),
            is_near,
            is_wanted: watch::Sender::new(is_near),
            link: watch::Sender::new(Link::default()),
            said: AtomicUsize::new(0),
            last_heard: Mutex::default(),
            heard: Mutex::new(Heard::default()),
            has: Mutex::default(),
            is_barred: AtomicBool::new(false),
            edge: Slot::default(),
            tolerant: Slot::default(),
        };
        by_id.insert(id, Arc::new(known));
    }
    Ok(by_id)
}

/// Puts the streams that members open where their readers find them. Must come back to the queue at once: the library
/// drops what arrives meanwhile.
async fn accept_into(
    hub: Arc<Hub>,
    mut incoming: IncomingStreams,
    slot: impl for<'a> Fn(&'a Member) -> &'a Slot<Stream> + Send,
) {
    while let Some((peer, stream)) = incoming.next().await {
        if let Some(member) = hub.members.get(&peer) {
            slot(member).put(stream);
        }
    }
}
