//! What goes with what: for every kind of algorithm, what goes round it, runner, noise and data, whether an experiment can be planned, and else which key its
//! refusal names first. A cell changes only together with a test of that combination.
//!
//! `tests/goes_with/stored.txt` holds the whole table; `UNDERTONE_GOES_WITH=write cargo test --test main goes_with` writes it again. Nothing is run.

mod axes;
mod files;
mod keys;
mod memory;
mod table;

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use axes::{NOISES, RUNNERS};
use files::Asked;
use keys::Keys;
use table::{ALLOWED, Section};

use crate::support::repository;

/// Where the table is stored.
const STORED: &str = "tests/goes_with/stored.txt";

/// The sections of files, then those of rows in memory, computed once.
static SECTIONS: LazyLock<Vec<Section>> = LazyLock::new(|| {
    let asked = Asked::all();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(vec![None; asked.len()]);
    let work = || {
        let mut keys = Keys::new();
        while let Some(one) = asked.get(next.fetch_add(1, Ordering::Relaxed)) {
            let section = one.section(&mut keys);
            let at = asked.iter().position(|other| other.name == one.name);
            done.lock().expect("no panic")[at.expect("asked for")] = Some(section);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let done = done.into_inner().expect("no panic");
    let files = done.into_iter().map(|one| one.expect("computed"));
    files.chain(memory::sections(&mut Keys::new())).collect()
});

fn head() -> String {
    let runners = RUNNERS.map(|runner| runner.name()).join(", ");
    let noises = NOISES.iter().map(|noise| noise.letter).collect::<String>();
    let words = RUNNERS.map(|_| noises.as_str()).join(" ");
    let names = NOISES
        .iter()
        .map(|noise| format!("{} {}", noise.letter, noise.name));
    format!(
        "Written by UNDERTONE_GOES_WITH=write cargo test --test main goes_with\n\
         Words of files: {runners}\nLetters of a word: {}\n{words}\n{}",
        names.collect::<Vec<_>>().join("; "),
        memory::head()
    )
}

fn stored() -> String {
    fs::read_to_string(repository(STORED)).unwrap_or_default()
}

#[test]
fn what_goes_with_what_is_as_stored() {
    let found = table::text(&head(), &SECTIONS, &stored());
    if std::env::var("UNDERTONE_GOES_WITH").is_ok_and(|word| word == "write") {
        fs::write(repository(STORED), &found).expect("a writable repository");
    }
    let differences = table::differences(&found, &stored());
    assert!(differences.is_empty(), "{differences:#?}");
}

#[test]
fn a_changed_cell_is_found() {
    let stored = stored();
    let refused = |cell: &String| cell != ALLOWED;
    let mut sections = SECTIONS.clone();
    let cells = sections.iter_mut().flat_map(|section| &mut section.rows);
    let mut cells = cells.flat_map(|row| row.cells.iter_mut().flatten());
    let opened = cells.find(|cell| refused(cell)).expect("a refusal");
    ALLOWED.clone_into(opened);
    let found = table::text(&head(), &sections, &stored);
    assert_ne!(table::differences(&found, &stored), [] as [String; 0]);
}
