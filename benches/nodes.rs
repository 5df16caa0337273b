//! Deployed peers: what a connection between two of them carries, against bare libp2p streams and the unsigned swarm, in one run.
//!
//! `cargo bench --bench nodes` takes about a minute, `-- --quick` ten seconds, `-- simulate` another minute: see `network/simulate.rs`. Two peers exchange blocks of 1 MiB both ways over one connection
//! on loopback, as in an averaging round: each sends its own, waits for the other's, and goes on. Printed are decimal MB/s of both
//! directions together, best of the repetitions of each, which are taken in turns, and the ratio to the bare exchange over the same transport: of
//! the bests, and the median over turns.
//!
//! What is counted is the difference between a run with many rounds and one with few, so that handshakes, noise, contribution and QR are not in it. Of
//! the hosts it holds encoding, BLAKE3 and Ed25519 at both ends, numbering, acknowledgement, decoding, checking and the mixing of the rounds.

#[allow(dead_code, reason = "the swarm benchmark uses all of it")]
#[path = "network/bare.rs"]
mod bare;
#[allow(dead_code, reason = "other benchmarks use all of it")]
mod network;
#[path = "network/simulate.rs"]
mod simulate;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bare::Stack;
use network::Shape;
use network::process::{cpu_seconds, memory_kib};
use tokio::runtime::Runtime;
use undertone::engine::{Session, Silent};
use undertone::node::deployed::{Host, HostEvent, HostLimits, HostSetup, MemberAddress, PeerRun};
use undertone::node::{SwarmOptions, Transport, run};
use undertone::protocol::Values;
use undertone::protocol::wire::framed_block_len;
use undertone::session::Identity;
use undertone::vocabulary::PeerIndex;

/// Wall and CPU seconds.
type Spent = (f64, f64);

fn spent<T>(work: impl FnOnce() -> T) -> Spent {
    let (began, cpu) = (Instant::now(), cpu_seconds());
    work();
    (began.elapsed().as_secs_f64(), cpu_seconds() - cpu)
}

/// Where the two members listen.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Tcp,
    Quic,
}

/// Two members that listen on free ports.
fn members(identities: &[Arc<Identity>], kind: Kind) -> Vec<MemberAddress> {
    let address = || match kind {
        Kind::Tcp => {
            let socket = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
            let port = socket.local_addr().expect("bound").port();
            format!("/ip4/127.0.0.1/tcp/{port}")
        }
        Kind::Quic => {
            let socket = std::net::UdpSocket::bind(("127.0.0.1", 0)).expect("a port");
            let port = socket.local_addr().expect("bound").port();
            format!("/ip4/127.0.0.1/udp/{port}/quic-v1")
        }
    };
    let member = |identity: &Arc<Identity>| MemberAddress {
        id: identity.id(),
        addresses: vec![address()],
        reachable: true,
    };
    identities.iter().map(member).collect()
}

/// Runs the session over hosts that are connected when the clock begins.
fn hosts(session: &Session, kind: Kind) -> Spent {
    let runtime = Runtime::new().expect("threads");
    let identities: Vec<Arc<Identity>> = (0..session.peers())
        .map(|_| Arc::new(Identity::generate().expect("entropy")))
        .collect();
    runtime.block_on(async {
        let members = members(&identities, kind);
        let mut hosts = Vec::new();
        for (identity, member) in identities.iter().zip(&members) {
            let setup = HostSetup {
                identity: Arc::clone(identity),
                listen: member.addresses.clone(),
                members: members.clone(),
                near: None,
                grace: Duration::from_secs(60),
                limits: HostLimits::default(),
            };
            hosts.push(Host::start(setup).await.expect("listens"));
        }
        for host in &mut hosts {
            while !matches!(host.next().await, HostEvent::Up(_)) {}
        }
        let (began, cpu) = (Instant::now(), cpu_seconds());
        let running = hosts.into_iter().enumerate().map(|(peer, mut host)| {
            let setup = session.peer_setup(PeerIndex::from_index(peer), None);
            let neighbours = setup.neighbours.iter();
            let neighbours = neighbours.map(|&peer| (peer, identities[peer.index()].id()));
            let run = PeerRun {
                neighbours: neighbours.collect(),
                setup,
                gate: Box::new(|_| Ok(())),
            };
            host.begin(run).expect("fits");
            tokio::spawn(async move {
                loop {
                    match host.next().await {
                        HostEvent::Finished(_) => break host,
                        HostEvent::Fault { what, .. } => panic!("{what}"),
                        HostEvent::Failed(error) => panic!("{error}"),
                        _ => {}
                    }
                }
            })
        });
        let running: Vec<_> = running.collect();
        let mut done = Vec::new();
        for host in running {
            done.push(host.await.expect("finishes"));
        }
        (began.elapsed().as_secs_f64(), cpu_seconds() - cpu)
    })
}

