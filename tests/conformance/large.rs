//! A release of 400 MB: sent frame by frame, with equal bits and memory that is known beforehand.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use undertone::algorithm::{Algorithm, Covariance, History, LocalData, Program, PublicState};
use undertone::engine::event::{self, Latency};
use undertone::engine::{Communication, Outcome, Session, Silent, lockstep};
use undertone::linalg::{Block, NotFullRank, SparseRows};
use undertone::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use undertone::protocol::averaging::{AveragingKind, AveragingOptions, Length, MixingBounds};
use undertone::protocol::wire::{self, Arriving, FrameSizes, HEADER_LEN, Memory, PREFIX_LEN};
use undertone::protocol::{Body, Message, Values};
use undertone::topology::{Graph, Provenance, Topology};
use undertone::vocabulary::{ReleaseId, Round};

use crate::support::sessions::{Parts, users};
use crate::support::skipped;

const ITEMS: usize = 10_000;

/// The packed triangle of a matrix of so many items.
const VALUES: usize = ITEMS * (ITEMS + 1) / 2;

/// Bytes of the values, and the frames of 1 MiB that they take.
const BYTES: usize = 8 * VALUES;
const FRAMES: usize = BYTES.div_ceil(1 << 20);

/// Covariance without what follows it: the triangle is released, and nobody looks for eigenvectors, which takes far longer than sending it.
#[derive(Debug)]
struct Triangle(Covariance);

