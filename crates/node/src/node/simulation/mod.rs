//! One experiment on several hosts: every process runs some of the peers, and host 0 collects.
//!
//! ```text
//! host 0                                        host 1, 2, …
//!   its peers ── memory among each other           its peers
//!       │  └───────── TCP to peers elsewhere ────────┘ │
//!   collector ◀── inputs and sums, one stream per host ┘
//! ```
//!
//! **This is a simulation and hides nothing**: every host has all data and the seed, and whoever has the seed has the noise. It is
//! for experiments that outgrow one machine. All identities and all noise derive from the seed as in one process, so that an outcome
//! equals that of the engines `swarm` and `lockstep` to the bit, communication included. What hosts tell host 0 is not counted.
//!
//! Nobody's peers begin before all hosts have told host 0 that theirs listen, so no peer ever dials into the void. Hosts compare
//! hashes of plan, data, settings and hosts file first.
//!
//! A host that ends takes the others with it: its connections break, host 0 tells everybody whom it lost, and who hears it
//! ends with that name. A host that is silent without breaking a connection is found by the peers, who wait no longer than the stall timeout.

#[cfg(test)]
mod hostile;
mod hosts;
mod link;
mod replay;
mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::io::ReadHalf;
use libp2p::swarm::Swarm;
use libp2p::{Multiaddr, Stream};
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, sleep, timeout};

pub use hosts::{Host, Hosts, HostsError, MOST_BYTES, MOST_HOSTS};

use super::descriptors;
use super::error::HostError;
use super::exchange::Report;
use super::listening::listen;
use super::network::{self, Node, Shared};
use super::options::{SwarmOptions, Transport};
use super::swarm::Behaviour;
use crate::engine::{Observer, Outcome, Session};
use crate::protocol::Event;
use crate::vocabulary::PeerIndex;
use link::Link;
use replay::Replay;
use words::{Unread, Word};

/// What host 0 waits for the words of others once something has gone wrong, to name who was first.
const GRACE: Duration = Duration::from_millis(500);
/// What the others wait for the word of host 0 then.
const WORD: Duration = Duration::from_secs(3);

/// What an operator should know while nothing happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// These hosts are not there yet.
    Waiting(Vec<String>),
    /// All hosts are there.
    Begun,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting(hosts) if hosts.len() > 5 => {
                write!(f, "waiting for {} hosts", hosts.len())
            }
            Self::Waiting(hosts) => write!(f, "waiting for host {}", hosts.join(", ")),
            Self::Begun => write!(f, "all hosts are here"),
        }
    }
}

/// Which part of which simulation this process runs.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    session: &'a Session,
    hosts: &'a Hosts,
    own: usize,
    patience: Duration,
}

/// Runs the peers of host 0 and collects from the others.
///
/// Blocks as [`run`](super::run) does. `hosts` have passed [`Hosts::check`]; of `options` only the stall timeout counts.
///
/// # Errors
/// [`HostError`]; of what concerns other hosts, those of which it [says so](HostError::concerns_a_host).
pub fn lead(
    session: &Session,
    hosts: &Hosts,
    options: &SwarmOptions,
    notice: &mut dyn FnMut(Notice),
    observer: &mut dyn Observer,
) -> Result<Outcome, HostError> {
    let place = Place::new(session, hosts, 0, options)?;
    runtime()?.block_on(leading(&place, notice, observer))
}

/// Runs the peers of another host than 0 and tells host 0 what they release; returns when host 0 has everything.
///
/// Blocks as [`lead`] does; the observer hears of progress only.
///
/// # Errors
/// As [`lead`].
pub fn follow(
    session: &Session,
    hosts: &Hosts,
    own: usize,
    options: &SwarmOptions,
    notice: &mut dyn FnMut(Notice),
    observer: &mut dyn Observer,
) -> Result<(), HostError> {
    let place = Place::new(session, hosts, own, options)?;
    runtime()?.block_on(following(&place, notice, observer))
}

fn runtime() -> Result<tokio::runtime::Runtime, HostError> {
    if Handle::try_current().is_ok() {
        return Err(HostError::NestedRuntime);
    }
    Builder::new_multi_thread()
        .enable_all()
        .thread_name("undertone-simulate")
        .build()
        .map_err(HostError::Runtime)
}

