//! One table for everything that can be chosen together: graph, averaging scheme, values, algorithm and engine.
//!
//! A cell is a small session. Either all engines run it and tell the same to the last bit (records, what every peer published and
//! held, how well they agree, what was sent), or it is refused by the typed error that the table names. No cell is left out: what
//! is run and what is refused is counted.
//!
//! The whole table is run by `cargo test --test main -- conformance --include-ignored`; every test run looks at all refusals and at cells in
//! which every pair of entries occurs.

mod axes;
mod covering;
mod large;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use undertone::engine::central::{self, SumNoise};
use undertone::engine::event::{self, Latency};
use undertone::engine::{Federated, Runner as _, Session, Silent, lockstep};

use crate::support::bits::Told;
use axes::{Cell, Entry, METHODS};
use covering::{all_shown, covering};

/// What is compared with lockstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Engine {
    /// Peers in virtual time, all messages equally long under way.
    Event,
    /// Peers in virtual time, every message for another time.
    EventOutOfOrder,
    /// libp2p nodes in this process.
    Swarm,
    /// A curator with the peers' shares and an ideal secure sum, which have no peers.
    OneCopy,
}

const ENGINES: [Engine; 4] = [
    Engine::Event,
    Engine::EventOutOfOrder,
    Engine::Swarm,
    Engine::OneCopy,
];

/// What came of a cell on one engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    /// The same bits as lockstep.
    Equal,
    /// The same bits at curator and secure sum, which add up in another order than the averaging does.
    EqualWithoutPeers,
    /// There is no session.
    Refused(Entry),
    /// Connections that lose nothing, under averaging that is made for loss.
    RefusedLoss,
    /// This build has no libp2p.
    NotBuilt,
}

/// Places, schemes, values and methods by their axis.
const PLACE: usize = 0;
const SCHEME: usize = 1;
const VALUE: usize = 2;
const METHOD: usize = 3;

/// What occurs together in every test run: schemes with all else, and all other pairs.
const PAIRS: [(usize, usize); 6] = [
    (SCHEME, METHOD),
    (SCHEME, VALUE),
    (SCHEME, PLACE),
    (VALUE, METHOD),
    (PLACE, METHOD),
    (PLACE, VALUE),
];

/// Counts cells by engine and by what was seen, and adds up time.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<Seen, u32>,
    seconds: BTreeMap<&'static str, Duration>,
    /// Messages that were lost, each counted once.
    lost: u64,
}

impl Tally {
    fn of(&self, seen: Seen) -> u32 {
        self.counts.get(&seen).copied().unwrap_or(0)
    }

    fn timed<T>(&mut self, what: &'static str, run: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = run();
        *self.seconds.entry(what).or_default() += start.elapsed();
        result
    }

    /// Runs a cell on these engines, or sees it refused.
    fn look(&mut self, cell: Cell, engines: &[Engine]) {
        let about = cell.name();
        let session = match (cell.session(), cell.entry) {
            (Ok(session), Entry::Runs) => session,
            (Ok(_), refused) => panic!("{about}: runs, and the table says {refused:?}"),
            (Err(found), entry) => {
                assert_eq!(found.entry(), Some(entry), "{about}: {found:?}");
                *self.counts.entry(Seen::Refused(entry)).or_default() += engines.len() as u32;
                return;
            }
        };
        let reference = self.timed("lockstep", || {
            Told::by(|observer| lockstep::run(&session, observer)).expect("runs")
        });
        let planned = session
            .public()
            .communication(session.plan().releases().len(), false);
        if cell.scheme.loss == 0.0 {
            assert_eq!(reference.communication, planned, "{about}");
        }
        // Of a few messages none may be lost; over many cells some are.
        self.lost += reference.communication.lost;
        for record in &reference.records {
            let consensus = record.consensus.expect("peers");
            let apart = (consensus.disagreement, consensus.between_peers) != (0.0, 0.0);
            if session.schedule().ends_equal() {
                assert!(!apart, "{about}: {consensus:?}");
            } else {
                // Few rounds leave peers apart, but on a graph where everybody knows everybody.
                assert!(apart || session.peers() <= 10, "{about}: {consensus:?}");
            }
        }
        for &engine in engines {
            let seen = self.compare(cell, &session, engine, &reference);
            *self.counts.entry(seen).or_default() += 1;
        }
    }

    fn compare(&mut self, cell: Cell, session: &Session, engine: Engine, reference: &Told) -> Seen {
        let in_time = |latency| Told::by(|observer| event::run(session, latency, observer));
        let found = match engine {
            Engine::Event => self.timed("event", || in_time(Latency::Constant { micros: 10 })),
            Engine::EventOutOfOrder => {
                let (low_micros, high_micros) = (1, 900);
                let uniform = Latency::Uniform {
                    low_micros,
                    high_micros,
                };
                self.timed("event", || in_time(uniform))
            }
            Engine::Swarm => match self.timed("swarm", || on_swarm(cell, session)) {
                Ok(found) => Ok(found),
                Err(seen) => return seen,
            },
            Engine::OneCopy => {
                return self.timed("one copy", || one_copy(cell, session, reference));
            }
        };
        let found = found.unwrap_or_else(|error| panic!("{}, {engine:?}: {error}", cell.name()));
        let difference = reference.difference(&found);
        assert_eq!(
            difference,
            None,
            "{}, {engine:?} against lockstep",
            cell.name()
        );
        Seen::Equal
    }
}

