//! `undertone run` of study files, and of data that is not there.

use crate::support::scratch::{SIM, Scratch};

const STUDY: &str = r#"name = "fig"
seed = 1

[study]
kind = "start-ratio"
items = [60]
ranks = { from = 5, to = 15, step = 5 }
runs = 2
"#;

#[test]
fn a_study_writes_its_tables_and_a_configuration_that_repeats_them() {
    let scratch = Scratch::new();
    scratch.write("sims/fig.toml", STUDY);
    let shown = scratch.undertone("run sims/fig.toml --set study.runs=3 --out out");
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    assert!(shown.stdout.contains("ratio_corrected"), "{}", shown.stdout);
    // Two tables with a line for every row, and little else.
    let lines = shown.stdout.lines().count();
    assert!((6..=12 + 3 + 3).contains(&lines), "{}", shown.stdout);
    assert!(!shown.stdout.contains("note: ") && shown.stdout.contains("--verbose"));
    let verbose = scratch.undertone("run sims/fig.toml --set study.runs=3 --out out -v");
    assert!(verbose.stdout.contains("note: "), "{}", verbose.stdout);
    let csv = scratch.read("out/start_ratio.csv");
    let text = String::from_utf8(csv.clone()).expect("text");
    assert!(text.starts_with("n,k,runs,prior,row_norm,ratio,"), "{text}");
    assert_eq!(text.lines().count(), 4);
    assert!(
        text.lines()
            .nth(1)
            .is_some_and(|line| line.starts_with("60,5,3,"))
    );

    let again = scratch.undertone("run out/config.toml --quiet --out again");
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), ""));
    assert_eq!(scratch.read("again/start_ratio.csv"), csv);

    let json = scratch.undertone("run sims/fig.toml --json --out out");
    let result: serde_json::Value = serde_json::from_str(&json.stdout).expect("one document");
    assert_eq!(result["name"], "fig");
    assert_eq!(result["tables"][0]["rows"][2][1], 15);
}

#[test]
fn a_study_that_cannot_be_done_is_refused_and_leaves_nothing() {
    let scratch = Scratch::new();
    for (change, words) in [
        ("runs = 0", "[study] runs = 0"),
        ("rums = 2", "unknown field `rums`"),
        ("runs = 2\n[data]\npath = \"x\"", "unknown field `data`"),
    ] {
        scratch.write("sims/fig.toml", &STUDY.replace("runs = 2", change));
        let shown = scratch.undertone("run sims/fig.toml --out out");
        assert_eq!(shown.code, Some(2), "{change}: {}", shown.stderr);
        assert!(shown.stderr.contains("sims/fig.toml"), "{}", shown.stderr);
        assert!(shown.stderr.contains(words), "{}", shown.stderr);
        assert!(!scratch.path("out").exists(), "{change}");
    }
}

#[test]
fn data_that_is_not_there_comes_with_where_to_get_it() {
    let scratch = Scratch::new();
    let gone = SIM.replace(
        "path = \"ratings.csv\"",
        "path = \"gone.csv\"\nobtain = \"\"\"ask the\n  library\"\"\"",
    );
    scratch.write("sims/gone.toml", &gone);
    let shown = scratch.undertone("run sims/gone.toml --out out");
    assert_eq!(shown.code, Some(2));
    for words in [
        "sims/gone.toml",
        "no file sims/gone.csv",
        "set data.path to where it is",
        "to obtain it: ask the library",
    ] {
        assert!(shown.stderr.contains(words), "{words}: {}", shown.stderr);
    }
    assert!(!scratch.path("out").exists());
    let found = scratch.undertone("run sims/gone.toml --set data.path=ratings.csv --out out");
    assert_eq!(found.code, Some(0), "{}", found.stderr);
}
