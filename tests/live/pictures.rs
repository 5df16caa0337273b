//! Pictures of pages for the guide: taken here, and compared with those that the repository has.
//!
//! A picture is kept with what stands on it, in `src/guide/pictures/NAME.txt`, and in `live.links` in the form in which documentation
//! shows it. Words and structure must be the same; the drawings must be alike within a tolerance that does not see fonts and sees
//! colours and shapes (`alike` shows both). What is changed on purpose is taken again:
//!
//! ```sh
//! UNDERTONE_PICTURES=write cargo test --test main -- live
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::browser::{Browser, Look};
use crate::support::repository;

/// Most bytes of a picture.
const LARGEST: usize = 150_000;

/// The share of a drawing's squares that may differ: edges of shapes are smoothed in other ways elsewhere.
const TOLERANCE: f64 = 0.02;

const AGAIN: &str = "if that is meant: UNDERTONE_PICTURES=write cargo test --test main -- live";

/// A picture of the guide.
pub(super) struct Picture {
    pub(super) name: &'static str,
    pub(super) look: Look,
    pub(super) height: u32,
    /// Beginnings of lines that differ from time to time.
    pub(super) left_out: &'static [&'static str],
    /// Whether the graph is a few shapes on much ground: that they are gone is then less than the tolerance, and seen in the words alone.
    pub(super) is_sparse: bool,
}

const WIDTH: u32 = 1000;

fn folder() -> PathBuf {
    repository("src/guide/pictures")
}

/// The pictures as documentation shows them, by name: link definitions with all of the picture in them.
fn links() -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder().join("live.links")).unwrap_or_default();
    let read = |line: &str| {
        let (name, data) = line
            .strip_prefix('[')?
            .split_once("]: data:image/png;base64,")?;
        Some((name.to_owned(), data.to_owned()))
    };
    text.lines().filter_map(read).collect()
}

/// Bytes from base64.
fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let digit = DIGITS.iter().position(|digit| *digit == byte);
        bits = (bits << 6) | digit.expect("base64") as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

fn write(picture: &Picture, data: &str, words: &[String], places: &Value) {
    // Tests run side by side.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    fs::create_dir_all(folder()).expect("writable");
    let file = |ending: &str| folder().join(format!("{}.{ending}", picture.name));
    fs::write(file("png"), decoded(data)).expect("writable");
    let text = format!("places: {places}\n{}\n", words.join("\n"));
    fs::write(file("txt"), text).expect("writable");
    let mut all = links();
    all.insert(picture.name.to_owned(), data.to_owned());
    let line =
        |(name, data): (&String, &String)| format!("[{name}]: data:image/png;base64,{data}\n");
    let text: String = all.iter().map(line).collect();
    fs::write(folder().join("live.links"), text).expect("writable");
}

/// How much the drawings of two pictures differ where they differ most.
fn difference(browser: &mut Browser, one: (&str, &Value), other: (&str, &Value)) -> f64 {
    let found = browser.value(&format!(
        "reading.difference({:?}, {}, {:?}, {})",
        one.0, one.1, other.0, other.1
    ));
    let found = found.as_array().expect("a list").iter();
    found
        .map(|share| share.as_f64().expect("a number"))
        .fold(0.0, f64::max)
}

/// The page that the browser shows is the one that the guide shows.
pub(super) fn check(browser: &mut Browser, picture: &Picture) {
    browser.look(WIDTH, picture.height, picture.look);
    browser.value(include_str!("reading.js"));
    let left_out = json!(picture.left_out);
    let words = browser.value(&format!("reading.words({left_out})"));
    let words: Vec<String> = serde_json::from_value(words).expect("lines");
    let places = browser.value("reading.places()");
    let taken = browser.picture(WIDTH, picture.height);
    if std::env::var_os("UNDERTONE_PICTURES").is_some_and(|value| value == "write") {
        let data = browser.value(&format!("reading.reduced({taken:?})"));
        write(picture, data.as_str().expect("a picture"), &words, &places);
    }
    let name = picture.name;
    let text = fs::read_to_string(folder().join(format!("{name}.txt"))).unwrap_or_default();
    let mut lines = text.lines();
    let kept = lines.next().and_then(|line| line.strip_prefix("places: "));
    let kept: Value = serde_json::from_str(kept.unwrap_or("[]")).expect("JSON");
    for (now, then) in words.iter().map(String::as_str).zip(lines.clone()) {
        assert_eq!(
            now, then,
            "{name}: the page says the first, its picture the second; {AGAIN}"
        );
    }
    assert_eq!(words.len(), lines.count(), "{name}: lines; {AGAIN}");
    let data = links().remove(name).unwrap_or_default();
    let bytes = fs::read(folder().join(format!("{name}.png"))).unwrap_or_default();
    assert!(
        decoded(&data) == bytes && !bytes.is_empty(),
        "{name}: live.links has another picture; {AGAIN}"
    );
    assert!(bytes.len() <= LARGEST, "{name}: {} bytes", bytes.len());
    let found = difference(browser, (&data, &kept), (&taken, &places));
    assert!(
        found <= TOLERANCE,
        "{name}: {:.1} % of a drawing look otherwise; {AGAIN}",
        100.0 * found
    );
    other_fonts_are_alike_and_other_drawings_are_not(browser, picture, (&data, &kept));
}

/// What the comparison sees: no font, every colour and shape.
fn other_fonts_are_alike_and_other_drawings_are_not(
    browser: &mut Browser,
    picture: &Picture,
    kept: (&str, &Value),
) {
    let mut styled = |style: &str| {
        // A style sheet of its own is none of the server's.
        browser.value(&format!(
            "(() => {{ const own = new CSSStyleSheet(); own.replaceSync({style:?}); document.adoptedStyleSheets = [own]; return 0; }})()"
        ));
        let places = browser.value("reading.places()");
        let taken = browser.picture(WIDTH, picture.height);
        let found = difference(browser, kept, (&taken, &places));
        browser.value("(() => { document.adoptedStyleSheets = []; return 0; })()");
        found
    };
    let name = picture.name;
    for font in [
        "* { font-family: serif !important; }",
        "* { font-family: monospace !important; line-height: 1.7 !important; }",
    ] {
        let found = styled(font);
        assert!(found <= TOLERANCE, "{name}: {font} is {found}");
    }
    let other_look = match picture.look {
        Look::Light => "body { --page: #14171b !important; }",
        Look::Dark => "body { --page: #ffffff !important; }",
    };
    for wrong in [
        other_look,
        "section { background: #d0d0ff !important; }",
        "svg circle { fill: #ff00ff !important; r: 40px !important; }",
        "#graph { transform: scale(1, -1); }",
        "#graph { width: 60% !important; }",
    ] {
        let found = styled(wrong);
        assert!(found > TOLERANCE, "{name}: {wrong} is {found}");
    }
    if !picture.is_sparse {
        let wrong = "#graph .links { stroke: none !important; } #graph circle { display: none; }";
        let found = styled(wrong);
        assert!(found > TOLERANCE, "{name}: {wrong} is {found}");
    }
}
