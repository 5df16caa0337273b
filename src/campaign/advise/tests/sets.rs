//! The sets that advice is measured on: those it was tuned on, and those that were held out.

use std::collections::{BTreeMap, BTreeSet};
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

/// Sets that rules were not chosen on, but that somebody has looked at: they are evidence no more.
pub(super) fn seen(folder: &Path) -> Vec<Set> {
    let liked = ["data.threshold=3.5", "data.items=200"];
    let mut sets = vec![set("MovieLens, ratings of 4 and more, 200", &liked)];
    let Some(data) = shared() else { return sets };
    let gowalla = numbers(&unpacked(&data.join("ratings/gowalla.train.txt.gz")));
    let lists = gowalla.into_iter().map(|line| line[1..].to_vec()).collect();
    sets.push(written(
        "Gowalla, items 500 to 700 by popularity",
        folder,
        "gowalla",
        &between(lists, 500, 700),
    ));
    let jester = unpacked(&data.join("ratings/jester-1-1.csv.gz"));
    let funny = drawn(jokes(&jester, |rating| rating > 5.0), 1);
    sets.push(written(
        "Jester above 5, 3,000 users",
        folder,
        "jester",
        &funny,
    ));
    let edges = numbers(&unpacked(&data.join("graphs/ego-facebook.edges.gz")));
    let friends = neighbours(&edges);
    sets.push(written(
        "ego-Facebook, friends",
        folder,
        "facebook",
        &friends,
    ));
    sets.extend(held_out_first(folder, &data));
    sets.extend(held_out_second(folder, &data));
    sets.extend(held_out_third(folder, &data));
    sets.extend(held_out_fourth(folder, &data));
    sets
}

/// Held out until 2026-11-22, when a first run over them was written down; rules have been chosen on them since.
fn held_out_first(folder: &Path, data: &Path) -> Vec<Set> {
    let films = numbers(&unpacked(
        &data.join("ratings/ml-latest-small.ratings.csv.gz"),
    ));
    let mut viewers: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for line in films {
        viewers.entry(line[0]).or_default().push(line[1]);
    }
    let jester = unpacked(&data.join("ratings/jester-1-1.csv.gz"));
    let edges = numbers(&unpacked(&data.join("graphs/oregon1-010331.edges.gz")));
    let digits = table(&unpacked(&data.join("matrices/digits.csv.gz")), 64);
    let cells = table(&unpacked(&data.join("matrices/breast-cancer.csv.gz")), 30);
    let means: Vec<f64> = (0..30)
        .map(|k| cells.iter().map(|row| row[k]).sum::<f64>() / cells.len() as f64)
        .collect();
    [
        (
            "Oregon autonomous systems, neighbours",
            "oregon",
            neighbours(&edges),
        ),
        (
            "digits, pixels above 8",
            "digits",
            above(&digits, &[8.0; 64]),
        ),
        (
            "breast cancer, features above their means",
            "cells",
            above(&cells, &means),
        ),
        (
            "MovieLens, films 200 to 400 by popularity",
            "films",
            between(viewers.into_values().collect(), 200, 400),
        ),
        (
            "Jester below -5, 3,000 users",
            "unfunny",
            drawn(jokes(&jester, |rating| rating < -5.0), 2),
        ),
    ]
    .into_iter()
    .map(|(name, file, lists)| written(name, folder, file, &lists))
    .collect()
}

