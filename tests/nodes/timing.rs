//! What can be timed of a participant before anything is charged, and a reader of its words who leaves.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::group::Group;

/// How often every file is timed.
const TURNS: usize = 20;

/// The 0.999 quantile of the chi-squared distribution with 5 degrees of freedom: six groups whose times have one law exceed it with p = 0.001.
const CRITICAL: f64 = 20.515;

fn copied(from: &Path, to: &Path) {
    let made = Command::new("cp").arg("-a").args([from, to]).status();
    assert!(made.expect("cp").success());
}

/// Kruskal and Wallis' H of these groups of equal size.
fn kruskal_wallis(groups: &[Vec<Duration>]) -> f64 {
    let mut all: Vec<(Duration, usize)> = Vec::new();
    for (group, times) in groups.iter().enumerate() {
        all.extend(times.iter().map(|time| (*time, group)));
    }
    all.sort();
    let mut sums = vec![0.0; groups.len()];
    for (rank, (_, group)) in (1..).zip(&all) {
        sums[*group] += f64::from(rank);
    }
    let n = all.len() as f64;
    let squares = sums.iter().zip(groups);
    let squares: f64 = squares.map(|(sum, of)| sum * sum / of.len() as f64).sum();
    12.0 / (n * (n + 1.0)) * squares - 3.0 * (n + 1.0)
}

#[test]
#[ignore = "times 360 processes, on a machine that does nothing else"]
fn times_until_the_join_do_not_tell_files_apart() {
    let group = Group::new(3, 1, &[]);
    let plan = fs::read_to_string(group.path("plan.toml")).expect("written");
    let file = |cell: &dyn Fn(usize, usize) -> f64| {
        let row = |row: usize| {
            let cells: Vec<String> = (0..6).map(|c| format!("{:.17e}", cell(row, c))).collect();
            cells.join(",") + "\n"
        };
        (0..5000).map(row).collect::<String>()
    };
    let ordinary = |row: usize, column: usize| ((row * 7 + column * 5) % 11) as f64 / 11.0;
    let files = [
        file(&ordinary),
        file(&|_, _| 0.0),
        file(&|row, column| {
            if (row + column) % 2 == 0 {
                1e300
            } else {
                5e-324
            }
        }),
        file(&|_, _| 0.5),
        file(&|row, column| 1e3 * ordinary(row, column)),
        file(&|row, column| {
            if row == 7 {
                0.25
            } else {
                ordinary(row, column)
            }
        }),
    ];
    copied(&group.path("member-1"), &group.path("kept"));
    for (number, keys) in ["row_clip = 1.0", "row_clip = 6e-309", "row_clip = 1.7e308"]
        .into_iter()
        .enumerate()
    {
        group.write("plan.toml", &plan.replace("row_clip = 1.0", keys));
        let session = format!("session-{number}.toml");
        group.invite(&session, &[]);
        let mut times = vec![Vec::new(); files.len()];
        for _ in 0..TURNS {
            for (which, rows) in files.iter().enumerate() {
                group.write("rows-1.csv", rows);
                let began = Instant::now();
                let running = group.start_in(1, &session, 1);
                while !running.said().contains("waiting for") {
                    assert!(
                        began.elapsed() < Duration::from_secs(30),
                        "{}",
                        running.said()
                    );
                    std::thread::sleep(Duration::from_micros(200));
                }
                times[which].push(began.elapsed());
                running.kill();
                fs::remove_dir_all(group.path("member-1")).expect("ours");
                copied(&group.path("kept"), &group.path("member-1"));
            }
        }
        let found = kruskal_wallis(&times);
        println!("{keys}: H = {found:.2}, critical {CRITICAL}");
        assert!(found <= CRITICAL, "{keys}: H = {found}");
    }
}

#[test]
fn the_ranks_tell_apart_what_differs() {
    let times = |shift: u64| (0..20).map(move |i| Duration::from_millis(i * 7 % 20 + shift));
    let groups = |shift| -> Vec<Vec<Duration>> {
        (0..6)
            .map(|group| times(if group == 3 { shift } else { 0 }).collect())
            .collect()
    };
    assert!(kruskal_wallis(&groups(0)) <= CRITICAL);
    assert!(kruskal_wallis(&groups(15)) > CRITICAL);
}

#[test]
fn a_reader_who_leaves_is_no_reason_to_panic() {
    let group = Group::new(3, 1, &[]);
    let words = "node invite plan.toml --members tickets.txt --items columns.txt --state member-0 --out again.toml";
    let mut child = Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(words.split(' '))
        .current_dir(group.folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    drop(child.stdout.take());
    let left = child.wait_with_output().expect("a child");
    let errors = String::from_utf8_lossy(&left.stderr);
    assert_eq!(left.status.code(), Some(0), "{errors}");
    assert!(errors.is_empty(), "{errors}");
    assert!(group.path("again.toml").is_file());
}