impl<'a> Place<'a> {
    fn new(
        session: &'a Session,
        hosts: &'a Hosts,
        own: usize,
        options: &SwarmOptions,
    ) -> Result<Self, HostError> {
        let loss = session.schedule().loss();
        if !loss.is_none() {
            let loss = loss.fraction();
            return Err(HostError::Lossless { loss });
        }
        let place = Self {
            session,
            hosts,
            own,
            patience: options.patience(),
        };
        let away = place.peers().flat_map(|peer| {
            let neighbours = session.graph().neighbours(peer.index()).iter();
            neighbours.filter(move |v| !place.is_here(PeerIndex(**v)))
        });
        let sockets = away.count() as u64 + u64::from(hosts.peers());
        descriptors::check_count(sockets).map_err(HostError::from)?;
        Ok(place)
    }

    fn peers(&self) -> impl Iterator<Item = PeerIndex> + use<> {
        self.hosts.all()[self.own].peers.clone().map(PeerIndex)
    }

    fn is_here(&self, peer: PeerIndex) -> bool {
        self.hosts.all()[self.own].peers.contains(&peer.0)
    }

    /// Swarms of all peers here, which listen to each other in memory, and to the others over TCP where one of them
    /// will dial.
    async fn listening(&self) -> Result<Vec<(Swarm<Behaviour>, Multiaddr)>, HostError> {
        let mut listening = Vec::new();
        for peer in self.peers() {
            let (mut swarm, inside) =
                network::listening(self.session, peer, Transport::Hosts, self.patience).await?;
            let neighbours = self.session.graph().neighbours(peer.index()).iter();
            let mut dialling = neighbours.filter(|v| **v < peer.0);
            if dialling.any(|v| !self.is_here(PeerIndex(*v))) {
                let outside = self.hosts.all()[self.own].peer_address(peer);
                let address = outside.to_string();
                let listened = listen(&mut swarm, outside, self.patience).await;
                listened.map_err(|source| HostError::Listen { address, source })?;
            }
            listening.push((swarm, inside));
        }
        Ok(listening)
    }

    /// Starts the peers here, which tell `reports` what they do; with them comes how many messages they have written.
    fn spawn(
        &self,
        listening: Vec<(Swarm<Behaviour>, Multiaddr)>,
        reports: mpsc::Sender<(PeerIndex, Report)>,
    ) -> Result<(JoinSet<()>, Arc<AtomicU64>), HostError> {
        let shared = Shared::new(self.patience, reports);
        let mut known: BTreeMap<PeerIndex, (libp2p::PeerId, Multiaddr)> = BTreeMap::new();
        for (peer, (swarm, inside)) in self.peers().zip(&listening) {
            known.insert(peer, (*swarm.local_peer_id(), inside.clone()));
        }
        let mut tasks = JoinSet::new();
        for (peer, (swarm, _)) in self.peers().zip(listening) {
            let setup = self
                .session
                .peer_setup(peer, Some(network::span(self.patience)));
            let neighbours = setup.neighbours.iter().map(|neighbour| {
                let elsewhere = || {
                    let key = super::identity::keypair(self.session.seed(), *neighbour);
                    let host = self.hosts.of(*neighbour);
                    let address = host.map(|host| host.peer_address(*neighbour));
                    (
                        key.public().to_peer_id(),
                        address.unwrap_or_else(Multiaddr::empty),
                    )
                };
                known.get(neighbour).cloned().unwrap_or_else(elsewhere)
            });
            let node = Node {
                neighbours: neighbours.collect(),
                swarm,
                setup,
            };
            node.spawn(&mut tasks, &shared)?;
        }
        Ok((tasks, shared.progress))
    }

    /// The name of a host.
    fn name(&self, host: usize) -> String {
        self.hosts.all()[host].name.clone()
    }

    /// The error with the name of the host on which the neighbour is that it is about.
    fn explained(&self, error: HostError) -> HostError {
        let away = |peer: &PeerIndex| !self.is_here(*peer);
        let host = error
            .neighbour()
            .filter(away)
            .and_then(|v| self.hosts.of(v));
        match host {
            None => error,
            Some(host) => HostError::LostNeighbour {
                host: host.name.clone(),
                source: Box::new(error),
            },
        }
    }
}

