//! What a run lets out besides its release: exit code, warnings and errors must be the same for any two data sets of
//! one public shape, neighbours or not.

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
const SETTINGS: [&str; 14] = [
    "",
    "--engine central",
    "--engine federated --set noise.scheme=independent",
    "--engine event",
    "--engine analytic --set engine.probes=3",
    "--set noise.scheme=local",
    "--set algorithm.kind=krylov --set algorithm.block=4",
    "--set algorithm.kind=covariance --set algorithm.iterations=1",
    "--set algorithm.kind=momentum --set algorithm.momentum=0.1",
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
