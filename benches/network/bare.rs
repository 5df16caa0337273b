//! The yardstick: blocks exchanged over bare libp2p-stream, with no protocol and no arithmetic.
//!
//! Same transports, Noise, Yamux and settings as the swarm engine, one persistent stream per directed edge.
//! Each node pushes one prepared block to all its neighbours, reads theirs into buffers it keeps, and goes on
//! when all are there. Nothing is decoded, checked or added up.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{AsyncReadExt, AsyncWriteExt, StreamExt};
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::{Boxed, MemoryTransport};
use libp2p::core::upgrade::Version;
use libp2p::identity::Keypair;
use libp2p::swarm::dial_opts::DialOpts;
use libp2p::swarm::{Config, Swarm, SwarmEvent};
use libp2p::{Multiaddr, PeerId, Stream, StreamProtocol, Transport as _, noise, quic, tcp, yamux};
use libp2p_stream::{Behaviour, Control, IncomingStreams};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use undertone::topology::Graph;

use crate::network::process::cpu_seconds;

const PROTOCOL: StreamProtocol = StreamProtocol::new("/bare/1");

/// After this long a stream is asked for again.
const OPENING: Duration = Duration::from_secs(1);

/// What carries the streams.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stack {
    /// Channels, Noise and Yamux.
    Memory,
    /// TCP, Noise and Yamux.
    Tcp,
    /// QUIC, as libp2p's own.
    #[allow(dead_code, reason = "not every benchmark has it")]
    Quic,
}

struct Node {
    id: PeerId,
    address: Multiaddr,
    control: Control,
    incoming: IncomingStreams,
}

fn transport(keypair: &Keypair, stack: Stack) -> Boxed<(PeerId, StreamMuxerBox)> {
    let noise = noise::Config::new(keypair).expect("keys can sign");
    let yamux = yamux::Config::default();
    match stack {
        Stack::Memory => MemoryTransport::default()
            .upgrade(Version::V1)
            .authenticate(noise)
            .multiplex(yamux)
            .boxed(),
        Stack::Tcp => tcp::tokio::Transport::new(tcp::Config::default().nodelay(true))
            .upgrade(Version::V1)
            .authenticate(noise)
            .multiplex(yamux)
            .boxed(),
        Stack::Quic => quic::tokio::Transport::new(quic::Config::new(keypair))
            .map(|(id, connection), _| (id, StreamMuxerBox::new(connection)))
            .boxed(),
    }
}

/// A swarm that listens.
async fn listening(stack: Stack) -> (Swarm<Behaviour>, Node) {
    let keypair = Keypair::generate_ed25519();
    let id = keypair.public().to_peer_id();
    let config = Config::with_tokio_executor()
        .with_idle_connection_timeout(Duration::from_secs(24 * 60 * 60));
    let mut swarm = Swarm::new(transport(&keypair, stack), Behaviour::new(), id, config);
    let address = match stack {
        Stack::Memory => "/memory/0",
        Stack::Tcp => "/ip4/127.0.0.1/tcp/0",
        Stack::Quic => "/ip4/127.0.0.1/udp/0/quic-v1",
    };
    let address = address.parse().expect("well formed");
    swarm.listen_on(address).expect("an address is free");
    let address = loop {
        if let SwarmEvent::NewListenAddr { address, .. } = swarm.select_next_some().await {
            break address;
        }
    };
    let mut control = swarm.behaviour().new_control();
    let incoming = control.accept(PROTOCOL).expect("accepted once");
    let node = Node {
        id,
        address,
        control,
        incoming,
    };
    (swarm, node)
}

/// One stream per directed edge, acknowledged with a byte: `(outgoing, incoming)` of every node.
async fn streams(
    graph: &Graph,
    stack: Stack,
    tasks: &mut JoinSet<()>,
) -> Vec<(Vec<Stream>, Vec<Stream>)> {
    let mut swarms = Vec::new();
    let mut nodes = Vec::new();
    for _ in 0..graph.nodes() {
        let (swarm, node) = listening(stack).await;
        swarms.push(swarm);
        nodes.push(node);
    }
    for (u, mut swarm) in swarms.into_iter().enumerate() {
        for &v in graph.neighbours(u).iter().filter(|&&v| u < v as usize) {
            let to = &nodes[v as usize];
            let options = DialOpts::peer_id(to.id)
                .addresses(vec![to.address.clone()])
                .allocate_new_port()
                .build();
            swarm.dial(options).expect("listens");
        }
        tasks.spawn(async move {
            loop {
                swarm.select_next_some().await;
            }
        });
    }
    let ids: Vec<_> = nodes.iter().map(|node| node.id).collect();
    let mut opening = JoinSet::new();
    for (u, node) in nodes.into_iter().enumerate() {
        let to: Vec<_> = graph
            .neighbours(u)
            .iter()
            .map(|&v| ids[v as usize])
            .collect();
        let Node {
            control,
            mut incoming,
            ..
        } = node;
        opening.spawn(async move {
            let degree = to.len();
            let open = async {
                let mut opened = Vec::new();
                for id in to {
                    opened.push(open(control.clone(), id).await);
                }
                opened
            };
            let accept = async {
                let mut accepted = Vec::new();
                while accepted.len() < degree {
                    let (_, mut stream) = incoming.next().await.expect("served");
                    let mut hello = [0];
                    if stream.read_exact(&mut hello).await.is_ok()
                        && stream.write_all(&hello).await.is_ok()
                        && stream.flush().await.is_ok()
                    {
                        accepted.push(stream);
                    }
                }
                accepted
            };
            let (opened, accepted) = futures::join!(open, accept);
            (u, opened, accepted, incoming)
        });
    }
    let mut ends: Vec<_> = (0..graph.nodes()).map(|_| None).collect();
    while let Some(ready) = opening.join_next().await {
        let (u, opened, accepted, incoming) = ready.expect("no panic");
        // Kept: the engine accepts to the end, too.
        tasks.spawn(async move {
            let _incoming = incoming;
            std::future::pending().await
        });
        ends[u] = Some((opened, accepted));
    }
    ends.into_iter().map(|e| e.expect("every node")).collect()
}