/// Held out until later on 2026-11-22, when the second run was written down.
fn held_out_second(folder: &Path, data: &Path) -> Vec<Set> {
    let ratings = data.join("ratings");
    let gowalla = numbers(&unpacked(&ratings.join("gowalla.train.txt.gz")));
    let visits = gowalla.into_iter().map(|line| line[1..].to_vec()).collect();
    let jester = jokes(&unpacked(&ratings.join("jester-1-1.csv.gz")), |rating| {
        rating > 0.0
    });
    let last_third = jester[jester.len() * 2 / 3..].to_vec();
    let films = unpacked(&ratings.join("ml-latest-small.ratings.csv.gz"));
    let median = median_time(&films);
    let digits = table(&unpacked(&data.join("matrices/digits.csv.gz")), 65);
    let even: Vec<Vec<f64>> = digits
        .into_iter()
        .filter(|row| row[64] % 2.0 == 0.0)
        .collect();
    [
        (
            "Gowalla, items 3000 to 3200 by popularity",
            "rare",
            between(visits, 3000, 3200),
        ),
        (
            "Jester above 0, 3,000 of the last third of users",
            "last",
            drawn(last_third, 3),
        ),
        (
            "MovieLens after the median time, films 100 to 300 by popularity",
            "late",
            between(rated(&films, |row| row[3] > median), 100, 300),
        ),
        (
            "digits with even labels, pixels above 4",
            "even",
            above(&even, &[4.0; 64]),
        ),
        (
            "MovieLens, ratings below 3",
            "disliked",
            rated(&films, |row| row[2] < 3.0),
        ),
    ]
    .into_iter()
    .map(|(name, file, lists)| written(name, folder, file, &lists))
    .collect()
}

/// Held out until early on 2026-11-23, when 16 cells of a third run were written down.
fn held_out_third(folder: &Path, data: &Path) -> Vec<Set> {
    let ratings = data.join("ratings");
    let gowalla = numbers(&unpacked(&ratings.join("gowalla.train.txt.gz")));
    let visits = gowalla.into_iter().map(|line| line[1..].to_vec()).collect();
    let jester = jokes(&unpacked(&ratings.join("jester-1-1.csv.gz")), |rating| {
        rating < 0.0
    });
    let first_third = jester[..jester.len() / 3].to_vec();
    let films = unpacked(&ratings.join("ml-latest-small.ratings.csv.gz"));
    let median = median_time(&films);
    let digits = table(&unpacked(&data.join("matrices/digits.csv.gz")), 65);
    let odd: Vec<Vec<f64>> = digits
        .into_iter()
        .filter(|row| row[64] % 2.0 == 1.0)
        .collect();
    let friends = neighbours(&numbers(&unpacked(
        &data.join("graphs/ego-facebook.edges.gz"),
    )));
    let systems = neighbours(&numbers(&unpacked(
        &data.join("graphs/oregon1-010331.edges.gz"),
    )));
    [
        (
            "Gowalla, items 1000 to 1200 by popularity",
            "middle",
            between(visits, 1000, 1200),
        ),
        (
            "Jester below 0, 3,000 of the first third of users",
            "first",
            drawn(first_third, 4),
        ),
        (
            "MovieLens before the median time, films 50 to 250 by popularity",
            "early",
            between(rated(&films, |row| row[3] < median), 50, 250),
        ),
        (
            "MovieLens, users with an odd number, films 300 to 500 by popularity",
            "half",
            between(rated(&films, |row| row[0] % 2.0 == 1.0), 300, 500),
        ),
        (
            "digits with odd labels, pixels above 4",
            "odd",
            above(&odd, &[4.0; 64]),
        ),
        (
            "ego-Facebook, friends 200 to 400 by number of friends",
            "fewer",
            between(friends, 200, 400),
        ),
        (
            "Oregon autonomous systems, neighbours 200 to 400 by number of neighbours",
            "small",
            between(systems, 200, 400),
        ),
    ]
    .into_iter()
    .map(|(name, file, lists)| written(name, folder, file, &lists))
    .collect()
}

