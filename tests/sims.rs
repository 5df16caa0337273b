//! The experiments in `sims/`: documented, valid, and as useful, fast and small as their headers say.

use std::path::PathBuf;
use std::time::Instant;

use undertone::campaign::auto::Auto;
use undertone::campaign::sweep::Sweep;
use undertone::config::{EngineKind, StudyConfig, read_config};
use undertone::engine::Silent;
use undertone::protocol::averaging::AveragingKind;
use undertone::run::run;
use undertone::scenario::Experiment;

use crate::support::experiments::{engine, on_engine, resolve};
use crate::support::repository;

fn sims() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository("sims")).expect("readable");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    assert!(paths.len() >= 2, "{paths:?}");
    paths
}

/// The parts of a header comment, in order, each on a line that starts with it.
fn missing_from_header(text: &str) -> Option<&'static str> {
    let mut header = text.lines().take_while(|line| line.starts_with('#'));
    ["Question:", "Command:", "Expected:"]
        .into_iter()
        .find(|part| {
            let found =
                header.find_map(|line| line.trim_start_matches(['#', ' ']).strip_prefix(part));
            found.is_none_or(|rest| rest.trim().is_empty())
        })
}

#[test]
fn every_sim_is_valid_and_says_question_command_and_expected_result() {
    for path in sims() {
        let text = std::fs::read_to_string(&path).expect("readable");
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        assert_eq!(missing_from_header(&text), None, "{name}");
        assert!(
            text.contains(&format!("sims/{name}.toml")),
            "the command of {name} names another file"
        );
        let study = StudyConfig::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        if let Some(study) = study {
            assert_eq!(study.name, name);
            study.check().unwrap_or_else(|error| panic!("{error}"));
            continue;
        }
        let config = read_config(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(config.name, name);
        let data = repository("sims").join(config.data.path());
        let config_obtain = config.data.obtain().cloned();
        let resolved = match config.sweep {
            Some(_) => Sweep::new(config, &repository("sims"))
                .map(drop)
                .map_err(|error| error.to_string()),
            None if Auto::is_meant(&config) => Auto::new(config, &repository("sims"))
                .map(drop)
                .map_err(|error| error.to_string()),
            None => Experiment::load(&path, &[])
                .map(drop)
                .map_err(|error| error.to_string()),
        };
        match resolved {
            // Everything that needs no data has been checked by then, and the message says where to get it.
            Err(error) if !data.exists() => {
                let text = error;
                assert!(text.contains("there is no"), "{name}: {text}");
                assert!(
                    config_obtain.is_some_and(|obtain| text.contains(&obtain)),
                    "{name}: {text}"
                );
                crate::support::skipped(format_args!("sims/{name}.toml is not resolved: {text}"));
            }
            Err(error) => panic!("{error}"),
            Ok(()) => {}
        }
    }
}

#[test]
fn a_header_that_lacks_a_part_is_noticed() {
    let whole = "# Question: why?\n# Command:  x\n#   more\n# Expected: y\nname = 1";
    assert_eq!(missing_from_header(whole), None);
    assert_eq!(
        missing_from_header(&whole.replace("Command", "Order")),
        Some("Command:")
    );
    assert_eq!(
        missing_from_header(&whole.replace(": y", ":")),
        Some("Expected:")
    );
    assert_eq!(
        missing_from_header("name = 1\n# Question: why?"),
        Some("Question:")
    );
}

/// Mean relative errors (this run, trusted curator, no privacy) over the first `seeds` seeds.
fn mean_relative_errors(experiment: &Experiment, seeds: u64) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for seed in 0..seeds {
        let mut config = experiment.config().clone();
        config.seed = seed;
        let seeded = resolve(config).expect("valid under any seed");
        let utility = run(&seeded, &mut Silent).expect("runs").summary.utility;
        let errors = [
            utility.relative_error,
            utility.central.relative_error,
            utility.non_private.relative_error,
        ];
        for (sum, error) in sums.iter_mut().zip(errors) {
            *sum += error.expect("exact eigenvectors are within reach");
        }
    }
    sums.map(|sum| sum / seeds as f64)
}

/// An independent implementation (NumPy, 40 other seeds) gives 0.378 with and 0.223 without privacy. Over
/// seeds the errors have standard deviations 0.017, 0.017 and 0.083 (without privacy three iterations leave
/// much to X⁰), so means of 40 that are right fall outside with probability below 0.01; the seeds are fixed.
#[test]
fn p1_s_own_method_is_as_useful_as_the_quickstart_s_header_says() {
    let power = Experiment::load(&repository("tests/power.toml"), &[]).expect("valid");
    let [ours, curator, plain] = mean_relative_errors(&power, 40);
    assert!((ours - 0.37).abs() <= 0.03, "this run: {ours}");
    assert!((curator - 0.37).abs() <= 0.03, "trusted curator: {curator}");
    assert!((plain - 0.24).abs() <= 0.05, "no privacy: {plain}");
    assert!(plain < curator.min(ours), "privacy costs something");
}

