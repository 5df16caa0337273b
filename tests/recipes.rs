//! The recipes of CONTRIBUTING.md are diffs that apply to this tree, count what the text says, and work.
//!
//! That they compile and pass the conformance tests of their axis takes minutes: that test is ignored unless it is named,
//! which continuous integration does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{repository, skipped};

/// The crates that recipes change.
const CRATES: [&str; 4] = [
    "undertone",
    "undertone-privacy",
    "undertone-core",
    "undertone-papers",
];

/// Where the diffs are.
const FOLDER: &str = "docs/recipes";

/// One file that a diff touches.
#[derive(Debug)]
struct Touched<'a> {
    path: &'a str,
    is_new: bool,
    /// Lines added and removed, with their signs.
    changed: Vec<&'a str>,
}

/// The files of a diff, in order.
fn touched(diff: &str) -> Vec<Touched<'_>> {
    let mut found: Vec<Touched<'_>> = Vec::new();
    let mut in_hunk = false;
    for line in diff.lines() {
        if let Some(names) = line.strip_prefix("diff --git a/") {
            let path = names.split(" b/").next().unwrap_or_default();
            in_hunk = false;
            found.push(Touched {
                path,
                is_new: false,
                changed: Vec::new(),
            });
            continue;
        }
        let Some(file) = found.last_mut() else {
            continue;
        };
        in_hunk |= line.starts_with("@@");
        file.is_new |= !in_hunk && line.starts_with("new file");
        if in_hunk && line.starts_with(['+', '-']) {
            file.changed.push(line);
        }
    }
    found
}

