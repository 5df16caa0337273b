//! Members finish with one result: the README's script, and larger groups.

use std::process::Command;
use std::time::{Duration, Instant};

use undertone::privacy::{Budget, gaussian};

use super::group::Group;
use crate::support::repository;

#[test]
fn the_script_of_three_hospitals_ends_with_one_basis() {
    let folder = tempfile::tempdir().expect("a folder");
    let began = Instant::now();
    // Ports that no other test of this binary takes: those lie below 20,000.
    let port = 21_000 + std::process::id() % 5_000;
    let output = Command::new("bash")
        .arg(repository("examples/three-hospitals.sh"))
        .arg(folder.path())
        .env("UNDERTONE", env!("CARGO_BIN_EXE_undertone"))
        .env("FIRST_PORT", port.to_string())
        .output()
        .expect("bash");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("three hospitals have the same basis"),
        "{said}"
    );
    assert!(began.elapsed() < Duration::from_secs(60));
    let file = |name: &str| std::fs::read(folder.path().join(name)).expect("a result");
    let basis = file("result-0/basis.npy");
    assert!(basis.len() > 30 * 4 * 8);
    for hospital in 1..3 {
        assert_eq!(file(&format!("result-{hospital}/basis.npy")), basis);
    }
    // What each was told before it took part: the promise is about one hospital, and what a patient of two or three loses is stated.
    let checked = String::from_utf8(file("check-0.txt")).expect("text");
    for words in [
        "one record (user) at one participant",
        "a person at 2 participants",
        "a person at 3 participants",
    ] {
        assert!(checked.contains(words), "{checked}");
    }
    // Each receipt holds, and is signed by its own hospital.
    let mut signers = Vec::new();
    for hospital in 0..3 {
        let receipt = folder
            .path()
            .join(format!("result-{hospital}/receipt.json"));
        let output = Command::new(env!("CARGO_BIN_EXE_undertone"))
            .args(["privacy", "check"])
            .arg(&receipt)
            .output()
            .expect("the binary was built");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}");
        let signer = said
            .split_whitespace()
            .find(|word| word.starts_with("12D3KooW"));
        signers.push(signer.expect("a signer").to_owned());
    }
    signers.sort();
    signers.dedup();
    assert_eq!(signers.len(), 3);
}

/// Runs everybody and compares.
fn all_finish(members: usize, tables: Option<&str>, limit: Duration) {
    let group = match tables {
        None => Group::new(members, 3, &["--grace", "20"]),
        Some(tables) => Group::planned(members, tables, &["--grace", "20"]),
    };
    let running: Vec<_> = (0..members).map(|member| group.start(member)).collect();
    for (member, running) in running.into_iter().enumerate() {
        let left = running.left(limit);
        assert_eq!(left.code, Some(0), "member {member}: {}", left.errors);
    }
    let first = group.basis(0).expect("a basis");
    for member in 0..members {
        assert_eq!(group.basis(member).as_ref(), Some(&first));
        let (releases, charged, ended) = group.charged(member);
        assert_eq!((releases, ended.as_deref()), (3, Some("done")));
        assert!(charged > 0.0);
        // What the noise came from is gone.
        let sessions = group.path(&format!("member-{member}/sessions"));
        let mut folders = std::fs::read_dir(sessions).expect("a folder");
        let folder = folders.next().expect("a session").expect("readable").path();
        assert!(folder.join("journal.bin").exists() && !folder.join("own.key").exists());
    }
    // Again: the result is printed, and nothing is charged.
    let lines = group.ledger(1)["head"]["length"].clone();
    let (code, errors) = group.refused(1, "session.toml");
    assert_eq!(code, Some(0), "{errors}");
    assert!(
        errors.contains("has ended before; its result again, nothing was charged"),
        "{errors}"
    );
    assert_eq!(group.ledger(1)["head"]["length"], lines);
}

/// Three processes on a plan for patients of two hospitals: what is promised about those is on the receipt, and every ledger has charged it.
#[test]
fn three_processes_protect_persons_at_two_of_them() {
    let group = Group::new(3, 2, &["--grace", "20"]);
    let plan = std::fs::read_to_string(group.path("plan.toml")).expect("text");
    let one = "adjacency = \"user\"\n";
    let two = format!("{one}participants_per_person = 2\n");
    group.write("plan.toml", &plan.replace(one, &two));
    group.invite("session.toml", &["--grace", "20"]);
    let checked = group.ok(&["node", "check", "session.toml", "--state", "member-1"]);
    let promise = checked
        .lines()
        .find(|line| line.ends_with("<- the promise"));
    let promise = promise.expect("a promise");
    assert!(promise.contains("a person at 2 participants"), "{checked}");
    let running: Vec<_> = (0..3).map(|member| group.start(member)).collect();
    for (member, running) in running.into_iter().enumerate() {
        let left = running.left(Duration::from_secs(60));
        assert_eq!(left.code, Some(0), "member {member}: {}", left.errors);
    }
    let budget = Budget::new(1.5, 1e-6).expect("valid");
    let asked = gaussian::mu(budget.epsilon, budget.delta).powi(2);
    for member in 0..3 {
        let (_, charged, _) = group.charged(member);
        assert!((charged / asked - 1.0).abs() < 1e-6, "{charged} of {asked}");
        let receipt = format!("result-{member}/receipt.json");
        group.ok(&["privacy", "check", &receipt]);
        let text = std::fs::read_to_string(group.path(&receipt)).expect("text");
        let receipt: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let of_two = &receipt["guarantee"]["groups"][0];
        let epsilon = of_two["epsilon"].as_f64().expect("a number");
        assert!(
            of_two["peers"] == 2 && epsilon <= 1.5 * (1.0 + 1e-6),
            "{of_two}"
        );
        assert!(!text.contains("list of users"));
    }
}

