//! What a run lets out besides its release: exit code, warnings and errors must be the same for any two data sets of
//! one public shape, neighbours or not.

use serde_json::Value;

use crate::support::scratch::{SIM, Scratch};

const USERS: usize = 16;
const ITEMS: usize = 12;

/// Whether user u has interaction i.
type Holds = Box<dyn Fn(usize, usize) -> bool>;

/// A ratings file that names every user and item whatever the data are: what is no interaction is a rating at the
/// threshold, so that the public lists, and even the number of lines, are equal.
fn listing(holds: &dyn Fn(usize, usize) -> bool) -> String {
    let mut csv = String::from("user,item,rating\n");
    for user in 0..USERS {
        for item in 0..ITEMS {
            let rating = u8::from(holds(user, item));
            csv.push_str(&format!("u{user},i{item},{rating}\n"));
        }
    }
    csv
}

/// A coin per (user, item) with probability `tenths`/10, by a fixed multiplicative hash of the three numbers.
fn coin(seed: u64, user: usize, item: usize, tenths: u64) -> bool {
    let mut mixed = seed ^ ((user * ITEMS + item) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ (mixed >> 31)) % 10 < tenths
}

/// A generic data set, and every degenerate one that a mechanism must not tell apart from it.
fn data_sets() -> Vec<(&'static str, Holds)> {
    vec![
        ("generic", Box::new(|u, i| coin(1, u, i, 4))),
        ("nothing", Box::new(|_, _| false)),
        ("one interaction", Box::new(|u, i| (u, i) == (3, 5))),
        ("one user", Box::new(|u, _| u == 3)),
        ("one item", Box::new(|_, i| i == 5)),
        ("identical rows", Box::new(|_, i| i % 3 == 0)),
        ("two kinds of rows", Box::new(|u, i| i % 2 == u % 2)),
        ("everything", Box::new(|_, _| true)),
        ("one of each", Box::new(|u, i| u % ITEMS == i)),
        ("all but one", Box::new(|u, i| (u, i) != (3, 5))),
    ]
}

/// Settings that lead the run through every part that reads the data.
const SETTINGS: [&str; 16] = [
    "",
    "--engine swarm --set engine.transport=memory",
    "--engine central",
    "--engine federated --set noise.scheme=independent",
    "--engine event",
    "--engine analytic --set engine.probes=3",
    "--set noise.scheme=local",
    "--set algorithm.kind=krylov --set algorithm.block=4",
    "--set algorithm.kind=covariance --set algorithm.iterations=1",
    "--set algorithm.kind=momentum --set algorithm.momentum=0.1",
    "--set algorithm.kind=deflation --set algorithm.rank=2",
    "--set evaluation.holdout=0.3",
    "--set evaluation.test=test.csv --set evaluation.top=3",
    "--set evaluation.reference_floor=1",
    "--set privacy.adjacency=user --set data.degree_cap=3",
    "--set algorithm.rank=1",
];

/// Exit code and standard error of a run on a data set.
fn shown(scratch: &Scratch, holds: &dyn Fn(usize, usize) -> bool, set: &str) -> (i32, String) {
    scratch.write("sims/ratings.csv", &listing(holds));
    let run = scratch.undertone(&format!("run sims/sim.toml --out out --quiet {set}"));
    (run.code.expect("no signal"), run.stderr)
}

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let sim = SIM.replace("items = 20", "items = 12");
    scratch.write("sims/sim.toml", &sim);
    // Held-out interactions of the same users: private too.
    scratch.write("sims/test.csv", &listing(&|u, i| coin(2, u, i, 2)));
    scratch
}