/// Error is the algorithm's, bytes are the scheme's: at equal bits every exact scheme has the error of every other, and what a
/// scheme sends is what a session says before it runs.
#[test]
fn bytes_small_draws_every_scheme_and_algorithm_against_bytes_per_peer() {
    let mut config = read_config(&repository("sims/bytes-small.toml"), &[]).expect("valid");
    let table = config.sweep.as_mut().expect("a sweep");
    let (key, listed) = &mut table.over.0[1];
    assert_eq!(key, "averaging");
    // A scheme that is registered and not in the file is drawn here all the same.
    for kind in AveragingKind::all() {
        let named = |value: &toml::Value| value["scheme"].as_str() == Some(kind.name());
        if !listed.iter().any(named) {
            let only = toml::Table::from_iter([("scheme".to_owned(), kind.name().into())]);
            listed.push(only.into());
        }
    }
    let listed = listed.len();
    let sweep = Sweep::new(config, &repository("sims")).expect("a graph for every scheme");
    let out = tempfile::tempdir().expect("a temporary folder");
    let result = sweep.run(out.path(), &mut |_| ()).expect("runs");
    assert_eq!((result.failed, result.frontiers.len()), (0, 1));
    let points = &result.frontiers[0].points;
    assert_eq!(points.len(), 3 * listed, "three algorithms");
    let of = |method: &str, averaging: &str| {
        let mut found = points
            .iter()
            .filter(|point| point.method.starts_with(method) && point.method.contains(averaging));
        found.next().expect("a point")
    };
    let exact: Vec<&str> = AveragingKind::all()
        .filter(|kind| kind.is_exact())
        .map(AveragingKind::name)
        .collect();
    for point in points {
        let over = |scheme: &&str| point.method.contains(&format!("scheme = {scheme:?}"));
        let tree = of(&point.method[..5], "{ scheme = \"tree\" }");
        assert!(
            exact.iter().any(over) || tree.bytes_mean_peer < point.bytes_mean_peer,
            "{point:?}"
        );
    }
    for method in ["power", "krylov", "covariance"] {
        let chebyshev = of(method, "{ scheme = \"chebyshev\" }");
        let tree = of(method, "{ scheme = \"tree\" }");
        // Noise streams are bound to the plan, which names the schedule: errors are draws of one law, with a standard deviation
        // of 25 % a run at most, so means of twenty differ by half with probability below 1e-6.
        let ratio = tree.error / chebyshev.error;
        assert!((0.5..2.0).contains(&ratio), "{method}: {ratio}");
        assert!(
            10.0 * tree.bytes_mean_peer < chebyshev.bytes_mean_peer,
            "{tree:?} {chebyshev:?}"
        );
        assert!(
            tree.bytes_max_peer < chebyshev.bytes_max_peer,
            "{tree:?} {chebyshev:?}"
        );
        assert_eq!(tree.bytes, tree.bytes_mean_peer, "sweep.bytes = mean");
        assert!(
            tree.bytes_mean_peer < tree.bytes_max_peer,
            "inner peers send more"
        );
    }
}

#[test]
fn swarm_64_on_one_machine_s_arrays_is_as_useful_as_its_header_says() {
    let swarm = Experiment::load(&repository("sims/swarm-64.toml"), &[]).expect("valid");
    let lockstep = on_engine(&swarm, engine(EngineKind::Lockstep));
    let [ours, curator, plain] = mean_relative_errors(&lockstep, 20);
    assert!((ours - 0.37).abs() <= 0.05, "this run: {ours}");
    assert!((ours - curator).abs() <= 0.05, "{ours} against {curator}");
    assert!(plain < ours, "{plain}");
}

/// The small figure at 2 of its 4 values: what its header expects of the ordering. Methods share X⁰ and no noise. Over 80 seeds
/// Undertone's error at ε = 10 is 0.70 of P1's, at ε = 50 it is 0.94 to 0.99 of it, with a standard deviation of 12 % a run: the mean of
/// 20 seeds is within 10 % of that but for one in a thousand. The seeds are fixed.
#[test]
fn the_small_figure_orders_the_methods_as_its_header_says() {
    let set = [
        "sweep.seeds=20",
        "sweep.coincide=[]",
        "sweep.over={\"privacy.epsilon\"=[10, 50]}",
    ];
    let config =
        read_config(&repository("sims/fig1-small.toml"), &set.map(str::to_owned)).expect("valid");
    let sweep = Sweep::new(config, &repository("sims")).expect("valid");
    let out = tempfile::tempdir().expect("a temporary folder");
    let result = sweep.run(out.path(), &mut |_| ()).expect("runs");
    assert_eq!((result.failed, result.curves.len()), (0, 5));
    for place in 0..2 {
        let mean = |name: &str| {
            let mut curves = result.curves.iter();
            let curve = curves.find(|curve| curve.method == name).expect(name);
            curve.points[place].mean
        };
        let undertone = mean("Undertone");
        for p1 in ["P1 Alg. 1", "P1 Alg. 2", "Undertone, P1's constants"] {
            let ratio = undertone / mean(p1);
            assert!(ratio < [0.8, 1.1][place], "{ratio} of the error of {p1}");
            assert!(mean(p1) < 0.6 * mean("Balcan, federated"), "{p1}");
        }
    }
}

