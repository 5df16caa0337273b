//! Plans that members of real sessions make alike, without anybody's data.

use undertone::scenario::Deployment;

use super::facts::of_experiment;
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
    ];
    let planned = sessions.map(|(name, text)| {
        let table = toml::from_str(&text).expect("TOML");
        let columns = (0..12).map(|column| format!("column {column}")).collect();
        let deployment = Deployment::new(&table, columns, 100, &sims());
        let deployment = deployment.unwrap_or_else(|error| panic!("{name}: {error}"));
        let experiment = deployment.experiment(8, &[5; 32], 0);
        let experiment = experiment.unwrap_or_else(|error| panic!("{name}: {error}"));
        (format!("deployed: {name}"), of_experiment(&experiment))
    });
    planned.into()
}
