//! One member that follows the protocol but for what it tells the others: nobody honest publishes twice in a try, pays beyond the plan, is named, or is told a wrong end.

use std::collections::BTreeSet;

use super::super::defect::Defect;
use super::super::interface::Input;
use super::super::record::{Record, Statement};
use super::super::signed::Signed;
use super::Marks;
use super::model::Network;
use super::promises::{Broken, Story};
use super::schedules::{Mutant, Schedule};
use crate::protocol::SessionId;
use crate::protocol::regroup::{Attempt, ViewNumber};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// A change of a statement and its number.
type Change = fn(&mut u64, &mut Statement);

/// What a hostile member does otherwise than others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attack {
    /// How often it cuts a link of its own instead of saying that it holds what was published.
    pub(super) cuts: u32,
    /// What its statements say.
    change: Option<Change>,
    /// Whether it states what it would have as well, under the same number.
    is_double: bool,
    /// After which release it says that all have finished.
    end_after: Option<u32>,
}

/// It cuts links, and nothing else.
const CUTS: Attack = Attack {
    cuts: 2,
    change: None,
    is_double: false,
    end_after: None,
};

const SESSION: SessionId = SessionId([1; 16]);

fn signed(by: usize, record: Record) -> Signed {
    let bytes = record.signed_bytes(SESSION, |_| None);
    let signature = Marks::of(PeerIndex::from_index(by)).sign(&bytes.expect("not of a view"));
    Signed { record, signature }
}

impl Attack {
    /// What it says instead of this record.
    pub(super) fn said(&self, by: usize, honest: Signed) -> Vec<Signed> {
        let (
            Some(change),
            Record::Statement {
                origin,
                serial,
                statement,
            },
        ) = (self.change, &honest.record)
        else {
            return vec![honest];
        };
        if origin.index() != by {
            return vec![honest];
        }
        let (mut serial, mut statement) = (*serial, statement.clone());
        change(&mut serial, &mut statement);
        let origin = *origin;
        let record = Record::Statement {
            origin,
            serial,
            statement,
        };
        let changed = signed(by, record);
        match self.is_double {
            true => vec![honest, changed],
            false => vec![changed],
        }
    }

    /// Whether it says now that all have finished.
    pub(super) fn says_the_end(&self, input: &Input) -> bool {
        match input {
            Input::Start => self.end_after == Some(0),
            Input::Averaged(release) => self.end_after == Some(release.0),
            _ => false,
        }
    }

    /// Its word that all have finished.
    pub(super) fn the_end(by: usize) -> Signed {
        let origin = PeerIndex::from_index(by);
        signed(by, Record::Finished { origin })
    }
}

/// What came of it among eight, for every place of the hostile member.
fn stories(attack: Attack, (retries, is_open): (u32, bool), defect: Option<Defect>) -> Vec<Story> {
    let run = |hostile: usize| {
        let seed = 31 * hostile as u64 + u64::from(retries);
        let mut schedule = Schedule::attacked(seed, (8, retries), is_open, (hostile, attack));
        schedule.mutant = defect.map(Mutant::Member);
        Network::run(schedule)
    };
    (0..8).map(run).collect()
}

fn broken(stories: &[Story]) -> BTreeSet<Broken> {
    stories
        .iter()
        .flat_map(|story| story.broken.iter().copied())
        .collect()
}

/// Every number of a statement, beyond what a member can state.
const IMPOSSIBLE: [(&str, Change); 14] = [
    ("retries that wrap", |_, one| one.retries = u32::MAX),
    ("retries that nearly wrap", |_, one| {
        one.retries = u32::MAX - 1
    }),
    ("more retries than the plan has", |_, one| one.retries = 3),
    ("as many retries as things went wrong", |_, one| {
        one.retries = one.disruptions.count() as u32;
    }),
    ("a release after the last", |_, one| one.done = ReleaseId(4)),
    ("all releases", |_, one| one.done = ReleaseId(u32::MAX)),
    ("the largest serial number", |serial, _| *serial = u64::MAX),
    ("a serial number of 0", |serial, _| *serial = 0),
    ("a certificate beyond the last release", |_, one| {
        one.certified.push(at(5, 0, 0));
    }),
    ("a certificate of the last number", |_, one| {
        one.certified.push(at(u32::MAX, u32::MAX, u64::MAX));
    }),
    ("certificates that are not ascending", |_, one| {
        one.certified = vec![at(2, 0, 0), at(1, 0, 0)];
    }),
    ("a contribution to a view that nobody decided", |_, one| {
        one.sent = Some(at(1, 0, u64::MAX));
    }),
    ("a contribution to no release", |_, one| {
        one.sent = Some(at(0, 0, 0))
    }),
    ("restarts beyond all", |_, one| {
        one.disruptions.restarts[0] = u8::MAX
    }),
];

