//! Ports for the processes that tests start.

use std::net::TcpListener;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// So many ports in a row that nobody listens at, each given out once by this process. They lie below those that systems take for outgoing
/// connections, so that no other process comes by one by chance.
pub(crate) fn free_ports(count: usize) -> Range<u16> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let count = u16::try_from(count).expect("a few");
    loop {
        let number = NEXT.fetch_add(u32::from(count), Ordering::Relaxed);
        let number = std::process::id().wrapping_mul(131).wrapping_add(number);
        let first = 10_000 + (number % 10_000) as u16;
        let mut ports = first..first + count;
        if ports.all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return first..first + count;
        }
    }
}
