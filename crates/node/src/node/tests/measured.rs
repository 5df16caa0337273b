//! What swarms take, measured on demand.

use super::super::{SwarmOptions, Transport, run};
use super::{TRANSPORTS, spread_rows};
use crate::engine::testing::session_of;
use crate::engine::{Observer, ReleaseRecord, Session};
use crate::protocol::averaging::AveragingKind;
use crate::topology::Graph;

/// A 6-regular circulant graph.
fn circulant(nodes: u32) -> Graph {
    let edges: Vec<_> = (0..nodes)
        .flat_map(|u| [1, 9, 27].map(|step| (u, (u + step) % nodes)))
        .map(|(u, v)| (u.min(v), u.max(v)))
        .collect();
    Graph::from_edges(nodes as usize, &edges).expect("simple")
}

/// Peak resident memory of this process in MiB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}

/// Counts the open files of this process while all nodes are connected, and the iterations.
#[derive(Default)]
struct OpenFiles(usize, u32);

impl Observer for OpenFiles {
    fn released(&mut self, _record: &ReleaseRecord) {
        self.0 = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        self.1 += 1;
    }
}

fn measured(session: &Session, transport: Transport) {
    let options = SwarmOptions {
        transport,
        ..SwarmOptions::default()
    };
    let began = std::time::Instant::now();
    let mut files = OpenFiles::default();
    let outcome = run(session, &options, &mut files).expect("runs");
    let (seconds, bytes) = (
        began.elapsed().as_secs_f64(),
        outcome.communication.bytes_total,
    );
    eprintln!(
        "{} peers, {} edges, {transport:?}: {seconds:.2} s, {:.0} MB/s, {} open files, \
         peak memory of the process {:?} MiB",
        session.peers(),
        session.graph().edges(),
        bytes as f64 / seconds * 1e-6,
        files.0,
        peak_memory(),
    );
    assert_eq!(files.1, session.plan().releases().len() as u32);
}

#[test]
#[ignore = "a measurement: run alone, in release"]
fn measure_64_peers_with_small_blocks() {
    let rows = spread_rows(64, 200, 5);
    let session = session_of(
        &circulant(64),
        rows,
        4,
        (3, 40),
        AveragingKind::Chebyshev,
        1,
    );
    for transport in TRANSPORTS {
        measured(&session, transport);
    }
}

#[test]
#[ignore = "a measurement: run alone, in release"]
fn measure_256_peers_with_blocks_of_one_mebibyte() {
    let rows = spread_rows(256, 16_384, 20);
    let session = session_of(
        &circulant(256),
        rows,
        8,
        (1, 5),
        AveragingKind::Chebyshev,
        1,
    );
    for transport in TRANSPORTS {
        measured(&session, transport);
        assert!(peak_memory().is_none_or(|mebibytes| mebibytes < 6 * 1024));
    }
}
