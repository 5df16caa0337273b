//! `undertone run` of a sweep: interrupted, resumed, on any number of threads, and what it exits with.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::repository;
use crate::support::scratch::{SIM, Scratch};

const SWEEP: &str = r#"
[evaluation]
reference_floor = 1

[sweep]
seeds = 12
baseline = "row norm"
target = 0.5

[sweep.over]
"privacy.epsilon" = [1, 10.0, 100, 1000]

[[sweep.methods]]
name = "row norm"
set = { "privacy.sensitivity" = "row-norm" }

[[sweep.methods]]
name = "exact, with \"a\" comma"

[[sweep.methods]]
name = "curator"
set = { "engine.kind" = "central" }
"#;

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("sims/sweep.toml", &format!("{SIM}{SWEEP}"));
    scratch
}

fn command(scratch: &Scratch, threads: &str, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command
        .args(arguments.split_whitespace())
        .current_dir(scratch.path(""))
        .env("RAYON_NUM_THREADS", threads)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn run(scratch: &Scratch, threads: &str, arguments: &str) {
    let status = command(scratch, threads, arguments)
        .status()
        .expect("starts");
    assert_eq!(status.code(), Some(0), "{arguments}");
}

/// What a sweep leaves behind, the same bytes however it was run; the first three also where it was interrupted.
const RESULTS: [&str; 5] = [
    "sweep.csv",
    "curves.csv",
    "summary.json",
    "config.toml",
    "report.html",
];

/// These files are the same in both folders.
fn assert_alike(scratch: &Scratch, [one, other]: [&str; 2], names: &[&str]) {
    for name in names {
        let [one, other] = [one, other].map(|folder| format!("{folder}/{name}"));
        assert!(scratch.read(&one) == scratch.read(&other), "{one}, {other}");
    }
}

fn lines(scratch: &Scratch, name: &str) -> usize {
    std::fs::read(scratch.path(name)).map_or(0, |bytes| {
        bytes.iter().filter(|&&byte| byte == b'\n').count()
    })
}

const CELLS: usize = 3 * 4 * 12;

#[test]
fn an_interrupted_sweep_goes_on_to_the_same_bytes_on_any_number_of_threads() {
    let scratch = scratch();
    run(&scratch, "1", "run sims/sweep.toml --out whole");
    run(&scratch, "3", "run sims/sweep.toml --out threads");
    let mut child = command(&scratch, "2", "run sims/sweep.toml --out cut")
        .spawn()
        .expect("starts");
    let patience = Instant::now() + Duration::from_secs(60);
    while lines(&scratch, "cut/cells.jsonl") < 20 {
        assert!(Instant::now() < patience, "no cell is finished");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("our own child");
    child.wait().expect("ended");
    let before = lines(&scratch, "cut/cells.jsonl");
    assert!(
        (20..CELLS).contains(&before),
        "{before} of {CELLS} when it was killed"
    );
    assert!(!scratch.path("cut/summary.json").exists());
    // What a crash in mid-line would leave.
    let mut journal = scratch.read("cut/cells.jsonl");
    let torn = journal[..200].to_vec();
    journal.extend(torn);
    std::fs::write(scratch.path("cut/cells.jsonl"), journal).expect("writable");
    run(&scratch, "2", "run sims/sweep.toml --out cut");
    assert_eq!(
        lines(&scratch, "cut/cells.jsonl"),
        CELLS + 1,
        "finished cells are not run again"
    );
    assert_alike(&scratch, ["whole", "cut"], &RESULTS[..3]);
    assert_alike(&scratch, ["whole", "threads"], &RESULTS[..3]);
    let text = String::from_utf8(scratch.read("whole/sweep.csv")).expect("text");
    assert!(
        text.starts_with("method,privacy.epsilon,seed,relative_error,"),
        "{text}"
    );
    assert_eq!(text.lines().count(), CELLS + 1);
    assert!(
        text.contains("\n\"exact, with \"\"a\"\" comma\",10.0,3,"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_sweep_says_how_to_go_on() {
    use std::os::unix::process::ExitStatusExt;
    let scratch = scratch();
    let mut child = command(
        &scratch,
        "1",
        "run sims/sweep.toml --set sweep.seeds=200 --out cut",
    );
    let child = child.stderr(Stdio::piped()).spawn().expect("starts");
    let patience = Instant::now() + Duration::from_secs(60);
    while lines(&scratch, "cut/cells.jsonl") < 5 {
        assert!(Instant::now() < patience, "no cell is finished");
        std::thread::sleep(Duration::from_millis(1));
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.expect("kill").success());
    let ended = child.wait_with_output().expect("ended");
    // As a shell says, 130.
    assert_eq!(ended.status.signal(), Some(2));
    let said = String::from_utf8(ended.stderr).expect("text");
    let kept = lines(&scratch, "cut/cells.jsonl");
    let (before, after) = said
        .split_once(" of 2400 cells are kept in cut")
        .expect(&said);
    let told: usize = before
        .rsplit(' ')
        .next()
        .expect(&said)
        .parse()
        .expect(&said);
    assert!(told <= kept && kept <= told + 1, "{said} {kept}");
    assert!(after.contains("run the same command again"), "{said}");
}

/// Four shards, one of them killed and begun again, with a line torn in its journal.
#[test]
fn shards_make_the_whole_sweep_byte_for_byte() {
    let scratch = scratch();
    run(&scratch, "2", "run sims/sweep.toml --out whole");
    for shard in 1..=4 {
        let arguments = format!("run sims/sweep.toml --shard {shard}/4 --out part-{shard}");
        if shard == 3 {
            let mut child = command(&scratch, "1", &arguments).spawn().expect("starts");
            let patience = Instant::now() + Duration::from_secs(60);
            while lines(&scratch, "part-3/cells.jsonl") < 5 {
                assert!(Instant::now() < patience, "no cell is finished");
                std::thread::sleep(Duration::from_millis(1));
            }
            child.kill().expect("our own child");
            child.wait().expect("ended");
            let mut journal = scratch.read("part-3/cells.jsonl");
            let torn = journal[..200].to_vec();
            journal.extend(torn);
            std::fs::write(scratch.path("part-3/cells.jsonl"), journal).expect("writable");
            // Too early: nothing is written, and what is missing is named.
            let early = scratch.undertone("sweep merge part-1 part-2 part-3 --out merged");
            assert_eq!(early.code, Some(2));
            for word in [
                "of 144 cells are not finished",
                "shard 3/4 in part-3 has not ended",
                "shard 4/4 was not given",
            ] {
                assert!(early.stderr.contains(word), "{}", early.stderr);
            }
            assert!(!scratch.path("merged").exists());
        }
        run(&scratch, "2", &arguments);
    }
    let cells = |shard| lines(&scratch, &format!("part-{shard}/cells.jsonl"));
    assert_eq!([cells(1), cells(2), cells(3), cells(4)], [36, 36, 37, 36]);
    assert!(!scratch.path("part-1/summary.json").exists());
    run(
        &scratch,
        "2",
        "sweep merge part-4 part-1 part-3 part-2 --out merged",
    );
    assert_alike(&scratch, ["whole", "merged"], &RESULTS);
    // A sweep goes on from what was merged: there is nothing left to run.
    run(&scratch, "2", "run sims/sweep.toml --out merged");
    assert_eq!(lines(&scratch, "merged/cells.jsonl"), CELLS);
}

/// The files for SLURM and Kubernetes, with the variables that these set, against the unsharded sweep.
#[test]
fn a_job_array_and_an_indexed_job_make_the_whole_sweep() {
    let scratch = scratch();
    let text = String::from_utf8(scratch.read("sims/sweep.toml")).expect("text");
    scratch.write("sims/sweep.toml", &text.replace("seeds = 12", "seeds = 2"));
    run(&scratch, "2", "run sims/sweep.toml --out whole");
    let program = env!("CARGO_BIN_EXE_undertone");
    let job = std::fs::read_to_string(repository("sims/cluster/kubernetes.yaml")).expect("a file");
    let documents = yaml_rust2::YamlLoader::load_from_str(&job).expect("YAML");
    let pod = &documents[1]["spec"]["template"]["spec"]["containers"][0];
    let shell = pod["args"][0].as_str().expect("a command");
    assert_eq!(documents[1]["spec"]["completions"].as_i64(), Some(16));
    assert!(shell.contains("/16 "), "{shell}");
    let shell = shell
        .replace("/16 ", "/3 ")
        .replace("/sims/fig1-small.toml", "sims/sweep.toml")
        .replace("/results", "pods")
        .replace("exec undertone", &format!("exec '{program}'"));
    for shard in 1..=3 {
        let slurm = Command::new("bash")
            .arg(repository("sims/cluster/slurm.sh"))
            .args(["sims/sweep.toml", "tasks"])
            .current_dir(scratch.path(""))
            .envs([("SLURM_ARRAY_TASK_MAX", "3"), ("UNDERTONE", program)])
            .env("SLURM_ARRAY_TASK_ID", shard.to_string())
            .status();
        assert!(slurm.expect("bash").success());
        let pod = Command::new("/bin/sh")
            .args(["-c", &shell])
            .current_dir(scratch.path(""))
            .env("JOB_COMPLETION_INDEX", (shard - 1).to_string())
            .status();
        assert!(pod.expect("sh").success());
    }
    for folder in ["tasks", "pods"] {
        let shards: Vec<_> = (1..=3)
            .map(|shard| format!("{folder}/shard-{shard}"))
            .collect();
        run(
            &scratch,
            "2",
            &format!("sweep merge {} --out {folder}/whole", shards.join(" ")),
        );
        assert_alike(&scratch, ["whole", &format!("{folder}/whole")], &RESULTS);
    }
    let alone = Command::new("bash")
        .arg(repository("sims/cluster/slurm.sh"))
        .args(["sims/sweep.toml", "tasks"])
        .output()
        .expect("bash");
    assert!(String::from_utf8_lossy(&alone.stderr).contains("submit this as an array"));
}

#[test]
fn folders_that_make_no_sweep_are_refused() {
    let scratch = scratch();
    let quick = "--set sweep.seeds=1";
    for shard in 1..=2 {
        run(
            &scratch,
            "2",
            &format!("run sims/sweep.toml {quick} --shard {shard}/2 --out part-{shard}"),
        );
    }
    run(
        &scratch,
        "2",
        &format!("run sims/sweep.toml {quick} --shard 2/3 --out third"),
    );
    run(
        &scratch,
        "2",
        "run sims/sweep.toml --set sweep.seeds=2 --shard 2/2 --out other",
    );
    let damaged = String::from_utf8(scratch.read("part-2/shard.json")).expect("text");
    for (name, text) in [
        ("damaged/shard.json", "{}".to_owned()),
        (
            "newer/shard.json",
            damaged.replace("\"schema\": 1", "\"schema\": 2"),
        ),
        (
            "moved/shard.json",
            damaged.replace("\"base\": \"", "\"base\": \"/nowhere"),
        ),
    ] {
        let folder = scratch.path(name);
        std::fs::create_dir(folder.parent().expect("a folder")).expect("created");
        scratch.write(name, &text);
    }
    for (arguments, expected) in [
        ("sweep merge part-1 none", "none/shard.json is no shard's"),
        ("sweep merge part-1 damaged", "missing field"),
        ("sweep merge part-1 newer", "it has schema 2"),
        (
            "sweep merge part-1 third",
            "third is a shard of another sweep than part-1",
        ),
        (
            "sweep merge part-1 other",
            "other is a shard of another sweep than part-1",
        ),
        (
            "sweep merge moved part-1",
            "name the folder of the experiment file as base",
        ),
        ("sweep merge part-1 part-1", "shard 2/2 was not given"),
        ("run sims/sweep.toml --shard 3/2", "such as 2/4"),
        ("run sims/sim.toml --shard 1/2", "--shard is for sweeps"),
    ] {
        let refused = scratch.undertone(arguments);
        assert_eq!(refused.code, Some(2), "{arguments}");
        assert!(
            refused.stderr.contains(expected),
            "{arguments}: {}",
            refused.stderr
        );
    }
    assert!(!scratch.path("out").exists());
    // On a machine where the files are elsewhere.
    let moved = scratch.undertone("sweep merge moved part-1 --base sims --out merged");
    assert_eq!(moved.code, Some(2));
    assert!(
        moved.stderr.contains("shard 2/2 in moved has not ended"),
        "{}",
        moved.stderr
    );
}

#[test]
fn a_changed_file_does_not_reuse_what_it_changed() {
    let scratch = scratch();
    let quick = "--set sweep.seeds=1 --out out";
    run(&scratch, "2", &format!("run sims/sweep.toml {quick}"));
    assert_eq!(lines(&scratch, "out/cells.jsonl"), 12);
    run(&scratch, "2", &format!("run sims/sweep.toml {quick}"));
    assert_eq!(lines(&scratch, "out/cells.jsonl"), 12);
    run(
        &scratch,
        "2",
        &format!("run sims/sweep.toml {quick} --set algorithm.iterations=3"),
    );
    assert_eq!(lines(&scratch, "out/cells.jsonl"), 24);
    // The same configuration on other ratings.
    let ratings = String::from_utf8(scratch.read("sims/ratings.csv")).expect("text");
    scratch.write("sims/ratings.csv", &format!("{ratings}u0,i29,3\n"));
    run(&scratch, "2", &format!("run sims/sweep.toml {quick}"));
    assert_eq!(lines(&scratch, "out/cells.jsonl"), 36);
}

#[test]
fn a_cell_that_cannot_go_on_is_a_row_with_its_reason() {
    let scratch = scratch();
    // One pattern of items: a sum of rank 1, without noise no basis of rank 3.
    let rows: String = (0..40)
        .flat_map(|user| (0..6).map(move |item| format!("u{user},i{item},1\n")))
        .collect();
    scratch.write("sims/ratings.csv", &format!("user,item,rating\n{rows}"));
    let shown = scratch
        .undertone("run sims/sweep.toml --out out --set noise.scheme=none --set sweep.seeds=1");
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(
        shown.stderr.contains("12 of 12 cells failed")
            && shown
                .stderr
                .contains("The first is method \"row norm\" at privacy.epsilon = 1, seed 3: "),
        "{}",
        shown.stderr
    );
    let text = String::from_utf8(scratch.read("out/sweep.csv")).expect("text");
    assert!(
        text.lines().skip(1).all(|line| line.contains("advance")),
        "{text}"
    );
    let summary: serde_json::Value =
        serde_json::from_slice(&scratch.read("out/summary.json")).expect("JSON");
    assert_eq!(summary["failed"], 12);
}

#[test]
fn methods_that_must_coincide_and_do_not_exit_with_1() {
    let scratch = scratch();
    let asked = |pair: &str| {
        scratch.write(
            "sims/pair.toml",
            &format!(
                "{SIM}{}",
                SWEEP
                    .replace("target = 0.5", &format!("coincide = [{pair}]"))
                    .replace("row-norm", "worst-case")
            ),
        );
        scratch.undertone("run sims/pair.toml --out pair --set sweep.seeds=10")
    };
    // The worst-case sensitivity adds several times the curator's noise: clearly seen with ten seeds.
    let shown = asked(r#"["row norm", "curator"]"#);
    assert_eq!(shown.code, Some(1), "{}{}", shown.stdout, shown.stderr);
    assert!(
        shown.stdout.contains("FAIL  row norm and curator"),
        "{}",
        shown.stdout
    );
    let page = String::from_utf8(scratch.read("pair/report.html")).expect("text");
    assert!(
        page.contains("<td class=\"words\">FAIL</td>"),
        "the verdict is on the page"
    );
    let shown = asked(r#"["exact, with \"a\" comma", "curator"]"#);
    assert_eq!(shown.code, Some(0), "{}{}", shown.stdout, shown.stderr);
    assert!(shown.stdout.contains("PASS  exact"), "{}", shown.stdout);
}

#[test]
fn options_that_would_not_reach_every_cell_are_refused() {
    let scratch = scratch();
    for (arguments, words) in [
        ("--engine event", "[\"curator\"] set engine.kind"),
        ("--trace", "--trace is for a single run"),
        ("--seed 4 --set sweep.seeds=[1,2]", "--seed has no effect"),
        ("--set sweep.targets=1", "unknown field `targets`"),
        ("--set sweep.seeds=0", "sims/sweep.toml cannot be used"),
    ] {
        let shown = scratch.undertone(&format!("run sims/sweep.toml --out out {arguments}"));
        assert_eq!(shown.code, Some(2), "{arguments}: {}", shown.stderr);
        assert!(
            shown.stderr.contains(words),
            "{arguments}: {}",
            shown.stderr
        );
        assert!(!scratch.path("out").exists(), "{arguments}");
    }
}

/// The page of a sweep over two keys: every baseline is marked, ratios are those of the summary, and a curve that is
/// below the target at its first point is not said to reach it there.
#[test]
fn the_page_says_what_the_summary_says() {
    let scratch = scratch();
    let shown = scratch.undertone(
        "run sims/sweep.toml --out two --set sweep.seeds=2 --set sweep.target=0.999 --set sweep.over={\"privacy.epsilon\"=[1000,2000],\"data.items\"=[20,30]}",
    );
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let page = String::from_utf8(scratch.read("two/report.html")).expect("text");
    let summary: serde_json::Value =
        serde_json::from_slice(&scratch.read("two/summary.json")).expect("JSON");
    let crossings = summary["crossings"].as_array().expect("a list");
    assert_eq!(crossings.len(), 6);
    assert!(crossings.iter().all(|crossing| crossing["at_most"] == true));
    assert_eq!(
        page.matches(" (baseline)").count(),
        2,
        "one per value of data.items"
    );
    assert!(page.contains("≤ 1000"), "at most, not at");
    for item in ["items = 20", "items = 30"] {
        assert!(page.contains(&format!("row norm, {item}<")), "{item}");
    }
}
