//! Hosts in one process, on loopback.

mod broken;
mod faults;
mod flood;
mod fuzz;
mod gates;
mod links;
mod near;
mod records;
mod rogue;
mod sessions;

use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::{Gate, Host, HostEvent, HostLimits, HostSetup, MemberAddress, PeerRun};
use crate::engine::Session;
use crate::node::network::span;
use crate::session::{Identity, PublicId};
use crate::vocabulary::PeerIndex;

/// No test may hang, however slow the machine.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Tcp,
    Quic,
}

pub(super) fn identity(peer: usize) -> Arc<Identity> {
    Arc::new(Identity::from_secret(Zeroizing::new([peer as u8 + 1; 32])))
}

pub(super) fn id(peer: usize) -> PublicId {
    identity(peer).id()
}

/// An address on loopback that nobody has just now, given out once: hosts of two tests have equal keys, so that one would be taken for the
/// other where a port is used again. It lies below those that systems take for outgoing connections.
pub(super) fn free_address(kind: Kind) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(61);
    loop {
        let number = start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = 20_000 + (number % 10_000) as u16;
        let at = ("127.0.0.1", port);
        match kind {
            Kind::Tcp if TcpListener::bind(at).is_ok() => {
                return format!("/ip4/127.0.0.1/tcp/{port}");
            }
            Kind::Quic if UdpSocket::bind(at).is_ok() => {
                return format!("/ip4/127.0.0.1/udp/{port}/quic-v1");
            }
            _ => {}
        }
    }
}

/// So many members, each with an address of its own.
pub(super) fn members(count: usize, kind: Kind) -> Vec<MemberAddress> {
    (0..count)
        .map(|peer| MemberAddress {
            id: id(peer),
            addresses: vec![free_address(kind)],
            reachable: true,
        })
        .collect()
}

/// A host of one of these members, which listens where they say.
pub(super) async fn host(peer: usize, members: &[MemberAddress], grace: Duration) -> Host {
    let setup = setup(peer, members, grace);
    Host::start(setup).await.expect("listens")
}

pub(super) fn setup(peer: usize, members: &[MemberAddress], grace: Duration) -> HostSetup {
    HostSetup {
        identity: identity(peer),
        listen: members[peer].addresses.clone(),
        members: members.to_vec(),
        near: None,
        grace,
        limits: HostLimits::default(),
    }
}

/// The run of one peer of a session, with nothing to wait for.
pub(super) fn peer_run(session: &Session, peer: usize) -> PeerRun {
    gated_run(session, peer, Box::new(|_| Ok(())))
}

pub(super) fn gated_run(session: &Session, peer: usize, gate: Gate) -> PeerRun {
    let setup = session.peer_setup(PeerIndex::from_index(peer), Some(span(LIMIT)));
    let neighbours = setup.neighbours.iter();
    let neighbours = neighbours
        .map(|&index| (index, id(index.index())))
        .collect();
    PeerRun {
        setup,
        neighbours,
        gate,
    }
}

/// Runs a scene that must end.
pub(super) fn play<T>(scene: impl Future<Output = T>) -> T {
    let runtime = Runtime::new().expect("threads");
    let scene = async { timeout(LIMIT, scene).await.expect("no test may hang") };
    runtime.block_on(scene)
}

/// The first event that `wanted` maps to something.
pub(super) async fn first<T>(host: &mut Host, wanted: impl Fn(HostEvent) -> Option<T>) -> T {
    loop {
        if let Some(found) = wanted(host.next().await) {
            return found;
        }
    }
}
