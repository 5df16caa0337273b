//! What is public of users and items: lists, orders and degrees.

mod item_degrees;
mod users;

use std::path::Path;

use rand::RngExt;
use undertone::config::{Config, read_config};
use undertone::scenario::Experiment;
use undertone::vocabulary::{Label, Seed};

const USERS: usize = 40;
const ITEMS: usize = 15;

/// One covariance of 40 users at 8 peers, with a public list of items.
const FILE: &str = "
name = \"users\"
seed = 9
[data]
path = \"a.csv\"
format = \"csv-triples\"
items_file = \"items.txt\"
degree_floor = 4
[peers]
count = 8
[topology]
generator = \"complete\"
[algorithm]
kind = \"covariance\"
rank = 2
iterations = 1
[privacy]
epsilon = 2.0
delta = 1e-5
adjacency = \"interaction\"
[averaging]
scheme = \"tree\"
";

/// Lines of an event log: everybody's first event, then all others in another order.
fn log() -> Vec<(usize, usize)> {
    let mut rng = Seed::from_u64(3).generator(Label::Scenario);
    let mut first = Vec::new();
    let mut rest = Vec::new();
    for user in 0..USERS {
        let count = rng.random_range(2..=12);
        let mut items: Vec<usize> = (0..ITEMS).collect();
        for at in 0..count {
            let other = rng.random_range(at..ITEMS);
            items.swap(at, other);
        }
        first.push((user, items[0]));
        rest.extend(items[1..count].iter().map(|&item| (user, item)));
    }
    for last in (1..rest.len()).rev() {
        rest.swap(last, rng.random_range(0..=last));
    }
    first.into_iter().chain(rest).collect()
}

fn csv(log: &[(usize, usize)]) -> String {
    let line = |(user, item): &(usize, usize)| format!("u{user},i{item}\n");
    "user,item\n".to_owned() + &log.iter().map(line).collect::<String>()
}

/// A folder with the files of an experiment and this log.
fn folder(log: &[(usize, usize)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let names = |letter: char, count: usize| -> String {
        (0..count).map(|at| format!("{letter}{at}\n")).collect()
    };
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
    put("a.csv", &csv(log)).expect("writable");
    let placed = csv(log).replace("item\n", "item,peer\n");
    let placed = placed.lines().map(|line| match line.split(',').next() {
        Some("user") | None => format!("{line}\n"),
        Some(user) => format!(
            "{line},{}\n",
            user.len() * 2 + usize::from(user.ends_with('7'))
        ),
    });
    put("placed.csv", &placed.collect::<String>()).expect("writable");
    put("items.txt", &names('i', ITEMS)).expect("writable");
    put("users.txt", &names('u', USERS)).expect("writable");
    put("file.toml", FILE).expect("writable");
    folder
}

fn config(folder: &Path, set: &[&str]) -> Config {
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    read_config(&folder.join("file.toml"), &set).expect("valid keys")
}

fn experiment(log: &[(usize, usize)], set: &[&str]) -> Experiment {
    let folder = folder(log);
    let experiment = Experiment::resolve(config(folder.path(), set), folder.path());
    experiment.unwrap_or_else(|error| panic!("{set:?}: {error}"))
}
