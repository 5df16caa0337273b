//! `undertone privacy` on real networks: an answer in seconds, or a refusal that says why.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::repository;
use crate::support::scratch::Scratch;

/// Generous: the machine may be busy and the build unoptimised.
const SECONDS: Duration = Duration::from_secs(60);

/// An experiment with one user per peer of a graph.
fn experiment(peers: usize, graph: &str) -> Scratch {
    let scratch = Scratch::new();
    let mut ratings = String::from("user,item\n");
    for user in 0..peers {
        ratings.push_str(&format!(
            "u{user},i{}\nu{user},i{}\n",
            user % 7,
            7 + user % 5
        ));
    }
    scratch.write("sims/ratings.csv", &ratings);
    let file = repository(graph);
    let sim = String::from_utf8(scratch.read("sims/sim.toml")).expect("text");
    let sim = sim
        .replace("count = 8", &format!("count = {peers}"))
        .replace(
            "generator = \"random-regular\"\ndegree = 4\nseed = 1",
            &format!("file = {file:?}"),
        );
    scratch.write("sims/sim.toml", &sim);
    scratch
}

fn plan(scratch: &Scratch, colluders: usize) -> Result<Value, String> {
    let begun = Instant::now();
    let shown = scratch.undertone(&format!(
        "privacy sims/sim.toml --json --set privacy.colluders={colluders}"
    ));
    assert!(begun.elapsed() < SECONDS, "{:?}", begun.elapsed());
    match shown.code {
        Some(0) => Ok(serde_json::from_str(&shown.stdout).expect("one document")),
        Some(2) => Err(shown.stderr),
        code => panic!("exit code {code:?}: {}", shown.stderr),
    }
}

/// What a graph must answer at t = 0: exactly the budget, with the brackets in order.
fn assert_answers(document: &Value, epsilon: f64) {
    let view = &document["privacy"]["views"][0];
    let spent = view["epsilon"].as_f64().expect("a number");
    assert!(
        spent <= epsilon * (1.0 + 1e-9) && spent > 0.9 * epsilon,
        "{view}"
    );
    for worst in document["privacy"]["coalitions"]
        .as_array()
        .expect("a list")
    {
        let least = worst["epsilon_at_least"].as_f64().expect("a number");
        let most = worst["epsilon_at_most"].as_f64().expect("a number");
        assert!(least <= most && least > 0.0, "{worst}");
    }
}

#[test]
fn karate_and_the_topology_zoo_answer_and_refuse_honestly() {
    for (graph, peers, cut) in [
        ("topologies/karate.toml", 34, "peer 0 is a cut vertex"),
        ("topologies/abilene.toml", 11, ""),
    ] {
        let scratch = experiment(peers, graph);
        assert_answers(&plan(&scratch, 0).expect("connected"), 2.0);
        let one = plan(&scratch, 1);
        if cut.is_empty() {
            assert_answers(&one.expect("no cut vertex"), 1.999);
        } else {
            assert!(one.expect_err("a cut vertex").contains(cut));
        }
        for colluders in [2, 5] {
            let refusal =
                plan(&scratch, colluders).expect_err("some peer has at most two partners");
            assert!(
                refusal.contains(&format!("colluders = {colluders}")),
                "{refusal}"
            );
        }
    }
}

#[test]
fn the_cost_of_every_peer_against_a_named_coalition_is_bracketed() {
    let scratch = experiment(11, "topologies/abilene.toml");
    let costs = |arguments: &str| -> Vec<(f64, f64, f64)> {
        let shown = scratch.undertone(&format!("privacy sims/sim.toml --json {arguments}"));
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        let document: Value = serde_json::from_str(&shown.stdout).expect("one document");
        let peers = document["privacy"]["peers"]
            .as_array()
            .expect("a list")
            .clone();
        let number = |peer: &Value, key: &str| peer[key].as_f64().expect("a number");
        let ends = |peer: &Value| {
            (
                number(peer, "epsilon_low"),
                number(peer, "epsilon"),
                number(peer, "epsilon_high"),
            )
        };
        peers.iter().map(ends).collect()
    };
    let (outside, colluding) = (costs("--peers"), costs("--coalition Chicago,Seattle"));
    assert_eq!((outside.len(), colluding.len()), (11, 9));
    for (low, epsilon, high) in outside.iter().chain(&colluding) {
        assert!(low <= epsilon && epsilon <= high && high - low < 1e-6 * high);
    }
    let worst = |costs: &[(f64, f64, f64)]| costs.iter().map(|cost| cost.1).fold(0.0, f64::max);
    assert!(
        worst(&outside) < worst(&colluding),
        "collusion costs something"
    );
    let refused = scratch.undertone("privacy sims/sim.toml --coalition Chicago,99");
    assert!(
        refused.code == Some(2) && refused.stderr.contains("no peer is named 99"),
        "{}",
        refused.stderr
    );
    let table = scratch
        .undertone("privacy sims/sim.toml --coalition Chicago,Seattle")
        .stdout;
    assert!(table.contains("most exposed of 9 honest peers"), "{table}");
}

#[test]
fn a_cut_vertex_can_be_paid_for_on_request() {
    let scratch = experiment(34, "topologies/karate.toml");
    let shown = scratch.undertone(
        "run sims/sim.toml --out out --set privacy.on_disconnect=smallest-component --set algorithm.iterations=1",
    );
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(
        shown.stderr.contains("noise.scheme = \"local\" is cheaper"),
        "{}",
        shown.stderr
    );
}

#[test]
fn facebook_and_the_internet_answer_and_refuse_honestly() {
    // Every call finds the spectrum anew, so the larger graph is asked no more than it adds.
    let graphs = [
        ("ego-facebook.edges.gz", 4039, &[2, 5][..]),
        ("oregon1-010331.edges.gz", 10_670, &[2][..]),
    ];
    for (graph, peers, too_many) in graphs {
        let path = format!("../shared/data/graphs/{graph}");
        if !repository(&path).exists() {
            crate::support::skipped(format_args!("{path} is not here"));
            continue;
        }
        let scratch = experiment(peers, &path);
        assert_answers(&plan(&scratch, 0).expect("connected"), 2.0);
        assert!(
            plan(&scratch, 1)
                .expect_err("leaves")
                .contains("cut vertex")
        );
        for &colluders in too_many {
            let refusal = plan(&scratch, colluders).expect_err("some peer has one partner");
            assert!(refusal.contains("noise partners"), "{refusal}");
        }
    }
}
