//! Plans that members of real sessions make alike, without anybody's data.

use undertone::scenario::Deployment;

use super::facts::of_planned;
use crate::support::experiments::sims;

const INTERACTIONS: &str = r#"
name = "shops"
[data]
format = "csv-triples"
threshold = 2.0
degree_floor = 2
[topology]
generator = "random-regular"
degree = 3
seed = "beacon"
[algorithm]
kind = "krylov"
rank = 2
iterations = 2
[privacy]
epsilon = 2.0
delta = 1e-5
adjacency = "interaction"
colluders = 1
[averaging]
scheme = "tree"
"#;

const NUMBERS: &str = r#"
name = "hospitals"
[data]
format = "matrix-csv"
ranges = [0, 1]
row_clip = 0.8
[topology]
generator = "complete"
[algorithm]
kind = "isometric-covariance"
rank = 2
iterations = 1
[privacy]
epsilon = 1.0
delta = 1e-5
colluders = 1
adjacency = "user"
sensitivity = "unit-row"
[averaging]
scheme = "tree"
"#;

/// A wheel of eight members, by name.
const WHEEL: &str = r#"
nodes = ["a", "b", "c", "d", "e", "f", "g", "h"]
edges = [["a", "b"], ["b", "c"], ["c", "d"], ["d", "e"], ["e", "f"], ["f", "g"], ["b", "g"], ["a", "h"], ["b", "h"], ["c", "h"], ["d", "h"],
    ["e", "h"], ["f", "h"], ["g", "h"]]
"#;

pub(super) fn found() -> Vec<(String, Vec<String>)> {
    let with = |text: &str, key: &str| text.replace("[averaging]", &format!("{key}\n[averaging]"));
    let sessions = [
        ("interactions", INTERACTIONS.to_owned()),
        ("integers", with(INTERACTIONS, "[noise]\nscheme = \"ring\"")),
        ("numbers", NUMBERS.to_owned()),
        (
            "numbers, losses",
            with(NUMBERS, "[dropouts]\ntolerate = 1\nretries = 1"),
        ),
        (
            "numbers, persons",
            with(NUMBERS, "participants_per_person = 2"),
        ),
        (
            "numbers, integers",
            with(NUMBERS, "[noise]\nscheme = \"ring\""),
        ),
        ("local noise", with(INTERACTIONS, "[noise]\nscheme = \"local\"")),
        (
            "momentum, public means",
            NUMBERS
                .replace("kind = \"isometric-covariance\"", "kind = \"momentum\"\nmomentum = 0.01")
                .replace("iterations = 1", "iterations = 3")
                .replace("row_clip", "centre = \"public\"\nmeans = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1]\nrow_clip"),
        ),
        (
            "raked covariance",
            INTERACTIONS
                .replace("krylov", "raked-covariance")
                .replace("rank = 2\niterations = 2", "rank = 2\niterations = 1"),
        ),
        (
            "covariance, users, a cap",
            INTERACTIONS
                .replace("krylov", "covariance")
                .replace("rank = 2\niterations = 2", "rank = 2\niterations = 1")
                .replace("degree_floor = 2", "degree_floor = 2\ndegree_cap = 4")
                .replace("\"interaction\"", "\"user\""),
        ),
        (
            "uneven budget, chebyshev, f32, another noise graph",
            INTERACTIONS
                .replace("krylov", "power")
                .replace(
                    "colluders = 1",
                    "colluders = 1\nbudget = [1, 3]\n[noise_topology]\ngenerator = \"random-regular\"\ndegree = 5\nseed = \"beacon\"",
                )
                .replace("\"tree\"", "\"chebyshev\"\ntolerance = 1e-4\nvalues = \"f32\""),
        ),
        (
            "edges by name, linear, open losses",
            INTERACTIONS
                .replace("colluders = 1", "colluders = 0")
                .replace("generator = \"random-regular\"\ndegree = 3\nseed = \"beacon\"", WHEEL)
                .replace("\"tree\"", "\"linear\"\ntolerance = 1e-4\n[dropouts]\ntolerate = 1\nretries = 2\npublish = \"open\""),
        ),
        (
            "sealed losses, another root",
            with(NUMBERS, "[dropouts]\ntolerate = 1\nretries = 0\npublish = \"sealed\"")
                .replace("\"tree\"", "\"tree\"\nroot = 3"),
        ),
        (
            "matrix, krylov with a block, doubling",
            NUMBERS
                .replace("kind = \"isometric-covariance\"\nrank = 2\niterations = 1", "kind = \"krylov\"\nrank = 2\nblock = 3\niterations = 2")
                .replace("\"user\"\nsensitivity = \"unit-row\"", "\"matrix\"")
                .replace("\"tree\"", "\"doubling\""),
        ),
    ];
    let planned = sessions.map(|(name, text)| {
        let table = toml::from_str(&text).expect("TOML");
        let columns = (0..12).map(|column| format!("column {column}")).collect();
        let deployment = Deployment::new(&table, columns, 100, &sims());
        let deployment = deployment.unwrap_or_else(|error| panic!("{name}: {error}"));
        let session = deployment.plan(&[100; 8], &[5; 32], 0);
        let session = session.unwrap_or_else(|error| panic!("{name}: {error}"));
        (format!("deployed: {name}"), of_planned(&session))
    });
    planned.into()
}
