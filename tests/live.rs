//! The live page in a real browser: what it draws in the end is what `summary.json` says.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::skipped;

/// A run that is watched; ended when it is dropped.
struct Watched {
    child: Child,
    folder: tempfile::TempDir,
    page: String,
}

impl Drop for Watched {
    fn drop(&mut self) {
        // It stays until somebody ends it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn watched(sim: &str, set: &[&str]) -> Watched {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["run", sim, "--live", "--quiet", "--out"])
        .arg(folder.path())
        .args(set.iter().flat_map(|set| ["--set", set]))
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary was built");
    let errors = child.stderr.take().expect("piped");
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            // Nobody listens once the page was named and the run has ended.
            let _ = tell.send(line);
        }
    });
    let limit = Instant::now() + Duration::from_secs(300);
    let mut page = None;
    // Named at the start, and again when all is written.
    loop {
        let left = limit.saturating_duration_since(Instant::now());
        let line = told.recv_timeout(left).expect("it says where the page is");
        if let Some(rest) = line.strip_prefix("live: ") {
            let address = rest.split(' ').next().expect("an address").to_owned();
            if page.replace(address).is_some() {
                break;
            }
        }
    }
    let page = page.expect("named");
    Watched {
        child,
        folder,
        page,
    }
}

fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| {
            let version = Command::new(name).arg("--version").output();
            version.is_ok_and(|output| output.status.success())
        })
}

/// The page as it stands once everything has come.
fn drawn(browser: &str, watched: &Watched) -> String {
    let profile = watched.folder.path().join("profile");
    let output = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ])
        .args(["--virtual-time-budget=8000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(&watched.page)
        .output()
        .expect("a browser");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What the page shows under this key, as it came.
fn shown(page: &str, key: &str) -> Value {
    let mark = format!("data-key=\"{key}\" data-value=\"");
    let at = page
        .find(&mark)
        .unwrap_or_else(|| panic!("{key} is not shown:\n{page}"));
    let rest = &page[at + mark.len()..];
    let value = rest.split('"').next().expect("a value");
    serde_json::from_str(value).unwrap_or_else(|_| panic!("{key} is {value}"))
}

fn check(sim: &str, set: &[&str]) {
    let Some(browser) = browser() else {
        skipped(format_args!(
            "no browser: install chromium to see the live page of {sim} tested"
        ));
        return;
    };
    let watched = watched(sim, set);
    let text = std::fs::read(watched.folder.path().join("summary.json")).expect("written");
    let summary: Value = serde_json::from_slice(&text).expect("JSON");
    let page = drawn(browser, &watched);
    let number = |value: &Value| value.as_f64();
    for (key, expected) in [
        ("epsilon", &summary["privacy"]["epsilon"]),
        ("delta", &summary["privacy"]["delta"]),
        ("relative_error", &summary["utility"]["relative_error"]),
        ("subspace_error", &summary["utility"]["subspace_error"]),
        ("iterations", &summary["iterations"]),
        ("messages", &summary["communication"]["messages"]),
        ("bytes_total", &summary["communication"]["bytes_total"]),
        (
            "bytes_max_peer",
            &summary["communication"]["bytes_max_peer"],
        ),
        (
            "max_disagreement",
            &summary["consensus"]["max_disagreement"],
        ),
        ("crashes", &summary["faults"]["fired"]["crashes"]),
        ("restarts", &summary["faults"]["fired"]["restarts"]),
    ] {
        assert_eq!(number(&shown(&page, key)), number(expected), "{sim}: {key}");
    }
    assert!(page.contains("data-phase=\"done\""), "{page}");
    // A circle per peer, and every state in the legend.
    let peers = summary["peers"].as_u64().expect("a number") as usize;
    let graph = page
        .split("id=\"graph\"")
        .nth(1)
        .and_then(|rest| rest.split("</svg>").next());
    let circles = graph.expect("a graph").matches("<circle").count();
    assert_eq!(circles, peers, "{sim}");
    let rows = page
        .split("<tbody>")
        .nth(1)
        .and_then(|rest| rest.split("</tbody>").next());
    let releases = rows.expect("a table").matches("<tr>").count();
    assert!(
        releases as u64 >= summary["iterations"].as_u64().expect("a number"),
        "{sim}"
    );
    if let Some(crashes) = summary["faults"]["fired"]["crashes"].as_u64() {
        assert!(crashes > 0, "faults fire in {sim}");
        assert!(
            page.matches(" crashed</li>").count() as u64 >= crashes,
            "{sim}"
        );
    }
}

#[test]
fn the_page_of_lockstep_shows_what_the_summary_says() {
    check(
        "sims/quickstart.toml",
        &["data.items=60", "algorithm.rank=4"],
    );
}

#[test]
fn the_page_of_a_run_with_faults_shows_what_the_summary_says() {
    check("sims/crashes.toml", &[]);
}

#[test]
fn the_page_of_the_swarm_shows_what_the_summary_says() {
    check("sims/swarm-64.toml", &["data.items=40"]);
}