/// Curator and secure sum have equal bits; where integers are added, they are also those that the peers end with.
fn one_copy(cell: Cell, session: &Session, reference: &Told) -> Seen {
    let central = central::run(session, SumNoise::Shares, &mut Silent).expect("runs");
    let federated = Federated.run(session, &mut Silent).expect("runs");
    assert_eq!(central.records, federated.records, "{}", cell.name());
    if !cell.values.are_integers() {
        return Seen::EqualWithoutPeers;
    }
    for (ours, theirs) in reference.records.iter().zip(&central.records) {
        let about = format!("{}, {}", cell.name(), ours.release);
        assert_eq!(ours.sum, theirs.sum, "{about}");
        assert_eq!(
            (&ours.query, &ours.basis),
            (&theirs.query, &theirs.basis),
            "{about}"
        );
        assert_eq!(ours.totals, theirs.totals, "{about}");
    }
    Seen::Equal
}

#[cfg(feature = "node")]
fn on_swarm(cell: Cell, session: &Session) -> Result<Told, Seen> {
    use undertone::node::{self, HostError, SwarmOptions, Transport};
    let options = SwarmOptions {
        transport: Transport::Memory,
        ..SwarmOptions::default()
    };
    let found = Told::by(|observer| node::run(session, &options, observer));
    match found {
        Ok(found) => {
            assert!(cell.scheme.loss == 0.0, "{}: nothing is lost", cell.name());
            Ok(found)
        }
        Err(HostError::Lossless { .. }) if cell.scheme.loss > 0.0 => Err(Seen::RefusedLoss),
        Err(error) => panic!("{}, swarm: {error}", cell.name()),
    }
}

#[cfg(not(feature = "node"))]
fn on_swarm(_: Cell, _: &Session) -> Result<Told, Seen> {
    Err(Seen::NotBuilt)
}

/// Positions of the cells that the table has run.
fn running() -> Vec<[usize; 4]> {
    let runs = |cell: &[usize; 4]| Cell::at(*cell).entry == Entry::Runs;
    Cell::all().into_iter().filter(runs).collect()
}

/// Cells of one algorithm: 11 graphs, 9 schemes, 5 kinds of values.
const CELLS: usize = 495;

/// Those of them that run.
const RUNNING: usize = 188;

/// Cells of every entry, without engines. 11 graphs, of which 3 have the edges for doubling: 91 pairs of a graph and a scheme that has a
/// schedule on it, 25 of them exact, 22 gossip, 44 passing mass.
#[test]
fn of_every_algorithm_495_cells_are_there_of_which_188_run_and_all_others_are_refused_as_the_table_says()
 {
    let mut tally = Tally::default();
    let (all, running) = (Cell::all(), running());
    for cell in all.iter().filter(|cell| !running.contains(cell)) {
        tally.look(Cell::at(*cell), &[Engine::Event]);
    }
    let methods = METHODS.len();
    assert_eq!(
        (all.len(), running.len()),
        (CELLS * methods, RUNNING * methods)
    );
    let counts = [
        (Entry::MissingEdge, 40),
        (Entry::RingOfSingles, 91),
        (Entry::Divides, 132),
        (Entry::MassInSingles, 44),
    ];
    for (entry, count) in counts {
        let found = tally.of(Seen::Refused(entry));
        assert_eq!(found, count * methods as u32, "{entry:?}");
    }
}

/// Every pair of a scheme with a graph, values and an algorithm, all other pairs but those of engines, and every engine with every
/// scheme that it runs.
#[test]
fn engines_agree_to_the_bit_on_cells_that_show_every_pair() {
    let running = running();
    let chosen = covering(&running, &PAIRS);
    assert_eq!(all_shown(&chosen, &PAIRS), all_shown(&running, &PAIRS));
    let single = [PLACE, SCHEME, VALUE, METHOD].map(|axis| (axis, axis));
    let swarms = covering(&chosen, &single);
    let mut tally = Tally::default();
    for (number, cell) in chosen.iter().enumerate() {
        let event = [Engine::Event, Engine::EventOutOfOrder][number % 2];
        let engines = [event, Engine::OneCopy, Engine::Swarm];
        let most = if swarms.contains(cell) { 3 } else { 2 };
        tally.look(Cell::at(*cell), &engines[..most]);
    }
    println!(
        "{} cells, {} swarms, {:?}",
        chosen.len(),
        swarms.len(),
        tally.seconds
    );
    let seen: u32 = tally.counts.values().sum();
    assert_eq!(seen as usize, 2 * chosen.len() + swarms.len());
    assert!(tally.lost > 0);
}

#[test]
#[ignore = "minutes: every cell on every engine"]
fn engines_agree_to_the_bit_on_the_whole_table() {
    let mut tally = Tally::default();
    for cell in Cell::all() {
        tally.look(Cell::at(cell), &ENGINES);
    }
    println!("{:?}\n{:?}", tally.counts, tally.seconds);
    assert!(tally.lost > 0);
    let methods = METHODS.len() as u32;
    let running = RUNNING as u32 * methods;
    let refused = 4 * CELLS as u32 * methods - 4 * running;
    let found: u32 = tally
        .counts
        .iter()
        .map(|(seen, count)| match seen {
            Seen::Refused(_) => *count,
            _ => 0,
        })
        .sum();
    assert_eq!(found, refused);
    // 25 pairs of a graph and an exact scheme, two moduli.
    let integers = 25 * methods * 2;
    let lossy = 22 * methods;
    let (swarms, refusals, unbuilt) = match cfg!(feature = "node") {
        true => (running - lossy, lossy, 0),
        false => (0, 0, running),
    };
    assert_eq!(tally.of(Seen::Equal), 2 * running + swarms + integers);
    assert_eq!(tally.of(Seen::EqualWithoutPeers), running - integers);
    assert_eq!(tally.of(Seen::RefusedLoss), refusals);
    assert_eq!(tally.of(Seen::NotBuilt), unbuilt);
}
