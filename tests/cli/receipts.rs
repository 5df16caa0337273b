//! Receipts: written by runs, recomputed by `undertone privacy check`, refused when they lie.

use serde_json::Value;

use crate::support::scratch::Scratch;

/// Changes a receipt.
type Change = fn(&mut Value);

fn checked(scratch: &Scratch) -> (Option<i32>, String, String) {
    let shown = scratch.undertone("privacy check out/receipt.json");
    (shown.code, shown.stdout, shown.stderr)
}

fn receipt(scratch: &Scratch) -> Value {
    serde_json::from_slice(&scratch.read("out/receipt.json")).expect("JSON")
}

#[test]
fn a_receipt_of_every_scheme_and_engine_holds() {
    for set in [
        "",
        "--engine event",
        "--engine federated --set noise.scheme=independent",
        "--engine central",
        "--set noise.scheme=local",
        "--set privacy.adjacency=user",
        "--set privacy.calibration=zcdp --set privacy.sensitivity=row-norm",
        "--set privacy.colluders=2 --set topology.degree=6",
        "--set algorithm.kind=krylov --set algorithm.block=5",
        "--set algorithm.kind=covariance --set algorithm.iterations=1",
        "--set privacy.budget=[3,1] --set algorithm.start=popularity",
        "--set algorithm.kind=momentum --set algorithm.momentum=0.5",
        "--set algorithm.kind=covariance --set algorithm.iterations=1 --set privacy.adjacency=user",
    ] {
        let scratch = Scratch::new();
        let run = scratch.undertone(&format!("run sims/sim.toml --out out --quiet {set}"));
        assert_eq!(run.code, Some(0), "{set}: {}", run.stderr);
        let (code, stdout, stderr) = checked(&scratch);
        assert_eq!(code, Some(0), "{set}: {stdout}{stderr}");
        assert!(
            stdout.ends_with("PASS\n") && !stdout.contains("FAIL"),
            "{set}: {stdout}"
        );
        let receipt = receipt(&scratch);
        assert_eq!(receipt["noise_graph"]["nodes"], 8);
        let iterations = if set.contains("covariance") { 1 } else { 2 };
        assert_eq!(
            receipt["iterations"].as_array().map(Vec::len),
            Some(iterations)
        );
        assert!(receipt["request"]["degree_floor"] == 5 && receipt["version"].is_string());
    }
}

#[test]
fn every_number_that_is_made_rosier_is_found() {
    let scratch = Scratch::new();
    assert_eq!(
        scratch
            .undertone("run sims/sim.toml --out out --quiet")
            .code,
        Some(0)
    );
    let honest = receipt(&scratch);
    let lies: [(&str, Change); 17] = [
        ("a number of iterations the algorithm can run", |r| {
            r["request"]["algorithm"] = "covariance".into()
        }),
        ("statistic of iteration 1", |r| {
            r["iterations"][0] = serde_json::json!({"statistic": 0.001, "sensitivity": 1.0});
        }),
        ("statistic of iteration 1", |r| {
            r["iterations"][0]["statistic"] = (-5.0).into()
        }),
        ("iterations listed", |r| {
            drop(r["iterations"].as_array_mut().expect("a list").pop())
        }),
        ("noise in the sum", |r| r["sigma_sum"] = 0.1.into()),
        ("parts of the gap", |r| {
            r["views"][0]["gap_finite"] = 0.001.into()
        }),
        ("own noise", |r| {
            r["sigma_own"] = (r["sigma_own"].as_f64().expect("number") * 0.5).into()
        }),
        ("pairwise noise", |r| r["sigma_pairwise"] = 0.001.into()),
        ("sensitivity of iteration 2", |r| {
            r["iterations"][1]["sensitivity"] = 0.01.into()
        }),
        ("epsilon against one curious peer", |r| {
            r["views"][1]["epsilon"] = 0.5.into()
        }),
        ("mu against outside observer", |r| {
            r["views"][0]["mu"] = 0.01.into()
        }),
        ("hash of the noise graph", |r| {
            r["noise_graph"]["edges"]
                .as_array_mut()
                .expect("a list")
                .pop();
        }),
        ("certificate of each", |r| {
            r["views"][1]["certificate"] = "exact".into()
        }),
        ("own noise", |r| r["request"]["epsilon"] = 1.0.into()),
        // Weights that the noise, or the account, did not follow.
        ("noise factor of iteration 1", |r| {
            r["iterations"][0]["noise_factor"] = 0.7.into()
        }),
        ("noise factor of iteration 2", |r| {
            r["request"]["budget"] = serde_json::json!([2.0, 1.0])
        }),
        // One part in a million is forgiven, ten are not.
        ("noise factor of iteration 1", |r| {
            r["iterations"][0]["noise_factor"] = (1.0 - 1e-5).into()
        }),
    ];
    for (what, lie) in lies {
        let mut changed = honest.clone();
        lie(&mut changed);
        scratch.write("out/receipt.json", &changed.to_string());
        let (code, stdout, stderr) = checked(&scratch);
        assert_eq!(code, Some(1), "{what}: {stdout}{stderr}");
        let caught = stdout
            .lines()
            .any(|line| line.contains("FAIL") && line.contains(what));
        assert!(caught, "{what}: {stdout}");
    }
    // More noise than planned is no lie.
    let mut generous = honest;
    generous["sigma_own"] = 10.0.into();
    scratch.write("out/receipt.json", &generous.to_string());
    assert_eq!(checked(&scratch).0, Some(0));
}