#[test]
fn eight_processes_finish_with_the_same_bits() {
    all_finish(8, None, Duration::from_secs(60));
}

#[test]
fn twenty_four_processes_on_a_graph_of_their_beacon_finish() {
    let tables = "[topology]\ngenerator = \"random-regular\"\ndegree = 5\nseed = \"beacon\"\n[algorithm]\nkind = \"krylov\"\nrank = 1\n\
                  block = 2\niterations = 3\n";
    all_finish(24, Some(tables), Duration::from_secs(120));
}

#[test]
fn three_processes_finish_with_momentum() {
    let tables = "[topology]\ngenerator = \"complete\"\n[algorithm]\nkind = \"momentum\"\nrank = 1\nmomentum = 0.1\niterations = 3\n";
    all_finish(3, Some(tables), Duration::from_secs(60));
}

/// The mean of all rows is released first, as a release of its own that every ledger has charged, and the receipt states it.
#[test]
fn three_processes_finish_with_a_private_mean() {
    let tables = "[topology]\ngenerator = \"complete\"\n[algorithm]\nkind = \"momentum\"\nrank = 1\nmomentum = 0.01\niterations = 2\n";
    let group = Group::planned(3, tables, &["--grace", "20"]);
    let plan = std::fs::read_to_string(group.path("plan.toml")).expect("text");
    let mean = "row_clip = 1.0\nraw_clip = 2.5\ncentre = \"private\"";
    group.write("plan.toml", &plan.replace("row_clip = 1.0", mean));
    let invite = |more: &[&str]| {
        let first = [
            "node",
            "invite",
            "plan.toml",
            "--members",
            "tickets.txt",
            "--items",
            "columns.txt",
        ];
        let rest = ["--state", "member-0", "--out", "session.toml"];
        group.end(&[&first[..], &rest, more].concat())
    };
    let (code, _, errors) = invite(&[]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("--rows"), "{errors}");
    let (code, _, errors) = invite(&["--rows", "20", "--grace", "20"]);
    assert_eq!(code, Some(0), "{errors}");
    let checked = group.ok(&["node", "check", "session.toml", "--state", "member-1"]);
    assert!(
        checked.contains("in all 3 releases") && checked.contains("is released first"),
        "{checked}"
    );
    let running: Vec<_> = (0..3).map(|member| group.start(member)).collect();
    for (member, running) in running.into_iter().enumerate() {
        let left = running.left(Duration::from_secs(60));
        assert_eq!(left.code, Some(0), "member {member}: {}", left.errors);
    }
    let budget = Budget::new(1.5, 1e-6).expect("valid");
    let asked = gaussian::mu(budget.epsilon, budget.delta).powi(2);
    let first = group.basis(0).expect("a basis");
    for member in 0..3 {
        assert_eq!(group.basis(member).as_ref(), Some(&first));
        let (releases, charged, _) = group.charged(member);
        assert_eq!(releases, 3);
        assert!((charged / asked - 1.0).abs() < 1e-6, "{charged} of {asked}");
        group.ok(&["privacy", "check", &format!("result-{member}/receipt.json")]);
    }
    // What was run, in the tables of a session: no seed, no engine, no file of rows.
    let tables = std::fs::read_to_string(group.path("result-1/config.toml")).expect("text");
    let tables: toml::Table = toml::from_str(&tables).expect("TOML");
    assert_eq!(tables["data"]["centre"].as_str(), Some("private"));
    for key in ["seed", "peers", "engine"] {
        assert!(!tables.contains_key(key), "{key}");
    }
}

/// A ring of five and a chord, by name: a graph of the user's own.
#[test]
fn five_processes_on_a_graph_that_is_written_out_finish() {
    let tables = r#"[topology]
edges = [
    ["member-0", "member-3"], ["member-3", "member-1"], ["member-1", "member-4"], ["member-4", "member-2"],
    ["member-2", "member-0"], ["member-3", "member-4"],
]
[algorithm]
kind = "power"
rank = 2
iterations = 3
"#;
    all_finish(5, Some(tables), Duration::from_secs(60));
}
