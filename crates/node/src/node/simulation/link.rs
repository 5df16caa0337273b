//! The connections between host 0 and the others: one stream each, between identities that derive from the seed.

use std::io;
use std::time::Duration;

use futures::io::{ReadHalf, WriteHalf};
use futures::{AsyncReadExt, AsyncWriteExt, StreamExt};
use libp2p::swarm::dial_opts::DialOpts;
use libp2p::swarm::{DialError, Swarm, SwarmEvent};
use libp2p::{Multiaddr, PeerId, Stream, StreamProtocol};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::hosts::Hosts;
use super::words::{self, exactly};
use super::{Notice, Place};
use crate::node::HostError;
use crate::node::identity::{self, Roster};
use crate::node::listening::listen;
use crate::node::options::Transport;
use crate::node::swarm::{self, Behaviour};
use crate::vocabulary::PeerIndex;

/// The name under which libp2p negotiates these streams.
const PROTOCOL: StreamProtocol = StreamProtocol::new("/undertone/simulation/1");
/// What the answer to a greeting is.
const ACK: u8 = 0x77;
/// Digests in a greeting, and what they are of.
const PARTS: [&str; 4] = [
    "a plan",
    "data",
    "settings of the noise",
    "peers on its hosts",
];
/// Between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(100);
/// How long nothing is said of who is missing.
const QUIET: Duration = Duration::from_secs(2);

/// One end of a connection between two hosts.
pub(super) struct Link {
    /// The other host's place in the hosts file.
    pub(super) host: usize,
    pub(super) read: ReadHalf<Stream>,
    pub(super) write: WriteHalf<Stream>,
}

/// The roster index of a host: identities of hosts come after those of the peers.
fn number(hosts: &Hosts, host: usize) -> PeerIndex {
    PeerIndex(hosts.peers().saturating_add(host as u32))
}

/// A swarm of host `place.own` that admits these hosts.
fn build(
    place: &Place<'_>,
    admitted: impl Iterator<Item = usize>,
) -> Result<Swarm<Behaviour>, HostError> {
    let key = |host| identity::keypair(place.session.seed(), number(place.hosts, host));
    let roster = admitted.map(|host| {
        let id = key(host).public().to_peer_id();
        (number(place.hosts, host), id)
    });
    let roster = Roster::new(roster);
    swarm::build(&key(place.own), Transport::Tcp, &roster, place.patience)
        .map_err(|source| HostError::Encryption(Box::new(source)))
}

/// The greeting of this process: what all must have in common.
fn fingerprint(place: &Place<'_>) -> [[u8; 32]; 4] {
    let [plan, rows, setting] = place.session.fingerprint();
    [plan, rows, setting, place.hosts.digest()]
}

/// Host 0 waits for all others. The tasks that serve the connections go into `service`.
///
/// # Errors
/// [`HostError::Missing`] and [`HostError::Other`] among others.
pub(super) async fn gather(
    place: &Place<'_>,
    service: &mut JoinSet<()>,
    notice: &mut dyn FnMut(Notice),
) -> Result<Vec<Link>, HostError> {
    let all = place.hosts.all();
    if all.len() == 1 {
        return Ok(Vec::new());
    }
    let mut swarm = build(place, 1..all.len())?;
    let address = all[0].collecting_address();
    let listening = listen(&mut swarm, address, place.patience).await;
    listening.map_err(HostError::Setup)?;
    let mut incoming = swarm
        .behaviour()
        .streams
        .new_control()
        .accept(PROTOCOL)
        .map_err(|_| HostError::Setup(io::ErrorKind::AddrInUse.into()))?;
    service.spawn(async move {
        loop {
            swarm.select_next_some().await;
        }
    });
    let key = |host| identity::keypair(place.session.seed(), number(place.hosts, host));
    let ids: Vec<PeerId> = (0..all.len())
        .map(|host| key(host).public().to_peer_id())
        .collect();
    let ours = fingerprint(place);
    let deadline = Instant::now() + place.patience;
    let mut quiet = Instant::now() + QUIET;
    let mut links: Vec<Option<Link>> = all.iter().map(|_| None).collect();
    while let Some(missing) = (1..all.len()).find(|host| links[*host].is_none()) {
        let arrived = match timeout_at(deadline.min(quiet), incoming.next()).await {
            Ok(arrived) => arrived,
            Err(_) if Instant::now() < deadline => {
                let absent = (1..all.len()).filter(|host| links[*host].is_none());
                notice(Notice::Waiting(
                    absent.map(|host| all[host].name.clone()).collect(),
                ));
                quiet = deadline;
                continue;
            }
            Err(_) => {
                let error = HostError::Missing {
                    host: all[missing].name.clone(),
                    number: missing,
                    after: place.patience,
                };
                tell(&mut links, &error).await;
                return Err(error);
            }
        };
        let (id, mut stream) =
            arrived.ok_or_else(|| HostError::Setup(io::ErrorKind::BrokenPipe.into()))?;
        let Some(host) = ids.iter().position(|known| *known == id) else {
            continue;
        };
        // A greeting is in one piece; who does not finish it tries again.
        let greeting = timeout(QUIET, async {
            let greeting: [u8; 128] = exactly(&mut stream).await.ok()?;
            stream.write_all(&[ACK]).await.ok()?;
            stream.flush().await.ok()?;
            Some(greeting)
        });
        let Ok(Some(greeting)) = greeting.await else {
            continue;
        };
        let (theirs, _) = greeting.as_chunks::<32>();
        let differs = theirs.iter().zip(&ours).position(|(a, b)| a != b);
        if let Some(part) = differs {
            let host = all[host].name.clone();
            let what = PARTS[part];
            let error = HostError::Other { host, what };
            let text = words::failed(&error.to_string());
            let _ = words::say(&mut stream, &text).await;
            tell(&mut links, &error).await;
            return Err(error);
        }
        let (read, write) = stream.split();
        links[host] = Some(Link { host, read, write });
    }
    Ok(links.into_iter().flatten().collect())
}