/// Opens a stream until it is acknowledged: libp2p-stream drops some that arrive, and never answers who asks for one just while the
/// connection is being established. The engine asks when it is; here nobody waits for connections, so nobody waits long for a stream.
async fn open(mut control: Control, id: PeerId) -> Stream {
    loop {
        let opened = tokio::time::timeout(OPENING, control.open_stream(id, PROTOCOL)).await;
        if let Ok(Ok(mut stream)) = opened {
            let mut ack = [1];
            if stream.write_all(&ack).await.is_ok()
                && stream.flush().await.is_ok()
                && stream.read_exact(&mut ack).await.is_ok()
            {
                return stream;
            }
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Wall and CPU seconds that `rounds` exchanges of `bytes` per directed edge take, after a first one that warms up.
pub(crate) fn exchange(graph: &Graph, stack: Stack, bytes: usize, rounds: u32) -> (f64, f64) {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        let ends = streams(graph, stack, &mut tasks).await;
        let mut spent = (0.0, 0.0);
        let mut ends = Some(ends);
        for rounds in [1, rounds] {
            let (began, cpu) = (Instant::now(), cpu_seconds());
            let mut nodes = JoinSet::new();
            for (u, (outgoing, incoming)) in ends.take().expect("kept").into_iter().enumerate() {
                nodes.spawn(async move { (u, node(outgoing, incoming, bytes, rounds).await) });
            }
            let mut kept: Vec<_> = (0..graph.nodes()).map(|_| None).collect();
            while let Some(done) = nodes.join_next().await {
                let (u, streams) = done.expect("no panic");
                kept[u] = Some(streams);
            }
            ends = Some(kept.into_iter().map(|e| e.expect("every node")).collect());
            spent = (began.elapsed().as_secs_f64(), cpu_seconds() - cpu);
        }
        tasks.shutdown().await;
        spent
    })
}

/// One node's part; gives the streams back.
async fn node(
    outgoing: Vec<Stream>,
    incoming: Vec<Stream>,
    bytes: usize,
    rounds: u32,
) -> (Vec<Stream>, Vec<Stream>) {
    let (mut queues, mut writers) = (Vec::new(), Vec::new());
    for mut stream in outgoing {
        let (queue, mut frames) = mpsc::channel::<Arc<Vec<u8>>>(4);
        queues.push(queue);
        writers.push(tokio::spawn(async move {
            while let Some(frame) = frames.recv().await {
                stream.write_all(&frame).await.expect("open");
                stream.flush().await.expect("open");
            }
            stream
        }));
    }
    let (arrived, mut arrivals) = mpsc::channel(2 * incoming.len() + 1);
    let mut readers = Vec::new();
    let degree = incoming.len();
    for mut stream in incoming {
        let arrived = arrived.clone();
        readers.push(tokio::spawn(async move {
            let mut block = vec![0; bytes];
            for round in 0..rounds {
                stream.read_exact(&mut block).await.expect("open");
                arrived.send(round).await.expect("awaited");
            }
            stream
        }));
    }
    let block = Arc::new(vec![0x3f_u8; bytes]);
    // Neighbours may be one round ahead.
    let mut ahead = 0;
    for round in 0..rounds {
        for queue in &queues {
            queue.send(Arc::clone(&block)).await.expect("open");
        }
        let mut here = std::mem::take(&mut ahead);
        while here < degree {
            if arrivals.recv().await.expect("open") == round {
                here += 1;
            } else {
                ahead += 1;
            }
        }
    }
    queues.clear();
    let (mut outgoing, mut incoming) = (Vec::new(), Vec::new());
    for writer in writers {
        outgoing.push(writer.await.expect("no panic"));
    }
    for reader in readers {
        incoming.push(reader.await.expect("no panic"));
    }
    (outgoing, incoming)
}