/// Hosts whose connection has broken.
type LostHosts = Arc<Mutex<Vec<usize>>>;

async fn leading(
    place: &Place<'_>,
    notice: &mut dyn FnMut(Notice),
    observer: &mut dyn Observer,
) -> Result<Outcome, HostError> {
    let mut service = JoinSet::new();
    let listening = place.listening().await?;
    let links = link::gather(place, &mut service, notice).await?;
    notice(Notice::Begun);
    let lost = LostHosts::default();
    let (reports, received) = mpsc::channel(network::REPORTS);
    let (mut readers, mut writers) = (JoinSet::new(), Vec::new());
    for Link {
        host,
        read,
        mut write,
    } in links
    {
        // A host that is gone already is found by its reader.
        let _ = words::say(&mut write, &[words::START]).await;
        writers.push(write);
        readers.spawn(listen_to(
            (host, place.name(host)),
            read,
            Replay::new(place.session.clone(), place.hosts.all()[host].peers.clone()),
            (place.session.clone(), reports.clone()),
            Arc::clone(&lost),
        ));
    }
    let (mut tasks, progress) = place.spawn(listening, reports)?;
    let outcome = network::collect(place.session, received, &progress, &mut tasks, observer).await;
    let outcome = match outcome {
        Ok(outcome) => Ok(outcome),
        Err(error) => {
            // What breaks first is not always heard first.
            sleep(GRACE).await;
            let lost = lost.lock().unwrap_or_else(PoisonError::into_inner);
            Err(match lost.iter().min() {
                Some(&host) => HostError::Lost {
                    host: place.name(host),
                },
                None => place.explained(error),
            })
        }
    };
    let word = match &outcome {
        Ok(_) => vec![words::DONE],
        Err(error) => words::failed(&error.to_string()),
    };
    for write in &mut writers {
        let _ = timeout(GRACE, words::say(write, &word)).await;
    }
    // They leave when they have heard it.
    let _ = timeout(WORD, async { while readers.join_next().await.is_some() {} }).await;
    tasks.shutdown().await;
    service.shutdown().await;
    outcome
}

/// Turns what one host says into reports of its peers, until it leaves.
async fn listen_to(
    (host, name): (usize, String),
    mut read: ReadHalf<Stream>,
    mut replay: Replay,
    (session, reports): (Session, mpsc::Sender<(PeerIndex, Report)>),
    lost: LostHosts,
) {
    let peers = replay.peers();
    let first = PeerIndex(peers.start);
    loop {
        let error = match words::hear(&mut read, session.plan(), &peers).await {
            Ok(Word::Failed(said)) => HostError::Ended {
                host: name.clone(),
                said,
            },
            Ok(word) => match replay.reports(word) {
                Ok(all) => {
                    for report in all {
                        // The run may be over for other reasons; then this host still has to leave.
                        let _ = reports.send(report).await;
                    }
                    continue;
                }
                Err(what) => HostError::Malformed {
                    host: name.clone(),
                    what,
                },
            },
            Err(Unread::Lost) if replay.is_done() => return,
            Err(Unread::Lost) => {
                let mut lost = lost.lock().unwrap_or_else(PoisonError::into_inner);
                lost.push(host);
                HostError::Lost { host: name }
            }
            Err(Unread::Malformed(what)) => HostError::Malformed { host: name, what },
        };
        let has_ended = matches!(error, HostError::Ended { .. });
        let _ = reports.send((first, Report::Failed(error))).await;
        // It still waits for the word of host 0, which must not leave before that word has arrived.
        while has_ended && words::hear(&mut read, session.plan(), &peers).await.is_ok() {}
        return;
    }
}

