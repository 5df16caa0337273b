//! A disk that refuses a write at the end of a session, or a process that is killed there.

use super::*;
use crate::node::store::{Record, SessionEnd};

/// Writes of the end: the last release, the result's digest, receipt, signature and basis, then the end in ledger and journal.
const AT_THE_END: usize = 7;

/// Waits for processes to end.
fn await_all(mut running: Vec<Child>) {
    let until = Instant::now() + LIMIT;
    while !running
        .iter_mut()
        .all(|child| child.try_wait().expect("a child").is_some())
    {
        if Instant::now() > until {
            running.iter_mut().for_each(|child| drop(child.kill()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// How many writes a session takes that goes well.
fn writes_of(members: u16) -> usize {
    let group = Group::new(members, "tree");
    let ends = group.run(|_| Scene::Deployed);
    assert!(ends.iter().all(|end| end.starts_with("0 ")), "{ends:?}");
    let counts = group.states.iter().map(|state| {
        let path = group.path().join(format!("{state}.writes"));
        let text = fs::read_to_string(path).expect("counted");
        text.parse::<usize>().expect("a number")
    });
    let counts: BTreeSet<_> = counts.collect();
    assert_eq!(counts.len(), 1, "{counts:?}");
    counts.into_iter().next().expect("one")
}

/// That this member has its result on the disk, and its end in ledger and journal.
fn assert_kept(group: &Group, state: &str) {
    let view = StateView::open(&group.path().join(state)).expect("a peer");
    let ledger = view.ledger().expect("it verifies");
    let (_, account) = ledger.sessions().next().expect("a session");
    assert_eq!(account.ended, Some(SessionEnd::Done), "{state}");
    assert_eq!(account.charged.len(), ITERATIONS as usize);
    let files = view.sessions().expect("listed").remove(0);
    let end = Record::End {
        outcome: SessionEnd::Done,
    };
    assert_eq!(files.records().expect("readable").last(), Some(&end));
    for file in ["basis.npy", "receipt.json", "receipt.json.sig"] {
        assert!(files.path().join(file).is_file(), "{state}: {file}");
    }
    assert!(!files.path().join("own.key").exists(), "{state}");
}

/// Every write of the end fails at one of the members: all have the result, since those that have it wait for those whose disk has no room.
#[test]
fn a_full_disk_at_any_write_of_the_end_costs_no_result() {
    let first = writes_of(3) - AT_THE_END;
    let group = Group::new(AT_THE_END as u16, "tree");
    let running = group.states.iter().enumerate();
    let running = running.map(|(peer, state)| {
        let room = format!("{}+1", first + peer);
        group.start_with_room(state, Scene::Deployed, &room)
    });
    await_all(running.collect());
    let bases = group.states.iter().map(|state| words(&group.end(state)).0);
    let bases: BTreeSet<_> = bases.collect();
    assert_eq!(bases.len(), 1);
    group
        .states
        .iter()
        .for_each(|state| assert_kept(&group, state));
}

/// A disk that stays full: the member says what it has charged, and the others have the result.
#[test]
fn a_disk_that_stays_full_at_the_end_is_named_with_what_was_charged() {
    let first = writes_of(3) - AT_THE_END;
    let plan = toml::Table::from_iter([("averaging".to_owned(), "tree".into())]);
    let group = Group::planned(3, plan, (4, 60));
    let full = first.to_string();
    let running = group.states.iter().zip(["", full.as_str(), ""]);
    let running = running.map(|(state, room)| group.start_with_room(state, Scene::Deployed, room));
    await_all(running.collect());
    let ends: Vec<_> = group.states.iter().map(|state| group.end(state)).collect();
    assert!(
        ends[0].starts_with("0 ") && ends[2].starts_with("0 "),
        "{ends:?}"
    );
    let said = "(mu^2 = 0.20000 for 3 releases) stays charged";
    assert!(
        ends[1].starts_with("4 ") && ends[1].contains(said),
        "{ends:?}"
    );
    // Started again, too.
    let again = group.start(&group.states[1], Scene::Deployed);
    await_all(vec![again]);
    let end = group.end(&group.states[1]);
    assert!(end.starts_with("1 ") && end.contains(said), "{end}");
}

/// What decides is the journal: one that was killed between its result and the end in ledger and journal has a result.
#[test]
fn a_member_killed_after_its_result_has_it() {
    let writes = writes_of(3);
    let plan = toml::Table::from_iter([("averaging".to_owned(), "tree".into())]);
    let group = Group::planned(3, plan, (4, 60));
    let rooms = [
        format!("{}!", writes - 2),
        format!("{}!", writes - 1),
        String::new(),
    ];
    let running = group.states.iter().zip(&rooms);
    let running = running.map(|(state, room)| group.start_with_room(state, Scene::Deployed, room));
    await_all(running.collect());
    for state in &group.states[..2] {
        await_all(vec![group.start(state, Scene::Deployed)]);
        assert_eq!(group.end(state), "before");
        assert_kept(&group, state);
    }
}
