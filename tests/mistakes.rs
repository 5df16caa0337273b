//! Mistaken experiment files: what each is told. `tests/mistakes/told.txt` is the whole table, to be read from top to bottom;
//! `UNDERTONE_MISTAKES=write` writes it again.

#[path = "mistakes/table.rs"]
mod table;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use table::{MISTAKES, Mistake};

/// Twelve users and eight items, six rows of three numbers, a graph of six names.
fn write_data(folder: &Path) {
    let mut ratings = String::from("user,item,rating\n");
    let mut rows = String::from("height,weight,pulse\n");
    for user in 0..12 {
        for item in (0..8).filter(|item| (user + item) % 3 == 0) {
            let _ = writeln!(ratings, "u{user},i{item},{}", 1 + (user * item) % 5);
        }
        let _ = writeln!(rows, "{},{},{}", 160 + user, 60 + user, 70 - user);
    }
    let edges = "a b\nb c\nc d\nd e\ne f\nf a\n";
    for (name, text) in [
        ("ratings.csv", ratings.as_str()),
        ("rows.csv", rows.as_str()),
        ("friends.edges", edges),
    ] {
        fs::write(folder.join(name), text).expect("writable");
    }
}

/// What `undertone run` says of this file on standard error.
fn told(folder: &Path, text: &str) -> String {
    fs::write(folder.join("mine.toml"), text).expect("writable");
    let output = Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(["run", "mine.toml", "--quiet"])
        .current_dir(folder)
        .output()
        .expect("undertone starts");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2), "{text}\n{said}");
    assert_eq!(output.stdout, b"", "{text}");
    assert!(!folder.join("out").exists(), "a folder is made\n{text}");
    said
}

/// The line of the file at which the mistake is.
fn line_of(mistake: &Mistake, text: &str) -> usize {
    let start = mistake.line;
    let place = text
        .lines()
        .position(|line| line.trim_start().starts_with(start));
    1 + place.unwrap_or_else(|| panic!("no line begins with {start}\n{text}"))
}

#[test]
fn every_mistake_is_told_with_its_line_its_key_and_what_to_write() {
    let folder = tempfile::tempdir().expect("a folder");
    write_data(folder.path());
    let mut whole = String::new();
    for mistake in MISTAKES {
        let text = mistake.file();
        let said = told(folder.path(), &text);
        let line = line_of(mistake, &text);
        let parts = [
            "mine.toml",
            &format!("line {line}"),
            mistake.key,
            mistake.instead,
        ];
        for part in parts {
            assert!(
                said.contains(part),
                "{part:?} is not said of\n{text}\n{said}"
            );
        }
        let _ = writeln!(whole, "# {}\n\n{}\n{}", mistake.what, indented(&text), said);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes/told.txt");
    if std::env::var_os("UNDERTONE_MISTAKES").is_some() {
        fs::write(&path, &whole).expect("writable");
    }
    let stored = fs::read_to_string(&path).expect("readable");
    assert_eq!(
        whole, stored,
        "UNDERTONE_MISTAKES=write writes what is said now"
    );
}

#[test]
fn the_table_is_long_and_its_unmistaken_files_are_experiments() {
    assert!(MISTAKES.len() >= 60, "{}", MISTAKES.len());
    let folder = tempfile::tempdir().expect("a folder");
    write_data(folder.path());
    for text in table::BASES {
        let path = folder.path().join("right.toml");
        fs::write(&path, text).expect("writable");
        let read = undertone::scenario::Experiment::load(&path, &[]);
        assert!(read.is_ok(), "{text}\n{:?}", read.err());
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}
