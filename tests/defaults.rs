//! What an experiment file need not say: it is chosen, and `config.toml` has it, which gives the same bits.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use undertone::config::{left_to_defaults, read_config, resolved};
use undertone::engine::{Silent, lockstep};
use undertone::scenario::Experiment;

const SHORT: &str = "[data]\npath = \"ratings.csv\"\nformat = \"csv-triples\"\nitems = 12\n[privacy]\nepsilon = 2.0\n";

/// So many users, each of whom has rated every third of twenty items or so.
fn folder(users: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ratings = String::from("user,item,rating\n");
    for user in 0..users {
        for item in (0..20).filter(|item| (user + item) % 3 == 0) {
            let _ = writeln!(ratings, "u{user},i{item},4");
        }
    }
    fs::write(folder.path().join("ratings.csv"), ratings).expect("writable");
    folder
}

fn resolve(folder: &Path, text: &str, set: &[&str]) -> Result<Experiment, String> {
    let path = folder.join("my films.toml");
    fs::write(&path, text).expect("writable");
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    Experiment::load(&path, &set).map_err(|error| error.to_string())
}

#[test]
fn the_shortest_file_is_what_its_config_says() {
    let folder = folder(40);
    let short = resolve(folder.path(), SHORT, &[]).expect("six lines are an experiment");
    let written = resolved(short.config());
    for line in [
        "name = \"my-films\"",
        "seed = 0",
        "count = \"users\"",
        "generator = \"random-regular\"\ndegree = 10\nseed = 1",
        "kind = \"covariance\"\nrank = 4\niterations = 1",
        "delta = 0.0172",
        "adjacency = \"user\"",
        "scheme = \"tree\"",
    ] {
        assert!(written.contains(line), "{line} in\n{written}");
    }
    let long = resolve(folder.path(), &written, &[]).expect("its config is an experiment");
    assert_eq!(long.config(), short.config());
    assert_eq!(long.setting_lines(), short.setting_lines());
    let run = |experiment: &Experiment| {
        let session = experiment.simulation().own_session();
        let outcome = lockstep::run(&session, &mut Silent).expect("runs");
        outcome.basis().clone()
    };
    assert_eq!(run(&long), run(&short));
}

#[test]
fn peers_and_their_graph_follow_from_the_data() {
    for (users, peers, generator) in [
        (3, 3, "complete"),
        (11, 11, "complete"),
        (12, 12, "random-regular"),
        (1000, 1000, "random-regular"),
        (1001, 100, "random-regular"),
    ] {
        let folder = folder(users);
        let experiment = resolve(folder.path(), SHORT, &[]).expect("an experiment");
        assert_eq!(
            experiment.topology().graph().nodes(),
            peers,
            "{users} users"
        );
        let written = resolved(experiment.config());
        assert!(written.contains(generator), "{users} users:\n{written}");
    }
    let folder = folder(40);
    let sized = ["peers.partition=contiguous", "peers.sizes=[10, 20, 10]"];
    let experiment = resolve(folder.path(), SHORT, &sized).expect("an experiment");
    assert_eq!(experiment.topology().graph().nodes(), 3);
    let graph = ["topology.file=line.edges"];
    fs::write(folder.path().join("line.edges"), "0 1\n1 2\n").expect("writable");
    let refused = resolve(folder.path(), SHORT, &graph).expect_err("three nodes");
    assert!(refused.contains("peers.count"), "{refused}");
}

#[test]
fn a_column_of_peers_asks_for_their_number_or_for_a_graph() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ratings = String::from("user,item,rating,clinic\n");
    for user in 0..12 {
        for item in (0..6).filter(|item| (user + item) % 2 == 0) {
            let _ = writeln!(ratings, "u{user},i{item},4,{}", user % 4);
        }
    }
    fs::write(folder.path().join("ratings.csv"), ratings).expect("writable");
    let text = "[data]\npath = \"ratings.csv\"\nformat = \"table\"\nitems = 6\ncolumns = { peer = \"clinic\" }\n[privacy]\nepsilon = 2.0\n";
    for set in [&[] as &[&str], &["peers.count=\"users\""]] {
        let refused = resolve(folder.path(), text, set).expect_err("how many are there?");
        let expected = "set peers.count to the number of nodes of the graph";
        assert!(refused.contains(expected), "{refused}");
    }
    let set = resolve(folder.path(), text, &["peers.count=4"]).expect("four clinics");
    assert_eq!(set.topology().graph().nodes(), 4);
    // A graph that is handed in says it.
    let config = read_config(&folder.path().join("my films.toml"), &[]).expect("readable");
    let topology = set.topology().clone();
    let own = Experiment::on_topology(config, folder.path(), topology).expect("four nodes");
    assert_eq!(own.config().peers, set.config().peers);
}

