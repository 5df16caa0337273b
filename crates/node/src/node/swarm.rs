//! One libp2p swarm: transport, Noise, Yamux, neighbours only; and the task that serves it.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::StreamExt;
use libp2p::allow_block_list::{self, AllowedPeers};
use libp2p::connection_limits::{self, ConnectionLimits};
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::{Boxed, MemoryTransport};
use libp2p::core::upgrade::Version;
use libp2p::identity::Keypair;
use libp2p::swarm::dial_opts::DialOpts;
use libp2p::swarm::{Config, NetworkBehaviour, Swarm, SwarmEvent};
use libp2p::{Multiaddr, PeerId, Transport as _, noise, tcp, yamux};
use tokio::sync::{mpsc, oneshot};

use super::error::HostError;
use super::identity::Roster;
use super::options::Transport;
use super::plain::Inbound;
use crate::vocabulary::PeerIndex;

/// Connections stay open however quiet they are: a peer may compute for long between two messages.
const IDLE_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// What a node's swarm does: raw streams, with its neighbours and nobody else.
#[derive(NetworkBehaviour)]
pub(super) struct Behaviour {
    neighbours: allow_block_list::Behaviour<AllowedPeers>,
    limits: connection_limits::Behaviour,
    pub(super) streams: libp2p_stream::Behaviour,
}

/// A swarm that admits the peers of `roster`, one connection each. Handshakes may take `patience`.
///
/// # Errors
/// If the identity cannot sign its Noise key.
pub(super) fn build(
    keypair: &Keypair,
    transport: Transport,
    roster: &Roster,
    patience: Duration,
) -> Result<Swarm<Behaviour>, noise::Error> {
    let mut neighbours = allow_block_list::Behaviour::default();
    for id in roster.ids() {
        neighbours.allow_peer(id);
    }
    let degree = Some(roster.len() as u32);
    let limits = ConnectionLimits::default()
        .with_max_pending_incoming(degree)
        .with_max_established(degree)
        .with_max_established_per_peer(Some(1));
    let behaviour = Behaviour {
        neighbours,
        limits: connection_limits::Behaviour::new(limits),
        streams: libp2p_stream::Behaviour::new(),
    };
    let config = Config::with_tokio_executor().with_idle_connection_timeout(IDLE_TIMEOUT);
    let transport = secured(keypair, transport, patience)?;
    let id = keypair.public().to_peer_id();
    Ok(Swarm::new(transport, behaviour, id, config))
}

fn secured(
    keypair: &Keypair,
    transport: Transport,
    patience: Duration,
) -> Result<Boxed<(PeerId, StreamMuxerBox)>, noise::Error> {
    let noise = noise::Config::new(keypair)?;
    let yamux = yamux::Config::default();
    Ok(match transport {
        Transport::Memory => MemoryTransport::default()
            .upgrade(Version::V1)
            .authenticate(noise)
            .multiplex(yamux)
            .timeout(patience)
            .boxed(),
        Transport::Tcp => tcp::tokio::Transport::new(tcp::Config::default().nodelay(true))
            .upgrade(Version::V1)
            .authenticate(noise)
            .multiplex(yamux)
            .timeout(patience)
            .boxed(),
        Transport::Hosts => MemoryTransport::default()
            .or_transport(tcp::tokio::Transport::new(
                tcp::Config::default().nodelay(true),
            ))
            .upgrade(Version::V1)
            .authenticate(noise)
            .multiplex(yamux)
            .timeout(patience)
            .boxed(),
    })
}

/// A neighbour to be connected to.
#[derive(Debug)]
pub(super) struct Dial {
    pub(super) to: PeerIndex,
    pub(super) id: PeerId,
    pub(super) address: Multiaddr,
}

/// Dials, then serves the swarm until the task is aborted. `waiting` is told of each connection once.
pub(super) async fn serve(
    me: PeerIndex,
    mut swarm: Swarm<Behaviour>,
    dials: Vec<Dial>,
    mut waiting: BTreeMap<PeerId, oneshot::Sender<()>>,
    inbox: mpsc::Sender<Inbound>,
) {
    let failed = |to, error| {
        Inbound::Failed(HostError::Dial {
            from: me,
            to,
            source: Box::new(error),
        })
    };
    let dialled: BTreeMap<PeerId, PeerIndex> = dials.iter().map(|d| (d.id, d.to)).collect();
    for Dial { to, id, address } in dials {
        let options = DialOpts::peer_id(id)
            .addresses(vec![address])
            .allocate_new_port()
            .build();
        if let Err(error) = swarm.dial(options) {
            // The driver drains its inbox until the end of the run, so this cannot wait for ever; after
            // the end nobody needs to know.
            let _ = inbox.send(failed(to, error)).await;
        }
    }
    loop {
        match swarm.select_next_some().await {
            SwarmEvent::ConnectionEstablished { peer_id, .. } => {
                if let Some(edge) = waiting.remove(&peer_id) {
                    let _ = edge.send(());
                }
            }
            SwarmEvent::OutgoingConnectionError {
                peer_id: Some(id),
                error,
                ..
            } if waiting.contains_key(&id) => {
                if let Some(&to) = dialled.get(&id) {
                    let _ = inbox.send(failed(to, error)).await;
                }
            }
            _ => {}
        }
    }
}
