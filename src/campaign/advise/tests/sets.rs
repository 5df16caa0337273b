//! The sets that advice is measured on: those it was tuned on, and those that were held out.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use rand::seq::SliceRandom;

use crate::vocabulary::{Label, Seed};

/// A set of interactions, and the keys of an experiment file that read it.
pub(super) struct Set {
    pub(super) name: &'static str,
    pub(super) keys: Vec<String>,
}

/// What is private in files outside the repository; `None` where the folder is not there.
fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let found = path.is_dir();
    if !found {
        crate::vocabulary::testing::skipped(format_args!("{} is not there", path.display()));
    }
    found.then_some(path)
}

fn set(name: &'static str, keys: &[&str]) -> Set {
    Set {
        name,
        keys: keys.iter().map(|&key| key.to_owned()).collect(),
    }
}

/// Keys of a file elsewhere, one peer for many users.
fn read(name: &'static str, path: &Path, format: &str, more: &[&str]) -> Set {
    let mut one = set(name, more);
    one.keys.push(format!("data.path={}", path.display()));
    one.keys.push(format!("data.format={format}"));
    one.keys.push("peers.count=64".to_owned());
    one
}

/// The sets that guesses, floors and rules were chosen on.
pub(super) fn tuned() -> Vec<Set> {
    let mut sets = vec![
        set("MovieLens 60", &["data.items=60", "peers.count=64"]),
        set("MovieLens 100", &["data.items=100"]),
        set("MovieLens 200", &["data.items=200"]),
        set("MovieLens 300", &["data.items=300"]),
    ];
    if let Some(data) = shared() {
        let ratings = data.join("ratings");
        let jester = ratings.join("jester-1-1.csv.gz");
        sets.push(read("Jester", &jester, "jester", &["data.items=0"]));
        let gowalla = ratings.join("gowalla.train.txt.gz");
        sets.push(read(
            "Gowalla 100",
            &gowalla,
            "lightgcn",
            &["data.items=100"],
        ));
        sets.push(read(
            "Gowalla 200",
            &gowalla,
            "lightgcn",
            &["data.items=200"],
        ));
    }
    sets
}

/// The sets that nobody looked at before the last run, written into a folder where a file of the repository is not enough.
///
/// They were named before anything was measured. To look at them for anything but that measurement is to need others.
pub(super) fn held_out(folder: &Path) -> Vec<Set> {
    let liked = ["data.threshold=3.5", "data.items=200"];
    let mut sets = vec![set("MovieLens, ratings of 4 and more, 200", &liked)];
    let Some(data) = shared() else { return sets };
    let mut add = |name, items: &str, file: &str, lists: Vec<Vec<u64>>| {
        let path = folder.join(file);
        std::fs::write(&path, text(&lists)).expect("a temporary file");
        sets.push(read(name, &path, "lightgcn", &[items]));
    };
    let ratings = data.join("ratings");
    let gowalla = numbers(&unpacked(&ratings.join("gowalla.train.txt.gz")));
    let lists = gowalla.into_iter().map(|line| line[1..].to_vec()).collect();
    let items = "data.items=200";
    add(
        "Gowalla, items 500 to 700 by popularity",
        items,
        "gowalla",
        between(lists, 500, 700),
    );
    let jester = unpacked(&ratings.join("jester-1-1.csv.gz"));
    let mut funny = liked_jokes(&jester, 5.0);
    funny.shuffle(&mut Seed::from_u64(1).generator(Label::Scenario));
    funny.truncate(3000);
    add(
        "Jester above 5, 3,000 users",
        "data.items=0",
        "jester",
        funny,
    );
    for (name, file) in [
        ("ego-Facebook, friends", "ego-facebook.edges.gz"),
        (
            "Oregon autonomous systems, neighbours",
            "oregon1-010331.edges.gz",
        ),
    ] {
        let edges = numbers(&unpacked(&data.join("graphs").join(file)));
        add(name, items, file, neighbours(&edges));
    }
    let digits = unpacked(&data.join("matrices/digits.csv.gz"));
    add(
        "digits, pixels above 8",
        "data.items=0",
        "digits",
        bright(&digits, 8.0),
    );
    sets
}

fn unpacked(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("readable");
    let mut text = String::new();
    let mut decoder = GzDecoder::new(&bytes[..]);
    decoder.read_to_string(&mut text).expect("text");
    text
}

/// The whole numbers of every line that begins with one.
fn numbers(text: &str) -> Vec<Vec<u64>> {
    let line = |line: &str| -> Vec<u64> {
        let words = line.split(|c: char| c.is_whitespace() || c == ',');
        words.map_while(|word| word.parse().ok()).collect()
    };
    text.lines()
        .map(line)
        .filter(|line| !line.is_empty())
        .collect()
}

/// A line per user with a number for the user and the items.
fn text(lists: &[Vec<u64>]) -> String {
    let mut text = String::new();
    for (user, items) in lists.iter().filter(|items| !items.is_empty()).enumerate() {
        text.push_str(&user.to_string());
        for item in items {
            text.push_str(&format!(" {item}"));
        }
        text.push('\n');
    }
    text
}

/// The items from one place to another in the order of popularity, equal ones by number.
fn between(lists: Vec<Vec<u64>>, from: usize, to: usize) -> Vec<Vec<u64>> {
    let mut degrees: BTreeMap<u64, usize> = BTreeMap::new();
    for item in lists.iter().flatten() {
        *degrees.entry(*item).or_default() += 1;
    }
    let mut order: Vec<u64> = degrees.keys().copied().collect();
    order.sort_by_key(|item| (std::cmp::Reverse(degrees[item]), *item));
    let kept: std::collections::BTreeSet<u64> = order[from..to].iter().copied().collect();
    let keep = |list: Vec<u64>| {
        list.into_iter()
            .filter(|item| kept.contains(item))
            .collect()
    };
    lists.into_iter().map(keep).collect()
}

/// Per user the jokes rated above this; 99 stands for none.
fn liked_jokes(text: &str, above: f64) -> Vec<Vec<u64>> {
    let user = |line: &str| -> Vec<u64> {
        let ratings = line.split(',').skip(1);
        let ratings = ratings.map(|word| word.trim_matches('"').parse().unwrap_or(99.0));
        let liked = |(joke, rating): (u64, f64)| (rating > above && rating != 99.0).then_some(joke);
        (0..).zip(ratings).filter_map(liked).collect()
    };
    text.lines().map(user).collect()
}

/// Every vertex a user, whose items are its neighbours.
fn neighbours(edges: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let mut lists: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for edge in edges {
        let &[a, b, ..] = edge.as_slice() else {
            continue;
        };
        if a != b {
            lists.entry(a).or_default().push(b);
            lists.entry(b).or_default().push(a);
        }
    }
    lists
        .into_values()
        .map(|mut list| {
            list.sort_unstable();
            list.dedup();
            list
        })
        .collect()
}

/// Every picture a user, whose items are its pixels above this; the last column is what it shows.
fn bright(text: &str, above: f64) -> Vec<Vec<u64>> {
    let picture = |line: &str| -> Option<Vec<u64>> {
        let all: Option<Vec<f64>> = line
            .split(',')
            .map(|word| word.trim().parse().ok())
            .collect();
        let pixels = all?;
        let pixels = (0..).zip(&pixels[..64]);
        Some(
            pixels
                .filter(|(_, value)| **value > above)
                .map(|(k, _)| k)
                .collect(),
        )
    };
    text.lines().filter_map(picture).collect()
}
