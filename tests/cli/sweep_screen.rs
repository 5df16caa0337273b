//! The screen of a sweep: short, one line for every point with its band and its runs, and what is added on request.

use std::process::Command;

use crate::support::scratch::{SIM, Scratch};

const SWEEP: &str = r#"
[evaluation]
reference_floor = 1

[sweep]
seeds = 4
baseline = "row norm"
target = 0.5

[sweep.over]
"privacy.epsilon" = [1, 100]
"averaging.scheme" = ["chebyshev", "linear"]

[[sweep.methods]]
name = "row norm"
set = { "privacy.sensitivity" = "row-norm" }

[[sweep.methods]]
name = "row norm, krylov"
set = { "algorithm.kind" = "krylov" }
"#;

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("sims/sweep.toml", &format!("{SIM}{SWEEP}"));
    scratch
}

#[test]
fn a_screen_has_mean_band_and_runs_of_every_point_and_little_else() {
    let scratch = scratch();
    let shown = scratch.undertone("run sims/sweep.toml --out out");
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let text = &shown.stdout;
    let lines: Vec<&str> = text.lines().collect();
    let is_heading = |line: &&str| line.contains("99 % band");
    let heading = lines.iter().position(is_heading);
    let heading = heading.unwrap_or_else(|| panic!("{text}"));
    let columns: Vec<&str> = lines[heading].split_whitespace().collect();
    assert_eq!(
        columns,
        ["privacy.epsilon", "method", "mean", "99", "%", "band", "n"]
    );
    // Two values of the first key, two of the second, two methods.
    let points = &lines[heading + 1..heading + 9];
    for point in points {
        let words: Vec<&str> = point.split_whitespace().collect();
        let [.., mean, low, "to", high, "4"] = words.as_slice() else {
            panic!("{point}");
        };
        let [mean, low, high] = [mean, low, high].map(|n| n.parse::<f64>().expect("a number"));
        assert!(low <= mean && mean <= high && low < high, "{point}");
    }
    assert!(points[0].contains(" row norm, chebyshev "), "{text}");
    assert!(
        points[7].trim_start().starts_with("100 ")
            && points[7].contains(" row norm, krylov, linear "),
        "{text}"
    );
    assert!(lines.len() - points.len() <= 12, "{text}");
    for (word, expected) in [
        (
            "relative error against the non-private run (less is better)",
            true,
        ),
        ("relative error 0.5 is reached at privacy.epsilon = ", true),
        ("row norm, linear (baseline)", true),
        ("--verbose", true),
        ("--pareto", true),
        ("no other beats", false),
        ("epsilon, mean over runs", false),
        ("[", false),
        ("\u{1b}", false),
    ] {
        assert_eq!(text.contains(word), expected, "{word}: {text}");
    }
    // What is a method of its own, and not the baseline at another value.
    assert!(!text.contains("krylov, linear (baseline)"), "{text}");
    let page = String::from_utf8(scratch.read("out/report.html")).expect("text");
    assert!(page.contains("row norm, linear (baseline)"));
    assert!(!page.contains("krylov, linear (baseline)"));
}

#[test]
fn details_and_the_best_methods_for_their_bytes_come_on_request() {
    let scratch = scratch();
    let shown = scratch
        .undertone("run sims/sweep.toml --out out --pareto")
        .stdout;
    let title = "methods that no other beats in both relative error against the non-private run and bytes of the busiest peer:";
    assert!(shown.contains(title), "{shown}");
    assert!(shown.contains("mean relative error against"), "{shown}");
    assert!(!shown.contains("epsilon spent"), "{shown}");
    let shown = scratch.undertone("run sims/sweep.toml --out out -v").stdout;
    for words in [
        "epsilon, mean over runs:",
        "first reaches 0.5:",
        "spent by the baseline",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains(title), "{shown}");
    for (arguments, words) in [
        ("run sims/sim.toml --pareto", "--pareto is for sweeps"),
        ("run sims/sweep.toml --live", "leave --live out"),
    ] {
        let refused = scratch.undertone(arguments);
        assert_eq!(refused.code, Some(2), "{arguments}");
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
}

/// A measure of which more is better is shown itself: not one minus it, and not as a relative error.
#[test]
fn shares_are_shown_and_not_what_is_missing_of_them() {
    let scratch = Scratch::new();
    let sweep = SWEEP
        .replace("reference_floor = 1", "holdout = 0.2\ntop = 5")
        .replace("seeds = 4", "seeds = 2\nerror = \"recall\"")
        .replace("target = 0.5", "target = 0.45")
        .replace("\"averaging.scheme\" = [\"chebyshev\", \"linear\"]", "")
        .replace("\"krylov\" }", "\"krylov\", \"algorithm.iterations\" = 3 }");
    scratch.write("sims/sweep.toml", &format!("{SIM}{sweep}"));
    let shown = scratch.undertone("run sims/sweep.toml --out out --pareto");
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let text = &shown.stdout;
    for words in [
        "Recall@5 of the users' lists (more is better",
        "Recall@5 0.55 is reached",
        "in both Recall@5 and bytes",
        "mean Recall@5",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("relative error"), "{text}");
    // The frontier has the numbers of the table above it.
    let point = |line: &str| line.trim_start().starts_with("100 ");
    let mean =
        |line: &str, place: usize| line.split_whitespace().rev().nth(place).map(str::to_owned);
    let of = |name: &str, from: usize, place: usize| {
        let mut lines = text
            .lines()
            .skip(from)
            .filter(|line| point(line) && line.contains(name));
        lines.next().and_then(|line| mean(line, place))
    };
    let frontier = text
        .lines()
        .position(|line| line.contains("no other beats"));
    let frontier = frontier.expect("a frontier");
    let best = ["row norm, krylov", "row norm"]
        .into_iter()
        .find(|name| of(name, frontier, 0).is_some());
    let best = best.expect("a method is on the frontier");
    assert_eq!(of(best, frontier, 0), of(best, 0, 4), "{text}");
    let page = String::from_utf8(scratch.read("out/report.html")).expect("text");
    assert!(page.contains("target 0.55") && !page.contains("1 - Recall"));
    assert!(!page.contains("e^"), "powers are written out");
}

#[test]
fn verdicts_are_coloured_where_colours_are_wanted_and_nowhere_else() {
    let scratch = Scratch::new();
    let coloured = |variable: Option<(&str, &str)>, arguments: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
        command
            .args(arguments.split_whitespace())
            .current_dir(scratch.path(""));
        command.env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
        command.envs(variable);
        let output = command.output().expect("starts");
        let text = [output.stdout, output.stderr].concat();
        String::from_utf8(text).expect("text")
    };
    let forced = Some(("CLICOLOR_FORCE", "1"));
    let verify = "verify sims/sim.toml --runs 4";
    assert!(coloured(forced, verify).contains("\u{1b}[32mPASS"));
    assert!(!coloured(None, verify).contains('\u{1b}'));
    let warned = "run sims/sim.toml --out out --set noise.scheme=none";
    assert!(coloured(forced, warned).contains("\u{1b}[33mwarning:"));
    assert!(!coloured(None, warned).contains('\u{1b}'));
    assert!(
        !coloured(forced, &format!("{warned} --json"))
            .lines()
            .any(|line| line.starts_with("\u{1b}[32m"))
    );
    assert!(coloured(forced, "run sims/none.toml").contains("\u{1b}[31merror:"));
}
