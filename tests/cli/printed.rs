//! What `run` and `privacy` print.

use serde_json::Value;

use super::schema::{TOPOLOGY, assert_keys, assert_privacy};
use crate::support::scratch::Scratch;

#[test]
fn json_is_the_summary_and_nothing_else() {
    let scratch = Scratch::new();
    let shown = scratch.undertone("run sims/sim.toml --out out --json");
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    let printed: Value = serde_json::from_str(&shown.stdout).expect("exactly one document");
    let mut written: Value =
        serde_json::from_slice(&scratch.read("out/summary.json")).expect("JSON");
    written["timing"] = printed["timing"].clone();
    assert_eq!(printed, written);
}

#[test]
fn quiet_prints_nothing_and_writes_everything() {
    let scratch = Scratch::new();
    let shown = scratch.undertone("run sims/sim.toml --out out --quiet");
    assert_eq!(
        (shown.code, shown.stdout.as_str(), shown.stderr.as_str()),
        (Some(0), "", "")
    );
    let unprotected = scratch.undertone("run sims/sim.toml --quiet --set noise.scheme=none");
    assert_eq!(
        (unprotected.code, unprotected.stdout.as_str()),
        (Some(0), "")
    );
    let warning = &unprotected.stderr;
    assert!(
        warning.contains("protects nobody"),
        "warnings about privacy are never hidden: {warning}"
    );
    for file in ["summary.json", "basis.npy", "metrics.csv", "config.toml"] {
        assert!(scratch.path("out").join(file).is_file(), "{file}");
    }
    // The same run aloud warns: quiet was not quiet for want of anything to say.
    let aloud = scratch.undertone("run sims/sim.toml --out out --set noise.scheme=none");
    assert!(aloud.stderr.contains("protects nobody") && aloud.stdout.contains("privacy: none"));
}

#[test]
fn without_out_results_go_below_the_current_folder_by_name() {
    let scratch = Scratch::new();
    let shown = scratch.undertone("run sims/sim.toml");
    assert_eq!(shown.code, Some(0));
    assert!(
        shown.stdout.contains("report: out/small/report.html"),
        "{}",
        shown.stdout
    );
    assert!(scratch.path("out/small/summary.json").is_file());
}

#[test]
fn privacy_prints_the_cost_without_running() {
    let scratch = Scratch::new();
    let shown = scratch.undertone("privacy sims/sim.toml --json");
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    let document: Value = serde_json::from_str(&shown.stdout).expect("exactly one document");
    let keys: Vec<&String> = document.as_object().expect("a table").keys().collect();
    assert_eq!(keys, ["privacy", "topology", "warnings"]);
    assert_eq!(document["warnings"], serde_json::json!([]));
    let warned = scratch.undertone("privacy sims/sim.toml --json --set privacy.delta=0.5");
    let document: Value = serde_json::from_str(&warned.stdout).expect("exactly one document");
    let first = document["warnings"][0].as_str().expect("a sentence");
    assert!(first.contains("delta = 0.5 allows"), "{first}");
    let document: Value = serde_json::from_str(&shown.stdout).expect("exactly one document");
    assert_keys("topology", &document["topology"], &TOPOLOGY);
    assert_privacy(&document["privacy"], 2);
    for noise in document["privacy"]["iterations"]
        .as_array()
        .expect("a list")
    {
        assert_eq!(noise["sensitivity"], 1.0, "sigmas are per unit sensitivity");
    }
    assert!(!scratch.path("out").exists(), "nothing is written");
    let table = scratch.undertone("privacy sims/sim.toml").stdout;
    assert!(
        table.contains("one curious peer") && table.contains("gap to central"),
        "{table}"
    );
}

/// The first screen says what it is, and `--verbose` prints everything below it.
#[test]
fn details_stand_below_the_first_screen() {
    let scratch = Scratch::new();
    let shown = scratch.undertone("run sims/sim.toml --out out").stdout;
    for words in [
        "small: 40 users, 20 items, ",
        "; 8 peers, random-regular graph, 16 edges",
        "this run",
        "central baseline",
        "without privacy",
        "± standard deviation over 10 draws of the noise",
        "privacy: (2.00, 1e-5)-differential privacy for one interaction, against any one colluding peer",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    for words in ["mu", "sigma own", "took", "results: "] {
        assert!(!shown.contains(words), "{words}: {shown}");
    }
    let verbose = scratch.undertone("run sims/sim.toml --out out -v").stdout;
    assert!(verbose.starts_with(&shown), "{verbose}");
    for words in [
        "sigma own",
        "took",
        "results: out",
        "over draws of the noise",
    ] {
        assert!(verbose[shown.len()..].contains(words), "{words}: {verbose}");
    }
    let summary: Value = serde_json::from_slice(&scratch.read("out/summary.json")).expect("JSON");
    let draws = &summary["utility"]["draws"];
    assert_eq!(draws["of"], "relative_error");
    for method in ["this_run", "central"] {
        assert_eq!(draws[method]["count"], 10, "{draws}");
        assert!(
            draws[method]["standard_deviation"].as_f64() > Some(0.0),
            "{draws}"
        );
    }
}
