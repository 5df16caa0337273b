//! Attacks of one hostile member, each by hand.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::actor::{Hands, Item};
use super::losses::{cut, flood, record, restated};
use super::script::Script;
use super::world::{MILLI, SECOND};
use super::*;
use crate::protocol::Body;
use crate::protocol::regroup::Record;
use crate::protocol::tolerant::Frame;
use crate::session::{Kind as Said, Reason, Roster, Signed, Statement};
use crate::vocabulary::Span;

/// The statement of an item.
fn statement(hands: &Hands<'_>, item: &Item) -> Option<Statement> {
    let Item::Statement(bytes) = item else {
        return None;
    };
    let read = Signed::read(bytes, hands.session, |_| true).ok()?;
    (read.from == hands.ids[hands.me]).then_some(read.statement)
}

/// Runs the session and says which promises were broken, and how all ended.
fn broken(world: &mut World) -> (Vec<String>, String) {
    world.run();
    let ends: Vec<String> = world
        .ends
        .iter()
        .map(|end| match &end.error {
            Some(error) => format!("h{}: {} {error}", end.member, end.code()),
            None => format!("h{}: 0", end.member),
        })
        .collect();
    (referee::judge(world), ends.join("\n"))
}

fn assert_kept(world: &mut World) {
    let (found, ends) = broken(world);
    assert_eq!(found, Vec::<String>::new(), "{ends}");
}

fn world(case: Case, hostile: usize, script: Script) -> World {
    World::new(case, 5, Some(hostile), Some(Box::new(script)))
}

/// A hostile member that cuts links instead of saying that it holds what was published, and states the largest number of retries.
fn overstated(kind: Kind) -> World {
    let mut world = world(Case::of(8, kind), 7, Script::default());
    world.overstates = true;
    assert_kept(&mut world);
    world
}

#[test]
fn a_count_of_retries_that_wraps_has_nobody_publish_a_try_twice() {
    overstated(Kind::Open);
}

#[test]
fn a_count_of_retries_that_wraps_charges_no_sealed_try_twice() {
    let world = overstated(Kind::Sealed);
    // Those that follow the protocol go on without it.
    let done = world.ends.iter().filter(|end| end.code() == 0).count();
    assert!(done >= 7, "{:?}", world.ends);
}

#[test]
fn an_attempt_that_there_is_not_has_nobody_sign_two_lists() {
    for kind in [Kind::Tree, Kind::Open] {
        for attempt in [2, 3, 255] {
            let script = Script::sends(move |hands, to, item| match statement(hands, &item) {
                Some(Statement::Roster(roster)) => {
                    let without = if hands.me == 0 { 1 } else { 0 };
                    let roster = Roster {
                        attempt,
                        members: roster.members & !(1 << without),
                        joins: [7; 32],
                    };
                    let bytes = hands.sign(Statement::Roster(roster));
                    hands.send(to, Item::Statement(bytes));
                }
                _ => hands.send(to, item),
            });
            assert_kept(&mut world(Case::of(4, kind), 3, script));
        }
    }
}

/// A member that withholds its number in the first attempt at a session file, and what it has heard there.
fn withholding(heard: &Rc<RefCell<Vec<Arc<[u8]>>>>, replays: Option<Said>) -> Script {
    let (tries, others) = (Rc::new(Cell::new(0)), Rc::clone(heard));
    let (counted, said) = (Rc::clone(&tries), Rc::clone(heard));
    Script::sends(move |hands, to, item| {
        let reveals = matches!(statement(hands, &item), Some(Statement::Reveal(_)));
        if !(reveals && tries.get() == 1) {
            hands.send(to, item);
        }
    })
    .hears(move |bytes| others.borrow_mut().push(Arc::clone(bytes)))
    .begins(move |hands| {
        counted.set(counted.get() + 1);
        if counted.get() == 2 && replays.is_some() {
            hands.times.push((0, Span(700 * MILLI)));
        }
    })
    .acts(move |hands, _| {
        for bytes in said.borrow().iter() {
            let read = Signed::read(bytes, hands.session, |_| true);
            if read.is_ok_and(|signed| Some(signed.statement.kind()) == replays) {
                hands.say_to_all(bytes);
            }
        }
    })
}

#[test]
fn statements_of_an_earlier_attempt_at_a_session_file_convict_nobody() {
    for replays in [
        None,
        Some(Said::Roster),
        Some(Said::Reveal),
        Some(Said::Gone),
    ] {
        for kind in KINDS {
            let members = if kind == Kind::Sealed { 6 } else { 4 };
            let heard = Rc::default();
            let script = withholding(&heard, replays);
            let mut world = world(Case::of(members, kind), 2, script);
            assert_kept(&mut world);
            world.restore(2);
            world.now = world.now + Span(SECOND);
            assert_kept(&mut world);
        }
    }
}

/// Numbers that were revealed are known: whoever may commit to another one then chooses the beacon.
#[test]
fn nobody_commits_again_once_the_others_have_revealed() {
    for kind in [Kind::Tree, Kind::Gossip] {
        let heard = Rc::default();
        let mut world = world(Case::of(4, kind), 1, withholding(&heard, None));
        assert_kept(&mut world);
        world.restore(1);
        world.now = world.now + Span(SECOND);
        let (_, ends) = broken(&mut world);
        let mut honest = world.ends.iter().filter(|end| end.member != 1);
        assert!(honest.all(|end| end.result.is_none()), "{ends}");
    }
}

