//! Peers are called what the user's file calls them, everywhere: what is printed can be typed.

use nalgebra::DMatrix;
use serde_json::Value;
use undertone::privacy::{Delta, gaussian};

use crate::support::command::undertone_in;
use crate::support::repository;
use crate::support::scratch::Scratch;

/// An experiment with one user per peer on `graph`, a `[topology]` table's content, and more TOML at the end.
fn experiment(peers: usize, graph: &str, more: &str) -> Scratch {
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
    let sim = String::from_utf8(scratch.read("sims/sim.toml")).expect("text");
    let sim = sim
        .replace("count = 8", &format!("count = {peers}"))
        .replace(
            "generator = \"random-regular\"\ndegree = 4\nseed = 1",
            graph,
        );
    scratch.write("sims/sim.toml", &(sim + more));
    scratch
}

/// Zachary's karate club as everybody else numbers it: from 1.
fn karate_from_one() -> Vec<(usize, usize)> {
    let text = std::fs::read_to_string(repository("topologies/karate.edges")).expect("there");
    let number = |field: Option<&str>| field?.parse::<usize>().ok();
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            Some((number(fields.next())? + 1, number(fields.next())? + 1))
        })
        .collect()
}

fn edge_list(edges: &[(usize, usize)]) -> String {
    let lines = edges.iter().map(|(u, v)| format!("{u} {v}\n"));
    lines.collect()
}

/// Runs `undertone` and parses the one document it prints.
fn document(scratch: &Scratch, arguments: &[&str]) -> Value {
    let shown = undertone_in(&scratch.path(""), arguments);
    assert_eq!(shown.code, Some(0), "{arguments:?}: {}", shown.stderr);
    serde_json::from_str(&shown.stdout).expect("one document")
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

/// ε of every peer but the colluder against it, by a dense inverse of Σ over the honest peers: peers by the names
/// 1 to s of the file, independent of everything the accountant does.
fn dense_epsilons(
    document: &Value,
    edges: &[(usize, usize)],
    colluder: usize,
) -> Vec<(String, f64)> {
    let peers = edges.iter().map(|&(u, v)| u.max(v)).max().expect("edges");
    let noise = &document["privacy"]["iterations"];
    let own = number(&noise[0]["sigma_independent"]).powi(2);
    let pairwise = number(&noise[0]["sigma_pairwise"]).powi(2);
    let iterations = noise.as_array().expect("a list").len() as f64;
    let honest: Vec<usize> = (1..=peers).filter(|&u| u != colluder).collect();
    let place = |u: usize| honest.iter().position(|&v| v == u);
    let mut covariance = DMatrix::from_diagonal_element(honest.len(), honest.len(), own);
    for &(u, v) in edges {
        if let (Some(i), Some(j)) = (place(u), place(v)) {
            covariance[(i, i)] += pairwise;
            covariance[(j, j)] += pairwise;
            covariance[(i, j)] -= pairwise;
            covariance[(j, i)] -= pairwise;
        }
    }
    let inverse = covariance.try_inverse().expect("own noise is positive");
    let delta = Delta::new(number(&document["privacy"]["delta"])).expect("valid");
    let epsilon = |i: usize| gaussian::epsilon((iterations * inverse[(i, i)]).sqrt(), delta);
    let named = honest.iter().enumerate();
    named.map(|(i, u)| (u.to_string(), epsilon(i))).collect()
}

#[test]
fn a_coalition_is_named_as_in_a_file_that_counts_from_one() {
    let edges = karate_from_one();
    let scratch = experiment(34, "file = \"one.edges\"", "");
    scratch.write("sims/one.edges", &edge_list(&edges));
    for colluder in [1, 2, 34] {
        let name = colluder.to_string();
        let found = document(
            &scratch,
            &[
                "privacy",
                "sims/sim.toml",
                "--json",
                "--set",
                "privacy.colluders=0",
                "--coalition",
                &name,
            ],
        );
        let expected = dense_epsilons(&found, &edges, colluder);
        let stated: Vec<(String, f64)> = found["privacy"]["peers"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|peer| {
                let name = peer["peer"].as_str().expect("a name").to_owned();
                (name, number(&peer["epsilon"]))
            })
            .collect();
        assert_eq!(stated.len(), 33);
        for (name, epsilon) in &expected {
            let (_, found) = stated
                .iter()
                .find(|(peer, _)| peer == name)
                .unwrap_or_else(|| panic!("peer {name} is honest against {colluder}"));
            assert!(
                (found / epsilon - 1.0).abs() < 1e-6,
                "peer {name} against {colluder}: {found} stated, {epsilon} true"
            );
        }
        let worst = stated.iter().map(|peer| peer.1).fold(0.0, f64::max);
        println!("against peer {colluder} the worst-placed peer has epsilon {worst:.3}");
    }
}