/// Held out until later on 2026-11-23, when a fourth run was written down.
fn held_out_fourth(folder: &Path, data: &Path) -> Vec<Set> {
    let ratings = data.join("ratings");
    let gowalla = numbers(&unpacked(&ratings.join("gowalla.train.txt.gz")));
    let visits: Vec<Vec<u64>> = gowalla.iter().map(|line| line[1..].to_vec()).collect();
    let of_even = gowalla.iter().filter(|line| line[0] % 2 == 0);
    let of_even = of_even.map(|line| line[1..].to_vec()).collect();
    let jester = jokes(&unpacked(&ratings.join("jester-1-1.csv.gz")), |rating| {
        rating > 2.5
    });
    let second_third = jester[jester.len() / 3..jester.len() * 2 / 3].to_vec();
    let films = unpacked(&ratings.join("ml-latest-small.ratings.csv.gz"));
    let digits = table(&unpacked(&data.join("matrices/digits.csv.gz")), 65);
    let low: Vec<Vec<f64>> = digits.into_iter().filter(|row| row[64] < 5.0).collect();
    let friends = neighbours(&numbers(&unpacked(
        &data.join("graphs/ego-facebook.edges.gz"),
    )));
    [
        (
            "Gowalla, items 200 to 300 by popularity",
            "next",
            between(visits, 200, 300),
        ),
        (
            "Jester above 2.5, 3,000 of the second third of users",
            "second",
            drawn(second_third, 5),
        ),
        (
            "MovieLens, films 400 to 500 by popularity",
            "rarer",
            between(rated(&films, |_| true), 400, 500),
        ),
        (
            "digits with labels below 5, pixels above 12",
            "low",
            above(&low, &[12.0; 64]),
        ),
        (
            "Gowalla, users with an even number, items 1500 to 1600 by popularity",
            "half-gowalla",
            between(of_even, 1500, 1600),
        ),
        (
            "ego-Facebook, friends 400 to 500 by number of friends",
            "fewest",
            between(friends, 400, 500),
        ),
        (
            "MovieLens, users with an even number, ratings of 4 and more, films 100 to 200 by popularity",
            "liked",
            between(
                rated(&films, |row| row[0] % 2.0 == 0.0 && row[2] >= 4.0),
                100,
                200,
            ),
        ),
    ]
    .into_iter()
    .map(|(name, file, lists)| written(name, folder, file, &lists))
    .collect()
}

/// The sets that nobody looked at before the one run whose figures stand in `benches/RESULTS.md`.
///
/// They were named in the evening of 2026-11-23, with the places and thresholds below, before anything was measured on them, and run once. Whoever chooses rules by that
/// run needs others.
pub(super) fn held_out(folder: &Path) -> Vec<Set> {
    let Some(data) = shared() else {
        return Vec::new();
    };
    let ratings = data.join("ratings");
    let gowalla = numbers(&unpacked(&ratings.join("gowalla.train.txt.gz")));
    let of_odd = gowalla.iter().filter(|line| line[0] % 2 == 1);
    let of_odd = of_odd.map(|line| line[1..].to_vec()).collect();
    let jester = jokes(&unpacked(&ratings.join("jester-1-1.csv.gz")), |rating| {
        rating > 7.0
    });
    let last_third = jester[jester.len() * 2 / 3..].to_vec();
    let films = unpacked(&ratings.join("ml-latest-small.ratings.csv.gz"));
    let median = median_time(&films);
    let digits = table(&unpacked(&data.join("matrices/digits.csv.gz")), 65);
    let high: Vec<Vec<f64>> = digits.into_iter().filter(|row| row[64] >= 5.0).collect();
    let cells = table(&unpacked(&data.join("matrices/breast-cancer.csv.gz")), 30);
    let quartiles: Vec<f64> = (0..30)
        .map(|column| upper_quartile(&cells, column))
        .collect();
    let friends = neighbours(&numbers(&unpacked(
        &data.join("graphs/ego-facebook.edges.gz"),
    )));
    let systems = neighbours(&numbers(&unpacked(
        &data.join("graphs/oregon1-010331.edges.gz"),
    )));
    [
        (
            "Gowalla, users with an odd number, items 400 to 500 by popularity",
            "odd-gowalla",
            between(of_odd, 400, 500),
        ),
        (
            "Jester above 7, 3,000 of the last third of users",
            "last",
            drawn(last_third, 6),
        ),
        (
            "MovieLens from the median time on, films 50 to 150 by popularity",
            "late",
            between(rated(&films, |row| row[3] >= median), 50, 150),
        ),
        (
            "digits with labels of 5 and more, pixels above 6",
            "high",
            above(&high, &[6.0; 64]),
        ),
        (
            "breast cancer, values above the upper quartile",
            "cells",
            above(&cells, &quartiles),
        ),
        (
            "ego-Facebook, friends 600 to 700 by number of friends",
            "rarest",
            between(friends, 600, 700),
        ),
        (
            "Oregon autonomous systems, neighbours 400 to 500 by number of neighbours",
            "smaller",
            between(systems, 400, 500),
        ),
    ]
    .into_iter()
    .map(|(name, file, lists)| written(name, folder, file, &lists))
    .collect()
}

