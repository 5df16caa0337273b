//! What a member refuses, each with its own message, its own exit code, and nothing charged.

use std::fs;
use std::time::Duration;

use super::group::Group;

/// Nothing of this member's was charged.
fn assert_unspent(group: &Group, member: usize) {
    assert_eq!(group.charged(member).0, 0);
}

/// Changes a text file.
fn edit(group: &Group, file: &str, from: &str, to: &str) {
    let text = fs::read_to_string(group.path(file)).expect("there");
    assert!(text.contains(from), "{from} in {text}");
    group.write(file, &text.replace(from, to));
}

#[test]
fn files_and_policies_that_forbid_it() {
    let group = Group::new(3, 2, &["--grace", "2"]);
    // A session file that was changed after it was signed.
    fs::copy(group.path("session.toml"), group.path("changed.toml")).expect("copied");
    fs::copy(
        group.path("session.toml.sig"),
        group.path("changed.toml.sig"),
    )
    .expect("copied");
    edit(&group, "changed.toml", "epsilon = 1.5", "epsilon = 1.6");
    let (code, errors) = group.refused(1, "changed.toml");
    assert_eq!(code, Some(2), "{errors}");
    assert!(
        errors.contains("was changed after it was signed"),
        "{errors}"
    );
    // A policy that allows less.
    let policy = "member-1/policy.toml";
    for (from, to, said) in [
        (
            "max_epsilon = 2.0",
            "max_epsilon = 1.0",
            "session.max_epsilon = 1",
        ),
        ("min_peers = 3", "min_peers = 4", "session.min_peers = 4"),
        (
            "min_colluders = 1",
            "min_colluders = 2",
            "session.min_colluders = 2",
        ),
        (
            "adjacency = [\"user\"]",
            "adjacency = [\"swap\"]",
            "session.adjacency",
        ),
        (
            "epsilon = 4.0",
            "epsilon = 0.5",
            "lifetime.\"default\".epsilon = 0.5",
        ),
    ] {
        edit(&group, policy, from, to);
        for command in ["check", "run"] {
            let mut arguments = vec!["node", command, "session.toml", "--state", "member-1"];
            arguments.extend(["--data", "rows-1.csv"]);
            let (code, _, errors) = group.end(&arguments);
            assert_eq!(code, Some(2), "{command}: {errors}");
            assert!(errors.contains(said), "{command}: {errors}");
        }
        edit(&group, policy, to, from);
    }
    // A scope that nobody has budgeted for.
    let (code, _, errors) = group.end(&[
        "node",
        "check",
        "session.toml",
        "--state",
        "member-1",
        "--scope",
        "elsewhere",
    ]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("no [lifetime.\"elsewhere\"]"), "{errors}");
    // Rows with other columns.
    group.write("rows-1.csv", "0.1,0.2,0.3\n");
    let (code, errors) = group.refused(1, "session.toml");
    assert_eq!(code, Some(2), "{errors}");
    assert!(
        errors.contains("have other columns than the session"),
        "{errors}"
    );
    assert_unspent(&group, 1);
}

