//! A disk that refuses one write, or a process that is killed there, at every write of a session in turn.
//!
//! Whatever the write, the member that is started again has the result if the others have one, and what it says of its charges is what its ledger has.

use std::sync::Mutex;

use super::*;
use crate::node::store::{Record, SessionEnd};
use crate::node::tests::beside_one_another;
use crate::writing::read_block;

/// Tolerates one loss, in as few writes as possible.
const SHORT: Lossy = Lossy::of(5, 1, 3);

/// Writes of a session that goes on until all have agreed on its list. A member that is not ready ends it for all: the list of these sessions is of all who are invited.
const UNTIL_READY: usize = 9;

/// Seconds in which a member that is started again meets the others, if they have not left: they have joined.
const REJOINS: &str = "15";

/// Failures at every write, or every `step`th: refused once, and killed.
fn failures(writes: std::ops::Range<usize>, step: usize) -> Vec<String> {
    let at = writes.step_by(step);
    at.flat_map(|at| [format!("{at}+1"), format!("{at}!")])
        .collect()
}

/// Waits for one process.
fn await_one(child: &mut Child) {
    let until = Instant::now() + LIMIT;
    while child.try_wait().expect("a child").is_none() {
        if Instant::now() > until {
            drop(child.kill());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// That what this member says it has charged stands in its ledger.
fn assert_truthful(group: &Group, state: &str, said: &str) {
    let view = StateView::open(&group.path().join(state)).expect("a peer");
    let ledger = view.ledger().expect("it verifies");
    let charged = ledger.sessions().next();
    let charged = charged.map_or(0, |(_, account)| account.charged.len());
    if said.contains("charged (mu^2") {
        assert!(said.contains(&format!(" {charged} releases)")), "{said}");
    }
    if said.contains("has charged nothing") {
        assert_eq!(charged, 0, "{said}");
    }
}

/// The result that this member has on its disk, of its own or from the others.
fn kept(group: &Group, state: &str) -> Option<Block> {
    let view = StateView::open(&group.path().join(state)).expect("a peer");
    let files = view.sessions().expect("listed");
    let folder = files.first()?.path().to_path_buf();
    let read = |file: &str| read_block(&folder.join(file)).ok();
    read("basis.npy").or_else(|| read("late-basis.npy"))
}

/// Whether the victim has what the others have, if they have something; whether they have.
fn has_theirs(group: &Group, victim: usize, why: &str) -> bool {
    let others = group.states.iter().enumerate();
    let others = others.filter(|(peer, _)| *peer != victim);
    let bases = others.filter_map(|(_, state)| kept(group, state));
    let bases: Vec<Block> = bases.collect();
    let Some(basis) = bases.first() else {
        return false;
    };
    assert_eq!(bases.len(), group.states.len() - 1, "{why}");
    let own = kept(group, &group.states[victim]);
    let own = own.unwrap_or_else(|| panic!("no result: {why}"));
    assert_eq!(own.digest(), basis.digest(), "{why}");
    true
}

/// How many writes a member of a session that goes well has done.
fn counted(group: &Group) -> usize {
    let path = group.path().join(format!("{}.writes", group.states[1]));
    let text = fs::read_to_string(path).expect("counted");
    text.parse().expect("a number")
}

/// Sessions that end when somebody is lost.
fn plain(step: usize) {
    let whole = Group::new(3, "tree");
    assert!(
        whole
            .run(|_| Scene::Deployed)
            .iter()
            .all(|end| end.starts_with("0 "))
    );
    let had = Mutex::new(0);
    let failures = failures(0..counted(&whole), step);
    let most = failures.len();
    beside_one_another(failures, |room| {
        let plan = toml::Table::from_iter([("averaging".to_owned(), "tree".into())]);
        let group = Group::planned(3, plan, (4, 60));
        let states = group.states.iter().zip(["", room.as_str(), ""]);
        let mut running: Vec<Child> = states
            .map(|(state, room)| group.start_with_room(state, Scene::Deployed, room))
            .collect();
        await_one(&mut running[1]);
        let state = &group.states[1];
        let end = group.path().join(format!("{state}.end"));
        let first = fs::read_to_string(end).unwrap_or_default();
        assert_truthful(&group, state, &first);
        if !first.starts_with("0 ") {
            running[1] = group.start_with(state, Scene::Deployed, &[(CLOSES, REJOINS)]);
        }
        running.iter_mut().for_each(await_one);
        let ends: Vec<String> = group.states.iter().map(|state| group.end(state)).collect();
        assert_truthful(&group, state, &ends[1]);
        let why = format!("{room}: {first}, then {ends:?}");
        *had.lock().expect("whole") += usize::from(has_theirs(&group, 1, &why));
    });
    let had = had.into_inner().expect("whole");
    assert!(
        had > 0 && had < most,
        "{had} of {most} sessions had a result"
    );
}

/// Sessions that go on.
fn tolerant(step: usize) {
    let mut whole = Play::begin(SHORT, &[]);
    let ends = whole.ends(Duration::from_secs(60));
    assert_eq!(check(&whole, &ends).len(), 5);
    let had = Mutex::new(0);
    let failures = failures(UNTIL_READY..counted(&whole.group), step);
    let most = failures.len();
    beside_one_another(failures, |room| {
        let mut play = Play::begin(SHORT, &[(1, ROOM, &room)]);
        await_one(play.running[1].as_mut().expect("it runs"));
        let state = play.group.states[1].clone();
        let end = play.group.path().join(format!("{state}.end"));
        let first = fs::read_to_string(end).unwrap_or_default();
        assert_truthful(&play.group, &state, &first);
        if !first.starts_with("0 ") {
            play.again(1);
        }
        let ends = play.ends(Duration::from_secs(60));
        assert_truthful(&play.group, &state, ends[1].as_deref().unwrap_or_default());
        let why = format!("{room}: {first}, then {:?}", ends[1]);
        *had.lock().expect("whole") += usize::from(has_theirs(&play.group, 1, &why));
    });
    let had = had.into_inner().expect("whole");
    assert_eq!(had, most, "{had} of {most} sessions had a result");
}

#[test]
fn a_disk_that_is_full_at_any_third_write_costs_no_result_that_others_have() {
    plain(3);
}

#[test]
fn where_others_go_on_a_disk_that_is_full_at_any_seventh_write_costs_no_result() {
    tolerant(7);
}

/// One that is killed between its result and the end in ledger or journal has the result where others go on, too: started again it says so, charges nothing
/// more, and keeps no secret.
#[test]
fn where_others_go_on_a_member_killed_after_its_result_has_it() {
    let mut whole = Play::begin(SHORT, &[]);
    let ends = whole.ends(Duration::from_secs(60));
    assert_eq!(check(&whole, &ends).len(), 5);
    let all = counted(&whole.group);
    beside_one_another([all - 2, all - 1], |at| {
        let mut play = Play::begin(SHORT, &[(1, ROOM, &format!("{at}!"))]);
        await_one(play.running[1].as_mut().expect("it runs"));
        let folder = play.group.path().join(&play.group.states[1]);
        let records = || {
            let files = StateView::open(&folder).expect("a peer").sessions();
            let records = files.expect("listed").remove(0).records();
            records.expect("readable")
        };
        let last = records().pop();
        assert!(
            matches!(last, Some(Record::Result { .. })),
            "{at}: {last:?}"
        );
        let (charged, _) = play.charged(1);
        play.again(1);
        let ends = play.ends(Duration::from_secs(60));
        assert_eq!(ends[1].as_deref(), Some("before"), "{at}");
        let outcome = SessionEnd::Done;
        assert_eq!(records().pop(), Some(Record::End { outcome }));
        assert_eq!(play.charged(1), (charged, Some(outcome)));
        let session = StateView::open(&folder).expect("a peer").sessions();
        let session = session.expect("listed").remove(0).path().to_path_buf();
        assert!(session.join("basis.npy").is_file());
        for secret in ["own.key", "recovery.bin"] {
            assert!(!session.join(secret).exists(), "{at}: {secret}");
        }
    });
}

#[test]
#[ignore = "every write in turn, minutes: cargo test --lib disks::every_write -- --ignored"]
fn every_write() {
    plain(1);
    tolerant(1);
}