/// What a quarter of these rows exceed in this column.
fn upper_quartile(rows: &[Vec<f64>], column: usize) -> f64 {
    let mut values: Vec<f64> = rows.iter().map(|row| row[column]).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() * 3 / 4]
}

/// Per user the films of such lines: user, film, rating and time.
fn rated(text: &str, such: impl Fn(&[f64]) -> bool) -> Vec<Vec<u64>> {
    let mut users: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for row in table(text, 4) {
        if such(&row) {
            users.entry(row[0] as u64).or_default().push(row[1] as u64);
        }
    }
    users.into_values().collect()
}

/// When half of all ratings were made.
fn median_time(text: &str) -> f64 {
    let mut times: Vec<f64> = table(text, 4).iter().map(|row| row[3]).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The 200 most popular items of these lists, or all where there are no more, in a file.
fn written(name: &'static str, folder: &Path, file: &str, lists: &[Vec<u64>]) -> Set {
    let path = folder.join(file);
    std::fs::write(&path, text(lists)).expect("a temporary file");
    let known: BTreeSet<u64> = lists.iter().flatten().copied().collect();
    let items = if known.len() > 200 {
        "data.items=200"
    } else {
        "data.items=0"
    };
    read(name, &path, "lightgcn", &[items])
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
    let kept: BTreeSet<u64> = order[from..to].iter().copied().collect();
    let keep = |list: Vec<u64>| {
        list.into_iter()
            .filter(|item| kept.contains(item))
            .collect()
    };
    lists.into_iter().map(keep).collect()
}

/// Per user the jokes with such a rating; 99 stands for none.
fn jokes(text: &str, such: impl Fn(f64) -> bool) -> Vec<Vec<u64>> {
    let user = |line: &str| -> Vec<u64> {
        let ratings = line.split(',').skip(1);
        let ratings = ratings.map(|word| word.trim_matches('"').parse().unwrap_or(99.0));
        let liked = |(joke, rating): (u64, f64)| (rating != 99.0 && such(rating)).then_some(joke);
        (0..).zip(ratings).filter_map(liked).collect()
    };
    text.lines().map(user).collect()
}

/// 3,000 lists, drawn by this seed.
fn drawn(mut lists: Vec<Vec<u64>>, seed: u64) -> Vec<Vec<u64>> {
    lists.shuffle(&mut Seed::from_u64(seed).generator(Label::Scenario));
    lists.truncate(3000);
    lists
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

/// The first columns of every line that holds so many numbers.
fn table(text: &str, columns: usize) -> Vec<Vec<f64>> {
    let row = |line: &str| -> Option<Vec<f64>> {
        let words = line.split(',').take(columns);
        let row: Option<Vec<f64>> = words.map(|word| word.trim().parse().ok()).collect();
        row.filter(|row| row.len() == columns)
    };
    text.lines().filter_map(row).collect()
}

/// Every row a user, whose items are the columns in which it is above these.
fn above(rows: &[Vec<f64>], least: &[f64]) -> Vec<Vec<u64>> {
    let user = |row: &Vec<f64>| {
        let columns = (0..).zip(row.iter().zip(least));
        let chosen = columns.filter(|(_, (value, least))| value > least);
        chosen.map(|(column, _)| column).collect()
    };
    rows.iter().map(user).collect()
}
