//! What `run` writes.

use serde_json::Value;

use super::schema::Kind::{List, Number, Table, Text};
use super::schema::{TOPOLOGY, assert_keys, assert_privacy};
use crate::support::scratch::Scratch;

/// Shape and values of a NumPy file, version 1.0, little-endian f64 in C order.
pub(super) fn numpy(bytes: &[u8]) -> ((usize, usize), Vec<f64>) {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length]).expect("ASCII");
    assert!(header.contains("'descr': '<f8'") && header.contains("'fortran_order': False"));
    let shape = header.split(['(', ')']).nth(1).expect("a shape");
    let sizes: Vec<usize> = shape
        .split(", ")
        .map(|n| n.parse().expect("a size"))
        .collect();
    let body = bytes[10 + length..].chunks_exact(8);
    let values: Vec<f64> = body
        .map(|b| f64::from_le_bytes(b.try_into().expect("8 bytes")))
        .collect();
    assert_eq!(values.len(), sizes[0] * sizes[1]);
    ((sizes[0], sizes[1]), values)
}

#[test]
fn the_summary_has_every_field_of_the_schema() {
    let scratch = Scratch::new();
    assert_eq!(
        scratch.undertone("run sims/sim.toml --out out").code,
        Some(0)
    );
    let summary: Value = serde_json::from_slice(&scratch.read("out/summary.json")).expect("JSON");
    assert_keys(
        "summary",
        &summary,
        &[
            ("schema", Number),
            ("version", Text),
            ("name", Text),
            ("engine", Text),
            ("algorithm", Text),
            ("averaging", Text),
            ("seed", Number),
            ("config_hash", Text),
            ("peers", Number),
            ("dimension", Number),
            ("rank", Number),
            ("iterations", Number),
            ("timing", Table),
            ("warnings", List),
        ],
    );
    assert_eq!(
        (&summary["schema"], &summary["name"]),
        (&1.into(), &"small".into())
    );
    assert_eq!(
        (&summary["peers"], &summary["dimension"]),
        (&8.into(), &20.into())
    );
    assert_eq!(summary["config_hash"].as_str().map(str::len), Some(64));
    assert_keys("topology", &summary["topology"], &TOPOLOGY);
    assert_privacy(&summary["privacy"], 2);
    let cost = &summary["communication"];
    assert_keys(
        "communication",
        cost,
        &[("rounds", List), ("messages", Number)],
    );
    assert_keys(
        "communication",
        cost,
        &[("bytes_total", Number), ("bytes_max_peer", Number)],
    );
    assert_keys(
        "communication",
        cost,
        &[("bytes_mean_peer", Number), ("phases", Table)],
    );
    // Means and totals of the phases add up; the busiest peer of each may be another.
    let phases = ["agreement", "sums", "coordinates"].map(|phase| &cost["phases"][phase]);
    for key in ["bytes_total", "bytes_mean_peer"] {
        let parts = phases.map(|phase| phase[key].as_f64().expect(key));
        assert_eq!(Some(parts.iter().sum::<f64>()), cost[key].as_f64(), "{key}");
    }
    let total = cost["bytes_total"].as_f64().expect("a number");
    assert_eq!(cost["bytes_mean_peer"].as_f64(), Some(total / 8.0));
    let largest = |of: &Value| of["bytes_max_peer"].as_u64().expect("a number");
    assert!(largest(phases[0]) > 0 && largest(phases[1]) > largest(phases[0]));
    assert_eq!(largest(phases[2]), 0, "no own coordinates");
    assert!(largest(cost) <= phases.iter().map(|phase| largest(phase)).sum());
    let figures = [
        "subspace_error",
        "relative_error",
        "relative_error_non_private",
    ];
    for run in [
        &summary["utility"],
        &summary["utility"]["central"],
        &summary["utility"]["non_private"],
    ] {
        assert_keys("utility", run, &figures.map(|key| (key, Number)));
    }
    assert_eq!(
        summary["utility"]["non_private"]["relative_error_non_private"].as_f64(),
        Some(0.0)
    );
    let bounds = [
        "k",
        "gap",
        "subspace_error_k",
        "runtime_dependent",
        "runtime_independent",
    ];
    assert_keys(
        "utility.bounds",
        &summary["utility"]["bounds"],
        &bounds.map(|key| (key, Number)),
    );
    let disagreement = summary["consensus"]["max_disagreement"]
        .as_f64()
        .expect("a number");
    assert!(disagreement > 0.0 && disagreement < 1e-6, "{disagreement}");
}

