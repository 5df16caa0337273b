//! Sessions that tolerate losses, run by the shipped program: who is told what, which exit codes there are, and what receipts and ledgers say.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::group::{Group, Running};

/// Seconds that a lost connection may take to come back.
const GRACE: u64 = 4;
const ITERATIONS: u64 = 300;
const LIMIT: Duration = Duration::from_secs(60);

/// Five members of whom one may be lost, and whose policies allow retries.
fn five() -> Group {
    let tables = format!(
        "[topology]\ngenerator = \"complete\"\n[algorithm]\nkind = \"power\"\nrank = 2\niterations = {ITERATIONS}\n\
         [dropouts]\ntolerate = 1\nretries = 4\n"
    );
    let grace = GRACE.to_string();
    let invite = ["--grace", &grace, "--step-limit", "10", "--linger", "8"];
    let group = Group::planned(5, &tables, &invite);
    for member in 0..5 {
        let path = format!("member-{member}/policy.toml");
        let text = std::fs::read_to_string(group.path(&path)).expect("a policy");
        let allowed = text.replace("max_retries = 0", "max_retries = 4");
        assert_ne!(allowed, text);
        group.write(&path, &allowed);
    }
    group
}

/// Waits until member 1 has said this.
fn until(running: &[Option<Running>], line: &str) {
    let running = running[1].as_ref().expect("it runs");
    let until = Instant::now() + LIMIT;
    while !running.said().contains(line) {
        assert!(Instant::now() < until, "never {line}: {}", running.said());
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn json(group: &Group, arguments: &[&str]) -> Value {
    serde_json::from_str(&group.ok(arguments)).expect("JSON")
}

/// The file in the folder of a member's only session, if it is there.
fn kept(group: &Group, member: usize, file: &str) -> Option<Vec<u8>> {
    let folder = group.path(&format!("member-{member}/sessions"));
    let mut sessions = std::fs::read_dir(folder).expect("a folder").flatten();
    let session = sessions.next().expect("a session").path();
    std::fs::read(session.join(file)).ok()
}

/// One is killed in the middle and comes back when the others have given it up: too late to go on, and in time to be handed the result.
#[test]
fn four_of_five_finish_and_the_fifth_is_told() {
    let group = five();
    let checked = group.ok(&["node", "check", "session.toml", "--state", "member-1"]);
    assert!(checked.contains("1 members may be lost"), "{checked}");
    let mut running: Vec<_> = (0..5).map(|member| Some(group.start(member))).collect();
    until(&running, &format!("release {} of", ITERATIONS / 2));
    running[2].take().expect("it runs").kill();
    let killed = Instant::now();
    until(&running, "4 members go on, without member-2");
    assert!(killed.elapsed() > Duration::from_secs(GRACE));
    until(&running, "done here; not yet: member-2");
    let late = group.start(2).left(LIMIT);
    assert_eq!(late.code, Some(3), "{}", late.errors);
    let said = [
        "have gone on without this member",
        "has handed over the result of the others",
    ];
    for said in said {
        assert!(late.errors.contains(said), "{}", late.errors);
    }
    for member in [0, 1, 3, 4] {
        let left = running[member].take().expect("it runs").left(LIMIT);
        assert_eq!(left.code, Some(0), "{member}: {}", left.errors);
    }
    let basis = group.basis(0).expect("a result");
    for member in [1, 3, 4] {
        assert_eq!(group.basis(member).as_ref(), Some(&basis), "{member}");
    }
    assert_eq!(
        kept(&group, 2, "late-basis.npy"),
        kept(&group, 0, "basis.npy")
    );
    assert!(kept(&group, 2, "late-finished-0.bin").is_some());
    // Every release is paid by whoever took part, at most one try is paid twice, and the one who is lost has paid for what it had sent.
    let lost = group.charged(2).0;
    assert!((ITERATIONS / 2 - 1..ITERATIONS).contains(&lost), "{lost}");
    for member in [0, 1, 3, 4] {
        let (tries, _, ended) = group.charged(member);
        assert!((ITERATIONS..=ITERATIONS + 1).contains(&tries), "{tries}");
        assert_eq!(ended.as_deref(), Some("done"));
    }
    // Receipts say who was there when, and what it cost at worst is within the promise.
    for member in [0, 3] {
        let path = format!("result-{member}/receipt.json");
        let text = std::fs::read_to_string(group.path(&path)).expect("a receipt");
        let receipt: Value = serde_json::from_str(&text).expect("JSON");
        let attempts = receipt["realised"]["attempts"].as_array().expect("a list");
        let members = |attempt: &Value| attempt["members"].as_array().map_or(0, Vec::len);
        let first = attempts.first().expect("an attempt");
        assert_eq!(members(first), 5);
        assert_eq!(members(attempts.last().expect("an attempt")), 4);
        let realised = receipt["realised"]["epsilon"].as_f64().expect("a number");
        let planned = receipt["realised"]["planned_epsilon"].as_f64();
        let planned = planned.expect("a number");
        assert!(realised <= planned * (1.0 + 1e-9) && planned <= 1.5 * (1.0 + 1e-9));
        group.ok(&["privacy", "check", &path]);
    }
    // It is told so whenever it asks again.
    assert!(group.basis(2).is_none());
    let (code, errors) = group.refused(2, "session.toml");
    assert_eq!(code, Some(1));
    assert!(
        errors.contains("had gone on without this member"),
        "{errors}"
    );
    assert_eq!(group.charged(2).0, lost);
    let status = json(&group, &["node", "status", "--state", "member-2", "--json"]);
    assert_eq!(status["sessions"][0]["stage"], "excluded");
}

/// One starts again in time, also after the session has closed to those who would join; with other rows it is refused.
#[test]
fn whoever_starts_again_in_time_goes_on_with_the_rows_that_it_had() {
    let group = five();
    let mut running: Vec<_> = (0..5).map(|member| Some(group.start(member))).collect();
    until(&running, &format!("release {} of", ITERATIONS / 2));
    running[3].take().expect("it runs").kill();
    // Other rows under the noise of the first ones would show the difference.
    let rows = std::fs::read_to_string(group.path("rows-3.csv")).expect("rows");
    group.write("rows-3.csv", &rows.replacen("0.", "0.1", 1));
    let (code, errors) = group.refused(3, "session.toml");
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("the rows are not those"), "{errors}");
    group.write("rows-3.csv", &rows);
    running[3] = Some(group.start(3));
    for (member, running) in running.into_iter().enumerate() {
        let left = running.expect("it runs").left(LIMIT);
        assert_eq!(left.code, Some(0), "{member}: {}", left.errors);
        assert!(!left.errors.contains("is given up"), "{}", left.errors);
    }
    let basis = group.basis(0).expect("a result");
    assert!((1..5).all(|member| group.basis(member).as_ref() == Some(&basis)));
    let (code, out, _) = group.end(&["privacy", "check", "result-3/receipt.json"]);
    assert_eq!(code, Some(0), "{out}");
}

/// A policy that asks for more members than are left begins nothing with them.
#[test]
fn a_policy_that_asks_for_all_begins_nothing_with_fewer() {
    let group = five();
    let path = "member-1/policy.toml";
    let text = std::fs::read_to_string(group.path(path)).expect("a policy");
    group.write(path, &text.replace("min_peers = 3", "min_peers = 5"));
    let mut running: Vec<_> = (0..5).map(|member| Some(group.start(member))).collect();
    until(&running, "release 10 of");
    running[2].take().expect("it runs").kill();
    for member in [0, 1, 3, 4] {
        let left = running[member].take().expect("it runs").left(LIMIT);
        // Which leaves too few for all.
        let (code, said) = match member {
            1 => (2, "begins no release with fewer than 5"),
            _ => (1, "fewer members are left"),
        };
        assert_eq!(left.code, Some(code), "{member}: {}", left.errors);
        assert!(left.errors.contains(said), "{member}: {}", left.errors);
    }
}

/// Whoever leaves politely is not waited for; and one more than is tolerated ends the session for all.
#[test]
fn one_leaves_and_then_one_too_many() {
    let group = five();
    let mut running: Vec<_> = (0..5).map(|member| Some(group.start(member))).collect();
    until(&running, "release 10 of");
    let stopping = running[4].take().expect("it runs");
    let id = stopping.child.id().to_string();
    let told = std::process::Command::new("kill")
        .args(["-TERM", &id])
        .status();
    assert!(told.expect("kill").success());
    let stopped = Instant::now();
    until(&running, "4 members go on, without member-4");
    assert!(
        stopped.elapsed() < Duration::from_secs(GRACE),
        "it was waited for"
    );
    assert_eq!(stopping.left(LIMIT).code, Some(1));
    until(&running, "release 20 of");
    running[0].take().expect("it runs").kill();
    for member in [1, 2, 3] {
        let left = running[member].take().expect("it runs").left(LIMIT);
        assert_eq!(left.code, Some(1), "{}", left.errors);
        assert!(
            left.errors.contains("fewer members are left"),
            "{}",
            left.errors
        );
        assert!(group.basis(member).is_none());
        assert_eq!(group.charged(member).2.as_deref(), Some("aborted"));
    }
}
