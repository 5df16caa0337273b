//! Receipts: written by runs, recomputed by `undertone privacy check`, refused when they lie.

use serde_json::Value;
use undertone::run::receipt::{Receipt, Standing};

use crate::support::receipts::{found, general, nearby, numbers, standing, with};
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

/// Where P is made of degrees, the item list beside the receipt must have them, and the weights that follow.
#[test]
fn another_item_list_is_found_where_p_is_made_of_degrees() {
    let scratch = Scratch::new();
    let run = scratch.undertone(
        "run sims/sim.toml --out out --quiet --set algorithm.precondition=items --set algorithm.precondition_exponent=0.5",
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let (code, stdout, _) = checked(&scratch);
    assert_eq!(code, Some(0), "{stdout}");
    assert!(
        stdout.contains("P = diag(degree^-0.5) with shrinkage 0"),
        "{stdout}"
    );
    let list = String::from_utf8(scratch.read("out/items.csv")).expect("text");
    let rows: Vec<Vec<&str>> = list.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(rows[0], ["row", "item", "degree", "weight"]);
    let with = |column: usize, value: &str| {
        let changed = rows.iter().enumerate().map(|(number, row)| {
            let mut row = row.clone();
            if number == 3 {
                row[column] = value;
            }
            row.join(",") + "\n"
        });
        scratch.write("out/items.csv", &changed.collect::<String>());
        checked(&scratch)
    };
    for (column, value, what) in [
        (2, "12345", "degrees of items.csv"),
        (3, "0.123", "weights of items.csv"),
    ] {
        let (code, stdout, _) = with(column, value);
        assert_eq!(code, Some(1), "{stdout}");
        let failed = stdout
            .lines()
            .find(|line| line.contains("FAIL") && line.contains(what));
        assert!(failed.is_some(), "{stdout}");
    }
    std::fs::remove_file(scratch.path("out/items.csv")).expect("there");
    assert_eq!(checked(&scratch).0, Some(0), "nothing to compare with");
}

#[test]
fn a_receipt_of_every_scheme_and_engine_holds() {
    for set in [
        "",
        "--engine event",
        "--engine federated --set noise.scheme=independent",
        "--engine central",
        "--set noise.scheme=local",
        "--set noise.scheme=ring --set averaging={scheme=\"tree\"}",
        "--engine federated --set noise.scheme=ring --set averaging={scheme=\"tree\"}",
        "--set privacy.adjacency=user",
        "--set privacy.calibration=zcdp --set privacy.sensitivity=row-norm",
        "--set privacy.colluders=2 --set topology.degree=6",
        "--set algorithm.kind=krylov --set algorithm.block=5",
        "--set algorithm.kind=covariance --set algorithm.iterations=1",
        "--set algorithm.kind=raked-covariance --set algorithm.iterations=1",
        "--set privacy.budget=[3,1] --set algorithm.start=popularity",
        "--set algorithm.kind=momentum --set algorithm.momentum=0.5",
        "--set algorithm.precondition=items",
        "--set algorithm.kind=covariance --set algorithm.iterations=1 --set algorithm.precondition=items",
        "--set algorithm.kind=covariance --set algorithm.iterations=1 --set privacy.adjacency=user",
        "--set algorithm.kind=deflation --set algorithm.rank=1 --set algorithm.iterations=1",
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
        assert_eq!(receipt["partners"]["nodes"], 8);
        let releases = if set.contains("covariance") { 1 } else { 2 };
        assert_eq!(receipt["releases"].as_array().map(Vec::len), Some(releases));
        let floor = &receipt["promise"]["bounds"]["degree_floor"];
        assert!(*floor == 5 && receipt["version"].is_string());
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
        ("releases: as many as the program makes", |r| {
            r["program"]["releases"][0]["count"] = 1.into()
        }),
        ("releases[0].statistic", |r| {
            r["releases"][0] =
                serde_json::json!({"statistic": 0.001, "sensitivity": 1.0, "noise_factor": 1.0});
        }),
        ("releases[0].statistic", |r| {
            r["releases"][0]["statistic"] = (-5.0).into()
        }),
        ("releases: as many as the program makes", |r| {
            drop(r["releases"].as_array_mut().expect("a list").pop())
        }),
        ("guarantee.noise.sigma_sum", |r| {
            r["guarantee"]["noise"]["sigma_sum"] = 0.1.into()
        }),
        ("guarantee.noise.views[0].gap_finite", |r| {
            r["guarantee"]["noise"]["views"][0]["gap_finite"] = 0.001.into()
        }),
        ("guarantee.noise.sigma_own", |r| {
            let own = &mut r["guarantee"]["noise"]["sigma_own"];
            *own = (own.as_f64().expect("number") * 0.5).into()
        }),
        ("guarantee.noise.sigma_pairwise", |r| {
            r["guarantee"]["noise"]["sigma_pairwise"] = 0.001.into()
        }),
        ("releases[1].sensitivity", |r| {
            r["releases"][1]["sensitivity"] = 0.01.into()
        }),
        ("guarantee.noise.views[1].epsilon", |r| {
            r["guarantee"]["noise"]["views"][1]["epsilon"] = 0.5.into()
        }),
        ("guarantee.noise.views[0].mu", |r| {
            r["guarantee"]["noise"]["views"][0]["mu"] = 0.01.into()
        }),
        ("partners.hash", |r| {
            r["partners"]["edges"].as_array_mut().expect("a list").pop();
        }),
        ("guarantee.noise.views[1].certificate", |r| {
            r["guarantee"]["noise"]["views"][1]["certificate"] = "exact".into()
        }),
        ("guarantee.noise.sigma_own", |r| {
            r["promise"]["epsilon"] = 1.0.into()
        }),
        // Weights that the noise, or the account, did not follow.
        ("releases[0].noise_factor", |r| {
            r["releases"][0]["noise_factor"] = 0.7.into()
        }),
        ("releases[1].noise_factor", |r| {
            r["promise"]["split"] = serde_json::json!([2.0, 1.0])
        }),
        // One part in a million is forgiven, ten are not.
        ("releases[0].noise_factor", |r| {
            r["releases"][0]["noise_factor"] = (1.0 - 1e-5).into()
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
}

/// Everything a receipt states follows from something, or is listed as taken on trust: every number is changed by one part
/// in a hundred (whole ones by one) and exchanged with every other, and what passes must be what the table says can.
#[test]
fn every_number_is_recomputed_or_said_to_be_on_trust() {
    // A bound by row norms knows no degree floor. What of a program decides no noise is open under every rule.
    let program = [
        "program.largest_entry",
        "program.rank",
        "program.releases[].first.iteration",
        "program.releases[].first.share",
        "program.settings",
    ];
    let with_floor = [program.as_slice(), &["promise.bounds.degree_floor"]].concat();
    for (set, open) in [
        ("", program.as_slice()),
        (
            "--set privacy.sensitivity=row-norm --set privacy.budget=[3,1]",
            with_floor.as_slice(),
        ),
    ] {
        let scratch = Scratch::new();
        let run = scratch.undertone(&format!("run sims/sim.toml --out out --quiet {set}"));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let honest = receipt(&scratch);
        assert!(!found(&honest), "an honest receipt holds");
        for field in open {
            let line = standing(field);
            assert!(
                line.is_some_and(|line| line != Standing::Recomputed),
                "{field}"
            );
        }
        let paths = numbers(&honest, "");
        assert!(paths.len() > 40, "{paths:?}");
        let mut missed: Vec<String> = Vec::new();
        for path in &paths {
            let field = general(path);
            assert!(standing(&field).is_some(), "{path} has no line");
            for changed in nearby(honest.pointer(path).expect("a leaf")) {
                if !found(&with(&honest, &[(path, changed)])) {
                    missed.push(field.clone());
                }
            }
        }
        missed.dedup();
        assert_eq!(missed, open, "{set}");
        let number = |path: &str| honest.pointer(path).and_then(Value::as_f64);
        let is_open = |path: &str| open.contains(&general(path).as_str());
        let mut swaps = 0;
        for (i, a) in paths.iter().enumerate() {
            for b in &paths[i + 1..] {
                let (x, y) = (number(a).expect("a number"), number(b).expect("a number"));
                // One part in a million is forgiven.
                if (x - y).abs() <= 1e-5 * x.abs() || (is_open(a) && is_open(b)) {
                    continue;
                }
                swaps += 1;
                let at = |path: &str| honest.pointer(path).expect("a leaf").clone();
                let swapped = with(&honest, &[(a, at(b)), (b, at(a))]);
                assert!(found(&swapped), "{a} and {b} exchanged");
            }
        }
        assert!(swaps > 500, "{swaps}");
    }
}

/// What the table says is on trust really is: a check that found it would have to be said to.
#[test]
fn what_is_on_trust_is_not_found() {
    let scratch = Scratch::new();
    let run = scratch.undertone("run sims/sim.toml --out out --quiet");
    assert_eq!(run.code, Some(0));
    let honest = receipt(&scratch);
    let trusted = Receipt::standings();
    let trusted = trusted.iter().filter(|l| l.standing == Standing::OnTrust);
    let mut fields: Vec<&str> = trusted.map(|line| line.field).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "choice.chosen",
            "choice.rule",
            "config_hash",
            "item_list.hash",
            "name",
            "partners.names",
            "pilot.bytes_max_peer",
            "pilot.counts",
            "pilot.shares",
            "program.largest_entry",
            "program.name",
            "program.prelude.radius",
            "program.prelude.raw_clip",
            "program.prelude.slots",
            "program.prelude.unit_box",
            "program.proved",
            "program.search.most_above",
            "program.search.thresholds",
            "program.state",
            "realised.attempts",
            "version"
        ]
    );
    // Those of a choice, its pilot, a private mean, a search and a run with faults are altered where such runs are.
    let elsewhere = |field: &str| {
        let tables = [
            "choice.",
            "pilot.",
            "realised.",
            "program.prelude.",
            "program.search.",
        ];
        tables.iter().any(|table| field.starts_with(table))
    };
    for field in fields
        .into_iter()
        .filter(|field| *field != "partners.names" && !elsewhere(field))
    {
        let path = format!("/{}", field.replace('.', "/"));
        let other = match field {
            "program.largest_entry" => 0.5.into(),
            "program.proved" => serde_json::json!({
                "as_held": true, "replaced": true, "matrix_only": false, "indefinite": false
            }),
            "program.state" => "all".into(),
            _ => "else".into(),
        };
        let changed = with(&honest, &[(&path, other)]);
        assert_ne!(changed, honest, "{field}");
        assert!(!found(&changed), "{field}");
    }
    // The graph of this sim is generated and has no names; whoever adds some is believed.
    let mut named = honest.clone();
    let names =
        (0..honest["partners"]["nodes"].as_u64().expect("a count")).map(|u| format!("peer {u}"));
    named["partners"]["names"] = names.collect::<Vec<_>>().into();
    assert!(!found(&named), "names");
    // A whole run that nobody made: the statistic of an iteration and what follows from it.
    let set = "--set privacy.sensitivity=row-norm";
    let run = scratch.undertone(&format!("run sims/sim.toml --out out --quiet {set}"));
    assert_eq!(run.code, Some(0));
    let mut made_up = receipt(&scratch);
    let last = made_up["releases"][1].clone();
    made_up["releases"][0] = last;
    assert!(!found(&made_up), "statistics as agreed are on trust");
}

#[test]
fn a_calibration_beyond_its_validity_breaks_its_promise() {
    for (set, epsilon, holds) in [
        ("--set privacy.calibration=paper", "100", false),
        ("--set privacy.calibration=paper", "1", true),
        ("--set privacy.calibration=basic", "100", false),
        ("--set privacy.calibration=basic", "1", true),
        (
            "--engine central --set privacy.calibration=paper",
            "100",
            false,
        ),
        ("--engine central --set privacy.colluders=1", "100", true),
        (
            "--set noise.scheme=local --set privacy.calibration=paper",
            "100",
            false,
        ),
        ("--set privacy.calibration=analytic", "100", true),
    ] {
        let scratch = Scratch::new();
        let run =
            format!("run sims/sim.toml --out out --quiet {set} --set privacy.epsilon={epsilon}");
        assert_eq!(scratch.undertone(&run).code, Some(0), "{set}");
        let (code, stdout, stderr) = checked(&scratch);
        assert_eq!(code, Some(i32::from(!holds)), "{set}: {stdout}{stderr}");
        let fails: Vec<&str> = stdout.lines().filter(|l| l.contains("FAIL  ")).collect();
        if holds {
            assert!(fails.is_empty(), "{stdout}");
            continue;
        }
        // Everything agrees with itself; only the promise is broken, and the line says by how much.
        let [line] = fails[..] else {
            panic!("{stdout}");
        };
        assert!(line.contains("epsilon asked for covers"), "{line}");
        let spent: f64 = line
            .split_whitespace()
            .last()
            .expect("a number")
            .parse()
            .expect("an epsilon");
        assert!(spent > 100.0 && spent < 300.0, "{line}");
    }
}

#[test]
fn what_is_taken_on_trust_is_listed() {
    let scratch = Scratch::new();
    let run = scratch.undertone("run sims/sim.toml --out out --quiet");
    assert_eq!(run.code, Some(0));
    let stdout = checked(&scratch).1;
    for words in [
        "taken on trust",
        "that the run took place",
        "that every peer drew this noise",
        "the statistics of X as agreed",
        "that these releases are those of the algorithm named",
        "that program.proved is so",
        "the degree floor",
        "fields on trust: version, name, config_hash",
    ] {
        assert!(stdout.contains(words), "{words}: {stdout}");
    }
    let json = scratch.undertone("privacy check out/receipt.json --json");
    let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["holds"], true);
    for list in ["findings", "taken_on_trust", "fields"] {
        assert!(json[list].as_array().is_some_and(|l| l.len() > 8), "{list}");
    }
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
    let broken: [(&str, Change); 10] = [
        ("takes on 1 to 100000", |r| {
            r["partners"]["nodes"] = 4_000_000_000_u64.into()
        }),
        ("cannot be connected by", |r| {
            r["partners"]["nodes"] = 99_999_u64.into()
        }),
        ("schema 9", |r| r["schema"] = 9.into()),
        ("unknown field `extra`", |r| r["extra"] = 1.into()),
        ("delta", |r| r["promise"]["delta"] = 1.5.into()),
        ("self-loop", |r| {
            r["partners"]["edges"][0] = serde_json::json!([3, 3])
        }),
        ("names node 99", |r| {
            r["partners"]["edges"][0] = serde_json::json!([3, 99])
        }),
        ("releases", |r| r["releases"] = serde_json::json!([])),
        (
            "made by a development build; run the experiment again",
            |r| r["schema"] = 1.into(),
        ),
        (
            "made by a development build; run the experiment again",
            |r| r["schema"] = 2.into(),
        ),
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
    let views = receipt(&scratch)["guarantee"]["noise"]["views"].clone();
    assert_eq!(views.as_array().map(Vec::len), Some(0));
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
        // A runner that shows more than the promise covers, and a promise that covers more than its noise.
        changed["runner"] = engine.into();
        scratch.write("out/receipt.json", &changed.to_string());
        assert_eq!(checked(&scratch).0, Some(1), "{set}");
        changed["promise"]["seen"] = "everything".into();
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
        "assumed",
        "assumptions",
        "config_hash",
        "guarantee",
        "item_list",
        "name",
        "partners",
        "program",
        "promise",
        "releases",
        "runner",
        "schema",
        "statement",
        "version",
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
        ("assumptions[0]", |r| {
            r["assumptions"] = serde_json::json!([])
        }),
        ("assumptions[1]", |r| {
            r["item_list"]["source"] = "data".into()
        }),
        ("item_list.items", |r| r["item_list"]["items"] = 6.into()),
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
