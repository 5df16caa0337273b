//! Whether the constant-time way takes the same steps whatever is drawn, counted by valgrind.
//!
//! `cargo test --lib noise::integer::tests::constant_time -- --ignored`, with valgrind installed, on any build. It counts what one call
//! does: instructions, data reads and writes, misses of a simulated first-level data cache, conditional jumps and those
//! that a simulated predictor misses. Equal counts do not prove that every address is the same; that no address depends
//! on a draw is seen in the code, which has one loop over the whole table.

use std::process::Command;

use super::super::RoundedGaussian;
use crate::vocabulary::{CHUNK, Label, Seed, StreamKey};

/// Which stream the counted call draws from; without it that test does nothing.
const STREAM: &str = "UNDERTONE_COUNTED_STREAM";

/// Events of callgrind that are compared.
const EVENTS: [&str; 7] = ["Ir", "Dr", "Dw", "D1mr", "D1mw", "Bc", "Bcm"];

#[inline(never)]
fn constant_way(gaussian: &RoundedGaussian, key: &StreamKey, values: &mut [i64]) {
    gaussian.fill_in_constant_time(key, (1, 0), values);
}

#[inline(never)]
fn fast_way(gaussian: &RoundedGaussian, key: &StreamKey, values: &mut [i64]) {
    gaussian.fill(key, (1, 0), values);
}

#[test]
#[ignore = "runs under valgrind, started by another test"]
fn one_call_of_each_way() {
    let Ok(stream) = std::env::var(STREAM) else {
        return;
    };
    let key = Seed::from_u64(stream.parse().unwrap()).key(Label::Scenario, 0, 0);
    let gaussians = [0.5, 96.0, 5000.0].map(|sigma| RoundedGaussian::new(sigma).unwrap());
    // One way after the other: what the fast way leaves in a cache depends on what it drew.
    let drawn = [constant_way, fast_way].map(|way| {
        let mut values = vec![0; CHUNK * gaussians.len()];
        for (gaussian, values) in gaussians.iter().zip(values.chunks_mut(CHUNK)) {
            way(gaussian, &key, values);
        }
        values
    });
    assert_eq!(drawn[0], drawn[1]);
}

/// The counts of one way's calls on one stream.
fn counts(way: &str, stream: u32) -> Vec<(String, u64)> {
    let this = std::env::current_exe().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("counts");
    let ran = Command::new("valgrind")
        .args(["--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes"])
        .arg(format!("--callgrind-out-file={}", output.display()))
        .arg(format!("--toggle-collect=*constant_time::{way}*"))
        .arg(this)
        .args(["--ignored", "--exact", "--test-threads=1"])
        .arg(
            concat!(module_path!(), "::one_call_of_each_way")
                .split_once("::")
                .unwrap()
                .1,
        )
        .env(STREAM, stream.to_string())
        .output()
        .expect("valgrind is installed");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    let counted = std::fs::read_to_string(output).unwrap();
    let line = |name: &str| {
        let line = counted.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("{name} in {counted}"))
            .split_whitespace()
    };
    let counts = line("totals:").map(|count| count.parse().unwrap());
    line("events:")
        .map(str::to_owned)
        .zip(counts)
        .filter(|(event, _)| EVENTS.contains(&event.as_str()))
        .collect()
}

#[test]
#[ignore = "needs valgrind"]
fn counts_do_not_depend_on_what_is_drawn() {
    let first = counts("constant_way", 1);
    assert!(
        first.len() == EVENTS.len() && first[0].1 > 1_000_000,
        "{first:?}"
    );
    for stream in 2..5 {
        assert_eq!(counts("constant_way", stream), first);
    }
    // The fast way's do.
    assert_ne!(counts("fast_way", 1), counts("fast_way", 2));
}
