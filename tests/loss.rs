//! Runs that lose messages, from the experiment file to the summary.

use undertone::config::Config;
use undertone::engine::Silent;
use undertone::protocol::averaging::AveragingKind;
use undertone::run::run;
use undertone::scenario::Experiment;

use crate::support::experiments::{CASES, Case, config, experiment, sims};

const KINDS: [AveragingKind; 2] = [AveragingKind::PushSum, AveragingKind::Pairwise];

/// An expander, a lattice, a social network and a backbone.
const GRAPHS: [Case; 4] = [CASES[3], CASES[4], CASES[5], CASES[6]];

/// The patterns of these runs are fixed by the seed; of others at most one in 10⁶ is planned to exceed the tolerance.
#[test]
fn a_fifth_of_the_messages_lost_leaves_every_peer_within_the_tolerance() {
    for case in GRAPHS {
        for scheme in KINDS {
            let lossy = [
                "engine.kind=event",
                "engine.loss=0.2",
                "averaging.tolerance=1e-9",
            ];
            let planned = experiment(case, scheme, &lossy);
            let report = run(&planned, &mut Silent).expect("runs");
            let found = report.summary.consensus;
            let about = format!("{}, {scheme:?}: {found:?}", case.name);
            assert!(found.contraction <= 1e-9, "{about}");
            assert!(found.max_disagreement <= found.guaranteed, "{about}");
            // A fifth of all averaging messages, six standard deviations: exceeded with probability 2e-9 per run.
            let sent = &report.summary.communication;
            let written = serde_json::to_value(&report.summary).expect("JSON");
            assert_eq!(written["communication"]["lost"], sent.lost, "{about}");
            let (lost, all) = (sent.lost as f64, sent.messages as f64);
            assert!(
                (lost - 0.2 * all).abs() < 6.0 * (0.16 * all).sqrt(),
                "{lost} of {all}"
            );
            println!(
                "{}, {}: {} rounds, {} messages, {} bytes, {} lost, disagreement {:e} of {:e}",
                case.name,
                scheme.name(),
                planned.rounds(),
                sent.messages,
                sent.bytes_total,
                sent.lost,
                found.max_disagreement,
                found.guaranteed,
            );
            // Without loss fewer rounds are planned, and nothing is said of lost messages.
            let lossless = experiment(case, scheme, &["averaging.tolerance=1e-9"]);
            assert!(lossless.rounds() < planned.rounds(), "{about}");
            let report = run(&lossless, &mut Silent).expect("runs");
            let plain = serde_json::to_value(&report.summary).expect("JSON");
            let plain = &plain["communication"];
            assert!(plain.get("lost").is_none());
            // What loss costs stands in the summary: more rounds, messages and bytes.
            let cost = &written["communication"];
            for key in [
                "messages",
                "bytes_total",
                "bytes_max_peer",
                "bytes_mean_peer",
            ] {
                let [with, without] = [cost, plain].map(|all| all[key].as_f64().expect("a number"));
                assert!(with > without, "{about}, {key}: {with} {without}");
            }
            let rounds = |all: &serde_json::Value| all["rounds"][0].as_u64().expect("a number");
            assert_eq!(
                rounds(cost) - rounds(plain),
                u64::from(planned.rounds() - lossless.rounds())
            );
        }
    }
}

#[test]
fn loss_is_refused_where_nothing_can_be_lost() {
    let refused = |scheme, set: &[&str]| {
        let config: Config = config(CASES[3], scheme, set);
        let refused = Experiment::resolve(config, &sims());
        refused.map(|_| ()).expect_err("refused").to_string()
    };
    for kind in ["lockstep", "analytic", "swarm", "central", "federated"] {
        let set = format!("engine.kind={kind}");
        let error = refused(AveragingKind::PushSum, &[&set, "engine.loss=0.2"]);
        assert!(error.contains("kind = \"event\""), "{error}");
    }
    for scheme in AveragingKind::all().filter(|scheme| !scheme.passes_mass()) {
        let error = refused(scheme, &["engine.kind=event", "engine.loss=0.2"]);
        assert!(error.contains("push-sum"), "{error}");
    }
    for loss in ["1", "1.5", "-0.1", "nan"] {
        let set = format!("engine.loss={loss}");
        let path = undertone::config::read_config(&sims().join("quickstart.toml"), &[set]);
        let error = path.expect_err("no fraction").to_string();
        assert!(error.contains("below 1"), "{error}");
    }
}

/// Graphs of the guide's table.
const LARGE: [Case; 3] = [
    Case {
        name: "random-regular-610-10",
        peers: 610,
        topology: r#"{file = "../topologies/random-regular-610-10.toml"}"#,
        colluders: 0,
    },
    Case {
        name: "barabasi-albert-200",
        peers: 200,
        topology: r#"{file = "../topologies/barabasi-albert-200.toml"}"#,
        colluders: 0,
    },
    Case {
        name: "cogentco",
        peers: 197,
        topology: r#"{file = "../topologies/cogentco.toml"}"#,
        colluders: 0,
    },
];

#[test]
#[ignore = "a minute: prints what the guide's table of rounds and messages says"]
fn the_table_of_the_guide() {
    for case in LARGE {
        let edges = |planned: &Experiment| planned.topology().graph().edges() as f64;
        let per_peer = |planned: &Experiment, messages: f64| {
            messages / planned.topology().graph().nodes() as f64
        };
        let chebyshev = experiment(
            case,
            AveragingKind::Chebyshev,
            &["averaging.tolerance=1e-9"],
        );
        let messages = 2.0 * edges(&chebyshev) * f64::from(chebyshev.rounds());
        let messages = per_peer(&chebyshev, messages);
        println!(
            "{}: chebyshev {} rounds, {messages:.0}",
            case.name,
            chebyshev.rounds()
        );
        for scheme in KINDS {
            for loss in ["0", "0.2"] {
                let loss_key = format!("engine.loss={loss}");
                let set = ["engine.kind=event", &loss_key, "averaging.tolerance=1e-9"];
                let planned = experiment(case, scheme, &set);
                let mut messages = 0.0;
                for u in 0..planned.topology().graph().nodes() {
                    let part = planned.schedule().peer(planned.topology(), u);
                    let degree = planned.topology().graph().neighbours(u).len();
                    let heard = (0..degree).map(|position| f64::from(part.heard(position).count()));
                    messages += heard.sum::<f64>();
                }
                let messages = per_peer(&planned, messages);
                let (scheme, rounds) = (scheme.name(), planned.rounds());
                println!(
                    "{}: {scheme}, loss {loss}: {rounds} rounds, {messages:.0} per peer",
                    case.name
                );
            }
        }
    }
}
