//! All nodes of a session in this process, and the collector that listens to them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use libp2p::swarm::Swarm;
use libp2p::{Multiaddr, PeerId};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::driver::{Driver, Reporting, Writers};
use super::edge::{self, Outgoing, PROTOCOL};
use super::error::HostError;
use super::exchange::{QUEUE, Report};
use super::identity::{self, Roster};
use super::listening::listen;
use super::options::{SwarmOptions, Transport};
use super::plain::PlainPeer;
use super::runtime::Runtime;
use super::swarm::{self, Behaviour, Dial};
use crate::engine::{Collector, Communication, Observer, Outcome, Session};
use crate::protocol::averaging::Traffic;
use crate::protocol::{Lane, Peer, PeerSetup};
use crate::vocabulary::{PeerIndex, Span};

/// Reports that may wait for the collector; beyond that nodes wait, which bounds what is held for it.
pub(super) const REPORTS: usize = 64;

/// How often the observer hears of progress.
pub(super) const PROGRESS: Duration = Duration::from_millis(100);

/// What all nodes of a run share.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) patience: Duration,
    pub(super) clock: Instant,
    pub(super) reports: mpsc::Sender<(PeerIndex, Report)>,
    pub(super) progress: Arc<AtomicU64>,
}

impl Shared {
    /// For nodes that begin now.
    pub(super) fn new(patience: Duration, reports: mpsc::Sender<(PeerIndex, Report)>) -> Self {
        Self {
            patience,
            clock: Instant::now(),
            reports,
            progress: Arc::default(),
        }
    }
}

/// A node that listens and has not begun.
pub(super) struct Node {
    pub(super) swarm: Swarm<Behaviour>,
    pub(super) setup: PeerSetup,
    /// Identity and address of every neighbour, in the order of the setup.
    pub(super) neighbours: Vec<(PeerId, Multiaddr)>,
}

impl Node {
    /// Starts the node's tasks in `tasks`: its swarm, its acceptor with a reader per neighbour, and its
    /// driver with a writer per neighbour. Aborting them ends the node.
    ///
    /// # Errors
    /// If the peer's parts do not fit its plan.
    pub(super) fn spawn(self, tasks: &mut JoinSet<()>, shared: &Shared) -> Result<(), HostError> {
        let Self {
            swarm,
            setup,
            neighbours,
        } = self;
        let me = setup.index;
        let plan = Arc::clone(&setup.plan);
        let degree = neighbours.len();
        // A message, one opening and one ending per neighbour, one failed dial each, and air.
        let (inbox_sender, inbox) = mpsc::channel(5 * degree + 1);
        let mut control = swarm.behaviour().streams.new_control();
        let incoming = control
            .accept(PROTOCOL)
            .expect("the swarm is new, so nothing accepts this protocol yet");
        let roster = Roster::new(
            setup
                .neighbours
                .iter()
                .zip(&neighbours)
                .map(|(neighbour, (id, _))| (*neighbour, *id)),
        );
        let mut waiting = BTreeMap::new();
        let mut dials = Vec::new();
        let mut edges = Vec::with_capacity(degree);
        let mut writers = JoinSet::new();
        let mut written_to = BTreeMap::new();
        let mut lanes = BTreeMap::new();
        for (position, (&neighbour, (id, address))) in
            setup.neighbours.iter().zip(neighbours).enumerate()
        {
            lanes.insert(neighbour, Lane::of(&plan, &setup.schedule, position));
            let (connected_sender, connected) = oneshot::channel();
            waiting.insert(id, connected_sender);
            // One connection per undirected edge: the lower end dials.
            if me < neighbour {
                dials.push(Dial {
                    to: neighbour,
                    id,
                    address,
                });
            }
            let (queue, messages) = mpsc::channel(QUEUE);
            edges.push((neighbour, queue));
            let outgoing = Outgoing {
                me,
                neighbour,
                id,
                session: plan.session(),
                patience: shared.patience,
                connected,
                values: plan.values(),
                messages,
                inbox: inbox_sender.clone(),
                progress: Arc::clone(&shared.progress),
            };
            let writer = writers.spawn(edge::write(outgoing, control.clone()));
            written_to.insert(writer.id(), neighbour);
        }
        let (reached, step) = watch::channel(0);
        let actor = PlainPeer::new(Peer::new(setup)?, reached, degree);
        let reporting = Reporting {
            me,
            frames: VecDeque::new(),
            edges,
            values: plan.values(),
            reports: shared.reports.clone(),
        };
        let driver = Driver {
            runtime: Runtime::new(actor, reporting, shared.clock, inbox),
            writers: Writers {
                tasks: writers,
                written_to,
                patience: shared.patience,
            },
        };
        let accepting = edge::accept(
            (me, incoming),
            roster,
            (plan, lanes),
            inbox_sender.clone(),
            step,
        );
        tasks.spawn(accepting);
        tasks.spawn(swarm::serve(me, swarm, dials, waiting, inbox_sender));
        tasks.spawn(driver.drive());
        Ok(())
    }
}

