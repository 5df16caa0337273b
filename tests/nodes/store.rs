//! A ledger whose process is killed while it writes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use undertone::node::store::{Digest, Reservation, Square, StateDir, StateView};
use undertone::privacy::{Adjacency, Budget};
use undertone::session::MemberName;
use undertone::vocabulary::ReleaseId;

/// Names the state directory of the process that is killed.
const STATE: &str = "UNDERTONE_TEST_STATE";

/// The session it charges.
const SESSION: [u8; 32] = [7; 32];

fn charge() -> Square {
    Square::new(1e-6).expect("a square")
}

/// Not a test by itself: charges release after release, each as often as it likes, and says so once it is told that it may send.
#[test]
#[ignore = "run by the test below, in a process that is killed"]
fn charging_process() {
    let Some(state) = std::env::var_os(STATE) else {
        return;
    };
    let state = StateDir::open(state.as_ref()).expect("this process alone");
    let mut ledger = state.ledger().expect("a ledger that verifies");
    let budget = Budget::new(4.0, 1e-6).expect("a budget");
    let wanted = Reservation {
        session: Digest(SESSION),
        scope: "default".parse().expect("a scope"),
        adjacency: Adjacency::User,
        plain: true,
        mu_squared: Square::new(0.5).expect("a square"),
    };
    ledger.reserve(wanted, budget).expect("the same every time");
    let first = ledger.view().session(SESSION).expect("there").charged.len() as u32;
    // The release before may have been charged by the process before, which did not live to say so.
    for release in first.saturating_sub(1).. {
        ledger
            .charge(SESSION, ReleaseId(release), charge())
            .expect("within the reservation");
        let mut out = std::io::stdout().lock();
        writeln!(out, "may send {release}").expect("somebody reads");
        out.flush().expect("somebody reads");
    }
}

#[test]
fn whatever_may_have_left_is_charged_once_when_the_process_is_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("peer");
    drop(StateDir::init(&state, &MemberName::default()).expect("made"));
    let mut sent: Option<u32> = None;
    let mut torn = 0;
    for round in 0..20_u64 {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args([
                "--exact",
                "nodes::store::charging_process",
                "--ignored",
                "--nocapture",
            ])
            .env(STATE, &state)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let released =
            |line: String| -> Option<u32> { line.split("may send ").nth(1)?.trim().parse().ok() };
        // The first that it tells may be the last of the process before; the second is new.
        for told in lines
            .by_ref()
            .map(|line| line.expect("text"))
            .filter_map(released)
            .take(2)
        {
            sent = sent.max(Some(told));
        }
        // A moment that differs from round to round: SIGKILL, which nothing can prepare for.
        let until = Instant::now() + Duration::from_micros(300 + 1_117 * (round % 7));
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        child.kill().expect("ours");
        child.wait().expect("ours");
        for line in lines.map_while(Result::ok) {
            sent = sent.max(released(line));
        }
        let ledger = StateView::open(&state)
            .expect("a peer")
            .ledger()
            .expect("it verifies");
        torn += u32::from(ledger.torn() > 0);
        let account = ledger.session(SESSION).expect("reserved");
        let charged: Vec<u32> = account
            .charged
            .keys()
            .map(|(release, _)| release.0)
            .collect();
        // Every release once, none left out, and at most one that was not told.
        let last = sent.expect("it charges");
        let count = charged.len() as u32;
        assert_eq!(charged, (0..count).collect::<Vec<_>>());
        assert!(
            count == last + 1 || count == last + 2,
            "{count} charged, {last} sent"
        );
    }
    let sent = sent.expect("it charges");
    assert!(sent >= 20, "rounds without a new release: {sent}");
    // Torn lines are rare, and looked for elsewhere; none is an error.
    assert!(torn <= 20);
}
