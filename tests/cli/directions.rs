//! Items by name: titles in the report and in `recommend`, and what the directions of a basis are.

use serde_json::Value;

use crate::support::command::undertone_in;
use crate::support::repository;
use crate::support::scratch::Scratch;

/// Titles of invented films, some of them hostile; `i3` has none.
const TITLES: [(&str, &str); 8] = [
    ("i0", "The Lighthouse Auction"),
    ("i1", "</li><script>alert(1)</script> & \"Sons\""),
    ("i2", "=HYPERLINK(\"x\")"),
    ("i4", "Winter, at the Pier"),
    ("i5", "Winter, at the Pier"),
    ("i6", "Mis\u{e9}ricorde 2"),
    ("unheard-of", "Not of this list"),
    ("i7", "x"),
];

/// A folder with the small experiment, its titles beside it, and a release that says something.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let mut table = String::from("\u{feff}year;name;item\r\n");
    for (id, title) in TITLES {
        let title = title.replace('"', "\"\"");
        table.push_str(&format!("1999;\"{title}\";{id}\r\n"));
    }
    table.push_str(&format!("2001;{};i8\r\n", "Long".repeat(4000)));
    for item in 9..30 {
        table.push_str(&format!("2002;Film {item};i{item}\r\n"));
    }
    scratch.write("sims/titles.csv", &table);
    scratch
}

const SIGNAL: &str = "sims/sim.toml --set algorithm.kind=covariance --set algorithm.iterations=1 --set privacy.epsilon=500";
const TITLED: &str = "--set data.titles=titles.csv";

fn ran(scratch: &Scratch, arguments: &str, out: &str) -> String {
    let run = scratch.undertone(&format!("run {arguments} --out {out}"));
    assert_eq!(run.code, Some(0), "{arguments}: {}", run.stderr);
    section(&scratch.read(&format!("{out}/report.html")))
}

/// The part of a report about directions.
fn section(page: &[u8]) -> String {
    let page = String::from_utf8(page.to_vec()).expect("text");
    let (_, after) = page.split_once("<h2>Directions</h2>").expect("a section");
    after.split("<h2>").next().expect("its text").to_owned()
}

#[test]
fn the_report_shows_titles_escaped_and_ids_where_there_are_none() {
    let scratch = scratch();
    let shown = ran(&scratch, &format!("{SIGNAL} {TITLED}"), "out");
    assert_eq!(shown.matches("<h3>Direction ").count(), 3, "{shown}");
    assert_eq!(shown.matches("<li>").count(), 24, "eight of each: {shown}");
    assert!(shown.contains("Film "), "{shown}");
    assert!(!shown.contains("<script") && !shown.contains("LongLong".repeat(30).as_str()));
    assert!(
        !shown.contains("set data.titles") && !shown.contains("unheard"),
        "{shown}"
    );
    assert!(shown.contains("covered by the run"), "{shown}");
    // Whatever their weight, all items are escaped, shortened or shown by id.
    let list = scratch.undertone(&format!(
        "recommend --basis out/basis.npy --directions --top 20 --json --sim sims/sim.toml {TITLED}"
    ));
    assert_eq!(list.code, Some(0), "{}", list.stderr);
    let list: Value = serde_json::from_str(&list.stdout).expect("one document");
    let first = list[0]["heaviest"].as_array().expect("a list");
    assert_eq!(first.len(), 20);
    for one in first {
        let (id, title) = (one["item"].as_str().expect("an id"), &one["title"]);
        match id {
            "i3" => assert!(title.is_null()),
            "i8" => assert_eq!(title.as_str().map(|t| t.chars().count()), Some(201)),
            "i1" => assert_eq!(title, TITLES[1].1),
            _ => assert!(title.is_string(), "{one}"),
        }
    }
    // What weighs most comes first, with its sign, and the report says the same.
    let weight = |one: &Value| one["weight"].as_f64().expect("a number");
    assert!(
        first
            .windows(2)
            .all(|two| weight(&two[0]).abs() >= weight(&two[1]).abs())
    );
    let class = if weight(&first[0]) < 0.0 {
        "below"
    } else {
        "above"
    };
    let line = shown.split("<li>").nth(1).expect("a line");
    assert!(
        line.contains(&format!("class=\"weight {class}\"")),
        "{line}"
    );
}

