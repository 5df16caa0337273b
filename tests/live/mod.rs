//! The live page in a real browser: what it draws in the end is what `summary.json` says.

mod browser;
#[cfg(all(unix, feature = "node", feature = "cli"))]
mod member;
mod pictures;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use browser::{Browser, Look};
use pictures::Picture;

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

/// What the page shows under this key, as it came; nothing where it shows none.
fn shown(browser: &mut Browser, key: &str) -> Value {
    let place = format!("document.querySelector('dd[data-key=\"{key}\"]')");
    let value = browser.value(&format!("{place} ? {place}.dataset.value : 'null'"));
    let value = value.as_str().expect("text");
    serde_json::from_str(value).unwrap_or_else(|_| panic!("{key} is {value}"))
}

fn count(browser: &mut Browser, selector: &str) -> u64 {
    let found = browser.value(&format!("document.querySelectorAll({selector:?}).length"));
    found.as_u64().expect("a number")
}

/// Runs and looks; what is drawn in the end is what the summary says. Then the pictures.
fn check(sim: &str, set: &[&str], pictures: &[Picture]) {
    let Some(mut browser) = Browser::start(&format!("the live page of {sim}")) else {
        return;
    };
    let watched = watched(sim, set);
    let text = std::fs::read(watched.folder.path().join("summary.json")).expect("written");
    let summary: Value = serde_json::from_slice(&text).expect("JSON");
    browser.open(&watched.page);
    browser.until("document.querySelector('#phase') && document.querySelector('#phase').dataset.phase === 'done'");
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
        let found = shown(&mut browser, key);
        assert_eq!(number(&found), number(expected), "{sim}: {key}");
    }
    // A circle per peer, and a row per release.
    let peers = summary["peers"].as_u64().expect("a number");
    assert_eq!(count(&mut browser, "#graph circle"), peers, "{sim}");
    let iterations = summary["iterations"].as_u64().expect("a number");
    assert!(
        count(&mut browser, "#releases tbody tr") >= iterations,
        "{sim}"
    );
    if let Some(crashes) = summary["faults"]["fired"]["crashes"].as_u64() {
        assert!(crashes > 0, "faults fire in {sim}");
        let lines = browser.value("document.querySelector('#lines').innerText");
        let lines = lines.as_str().expect("text");
        assert!(
            lines.matches(" crashed").count() as u64 >= crashes,
            "{lines}"
        );
    }
    // From the keyboard alone.
    browser.value("document.querySelector('#graph').focus()");
    for _ in 0..2 {
        browser.press("ArrowRight");
    }
    let chosen = browser.value("document.querySelector('#chosen').textContent");
    let chosen = chosen.as_str().expect("text");
    assert!(chosen.starts_with("Peer 1: "), "{chosen}");
    browser.press("ArrowLeft");
    browser.value("document.activeElement.blur()");
    for picture in pictures {
        pictures::check(&mut browser, picture);
    }
}

#[test]
fn the_page_of_lockstep_shows_what_the_summary_says() {
    check(
        "sims/quickstart.toml",
        &[
            "data.items=60",
            "privacy.epsilon=20",
            "algorithm.kind=power",
            "algorithm.rank=2",
            "algorithm.iterations=6",
            "averaging.scheme=chebyshev",
        ],
        &[Picture {
            name: "live-lockstep",
            look: Look::Light,
            height: 1120,
            left_out: &[],
            is_sparse: false,
        }],
    );
}

#[test]
fn the_page_of_a_run_with_faults_shows_what_the_summary_says() {
    let picture = |name, look| Picture {
        name,
        look,
        height: 1120,
        left_out: &[],
        is_sparse: false,
    };
    check(
        "sims/crashes.toml",
        &[],
        &[
            picture("live-faults", Look::Light),
            picture("live-faults-dark", Look::Dark),
        ],
    );
}

#[test]
fn the_page_of_the_swarm_shows_what_the_summary_says() {
    check("sims/swarm-64.toml", &["data.items=40"], &[]);
}

/// Every picture is one that a test takes and a page of the guide shows.
#[test]
fn the_guide_shows_every_picture() {
    let folder = crate::support::repository("src/guide/pictures");
    let page = crate::support::repository("src/guide/watching.md");
    let page = std::fs::read_to_string(page).expect("readable");
    let files = std::fs::read_dir(folder).expect("readable");
    let mut pictures = 0;
    for file in files {
        let name = file.expect("readable").file_name();
        let name = name.to_string_lossy();
        if let Some(name) = name.strip_suffix(".png") {
            pictures += 1;
            assert!(page.contains(&format!("][{name}]")), "{name} is not shown");
            let link = format!("[{name}]: pictures/{name}.png");
            assert!(
                page.contains(&link),
                "{name} is not shown in the repository: {link}"
            );
        }
    }
    assert_eq!(pictures, page.matches("]: pictures/").count());
    assert_eq!(pictures, 4);
}
