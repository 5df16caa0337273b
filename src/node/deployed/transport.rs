//! The swarm of a deployed host: TCP with Noise and Yamux, and QUIC; members only.

use std::io;
use std::time::Duration;

use futures::StreamExt;
use libp2p::allow_block_list::{self, AllowedPeers};
use libp2p::connection_limits::{self, ConnectionLimits};
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::{Boxed, TransportError};
use libp2p::core::upgrade::Version;
use libp2p::identity::Keypair;
use libp2p::swarm::{Config, NetworkBehaviour, Swarm, SwarmEvent};
use libp2p::{Multiaddr, PeerId, Transport as _, noise, quic, tcp, yamux};
use tokio::time::timeout;

use super::error::HostError;
use super::setup::HostLimits;

/// Connections stay open however quiet they are.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// Connections that one member may have: the one in use, and the one that takes its place where the other end has noticed
/// before this one that the first is dead.
const PER_MEMBER: u32 = 2;

/// How long the operating system may take to listen.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(10);

/// What a host's swarm does: raw streams, with members and nobody else.
#[derive(NetworkBehaviour)]
pub(super) struct Behaviour {
    members: allow_block_list::Behaviour<AllowedPeers>,
    limits: connection_limits::Behaviour,
    pub(super) streams: libp2p_stream::Behaviour,
}

/// A swarm that admits these members.
///
/// # Errors
/// [`HostError::Encryption`].
pub(super) fn build(
    keypair: &Keypair,
    members: impl Iterator<Item = PeerId>,
    limits: &HostLimits,
) -> Result<Swarm<Behaviour>, HostError> {
    let mut allowed = allow_block_list::Behaviour::default();
    let mut count = 0;
    for id in members {
        allowed.allow_peer(id);
        count += PER_MEMBER;
    }
    let connections = ConnectionLimits::default()
        .with_max_pending_incoming(Some(limits.pending))
        .with_max_pending_outgoing(Some(limits.pending))
        .with_max_established(Some(count))
        .with_max_established_per_peer(Some(PER_MEMBER));
    let behaviour = Behaviour {
        members: allowed,
        limits: connection_limits::Behaviour::new(connections),
        streams: libp2p_stream::Behaviour::new(),
    };
    let config = Config::with_tokio_executor().with_idle_connection_timeout(IDLE_TIMEOUT);
    let transport = transport(keypair, limits.handshake)
        .map_err(|error| HostError::Encryption(Box::new(error)))?;
    let id = keypair.public().to_peer_id();
    Ok(Swarm::new(transport, behaviour, id, config))
}

fn transport(
    keypair: &Keypair,
    handshake: Duration,
) -> Result<Boxed<(PeerId, StreamMuxerBox)>, noise::Error> {
    let tcp = tcp::tokio::Transport::new(tcp::Config::default().nodelay(true))
        .upgrade(Version::V1)
        .authenticate(noise::Config::new(keypair)?)
        .multiplex(yamux::Config::default())
        .timeout(handshake)
        .boxed();
    let mut config = quic::Config::new(keypair);
    config.handshake_timeout = handshake;
    let quic = quic::tokio::Transport::new(config)
        .map(|(id, connection), _| (id, StreamMuxerBox::new(connection)));
    let either = tcp.or_transport(quic);
    Ok(either.map(|either, _| either.into_inner()).boxed())
}

/// Listens, and waits for the address, with the port that was given out.
///
/// # Errors
/// [`HostError::Listen`].
pub(super) async fn listen(
    swarm: &mut Swarm<Behaviour>,
    address: &Multiaddr,
) -> Result<Multiaddr, HostError> {
    let failed = |source| HostError::Listen {
        address: address.to_string(),
        source,
    };
    let listening = swarm.listen_on(address.clone());
    let ours = listening.map_err(|error| match error {
        TransportError::Other(source) => failed(source),
        unsupported @ TransportError::MultiaddrNotSupported(_) => {
            failed(io::Error::other(unsupported))
        }
    })?;
    let listens = async {
        loop {
            match swarm.select_next_some().await {
                SwarmEvent::NewListenAddr {
                    listener_id,
                    address,
                } if listener_id == ours => return Ok(address),
                SwarmEvent::ListenerError { listener_id, error } if listener_id == ours => {
                    return Err(error);
                }
                SwarmEvent::ListenerClosed {
                    listener_id,
                    reason,
                    ..
                } if listener_id == ours => {
                    let closed = || io::Error::other("the listener closed at once");
                    return Err(reason.err().unwrap_or_else(closed));
                }
                _ => {}
            }
        }
    };
    let listens = timeout(LISTEN_TIMEOUT, listens).await;
    listens
        .map_err(|elapsed| failed(elapsed.into()))?
        .map_err(failed)
}