#[test]
fn titles_move_nothing_that_is_released() {
    let scratch = scratch();
    let plain = ran(&scratch, SIGNAL, "plain");
    assert!(
        plain.contains("shown by their ids") && plain.contains("data.titles"),
        "{plain}"
    );
    ran(&scratch, &format!("{SIGNAL} {TITLED}"), "titled");
    for file in ["basis.npy", "items.csv", "metrics.csv"] {
        let of = |out: &str| scratch.read(&format!("{out}/{file}"));
        assert_eq!(of("plain"), of("titled"), "{file}");
    }
    let receipt = |out: &str| -> Value {
        let mut receipt: Value =
            serde_json::from_slice(&scratch.read(&format!("{out}/receipt.json"))).expect("JSON");
        assert!(receipt["config_hash"].take().is_string());
        receipt
    };
    assert_eq!(receipt("plain"), receipt("titled"));
}

#[test]
fn recommend_takes_the_titles_of_the_experiment() {
    let scratch = scratch();
    ran(&scratch, SIGNAL, "out");
    let recommend = "recommend --basis out/basis.npy --sim sims/sim.toml --user u3";
    let without = scratch.undertone(recommend);
    assert!(
        without.stdout.contains("titles: a table of ids and titles"),
        "{}",
        without.stdout
    );
    let with = scratch.undertone(&format!("{recommend} {TITLED}"));
    assert_eq!(with.code, Some(0), "{}", with.stderr);
    assert!(
        with.stdout.contains("Film ") && !with.stdout.contains("titles:"),
        "{}",
        with.stdout
    );
    scratch.write("mine.csv", "id,title\ni9,Mine\n");
    let own = scratch.undertone(&format!("{recommend} {TITLED} --titles mine.csv"));
    assert!(!own.stdout.contains("Film "), "{}", own.stdout);
    let directions =
        scratch.undertone("recommend --basis out/basis.npy --directions --titles sims/titles.csv");
    assert_eq!(
        directions.stdout.matches("direction ").count(),
        3,
        "{}",
        directions.stdout
    );
    assert!(directions.stdout.contains("Film "), "{}", directions.stdout);
}

#[test]
fn noise_is_not_shown_as_a_finding() {
    let scratch = scratch();
    for kind in ["covariance", "isometric-covariance", "power", "krylov"] {
        let keys = format!(
            "sims/sim.toml {TITLED} --set algorithm.kind={kind} --set algorithm.iterations=1"
        );
        let silent = ran(
            &scratch,
            &format!("{keys} --set privacy.epsilon=0.01"),
            "silent",
        );
        assert!(
            silent.contains("No direction stands out of the noise"),
            "{kind}: {silent}"
        );
        assert!(!silent.contains("Film "), "{kind}: {silent}");
        let loud = ran(
            &scratch,
            &format!("{keys} --set privacy.epsilon=2000"),
            "loud",
        );
        assert!(loud.contains("Film "), "{kind}: {loud}");
    }
}

#[test]
fn what_is_no_table_of_titles_is_refused_before_the_run() {
    let scratch = scratch();
    for (text, words) in [
        ("id,title\ni1,A\u{1b}[31m\n", ["line 2", "control"]),
        ("id,title\ni1,A\ni1,B\n", ["line 3", "again"]),
        ("some words\n", ["line 1", "header"]),
    ] {
        scratch.write("sims/bad.csv", text);
        let run = scratch.undertone("run sims/sim.toml --set data.titles=bad.csv --out bad");
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        let all = words
            .iter()
            .chain(&["bad.csv"])
            .all(|word| run.stderr.contains(word));
        assert!(all && !scratch.path("bad").exists(), "{}", run.stderr);
    }
    let gone = scratch.undertone("run sims/sim.toml --set data.titles=gone.csv --out bad");
    assert!(
        gone.code == Some(2) && gone.stderr.contains("gone.csv"),
        "{}",
        gone.stderr
    );
}

#[test]
fn digits_are_shown_as_images() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("digits");
    let sim = repository("sims/digits.toml");
    let (sim, out_text) = (sim.to_string_lossy(), out.to_string_lossy());
    let run = undertone_in(folder.path(), &["run", &sim, "--out", &out_text]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let shown = section(&std::fs::read(out.join("report.html")).expect("written"));
    let images: Vec<&str> = shown.split("<svg").skip(1).collect();
    assert!((3..=8).contains(&images.len()), "{} images", images.len());
    for image in images {
        assert!(image.contains("viewBox=\"0 0 8 8\""), "{image}");
        assert_eq!(image.matches("h1v1h-1z").count(), 64, "{image}");
        assert!(
            image.contains("\"above\"") && image.contains("\"below\""),
            "{image}"
        );
    }
    for wrong in ["[8,9]", "[0,64]", "[9223372036854775807,2]"] {
        let set = format!("data.image={wrong}");
        let run = undertone_in(folder.path(), &["run", &sim, "--set", &set]);
        assert_eq!(run.code, Some(2), "{wrong}");
        assert!(
            run.stderr.contains("[data] image") && run.stderr.contains("64 numbers"),
            "{}",
            run.stderr
        );
    }
}
