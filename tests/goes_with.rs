//! What goes with what: for every kind of algorithm, what goes round it, runner, noise and data, whether an experiment can be planned, and else which key its
//! refusal names first. A cell changes only together with a test of that combination.
//!
//! `tests/goes_with/stored.txt` holds the whole table. `UNDERTONE_GOES_WITH=write cargo test --test main goes_with` writes it again. Nothing is run: a
//! cell is allowed where [`Experiment`](undertone::scenario::Experiment) resolves and plans its sessions, that of `[compare]` and both of a choice after a pilot included.
//!
//! # Reading it
//! A heading is a wrapper, data, an adjacency and, where it is not the usual one, the rule of bounds. A line below it is a pattern and the kinds that have it. A
//! word of the pattern is a runner, a letter of the word is noise: `.` is allowed, any other letter a refusal of the legend. `all x` is x everywhere.
//!
//! # What is left out
//! Adjacencies that the data do not know, and rules of bounds, are tried without a wrapper alone; two wrappers at once, weights and other averagings under the first
//! adjacency of the data alone. Not tried: calibrations, values of numbers, `[faults]`, which belong to one runner, `privacy.on_disconnect`,
//! `evaluation` and files of participants. `data.values = "ratings"` stands for ratings of every format, a matrix of CSV for every format of matrices.

mod axes;
mod files;
mod keys;
mod memory;
mod table;

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use axes::{GROUPS, NOISES, RUNNERS};
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
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = asked.get(at) else {
                return;
            };
            let section = one.section(&mut keys);
            done.lock().expect("no panic")[at] = Some(section);
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
    let groups = GROUPS.map(|(group, members)| format!("{group} {}\n", members.join(" ")));
    format!(
        "Written by UNDERTONE_GOES_WITH=write cargo test --test main goes_with\n\
         Words of files: {runners}\nLetters of a word: {}\n{words}\n{}{}",
        names.collect::<Vec<_>>().join("; "),
        memory::head(),
        groups.concat()
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
    let text = |sections: &[Section]| table::text(&head(), sections, &stored());
    let places = [0, SECTIONS.len() / 2, SECTIONS.len() - 1];
    let honest = places.map(|at| SECTIONS[at].clone());
    for at in 0..honest.len() {
        // An allowed cell in the place of a refusal, and a refusal by another key.
        for other in [ALLOWED, "algorithm.rank"] {
            let mut sections = honest.clone();
            let cells = sections[at].rows.iter_mut().flat_map(|row| &mut row.cells);
            let mut refused = cells.flatten().filter(|cell| *cell != ALLOWED);
            other.clone_into(refused.next().expect("a refusal"));
            let differences = table::differences(&text(&sections), &text(&honest));
            let name = &honest[at].name;
            let (of_section, rest): (Vec<_>, Vec<_>) = differences
                .iter()
                .partition(|line| line.starts_with(&format!("{name}: ")));
            assert!(!of_section.is_empty(), "{name}");
            let of_legend = |line: &&String| line.starts_with("legend: ");
            assert!(rest.iter().all(of_legend), "{rest:#?}");
        }
    }
}
