//! `kill -9` of any process at any moment: everybody else ends, names the culprit, and has paid for what left and no more.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::group::Group;

/// Seconds that a lost connection may take to come back.
const GRACE: u64 = 2;

/// Releases of a session: enough that it takes about half a second.
const ITERATIONS: u32 = 60;

/// What one kill came to.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum Came {
    /// Too late: everybody had the result.
    Done,
    /// Some had it, the others ended.
    Mixed,
    /// Nobody had it.
    Ended,
    /// The others waited for it to join again, and all had it.
    Back,
}

/// When somebody is killed.
#[derive(Clone, Copy, Debug)]
enum When {
    /// So long after the start, whatever it does then.
    After(Duration),
    /// When it says that it has charged this release.
    Charged(u32),
}

/// Who takes part in the sessions of a campaign, and how long one takes.
#[derive(Clone, Copy)]
struct Sessions {
    members: usize,
    /// Of how many others each is a neighbour; of all where nothing is said.
    degree: Option<usize>,
    longest: Duration,
}

const FOUR: Sessions = Sessions {
    members: 4,
    degree: None,
    longest: Duration::from_millis(700),
};

/// Kills one of the members; the others must end within the limit.
fn killed(sessions: Sessions, victim: usize, when: When, iterations: u32) -> (Came, u64) {
    let members = sessions.members;
    let grace = GRACE.to_string();
    let invite = ["--grace", &grace, "--step-limit", "10", "--linger", "20"];
    let group = match sessions.degree {
        None => Group::new(members, iterations, &invite),
        Some(degree) => {
            let topology =
                format!("generator = \"random-regular\"\ndegree = {degree}\nseed = \"beacon\"");
            let algorithm = format!("kind = \"power\"\nrank = 2\niterations = {iterations}");
            let tables = format!("[topology]\n{topology}\n[algorithm]\n{algorithm}\n");
            Group::planned(members, &tables, &invite)
        }
    };
    let mut running: Vec<_> = (0..members)
        .map(|member| Some(group.start(member)))
        .collect();
    match when {
        When::After(after) => std::thread::sleep(after),
        When::Charged(release) => {
            let (line, until) = (
                format!("release {release} of "),
                Instant::now() + Duration::from_secs(30),
            );
            let is_said = || {
                running[victim]
                    .as_ref()
                    .is_some_and(|one| one.said().contains(&line))
            };
            while !is_said() {
                assert!(Instant::now() < until, "it never charged release {release}");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
    running[victim].take().expect("there").kill();
    let since = Instant::now();
    let mut codes = Vec::new();
    let mut basis = None;
    let mut comes_back = None;
    for (member, running) in running.into_iter().enumerate() {
        let Some(running) = running else { continue };
        let mut running = running;
        if comes_back.is_none() && !running.ends_within(Duration::from_secs(GRACE + 12)) {
            // Nobody had agreed on anything: the others wait for the victim until the session closes, and it comes back.
            assert_eq!(group.charged(victim).0, 0);
            comes_back = Some(group.start(victim));
        }
        let left = running.left(Duration::from_secs(45));
        codes.push(left.code);
        match left.code {
            Some(0) => {
                let own = group.basis(member);
                assert!(own.is_some());
                assert!(basis.is_none() || basis == own, "two results");
                basis = own;
            }
            Some(1) => {
                let name = format!("member-{victim}");
                assert!(left.errors.contains(&name), "{}", left.errors);
                assert!(group.basis(member).is_none());
            }
            other => panic!("{other:?}: {}", left.errors),
        }
    }
    if let Some(victim) = comes_back {
        let left = victim.left(Duration::from_secs(45));
        codes.push(left.code);
        assert!(codes.iter().all(|code| *code == Some(0)), "{}", left.errors);
        return (Came::Back, u64::from(iterations));
    }
    let limit = Duration::from_secs(GRACE + 12);
    assert!(since.elapsed() < limit, "{:?}", since.elapsed());
    // Ledgers: every release that left is charged once, at its price, and nothing that did not leave by more than one.
    let whole = 1.5_f64;
    let mut most = 0;
    for member in 0..members {
        let ledger = group.ledger(member);
        let session = &ledger["sessions"][0];
        let (releases, charged) = (session["releases"].as_u64(), session["charged"].as_f64());
        let (releases, charged) = (releases.unwrap_or(0), charged.unwrap_or(0.0));
        let reserved = session["reserved"].as_f64().unwrap_or(0.0);
        let price = reserved / f64::from(iterations);
        assert!(
            (charged - price * releases as f64).abs() <= 1e-9 * whole,
            "{session}"
        );
        assert!(charged <= reserved * (1.0 + 1e-9));
        if member != victim && codes.iter().all(|code| *code == Some(0)) {
            assert_eq!(releases, u64::from(iterations));
        }
        most = most.max(releases);
    }
    // The victim comes back: it may print a result, or say that the session is over; it charges nothing more.
    let before = group.charged(victim).0;
    let began = before > 0;
    if began {
        let (code, errors) = group.refused(victim, "session.toml");
        assert!(matches!(code, Some(0 | 1)), "{code:?} {errors}");
        let (releases, _, ended) = group.charged(victim);
        assert_eq!(releases, before);
        assert!(ended.is_some(), "{errors}");
        // And once more it says the same.
        let again = group.refused(victim, "session.toml");
        assert_eq!(again.0, code);
        assert_eq!(group.charged(victim).0, before);
    }
    let done = codes.iter().filter(|code| **code == Some(0)).count();
    let came = match done {
        0 => Came::Ended,
        _ if done == codes.len() => Came::Done,
        _ => Came::Mixed,
    };
    (came, most)
}

/// Processes whose sessions go on at the same time: each session waits for a lost connection most of the time.
const AT_ONCE: usize = 12;

/// Kills at moments that are spread evenly over the life of a session: every other one by the clock, which on a slow machine is early, and
/// every other one by the release that is due.
fn kills(sessions: Sessions, runs: u32) {
    let all = Mutex::new(BTreeMap::new());
    let [next, middle] = [const { AtomicU32::new(0) }; 2];
    let one_after_another = || {
        loop {
            let run = next.fetch_add(1, Ordering::Relaxed);
            if run >= runs {
                return;
            }
            // The golden ratio spreads any number of moments evenly.
            let share = (f64::from(run) * 0.618_033_988_749_895).fract();
            let when = match run % 2 {
                0 => When::After(Duration::from_millis(60) + sessions.longest.mul_f64(share)),
                _ => When::Charged(1 + (share * f64::from(ITERATIONS - 10)) as u32),
            };
            let victim = run as usize % sessions.members;
            let (came, releases) = killed(sessions, victim, when, ITERATIONS);
            println!("run {run}: killed {when:?}: {came:?}, {releases} releases charged");
            *all.lock().expect("whole").entry(came).or_insert(0) += 1;
            let is_within = (1..u64::from(ITERATIONS)).contains(&releases);
            middle.fetch_add(u32::from(is_within), Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..(AT_ONCE / sessions.members).max(1) {
            scope.spawn(one_after_another);
        }
    });
    let (all, middle) = (all.into_inner().expect("whole"), middle.into_inner());
    println!("{all:?}");
    // A campaign that never hits the middle tests nothing.
    assert!(all.contains_key(&Came::Ended), "{all:?}");
    assert!(
        runs < 100 || middle * 5 > runs,
        "{middle} of {runs} in the middle"
    );
}

#[test]
fn six_kills() {
    let longest = Duration::from_millis(500);
    kills(Sessions { longest, ..FOUR }, 6);
}

#[test]
#[ignore = "twenty minutes: cargo test --test main nodes::crashes::two_hundred_kills -- --ignored --nocapture"]
fn two_hundred_kills() {
    kills(FOUR, 200);
}

#[test]
#[ignore = "ten minutes: cargo test --test main nodes::crashes::twenty_kills_of_24 -- --ignored --nocapture"]
fn twenty_kills_of_24() {
    let sessions = Sessions {
        members: 24,
        degree: None,
        longest: Duration::from_secs(4),
    };
    kills(sessions, 20);
}

/// More members than every two of which have a connection: whoever is not connected with the victim hears it from others.
#[test]
#[ignore = "five minutes: cargo test --test main nodes::crashes::six_kills_of_40 -- --ignored --nocapture"]
fn six_kills_of_40() {
    let sessions = Sessions {
        members: 40,
        degree: Some(5),
        longest: Duration::from_secs(6),
    };
    kills(sessions, 6);
}