/// Few points and seeds of fig1-jester: over ten seeds the crossings are 7.0 (P1), 1.33 (Undertone) and 4.1 (user
/// level) with bands of 2 %, so that one seed leaves the asserted factors far away.
#[test]
fn jester_keeps_the_papers_order_and_undertone_needs_a_quarter_of_its_epsilon() {
    let data = repository("../shared/data/ratings/jester-1-1.csv.gz");
    if !data.exists() {
        crate::support::skipped("fig1-jester at few points: ../shared is absent");
        return;
    }
    let set = [
        "sweep.seeds=2",
        "sweep.over={\"privacy.epsilon\" = [1, 2, 5, 10]}",
        "sweep.coincide=[]",
    ];
    let config = read_config(
        &repository("sims/fig1-jester.toml"),
        &set.map(str::to_owned),
    )
    .expect("valid");
    let sweep = Sweep::new(config, &repository("sims")).expect("valid");
    let out = tempfile::tempdir().expect("a temporary folder");
    let result = sweep.run(out.path(), &mut |_| ()).expect("runs");
    assert_eq!((result.failed, result.curves.len()), (0, 9));
    let at_10 = |name: &str| {
        let mut curves = result.curves.iter();
        let curve = curves.find(|curve| curve.method == name).expect(name);
        curve.points.last().expect("four points").mean
    };
    let order = [
        "Undertone",
        "P1 Alg. 2",
        "Hardt-Price / Balcan, central",
        "Balcan, federated",
        "FedPower-style (reconstruction)",
    ];
    for pair in order.windows(2) {
        assert!(1.1 * at_10(pair[0]) < at_10(pair[1]), "{pair:?}");
    }
    let ratio = |name: &str| {
        let mut crossings = result.crossings.iter();
        let crossing = crossings.find(|crossing| crossing.method == name);
        crossing.and_then(|crossing| crossing.ratio).expect(name)
    };
    assert!(ratio("Undertone") >= 4.0, "{}", ratio("Undertone"));
    let user = ratio("Undertone, user level");
    assert!(user >= 1.0, "{user}");
    let p1 = ratio("Undertone, P1's constants");
    // Methods share no noise: a crossing moves by 4 % from seed to seed, so a ratio of two means over 2 seeds by 4 %.
    assert!((p1 - 1.0).abs() < 0.12, "{p1}");
}

#[test]
fn the_quickstart_takes_seconds() {
    let start = Instant::now();
    let quickstart = Experiment::load(&repository("sims/quickstart.toml"), &[]).expect("valid");
    run(&quickstart, &mut Silent).expect("runs");
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds < 30.0, "{seconds}");
}

#[cfg(feature = "cli")]
mod as_commands {
    use std::time::Instant;

    use crate::support::command::undertone;

    const MEMORY: u64 = 4 << 30;

    /// Runs a sim of the repository; returns seconds and the peak memory it reports.
    fn measured(arguments: &[&str]) -> (f64, u64) {
        let out = tempfile::tempdir().expect("a temporary folder");
        let folder = out.path().to_string_lossy().into_owned();
        let start = Instant::now();
        let shown = undertone(&[&["run"], arguments, &["--json", "--out", &folder]].concat());
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        let summary: serde_json::Value = serde_json::from_str(&shown.stdout).expect("one document");
        let peak = &summary["timing"]["peak_memory_bytes"];
        let Some(peak) = peak.as_u64() else {
            crate::support::skipped("this system does not tell the peak memory of a process");
            return (seconds, 0);
        };
        assert!(
            peak > 1 << 20,
            "less than a megabyte is no measurement: {peak}"
        );
        (seconds, peak)
    }

    #[test]
    fn the_quickstart_stays_within_30_seconds_and_4_gib() {
        let (seconds, peak) = measured(&["sims/quickstart.toml"]);
        assert!(seconds < 30.0 && peak < MEMORY, "{seconds} s, {peak} bytes");
    }

    #[test]
    fn swarm_64_runs_on_lockstep_too() {
        let (seconds, peak) = measured(&["sims/swarm-64.toml", "--engine", "lockstep"]);
        assert!(seconds < 30.0 && peak < MEMORY, "{seconds} s, {peak} bytes");
    }

    #[cfg(feature = "node")]
    #[test]
    fn swarm_64_stays_within_120_seconds_and_4_gib() {
        let (seconds, peak) = measured(&["sims/swarm-64.toml"]);
        assert!(
            seconds < 120.0 && peak < MEMORY,
            "{seconds} s, {peak} bytes"
        );
    }
}
