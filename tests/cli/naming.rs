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
    let own = number(&noise[0]["sigma_own"]).powi(2);
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

/// Labels of a GML file that a list, a table or a shell could misread; two of them are alike.
const LABELS: [&str; 9] = [
    "a, b",
    "&quot;quoted&quot;",
    "x - y",
    "-1",
    "--json",
    "twin",
    "twin",
    "Genève (2)",
    "3",
];

/// A ring of nine with two chords; with `pendant`, a tenth peer that hangs on `a, b` alone.
fn hostile(pendant: bool) -> Scratch {
    let mut labels = LABELS.to_vec();
    let mut edges: Vec<(usize, usize)> = (0..9).map(|u| (u, (u + 1) % 9)).collect();
    edges.extend([(0, 4), (2, 6)]);
    if pendant {
        labels.push("hanging, too");
        edges.push((0, 9));
    }
    let nodes = labels.iter().enumerate();
    let nodes: String = nodes
        .map(|(id, label)| format!("  node [ id {} label \"{label}\" ]\n", 100 + id))
        .collect();
    let edges = edges.iter();
    let edges: String = edges
        .map(|(u, v)| format!("  edge [ source {} target {} ]\n", 100 + u, 100 + v))
        .collect();
    let scratch = experiment(
        LABELS.len() + usize::from(pendant),
        "file = \"hostile.gml\"",
        "",
    );
    scratch.write("sims/hostile.gml", &format!("graph [\n{nodes}{edges}]\n"));
    scratch
}

fn run(scratch: &Scratch, arguments: &[&str]) -> (Option<i32>, String, String) {
    let shown = undertone_in(&scratch.path(""), arguments);
    (shown.code, shown.stdout, shown.stderr)
}

/// The cells of the table whose heading begins with `heading`: columns stand at least two blanks apart, and no printed
/// name contains two blanks.
fn table(text: &str, heading: &str) -> Vec<Vec<String>> {
    let rows = text
        .lines()
        .skip_while(|line| !line.trim().starts_with(heading));
    rows.skip(1)
        .take_while(|line| line.starts_with("  "))
        .map(|line| {
            let cells = line
                .split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty());
            cells.map(str::to_owned).collect()
        })
        .collect()
}

/// Every peer's ε against a coalition as printed, by name.
fn costs(scratch: &Scratch, coalition: &str) -> Vec<(String, f64)> {
    let option = format!("--coalition={coalition}");
    let arguments = [
        "privacy",
        "sims/sim.toml",
        "--json",
        &option,
        "--set",
        "privacy.colluders=0",
    ];
    let found = document(scratch, &arguments);
    let peers = found["privacy"]["peers"]
        .as_array()
        .expect("a list")
        .clone();
    let named = peers.iter().map(|peer| {
        let name = peer["peer"].as_str().expect("a name").to_owned();
        (name, number(&peer["epsilon"]))
    });
    named.collect()
}

#[test]
fn every_peer_of_a_file_with_hostile_names_can_be_typed_back() {
    let scratch = hostile(false);
    let arguments = [
        "privacy",
        "sims/sim.toml",
        "--peers",
        "--set",
        "privacy.colluders=0",
    ];
    let (code, text, stderr) = run(&scratch, &arguments);
    assert_eq!(code, Some(0), "{stderr}");
    let printed: Vec<String> = table(&text, "peer ")
        .iter()
        .map(|row| row[0].clone())
        .collect();
    assert_eq!(printed.len(), 9, "{text}");
    for name in [
        "\"a, b\"",
        "\"x - y\"",
        "--json",
        "twin (105)",
        "twin (106)",
    ] {
        assert!(
            printed.iter().any(|shown| shown == name),
            "{name}: {printed:?}"
        );
    }
    let mut removed = Vec::new();
    for shown in &printed {
        let honest = costs(&scratch, shown);
        assert_eq!(honest.len(), 8, "{shown} is one peer");
        removed.push(honest.into_iter().map(|peer| peer.0).collect::<Vec<_>>());
    }
    removed.sort();
    removed.dedup();
    assert_eq!(removed.len(), 9, "every name is another peer");
    // All in one list, and in several options; the ninth is alone, and knows its own noise only.
    let honest = costs(&scratch, &printed[..8].join(", "));
    assert_eq!(honest.len(), 1);
    let two = [
        "privacy",
        "sims/sim.toml",
        "--json",
        "--set",
        "privacy.colluders=0",
        "--coalition",
        &printed[0],
        "--coalition",
        &printed[1],
    ];
    let both = document(&scratch, &two);
    assert_eq!(
        both["privacy"]["peers"].as_array().expect("a list").len(),
        7
    );
}

