//! The task that serves a host's swarm: dials when it is told to, and tells who is connected.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::StreamExt;
use libp2p::swarm::dial_opts::DialOpts;
use libp2p::swarm::{ConnectionId, Swarm, SwarmEvent};
use libp2p::{Multiaddr, PeerId};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use super::transport::Behaviour;

/// How long connections may take to close.
const CLOSING: Duration = Duration::from_millis(500);

/// The connection to one member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Link {
    /// Which connection of this host it is, counted; none if it is broken.
    pub(super) connection: Option<u64>,
    /// Whether it has been broken for longer than the grace.
    pub(super) is_lost: bool,
}

/// What the tasks of a host ask of its swarm.
#[derive(Debug)]
pub(super) enum Command {
    /// Dial a member at any of these addresses; say why not, or nothing once there is a connection.
    Dial {
        member: PeerId,
        addresses: Vec<Multiaddr>,
        failed: oneshot::Sender<String>,
    },
    /// Close the connections to a member.
    Close(PeerId),
    /// Admit a member no more, or again: a network that comes apart.
    Bar { member: PeerId, is_barred: bool },
    /// Close all connections and end.
    Stop,
}

struct Serving {
    swarm: Swarm<Behaviour>,
    links: BTreeMap<PeerId, watch::Sender<Link>>,
    /// The connections of each member, oldest first.
    open: BTreeMap<PeerId, Vec<ConnectionId>>,
    dialling: BTreeMap<ConnectionId, oneshot::Sender<String>>,
    made: u64,
}

/// Serves the swarm until it is told to stop.
pub(super) async fn serve(
    swarm: Swarm<Behaviour>,
    mut commands: mpsc::Receiver<Command>,
    links: BTreeMap<PeerId, watch::Sender<Link>>,
) {
    let mut serving = Serving {
        swarm,
        links,
        open: BTreeMap::new(),
        dialling: BTreeMap::new(),
        made: 0,
    };
    loop {
        tokio::select! {
            command = commands.recv() => match command {
                Some(Command::Dial { member, addresses, failed }) => {
                    serving.dial(member, addresses, failed);
                }
                Some(Command::Close(member)) => {
                    // There may be none any more.
                    let _ = serving.swarm.disconnect_peer_id(member);
                }
                Some(Command::Bar { member, is_barred }) => {
                    let members = &mut serving.swarm.behaviour_mut().members;
                    match is_barred {
                        true => members.disallow_peer(member),
                        false => members.allow_peer(member),
                    };
                }
                Some(Command::Stop) | None => break,
            },
            event = serving.swarm.select_next_some() => serving.note(event),
        }
    }
    // What streams have been given is still written before their connection says good-bye.
    for member in serving.open.keys() {
        let _ = serving.swarm.disconnect_peer_id(*member);
    }
    let closed = async {
        while serving.open.values().any(|open| !open.is_empty()) {
            let event = serving.swarm.select_next_some().await;
            serving.note(event);
        }
    };
    let _ = timeout(CLOSING, closed).await;
}

impl Serving {
    fn dial(&mut self, member: PeerId, addresses: Vec<Multiaddr>, failed: oneshot::Sender<String>) {
        let options = DialOpts::peer_id(member)
            .addresses(addresses)
            .allocate_new_port()
            .build();
        let connection = options.connection_id();
        match self.swarm.dial(options) {
            Ok(()) => {
                self.dialling.insert(connection, failed);
            }
            Err(error) => {
                let _ = failed.send(error.to_string());
            }
        }
    }

    fn note<E>(&mut self, event: SwarmEvent<E>) {
        match event {
            SwarmEvent::ConnectionEstablished {
                peer_id,
                connection_id,
                endpoint,
                ..
            } => {
                self.dialling.remove(&connection_id);
                let Some(link) = self.links.get(&peer_id) else {
                    return;
                };
                let at = endpoint.get_remote_address();
                tracing::debug!(member = %peer_id, %at, dialled = endpoint.is_dialer(), "connected");
                let open = self.open.entry(peer_id).or_default();
                // The dialler makes one when it has none: whatever is older is dead and does not know it.
                for older in open.iter() {
                    self.swarm.close_connection(*older);
                }
                open.push(connection_id);
                self.made += 1;
                let connection = Some(self.made);
                link.send_modify(|link| link.connection = connection);
            }
            SwarmEvent::ConnectionClosed {
                peer_id,
                connection_id,
                cause,
                ..
            } => {
                let Some(open) = self.open.get_mut(&peer_id) else {
                    return;
                };
                let was_used = open.last() == Some(&connection_id);
                open.retain(|open| *open != connection_id);
                let cause = cause.map(|cause| cause.to_string());
                tracing::debug!(member = %peer_id, cause, was_used, "connection closed");
                if was_used && let Some(link) = self.links.get(&peer_id) {
                    // Older ones are being closed.
                    link.send_modify(|link| link.connection = None);
                }
            }
            SwarmEvent::OutgoingConnectionError {
                connection_id,
                error,
                ..
            } => {
                if let Some(failed) = self.dialling.remove(&connection_id) {
                    let _ = failed.send(error.to_string());
                }
            }
            SwarmEvent::IncomingConnectionError {
                send_back_addr,
                error,
                ..
            } => {
                tracing::debug!(from = %send_back_addr, %error, "refused a connection");
            }
            _ => {}
        }
    }
}
