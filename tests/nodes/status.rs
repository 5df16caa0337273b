//! `node status` of members that run, of members that wait, and of nobody.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::group::Group;

/// What `node status` says of a member, as JSON.
fn status(group: &Group, member: usize) -> Value {
    let state = format!("member-{member}");
    let text = group.ok(&["node", "status", "--state", &state, "--json"]);
    serde_json::from_str(&text).expect("JSON")
}

/// Asks until the running process says what is wanted.
fn until(group: &Group, member: usize, wanted: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let status = status(group, member);
        if wanted(&status["running"]) {
            return status;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{status}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn names(value: &Value) -> Vec<&str> {
    let all = value.as_array().expect("a list");
    all.iter()
        .map(|name| name.as_str().expect("a name"))
        .collect()
}

#[test]
fn a_running_member_says_whom_it_waits_for_and_what_it_has_charged() {
    const ITERATIONS: u32 = 400;
    let group = Group::new(3, ITERATIONS, &["--grace", "10", "--linger", "20"]);
    assert_eq!(status(&group, 0)["running"], Value::Null);
    let first = [group.start(0), group.start(1)];
    let waiting = until(&group, 0, |running| {
        running["step"] == "join"
            && running["disconnected"]
                .as_array()
                .is_some_and(|d| d.len() == 1)
            && running["missing"].as_array().is_some_and(|m| m.len() == 1)
    });
    let running = &waiting["running"];
    assert_eq!(running["stage"], "agreeing");
    assert_eq!(names(&running["missing"]), ["member-2"]);
    assert_eq!(names(&running["disconnected"]), ["member-2"]);
    assert_eq!(running["charged"], 0);
    assert_eq!(running["members"], 3);
    assert_eq!(running["session"], waiting["sessions"][0]["session"]);
    let reserved = running["reserved"].as_f64().expect("a number");
    assert!(reserved > 0.0);
    // For people.
    let text = group.ok(&["node", "status", "--state", "member-0"]);
    assert!(
        text.contains("a node runs on this state directory"),
        "{text}"
    );
    let line = text.lines().find(|line| line.trim().starts_with("missing"));
    assert!(line.expect("a line").ends_with(" member-2"), "{text}");
    // For this user alone; and whoever talks nonsense, or nothing, disturbs nobody.
    let socket = group.path("member-0/control.sock");
    let mode = fs::metadata(&socket).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let silent = UnixStream::connect(&socket).expect("it listens");
    let mut loud = UnixStream::connect(&socket).expect("it listens");
    let _ = loud.write_all(&[b'{'; 1 << 20]);
    let mut answer = String::new();
    let _ = loud.read_to_string(&mut answer);
    assert!(!answer.contains("stage"), "{answer}");
    drop(silent);
    assert_eq!(status(&group, 0)["running"]["step"], "join");
    // The third comes: releases are charged and averaged.
    let third = group.start(2);
    let began = until(&group, 0, |running| running["release"].as_u64() > Some(0));
    let running = &began["running"];
    assert_eq!(running["releases"], ITERATIONS);
    assert_eq!(running["iteration"], running["release"]);
    let charged = running["charged"].as_u64().expect("a number");
    let release = running["release"].as_u64().expect("a number");
    // The ledger comes first, and news of what was averaged may wait a little.
    assert!(charged >= release, "{running}");
    let spent = running["mu_squared"].as_f64().expect("a number");
    let part = charged as f64 / f64::from(ITERATIONS);
    assert!((spent / reserved - part).abs() < 1e-9, "{running}");
    assert!(
        matches!(running["stage"].as_str(), Some("running" | "done")),
        "{running}"
    );
    for member in first.into_iter().chain([third]) {
        let left = member.left(Duration::from_secs(60));
        assert_eq!(left.code, Some(0), "{}", left.errors);
    }
    // Nobody runs: what the files say.
    let ended = status(&group, 0);
    assert_eq!(ended["running"], Value::Null);
    assert_eq!(ended["sessions"][0]["stage"], "done");
    assert!(!socket.exists());
}

#[test]
fn a_member_that_was_killed_is_asked_through_its_files() {
    let group = Group::new(3, 2, &["--grace", "2"]);
    let member = group.start(1);
    until(&group, 1, |running| running["stage"] == "agreeing");
    member.kill();
    // Its socket is still there, and dead.
    assert!(group.path("member-1/control.sock").exists());
    let status = status(&group, 1);
    assert_eq!(status["running"], Value::Null);
    assert_eq!(status["sessions"][0]["stage"], "joined");
    assert_eq!(status["sessions"][0]["charged"], 0.0);
}

/// A node that does not run, or has no descriptor left, is not waited for.
#[test]
fn a_node_that_does_not_answer_is_not_waited_for() {
    let group = Group::new(3, 2, &["--grace", "10"]);
    let waiting = group.start(0);
    until(&group, 0, |running| running["stage"] == "agreeing");
    let stop = |signal: &str| {
        let id = waiting.child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args([signal, &id])
            .status();
        assert!(sent.expect("kill").success());
    };
    stop("-STOP");
    let began = Instant::now();
    let (code, out, errors) = group.end(&["node", "status", "--state", "member-0"]);
    stop("-CONT");
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("does not answer"), "{errors}");
    assert!(out.contains("joined"), "{out}");
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
}