impl Algorithm for Triangle {
    fn program(&self) -> Program {
        Program {
            name: "triangle".into(),
            ..self.0.program()
        }
    }

    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        self.0.prepare(rows, history)
    }

    fn add_contribution(
        &self,
        release: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        self.0.add_contribution(release, rows, prepared, range, out);
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        self.0.advance(state, sum, sigmas)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

/// Two peers over a tree, or three in a row.
fn session(peers: usize) -> Session {
    let edges: Vec<(u32, u32)> = (1..peers as u32).map(|v| (v - 1, v)).collect();
    let graph = Graph::from_edges(peers, &edges).expect("a path");
    let topology = Arc::new(Topology::from_graph(graph, Provenance::edges("path")));
    let bounds = MixingBounds {
        lowest: -0.5,
        second: 0.5,
    };
    let options = AveragingOptions::default();
    let schedule = AveragingKind::Tree.compile(&*topology, bounds, Length::Own, options);
    let parts = Parts {
        schedule: Arc::new(schedule.expect("connected")),
        topology,
        algorithm: Arc::new(Triangle(Covariance::new(ITEMS, 1).expect("valid"))),
        sensitivity: SensitivitySpec::new(Adjacency::Interaction, SensitivityRule::Exact, 1, None),
        sigmas: [0.05, 1.5, 0.0],
        values: Values::F64,
        ring: None,
        wishart: None,
    };
    let rows = users(peers, ITEMS).into_iter().map(LocalData::from);
    parts.session(&rows.collect::<Vec<_>>(), 11).expect("fits")
}

/// A line of what the system tells of this process, in bytes.
fn memory(line: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let found = status.lines().find_map(|found| found.strip_prefix(line))?;
    let kibibytes: u64 = found
        .trim_start_matches(':')
        .trim()
        .split(' ')
        .next()?
        .parse()
        .ok()?;
    Some(1024 * kibibytes)
}

/// Runs it: what it gives, how long it takes, and by how many blocks of [`BYTES`] the process grew at most.
fn measured<T>(run: impl FnOnce() -> T) -> (T, Duration, f64) {
    // Forgets the largest size so far.
    if std::fs::write("/proc/self/clear_refs", "5").is_err() {
        skipped("this system does not tell how large a process has been");
    }
    let before = memory("VmRSS").unwrap_or(0);
    let start = Instant::now();
    let result = run();
    let took = start.elapsed();
    let most = memory("VmHWM").unwrap_or(0);
    (
        result,
        took,
        most.saturating_sub(before) as f64 / BYTES as f64,
    )
}

/// Everything of an outcome, so that it need not be kept.
fn digest(outcome: Outcome) -> (blake3::Hash, Communication) {
    let mut hasher = blake3::Hasher::new();
    for record in &outcome.records {
        let totals = &record.totals;
        for block in [
            &*record.sum,
            &*record.basis,
            &totals.published,
            &totals.local,
        ] {
            for value in block.values() {
                hasher.update(&value.to_bits().to_le_bytes());
            }
        }
        assert_eq!(record.consensus.expect("peers").disagreement, 0.0);
    }
    (hasher.finalize(), outcome.communication)
}

#[test]
#[ignore = "minutes and gigabytes: releases of 400 MB"]
fn the_triangle_of_10_000_items_has_equal_bits_on_every_engine() {
    for peers in [2, 3] {
        let session = session(peers);
        let (reference, took, blocks) =
            measured(|| digest(lockstep::run(&session, &mut Silent).expect("runs")));
        println!("{peers} peers, lockstep: {took:.1?}, {blocks:.1} blocks");
        let latency = Latency::Constant { micros: 10 };
        let (found, took, blocks) =
            measured(|| digest(event::run(&session, latency, &mut Silent).expect("runs")));
        println!("{peers} peers, event: {took:.1?}, {blocks:.1} blocks");
        assert_eq!(found, reference);
        // Up and down every edge, each frame with a prefix and a header.
        let one = (BYTES + FRAMES * (PREFIX_LEN + HEADER_LEN)) as u64;
        assert_eq!(
            found.1.phases.sums.bytes_total,
            2 * (peers as u64 - 1) * one
        );
        #[cfg(feature = "node")]
        {
            use undertone::node::{self, SwarmOptions, Transport};
            let options = SwarmOptions {
                transport: Transport::Memory,
                stall_timeout: Duration::from_secs(600),
            };
            let (found, took, blocks) =
                measured(|| digest(node::run(&session, &options, &mut Silent).expect("runs")));
            println!("{peers} peers, swarm: {took:.1?}, {blocks:.1} blocks");
            assert_eq!(found, reference);
        }
    }
}

/// The sender needs one frame beside its block, the receiver a block and, while it is moved to more room, half of one more.
#[test]
#[ignore = "seconds and a gigabyte: a message of 400 MB"]
fn a_message_of_400_megabytes_is_encoded_and_decoded_frame_by_frame() {
    let sizes = FrameSizes::from(VALUES);
    let values: Vec<f64> = (0..VALUES).map(|i| 1.0 / (i as f64 + 1.0)).collect();
    let sent = Message {
        session: undertone::protocol::SessionId([7; 16]),
        release: ReleaseId(1),
        round: Round(0),
        body: Body::Average(Arc::new(values)),
    };
    assert_eq!(wire::frames(&sent, Values::F64), FRAMES);
    let (received, took, blocks) = measured(|| {
        let mut arriving: Option<Arriving> = None;
        let mut frame = Vec::new();
        let mut bytes = 0;
        for number in 0..FRAMES {
            wire::encode_frame_into(&sent, Values::F64, number, &mut frame);
            bytes += frame.len();
            let (prefix, rest) = frame.split_first_chunk().expect("a prefix");
            let length = wire::check_announced_len(*prefix, &sizes).expect("short enough");
            let (header, rest) = rest.split_first_chunk().expect("a header");
            match &mut arriving {
                None => {
                    let first = Arriving::new(header, length, &sizes, Memory::default());
                    arriving = Some(first.expect("the first"));
                }
                Some(arriving) => arriving.next_frame(header, length).expect("the next"),
            }
            let arriving = arriving.as_mut().expect("begun");
            rest.chunks(16 << 10)
                .for_each(|piece| arriving.take(piece).expect("numbers"));
        }
        assert_eq!(bytes, wire::framed_len(&sent.body, Values::F64));
        arriving.expect("begun").finish().expect("complete")
    });
    println!("{BYTES} bytes in {FRAMES} frames: {took:.2?}, {blocks:.2} blocks");
    assert_eq!(received, sent);
    assert!(blocks < 1.6, "{blocks}");
}