#[test]
fn what_is_said_stays_and_nothing_follows_from_a_private_number_of_users() {
    let folder = folder(40);
    let set = [
        "privacy.delta=1e-7",
        "privacy.adjacency=interaction",
        "averaging.scheme=chebyshev",
    ];
    let experiment = resolve(folder.path(), SHORT, &set).expect("an experiment");
    let written = resolved(experiment.config());
    assert_eq!(experiment.config().privacy.delta, Some(1e-7));
    for line in ["adjacency = \"interaction\"", "scheme = \"chebyshev\""] {
        assert!(written.contains(line), "{line} in\n{written}");
    }
    let laplace = ["noise.distribution=laplace", "noise.scheme=local"];
    let experiment = resolve(folder.path(), SHORT, &laplace).expect("an experiment");
    assert_eq!(experiment.config().privacy.delta, Some(0.0));

    let hashed = resolve(folder.path(), SHORT, &["peers.partition=hashed"]);
    let refused = hashed.expect_err("no delta follows");
    assert!(refused.contains("set delta"), "{refused}");
    let set = ["peers.partition=hashed", "privacy.delta=1e-4"];
    let experiment = resolve(folder.path(), SHORT, &set).expect("an experiment");
    assert_eq!(experiment.topology().graph().nodes(), 100);
    // Nothing about privacy is guessed of data that say nothing.
    let refused = resolve(folder.path(), "[data]\npath = \"ratings.csv\"\n", &[]);
    assert!(refused.expect_err("no format").contains("format"));
    let refused = resolve(folder.path(), &SHORT.replace("epsilon = 2.0\n", ""), &[]);
    assert!(refused.expect_err("no epsilon").contains("epsilon"));
}

#[test]
fn rows_of_numbers_need_a_length_and_no_more() {
    let folder = folder(1);
    let rows: Vec<String> = (0..30)
        .map(|row| format!("{}.5,{row},1,0,{}", row % 5, row % 3))
        .collect();
    fs::write(folder.path().join("rows.csv"), rows.join("\n")).expect("writable");
    let text = "[data]\npath = \"rows.csv\"\nformat = \"matrix-csv\"\nrow_clip = 5.0\n[privacy]\nepsilon = 2.0\n";
    let experiment = resolve(folder.path(), text, &[]).expect("an experiment");
    let written = resolved(experiment.config());
    assert!(written.contains("sensitivity = \"unit-row\""), "{written}");
    let refused = resolve(folder.path(), text, &["privacy.sensitivity=exact"]);
    let refused = refused.expect_err("nothing is proved of it");
    assert!(refused.contains("unit-row"), "{refused}");
    let refused = resolve(folder.path(), &text.replace("row_clip = 5.0\n", ""), &[]);
    assert!(refused.expect_err("no length").contains("row_clip"));
    let ratings = resolve(self::folder(40).path(), SHORT, &[]).expect("an experiment");
    assert!(resolved(ratings.config()).contains("sensitivity = \"exact\""));
}

#[test]
fn a_key_that_is_set_in_a_table_that_is_not_there_changes_the_default() {
    let folder = folder(40);
    let of = |set: &[&str]| {
        let experiment = resolve(folder.path(), SHORT, set).expect("an experiment");
        let algorithm = experiment.config().algorithm;
        let table = algorithm.table();
        (algorithm.name(), table.rank(), table.iterations())
    };
    assert_eq!(of(&["algorithm.rank=2"]), ("covariance", 2, 1));
    assert_eq!(
        of(&["algorithm.kind=power", "algorithm.iterations=3"]),
        ("power", 4, 3)
    );
}

#[test]
fn a_key_that_is_missing_is_explained_with_an_example() {
    let folder = folder(1);
    for (text, example) in [
        ("", "[data]\npath = "),
        (
            "[data]\npath = \"ratings.csv\"\n",
            "format = \"csv-triples\"",
        ),
        (
            "[data]\npath = \"a\"\nformat = \"npy\"\nrow_clip = 1.0\n",
            "[privacy]\nepsilon = 1.0",
        ),
        (
            "[data]\npath = \"a\"\nformat = \"npy\"\n[privacy]\nepsilon = 1.0\n",
            "row_clip = 1.0",
        ),
        (
            "[data]\npath = \"a\"\nformat = \"npy\"\nrow_clip = 1.0\n[privacy]\n",
            "epsilon = 1.0",
        ),
        (
            "[data]\npath = \"a\"\nformat = \"npy\"\nrow_clip = 1.0\n[privacy]\nepsilon = 1.0\n[algorithm]\nrank = 2\n",
            "kind = \"covariance\"",
        ),
    ] {
        let refused = resolve(folder.path(), text, &[]).expect_err("a key is missing");
        let (_, found) = refused.split_once("add it, for example:").expect(&refused);
        assert!(found.contains(example), "{refused}");
    }
}

#[test]
fn what_was_left_to_defaults_is_told() {
    let folder = folder(40);
    let path = folder.path().join("a.toml");
    let left = |text: &str, set: &[&str]| {
        fs::write(&path, text).expect("writable");
        let set: Vec<String> = set.iter().map(ToString::to_string).collect();
        read_config(&path, &set).expect("valid");
        left_to_defaults(&path, &set).expect("readable")
    };
    let all = [
        "peers.count",
        "topology",
        "algorithm",
        "averaging.scheme",
        "privacy.delta",
        "privacy.adjacency",
    ];
    assert_eq!(left(SHORT, &[]), all);
    let set = [
        "topology.generator=ring",
        "privacy.delta = 1e-6",
        "averaging={scheme=\"tree\"}",
    ];
    assert_eq!(
        left(SHORT, &set),
        ["peers.count", "algorithm", "privacy.adjacency"]
    );
    let said = format!(
        "{SHORT}adjacency = \"user\"\n[peers]\ncount = 4\n[topology]\ngenerator = \"complete\"\n"
    );
    assert_eq!(
        left(&said, &[]),
        ["algorithm", "averaging.scheme", "privacy.delta"]
    );
}
