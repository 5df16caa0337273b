//! Numbers that headers of `sims/` and the guide state as measured: what a run gives.
//!
//! A header has them in a table, a line `# | method | 0.1 | 1 |` of ε and a line per method below, each cell
//! `mean ± standard deviation` over the seeds of the sweep. A run of the same streams gives every digit. Where streams of noise have moved
//! on purpose a mean may be four standard errors of the difference away, which one of the 128 cells here exceeds with probability 0.01,
//! and a standard deviation by a factor of four. What the guide repeats is compared with the header, digit by digit.

use std::collections::{BTreeMap, BTreeSet};

use undertone::campaign::sweep::Sweep;
use undertone::config::read_config;
use undertone::engine::Silent;
use undertone::run::run;
use undertone::scenario::Experiment;

use crate::support::repository;

/// A number as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stated {
    value: f64,
    /// Digits behind the point.
    digits: i32,
}

impl Stated {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
        Some(Self {
            value: text.parse().ok()?,
            digits: i32::try_from(digits).ok()?,
        })
    }

    /// Half of the last digit.
    fn rounding(self) -> f64 {
        0.5 * 10_f64.powi(-self.digits)
    }
}

/// A mean over seeds with the standard deviation over seeds, as stated.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    mean: Stated,
    spread: Stated,
}

impl Cell {
    fn parse(text: &str) -> Option<Self> {
        let (mean, spread) = text.split_once('±')?;
        Some(Self {
            mean: Stated::parse(mean.trim())?,
            spread: Stated::parse(spread.trim())?,
        })
    }

    /// Whether `runs` with this mean and standard deviation are of the same law, as far as can be seen.
    fn agrees(self, (mean, spread): (f64, f64), runs: usize) -> bool {
        let own = self.spread.value + self.spread.rounding();
        let error = ((own.powi(2) + spread.powi(2)) / runs as f64).sqrt();
        let least = (self.spread.value - self.spread.rounding()).max(0.0);
        (mean - self.mean.value).abs() <= 4.0 * error + self.mean.rounding()
            && (least / 4.0..=4.0 * own).contains(&spread)
    }
}

/// What a header states, by method and ε.
type Numbers = BTreeMap<(String, String), Cell>;

/// The table in the header of an experiment file.
fn stated(text: &str) -> Numbers {
    let header = text.lines().take_while(|line| line.starts_with('#'));
    let lines = header.filter_map(|line| line.trim_start_matches(['#', ' ']).strip_prefix('|'));
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim().trim_end_matches('|');
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = lines.map(cells);
    let columns = lines.next().unwrap_or_default();
    let mut found = Numbers::new();
    for row in lines {
        assert_eq!(row.len(), columns.len(), "{row:?}");
        for (column, cell) in columns.iter().zip(&row).skip(1) {
            if cell.is_empty() {
                continue;
            }
            let place = (row[0].clone(), column.clone());
            let read = Cell::parse(cell).unwrap_or_else(|| panic!("{cell:?}"));
            found.insert(place, read);
        }
    }
    found
}

/// The table of `sims/NAME.toml`.
fn header(name: &str) -> Numbers {
    let path = repository("sims").join(format!("{name}.toml"));
    stated(&std::fs::read_to_string(path).expect("readable"))
}

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
fn a_mean_beyond_its_error_is_noticed() {
    let cell = Cell::parse("0.73 ± 0.02").expect("a cell");
    assert!(cell.agrees((0.7261, 0.0191), 10));
    // Four times 0.0092, and half a digit.
    assert!(cell.agrees((0.765, 0.02), 10) && cell.agrees((0.695, 0.02), 10));
    assert!(!cell.agrees((0.775, 0.02), 10) && !cell.agrees((0.685, 0.02), 10));
    assert!(!cell.agrees((0.74, 0.1), 10) && !cell.agrees((0.74, 0.0), 10));
    assert!(!cell.agrees((f64::NAN, 0.02), 10));
    let exact = Cell::parse("0.998 ± 0.000").expect("a cell");
    assert!(exact.agrees((0.9981, 0.0), 10) && !exact.agrees((0.99, 0.0), 10));
    assert_eq!(Cell::parse("0.73"), None);
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

/// `{sim; method; x; digits}` in a line of the guide, with the number that the header of that sim has there.
fn filled(template: &str) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (place, after) = after.split_once('}').expect("closed");
        let parts: Vec<&str> = place.split(';').map(str::trim).collect();
        let [sim, method, x, digits] = parts[..] else {
            panic!("{place}")
        };
        let numbers = header(sim);
        let number = numbers.get(&(method.to_owned(), x.to_owned()));
        let cell = number.unwrap_or_else(|| panic!("no {method} at {x} in sims/{sim}.toml"));
        let digits = digits.parse().expect("a number of digits");
        text.push_str(before);
        text.push_str(&format!("{:.digits$}", cell.mean.value));
        rest = after;
    }
    text + rest
}

