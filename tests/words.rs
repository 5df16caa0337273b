//! The repository explains itself: nothing in it cites a document that is not in it, and what it names is there.

use std::fs;
use std::path::Path;

use crate::support::repository;

/// Files and folders that are read.
const READ: [&str; 16] = [
    "src",
    "crates",
    "tests",
    "benches",
    "examples",
    "sims",
    "topologies",
    "python/README.md",
    "python/examples",
    "python/python",
    "python/src",
    "python/tests",
    "README.md",
    "docs/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
];

/// Endings of files that hold text of ours.
const TEXT: [&str; 4] = ["rs", "md", "toml", "py"];

/// This file, which names what it looks for.
const HERE: &str = "tests/words.rs";

/// What points at notes that were written outside the repository.
const OUTSIDE: [&str; 8] = [
    "DESIGN",
    "seed-systems",
    "style-anchors",
    "house.md",
    "nodes.md",
    "reference/",
    "the issue",
    "(issue ",
];

/// Every text file below the places read, by its path in the repository.
fn texts() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for place in READ {
        collect(place, &mut found);
    }
    found.retain(|(path, _)| path != HERE);
    found
}

fn collect(place: &str, found: &mut Vec<(String, String)>) {
    let path = repository(place);
    if path.is_dir() {
        let entries = fs::read_dir(&path).expect("readable");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("readable").file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        for name in names {
            collect(&format!("{place}/{name}"), found);
        }
    } else if let Some(ending) = Path::new(place).extension()
        && TEXT.iter().any(|text| ending == *text)
        && let Ok(text) = fs::read_to_string(&path)
    {
        found.push((place.to_owned(), text));
    }
}

/// What a line cites that is not in the repository.
fn cited_outside(line: &str) -> Option<String> {
    if let Some(found) = OUTSIDE.iter().find(|words| line.contains(**words)) {
        return Some((*found).to_owned());
    }
    // "ref B.4", "ref 0.8", "ref item 3": a section of something.
    let words: Vec<&str> = line
        .split(|c: char| c.is_whitespace() || c == '(')
        .collect();
    let section = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next();
        word == "item"
            || first.is_some_and(|c| c.is_ascii_digit() || ('A'..='H').contains(&c))
                && letters.next().is_none_or(|c| !c.is_alphanumeric())
    };
    if let Some(pair) = words
        .windows(2)
        .find(|pair| pair[0] == "ref" && section(pair[1]))
    {
        return Some(pair.join(" "));
    }
    // Data beside the repository, which its tests can do without, is the only thing outside that may be named.
    let mut beside = line.split("shared/").skip(1);
    let other = |rest: &str| !rest.starts_with("data") && !rest.starts_with("vectors");
    beside.any(other).then(|| "shared/".to_owned())
}

/// Paths into the sources that a text names in backticks.
fn named_paths(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .filter(|word| {
            ["src/", "crates/", "tests/", "benches/", "sims/"]
                .iter()
                .any(|root| word.starts_with(root))
        })
        .filter(|word| !word.contains(|c: char| c.is_whitespace() || "*<>{}".contains(c)))
        .collect()
}

#[test]
fn nothing_cites_what_is_not_in_the_repository() {
    let mut found = Vec::new();
    for (path, text) in texts() {
        for (number, line) in text.lines().enumerate() {
            if let Some(words) = cited_outside(line) {
                found.push(format!(
                    "{path}:{}: `{words}` points outside: {line}",
                    number + 1
                ));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_the_guide_and_the_readme_name_is_there() {
    let mut named = 0;
    for (path, text) in texts().iter().filter(|(path, _)| path.ends_with(".md")) {
        if path == "CHANGELOG.md" {
            continue;
        }
        for name in named_paths(text) {
            assert!(
                repository(name).exists(),
                "{path} names `{name}`, which is not there"
            );
            named += 1;
        }
    }
    assert!(named > 20, "found {named}");
}

/// The tests that a page's tables name, in the columns that are headed so.
fn named_tests(page: &str) -> Vec<&str> {
    let mut column = None;
    let mut named = Vec::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.split(" | ").collect();
        if !line.starts_with("| ") {
            column = None;
        } else if let Some(at) = cells.iter().position(|cell| cell.starts_with("test")) {
            column = column.or(Some(at));
        }
        let cell = column.and_then(|at| cells.get(at)).unwrap_or(&"");
        named.extend(
            cell.split('`')
                .skip(1)
                .step_by(2)
                .filter(|name| !name.contains("::")),
        );
    }
    named
}

#[test]
fn the_tests_that_the_guide_names_are_there() {
    let texts = texts();
    let code: Vec<&str> = texts
        .iter()
        .filter(|(path, _)| path.ends_with(".rs"))
        .map(|(_, text)| text.as_str())
        .collect();
    let mut count = 0;
    for page in ["deviating_peers", "lost_peers"] {
        let page = fs::read_to_string(repository(&format!("src/guide/{page}.md"))).expect("a page");
        for name in named_tests(&page) {
            count += 1;
            let test = format!("fn {name}() {{");
            assert!(
                code.iter().any(|text| text.contains(&test)),
                "no test `{name}`"
            );
        }
    }
    assert!(count >= 20, "{count}");
}

#[test]
fn citations_of_what_is_outside_are_found() {
    for wrong in [
        "/// The bound (ref B.4(vii)).",
        "// ref 0.8",
        "//! see ref item 3",
        "/// DESIGN 7's formula",
        "// a deviation from the issue's text",
        "as shared/reference says",
        "let path = \"../shared/reference/algorithms.md\";",
    ] {
        assert!(cited_outside(wrong).is_some(), "{wrong}");
    }
    for right in [
        "let ref Block = 3;",
        "/// a reference B of the matrix",
        "path = \"../../shared/data/ratings/jester-1-1.csv.gz\"",
        "skipped(\"Jester is not in ../shared/data/ratings\");",
        ".join(\"../shared/vectors/test_vectors.json\");",
        "match ref_counted { _ => () }",
    ] {
        assert_eq!(cited_outside(right), None, "{right}");
    }
}
