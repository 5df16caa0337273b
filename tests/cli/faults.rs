//! Files with `[dropouts]` and `[faults]`: run, refused, run again, shrunk, accounted for.

use serde_json::Value;

use crate::support::scratch::Scratch;

/// Eight peers of whom any two may be lost; two crash.
const FAULTS: &str = "\n[engine]\nkind = \"event\"\n\n[dropouts]\ntolerate = 2\nretries = 2\n\n[faults]\nseed = 5\n\n\
                      [[faults.crash]]\npeer = 3\nafter = 60\n\n[[faults.crash]]\npeer = 5\nafter = 150\n";

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let sim = crate::support::scratch::SIM.replace("degree = 4", "degree = 6");
    scratch.write("sims/sim.toml", &(sim + FAULTS));
    scratch
}

fn json(scratch: &Scratch, name: &str) -> Value {
    serde_json::from_slice(&scratch.read(name)).expect("JSON")
}

#[test]
fn a_run_with_crashes_says_who_was_there_and_what_it_cost_and_runs_again() {
    let scratch = scratch();
    let run = scratch.undertone("run sims/sim.toml --out out --verbose");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for words in [
        "  of 8 peers: 2 crashed, 6 finished",
        "none for this run, as peers crash",
        "promised",
        "went wrong: 2 crashes",
    ] {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
    let summary = json(&scratch, "out/summary.json");
    let faults = &summary["faults"];
    assert_eq!(faults["finished"], 6);
    assert_eq!(faults["ends"]["crashed"], 2);
    assert_eq!(faults["releases"].as_array().map(Vec::len), Some(2));
    let of = |name: &str| faults["epsilon"][name].as_f64().expect("a number");
    assert!(of("realised") <= of("planned") * (1.0 + 1e-9));
    assert!(of("planned") <= of("promised") * (1.0 + 1e-9) && of("promised") <= 2.0 + 1e-6);
    assert!(summary["utility"]["fault_free"].is_object());
    let page = String::from_utf8(scratch.read("out/report.html")).expect("text");
    assert!(page.contains("Lost peers") && page.contains("lost-peers"));
    let again = scratch.undertone("run sims/sim.toml --out again --faults out/faults.toml --quiet");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    for name in ["basis.npy", "faults.toml", "faults.json", "metrics.csv"] {
        assert_eq!(
            scratch.read(&format!("out/{name}")),
            scratch.read(&format!("again/{name}")),
            "{name}"
        );
    }
    // Another schedule is another result.
    scratch.write("none.toml", "[faults]\nseed = 5\n");
    let calm = scratch.undertone("run sims/sim.toml --out calm --verbose --faults none.toml");
    assert_eq!(calm.code, Some(0), "{}", calm.stderr);
    assert!(
        calm.stdout.contains("nothing went wrong"),
        "{}",
        calm.stdout
    );
    assert_ne!(
        scratch.read("out/basis.npy"),
        scratch.read("calm/basis.npy")
    );
    // That is the result of the engine on which nothing can go wrong.
    scratch.write(
        "sims/lockstep.toml",
        String::from_utf8(scratch.read("sims/sim.toml"))
            .expect("text")
            .replace("kind = \"event\"", "kind = \"lockstep\"")
            .split("[faults]")
            .next()
            .expect("a beginning"),
    );
    let lockstep = scratch.undertone("run sims/lockstep.toml --out lockstep --quiet");
    assert_eq!(lockstep.code, Some(0), "{}", lockstep.stderr);
    assert_eq!(
        scratch.read("lockstep/basis.npy"),
        scratch.read("calm/basis.npy")
    );
}

/// A session that may lose nobody and tries nothing again plans the noise of one without `[dropouts]`, and has its bits.
#[test]
fn a_session_that_tolerates_nothing_has_the_bits_of_one_without_dropouts() {
    let scratch = Scratch::new();
    let sim = crate::support::scratch::SIM.to_owned() + "\n[engine]\nkind = \"event\"\n";
    scratch.write("sims/plain.toml", &sim);
    scratch.write(
        "sims/tolerant.toml",
        &(sim + "\n[dropouts]\ntolerate = 0\n"),
    );
    for name in ["plain", "tolerant"] {
        let run = scratch.undertone(&format!("run sims/{name}.toml --out {name} --quiet"));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }
    for name in ["basis.npy", "items.csv"] {
        let of = |run: &str| scratch.read(&format!("{run}/{name}"));
        assert_eq!(of("plain"), of("tolerant"), "{name}");
    }
    // The same figures, with who takes part beside them.
    let rows = |run: &str| String::from_utf8(scratch.read(&format!("{run}/metrics.csv")));
    let (plain, tolerant) = (
        rows("plain").expect("text"),
        rows("tolerant").expect("text"),
    );
    for (plain, tolerant) in plain.lines().zip(tolerant.lines()) {
        let more = tolerant
            .strip_prefix(plain)
            .expect("columns are added at the end");
        assert!(
            [",participants,inherited,attempts,retries", ",8,0,1,0"].contains(&more),
            "{more}"
        );
    }
}

#[test]
fn a_run_of_which_nobody_has_a_result_says_why_and_its_schedule_is_shrunk() {
    let scratch = scratch();
    scratch.write(
        "many.toml",
        "[faults]\nseed = 5\nloss = 0.1\n[faults.random]\ncrashes = 6\nsuspicions = 2\noutages = 2\n",
    );
    let run = scratch.undertone("run sims/sim.toml --out out --faults many.toml");
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stderr.contains("nobody has a result"), "{}", run.stderr);
    assert!(!scratch.path("out/summary.json").exists());
    assert_eq!(json(&scratch, "out/faults.json")["finished"], 0);
    let shrunk = scratch
        .undertone("faults shrink sims/sim.toml --faults out/faults.toml --out least.toml --quiet");
    assert_eq!(shrunk.code, Some(0), "{}", shrunk.stderr);
    let least = String::from_utf8(scratch.read("least.toml")).expect("text");
    // Two may be lost and two tries are to be had: three things that go wrong are enough.
    let left = least.matches("[[faults.").count();
    assert!(
        (1..=3).contains(&left) && !least.contains("loss"),
        "{least}"
    );
    let still = scratch.undertone("run sims/sim.toml --out still --faults least.toml --quiet");
    assert_eq!(still.code, Some(1), "{}", still.stderr);
    // A run that has a result has no failure, but cases.
    let holds = scratch.undertone("faults shrink sims/sim.toml --quiet");
    assert_eq!(holds.code, Some(2));
    assert!(holds.stderr.contains("--keep"), "{}", holds.stderr);
    let unknown = scratch.undertone("faults shrink sims/sim.toml --quiet --keep nonsense");
    assert!(
        unknown.stderr.contains("while averaging"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn what_it_costs_is_said_before_and_recomputed_after() {
    let scratch = scratch();
    let shown = scratch.undertone("privacy sims/sim.toml --json");
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let document: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    let rows = document["privacy"]["dropouts"].as_array().expect("rows");
    let epsilons: Vec<f64> = rows
        .iter()
        .map(|row| row["epsilon"].as_f64().expect("a number"))
        .collect();
    assert_eq!(epsilons.len(), 3);
    assert!(
        epsilons.windows(2).all(|pair| pair[0] < pair[1]),
        "{epsilons:?}"
    );
    assert!(
        epsilons[2] <= 2.0 + 1e-6 && epsilons[2] > 1.9,
        "{epsilons:?}"
    );
    let table = scratch.undertone("privacy sims/sim.toml").stdout;
    assert!(
        table.contains("worst case: 2 lost, all retries spent"),
        "{table}"
    );
    let run = scratch.undertone("run sims/sim.toml --out out --quiet");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let receipt = json(&scratch, "out/receipt.json");
    assert_eq!(receipt["schema"], 3);
    let checked = |receipt: &Value| {
        scratch.write("changed.json", &receipt.to_string());
        let checked = scratch.undertone("privacy check changed.json");
        (checked.code, checked.stdout + &checked.stderr)
    };
    let (code, said) = checked(&receipt);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("realised.epsilon"), "{said}");
    type Change = fn(&mut Value);
    let changes: [(Change, i32, &str); 8] = [
        (
            |r| r["realised"]["epsilon"] = 0.1.into(),
            1,
            "realised.epsilon",
        ),
        (|r| r["realised"]["mu"] = 0.1.into(), 1, "realised.mu"),
        (
            |r| r["realised"]["planned_mu"] = 0.1.into(),
            1,
            "realised.planned_mu",
        ),
        (
            |r| r["realised"]["attempts"][0]["retry"] = 9.into(),
            1,
            "within the retries",
        ),
        (
            |r| r["realised"]["attempts"][0]["read"][0] = 99.into(),
            2,
            "no member",
        ),
        (
            |r| r["promise"]["losses"]["tolerate"] = 1.into(),
            1,
            "guarantee.noise.sigma_own",
        ),
        (
            |r| r["promise"]["losses"]["retries"] = 0.into(),
            1,
            "guarantee.noise.sigma_own",
        ),
        (|r| r["schema"] = 1.into(), 2, "made by a development build"),
    ];
    for (change, expected, words) in changes {
        let mut lie = receipt.clone();
        change(&mut lie);
        let (code, said) = checked(&lie);
        assert_eq!(code, Some(expected), "{words}: {said}");
        assert!(said.contains(words), "{words}: {said}");
    }
    // Fewer losses: other numbers than those of what happened.
    let mut fewer = receipt.clone();
    let attempts = fewer["realised"]["attempts"]
        .as_array_mut()
        .expect("a list");
    attempts.pop();
    assert_eq!(checked(&fewer).0, Some(1));
}

/// Sealed and in the open a session has one result where nothing goes wrong; with a crash it ends sealed too, and costs no more than was planned.
#[test]
fn sealed_sessions_run_where_degrees_allow_it() {
    let scratch = scratch();
    scratch.write("none.toml", "[faults]\nseed = 5\n");
    let one = "[faults]\nseed = 5\n\n[[faults.crash]]\npeer = 3\nafter = 60\n";
    scratch.write("one.toml", one);
    let run = |publish: &str, faults: &str, out: &str| {
        let set = format!("--set dropouts.tolerate=1 --set dropouts.publish={publish}");
        let run = format!("run sims/sim.toml --out {out} --faults {faults} {set}");
        let run = scratch.undertone(&run);
        assert_eq!(run.code, Some(0), "{out}: {}", run.stderr);
        json(&scratch, &format!("{out}/summary.json"))["faults"].clone()
    };
    run("open", "none.toml", "open");
    run("sealed", "none.toml", "sealed");
    let result = |out: &str| scratch.read(&format!("{out}/basis.npy"));
    assert_eq!(result("open"), result("sealed"));
    let faults = run("sealed", "one.toml", "crash");
    assert_eq!(faults["finished"], 7);
    let of = |name: &str| faults["epsilon"][name].as_f64().expect("a number");
    assert!(of("realised") <= of("planned") * (1.0 + 1e-9));
    let refused = scratch.undertone("run sims/sim.toml --out out --set dropouts.publish=sealed");
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    let words = "Lower dropouts.tolerate";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
}

#[test]
fn what_does_not_belong_is_refused_by_name() {
    let scratch = scratch();
    for (set, words) in [
        (
            "engine.kind=lockstep",
            "[faults] does not go with engine.kind = \"lockstep\"",
        ),
        ("engine.kind=swarm", "engine.kind = \"swarm\""),
        ("dropouts.tolerate=4", "set tolerate to at most 3"),
        ("dropouts.retries=5000", "at most 1000"),
        ("dropouts.publish=sealed", "publish = \"open\""),
        ("dropouts.publish=shut", "unknown variant"),
        ("dropouts.lose=1", "unknown field"),
        ("noise.scheme=ring", "set noise.scheme = \"pairwise\""),
        (
            "averaging={scheme=\"push-sum\"}",
            "averaging.scheme = \"chebyshev\"",
        ),
        ("faults.loss=0.95", "from 0 to 0.9"),
        ("faults.loss=nan", "from 0 to 0.9"),
        ("faults.patience_micros=0", "from 1 to"),
        ("faults.grace_micros=9000000000000", "from 1 to"),
        ("faults.crash=[{peer=8,after=1}]", "no peer is named 8"),
        (
            "faults.crash=[{peer=1,after=1,at=\"noon\"}]",
            "unknown variant",
        ),
        ("faults.outage=[{link=[0,0],from_micros=1}]", "no link"),
        (
            "faults.partition=[{side=[0],from_micros=5,until_micros=5}]",
            "not after",
        ),
        ("faults.random.crashes=9", "at most 8"),
        ("faults.random.restarts=2", "from 0 to 1"),
        (
            "compare={algorithm={kind=\"krylov\",iterations=2}}",
            "[compare]",
        ),
        ("topology.degree=2", "set tolerate to at most 1"),
    ] {
        let refused = scratch.undertone(&format!("run sims/sim.toml --out out --set {set}"));
        assert_eq!(refused.code, Some(2), "{set}: {}", refused.stdout);
        assert!(refused.stderr.contains(words), "{set}: {}", refused.stderr);
        assert!(!scratch.path("out").exists(), "{set}");
    }
    scratch.write(
        "faults.toml",
        "[faults]\nseed = 1\n[dropouts]\ntolerate = 1\n",
    );
    let file = scratch.undertone("run sims/sim.toml --faults faults.toml");
    assert!(file.stderr.contains("dropouts"), "{}", file.stderr);
}

/// A faulty run is a function of its file: it is made again and compared, byte by byte, and what it says it cost is accounted again. Without a folder it is made twice.
#[test]
fn verify_makes_a_faulty_run_again_and_finds_what_was_changed() {
    let scratch = scratch();
    let run = scratch.undertone("run sims/sim.toml --out out --quiet");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    // Without a folder a trace is compared as well; in a folder also the report, and whether there is more.
    let files = std::fs::read_dir(scratch.path("out"))
        .expect("a folder")
        .count();
    let verify = |what: &str| {
        let shown = scratch.undertone(&format!("verify sims/sim.toml --runs 8 --json {what}"));
        let document: Value = serde_json::from_str(&shown.stdout).expect("JSON");
        let checks = document["checks"].as_array().expect("a list").clone();
        let red = checks.iter().filter(|check| check["passed"] == false);
        let named = |check: &Value| check["name"].as_str().expect("a name").to_owned();
        let red: Vec<String> = red.map(named).collect();
        assert_eq!(shown.code, Some(i32::from(!red.is_empty())), "{red:?}");
        let again = match what {
            "" => 13,
            _ => files + 1,
        };
        let of_kind = |kind: &str| checks.iter().filter(|check| check["kind"] == kind).count();
        assert_eq!((of_kind("again"), of_kind("receipt")), (again, 1), "{what}");
        red
    };
    assert_eq!(verify(""), [] as [String; 0]);
    assert_eq!(verify("--results out"), [] as [String; 0]);

    // One bit of the result.
    let whole = scratch.read("out/basis.npy");
    let mut changed = whole.clone();
    let last = changed.len() - 8;
    changed[last] ^= 1;
    std::fs::write(scratch.path("out/basis.npy"), &changed).expect("writable");
    let red = verify("--results out");
    assert_eq!(red.len(), 1, "{red:?}");
    assert!(red[0].contains("basis.npy"), "{red:?}");
    std::fs::write(scratch.path("out/basis.npy"), &whole).expect("writable");

    // A receipt that says it cost less, and one that forgets an attempt with all that follows from it said rightly.
    let receipt = scratch.read("out/receipt.json");
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut lie: Value = serde_json::from_slice(&receipt).expect("JSON");
        change(&mut lie);
        scratch.write("out/receipt.json", &(lie.to_string() + "\n"));
        let red = verify("--results out");
        std::fs::write(scratch.path("out/receipt.json"), &receipt).expect("writable");
        red
    };
    let red = changed(&|lie| lie["realised"]["epsilon"] = 0.1.into());
    assert_eq!(red.len(), 2, "{red:?}");
    assert!(
        red[0].contains("receipt.json") && red[1].contains("realised.epsilon"),
        "{red:?}"
    );
    let red = changed(&|lie| {
        lie.as_object_mut().expect("a table").remove("realised");
    });
    assert!(red[0].contains("receipt.json"), "{red:?}");
    let red = changed(&|lie| lie["realised"]["attempts"][0]["read"][0] = 99.into());
    assert!(
        red.iter()
            .any(|name| name.contains("the receipt is refused")),
        "{red:?}"
    );

    // Other faults than those of the file, and a file that is gone.
    let faults = scratch.read("out/faults.toml");
    let text = String::from_utf8(faults).expect("text");
    scratch.write("out/faults.toml", &text.replace("after = 60", "after = 61"));
    let red = verify("--results out");
    assert!(red.len() == 1 && red[0].contains("faults.toml"), "{red:?}");
    std::fs::remove_file(scratch.path("out/metrics.csv")).expect("it was written");
    let gone = scratch.undertone("verify sims/sim.toml --runs 8 --quiet --results out");
    assert_eq!(gone.code, Some(2), "{}", gone.stderr);
    assert!(
        gone.stderr.contains("metrics.csv") && gone.stderr.contains("name that folder"),
        "{}",
        gone.stderr
    );
}

/// A sweep over the number of crashes draws other moments for every seed, tells what was promised, planned and realised, and draws it; a run of which nobody has a result is a
/// row that says so.
#[test]
fn a_sweep_over_crashes_shows_what_was_promised_planned_and_realised() {
    let scratch = scratch();
    let sim = String::from_utf8(scratch.read("sims/sim.toml")).expect("text");
    let (sim, _) = sim.split_once("[faults]").expect("it has faults");
    let swept = "[faults]\nseed = 5\nloss = 0.05\n\n[faults.random]\ncrashes = 0\n\n[sweep]\nseeds = 3\n\n[sweep.over]\n\"faults.random.crashes\" = [0, 2, 7]\n";
    scratch.write("sims/swept.toml", &format!("{sim}{swept}"));
    let run = scratch.undertone("run sims/swept.toml --out out --verbose");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stdout.contains("planned for the attempts made"),
        "{}",
        run.stdout
    );
    let summary = json(&scratch, "out/summary.json");
    let mean = |curve: &str, place: usize| {
        let point = &summary[curve][0]["points"][place];
        point["mean"].as_f64().expect("a number")
    };
    for place in 0..2 {
        let [promised, planned, realised] =
            ["spent", "planned", "realised"].map(|curve| mean(curve, place));
        assert!(realised <= planned * (1.0 + 1e-9), "{place}: {summary}");
        assert!(planned <= promised * (1.0 + 1e-9), "{place}: {summary}");
    }
    assert_eq!(mean("participants", 0), 8.0);
    let cells = String::from_utf8(scratch.read("out/sweep.csv")).expect("text");
    let failed = cells
        .lines()
        .filter(|line| line.contains("nobody has a result"));
    assert_eq!(
        failed.count() as u64,
        summary["failed"].as_u64().expect("a number")
    );
    assert!(summary["failed"].as_u64() > Some(0), "{cells}");
    // Realised losses of two crashes are not all alike: every seed has moments of its own.
    let column = |name: &str, line: &str| {
        let heading = cells.lines().next().expect("a heading");
        let place = heading.split(',').position(|found| found == name);
        let field = line.split(',').nth(place.expect("a column"));
        field.expect("a field").to_owned()
    };
    let two: Vec<&str> = cells.lines().filter(|line| line.contains(",2,")).collect();
    let realised: std::collections::BTreeSet<String> = two
        .iter()
        .map(|line| column("epsilon_realised", line))
        .collect();
    assert!(realised.len() > 1, "{cells}");
    let page = String::from_utf8(scratch.read("out/report.html")).expect("text");
    assert!(
        page.contains("What was promised, what was planned"),
        "no figure"
    );
    let curves = String::from_utf8(scratch.read("out/curves.csv")).expect("text");
    for measure in ["epsilon_planned", "epsilon_realised", "participants"] {
        assert!(curves.contains(measure), "{measure}");
    }
}
