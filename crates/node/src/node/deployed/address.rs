//! Where members are: multiaddresses as text, checked, and names looked up before they are dialled.

use std::net::{IpAddr, SocketAddr};

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use tokio::net::lookup_host;

use crate::node::error::HostError;

/// Addresses of one name that are dialled; further ones are left out.
const MOST_RESOLVED: usize = 8;

/// The address that this text is.
///
/// # Errors
/// [`HostError::Address`] for what is no address of TCP or QUIC.
pub(super) fn parse(text: &str) -> Result<Multiaddr, HostError> {
    let refused = || HostError::Address {
        address: text.chars().take(200).collect(),
    };
    let address: Multiaddr = text.parse().map_err(|_| refused())?;
    if Place::of(&address).is_some() {
        Ok(address)
    } else {
        Err(refused())
    }
}

/// The address to listen on that this text is: one by number.
///
/// # Errors
/// [`HostError::Address`].
pub(super) fn parse_listen(text: &str) -> Result<Multiaddr, HostError> {
    let address = parse(text)?;
    match Place::of(&address) {
        Some(place) if place.name.is_none() => Ok(address),
        _ => Err(HostError::Address {
            address: text.to_owned(),
        }),
    }
}

/// What an address says.
struct Place<'a> {
    name: Option<(&'a str, Family)>,
    port: u16,
    is_quic: bool,
}

/// Which numbers of a name are meant.
#[derive(Clone, Copy, PartialEq)]
enum Family {
    Any,
    V4,
    V6,
}

impl Family {
    fn has(self, ip: IpAddr) -> bool {
        match self {
            Self::Any => true,
            Self::V4 => ip.is_ipv4(),
            Self::V6 => ip.is_ipv6(),
        }
    }
}

impl<'a> Place<'a> {
    /// What `address` says, if it is one that a host speaks.
    fn of(address: &'a Multiaddr) -> Option<Self> {
        let mut parts = address.iter();
        let name = match parts.next()? {
            Protocol::Ip4(_) | Protocol::Ip6(_) => None,
            Protocol::Dns(_) => Some(Family::Any),
            Protocol::Dns4(_) => Some(Family::V4),
            Protocol::Dns6(_) => Some(Family::V6),
            _ => return None,
        };
        let (port, is_quic) = match (parts.next()?, parts.next()) {
            (Protocol::Tcp(port), None) => (port, false),
            (Protocol::Udp(port), Some(Protocol::QuicV1)) => (port, true),
            _ => return None,
        };
        if parts.next().is_some() {
            return None;
        }
        let name = match name {
            None => None,
            Some(family) => Some((name_in(address)?, family)),
        };
        Some(Self {
            name,
            port,
            is_quic,
        })
    }

    fn at(&self, ip: IpAddr) -> Multiaddr {
        let address = Multiaddr::from(ip);
        if self.is_quic {
            address
                .with(Protocol::Udp(self.port))
                .with(Protocol::QuicV1)
        } else {
            address.with(Protocol::Tcp(self.port))
        }
    }
}

/// The name that an address begins with.
fn name_in(address: &Multiaddr) -> Option<&str> {
    match address.iter().next()? {
        Protocol::Dns(std::borrow::Cow::Borrowed(name))
        | Protocol::Dns4(std::borrow::Cow::Borrowed(name))
        | Protocol::Dns6(std::borrow::Cow::Borrowed(name)) => Some(name),
        _ => None,
    }
}

/// The addresses by number that `address` stands for now: itself, or what its name is looked up to. Empty if the name is unknown.
pub(super) async fn resolve(address: &Multiaddr) -> Vec<Multiaddr> {
    let Some(place) = Place::of(address) else {
        return Vec::new();
    };
    let Some((name, family)) = place.name else {
        return vec![address.clone()];
    };
    match lookup_host((name, place.port)).await {
        Ok(found) => found
            .map(|found: SocketAddr| found.ip())
            .filter(|ip| family.has(*ip))
            .take(MOST_RESOLVED)
            .map(|ip| place.at(ip))
            .collect(),
        Err(error) => {
            tracing::debug!(name, %error, "a name could not be looked up");
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_tcp_and_quic_are_taken_and_others_refused() {
        for text in [
            "/ip4/127.0.0.1/tcp/7655",
            "/ip6/::1/tcp/7655",
            "/ip4/10.0.0.1/udp/7655/quic-v1",
            "/dns4/peer-3.lab.org/tcp/7655",
            "/dns6/peer-3.lab.org/udp/7655/quic-v1",
            "/dns/peer-3.lab.org/tcp/7655",
        ] {
            let address = parse(text).expect(text);
            assert_eq!(address.to_string(), text);
            assert_eq!(
                parse_listen(text).is_ok(),
                text.starts_with("/ip"),
                "{text}"
            );
        }
        for text in [
            "",
            "peer-3.lab.org:7655",
            "/ip4/127.0.0.1",
            "/ip4/127.0.0.1/udp/7655",
            "/ip4/127.0.0.1/tcp/7655/ws",
            "/ip4/127.0.0.1/tcp/70000",
            "/memory/3",
            "/unix/tmp",
        ] {
            assert!(
                matches!(parse(text), Err(HostError::Address { .. })),
                "{text}"
            );
        }
    }

    #[test]
    fn names_are_looked_up_and_numbers_stay() {
        let runtime = tokio::runtime::Runtime::new().expect("threads");
        let resolved = |text: &str| {
            let address = parse(text).expect("an address");
            runtime.block_on(resolve(&address))
        };
        let number = "/ip4/127.0.0.1/udp/9/quic-v1";
        assert_eq!(resolved(number), [number.parse().expect("an address")]);
        let here = resolved("/dns4/localhost/tcp/9");
        assert_eq!(here, ["/ip4/127.0.0.1/tcp/9".parse().expect("an address")]);
        assert_eq!(resolved("/dns4/no-such-name.invalid/tcp/9"), []);
    }
}
