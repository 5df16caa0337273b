//! Trees: what they cost beside gossip, and what is refused. That all engines agree to the bit stands in `conformance`.

use undertone::config::read_config;
use undertone::engine::Silent;
use undertone::protocol::Values;
use undertone::protocol::averaging::{
    AveragingKind, AveragingOptions, Length, Load, MixingBounds, Schedule, Traffic,
};
use undertone::run::run;
use undertone::scenario::Experiment;
use undertone::topology::{LoadOptions, Topology, load};

use crate::support::experiments::resolve;
use crate::support::repository;

/// P1's own method on the quickstart's users, with these keys changed.
fn power(set: &[&str]) -> Result<Experiment, String> {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    let config = read_config(&repository("tests/power.toml"), &set);
    resolve(config.map_err(|e| e.to_string())?).map_err(|e| e.to_string())
}

#[test]
fn a_tree_sends_a_fiftieth_of_chebyshev_s_bytes_under_the_same_guarantee() {
    let chebyshev = power(&[]).expect("valid");
    let tree = power(&["averaging={scheme=\"tree\"}"]).expect("valid");
    let (a, b) = (chebyshev.privacy_summary(), tree.privacy_summary());
    assert_eq!(
        format!("{a:?}"),
        format!("{b:?}"),
        "the same noise, epsilon and views"
    );
    let [ours, theirs] =
        [&tree, &chebyshev].map(|experiment| run(experiment, &mut Silent).expect("runs").summary);
    assert_eq!(ours.consensus.between_peers, 0.0);
    let (ours, theirs) = (ours.communication, theirs.communication);
    println!("tree {ours:?}; chebyshev {theirs:?}");
    assert!(
        50 * ours.bytes_total <= theirs.bytes_total,
        "{ours:?} {theirs:?}"
    );
    assert!(
        15 * ours.bytes_max_peer <= theirs.bytes_max_peer,
        "{ours:?} {theirs:?}"
    );
}

/// The quickstart against P1's own method, which it names under `[compare]`: the same ε against everybody, less error,
/// fewer bytes in all and at the busiest peer. What is printed beside the run is that method's own run, to the bit.
#[test]
fn the_quickstart_beats_p1_s_own_method_in_error_and_bytes_at_the_same_epsilon() {
    let quickstart = Experiment::load(&repository("sims/quickstart.toml"), &[]).expect("valid");
    let summary = run(&quickstart, &mut Silent).expect("runs").summary;
    assert_eq!(
        (summary.algorithm, summary.averaging),
        ("covariance", "tree")
    );
    let beside = summary
        .utility
        .compared
        .as_ref()
        .expect("named in the file");
    assert_eq!(
        (beside.name().as_str(), beside.iterations, &beside.reason),
        ("power over chebyshev", 3, &None)
    );
    let alone = run(&power(&[]).expect("valid"), &mut Silent)
        .expect("runs")
        .summary;
    assert_eq!(
        beside.utility.relative_error, alone.utility.relative_error,
        "it ran, from the same seed"
    );
    assert_eq!(beside.communication.as_ref(), Some(&alone.communication));
    assert_eq!(beside.views, alone.privacy.views);
    assert_eq!(summary.privacy.views.len(), beside.views.len());
    for (ours, theirs) in summary.privacy.views.iter().zip(&beside.views) {
        assert_eq!(ours.view, theirs.view);
        assert!(
            (ours.epsilon - theirs.epsilon).abs() < 1e-9,
            "{ours:?} {theirs:?}"
        );
    }
    let (ours, theirs) = (
        summary
            .utility
            .relative_error
            .expect("exact is within reach"),
        beside
            .utility
            .relative_error
            .expect("exact is within reach"),
    );
    assert!(ours < 0.6 * theirs, "{ours} against {theirs}");
    let (ours, theirs) = (&summary.communication, &alone.communication);
    assert!(
        10 * ours.bytes_total < theirs.bytes_total,
        "{ours:?} {theirs:?}"
    );
    assert!(
        2 * ours.bytes_max_peer < theirs.bytes_max_peer,
        "{ours:?} {theirs:?}"
    );
    assert_eq!(summary.consensus.between_peers, 0.0);
}

