//! What a host that lies, or a broken one, can say to host 0: refused for what is wrong with it, never a panic, and nothing is held
//! beyond what the plan says.

use std::ops::Range;
use std::sync::Arc;

use futures::FutureExt;
use futures::io::Cursor;
use rand::RngExt;
use rand::rand_core::Rng;

use super::replay::Replay;
use super::words::{self, Unread, Word};
use crate::engine::testing::{changed, session_of};
use crate::engine::{Session, Silent, lockstep};
use crate::linalg::SparseRows;
use crate::node::deployed::Written;
use crate::node::exchange::Report;
use crate::privacy::ring::{Grid, Modulus};
use crate::protocol::averaging::AveragingKind;
use crate::protocol::{Event, RingParameters, Summand};
use crate::topology::Graph;
use crate::vocabulary::{Label, PeerIndex, ReleaseId, Seed};

/// Peers of the host that speaks.
const PEERS: Range<u32> = 1..4;
const RELEASES: usize = 3;

/// Everything that an honest host says, word by word.
struct Story {
    session: Session,
    words: Vec<Vec<u8>>,
}

impl Story {
    /// Four peers in a ring that takes means, or in one of residues.
    fn new(in_ring: bool) -> Self {
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3), (0, 3)]).expect("a cycle");
        let rows = (0..4_u32).map(|u| {
            let mut rows = SparseRows::new(12);
            for row in 0..3 {
                let items = (0..4).map(|i| ((u + row) % 3 + 3 * i, 0.5));
                rows.push_row(items).expect("ascending");
            }
            rows
        });
        let rank = 2;
        let kind = AveragingKind::Tree;
        let session = session_of(&graph, rows.collect(), rank, (RELEASES as u32, 1), kind, 5);
        let session = match in_ring {
            true => changed(&session, |parameters| {
                parameters.sigma_pairwise = 0.0;
                parameters.ring = Some(RingParameters {
                    grid: Grid::of(16),
                    modulus: Modulus::Bits32,
                    clamp: 1 << 20,
                });
            }),
            false => session,
        };
        let outcome = lockstep::run(&session, &mut Silent).expect("runs");
        assert_eq!(outcome.records.len(), RELEASES);
        let mut words = Vec::new();
        for record in &outcome.records {
            for peer in PEERS.map(PeerIndex) {
                let values = record.sum.values();
                let input = match in_ring {
                    true => Summand::Residues(Arc::new(vec![7; values.len()])),
                    false => Summand::Reals(Arc::new(vec![0.25; values.len()])),
                };
                words.push(words::published(peer, record.release, &input));
                let sum = words::released(peer, record.release, record.statistic, values);
                words.push(sum);
            }
        }
        let written = Written {
            messages: 9,
            ..Written::default()
        };
        words.extend(PEERS.map(|peer| words::written(PeerIndex(peer), &written)));
        // Whoever tells the same sums makes the same states.
        let (heard, end) = play(&session, &words.concat());
        assert!(matches!(end, End::Lost), "{end:?}");
        assert_eq!(heard.words, words.len());
        assert!(heard.replay.is_done());
        let bases = heard.bases.iter();
        for (release, basis) in bases {
            assert_eq!(*basis, outcome.records[release.index()].basis);
        }
        assert_eq!(heard.bases.len(), RELEASES * PEERS.len());
        Self { session, words }
    }
}

/// How a host that speaks is no longer listened to.
#[derive(Debug)]
enum End {
    /// It stopped, perhaps in the middle of a word.
    Lost,
    /// It was no word of this plan.
    Malformed,
    /// It was not due, or no peer can have said so.
    Refused,
    /// It says that it gives up.
    Failed,
}

/// What was taken of what a host said.
struct Heard {
    words: usize,
    replay: Replay,
    bases: Vec<(ReleaseId, Arc<crate::linalg::Block>)>,
}