/// Tells those who are here why it ends.
async fn tell(links: &mut [Option<Link>], error: &HostError) {
    let text = words::failed(&error.to_string());
    for link in links.iter_mut().flatten() {
        let _ = timeout(QUIET, words::say(&mut link.write, &text)).await;
    }
    // What was said is on its way before the connections go.
    sleep(PAUSE).await;
}

/// Connects to host 0, trying again until it is there.
///
/// # Errors
/// [`HostError::Missing`] and [`HostError::Stranger`] among others.
pub(super) async fn join(
    place: &Place<'_>,
    service: &mut JoinSet<()>,
    notice: &mut dyn FnMut(Notice),
) -> Result<Link, HostError> {
    let first = &place.hosts.all()[0];
    let mut swarm = build(place, std::iter::once(0))?;
    let id = identity::keypair(place.session.seed(), number(place.hosts, 0));
    let id = id.public().to_peer_id();
    let deadline = Instant::now() + place.patience;
    let missing = || HostError::Missing {
        host: first.name.clone(),
        number: 0,
        after: place.patience,
    };
    let mut quiet = Some(Instant::now() + QUIET);
    loop {
        match timeout_at(deadline, dial(&mut swarm, id, first.collecting_address())).await {
            Ok(Ok(())) => break,
            Ok(Err(source @ (DialError::WrongPeerId { .. } | DialError::LocalPeerId { .. }))) => {
                return Err(HostError::Stranger {
                    host: first.name.clone(),
                    source: Box::new(source),
                });
            }
            Ok(Err(_)) if Instant::now() + PAUSE < deadline => sleep(PAUSE).await,
            Ok(Err(_)) | Err(_) => return Err(missing()),
        }
        if quiet.is_some_and(|quiet| quiet <= Instant::now()) {
            quiet = None;
            notice(Notice::Waiting(vec![first.name.clone()]));
        }
    }
    let mut control = swarm.behaviour().streams.new_control();
    service.spawn(async move {
        loop {
            swarm.select_next_some().await;
        }
    });
    let greeting = fingerprint(place).concat();
    loop {
        // Unacknowledged streams were dropped on arrival: see the module `node`.
        let attempt = async {
            let mut stream = control.open_stream(id, PROTOCOL).await.ok()?;
            stream.write_all(&greeting).await.ok()?;
            stream.flush().await.ok()?;
            let [ack] = exactly(&mut stream).await.ok()?;
            (ack == ACK).then_some(stream)
        };
        match timeout_at(deadline, attempt).await {
            Ok(Some(stream)) => {
                let (read, write) = stream.split();
                let host = 0;
                return Ok(Link { host, read, write });
            }
            Ok(None) if Instant::now() + PAUSE < deadline => sleep(PAUSE).await,
            Ok(None) | Err(_) => return Err(missing()),
        }
    }
}

/// One attempt to connect.
async fn dial(
    swarm: &mut Swarm<Behaviour>,
    id: PeerId,
    address: Multiaddr,
) -> Result<(), DialError> {
    let options = DialOpts::peer_id(id)
        .addresses(vec![address])
        .allocate_new_port()
        .build();
    swarm.dial(options)?;
    loop {
        match swarm.select_next_some().await {
            SwarmEvent::ConnectionEstablished { peer_id, .. } if peer_id == id => return Ok(()),
            SwarmEvent::OutgoingConnectionError { error, .. } => return Err(error),
            _ => {}
        }
    }
}