#[cfg(unix)]
#[test]
fn a_key_that_others_can_read_and_a_directory_in_use() {
    use std::os::unix::fs::PermissionsExt;
    let group = Group::new(3, 2, &["--grace", "2"]);
    let key = group.path("member-1/peer.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).expect("ours");
    let (code, errors) = group.refused(1, "session.toml");
    assert_eq!(code, Some(4), "{errors}");
    assert!(
        errors.contains("mode 644") && errors.contains("others may have read it"),
        "{errors}"
    );
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("ours");
    let first = group.start(1);
    std::thread::sleep(Duration::from_millis(600));
    let (code, errors) = group.refused(1, "session.toml");
    assert_eq!(code, Some(4), "{errors}");
    assert!(errors.contains("another process uses"), "{errors}");
    first.kill();
    assert_unspent(&group, 1);
}

#[test]
fn strangers_and_sessions_whose_time_has_passed() {
    let group = Group::new(3, 2, &["--grace", "2"]);
    // Somebody with a key that is in no session file.
    group.ok(&["node", "init", "--state", "stranger", "--name", "stranger"]);
    let (code, _, errors) = group.end(&[
        "node",
        "run",
        "session.toml",
        "--state",
        "stranger",
        "--data",
        "rows-1.csv",
    ]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("is not invited"), "{errors}");
    // A clock that is a day late, or a day early, as seen from the session file.
    for (key, from, to, said) in [
        ("closes", "20", "19", "the session closed at"),
        ("opens", "20", "21", "the session opens at"),
    ] {
        let text = fs::read_to_string(group.path("session.toml")).expect("there");
        let line = text
            .lines()
            .find(|line| line.starts_with(key))
            .expect("a time")
            .to_owned();
        // Another century.
        let changed = line.replacen(&format!("= {from}"), &format!("= {to}"), 1);
        assert_ne!(line, changed);
        group.write("late.toml", &text.replace(&line, &changed));
        let (code, errors) = group.refused(1, "late.toml");
        assert_eq!(code, Some(2), "{errors}");
        assert!(errors.contains("--unsigned"), "{errors}");
        let arguments = ["--state", "member-1", "--data", "rows-1.csv", "--unsigned"];
        let run = ["node", "run", "late.toml"].iter().chain(&arguments);
        let (code, _, errors) = group.end(&run.copied().collect::<Vec<_>>());
        assert_eq!(code, Some(2), "{errors}");
        assert!(errors.contains(said), "{errors}");
    }
    let (_, shown, _) = group.end(&["node", "check", "late.toml", "--state", "member-1"]);
    assert!(shown.contains("refuses it without --unsigned"), "{shown}");
    assert_unspent(&group, 1);
}

/// A member that would run out of open files under a flood of connections is refused before anything is set aside.
#[test]
fn too_few_open_files() {
    let group = Group::new(3, 2, &["--grace", "2"]);
    let (code, errors) = group.refused_with_files(200, 1);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("ulimit -n "), "{errors}");
    assert_eq!(group.ledger(1)["sessions"], serde_json::json!([]));
}

#[test]
fn members_with_another_session_file_end_the_attempt_for_all() {
    let group = Group::new(3, 2, &["--grace", "2"]);
    group.invite("other.toml", &["--grace", "2"]);
    let running = [
        group.start(0),
        group.start(1),
        group.start_in(2, "other.toml", 2),
    ];
    let mut named = 0;
    for running in running {
        let left = running.left(Duration::from_secs(30));
        assert_eq!(left.code, Some(1), "{}", left.errors);
        named += usize::from(left.errors.contains("has another session file"));
    }
    assert!(named > 0);
    (0..3).for_each(|member| assert_unspent(&group, member));
    // With the same file they finish after all: nothing had left.
    let running: Vec<_> = (0..3).map(|member| group.start(member)).collect();
    for running in running {
        let left = running.left(Duration::from_secs(30));
        assert_eq!(left.code, Some(0), "{}", left.errors);
    }
}