/// The line of the table on this diff, after its first two columns: new files and their lines, changed files, lines
/// added to them and lines taken out.
fn measured(files: &[Touched<'_>]) -> [usize; 5] {
    let lines = |new: bool, sign: char| {
        let of_kind = files.iter().filter(|file| file.is_new == new);
        let all = of_kind.flat_map(|file| &file.changed);
        all.filter(|line| line.starts_with(sign)).count()
    };
    let new = files.iter().filter(|file| file.is_new).count();
    let changed = files.len() - new;
    [
        new,
        lines(true, '+'),
        changed,
        lines(false, '+'),
        lines(false, '-'),
    ]
}

/// What a recipe changes in files that are there, as the text shows it: each path, then its lines.
fn outline(files: &[Touched<'_>]) -> String {
    let mut text = String::new();
    for file in files.iter().filter(|file| !file.is_new) {
        text += &format!("{}\n", file.path);
        for line in &file.changed {
            text += &format!("{}\n", line.trim_end());
        }
    }
    text
}

fn recipes() -> Vec<(String, String)> {
    let entries = fs::read_dir(repository(FOLDER)).expect("the recipes are a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("readable").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".diff"))
        .collect();
    names.sort();
    let read = |name: String| {
        let text = fs::read_to_string(repository(FOLDER).join(&name)).expect("readable");
        (name, text)
    };
    names.into_iter().map(read).collect()
}

fn contributing() -> String {
    fs::read_to_string(repository("CONTRIBUTING.md")).expect("readable")
}

/// Runs `git apply` with these arguments on all recipes of the list; `None` where git is missing.
///
/// A folder inside somebody else's repository is no part of that repository here.
fn git_apply(folder: &Path, arguments: &[&str], recipes: &[PathBuf]) -> Option<Output> {
    let mut git = Command::new("git");
    git.arg("apply").args(arguments).args(recipes);
    if let Some(parent) = folder.parent() {
        git.env("GIT_CEILING_DIRECTORIES", parent);
    }
    match git.current_dir(folder).output() {
        Ok(output) => Some(output),
        Err(error) => {
            skipped(format_args!("git does not start: {error}"));
            None
        }
    }
}

fn refusal(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// How the diffs are written again where they no longer apply.
const REMEDY: &str = "apply it with `git apply --3way`, settle what is left, and write `git diff HEAD` into the file";

#[test]
fn every_recipe_applies_to_this_tree_alone_and_with_all_others() {
    let all: Vec<PathBuf> = recipes()
        .iter()
        .map(|(name, _)| repository(FOLDER).join(name))
        .collect();
    assert!(all.len() >= 7, "one recipe per axis");
    for recipe in &all {
        let one = std::slice::from_ref(recipe);
        let Some(output) = git_apply(&repository(""), &["--check"], one) else {
            return;
        };
        let said = refusal(&output);
        assert!(output.status.success(), "{recipe:?}: {said}{REMEDY}");
    }
    if let Some(output) = git_apply(&repository(""), &["--check"], &all) {
        assert!(output.status.success(), "together: {}", refusal(&output));
    }
}

#[test]
fn the_text_shows_what_every_recipe_changes_and_counts_it() {
    let text = contributing();
    let mut rows = 0;
    for (name, diff) in recipes() {
        let files = touched(&diff);
        let [new, new_lines, changed, added, removed] = measured(&files);
        let counts = format!("| {new} of {new_lines} | {changed} | {added} | {removed} |");
        let row = text
            .lines()
            .find(|line| line.starts_with('|') && line.contains(&format!("({FOLDER}/{name})")));
        let row = row.unwrap_or_else(|| panic!("the table has no line on {name}: {counts}"));
        assert!(row.ends_with(&counts), "{name}: {row}\nmeasured: {counts}");
        let shown = format!("```diff\n{}```\n", outline(&files));
        assert!(text.contains(&shown), "{name} should be shown as\n{shown}");
        rows += 1;
    }
    let table = text.lines().filter(|line| line.starts_with("| ["));
    assert_eq!(table.count(), rows, "a line of the table has no diff");
}

/// What the recipes bring and what runs on every member of their axes, by the names of the tests.
const FILTERS: [&str; 11] = [
    "topology::generators::",
    "protocol::averaging::",
    "engine::tests::programs::no_neighbour_gets",
    "privacy::noise_plan::minority",
    "privacy::neighbours::",
    "privacy::promise::",
    "privacy::sensitivity::any_floor",
    "privacy::sensitivity::attacks::cases::every_registered_bound_is_attacked",
    "privacy::sensitivity::attacks::cases::interaction_bounds_hold",
    "smoothed::tests::",
    "data::formats::",
];

#[test]
#[ignore = "compiles the crate once more: continuous integration runs it by name"]
fn with_all_recipes_applied_the_crate_compiles_and_their_tests_pass() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let tree = folder.path().join("tree");
    copy(&repository(""), &tree);
    let recipes = recipes();
    let all: Vec<PathBuf> = recipes
        .iter()
        .map(|(name, _)| repository(FOLDER).join(name))
        .collect();
    let Some(applied) = git_apply(&tree, &[], &all) else {
        return;
    };
    assert!(applied.status.success(), "{}", refusal(&applied));
    let news: Vec<String> = recipes
        .iter()
        .flat_map(|(_, diff)| touched(diff))
        .filter(|file| file.is_new)
        .map(|file| file.path.to_owned())
        .collect();
    for path in &news {
        assert!(tree.join(path).is_file(), "{path} is not there");
    }

    // With the features that the crates of others have in this build, whose results are used.
    let executable = std::env::current_exe().expect("this test is a program");
    let target = executable.ancestors().nth(3);
    let target = target.map_or_else(|| repository("target"), Path::to_path_buf);
    let output = Command::new(env!("CARGO"))
        .args(["test", "--locked", "--no-default-features", "--lib"])
        .args(CRATES.map(|name| format!("--package={name}")))
        .args([
            "--features",
            "undertone/all-dependencies,undertone-privacy/default",
        ])
        .args(CRATES.map(|name| format!("--config=profile.dev.package.{name}.opt-level=0")))
        .arg("--config=profile.dev.package.undertone-node.opt-level=0")
        .arg("--")
        .args(FILTERS)
        .env("CARGO_TARGET_DIR", target)
        .current_dir(&tree)
        .output()
        .expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // Every recipe's own test was among them.
    for path in &news {
        let (_, module) = path.split_once("src/").expect("a source");
        let module = module.trim_end_matches(".rs");
        let own = format!("test {}::tests::", module.replace('/', "::"));
        let passed = said
            .lines()
            .any(|line| line.starts_with(&own) && line.ends_with(" ok"));
        assert!(passed, "no test of {path} ran:\n{said}");
    }
}

/// Copies a source tree without results of builds and runs and without its history.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("writable");
    for entry in fs::read_dir(from).expect("readable") {
        let entry = entry.expect("readable");
        let name = entry.file_name();
        let left_out = ["target", ".git", "out"].iter().any(|left| name == *left);
        if left_out {
            continue;
        }
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(name));
        } else {
            fs::copy(entry.path(), to.join(name)).expect("copies");
        }
    }
}

#[test]
fn a_diff_is_measured_by_its_hunks() {
    let diff = "diff --git a/src/new.rs b/src/new.rs\nnew file mode 100644\n--- /dev/null\n+++ b/src/new.rs\n@@ -0,0 +1,2 @@\n\
                +one\n+new file\ndiff --git a/src/old.rs b/src/old.rs\n--- a/src/old.rs\n+++ b/src/old.rs\n@@ -1,2 +1,3 @@\n same\n\
                -gone\n+--- here\n+there \n";
    let files = touched(diff);
    assert_eq!(measured(&files), [1, 2, 1, 2, 1]);
    assert_eq!(outline(&files), "src/old.rs\n-gone\n+--- here\n+there\n");
    let none = touched("no diff\n+at all\n");
    assert_eq!(measured(&none), [0; 5]);
}
