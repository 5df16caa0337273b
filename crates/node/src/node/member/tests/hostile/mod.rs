//! Sessions with one hostile member, in process: what honest members are promised holds whatever it sends.
//!
//! | part | subject |
//! | --- | --- |
//! | `case` | small sessions and their plans |
//! | `process` | one life of a member: the state machines and decisions that ship, in virtual time |
//! | `plain`, `tolerant` | the peer of a process, over signed bytes |
//! | `results` | results that differ |
//! | `world`, `carrying` | members, what is under way between them, and time |
//! | `actor`, `altering` | what a hostile member does with what its process would send; fields that are changed |
//! | `script`, `losses`, `attacks` | hostile members by hand |
//! | `generator` | hostile members at random |
//! | `notes`, `referee` | what honest members signed and published, and the promises |

mod actor;
mod altering;
mod attacks;
mod carrying;
mod case;
mod generator;
mod losses;
mod notes;
mod plain;
mod process;
mod referee;
mod results;
mod script;
mod tolerant;
mod world;

use super::*;
use crate::session::PublicId;

use self::case::{Case, Kind};
use self::world::World;

const KINDS: [Kind; 4] = [Kind::Tree, Kind::Gossip, Kind::Open, Kind::Sealed];

/// Without a hostile member everybody ends with a result, and where averaging is exact with the same.
#[test]
fn honest_members_all_end_with_a_result() {
    for kind in KINDS {
        let least = if kind == Kind::Sealed {
            case::LEAST_SEALED
        } else {
            4
        };
        for members in [least, 7] {
            let mut world = World::new(Case::of(members, kind), members as u64, None, None);
            world.run();
            let found = referee::judge(&world);
            assert_eq!(
                found,
                Vec::<String>::new(),
                "{kind:?} {members}: {:?}",
                world.ends
            );
            assert_eq!(world.ends.len(), members, "{kind:?}");
            for end in &world.ends {
                assert_eq!(end.code(), 0, "{kind:?}: {end:?}");
                let is_alike = end.result == world.ends[0].result;
                assert!(is_alike || kind == Kind::Gossip);
            }
            let published: usize = world.notes.published.iter().map(|one| one.len()).sum();
            assert_eq!(published, members * case::RELEASES as usize, "{kind:?}");
        }
    }
}

/// Says which seeds are run: `17`, or `1000..2000`.
const SEEDS: &str = "UNDERTONE_TEST_SEEDS";

/// Runs these seeds, or those that a variable names, and fails with the first that breaks a promise.
fn run(seeds: std::ops::Range<u64>) {
    let said = std::env::var(SEEDS).ok();
    let is_chosen = said.is_some();
    let seeds = said.map_or(seeds, |said| {
        let number = |text: &str| text.parse().expect("a number");
        match said.split_once("..") {
            Some((first, end)) => number(first)..number(end),
            None => number(&said)..number(&said) + 1,
        }
    });
    let next = std::sync::atomic::AtomicU64::new(seeds.start);
    let broken = std::sync::Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(8) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    let (found, told) = generator::play(seed);
                    if !found.is_empty() || (is_chosen && seeds.end == seeds.start + 1) {
                        println!("seed {seed}: {told}\n  {found:#?}");
                    }
                    if !found.is_empty() {
                        broken.lock().expect("no panic").push(seed);
                    }
                }
            });
        }
    });
    let broken = broken.into_inner().expect("no panic");
    assert!(broken.is_empty(), "{SEEDS}=N runs one of: {broken:?}");
}

#[test]
fn hostile_sessions_keep_every_promise() {
    run(0..500);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_hostile_sessions_keep_every_promise() {
    run(0..10_000);
}