#[test]
fn exit_code_and_warnings_are_those_of_any_data_of_the_same_public_shape() {
    let scratch = scratch();
    let mut different = Vec::new();
    for set in SETTINGS {
        let sets = data_sets();
        let expected = shown(&scratch, &sets[0].1, set);
        assert_eq!(expected.0, 0, "{set}: {}", expected.1);
        for (name, holds) in &sets[1..] {
            let found = shown(&scratch, holds, set);
            if found != expected {
                different.push(format!(
                    "{set:?} on {name}: {found:?}, expected {expected:?}"
                ));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Random pairs, neighbours (one interaction more) or not: nothing but the figures measured on the raw data differs.
#[test]
fn random_pairs_end_alike() {
    let scratch = scratch();
    let set = "--set evaluation.holdout=0.3 --set algorithm.iterations=1";
    let mut seen = Vec::new();
    for seed in 10..25_u64 {
        let tenths = seed % 5;
        let one = move |u: usize, i: usize| coin(seed, u, i, tenths);
        let more = (seed as usize % USERS, seed as usize % ITEMS);
        let neighbour = move |u: usize, i: usize| one(u, i) ^ ((u, i) == more);
        seen.push(shown(&scratch, &one, set));
        seen.push(shown(&scratch, &neighbour, set));
    }
    assert!(
        seen.iter().all(|end| *end == seen[0] && end.0 == 0),
        "{seen:?}"
    );
}

/// A reference that does not exist is a null with a reason, in the document and on the screen.
#[test]
fn figures_without_a_reference_are_null_with_a_reason() {
    let scratch = scratch();
    scratch.write("sims/ratings.csv", &listing(&|_, i| i == 5));
    let set = "--set evaluation.holdout=0.5";
    let run = scratch.undertone(&format!("run sims/sim.toml --out out -v {set}"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stdout.contains("no reference without privacy"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("no epsilon covers them"),
        "{}",
        run.stdout
    );
    let summary: Value = serde_json::from_slice(&scratch.read("out/summary.json")).expect("JSON");
    let utility = &summary["utility"];
    assert!(utility["relative_error_non_private"].is_null(), "{utility}");
    assert!(
        utility["non_private"]["relative_error"].is_null(),
        "{utility}"
    );
    let reason = utility["reason_non_private"].as_str().expect("a reason");
    assert!(reason.contains("no unique orthonormal basis"), "{reason}");
    let page = String::from_utf8(scratch.read("out/report.html")).expect("text");
    assert!(
        page.contains("Not for publication"),
        "the report says so too"
    );
}

/// Every key of `summary.json` is either free to publish or named as not to be.
#[test]
fn the_summary_says_which_of_its_parts_no_epsilon_covers() {
    let scratch = scratch();
    scratch.write("sims/ratings.csv", &listing(&|u, i| coin(1, u, i, 4)));
    let set = "--set evaluation.holdout=0.3";
    let run = scratch.undertone(&format!(
        "run sims/sim.toml --out out --quiet --trace {set}"
    ));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let summary: Value = serde_json::from_slice(&scratch.read("out/summary.json")).expect("JSON");
    let marker = summary["not_for_publication"].as_object().expect("a table");
    let named = |list: &str| -> Vec<&str> {
        let list = marker[list].as_array().expect("a list").iter();
        list.map(|name| name.as_str().expect("a name")).collect()
    };
    let withheld = [
        named("from_raw_data"),
        named("from_the_seed"),
        named("from_the_machine"),
    ]
    .concat();
    // Settings, graphs, noise and traffic: functions of the plan and of released numbers.
    let free = [
        "algorithm",
        "averaging",
        "communication",
        "dimension",
        "engine",
        "iterations",
        "name",
        "not_for_publication",
        "peers",
        "privacy",
        "rank",
        "schema",
        "topology",
        "version",
        "warnings",
    ];
    for key in summary.as_object().expect("a table").keys() {
        let (published, held_back) = (
            free.contains(&key.as_str()),
            withheld.contains(&key.as_str()),
        );
        assert!(published != held_back, "{key} is not sorted");
    }
    for entry in std::fs::read_dir(scratch.path("out")).expect("written") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy().into_owned();
        let released = ["basis.npy", "trace", "receipt.json"].contains(&name.as_str());
        assert!(
            released != named("files").contains(&name.as_str()),
            "{name} is not sorted"
        );
    }
    // What is said to be free is the same on other data under the same seed, but for what follows from the release.
    scratch.write("sims/ratings.csv", &listing(&|_, _| false));
    let run = scratch.undertone(&format!(
        "run sims/sim.toml --out out --quiet --trace {set}"
    ));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let other: Value = serde_json::from_slice(&scratch.read("out/summary.json")).expect("JSON");
    for key in free.iter().filter(|key| **key != "privacy") {
        assert_eq!(summary[*key], other[*key], "{key}");
    }
    assert_eq!(summary["privacy"]["views"], other["privacy"]["views"]);
}

/// A sweep over data of rank below p: the cells stand, and their measures without a reference are empty.
#[test]
fn cells_of_a_sweep_outlive_a_missing_reference() {
    let scratch = scratch();
    scratch.write("sims/ratings.csv", &listing(&|_, i| i == 5));
    let sweep = "\n[sweep]\nseeds = [1, 2]\n[sweep.over]\n\"privacy.epsilon\" = [1.0, 4.0]\n";
    let sim = String::from_utf8(scratch.read("sims/sim.toml")).expect("text");
    scratch.write("sims/sweep.toml", &format!("{sim}{sweep}"));
    let run = scratch.undertone("run sims/sweep.toml --out out --quiet");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let table = String::from_utf8(scratch.read("out/sweep.csv")).expect("text");
    assert_eq!(table.lines().count(), 5, "{table}");
    assert!(!table.contains("no unique orthonormal basis"), "{table}");
}
