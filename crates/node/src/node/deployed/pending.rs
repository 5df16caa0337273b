//! A limit on connections from one address that are not authenticated yet.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::IpAddr;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::multiaddr::Protocol;
use libp2p::swarm::{
    ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler, THandlerInEvent,
    THandlerOutEvent, ToSwarm, dummy,
};
use libp2p::{Multiaddr, PeerId};

/// Time between two warnings about one host's limit.
const WARN_EVERY: Duration = Duration::from_secs(60);

/// Refuses connections from an address that has too many open ones without a finished handshake, so that no address takes the places of all.
#[derive(Debug)]
pub(super) struct PendingPerAddress {
    most: u32,
    pending: HashMap<ConnectionId, IpAddr>,
    warned: Option<Instant>,
}

/// Reason why a connection was refused.
#[derive(Debug, thiserror::Error)]
#[error("{address} has {most} connections open that are not authenticated")]
struct TooManyPending {
    address: IpAddr,
    most: u32,
}

impl PendingPerAddress {
    /// A limit of `most` connections for each address.
    pub(super) fn new(most: u32) -> Self {
        Self {
            most,
            pending: HashMap::new(),
            warned: None,
        }
    }

    fn admit(&mut self, id: ConnectionId, address: IpAddr) -> Result<(), TooManyPending> {
        let most = self.most;
        let of_address = self.pending.values().filter(|one| **one == address);
        if of_address.count() >= most as usize {
            if self.warned.is_none_or(|at| at.elapsed() >= WARN_EVERY) {
                self.warned = Some(Instant::now());
                tracing::warn!(
                    %address,
                    most,
                    "too many connections without a handshake; more from this address are refused"
                );
            }
            return Err(TooManyPending { address, most });
        }
        self.pending.insert(id, address);
        Ok(())
    }

    fn forget(&mut self, id: ConnectionId) {
        self.pending.remove(&id);
    }
}

/// The IP address at the start of a multiaddress.
fn ip(address: &Multiaddr) -> Option<IpAddr> {
    address.iter().next().and_then(|protocol| match protocol {
        Protocol::Ip4(ip) => Some(IpAddr::V4(ip)),
        Protocol::Ip6(ip) => Some(IpAddr::V6(ip)),
        _ => None,
    })
}

impl NetworkBehaviour for PendingPerAddress {
    type ConnectionHandler = dummy::ConnectionHandler;
    type ToSwarm = Infallible;

    fn handle_pending_inbound_connection(
        &mut self,
        id: ConnectionId,
        _: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<(), ConnectionDenied> {
        match ip(remote) {
            Some(address) => self.admit(id, address).map_err(ConnectionDenied::new),
            None => Ok(()),
        }
    }

    fn handle_established_inbound_connection(
        &mut self,
        id: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.forget(id);
        Ok(dummy::ConnectionHandler)
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(dummy::ConnectionHandler)
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        if let FromSwarm::ListenFailure(failure) = event {
            self.forget(failure.connection_id);
        }
    }

    fn on_connection_handler_event(
        &mut self,
        _: PeerId,
        _: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        match event {}
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_share_and_gets_places_back() {
        let mut limit = PendingPerAddress::new(2);
        let [flood, other] = ["127.0.0.9", "127.0.0.1"].map(|ip| ip.parse().expect("an address"));
        let id = ConnectionId::new_unchecked;
        assert!(limit.admit(id(1), flood).is_ok() && limit.admit(id(2), flood).is_ok());
        assert!(limit.admit(id(3), flood).is_err(), "its share is taken");
        assert!(limit.admit(id(4), other).is_ok(), "others have theirs");
        limit.forget(id(3));
        assert!(
            limit.admit(id(5), flood).is_err(),
            "a refused one held no place"
        );
        limit.forget(id(1));
        assert!(limit.admit(id(6), flood).is_ok());
        for number in [2, 4, 6] {
            limit.forget(id(number));
        }
        assert!(limit.pending.is_empty());
    }
}
