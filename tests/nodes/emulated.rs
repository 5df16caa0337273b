//! A session with one participant on another processor: real processes, one of them in an emulator.

use std::process::Command;
use std::time::Duration;

use super::group::Group;
use crate::support::skipped;

const MEMBERS: usize = 12;
const LIMIT: Duration = Duration::from_secs(300);

/// A processor of 2008, without fused operations and wide registers.
const EMULATOR: &str = "qemu-x86_64 -cpu Nehalem";

/// Names another emulator, with its arguments.
const VARIABLE: &str = "UNDERTONE_EMULATOR";

/// Twelve participants on a sparse noise graph, whose plan takes inverses of matrices.
fn session_of_twelve(emulator: &[&str]) {
    let tables = "[topology]\ngenerator = \"random-regular\"\ndegree = 4\nseed = \"beacon\"\n\
                  [algorithm]\nkind = \"power\"\nrank = 2\niterations = 3\n";
    let invite = ["--grace", "60", "--step-limit", "120", "--linger", "2"];
    let group = Group::planned(MEMBERS, tables, &invite);
    let running: Vec<_> = (0..MEMBERS)
        .map(|member| match member {
            5 => group.start_under(emulator, member, "session.toml", member),
            _ => group.start(member),
        })
        .collect();
    for (member, running) in running.into_iter().enumerate() {
        let left = running.left(LIMIT);
        assert_eq!(left.code, Some(0), "{member}: {}", left.errors);
        let basis = group.basis(member).expect("a result");
        assert_eq!(Some(basis), group.basis(0), "{member} has other bits");
    }
}

#[test]
#[ignore = "a minute, and an emulator: cargo test --test main nodes::emulated -- --ignored --nocapture"]
fn a_participant_on_another_processor_ends_with_the_same_bits() {
    let emulator = std::env::var(VARIABLE).unwrap_or_else(|_| EMULATOR.to_owned());
    let emulator: Vec<&str> = emulator.split_whitespace().collect();
    let there = Command::new(emulator[0]).arg("--version").output();
    if !there.is_ok_and(|output| output.status.success()) {
        return skipped(format_args!(
            "{} is not there (package qemu-user, or {VARIABLE})",
            emulator[0]
        ));
    }
    session_of_twelve(&emulator);
}