#[test]
fn what_is_no_receipt_is_refused() {
    let scratch = Scratch::new();
    assert_eq!(
        scratch
            .undertone("run sims/sim.toml --out out --quiet")
            .code,
        Some(0)
    );
    let honest = receipt(&scratch);
    let broken: [(&str, Change); 8] = [
        ("takes on 1 to 100000", |r| {
            r["noise_graph"]["nodes"] = 4_000_000_000_u64.into()
        }),
        ("cannot be connected by", |r| {
            r["noise_graph"]["nodes"] = 99_999_u64.into()
        }),
        ("schema 9", |r| r["schema"] = 9.into()),
        ("unknown field `extra`", |r| r["extra"] = 1.into()),
        ("delta", |r| r["request"]["delta"] = 1.5.into()),
        ("self-loop", |r| {
            r["noise_graph"]["edges"][0] = serde_json::json!([3, 3])
        }),
        ("names node 99", |r| {
            r["noise_graph"]["edges"][0] = serde_json::json!([3, 99])
        }),
        ("iterations", |r| r["iterations"] = serde_json::json!([])),
    ];
    for (needle, change) in broken {
        let mut changed = honest.clone();
        change(&mut changed);
        scratch.write("out/receipt.json", &changed.to_string());
        let (code, _, stderr) = checked(&scratch);
        assert_eq!(code, Some(2), "{needle}: {stderr}");
        assert!(stderr.contains(needle), "{needle}: {stderr}");
    }
    scratch.write("out/receipt.json", "{\"schema\": 1");
    assert_eq!(checked(&scratch).0, Some(2));
    assert_eq!(
        scratch.undertone("privacy check nowhere.json").code,
        Some(2)
    );
}

#[test]
fn the_receipt_of_a_run_that_protects_nobody_does_not_hold() {
    let scratch = Scratch::new();
    let run = scratch.undertone("run sims/sim.toml --out out --quiet --set noise.scheme=none");
    assert_eq!(run.code, Some(0));
    assert_eq!(receipt(&scratch)["views"].as_array().map(Vec::len), Some(0));
    let (code, stdout, _) = checked(&scratch);
    assert_eq!(code, Some(1));
    assert!(stdout.contains("FAIL  noise is added at all"), "{stdout}");
}

