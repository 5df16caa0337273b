//! `undertone advise`: what it recommends runs and costs what was said, and what it rests on is printed.

use serde_json::Value;

use crate::support::command::{Finished, undertone};

/// Few items and peers, so that it takes a second.
const SMALL: [&str; 6] = [
    "--set",
    "data.items=60",
    "--set",
    "peers.count=32",
    "--set",
    "algorithm.rank=4",
];

fn advise(more: &[&str]) -> Finished {
    undertone(&[&["advise", "sims/quickstart.toml"], &SMALL[..], more].concat())
}

/// The document that `--json` prints.
fn document(more: &[&str]) -> Value {
    let shown = advise(&[&["--json"], more].concat());
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    serde_json::from_str(&shown.stdout).expect("one document")
}

#[test]
fn a_recommendation_is_printed_with_what_it_assumes() {
    let shown = advise(&["--epsilon", "1", "--bytes", "500000"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let document = document(&["--epsilon", "1", "--bytes", "500000"]);
    let guesses = document["guesses"].as_array().expect("a list");
    let help = undertone(&["advise", "--help"]).stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(guesses.len(), 16);
    for guess in guesses {
        let text = format!("{},{}", guess["taste"], guess["decay"]).replace(".0", "");
        assert!(help.contains(&text), "{text}: {help}");
        let spread = guess["spread"].to_string().replace(".0", "");
        assert!(help.contains(&spread), "{spread}: {help}");
    }
    let name = document["recommended"]["name"].as_str().expect("a name");
    for words in [
        "from public quantities alone: 610 users, 60 items",
        "  1 through taste, the variance of its k-th direction as k^-1, and 0.6 or 1 or 1.5 or 2.2 through activity",
        "  1.75 through taste, the variance of its k-th direction as k^-1, and 0.6 or 1 or 1.5 or 2.2 through activity",
        "  1.75 through taste, the variance of its k-th direction as k^-2, and 0.6 or 1 or 1.5 or 2.2 through activity",
        "  3 through taste, the variance of its k-th direction as k^-2, and 0.6 or 1 or 1.5 or 2.2 through activity",
        &format!("epsilon = 1.000, at most 500 kB from the busiest peer: {name}\n"),
        "the one advised is least above the best on all that is drawn",
        document["command"].as_str().expect("a command"),
    ] {
        assert!(shown.stdout.contains(words), "{words}\n{}", shown.stdout);
    }
    let other = advise(&["--assume", "2,0.5,1", "--assume", "2,1,1"]);
    let assumed = "  2 through taste, the variance of its k-th direction as k^-0.5, and 1 through activity\n  2 ";
    assert!(other.stdout.contains(assumed), "{}", other.stdout);
    assert!(!other.stdout.contains("  3 through"), "{}", other.stdout);
    for (wrong, why) in [
        ("2,-1,1", "decay"),
        ("2,NaN,1", "decay"),
        ("2,1", "three numbers"),
        ("2,1,x", "three numbers"),
    ] {
        let refused = advise(&["--assume", wrong]);
        assert_eq!(refused.code, Some(2), "{wrong}");
        assert!(refused.stderr.contains(why), "{wrong}: {}", refused.stderr);
    }
}

#[test]
fn what_is_advised_keeps_to_the_bytes_and_sends_what_was_said() {
    let free = document(&[]);
    let cost = |advice: &Value| {
        advice["recommended"]["bytes_max_peer"]
            .as_u64()
            .expect("bytes")
    };
    let all = free["candidates"].as_array().expect("a list");
    assert!(
        cost(&free) > 60_000,
        "or the budget below rules nothing out"
    );
    let limited = document(&["--bytes", "60000"]);
    assert!(cost(&limited) <= 60_000);
    let listed = limited["candidates"].as_array().expect("a list");
    assert_eq!(listed.len(), all.len());
    for candidate in listed {
        let fits = candidate["bytes_max_peer"].as_u64().expect("bytes") <= 60_000;
        assert_eq!(
            candidate["predicted_error"].is_number(),
            fits,
            "{candidate}"
        );
    }
    let out = tempfile::tempdir().expect("a temporary folder");
    let command = limited["command"].as_str().expect("a command");
    // The one argument with spaces is in single quotes.
    let mut arguments: Vec<&str> = Vec::new();
    for (position, part) in command.split('\'').enumerate() {
        match position % 2 {
            0 => arguments.extend(part.split_whitespace()),
            _ => arguments.push(part),
        }
    }
    assert_eq!(arguments.remove(0), "undertone");
    let folder = out.path().to_str().expect("text");
    let run = undertone(&[&arguments[..], &["--json", "--out", folder]].concat());
    assert_eq!(run.code, Some(0), "{command}: {}", run.stderr);
    let summary: Value = serde_json::from_str(&run.stdout).expect("one document");
    assert_eq!(
        summary["communication"]["bytes_max_peer"].as_u64(),
        Some(cost(&limited))
    );
}

#[test]
fn a_budget_that_nothing_fits_is_refused_with_what_would_fit() {
    let shown = advise(&["--bytes", "10"]);
    assert_eq!(shown.code, Some(2));
    assert_eq!(shown.stdout, "");
    for words in [
        "no candidate sends at most 10 bytes from the busiest peer: the cheapest, krylov over tree, L = 1",
        "raise --bytes",
    ] {
        assert!(shown.stderr.contains(words), "{words}\n{}", shown.stderr);
    }
}