#[test]
fn the_coalitions_that_privacy_prints_learn_what_it_prints() {
    let karate = experiment(34, "file = \"one.edges\"", "");
    karate.write("sims/one.edges", &edge_list(&karate_from_one()));
    for (scratch, peers) in [(hostile(false), 9), (karate, 34)] {
        let arguments = ["privacy", "sims/sim.toml", "--set", "privacy.colluders=0"];
        let (code, text, stderr) = run(&scratch, &arguments);
        assert_eq!(code, Some(0), "{stderr}");
        let rows = table(&text, "colluders  epsilon at least");
        assert!(rows.len() >= 3, "{text}");
        for row in rows {
            let [colluders, least, _, _, victim, coalition] = row.as_slice() else {
                panic!("six cells: {row:?}");
            };
            if colluders == "0" {
                continue;
            }
            let found = costs(&scratch, coalition);
            let honest = peers - colluders.parse::<usize>().expect("a count");
            assert_eq!(found.len(), honest, "{coalition}");
            let name = undertone::vocabulary::read_name(victim).expect("as printed");
            let (_, epsilon) = found.iter().find(|peer| peer.0 == name).expect("honest");
            let least: f64 = least.parse().expect("a number");
            // Four digits are printed.
            assert!((epsilon / least - 1.0).abs() < 1e-3, "{row:?}: {epsilon}");
        }
    }
}

#[test]
fn refusals_and_inspections_name_peers_as_they_can_be_typed() {
    let scratch = hostile(true);
    let (code, _, refused) = run(&scratch, &["privacy", "sims/sim.toml"]);
    assert_eq!(code, Some(2));
    assert!(
        refused.contains("peer \"a, b\" is a cut vertex")
            && refused.contains("no longer ties \"hanging, too\" to the other 8 peers"),
        "{refused}"
    );
    let (code, inspected, _) = run(&scratch, &["topology", "inspect", "sims/hostile.gml"]);
    assert_eq!(code, Some(0));
    let line = inspected.lines().find(|line| line.contains("cut vertices"));
    assert!(
        line.expect("stated").ends_with("1: \"a, b\""),
        "{inspected}"
    );
    let alone = costs(&scratch, "\"a, b\"");
    let worst = alone
        .iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .expect("some");
    assert_eq!(worst.0, "hanging, too");
    assert_eq!(costs(&scratch, "\"hanging, too\"").len(), 9);
}

#[test]
fn an_audit_names_its_players_as_they_can_be_typed() {
    let scratch = hostile(false);
    let played = |victim: &str, coalition: &str| {
        let (victim, coalition) = (
            format!("--victim={victim}"),
            format!("--coalition={coalition}"),
        );
        let arguments = [
            "audit",
            "sims/sim.toml",
            &victim,
            &coalition,
            "--trials",
            "100",
        ];
        run(
            &scratch,
            &[&arguments[..], &["--set", "privacy.colluders=0"]].concat(),
        )
    };
    let (code, text, stderr) = played("twin (105)", "--json, \"a, b\"");
    assert!(code == Some(0) || code == Some(1), "{stderr}");
    assert!(
        text.contains("peer twin (105), seen by a coalition of 2 (\"a, b\", --json)"),
        "{text}"
    );
    assert_eq!(played("twin (105)", "\"a, b\", --json").1, text);
    // A comma belongs to the one name that --victim takes.
    assert!(
        played("a, b", "-1")
            .1
            .contains("peer \"a, b\", seen by a coalition of 1 (-1)")
    );
    for (victim, coalition, needle) in [
        ("twin", "3", "no peer is named twin"),
        (
            "0",
            "3",
            "the 9 peers are named as in hostile.gml: \"a, b\", ",
        ),
        ("3", "3", "the victim 3 is in the coalition"),
        ("3", "-1,-1", "peer -1 is named twice"),
        ("3", "-1,,--json", "an empty name"),
        ("3", "\"a, b", "close the quotes"),
    ] {
        let (code, _, stderr) = played(victim, coalition);
        assert!(
            code == Some(2) && stderr.contains(needle),
            "{needle}: {stderr}"
        );
    }
}

#[test]
fn the_names_of_every_topology_of_the_repository_find_their_peers() {
    use undertone::topology::{LoadOptions, load};
    use undertone::vocabulary::{printed_list, read_name, read_names};
    let entries = std::fs::read_dir(repository("topologies")).expect("readable");
    let mut seen = 0;
    for entry in entries {
        let path = entry.expect("readable").path();
        let Ok(topology) = load(&path, LoadOptions::default()) else {
            // Attributions, and files that need the options in their recipes.
            assert!(
                path.extension().is_none_or(|ending| ending != "toml"),
                "{path:?}"
            );
            continue;
        };
        let graph = topology.graph();
        let names: Vec<String> = (0..graph.nodes()).map(|u| graph.name(u)).collect();
        let typed = read_names(&printed_list(&names)).expect("a list");
        let everybody: Vec<u32> = (0..graph.nodes() as u32).collect();
        assert_eq!(topology.find_all(&typed), Ok(everybody), "{path:?}");
        for u in 0..graph.nodes() {
            let name = read_name(&graph.printed(u)).expect("a name");
            assert_eq!(topology.find(&name), Ok(u as u32), "{path:?}");
        }
        seen += 1;
    }
    assert!(seen >= 20, "{seen}");
}