#[test]
fn one_key_in_two_places_and_a_restored_backup() {
    let group = Group::new(3, 2, &["--grace", "2", "--linger", "3"]);
    // A copy of a whole state directory, as a backup would be.
    let copy = |from: &str, to: &str| {
        let status = std::process::Command::new("cp")
            .arg("-a")
            .arg(group.path(from))
            .arg(group.path(to))
            .status();
        assert!(status.expect("cp").success());
    };
    copy("member-2", "backup");
    let running: Vec<_> = (0..3).map(|member| group.start(member)).collect();
    for running in running {
        let left = running.left(Duration::from_secs(30));
        assert_eq!(left.code, Some(0), "{}", left.errors);
    }
    // The backup has forgotten what was spent; the others have not.
    fs::rename(group.path("member-2"), group.path("kept")).expect("renamed");
    fs::rename(group.path("backup"), group.path("member-2")).expect("renamed");
    group.invite("second.toml", &["--grace", "2"]);
    let running: Vec<_> = (0..3)
        .map(|member| group.start_in(member, "second.toml", member))
        .collect();
    let left: Vec<_> = running
        .into_iter()
        .map(|one| one.left(Duration::from_secs(30)))
        .collect();
    assert_eq!(left[2].code, Some(4), "{}", left[2].errors);
    assert!(
        left[2].errors.contains("restored from a backup"),
        "{}",
        left[2].errors
    );
    assert!(
        left[..2]
            .iter()
            .any(|one| one.errors.contains("ledger of member-2")),
        "{left:?}"
    );
    assert!(left[..2].iter().all(|one| one.code == Some(1)), "{left:?}");
    assert_unspent(&group, 2);
    let (releases, ..) = group.charged(0);
    assert_eq!(releases, 2, "the first session's, and nothing more");
}

/// Starts a member whom nobody joins, and kills it when it has said its Join.
fn joined_and_killed(group: &Group) {
    let first = group.start(1);
    // It waits for the others, who do not come.
    let began = std::time::Instant::now();
    loop {
        let text = group.ok(&["node", "status", "--state", "member-1", "--json"]);
        let status: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        if status["sessions"][0]["stage"] == "joined" {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{status}");
        std::thread::sleep(Duration::from_millis(20));
    }
    first.kill();
}

#[test]
fn other_rows_than_those_joined_with_are_refused() {
    let group = Group::new(3, 2, &["--grace", "2"]);
    joined_and_killed(&group);
    let rows = fs::read_to_string(group.path("rows-1.csv")).expect("there");
    let (_, others) = rows.split_once('\n').expect("rows");
    group.write("rows-1.csv", others);
    let left = group.start(1).left(Duration::from_secs(30));
    assert_eq!(left.code, Some(2), "{}", left.errors);
    let said = "the rows are not those that this member joined with";
    assert!(left.errors.contains(said), "{}", left.errors);
    assert_unspent(&group, 1);
}

#[test]
fn a_join_of_before_another_session_is_not_said_again() {
    let group = Group::new(3, 2, &["--grace", "2", "--linger", "2"]);
    joined_and_killed(&group);
    group.invite("second.toml", &["--grace", "2", "--linger", "2"]);
    let running: Vec<_> = (0..3)
        .map(|member| group.start_in(member, "second.toml", member))
        .collect();
    for running in running {
        let left = running.left(Duration::from_secs(30));
        assert_eq!(left.code, Some(0), "{}", left.errors);
    }
    // The others would take the old Join for one of a restored backup.
    let left = group.start(1).left(Duration::from_secs(30));
    assert_eq!(left.code, Some(2), "{}", left.errors);
    let said = "ledger has grown since it joined";
    assert!(left.errors.contains(said), "{}", left.errors);
    assert_eq!(group.charged(1).0, 2, "the second session's");
}

#[test]
fn a_lifetime_budget_ends() {
    let group = Group::new(3, 2, &["--grace", "2", "--linger", "2"]);
    // A session of epsilon 1.5 at 1e-6 is one of 1.34 at the scope's delta of 1e-5: one fits into 1.6, two do not.
    for member in 0..3 {
        edit(
            &group,
            &format!("member-{member}/policy.toml"),
            "epsilon = 4.0",
            "epsilon = 1.6",
        );
    }
    let running: Vec<_> = (0..3).map(|member| group.start(member)).collect();
    for running in running {
        let left = running.left(Duration::from_secs(30));
        assert_eq!(left.code, Some(0), "{}", left.errors);
    }
    group.invite("second.toml", &["--grace", "2"]);
    let (code, errors) = group.refused(1, "second.toml");
    assert_eq!(code, Some(2), "{errors}");
    assert!(
        errors.contains("default") && errors.contains("left"),
        "{errors}"
    );
    assert_eq!(group.charged(1).0, 2);
}
