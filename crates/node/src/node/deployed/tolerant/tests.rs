//! Bytes that nobody honest sends over the links of tolerant peers, or finds on its disk: no panic, no memory beyond what is there, one text for one frame.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::executor::block_on;
use futures::io::Cursor;
use rand::{Rng, RngExt};
use zeroize::Zeroizing;

use super::greeting;
use crate::algorithm::PublicState;
use crate::engine::SessionViews;
use crate::engine::testing::session_of;
use crate::linalg::{Block, SparseRows};
use crate::protocol::averaging::AveragingKind;
use crate::protocol::escrow::{HIDDEN_SHARE_LEN, SealKey, Share};
use crate::protocol::regroup::{
    Attempt, Disruptions, Durable, History, LinkIndex, Onward, Record, RegroupSetup, SIGNATURE_LEN,
    Signed, Statement, Tolerance, ViewNumber,
};
use crate::protocol::tolerant::{DiskRecord, Format, Frame, SignedShare};
use crate::protocol::{Body, Message, SessionId, Summand};
use crate::topology::Graph;
use crate::vocabulary::{Label, PeerIndex, ReleaseId, Round, Seed, Span};

const PEERS: u32 = 6;

/// The format of the first of six peers that seal, and valid frames and records of every kind.
fn valid() -> (Format, Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let edges: Vec<_> = (0..PEERS)
        .flat_map(|u| (u + 1..PEERS).map(move |v| (u, v)))
        .collect();
    let graph = Graph::from_edges(PEERS as usize, &edges).expect("simple");
    let rows = |u: u32| {
        let mut rows = SparseRows::new(20);
        rows.push_row((0..4).map(|i| (4 * i + u % 4, 0.25)))
            .expect("ascending");
        rows
    };
    let rows = (0..PEERS).map(rows).collect();
    let session = session_of(&graph, rows, 2, (3, 5), AveragingKind::Linear, 9);
    let views = SessionViews::new(session, AveragingKind::Linear.into());
    let links = views.session().public().links().expect("a graph");
    let (peers, count) = (links.peers(), links.len());
    let setup = RegroupSetup {
        me: PeerIndex(0),
        session: views.session().plan().session(),
        signatures: views.signatures(PeerIndex(0)),
        tolerance: Arc::new(Tolerance::sealed(&links, (1, 1), 2).expect("enough neighbours")),
        links: Arc::new(links),
        last: ReleaseId(3),
        patience: Span(1),
    };
    let plan = views.session().plan();
    let format = Format::new(&setup, plan);
    let attempt = Attempt {
        release: ReleaseId(2),
        retry: 1,
        view: ViewNumber(0),
    };
    let (origin, from, signature) = (PeerIndex(3), PeerIndex(1), [7; SIGNATURE_LEN]);
    let disruptions = Disruptions::none(peers, count);
    let statement = Statement {
        disruptions: disruptions.clone(),
        done: ReleaseId(1),
        certified: vec![attempt],
        sent: Some(attempt),
        retries: 1,
    };
    let records = [
        Record::Cut {
            link: LinkIndex(4),
            origin,
        },
        Record::Restart { origin, count: 2 },
        Record::Statement {
            origin,
            serial: 5,
            statement: statement.clone(),
        },
        Record::Held { origin, attempt },
        Record::Finished { origin },
    ];
    let block = Arc::new(vec![0.5; plan.most_values()]);
    let input = Summand::Reals(Arc::clone(&block));
    let value = Zeroizing::new([9; 32]);
    let mut frames: Vec<Frame> = records
        .map(|record| Frame::Record(Signed { record, signature }))
        .to_vec();
    frames.extend([
        Frame::Published {
            attempt,
            input: input.clone(),
        },
        Frame::Sealed {
            attempt,
            frame: Arc::from([3; 900]),
            share: [7; HIDDEN_SHARE_LEN],
        },
        Frame::Key {
            attempt,
            key: SealKey::from_secret(&value),
        },
        Frame::Share {
            view: ViewNumber(0),
            signed: SignedShare {
                attempt,
                dealer: origin,
                holder: from,
                share: Share::new(2, &value).expect("a share"),
                signature,
            },
        },
    ]);
    for body in [Body::Scale(0.5), Body::Average(block)] {
        let message = Message {
            session: SessionId([1; 16]),
            release: ReleaseId(2),
            round: Round(0),
            body,
        };
        frames.push(Frame::Step {
            view: ViewNumber(0),
            message,
        });
    }
    let kept = [
        DiskRecord::Regroup(Durable::Stated {
            serial: 3,
            statement,
        }),
        DiskRecord::Regroup(Durable::Decided {
            disruptions,
            history: History::default(),
            onward: Some(Onward::Anew(ReleaseId(2))),
            retries: 1,
        }),
        DiskRecord::Input {
            attempt,
            from,
            agreed: Some(0.5),
            input,
        },
        DiskRecord::Agreed {
            attempt,
            agreed: None,
        },
        DiskRecord::State(PublicState::new(Arc::new(Block::zeros(20, 2)))),
    ];
    let frames = frames
        .iter()
        .map(|frame| format.frame_bytes(frame))
        .collect();
    let mut kept: Vec<Vec<u8>> = kept
        .iter()
        .map(|one| format.record_bytes(one).to_vec())
        .collect();
    // A seal's and an escrow's first bytes, with nothing that fits behind.
    kept.extend([
        [&[5][..], &[4; 700]].concat(),
        [&[4][..], &[1; 700]].concat(),
    ]);
    (format, frames, kept)
}

