//! A column that names the node of the graph at which each user is.

use std::path::Path;

use undertone::engine::Silent;
use undertone::run::run;
use undertone::scenario::Experiment;

use crate::support::repository;
use crate::support::told;

const FILE: &str = "
name = \"hospitals\"
seed = 4
[data]
path = \"hospitals.csv\"
format = \"table\"
columns = { peer = \"hospital\" }
[peers]
count = 4
[topology]
file = \"towns.gml\"
[algorithm]
kind = \"covariance\"
rank = 1
iterations = 1
[privacy]
epsilon = 2.0
delta = 1e-5
adjacency = \"interaction\"
colluders = 0
";

/// Kiel is a town without a user.
const TOWNS: &str = "graph [ node [ id 0 label \"bonn\" ] node [ id 1 label \"kiel\" ] node [ id 2 label \"ulm\" ] node [ id 3 label \"ulm, west\" ] \
edge [ source 0 target 1 ] edge [ source 1 target 2 ] edge [ source 2 target 3 ] edge [ source 3 target 0 ] ]";

fn resolve(folder: &Path, set: &[&str]) -> Result<Experiment, String> {
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    Experiment::load(&folder.join("file.toml"), &set).map_err(|error| told(&error))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
    put("file.toml", FILE).expect("writable");
    put("towns.gml", TOWNS).expect("writable");
    put("users.txt", "bo\ncy\n").expect("writable");
    for name in ["hospitals.csv", "two_hospitals.csv"] {
        let stored = repository("tests/foreign/ratings").join(name);
        std::fs::copy(stored, folder.path().join(name)).expect("stored");
    }
    let numbered = std::fs::read_to_string(folder.path().join("hospitals.csv")).expect("text");
    let numbered = numbered.replace("\"ulm, west\"", "3");
    let numbered = numbered.replace("ulm", "2").replace("bonn", "0");
    put("numbered.csv", &numbered).expect("writable");
    folder
}

#[test]
fn users_are_at_the_peers_that_a_column_names() {
    let folder = folder();
    let named = resolve(folder.path(), &[]).expect("four towns");
    let held = |one: &Experiment| -> Vec<usize> {
        one.peer_rows().iter().map(|rows| rows.len()).collect()
    };
    // dee is in Bonn; anna, b. and cy in Ulm; bo in the west of it.
    assert_eq!(held(&named), [1, 0, 2, 1]);
    assert_eq!(named.peer_name(2), "ulm");
    let ring = ["data.path=numbered.csv", "topology={generator=\"ring\"}"];
    let numbered = resolve(folder.path(), &ring).expect("numbers from 0");
    let pairs = named.peer_rows().iter().zip(numbered.peer_rows().iter());
    pairs.for_each(|(a, b)| assert!(a == b, "the same rows"));
    run(&named, &mut Silent).expect("a peer without users adds noise");
}

#[test]
fn what_does_not_say_where_everybody_is_is_refused_by_name() {
    let folder = folder();
    for (set, words) in [
        (
            &["data.path=two_hospitals.csv"][..],
            "line 7: user \"anna, b.\" is at peer \"bonn\" here and at peer \"ulm\" on a line before",
        ),
        (
            &["topology={generator=\"ring\"}"],
            "hospitals.csv, line 2: no peer is named ulm; the 4 peers are numbered from 0: 0, 1, 2, 3; data.columns.peer",
        ),
        (
            &["data.columns={peer=\"town\"}"],
            "the columns are userId, movieId, rating, timestamp, hospital",
        ),
        (
            &["peers.count=users"],
            "set peers.count to the number of nodes",
        ),
        (
            &["peers.partition=random"],
            "leave peers.partition and peers.sizes out",
        ),
        (
            &["peers.partition=hashed"],
            "leave peers.partition and peers.sizes out",
        ),
        (
            &["data.users_file=users.txt"],
            "would be at no peer: leave one of the two out",
        ),
        (
            &["data.format=movielens-csv"],
            "columns is a key of format = \"table\"",
        ),
    ] {
        let said = resolve(folder.path(), set).expect_err("refused");
        assert!(said.contains(words), "{set:?}: {said}");
    }
}

#[test]
fn a_peer_may_be_named_like_its_user() {
    let folder = folder();
    let names = "nodes=[\"anna, b.\",\"bo\",\"cy\",\"dee\"]";
    let edges = "edges=[[\"anna, b.\",\"bo\"],[\"bo\",\"cy\"],[\"cy\",\"dee\"]]";
    let topology = format!("topology={{{names},{edges}}}");
    let each = resolve(
        folder.path(),
        &["data.columns={peer=\"userId\"}", &topology],
    );
    let each = each.expect("every user a peer");
    assert!(each.peer_rows().iter().all(|rows| rows.len() == 1));
}
