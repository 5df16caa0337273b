//! Connections that are cut again and again, and one that dies without a word.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::RngExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::sessions::{outcome_of, triangle};
use super::*;
use crate::engine::testing::assert_same_bits;
use crate::engine::{Silent, lockstep};
use crate::vocabulary::{Label, Seed};

/// What happens to a connection after so many bytes, in both directions together.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Cut(u64),
    /// Nothing is passed on any more, and nobody is told.
    Stall(u64),
    Stay,
}

/// What has happened so far.
#[derive(Debug, Default)]
struct Happened {
    cuts: AtomicU64,
    stalls: AtomicU64,
}

/// Passes on what comes to it, each connection until its fate; the last fate is that of all that follow.
async fn proxy(listener: TcpListener, to: SocketAddr, fates: Vec<Fate>, happened: Arc<Happened>) {
    let fates = Arc::new(Mutex::new(fates.into_iter()));
    loop {
        let (mut near, _) = listener.accept().await.expect("accepts");
        let (fates, happened) = (Arc::clone(&fates), Arc::clone(&happened));
        tokio::spawn(async move {
            // The member may not listen yet.
            let Ok(mut far) = TcpStream::connect(to).await else {
                return;
            };
            near.set_nodelay(true).expect("a socket");
            far.set_nodelay(true).expect("a socket");
            let fate = fates.lock().expect("whole").next().unwrap_or(Fate::Stay);
            let limit = match fate {
                Fate::Cut(limit) | Fate::Stall(limit) => limit,
                Fate::Stay => u64::MAX,
            };
            let passed = AtomicU64::new(0);
            let (mut near_in, mut near_out) = near.split();
            let (mut far_in, mut far_out) = far.split();
            let is_over = tokio::select! {
                is_over = pass(&mut near_in, &mut far_out, &passed, limit) => is_over,
                is_over = pass(&mut far_in, &mut near_out, &passed, limit) => is_over,
            };
            match fate {
                Fate::Cut(_) if is_over => {
                    happened.cuts.fetch_add(1, Ordering::Relaxed);
                }
                Fate::Stall(_) if is_over => {
                    happened.stalls.fetch_add(1, Ordering::Relaxed);
                    // Both ends stay open.
                    std::future::pending::<()>().await;
                }
                _ => {}
            }
        });
    }
}

/// Passes bytes on: until the limit, which is true, or until one end closes.
async fn pass(
    from: &mut (impl AsyncReadExt + Unpin),
    to: &mut (impl AsyncWriteExt + Unpin),
    passed: &AtomicU64,
    limit: u64,
) -> bool {
    let mut buffer = [0; 2048];
    loop {
        let Ok(read @ 1..) = from.read(&mut buffer).await else {
            return false;
        };
        if passed.fetch_add(read as u64, Ordering::Relaxed) + read as u64 >= limit {
            return true;
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return false;
        }
    }
}

/// Runs the session with every pair of members connected through a proxy that gives its connections these fates, and compares.
fn assert_same_bits_through(
    session: &Session,
    grace: Duration,
    fates: impl Fn(u32) -> Vec<Fate>,
) -> Arc<Happened> {
    let happened = Arc::new(Happened::default());
    let (outcome, written) = play(async {
        let real = members(session.peers(), Kind::Tcp);
        let at = |member: &MemberAddress| -> SocketAddr {
            let port = member.addresses[0].rsplit('/').next().expect("a port");
            ([127, 0, 0, 1], port.parse().expect("a port")).into()
        };
        let mut hosts = Vec::new();
        for peer in 0..session.peers() {
            let mut seen = real.clone();
            for (other, member) in seen.iter_mut().enumerate() {
                // The lower key dials.
                if id(peer) < member.id {
                    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
                    let port = listener.local_addr().expect("bound").port();
                    let pair = (peer * session.peers() + other) as u32;
                    let proxy = proxy(listener, at(member), fates(pair), Arc::clone(&happened));
                    tokio::spawn(proxy);
                    member.addresses = vec![format!("/ip4/127.0.0.1/tcp/{port}")];
                }
            }
            hosts.push(host(peer, &seen, grace).await);
        }
        outcome_of(session, hosts).await
    });
    let lockstep = lockstep::run(session, &mut Silent).expect("runs");
    assert_same_bits(&lockstep, &outcome);
    let resent: u64 = written.iter().map(|written| written.resent).sum();
    assert!(resent > 0, "{written:?}");
    happened
}

/// Three pairs, ten cuts each, in greetings and in records. Handshakes take about 2 KiB, messages 4.
#[test]
fn thirty_cuts_change_no_bit() {
    let session = triangle(240, 20);
    let seed = Seed::from_u64(17);
    let happened = assert_same_bits_through(&session, LIMIT, |pair| {
        let mut stream = seed.key(Label::Identity, pair, 0).stream(0, 0);
        (0..10)
            .map(|_| Fate::Cut(stream.random_range(100..40_000)))
            .collect()
    });
    assert_eq!(happened.cuts.load(Ordering::Relaxed), 30);
}

/// Nobody closes anything: both ends must find out by themselves.
#[test]
fn a_connection_that_dies_without_a_word_is_replaced() {
    let session = triangle(240, 4);
    let grace = Duration::from_secs(2);
    let happened =
        assert_same_bits_through(&session, grace, |_| vec![Fate::Stall(20_000), Fate::Stay]);
    assert_eq!(happened.stalls.load(Ordering::Relaxed), 3);
}