/// Listens as host 0 does.
fn play(session: &Session, bytes: &[u8]) -> (Heard, End) {
    let plan = session.plan();
    let most = plan.most_values();
    let mut cursor = Cursor::new(bytes);
    let mut heard = Heard {
        words: 0,
        replay: Replay::new(session.clone(), PEERS),
        bases: Vec::new(),
    };
    let (mut done, mut published) = ([false; 4], [0; 4]);
    let end = loop {
        let word = words::hear(&mut cursor, plan, &PEERS);
        let word = match word.now_or_never().expect("all bytes are here") {
            Ok(word) => word,
            Err(Unread::Lost) => break End::Lost,
            Err(Unread::Malformed(_)) => break End::Malformed,
        };
        let held = match &word {
            Word::Published { peer, input, .. } => {
                assert!(PEERS.contains(&peer.0));
                assert_eq!(input.residues().is_some(), plan.values().is_residues());
                match input {
                    Summand::Reals(values) => values.capacity(),
                    Summand::Residues(values) => values.capacity(),
                }
            }
            Word::Released { peer, values, .. } => {
                assert!(PEERS.contains(&peer.0));
                values.capacity()
            }
            Word::Failed(text) => {
                // Characters that are none take three bytes.
                assert!(text.len() <= 3000 && !text.contains(char::is_control));
                break End::Failed;
            }
            Word::Written { .. } | Word::Start | Word::Done => 0,
        };
        assert!(held <= most, "{held} values");
        let Ok(reports) = heard.replay.reports(word) else {
            break End::Refused;
        };
        heard.words += 1;
        for (peer, report) in reports {
            assert!(PEERS.contains(&peer.0) && !done[peer.index()]);
            match report {
                Report::Event(Event::Published { release, .. }) => {
                    assert!(release.0 as usize <= RELEASES);
                    published[peer.index()] += 1;
                }
                Report::Event(Event::Released {
                    release,
                    sum,
                    terms,
                }) => {
                    // One after the other, each after its input.
                    assert_eq!(published[peer.index()], release.0);
                    assert!(sum.values().iter().all(|x| x.is_finite()));
                    assert!(terms.statistic.is_finite());
                }
                Report::Event(Event::Advanced { release, basis, .. }) => {
                    assert!(basis.values().iter().all(|x| x.is_finite()));
                    assert!(release.0 as usize <= RELEASES);
                    heard.bases.push((release, basis));
                }
                Report::Event(_) => {}
                Report::Done(_) => done[peer.index()] = true,
                Report::Failed(error) => panic!("{error}"),
            }
        }
    };
    (heard, end)
}

/// Changes the order of words, and bytes within them.
fn broken(words: &[Vec<u8>], random: &mut impl Rng) -> Vec<u8> {
    let mut words = words.to_vec();
    for _ in 0..random.random_range(1..4) {
        let at = random.random_range(0..words.len());
        let other = random.random_range(0..words.len());
        match random.random_range(0..8) {
            0 => words.swap(at, other),
            1 => words.insert(at, words[other].clone()),
            2 if words.len() > 1 => drop(words.remove(at)),
            3 => {
                // A number that is none, or one that is too large for what is done with it.
                let numbers = [f64::NAN, f64::INFINITY, -0.0, 0.0, 1e308, -1e308, 1e-320];
                let number = numbers[random.random_range(0..numbers.len())].to_le_bytes();
                let word = &mut words[at];
                if let Some(places) = word.len().checked_sub(9 + 8) {
                    let place = 9 + 8 * random.random_range(0..=places / 8);
                    word[place..place + 8].copy_from_slice(&number);
                }
            }
            4 => {
                let word = &mut words[at];
                let end = word.len();
                word.truncate(random.random_range(0..=end));
            }
            5 => {
                // A reason may be longer than any, and is then no reason.
                let length = random.random_range(0..4000_u16);
                let mut word = words::failed("")[..1].to_vec();
                word.extend(length.to_le_bytes());
                let mut text = vec![0; usize::from(length)];
                random.fill_bytes(&mut text);
                word.extend(text);
                words.insert(at, word);
            }
            6 => {
                let place = random.random_range(0..=words[at].len());
                words[at].insert(place, random.next_u32() as u8);
            }
            _ => {
                let word = &mut words[at];
                if !word.is_empty() {
                    let place = random.random_range(0..word.len().min(24));
                    word[place] = match random.random_range(0..2) {
                        0 => random.next_u32() as u8,
                        _ => word[place].wrapping_add(1),
                    };
                }
            }
        }
    }
    words.concat()
}

fn fuzz(inputs: u32) {
    let stories = [Story::new(false), Story::new(true)];
    let mut random = Seed::from_u64(21).generator(Label::Scenario);
    let mut ends = [0_u32; 4];
    let mut taken = 0;
    for input in 0..inputs {
        let story = &stories[input as usize % 2];
        let bytes = match input % 16 {
            0 => {
                let mut bytes = vec![0; random.random_range(0..400)];
                random.fill_bytes(&mut bytes);
                bytes
            }
            _ => broken(&story.words, &mut random),
        };
        let (heard, end) = play(&story.session, &bytes);
        ends[end as usize] += 1;
        taken += heard.words;
    }
    // Every way to end is met, and what comes before the lie is taken.
    let few = inputs / 100;
    assert!(ends.iter().all(|&count| count > few), "{ends:?}");
    assert!(taken > inputs as usize, "{taken}");
}

#[test]
fn a_hundred_thousand_lies_of_a_host() {
    fuzz(100_000);
}

#[test]
#[ignore = "minutes: cargo test --lib simulation::hostile::ten_million -- --ignored"]
fn ten_million_lies_of_a_host() {
    fuzz(10_000_000);
}