#[test]
fn the_basis_is_an_orthonormal_array_and_equals_the_last_of_the_trace() {
    let scratch = Scratch::new();
    assert_eq!(
        scratch
            .undertone("run sims/sim.toml --out out --trace")
            .code,
        Some(0)
    );
    let (shape, basis) = numpy(&scratch.read("out/basis.npy"));
    assert_eq!(shape, (20, 3));
    for (i, j) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
        let product: f64 = basis.chunks_exact(3).map(|row| row[i] * row[j]).sum();
        let expected = if i == j { 1.0 } else { 0.0 };
        assert!(
            (product - expected).abs() < 1e-12,
            "columns {i} and {j}: {product}"
        );
    }
    assert_eq!(
        scratch.read("out/trace/basis-2.npy"),
        scratch.read("out/basis.npy")
    );
    for name in ["basis-0", "basis-1", "basis-2", "sum-1", "sum-2"] {
        let (shape, _) = numpy(&scratch.read(&format!("out/trace/{name}.npy")));
        assert_eq!(shape, (20, 3), "{name}");
    }
    let entries = std::fs::read_dir(scratch.path("out/trace"))
        .expect("a folder")
        .count();
    assert_eq!(entries, 5);
    assert_eq!(
        scratch.undertone("run sims/sim.toml --out plain").code,
        Some(0)
    );
    assert!(
        !scratch.path("plain/trace").exists(),
        "the transcript is written on request only"
    );
}

#[test]
fn metrics_have_one_row_per_iteration_under_a_heading() {
    let scratch = Scratch::new();
    let run = scratch.undertone("run sims/sim.toml --out out --set algorithm.iterations=4");
    assert_eq!(run.code, Some(0));
    let csv = String::from_utf8(scratch.read("out/metrics.csv")).expect("text");
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 5);
    assert_eq!(rows[0][0], "iteration");
    for (l, row) in rows.iter().enumerate().skip(1) {
        assert_eq!(row.len(), rows[0].len());
        assert_eq!(row[0], l.to_string());
        for (cell, name) in row.iter().zip(&rows[0]) {
            assert!(
                cell.parse::<f64>().is_ok_and(f64::is_finite),
                "{name} = {cell}"
            );
        }
    }
}

#[test]
fn the_written_configuration_runs_again_from_anywhere_to_the_same_basis() {
    let scratch = Scratch::new();
    let topologies = ["topology.degree=4", "topology={file=\"karate.toml\"}"];
    for (number, topology) in topologies.iter().enumerate() {
        let more = "--set peers.count=34 --set privacy.colluders=0 --seed 9";
        let first = scratch.undertone(&format!(
            "run sims/sim.toml --out a{number} --set {topology} {more}"
        ));
        assert_eq!(first.code, Some(0), "{}", first.stderr);
        let again = scratch.undertone(&format!("run a{number}/config.toml --out b{number}"));
        assert_eq!(again.code, Some(0), "{}", again.stderr);
        let basis = |run: &str| scratch.read(&format!("{run}{number}/basis.npy"));
        assert_eq!(basis("a"), basis("b"), "{topology}");
        let config = |run: &str| scratch.read(&format!("{run}{number}/config.toml"));
        assert_eq!(
            config("a"),
            config("b"),
            "{topology}: defaults are filled in once"
        );
        let text = String::from_utf8(config("a")).expect("text");
        for key in [
            "seed = 9",
            "adjacency = \"interaction\"",
            "overhead = 0.01",
            "degree_floor = 5",
        ] {
            assert!(text.contains(key), "{key} is not in\n{text}");
        }
    }
}