#[test]
fn what_was_trusted_cannot_be_changed_afterwards() {
    for (set, engine) in [
        ("--engine central", "lockstep"),
        ("--engine federated --set noise.scheme=independent", "event"),
    ] {
        let scratch = Scratch::new();
        let run = scratch.undertone(&format!("run sims/sim.toml --out out --quiet {set}"));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(checked(&scratch).1.contains("trusted"));
        let mut changed = receipt(&scratch);
        changed["engine"] = engine.into();
        scratch.write("out/receipt.json", &changed.to_string());
        assert_ne!(checked(&scratch).0, Some(0), "{set}");
    }
}

#[test]
fn a_receipt_tells_nothing_private() {
    let scratch = Scratch::new();
    assert_eq!(
        scratch
            .undertone("run sims/sim.toml --out out --quiet")
            .code,
        Some(0)
    );
    let keys: Vec<String> = receipt(&scratch)
        .as_object()
        .expect("a table")
        .keys()
        .cloned()
        .collect();
    let public = [
        "assumptions",
        "config_hash",
        "engine",
        "item_list",
        "iterations",
        "name",
        "noise_graph",
        "request",
        "schema",
        "sigma_own",
        "sigma_pairwise",
        "sigma_sum",
        "version",
        "views",
    ];
    assert_eq!(keys, public, "no seed, no rows, no users");
}

#[test]
fn what_is_assumed_public_is_stated_and_cannot_be_left_out() {
    let scratch = Scratch::new();
    let assumed = |set: &str| -> (Value, Vec<String>) {
        let run = scratch.undertone(&format!("run sims/sim.toml --out out --quiet {set}"));
        assert_eq!(run.code, Some(0), "{set}: {}", run.stderr);
        let receipt = receipt(&scratch);
        let words = receipt["assumptions"].as_array().expect("a list").iter();
        let words = words.map(|words| words.as_str().expect("words").to_owned());
        (receipt["item_list"].clone(), words.collect())
    };
    let says = |words: &[String], part: &str| words.iter().any(|words| words.contains(part));
    let (list, words) = assumed("");
    assert_eq!(
        (&list["source"], &list["items"]),
        (&"data".into(), &20.into())
    );
    assert!(says(&words, "list of users"), "{words:?}");
    assert!(
        says(&words, "drawn from the data and are assumed public"),
        "{words:?}"
    );
    assert!(!says(&words, "degrees"));
    let (_, words) = assumed("--set algorithm.start=popularity");
    assert!(says(&words, "item degrees"), "{words:?}");

    // The same list from a file: other words, the same hash, and the run is bound to it.
    scratch.write("sims/items.txt", "i3\ni9\nnobody\ni1\ni0\n");
    let file = "--set data.items=0 --set data.items_file=items.txt";
    let (list, words) = assumed(file);
    assert_eq!(
        (&list["source"], &list["items"]),
        (&"file".into(), &5.into())
    );
    assert!(
        says(&words, "a file of their own") && !says(&words, "drawn"),
        "{words:?}"
    );
    let config = String::from_utf8(scratch.read("out/config.toml")).expect("text");
    let hash = list["hash"].as_str().expect("hexadecimal");
    assert!(
        config.contains(&format!("items_hash = \"{hash}\"")),
        "{config}"
    );
    scratch.write("sims/items.txt", "i3\ni9\ni1\ni0\nnobody\n");
    let bound = scratch.undertone("run out/config.toml --out again --quiet");
    assert_eq!(bound.code, Some(2));
    assert!(bound.stderr.contains("items_hash"), "{}", bound.stderr);

    let honest = receipt(&scratch);
    let lies: [(&str, Change); 3] = [
        ("assumed public is stated", |r| {
            r["assumptions"] = serde_json::json!([])
        }),
        ("assumed public is stated", |r| {
            r["item_list"]["source"] = "data".into()
        }),
        ("as many items", |r| r["item_list"]["items"] = 6.into()),
    ];
    for (what, lie) in lies {
        let mut changed = honest.clone();
        lie(&mut changed);
        scratch.write("out/receipt.json", &changed.to_string());
        let (code, stdout, _) = checked(&scratch);
        assert_eq!(code, Some(1), "{what}: {stdout}");
        assert!(stdout.contains(what), "{what}: {stdout}");
    }
}