fn at(release: u32, retry: u32, view: u64) -> Attempt {
    Attempt {
        release: ReleaseId(release),
        retry,
        view: ViewNumber(view),
    }
}

/// The others have published and are read, and the hostile member cuts a link instead of saying that it holds what they published: no number that it states has anybody publish again in
/// the same try, or pay for more than the plan has. The links to it are cut, as if it had left.
#[test]
fn no_statement_makes_anybody_publish_twice_in_one_try() {
    for (what, change) in IMPOSSIBLE {
        for (retries, is_open) in [(0, true), (2, true), (0, false), (2, false)] {
            let attack = Attack {
                change: Some(change),
                ..CUTS
            };
            let stories = stories(attack, (retries, is_open), None);
            let found = broken(&stories);
            assert!(
                found.is_empty(),
                "{what}, {retries} retries, open: {is_open}: {found:?}"
            );
            for story in &stories {
                assert!(story.refused > 0, "{what}: {story:?}");
                // What was published in the open is paid for again, where a retry is left.
                let is_paid = retries > 0 || !is_open;
                let end = if is_paid { "finished" } else { "lost" };
                assert_eq!(story.ends.get(end), Some(&7), "{what}: {story:?}");
            }
        }
    }
}

/// What others state does not have to be wrong: where no statement says what was sent, nobody charges a try anew, and every member that had published refuses by itself.
#[test]
fn whoever_has_published_refuses_whatever_others_state() {
    let kept = stories(CUTS, (2, true), Some(Defect::ForgetsSent));
    assert_eq!(broken(&kept), BTreeSet::new());
    assert!(
        kept.iter()
            .all(|story| story.ends.contains_key("published")),
        "{kept:?}"
    );
    let defect = stories(CUTS, (2, true), Some(Defect::PublishesAgain));
    assert!(broken(&defect).contains(&Broken::Twice));
}

/// One member says that all have finished: at the beginning, in the middle, and when it has all sums itself. It is without those who hear it, and they all finish.
#[test]
fn one_member_that_says_that_all_have_finished_is_alone_with_that() {
    for release in 0..=3 {
        for is_open in [true, false] {
            let attack = Attack {
                cuts: 0,
                end_after: Some(release),
                ..CUTS
            };
            let stories = stories(attack, (1, is_open), None);
            assert_eq!(broken(&stories), BTreeSet::new(), "after {release}");
            for story in &stories {
                assert_eq!(story.ends.get("finished"), Some(&7), "{release}: {story:?}");
            }
        }
    }
    let attack = Attack {
        cuts: 0,
        end_after: Some(0),
        ..CUTS
    };
    let defect = stories(attack, (1, true), Some(Defect::BelievesTheEnd));
    assert!(broken(&defect).contains(&Broken::Early));
}

/// Two statements of one number, both of which a member could make, name who made them and nobody else.
#[test]
fn who_states_two_things_is_named_by_all() {
    let attack = Attack {
        change: Some(|_, one| one.done = ReleaseId((one.done.0 + 1) % 3)),
        is_double: true,
        ..CUTS
    };
    for (retries, is_open) in [(2, true), (2, false)] {
        let stories = stories(attack, (retries, is_open), None);
        assert_eq!(broken(&stories), BTreeSet::new());
        assert!(stories.iter().all(|story| story.proofs > 0), "{stories:?}");
    }
}

/// The same lies where others crash, come back and are suspected without a reason.
#[test]
fn lies_among_crashes_cost_nobody_what_was_not_planned() {
    let lies = IMPOSSIBLE.map(|(_, change)| Some(change));
    let (mut refused, mut again, mut red) = (0, 0, Vec::new());
    for seed in 0..400 {
        let attack = Attack {
            cuts: (seed % 3) as u32,
            change: lies
                .get(seed as usize % (lies.len() + 4))
                .copied()
                .flatten(),
            is_double: seed % 5 == 0,
            end_after: [None, Some(0), Some(1), Some(2)][seed as usize % 4],
        };
        let mut schedule = Schedule::of(seed, None);
        let hostile = schedule.crashes.keys().next().map_or(0, |peer| peer + 1);
        schedule.hostile = Some((hostile % 5, attack));
        let story = Network::run(schedule);
        refused += story.refused;
        again += story.attempts_again;
        if !story.broken.is_empty() {
            red.push((seed, story.broken));
        }
    }
    println!("{refused} refused, {again} attempts again");
    assert!(red.is_empty(), "{red:?}");
    assert!(refused > 100 && again > 200);
}
