//! Waiting until a swarm listens.

use std::io;
use std::time::Duration;

use futures::StreamExt;
use libp2p::Multiaddr;
use libp2p::core::transport::TransportError;
use libp2p::swarm::{NetworkBehaviour, Swarm, SwarmEvent};
use tokio::time::timeout;

/// Listens at this address and nowhere else, and waits until it does, for `patience` at most; returns where that is, with the
/// port that was given out.
///
/// # Errors
/// The operating system's, or the transport's.
pub(super) async fn listen<B: NetworkBehaviour>(
    swarm: &mut Swarm<B>,
    address: Multiaddr,
    patience: Duration,
) -> io::Result<Multiaddr> {
    let ours = swarm.listen_on(address).map_err(|error| match error {
        TransportError::Other(source) => source,
        unsupported @ TransportError::MultiaddrNotSupported(_) => io::Error::other(unsupported),
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
    timeout(patience, listens).await?
}