/// What the guide repeats is what the headers say. That headers say what runs give is tested above.
#[test]
fn the_guide_repeats_headers_digit_by_digit() {
    let laplace = |start: &str, method: &str| {
        let cells = [
            ("pca-digits", ["0.5", "1", "5", "10"]),
            ("pca-breast-cancer", ["0.5", "1", "2", "5"]),
        ];
        let cells = cells.into_iter().flat_map(|(sim, xs)| xs.map(|x| (sim, x)));
        let cells = cells.map(|(sim, x)| format!(" {{{sim}; {method}; {x}; 2}} |"));
        (
            "laplace",
            format!("| {start} |{}", cells.collect::<String>()),
        )
    };
    let recommended = |start: &str, method: &str| {
        let cells = ["0.1", "0.25", "0.5", "1", "2", "4", "8"];
        let cells =
            cells.map(|x| format!(" {{recommender-movielens-epsilon; {method}; {x}; 3}} |"));
        ("recommendation", format!("| {start} |{}", cells.concat()))
    };
    let digits = |line: &str| line.replace("DIGITS", "pca-digits; isometric, private mean");
    let claims = [
        laplace("Gaussian triangle, δ = 10⁻⁵", "isometric, public mean"),
        laplace(
            "Laplace triangle, δ = 0",
            "Laplace covariance (delta = 0), public mean",
        ),
        laplace(
            "Laplace power, L = 3, δ = 0",
            "Laplace power (delta = 0), L = 3, public mean",
        ),
        laplace(
            "the same with Hardt & Price's constant",
            "Hardt & Price's Laplace constant (delta = 0), L = 3, public mean",
        ),
        (
            "algorithms",
            "ε = 10 is needed for a captured variance of {graph-eigenvector; power, 5 steps; 10; 2} (".to_owned(),
        ),
        recommended("`auto`, one rating", "auto, one rating"),
        recommended("`auto`, one person", "auto, one person"),
        recommended("a basis (block Krylov), one rating", "a basis, one rating"),
        (
            "choosing_epsilon",
            "error {quickstart; this run; 2; 2} of the matrix's own size".to_owned(),
        ),
        (
            "choosing_epsilon",
            digits(
                "| 0.1; 1; 5 | {DIGITS; 0.1; 2}; {DIGITS; 1; 2}; {DIGITS; 5; 2} of the variance",
            ),
        ),
        (
            "matrices",
            digits(
                "capture {pca-digits; isometric, no centring; 1; 2} of the variance without, {DIGITS; 1; 2} with a private mean",
            ),
        ),
        (
            "matrices",
            digits(
                "{pca-breast-cancer; isometric, private mean; 0.5; 2} of the variance of four components\n  is captured, with 1,797 rows at ε = 0.1 {DIGITS; 0.1; 2} of that of eight",
            ),
        ),
    ];
    for (page, template) in claims {
        let path = repository("src/guide").join(format!("{page}.md"));
        let text = std::fs::read_to_string(path).expect("readable");
        let line = filled(&template);
        assert!(text.contains(&line), "{page}.md does not say: {line}");
        // A number that is another is seen.
        let changed = line.replacen("0.", "1.", 1);
        assert!(!text.contains(&changed), "{page}.md says: {changed}");
    }
}
