//! Which code knows the kinds of algorithms by name: their own files and the list of their tables.

use std::fs;

use super::source::read_crates;
use crate::support::repository;

/// The list of all kinds.
const LIST: &str = "src/config/algorithms.rs";

/// Where a kind's name may stand as a text of its own: a completer made of parts names its method as they do.
const PLACES: [&str; 5] = [
    LIST,
    "crates/core/src/algorithm/",
    "crates/papers/src/",
    "src/guide/",
    "src/run/completion.rs",
];

/// Names that are also keys, tables or values of others.
const COMMON: [&str; 5] = ["auto", "covariance", "momentum", "pilot", "power"];

/// The names in the lines of `kinds!`.
fn names(list: &str) -> Vec<&str> {
    let lines = list.lines().filter(|line| line.ends_with("Table),"));
    let quoted = lines.filter_map(|line| line.trim().strip_prefix('"')?.split('"').next());
    quoted.collect()
}

/// Lines that are code and hold a name as a whole text.
fn naming<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let quoted = format!("\"{name}\"");
    let code = text.lines().filter(|line| !line.trim().starts_with("//"));
    code.filter(|line| line.contains(&quoted)).collect()
}

#[test]
fn kinds_are_named_in_their_files_and_in_one_list() {
    let list = fs::read_to_string(repository(LIST)).expect("readable");
    let names = names(&list);
    assert!(names.len() >= 16 && names.contains(&"krylov"), "{names:?}");
    let mut found = Vec::new();
    for source in read_crates() {
        let free = PLACES.iter().any(|place| source.path.starts_with(place));
        if free || source.is_test_file() || source.path.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(repository(&source.path)).expect("readable");
        let lines: Vec<&str> = text.lines().take(source.lines_before_tests).collect();
        let text = lines.join("\n");
        for name in names.iter().filter(|name| !COMMON.contains(name)) {
            let lines = naming(&text, name);
            found.extend(lines.iter().map(|line| format!("{}: {line}", source.path)));
        }
    }
    assert!(
        found.is_empty(),
        "ask the program or the table instead:\n{}",
        found.join("\n")
    );
}

#[test]
fn a_name_in_code_is_found_and_one_in_a_comment_or_a_remedy_is_not() {
    let text = "match kind {\n    \"krylov\" => 1,\n// \"krylov\"\n\"set algorithm.kind = \\\"krylov\\\"\"";
    assert_eq!(naming(text, "krylov"), ["    \"krylov\" => 1,"]);
}