#[test]
fn an_accusation_is_nobodys_but_its_authors() {
    for kind in KINDS {
        let members = if kind == Kind::Sealed { 6 } else { 4 };
        let has_said = Cell::new(false);
        let script = Script::sends(move |hands, to, item| {
            if !matches!(item, Item::Statement(_)) && !has_said.replace(true) {
                let bytes = hands.sign(Statement::Gone {
                    reason: Reason::Lost,
                    about: Some(hands.ids[1]),
                    text: "signed two different frames for one place of the protocol".to_owned(),
                    is_final: true,
                });
                hands.say_to_all(&bytes);
            }
            hands.send(to, item);
        });
        let mut world = world(Case::of(members, kind), 3, script);
        assert_kept(&mut world);
        let is_plain = !kind.tolerates();
        let ended = |end: &&world::Ended| end.member != 3 && end.code() == 1;
        let ended = world.ends.iter().filter(ended).count();
        assert_eq!(ended > 0, is_plain, "{:?}", world.ends);
    }
}

/// The hostile member's sums, by what is made of them for whom.
fn sums(change: impl Fn(usize, &mut [f64]) + 'static) -> Script {
    Script::sends(move |hands, to, item| {
        let item = match item {
            Item::Message(mut message) => {
                if let Body::Average(values) = &message.body {
                    let mut values = values.to_vec();
                    change(to, &mut values);
                    message.body = Body::Average(Arc::new(values));
                }
                Item::Message(message)
            }
            Item::Frame(Frame::Published { attempt, input }) => {
                let mut values = input
                    .reals()
                    .map(|values| values.to_vec())
                    .unwrap_or_default();
                change(to, &mut values);
                let input = crate::protocol::Summand::Reals(Arc::new(values));
                Item::Frame(Frame::Published { attempt, input })
            }
            other => other,
        };
        hands.send(to, item);
    })
}

#[test]
fn numbers_at_the_end_of_what_there_is_end_a_session_without_blame_of_the_honest() {
    for kind in [Kind::Tree, Kind::Gossip, Kind::Open] {
        for value in [1.7e308, 1e200, 1e160] {
            for hostile in 0..4 {
                let script = sums(move |_, values| {
                    for (at, x) in values.iter_mut().enumerate() {
                        *x = if at % 3 == 0 { -value } else { value };
                    }
                });
                assert_kept(&mut world(Case::of(4, kind), hostile, script));
            }
        }
    }
}

#[test]
fn two_blocks_for_one_place_convict_whoever_sent_them() {
    let mut convicted = 0;
    for hostile in 0..4 {
        for favoured in (0..4).filter(|to| *to != hostile) {
            let script = sums(move |to, values| {
                if to == favoured {
                    values.iter_mut().for_each(|x| *x += 50.0);
                }
            });
            let mut world = world(Case::of(4, Kind::Tree), hostile, script);
            assert_kept(&mut world);
            let found = referee::convictions(&world);
            assert!(
                found.iter().all(|id| *id == world.ids[hostile]),
                "{found:?}"
            );
            convicted += found.len();
        }
    }
    // Whoever hands the sum to two neighbours can give them two.
    assert!(convicted > 0);
}

#[test]
fn one_member_that_says_that_all_have_finished_ends_nothing() {
    for kind in [Kind::Open, Kind::Sealed] {
        let has_said = Cell::new(false);
        let script = Script::sends(move |hands, to, item| {
            if matches!(item, Item::Frame(_))
                && !has_said.replace(true)
                && let Some(lossy) = hands.lossy()
            {
                let origin = lossy.setup.me;
                flood(hands, Record::Finished { origin });
            }
            hands.send(to, item);
        });
        let mut world = world(Case::of(8, kind), 7, script);
        assert_kept(&mut world);
    }
}

/// After a cut link everybody states where it stands, and the hostile member states two things.
#[test]
fn two_statements_that_contradict_each_other_are_kept_as_evidence() {
    for kind in [Kind::Open, Kind::Sealed] {
        let case = Case {
            retries: 1,
            ..Case::of(8, kind)
        };
        let has_cut = Cell::new(false);
        let script = Script::sends(move |hands, to, item| {
            if matches!(item, Item::Frame(Frame::Step { .. })) && !has_cut.replace(true) {
                cut(hands);
            }
            let other = restated(hands, item.clone(), |statement| statement.retries += 1);
            let states = record(hands, &item);
            let states = states.is_some_and(|one| matches!(one, Record::Statement { .. }));
            hands.send(to, item);
            if states {
                hands.send(to, other);
            }
        });
        let mut world = world(case, 7, script);
        assert_kept(&mut world);
        let (ends, named) = (&world.ends, &world.notes.named);
        assert!(
            !world.notes.proofs.is_empty(),
            "{kind:?}: {ends:#?} {named:?}"
        );
        let kept = referee::convictions(&world);
        assert!(kept.contains(&world.ids[7]), "{kept:?}");
    }
}

#[test]
fn a_key_that_gives_no_secret_is_refused_with_the_join() {
    for kind in KINDS {
        let members = if kind == Kind::Sealed { 7 } else { 4 };
        let mut world = world(Case::of(members, kind), 2, Script::default());
        world.join = Some(Box::new(|join| join.ephemeral = [0; 32]));
        assert_kept(&mut world);
        assert!(world.notes.published.iter().all(|one| one.is_empty()) || kind.tolerates());
    }
}