/// A duration as the protocol counts time.
pub(super) fn span(duration: Duration) -> Span {
    Span(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// Builds a swarm for `index` that listens, and its address.
pub(super) async fn listening(
    session: &Session,
    index: PeerIndex,
    transport: Transport,
    patience: Duration,
) -> Result<(Swarm<Behaviour>, Multiaddr), HostError> {
    let id = |peer| {
        let keypair = identity::keypair(session.seed(), peer);
        keypair.public().to_peer_id()
    };
    let neighbours = session.graph().neighbours(index.index()).iter();
    let roster = Roster::new(neighbours.map(|&v| (PeerIndex(v), id(PeerIndex(v)))));
    let keypair = identity::keypair(session.seed(), index);
    let mut swarm = swarm::build(&keypair, transport, &roster, patience)
        .map_err(|source| HostError::Encryption(Box::new(source)))?;
    let own = transport.own_address();
    let failed = |source| HostError::Listen {
        address: own.to_string(),
        source,
    };
    let address = listen(&mut swarm, own.clone(), patience).await;
    Ok((swarm, address.map_err(failed)?))
}

/// Runs one node per peer on the current runtime and collects what they report. `setup` is what each
/// peer starts from, given its patience.
pub(super) async fn conduct(
    session: &Session,
    options: &SwarmOptions,
    observer: &mut dyn Observer,
    setup: impl Fn(PeerIndex, Option<Span>) -> PeerSetup,
) -> Result<Outcome, HostError> {
    let patience = options.patience();
    let indices = || (0..session.peers()).map(PeerIndex::from_index);
    let (mut swarms, mut addresses) = (Vec::new(), Vec::new());
    for index in indices() {
        let (swarm, address) = listening(session, index, options.transport, patience).await?;
        addresses.push((*swarm.local_peer_id(), address));
        swarms.push(swarm);
    }
    let (reports, received) = mpsc::channel(REPORTS);
    let shared = Shared::new(patience, reports);
    let mut tasks = JoinSet::new();
    for (index, swarm) in indices().zip(swarms) {
        let setup = setup(index, Some(span(patience)));
        let neighbours = setup.neighbours.iter();
        let neighbours = neighbours
            .map(|neighbour| addresses[neighbour.index()].clone())
            .collect();
        let node = Node {
            swarm,
            setup,
            neighbours,
        };
        node.spawn(&mut tasks, &shared)?;
    }
    let progress = Arc::clone(&shared.progress);
    drop(shared);
    let outcome = collect(session, received, &progress, &mut tasks, observer).await;
    tasks.shutdown().await;
    outcome
}

/// Listens to the nodes until all are done or one has failed.
pub(super) async fn collect(
    session: &Session,
    mut reports: mpsc::Receiver<(PeerIndex, Report)>,
    written: &AtomicU64,
    tasks: &mut JoinSet<()>,
    observer: &mut dyn Observer,
) -> Result<Outcome, HostError> {
    let releases = session.plan().releases().len();
    let expected = session.public().traffic(releases).messages;
    let mut collector = Collector::new(session.clone());
    let (mut messages, mut bytes) = (0, Vec::with_capacity(session.peers()));
    let mut running = session.peers();
    let mut ticks = interval(PROGRESS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while running > 0 {
        tokio::select! {
            report = reports.recv() => match report {
                Some((from, Report::Event(event))) => {
                    collector.event(from, &event, observer);
                }
                Some((_, Report::Done(sent))) => {
                    running -= 1;
                    messages += sent.messages;
                    bytes.push(sent.bytes);
                }
                Some((_, Report::Failed(error))) => return Err(error),
                None => return Err(HostError::TaskLost),
            },
            // Tasks end in silence only when they panic; drivers that are done end normally.
            Some(Err(_)) = tasks.join_next() => return Err(HostError::TaskLost),
            _ = ticks.tick() => observer.progress(written.load(Ordering::Relaxed), expected),
        }
    }
    observer.progress(messages, expected);
    let records = collector.into_records();
    let rounds = session.public().communication(records.len(), false).rounds;
    let all = Traffic::counted(rounds.iter().sum(), messages, &bytes);
    Ok(Outcome {
        records,
        communication: Communication::of(all, rounds),
    })
}
