//! Numbers that headers of `sims/` and the guide state as measured: what a run gives.
//!
//! A header has them in a table, a line `# | method | 0.1 | 1 |` of ε and a line per method below, each cell
//! `mean ± standard deviation` over the seeds of the sweep. A run of the same streams gives every digit. Where streams of noise have moved
//! on purpose a mean may be four standard errors of the difference away, which one of the 128 cells here exceeds with probability 0.01,
//! and a standard deviation by a factor of four. What the guide repeats is compared with the header, digit by digit.

mod guide;
mod stated;

use std::collections::{BTreeMap, BTreeSet};

use undertone::campaign::sweep::Sweep;
use undertone::config::read_config;
use undertone::engine::Silent;
use undertone::run::run;
use undertone::scenario::Experiment;

use crate::support::repository;
use stated::{Numbers, header, stated};

/// Mean and standard deviation.
fn mean_and_spread(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}

/// Mean and standard deviation over seeds of this column of `sweep.csv`, by method and x as it is written there.
fn measured(
    text: &str,
    key: &str,
    column: &str,
) -> BTreeMap<(String, String), ((f64, f64), usize)> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().expect("a header").clone();
    let place = |name: &str| headers.iter().position(|found| found == name).expect(name);
    let [method, x, value] = ["method", key, column].map(place);
    let mut values: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for row in reader.records() {
        let row = row.expect("a row");
        let number = row[value].parse().unwrap_or_else(|_| panic!("{row:?}"));
        let at = (row[method].to_owned(), row[x].to_owned());
        values.entry(at).or_default().push(number);
    }
    let of = |values: &[f64]| (mean_and_spread(values), values.len());
    values.into_iter().map(|(at, all)| (at, of(&all))).collect()
}

/// Runs the sweep at these ε (all that are stated if none is given) and compares.
fn check(name: &str, column: &str, only: &[&str]) {
    let stated: Numbers = header(name)
        .into_iter()
        .filter(|((_, x), _)| only.is_empty() || only.contains(&x.as_str()))
        .collect();
    assert!(!stated.is_empty(), "sims/{name}.toml has a table");
    let xs: BTreeSet<&str> = stated.keys().map(|(_, x)| x.as_str()).collect();
    let xs: Vec<&str> = xs.into_iter().collect();
    let key = "privacy.epsilon";
    let set = [
        format!("sweep.over={{\"{key}\"=[{}]}}", xs.join(",")),
        "sweep.coincide=[]".to_owned(),
    ];
    let path = repository("sims").join(format!("{name}.toml"));
    let config = read_config(&path, &set).expect("valid");
    let sweep = Sweep::new(config, &repository("sims")).expect("valid");
    let out = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(sweep.run(out.path(), &mut |_| ()).expect("runs").failed, 0);
    let text = std::fs::read_to_string(out.path().join("sweep.csv")).expect("written");
    let measured = measured(&text, key, column);
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let mut wrong = Vec::new();
    for ((method, x), cell) in stated {
        let found = measured
            .iter()
            .find(|((of, at), _)| *of == method && number(at) == number(&x));
        let (_, &(found, runs)) =
            found.unwrap_or_else(|| panic!("{name}: nothing of {method} at {x}"));
        if !cell.agrees(found, runs) {
            wrong.push(format!(
                "{method} at {x}: stated {} ± {}, measured {:.4} ± {:.4} in {runs} runs",
                cell.mean.value, cell.spread.value, found.0, found.1
            ));
        }
    }
    assert!(wrong.is_empty(), "sims/{name}.toml:\n{}", wrong.join("\n"));
}

#[test]
fn a_header_s_table_is_read_whole() {
    let text = "# Expected: this.\n#   | method | 0.1 | 1 |\n#   | a, b | 0.5 ± 0.01 | |\n#   | c | 1 ± 0.1 | 0.25 ± 0 |\nname = 1\n# | d | 1 | 1 |";
    let found = stated(text);
    let places: Vec<_> = found
        .keys()
        .map(|(m, x)| (m.as_str(), x.as_str()))
        .collect();
    assert_eq!(places, [("a, b", "0.1"), ("c", "0.1"), ("c", "1")]);
    let cell = found[&("a, b".to_owned(), "0.1".to_owned())];
    assert_eq!((cell.mean.value, cell.spread.value), (0.5, 0.01));
    let csv = "method,x,seed,y\na,0.1,0,1\na,0.1,1,3\nc,1,0,2\nc,1,1,2\n";
    let measured = measured(csv, "x", "y");
    assert_eq!(
        measured[&("a".to_owned(), "0.1".to_owned())],
        ((2.0, 2_f64.sqrt()), 2)
    );
}

#[test]
fn the_header_of_breast_cancer_says_what_its_run_gives() {
    check("pca-breast-cancer", "captured_variance", &["1"]);
}

#[test]
fn the_header_of_digits_says_what_its_run_gives() {
    check("pca-digits", "captured_variance", &["1"]);
}

#[test]
fn the_headers_of_small_sweeps_say_what_their_runs_give() {
    for name in ["deflation-small", "streaming-small", "ppi-small"] {
        check(name, "relative_error", &[]);
    }
    check("graph-eigenvector", "captured_variance", &["10"]);
}

#[test]
fn the_header_of_the_recommender_says_what_its_run_gives() {
    check("recommender-movielens-epsilon", "recall", &["8"]);
}

#[test]
#[ignore = "two minutes: cargo test --test main -- facts --include-ignored"]
fn every_table_of_a_header_is_what_its_run_gives() {
    check("pca-breast-cancer", "captured_variance", &[]);
    check("pca-digits", "captured_variance", &[]);
    check("graph-eigenvector", "captured_variance", &[]);
    check("recommender-movielens-epsilon", "recall", &[]);
}

/// Relative errors under these seeds agree with the header of the quickstart.
fn check_quickstart(seeds: std::ops::Range<u64>, compares: bool) {
    let path = repository("sims/quickstart.toml");
    let mut config = read_config(&path, &[]).expect("valid");
    if !compares {
        config.compare = None;
    }
    let runs = seeds.clone().count();
    let mut found: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for seed in seeds {
        config.seed = seed;
        let experiment = Experiment::resolve(config.clone(), &repository("sims")).expect("valid");
        let summary = run(&experiment, &mut Silent).expect("runs").summary;
        let utility = summary.utility;
        let compared = utility.compared.as_ref();
        let errors = [
            ("this run", utility.relative_error),
            ("central baseline", utility.central.relative_error),
            (
                "power over chebyshev",
                compared.and_then(|other| other.utility.relative_error),
            ),
        ];
        for (name, error) in errors {
            found.entry(name).or_default().extend(error);
        }
        assert!(utility.non_private.relative_error.expect("exact") < 1e-6);
    }
    for ((name, _), cell) in header("quickstart") {
        let values = &found[name.as_str()];
        if name == "power over chebyshev" && !compares {
            continue;
        }
        assert_eq!(values.len(), runs, "{name}");
        let measured = mean_and_spread(values);
        assert!(
            cell.agrees(measured, runs),
            "{name}: {measured:?}, {cell:?}"
        );
    }
}

#[test]
fn the_quickstart_is_as_useful_as_its_header_says() {
    check_quickstart(0..8, false);
}

#[test]
#[ignore = "a minute: cargo test --test main -- facts --include-ignored"]
fn forty_runs_of_the_quickstart_are_as_useful_as_its_header_says() {
    check_quickstart(0..40, true);
}