/// How many inputs each parser refused, and how many it took.
type Seen = BTreeMap<&'static str, [u64; 2]>;

/// Feeds so many inputs to every parser: valid bytes with a few changed, cut, longer or random ones.
fn fuzz(inputs: u64, seed: u64) -> Seen {
    let (format, frames, records) = valid();
    let session = SessionId([5; 16]);
    let mut stream = Seed::from_u64(seed).key(Label::Identity, 0, 0).stream(0, 0);
    let mut greeting = vec![0x75, 3];
    greeting.extend(session.0);
    greeting.extend([1; 72]);
    let mut seen = Seen::new();
    let mut note = |parser, is_taken| seen.entry(parser).or_default()[usize::from(is_taken)] += 1;
    for input in 0..inputs {
        let mut changed = |valid: &[u8]| {
            let mut bytes = valid.to_vec();
            for _ in 0..stream.random_range(0..3_u32) {
                // Half of the changes are where lengths and kinds stand.
                let most = if stream.random() {
                    bytes.len()
                } else {
                    bytes.len().min(64)
                };
                let at = stream.random_range(0..most);
                bytes[at] = stream.random();
            }
            match stream.random_range(0..12_u32) {
                0 => bytes.truncate(stream.random_range(0..bytes.len())),
                1 => bytes.extend([0; 3]),
                2 => stream.fill_bytes(&mut bytes),
                _ => {}
            }
            bytes
        };
        let bytes = changed(&frames[(input % frames.len() as u64) as usize]);
        let frame = format.frame(&bytes);
        note("frames", frame.is_ok());
        match frame {
            Ok(frame) => assert_eq!(format.frame_bytes(&frame), bytes, "one frame, one text"),
            Err(error) => assert!(error.at <= bytes.len()),
        }
        let bytes = changed(&records[(input % records.len() as u64) as usize]);
        note("records", format.record(&bytes).is_ok());
        let bytes = changed(&greeting);
        let heard = block_on(greeting::hear(&mut Cursor::new(bytes), session));
        note("greetings", heard.is_ok());
    }
    for count in seen.values().flatten() {
        assert!((inputs / 20 + 1..inputs).contains(count), "{seen:?}");
    }
    assert_eq!(seen.len(), 3);
    seen
}

#[test]
fn inputs_of_tolerant_links_do_no_harm() {
    fuzz(6_000, 31);
}

/// Three parsers an input.
#[test]
#[ignore = "ten million: cargo test --lib tolerant::tests::ten_million -- --ignored --nocapture; UNDERTONE_FUZZ=N for another number of inputs"]
fn ten_million_inputs_of_tolerant_links_do_no_harm() {
    let said = std::env::var("UNDERTONE_FUZZ").ok();
    let inputs = said.and_then(|said| said.parse().ok()).unwrap_or(3_400_000);
    println!("{:?}", fuzz(inputs, 37));
}
