//! The script `command-line` does what somebody does who has just cloned the repository.

use std::process::{Command, Output};

use crate::support::repository;

fn script(undertone: &str, folder: &std::path::Path) -> Output {
    Command::new("bash")
        .arg(repository("tests/newcomers/command-line"))
        // Those are tested with their output, in `readme`.
        .arg("--without-readme")
        .env("UNDERTONE", undertone)
        .env("TMPDIR", folder)
        .output()
        .expect("bash")
}

#[test]
fn somebody_new_meets_no_obstacle() {
    let folder = tempfile::tempdir().expect("a folder");
    let ran = script(env!("CARGO_BIN_EXE_undertone"), folder.path());
    let said = String::from_utf8_lossy(&ran.stdout);
    let obstacle = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{said}{obstacle}");
    assert!(said.contains("no obstacle in "), "{said}");
    let left = std::fs::read_dir(folder.path()).expect("a folder");
    assert_eq!(left.count(), 0, "nothing is left behind");
}

#[test]
fn the_first_obstacle_ends_the_script() {
    let folder = tempfile::tempdir().expect("a folder");
    for (command, code, words) in [
        ("/bin/false", 1, "obstacle: exit code 1, expected 0"),
        (
            "/nowhere/undertone",
            2,
            "there is no command /nowhere/undertone: build it",
        ),
    ] {
        let ran = script(command, folder.path());
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(code), "{said}");
        assert!(said.contains(words), "{said}");
    }
}