fn swarm(session: &Session) -> Spent {
    let options = SwarmOptions {
        transport: Transport::Tcp,
        ..SwarmOptions::default()
    };
    spent(|| run(session, &options, &mut Silent).expect("runs"))
}

/// Seconds that the additional rounds take.
fn difference(of: impl Fn(u32) -> Spent, (few, many): (u32, u32)) -> Spent {
    let (few, many) = (of(few), of(many));
    (many.0 - few.0, many.1 - few.1)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len() / 2;
    match numbers.len() % 2 {
        0 => (numbers[half - 1] + numbers[half]) / 2.0,
        _ => numbers[half],
    }
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    if std::env::args().any(|argument| argument == "simulate") {
        return simulate::compare(if quick { 1 } else { 3 });
    }
    // Only what carries this name.
    let only = std::env::args().skip(1).find(|name| !name.starts_with('-'));
    let (few, many, repetitions) = if quick { (20, 120, 3) } else { (20, 420, 7) };
    let session = |rounds| {
        Shape {
            peers: 2,
            degree: 1,
            dimension: 16_384,
            rank: 8,
            iterations: 1,
            rounds,
        }
        .session()
    };
    let block = framed_block_len(16_384 * 8, Values::F64);
    let bytes = 2.0 * block as f64 * f64::from(many - few);
    let rounds = (few, many);
    let graph = session(few);
    let bare = |stack| bare::exchange(graph.graph(), stack, block, many - few);
    type Measured<'a> = (&'static str, usize, Box<dyn Fn() -> Spent + 'a>);
    // Each with the place of what it is compared to.
    let measured: [Measured<'_>; 5] = [
        ("bare TCP", 0, Box::new(|| bare(Stack::Tcp))),
        (
            "swarm TCP",
            0,
            Box::new(|| difference(|rounds| swarm(&session(rounds)), rounds)),
        ),
        (
            "hosts TCP",
            0,
            Box::new(|| difference(|rounds| hosts(&session(rounds), Kind::Tcp), rounds)),
        ),
        ("bare QUIC", 3, Box::new(|| bare(Stack::Quic))),
        (
            "hosts QUIC",
            3,
            Box::new(|| difference(|rounds| hosts(&session(rounds), Kind::Quic), rounds)),
        ),
    ];
    let mut turns: Vec<Vec<Spent>> = vec![Vec::new(); measured.len()];
    for _ in 0..repetitions {
        for ((name, _, measure), turns) in measured.iter().zip(&mut turns) {
            if only
                .as_ref()
                .is_none_or(|only| name.contains(only.as_str()))
            {
                turns.push(measure());
            }
        }
    }
    println!(
        "two peers, blocks of 1 MiB both ways, {} rounds, {repetitions} turns; ratios of the bests, and medians over turns",
        many - few
    );
    println!(
        "{:<12} {:>8} {:>8} {:>8} {:>10} {:>8} {:>8}",
        "", "MB/s", "ratio", "median", "CPU s/GB", "ratio", "median"
    );
    for (at, (name, against, _)) in measured.iter().enumerate() {
        let (own, yardstick) = (&turns[at], &turns[*against]);
        if own.is_empty() || yardstick.is_empty() {
            continue;
        }
        let column = |of: fn(&Spent) -> f64| {
            let best = |turns: &[Spent]| turns.iter().map(of).fold(f64::INFINITY, f64::min);
            let ratios = own
                .iter()
                .zip(yardstick)
                .map(|(own, bare)| of(bare) / of(own));
            let median = median(ratios.collect());
            (best(own), best(yardstick) / best(own), median)
        };
        let (seconds, faster, median) = column(|spent| spent.0);
        let (cpu, cheaper, median_cpu) = column(|spent| spent.1);
        println!(
            "{name:<12} {:>8.0} {faster:>8.2} {median:>8.2} {:>10.2} {cheaper:>8.2} {median_cpu:>8.2}",
            bytes / seconds * 1e-6,
            cpu / bytes * 1e9,
        );
    }
    println!("peak {:.0} MiB", memory_kib("VmHWM:") / 1024.0);
}
