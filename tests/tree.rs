//! The tree scheme: one seed, equal bits on all engines and at all peers, for a fraction of the bytes.

use undertone::config::{EngineConfig, read_config};
use undertone::engine::Silent;
use undertone::engine::event::Latency;
use undertone::protocol::averaging::AveragingKind;
use undertone::run::run;
use undertone::scenario::Experiment;

use crate::equivalence::{ALGORITHMS, difference, event, written};
use crate::support::experiments::{CASES, Case, experiment, on_engine, sims};
use crate::support::repository;

const MORE: [Case; 3] = [
    Case {
        name: "cogentco",
        peers: 197,
        topology: r#"{file = "../topologies/cogentco.toml"}"#,
        colluders: 0,
    },
    Case {
        name: "hypercube-16",
        peers: 16,
        topology: r#"{generator = "hypercube"}"#,
        colluders: 1,
    },
    Case {
        name: "barabasi-albert-40",
        peers: 40,
        topology: r#"{generator = "barabasi-albert", edges_per_node = 2, seed = 1}"#,
        colluders: 0,
    },
];

/// Ten topologies, the power method and three other algorithms: every engine writes lockstep's bits, and all peers hold
/// peer 0's.
fn assert_equal_to_lockstep(engines: &[EngineConfig], most_peers: usize) {
    let cases = CASES.iter().chain(&MORE);
    for case in cases.filter(|case| case.peers <= most_peers) {
        for set in [&[] as &[&str]].into_iter().chain(ALGORITHMS) {
            let lockstep = experiment(*case, AveragingKind::Tree, set);
            let reference = written(&lockstep);
            let session = lockstep.session(&undertone::vocabulary::Seed::from_u64(1));
            let derived = session.communication(session.plan().releases().len(), false);
            assert_eq!(reference.communication, derived, "{}", case.name);
            for engine in engines {
                let other = on_engine(&lockstep, *engine);
                let what = difference(&reference, &written(&other));
                assert_eq!(what, None, "{}, {set:?}, {engine:?}", case.name);
            }
            let report = run(&lockstep, &mut Silent).expect("runs");
            let consensus = report.summary.consensus;
            assert_eq!((consensus.between_peers, consensus.contraction), (0.0, 0.0));
            assert!(
                consensus.max_disagreement <= consensus.guaranteed,
                "{consensus:?}"
            );
        }
    }
}

#[test]
fn lockstep_and_event_agree_under_a_tree_whatever_the_latency() {
    let uniform = Latency::Uniform {
        low_micros: 1,
        high_micros: 50_000,
    };
    let constant = Latency::Constant { micros: 1000 };
    assert_equal_to_lockstep(&[event(constant), event(uniform)], usize::MAX);
}

#[cfg(feature = "node")]
#[test]
fn real_peers_agree_with_lockstep_under_a_tree() {
    use undertone::config::TransportKind;
    let memory = crate::support::experiments::swarm(TransportKind::Memory);
    assert_equal_to_lockstep(&[memory], usize::MAX);
}

fn quickstart(set: &[&str]) -> Result<Experiment, String> {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    let config = read_config(&repository("sims/quickstart.toml"), &set);
    Experiment::resolve(config.map_err(|e| e.to_string())?, &sims()).map_err(|e| e.to_string())
}

#[test]
fn on_the_quickstart_a_tree_sends_a_fiftieth_of_chebyshev_s_bytes_under_the_same_guarantee() {
    let chebyshev = quickstart(&[]).expect("valid");
    let tree = quickstart(&["averaging={scheme=\"tree\"}"]).expect("valid");
    let (a, b) = (chebyshev.privacy_summary(), tree.privacy_summary());
    assert_eq!(
        format!("{a:?}"),
        format!("{b:?}"),
        "the same noise, epsilon and views"
    );
    let [ours, theirs] = [&tree, &chebyshev].map(|experiment| {
        run(experiment, &mut Silent)
            .expect("runs")
            .outcome
            .communication
    });
    println!(
        "tree {} B, {} messages, {} exchanges; chebyshev {} B, {} messages, {} exchanges; busiest {} and {} B",
        ours.bytes_total,
        ours.messages,
        ours.rounds[0],
        theirs.bytes_total,
        theirs.messages,
        theirs.rounds[0],
        ours.bytes_max_peer,
        theirs.bytes_max_peer
    );
    assert!(
        50 * ours.bytes_total <= theirs.bytes_total,
        "{ours:?} {theirs:?}"
    );
}

#[test]
fn a_tolerance_or_a_number_of_rounds_for_a_tree_is_refused_with_the_remedy() {
    for set in [
        &["averaging.scheme=tree"] as &[&str],
        &["averaging={scheme=\"tree\", tolerance=1e-6}"],
        &["averaging={scheme=\"tree\", rounds=5}"],
    ] {
        let error = quickstart(set).expect_err("refused");
        assert!(
            error.contains("remove averaging.tolerance and averaging.rounds"),
            "{error}"
        );
    }
}

#[test]
fn the_root_of_a_tree_is_named_as_the_topology_names_it() {
    let digest = |set: &[&str]| quickstart(set).map(|experiment| experiment.program().digest());
    let default = digest(&["averaging={scheme=\"tree\"}"]).expect("valid");
    let text = digest(&["averaging={scheme=\"tree\", root=\"17\"}"]).expect("valid");
    let number = digest(&["averaging={scheme=\"tree\", root=17}"]).expect("valid");
    assert_eq!(text, number);
    assert_ne!(text, default, "peer 17 is not the centre");
    let error = quickstart(&["averaging={scheme=\"tree\", root=\"nobody\"}"]).expect_err("refused");
    assert!(
        error.contains("[averaging] root") && error.contains("nobody"),
        "{error}"
    );
    let error = quickstart(&["averaging.root=17"]).expect_err("Chebyshev has no root");
    assert!(error.contains("remove it; \"tree\" knows it"), "{error}");
}
