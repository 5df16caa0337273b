//! `undertone topology inspect | generate | list`.

use serde_json::Value;
use undertone::topology::REGISTRY;

use crate::support::command::undertone;
use crate::support::repository;
use crate::support::scratch::Scratch;

fn inspected(scratch: &Scratch, file: &str) -> Value {
    let shown = scratch.undertone(&format!("topology inspect {file} --json"));
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    serde_json::from_str(&shown.stdout).expect("one document")
}

#[test]
fn a_generated_graph_written_to_a_file_is_inspected_as_what_was_asked_for() {
    let scratch = Scratch::new();
    let families = [
        ("ring --nodes 9", 9, 9),
        ("complete --nodes 7", 7, 21),
        ("star --nodes 6", 6, 5),
        ("hypercube --nodes 16", 16, 32),
        (
            "random-regular --nodes 20 --set degree=6 --set seed=4",
            20,
            60,
        ),
    ];
    for (arguments, nodes, edges) in families {
        let made = scratch.undertone(&format!("topology generate {arguments} --out made.edges"));
        assert_eq!(
            (made.code, made.stdout.as_str()),
            (Some(0), ""),
            "{}",
            made.stderr
        );
        let summary = inspected(&scratch, "made.edges");
        assert_eq!(summary["nodes"], nodes, "{arguments}");
        assert_eq!(summary["edges"], edges, "{arguments}");
        assert_eq!(summary["connected"], true, "{arguments}");
        // Without --out the same bytes go to standard output.
        let printed = scratch.undertone(&format!("topology generate {arguments}"));
        assert_eq!(
            printed.stdout.as_bytes(),
            scratch.read("made.edges"),
            "{arguments}"
        );
    }
}

#[test]
fn a_generator_s_seed_decides_the_graph() {
    let edges = |seed: u32| {
        let seed = format!("seed={seed}");
        let arguments = [
            "topology",
            "generate",
            "random-regular",
            "--nodes",
            "20",
            "--set",
            "degree=4",
        ];
        undertone(&[&arguments[..], &["--set", &seed]].concat()).stdout
    };
    assert_eq!(edges(1), edges(1));
    assert_ne!(edges(1), edges(2));
}

#[test]
fn inspect_names_size_spectrum_cut_vertices_and_licence() {
    let path = repository("topologies/karate.toml");
    let shown = undertone(&["topology".as_ref(), "inspect".as_ref(), path.as_os_str()]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let line = |start: &str| {
        let found = shown
            .stdout
            .lines()
            .find(|line| line.trim().starts_with(start));
        found.unwrap_or_else(|| panic!("no {start}:\n{}", shown.stdout))
    };
    assert!(line("nodes").ends_with("34"));
    assert!(line("edges").ends_with("78"));
    assert!(line("algebraic connectivity").contains("0.468525"));
    assert!(line("cut vertices").ends_with("1: 0"));
    assert!(line("source").contains("Zachary"));
}

#[test]
fn inspect_takes_the_largest_component_only_when_asked() {
    let scratch = Scratch::new();
    let shown = scratch.undertone("topology inspect sims/pieces.edges");
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let line = shown
        .stdout
        .lines()
        .find(|line| line.contains("connected  "));
    let line = line.expect("it says whether");
    assert!(
        line.contains("no: 2 components") && line.contains("--largest-component"),
        "{line}"
    );
    let shown = scratch.undertone("topology inspect sims/pieces.edges --largest-component --json");
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let summary: Value = serde_json::from_str(&shown.stdout).expect("one document");
    assert_eq!(
        (&summary["nodes"], &summary["edges"]),
        (&5.into(), &4.into())
    );
}

#[test]
fn list_names_every_generator_and_every_recipe() {
    let shown = undertone(&["topology", "list"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    for entry in REGISTRY {
        assert!(shown.stdout.contains(entry.name), "{}", entry.name);
    }
    let mut recipes = 0;
    for file in std::fs::read_dir(repository("topologies")).expect("readable") {
        let name = file
            .expect("readable")
            .file_name()
            .into_string()
            .expect("text");
        if name.ends_with(".toml") {
            assert!(shown.stdout.contains(&name), "{name}");
            recipes += 1;
        }
    }
    assert!(
        recipes >= 12,
        "at least twelve named graphs, found {recipes}"
    );
}

#[test]
fn wrong_generators_parameters_and_files_are_refused_with_what_would_do() {
    let scratch = Scratch::new();
    scratch.write("loop.edges", "0 1\n1 1\n");
    let refused = [
        (
            "generate donut --nodes 5",
            &["donut", "random-regular", "topology list"][..],
        ),
        (
            "generate random-regular --nodes 20 --set degre=4",
            &["degre", "degree"],
        ),
        (
            "generate random-regular --nodes 5 --set degree=3 --set seed=1",
            &["degree", "5"],
        ),
        ("generate ring --nodes 1", &["ring", "1 nodes", "between 3"]),
        ("inspect none.edges", &["none.edges"]),
        ("inspect loop.edges", &["loop.edges:2", "1"]),
    ];
    for (arguments, words) in refused {
        let shown = scratch.undertone(&format!("topology {arguments}"));
        assert_eq!(shown.code, Some(2), "{arguments}");
        assert_eq!(shown.stdout, "", "{arguments}");
        for word in words {
            assert!(
                shown.stderr.contains(word),
                "{arguments}: no {word:?} in {}",
                shown.stderr
            );
        }
    }
}
