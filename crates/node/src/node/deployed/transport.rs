//! The swarm of a deployed host: TCP with Noise and Yamux, and QUIC; members only.

use std::time::Duration;

use libp2p::allow_block_list::{self, AllowedPeers};
use libp2p::connection_limits::{self, ConnectionLimits};
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::Boxed;
use libp2p::core::upgrade::Version;
use libp2p::identity::Keypair;
use libp2p::swarm::{Config, NetworkBehaviour, Swarm};
use libp2p::{Multiaddr, PeerId, Transport as _, noise, quic, tcp, yamux};

use super::super::listening;
use super::pending::PendingPerAddress;
use super::setup::{HostLimits, PER_MEMBER};
use crate::node::error::HostError;

/// Connections stay open however quiet they are.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// How long the operating system may take to listen.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(10);

/// What a host's swarm does: raw streams, with members and nobody else.
#[derive(NetworkBehaviour)]
pub(super) struct Behaviour {
    pub(super) members: allow_block_list::Behaviour<AllowedPeers>,
    pending: PendingPerAddress,
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
    let mut others = 0;
    for id in members {
        allowed.allow_peer(id);
        others += 1;
    }
    let connections = ConnectionLimits::default()
        .with_max_pending_incoming(Some(limits.incoming(others)))
        .with_max_pending_outgoing(Some(limits.pending))
        .with_max_established(Some(PER_MEMBER * others))
        .with_max_established_per_peer(Some(PER_MEMBER));
    let behaviour = Behaviour {
        members: allowed,
        pending: PendingPerAddress::new(limits.share(others)),
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
    let listening = listening::listen(swarm, address.clone(), LISTEN_TIMEOUT).await;
    listening.map_err(|source| HostError::Listen {
        address: address.to_string(),
        source,
    })
}
