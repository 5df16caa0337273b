//! Plans of 198 settings, compared line by line with `tests/plans/stored.txt`, so that a change of structure shows when it
//! changes a plan.
//!
//! No release is made. A block holds the session's digest, standard deviations, the charge, what each adversary learns, releases and their bounds,
//! views after losses, and the lines that noise keys are bound to. Numbers have as many digits as it takes to read the same bits.
//!
//! Who changes a plan on purpose writes the file again with `UNDERTONE_PLANS=write cargo test --test main plans`, and says why in the changelog.

mod deployed;
mod facts;
mod in_memory;
mod lists;
pub(crate) mod settings;
mod stored;

use std::fs;

use crate::support::repository;
use stored::{differences, in_text};

/// Every setting by name with the lines that are stored of it.
fn found() -> Vec<(String, Vec<String>)> {
    let mut all = settings::found();
    all.extend(in_memory::found());
    all.extend(deployed::found());
    all
}

#[test]
fn plans_are_the_ones_that_are_stored() {
    let found = in_text(&found());
    if stored::is_written() {
        fs::write(repository(stored::PATH), found).expect("writable");
        return;
    }
    let differing = differences(&stored::read(), &found);
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