/// What contradicts itself under `[compare]` is refused before anything runs.
#[test]
fn a_method_to_compare_with_that_is_none_is_refused_by_its_table() {
    let set = |compare: &str| {
        let set = [format!("compare={compare}"), "data.items=40".to_owned()];
        let config =
            read_config(&repository("tests/power.toml"), &set).map_err(|e| e.to_string())?;
        let experiment = resolve(config).map_err(|e| e.to_string())?;
        run(&experiment, &mut Silent).map_err(|e| e.to_string())
    };
    for (compare, needle) in [
        (
            "{algorithm={kind=\"covariance\", iterations=2}}",
            "[compare]",
        ),
        (
            "{algorithm={kind=\"krylov\", iterations=1, block=2}}",
            "block",
        ),
        (
            "{algorithm={kind=\"power\", iterations=1}, averaging={scheme=\"tree\", rounds=3}}",
            "averaging.rounds",
        ),
        ("{algorithm={kind=\"power\", iterations=1, rank=2}}", "rank"),
    ] {
        let error = set(compare).expect_err("refused");
        assert!(error.contains(needle), "{compare}: {error}");
    }
}

#[test]
fn a_tolerance_or_a_number_of_rounds_for_a_tree_is_refused_with_the_remedy() {
    for set in [
        &["averaging.scheme=tree"] as &[&str],
        &["averaging={scheme=\"tree\", tolerance=1e-6}"],
        &["averaging={scheme=\"tree\", rounds=5}"],
    ] {
        let error = power(set).expect_err("refused");
        assert!(
            error.contains("remove averaging.tolerance and averaging.rounds"),
            "{error}"
        );
    }
}

#[test]
fn the_root_of_a_tree_is_named_as_the_topology_names_it() {
    let digest = |set: &[&str]| power(set).map(|experiment| experiment.schedule().digest());
    let default = digest(&["averaging={scheme=\"tree\"}"]).expect("valid");
    let text = digest(&["averaging={scheme=\"tree\", root=\"17\"}"]).expect("valid");
    let number = digest(&["averaging={scheme=\"tree\", root=17}"]).expect("valid");
    assert_eq!(text, number);
    assert_ne!(text, default, "peer 17 is not the centre");
    let error = power(&["averaging={scheme=\"tree\", root=\"nobody\"}"]).expect_err("refused");
    assert!(
        error.contains("[averaging] root") && error.contains("nobody"),
        "{error}"
    );
    let error = power(&["averaging.root=17"]).expect_err("Chebyshev has no root");
    assert!(error.contains("remove it; \"tree\" knows it"), "{error}");
}

fn schedule(topology: &Topology, fan_in: u32, turns: u32) -> Schedule {
    let options = AveragingOptions::default();
    let options = options
        .with_fan_in(fan_in)
        .and_then(|o| o.with_rotate(turns));
    let (bounds, options) = (
        MixingBounds {
            lowest: -0.9,
            second: 0.9,
        },
        options.expect("in range"),
    );
    let schedule = AveragingKind::Tree.compile(topology, bounds, Length::Own, options);
    schedule.expect("connected")
}

/// Blocks per sum that the busiest peer sends, over eight sums.
fn busiest(schedule: &Schedule, topology: &Topology) -> f64 {
    let load = Load::sum(0, 1, Values::F64).repeated(8);
    let traffic = Traffic::of(schedule, topology, &load);
    traffic.bytes.bytes_max_peer as f64 / load.sums.iter().sum::<u64>() as f64
}

/// The guide's tables: busiest peer and rounds of trees, for limits of the children and for trees that take turns.
fn tables(names: &[&str]) -> Vec<String> {
    let topologies = names.iter().map(|name| {
        let path = repository(&format!("topologies/{name}.toml"));
        load(&path, LoadOptions::default()).expect("a named topology")
    });
    let topologies: Vec<Topology> = topologies.collect();
    let named = || names.iter().zip(&topologies);
    let limits = named().map(|(name, topology)| {
        let cells = [2, 3, 4, 8, 1 << 20].map(|fan_in| {
            let schedule = schedule(topology, fan_in, 1);
            format!(
                " {} / {} |",
                busiest(&schedule, topology),
                schedule.rounds()
            )
        });
        format!("| {name} |{}", cells.concat())
    });
    let turns = named().flat_map(|(name, topology)| {
        [4, 8].map(|fan_in| {
            let cells = [1, 2, 4, 8].map(|turns| {
                let schedule = schedule(topology, fan_in, turns);
                format!(
                    " {:.2} / {} |",
                    busiest(&schedule, topology),
                    schedule.rounds()
                )
            });
            format!("| {name} | {fan_in} |{}", cells.concat())
        })
    });
    limits.chain(turns).collect()
}

#[test]
fn the_guide_says_what_trees_cost() {
    let lines = tables(&[
        "random-regular-610-10",
        "barabasi-albert-200",
        "random-geometric-150",
        "torus-8x8",
        "cogentco",
    ]);
    let guide = std::fs::read_to_string(repository("src/guide/averaging.md")).expect("readable");
    let missing: Vec<&String> = lines.iter().filter(|line| !guide.contains(*line)).collect();
    assert!(missing.is_empty(), "the guide lacks {missing:#?}");
}
