//! `kill -9` of a participant while the others agree on the session: those of a session that tolerates losses go on without it.

use std::time::{Duration, Instant};

use super::group::Group;

const MEMBERS: usize = 7;
const LIMIT: Duration = Duration::from_secs(60);
/// How long the agreement takes after all have joined, or longer.
const AGREEMENT: Duration = Duration::from_millis(250);

/// Kills one of seven, of whom one may be lost, so long after it has seen that all have joined, and starts it again. Returns whether it had agreed.
fn killed(victim: usize, after: Duration) -> bool {
    let tables = "[topology]\ngenerator = \"complete\"\n[algorithm]\nkind = \"power\"\nrank = 2\niterations = 6\n\
                  [dropouts]\ntolerate = 1\nretries = 1\npublish = \"sealed\"\n";
    let invite = [
        "--grace",
        "2",
        "--step-limit",
        "10",
        "--linger",
        "2",
        "--min-peers",
        "6",
    ];
    let group = Group::planned(MEMBERS, tables, &invite);
    for member in 0..MEMBERS {
        let path = format!("member-{member}/policy.toml");
        let text = std::fs::read_to_string(group.path(&path)).expect("a policy");
        group.write(&path, &text.replace("max_retries = 0", "max_retries = 2"));
    }
    let mut running: Vec<_> = (0..MEMBERS)
        .map(|member| Some(group.start(member)))
        .collect();
    let until = Instant::now() + LIMIT;
    let says = |line: &str| {
        let running = running[victim].as_ref();
        running.is_some_and(|one| one.said().contains(line))
    };
    while !says("all have joined") {
        assert!(Instant::now() < until, "they never joined");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(after);
    let had_agreed = says("agreed");
    running[victim].take().expect("it runs").kill();
    let again = group.start_in(victim, "session.toml", MEMBERS);
    let mut basis = None;
    for (member, running) in running.into_iter().enumerate() {
        let Some(running) = running else { continue };
        let left = running.left(LIMIT);
        assert_eq!(left.code, Some(0), "{member}, {after:?}: {}", left.errors);
        let own = group.basis(member);
        assert!(own.is_some() && (basis.is_none() || basis == own));
        basis = own;
    }
    // It goes on with the others, or they have gone on without it and hand their result over.
    let left = again.left(LIMIT);
    let its = match left.code {
        Some(0) => group.basis(victim),
        _ => group.late_basis(victim),
    };
    assert!(
        matches!(left.code, Some(0 | 3)),
        "{after:?}: {}",
        left.errors
    );
    assert_eq!(its, basis, "{after:?}: {}", left.errors);
    had_agreed
}

/// Kills at moments that are spread evenly over the agreement.
fn kills(runs: u32) {
    let mut before = 0;
    for run in 0..runs {
        let share = (f64::from(run) * 0.618_033_988_749_895).fract();
        let had_agreed = killed(run as usize % MEMBERS, AGREEMENT.mul_f64(share));
        before += u32::from(!had_agreed);
    }
    println!("{before} of {runs} were killed before they had agreed");
    assert!(before > 0, "no kill hit the agreement");
}

#[test]
fn three_kills_while_others_agree() {
    kills(3);
}

#[test]
#[ignore = "three minutes: cargo test --test main nodes::agreement::twenty_kills -- --ignored --nocapture"]
fn twenty_kills() {
    kills(20);
}