async fn following(
    place: &Place<'_>,
    notice: &mut dyn FnMut(Notice),
    observer: &mut dyn Observer,
) -> Result<(), HostError> {
    let mut service = JoinSet::new();
    let listening = place.listening().await?;
    let Link {
        mut read,
        mut write,
        ..
    } = link::join(place, &mut service, notice).await?;
    let (told, mut heard) = mpsc::channel(4);
    let plan = Arc::clone(place.session.plan());
    service.spawn(async move {
        loop {
            let word = words::hear(&mut read, &plan, &(0..0)).await;
            let last = word.is_err();
            if told.send(word).await.is_err() || last {
                return;
            }
        }
    });
    let first = place.name(0);
    match timeout(2 * place.patience, heard.recv()).await {
        Ok(Some(Ok(Word::Start))) => notice(Notice::Begun),
        Ok(word) => return Err(over(&first, word)),
        Err(_) => {
            return Err(HostError::Silent {
                host: first,
                after: 2 * place.patience,
            });
        }
    }
    let (reports, mut received) = mpsc::channel(network::REPORTS);
    let (mut tasks, progress) = place.spawn(listening, reports)?;
    let releases = place.session.plan().releases().len();
    let all = place.session.public().traffic(releases).messages;
    let expected = all * place.peers().count() as u64 / u64::from(place.hosts.peers());
    let mut running = place.peers().count();
    let mut ticks = interval(network::PROGRESS);
    let mut finished: Option<Instant> = None;
    let end = loop {
        tokio::select! {
            word = heard.recv() => break match word {
                Some(Ok(Word::Done)) => Ok(()),
                word => Err(Failure::Heard(over(&first, word))),
            },
            report = received.recv(), if running > 0 => {
                let word = match report {
                    Some((peer, Report::Event(Event::Published { release, input }))) => {
                        words::published(peer, release, &input)
                    }
                    Some((peer, Report::Event(Event::Released { release, terms, sum }))) => {
                        words::released(peer, release, terms.statistic, sum.values())
                    }
                    Some((_, Report::Event(_))) => continue,
                    Some((peer, Report::Done(sent))) => {
                        running -= 1;
                        finished = (running == 0).then(Instant::now);
                        words::written(peer, &sent)
                    }
                    Some((_, Report::Failed(error))) => break Err(Failure::Own(error)),
                    None => break Err(Failure::Own(HostError::TaskLost)),
                };
                match timeout(place.patience, words::say(&mut write, &word)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => break Err(Failure::Own(HostError::Lost { host: first.clone() })),
                    Err(_) => {
                        let after = place.patience;
                        break Err(Failure::Heard(HostError::Silent { host: first.clone(), after }));
                    }
                }
            }
            Some(Err(_)) = tasks.join_next() => break Err(Failure::Own(HostError::TaskLost)),
            _ = ticks.tick() => {
                observer.progress(progress.load(Ordering::Relaxed).min(expected), expected);
                if finished.is_some_and(|at| at.elapsed() > 2 * place.patience) {
                    let after = 2 * place.patience;
                    break Err(Failure::Heard(HostError::Silent { host: first.clone(), after }));
                }
            }
        }
    };
    let end = match end {
        Ok(()) => Ok(()),
        Err(Failure::Heard(error)) => Err(error),
        Err(Failure::Own(error)) => {
            let error = place.explained(error);
            let word = words::failed(&error.to_string());
            let _ = timeout(GRACE, words::say(&mut write, &word)).await;
            // Host 0 knows best who was first to go.
            match timeout(WORD, heard.recv()).await {
                Ok(word) => Err(over(&first, word)),
                Err(_) => Err(error),
            }
        }
    };
    tasks.shutdown().await;
    service.shutdown().await;
    end
}

/// Why a host other than 0 ends.
enum Failure {
    /// Its own peers cannot go on.
    Own(HostError),
    /// Host 0 said so, or is gone.
    Heard(HostError),
}

/// What it means when host 0 says this.
fn over(first: &str, word: Option<Result<Word, Unread>>) -> HostError {
    let host = first.to_owned();
    match word {
        Some(Ok(Word::Failed(said))) => HostError::Ended { host, said },
        Some(Ok(_)) => HostError::Malformed {
            host,
            what: "a word out of turn",
        },
        Some(Err(Unread::Malformed(what))) => HostError::Malformed { host, what },
        Some(Err(Unread::Lost)) | None => HostError::Lost { host },
    }
}
