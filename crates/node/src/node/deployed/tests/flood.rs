//! Connections of strangers that never begin a handshake.

use std::net::SocketAddr;

use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, sleep};

use super::links::is_up;
use super::*;

/// More than a host admits in all.
const FLOOD: usize = 300;

/// A connection from an address that no member has.
async fn idle(to: SocketAddr) -> Option<TcpStream> {
    let socket = TcpSocket::new_v4().ok()?;
    socket.bind("127.0.0.9:0".parse().ok()?).ok()?;
    socket.connect(to).await.ok()
}

#[test]
#[cfg(target_os = "linux")]
fn idle_connections_of_one_address_do_not_keep_a_member_out() {
    play(async {
        let mut members = members(2, Kind::Tcp);
        // Only the flooded port leads from one to the other.
        members[1].reachable = false;
        let mut flooded = host(0, &members, LIMIT).await;
        let port = members[0].addresses[0].rsplit('/').next().expect("a port");
        let to: SocketAddr = format!("127.0.0.1:{port}").parse().expect("an address");
        let mut held = Vec::new();
        for _ in 0..FLOOD {
            held.extend(idle(to).await);
        }
        assert_eq!(held.len(), FLOOD, "the system takes all of them");
        sleep(Duration::from_millis(500)).await;
        let began = Instant::now();
        let _other = host(1, &members, LIMIT).await;
        is_up(&mut flooded, id(1)).await;
        let after = began.elapsed();
        assert!(after < Duration::from_secs(2), "it came in after {after:?}");
    });
}