#[test]
fn messages_and_noise_over_two_files_are_matched_by_name() {
    let edges = karate_from_one();
    // The same graph with its lines in another order, and thereby other numbers: the same experiment.
    let mut turned = edges.clone();
    turned.reverse();
    let scratch = experiment(
        34,
        "file = \"one.edges\"",
        "\n[noise_topology]\nfile = \"two.edges\"\n",
    );
    scratch.write("sims/one.edges", &edge_list(&edges));
    scratch.write("sims/two.edges", &edge_list(&turned));
    let arguments = [
        "privacy",
        "sims/sim.toml",
        "--json",
        "--set",
        "privacy.colluders=0",
    ];
    let found = document(&scratch, &[&arguments[..], &["--coalition", "1"]].concat());
    let expected = dense_epsilons(&found, &edges, 1);
    for peer in found["privacy"]["peers"].as_array().expect("a list") {
        let name = peer["peer"].as_str().expect("a name");
        let (_, epsilon) = expected
            .iter()
            .find(|(own, _)| own == name)
            .expect("honest");
        assert!(
            (number(&peer["epsilon"]) / epsilon - 1.0).abs() < 1e-6,
            "{name}"
        );
    }
    // Other names are other peers.
    let shifted: Vec<_> = edges.iter().map(|(u, v)| (u + 1, v + 1)).collect();
    scratch.write("sims/two.edges", &edge_list(&shifted));
    let (code, _, stderr) = run(&scratch, &arguments);
    assert_eq!(code, Some(2));
    assert!(
        stderr.contains("the noise graph has a peer 35, which the communication graph has not"),
        "{stderr}"
    );
}

#[test]
fn guarantees_about_the_matrix_say_that_one_record_is_at_one_peer_and_what_several_cost() {
    let scratch = experiment(34, "file = \"karate.edges\"", "");
    for adjacency in ["matrix", "unit-spectral"] {
        let set = format!("privacy.adjacency={adjacency}");
        let arguments = [
            "privacy",
            "sims/sim.toml",
            "--set",
            "privacy.colluders=0",
            "--set",
            &set,
        ];
        let (code, text, stderr) = run(&scratch, &arguments);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(
            text.contains(
                "holds no peer, can hardly tell whether one peer's matrix A_u was changed by any C"
            ),
            "{text}"
        );
        let groups = table(&text, "changed peers");
        let sizes: Vec<&str> = groups.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(sizes, ["2", "3", "5", "10", "34"], "{text}");
        let (_, text, _) = run(
            &scratch,
            &[&arguments[..], &["--engine", "federated"]].concat(),
        );
        assert!(
            text.contains("whether the matrix A, the sum over all peers, was changed")
                && !text.contains("changed peers"),
            "{text}"
        );
        // The receipt of a run says the same, and a receipt that says more does not hold.
        let ran = [
            "run",
            "sims/sim.toml",
            "--out",
            "out",
            "--set",
            "privacy.colluders=0",
            "--set",
            &set,
        ];
        let (code, _, stderr) = run(&scratch, &ran);
        assert_eq!(code, Some(0), "{stderr}");
        let check = || run(&scratch, &["privacy", "check", "out/receipt.json"]);
        let (code, text, _) = check();
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("one peer's matrix A_u was changed"), "{text}");
        let receipt: Value =
            serde_json::from_slice(&scratch.read("out/receipt.json")).expect("a document");
        assert_eq!(
            receipt["guarantee"]["groups"]
                .as_array()
                .expect("a list")
                .len(),
            5
        );
        let page = String::from_utf8(scratch.read("out/report.html")).expect("text");
        assert!(
            page.contains("one peer&#39;s matrix A_u") || page.contains("one peer's matrix A_u")
        );
        for change in [
            |r: &mut Value| r["statement"] = "Nobody can tell anything.".into(),
            |r: &mut Value| r["guarantee"]["groups"][0]["epsilon"] = 0.1.into(),
            |r: &mut Value| r["guarantee"]["groups"] = Value::Array(Vec::new()),
        ] {
            let mut wrong = receipt.clone();
            change(&mut wrong);
            scratch.write("out/receipt.json", &wrong.to_string());
            assert_eq!(check().0, Some(1), "{wrong}");
        }
    }
}
