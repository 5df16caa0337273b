//! What members plan depends on nobody's data, and what they hold on nobody else's.

use std::sync::Arc;

use super::*;
use crate::data::OwnFile;
use crate::engine::{PeerRows, Session, SessionParts, Silent, lockstep};
use crate::vocabulary::Seed;

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

fn columns(count: usize) -> Vec<String> {
    (0..count).map(|item| format!("item {item}")).collect()
}

fn deployment(text: &str, count: usize) -> Result<Deployment, DeploymentError> {
    let table = toml::from_str(text).expect("TOML");
    Deployment::new(&table, columns(count), 100, Path::new("."))
}

#[test]
fn members_plan_alike_and_the_beacon_draws_graph_and_start() {
    let deployment = deployment(INTERACTIONS, 12).expect("valid");
    let of = |beacon, draw| deployment.plan(&[100; 8], &beacon, draw).expect("valid");
    let digest = |session: &PlannedSession| *session.public().plan().digest();
    let start = |session: &PlannedSession| Arc::clone(session.public().start());
    let graphs = |session: &PlannedSession| session.plan().graphs_digest();
    let (one, again, other) = (of([1; 32], 0), of([1; 32], 0), of([2; 32], 0));
    assert_eq!(digest(&one), digest(&again));
    assert_ne!(digest(&one), digest(&other));
    assert_ne!(start(&one), start(&other));
    assert_ne!(graphs(&one), graphs(&other));
    // Another draw is another graph and the same starting block.
    let drawn = of([1; 32], 1);
    assert_ne!(graphs(&one), graphs(&drawn));
    assert_eq!(start(&one), start(&drawn));
    // What a member keeps of the tables is a session's, with the graph that was drawn.
    let kept: Table = toml::from_str(&drawn.draft().tables().text()).expect("TOML");
    assert!(!kept.contains_key("seed") && !kept.contains_key("engine"));
    let kept = Deployment::new(&kept, columns(12), 100, Path::new(".")).expect("valid");
    let kept = kept.plan(&[100; 8], &[1; 32], 0).expect("valid");
    assert_eq!(digest(&kept), digest(&drawn));
}

#[test]
fn what_is_drawn_from_everybodys_data_is_refused_by_name() {
    for (key, added) in [
        ("seed", "seed = 3"),
        ("peers", "[peers]\ncount = 3"),
        ("engine", "[engine]\nkind = \"event\""),
        ("sweep", "[sweep]\nseeds = 3"),
    ] {
        let text = match added.starts_with('[') {
            true => format!("{INTERACTIONS}{added}"),
            false => format!("{added}{INTERACTIONS}"),
        };
        let refused = deployment(&text, 12).expect_err("refused").to_string();
        assert!(
            refused.contains(&format!("[{key}] does not belong")),
            "{refused}"
        );
    }
    for (key, from, to) in [
        ("data.items", "threshold = 2.0", "items = 5"),
        (
            "data.users_file",
            "threshold = 2.0",
            "users_file = \"users.txt\"",
        ),
        (
            "data.titles",
            "threshold = 2.0",
            "titles = \"/etc/hostname\"",
        ),
        ("data.path", "threshold = 2.0", "path = \"rows.csv\""),
        (
            "algorithm.start",
            "iterations = 2",
            "iterations = 2\nstart = \"popularity\"",
        ),
        (
            "algorithm.precondition",
            "iterations = 2",
            "iterations = 2\nprecondition = \"items\"",
        ),
        (
            "algorithm.kind",
            "kind = \"krylov\"",
            "kind = \"streaming\"",
        ),
        (
            "noise.scheme",
            "[averaging]",
            "[noise]\nscheme = \"none\"\n[averaging]",
        ),
    ] {
        let refused = deployment(&INTERACTIONS.replace(from, to), 12);
        let refused = refused.expect_err("refused").to_string();
        assert!(refused.contains(&format!("[{key}]")), "{key}: {refused}");
    }
    let unknown = deployment(&INTERACTIONS.replace("threshold", "treshold"), 12);
    let unknown = unknown.expect_err("refused").to_string();
    assert!(unknown.contains("treshold"), "{unknown}");
}

/// Members may hold 65,536 rows each, whose sum must not be rounded by more than a small part of what one record moves it by.
#[test]
fn a_plan_under_which_rounding_would_show_is_refused_whatever_members_hold() {
    let of = |floor: u32| {
        let text = INTERACTIONS.replace("degree_floor = 2", &format!("degree_floor = {floor}"));
        let deployment = deployment(&text, 12).expect("valid keys");
        deployment.plan(&[100; 8], &[1; 32], 0)
    };
    of(1_000).expect("far from the last bits");
    let refused = of(4_000_000_000).expect_err("a record moves the sum by 1e-5");
    let text = refused.to_string();
    assert!(
        text.contains("rounding") && text.contains("data.degree_floor"),
        "{text}"
    );
}

fn file(text: &str) -> OwnFile {
    let read = OwnFile::from_reader(
        text.as_bytes(),
        "rows",
        crate::data::OwnFileOptions::default(),
        crate::data::Limits::default(),
    );
    read.expect("well-formed")
}

/// A plan about numbers, with these keys in [data].
fn of_numbers(keys: &str) -> String {
    INTERACTIONS
        .replace(
            "format = \"csv-triples\"",
            &format!("format = \"matrix-csv\"\n{keys}"),
        )
        .replace("threshold = 2.0\ndegree_floor = 2", "")
        .replace("adjacency = \"interaction\"\n", "")
        .replace(
            "colluders = 1",
            "colluders = 1\nadjacency = \"user\"\nsensitivity = \"unit-row\"",
        )
}

#[test]
fn own_rows_are_those_a_simulation_would_deal() {
    let deployment = deployment(INTERACTIONS, 4).expect("valid");
    let rows =
        file("user,item,rating\na,item 0,5\na,item 3,4\na,item 1,1\nb,item 2,3\nb,elsewhere,5\n");
    let own = deployment.own_rows(&rows).expect("valid");
    assert_eq!((own.users, own.kept, own.unknown), (2, 3, 1));
    let rows = own.rows.rows();
    // Rows of 2 and of 1 interactions under a floor of 2.
    let norm = |user: usize| rows.row(user).1.iter().map(|x| x * x).sum::<f64>();
    assert!((norm(0) - 1.0).abs() < 1e-12 && (norm(1) - 0.5).abs() < 1e-12);
    assert_eq!(rows.row(0).0, [0, 3]);
}

#[test]
fn rows_beyond_those_planned_for_are_kept() {
    let table = toml::from_str(INTERACTIONS).expect("TOML");
    let deployment = Deployment::new(&table, columns(4), 1, Path::new(".")).expect("valid");
    let own = deployment.own_rows(&file("user,item\na,item 0\nb,item 1\nc,item 1\n"));
    assert_eq!(own.expect("total").rows.rows().len(), 3);
}

#[test]
fn numbers_must_have_the_columns_of_the_session() {
    let text = of_numbers("row_clip = 1.0\nranges = [0, 10]");
    let deployment = deployment(&text, 3).expect("valid");
    let session = deployment.plan(&[100; 8], &[0; 32], 0).expect("valid");
    assert_eq!(session.plan().program().items, 3);
    let of = |text: &str| {
        let read = OwnFile::from_reader(
            text.as_bytes(),
            "rows",
            crate::data::OwnFileOptions {
                header: Some(true),
                ..Default::default()
            },
            crate::data::Limits::default(),
        );
        deployment.own_rows(&read.expect("well-formed"))
    };
    let own = of("item 0,item 1,item 2\n1,2,3\n4,5,6\n").expect("valid");
    assert_eq!((own.users, own.rows.rows().dimension()), (2, 3));
    for header in [
        "item 0,item 2,item 1",
        "item 0,item 1",
        "item 0,item 1,item 2,item 3",
    ] {
        let values = header.replace("item ", "");
        let refused = of(&format!("{header}\n{values}\n")).expect_err("other columns");
        assert!(
            matches!(refused, DeploymentError::Columns { .. }),
            "{header}: {refused}"
        );
    }
    let ratings = deployment.own_rows(&file("user,item\na,item 0\n"));
    assert!(matches!(ratings, Err(DeploymentError::Kind { .. })));
}

#[test]
fn what_could_ask_about_rows_is_refused_by_name() {
    let refused = |text: &str| {
        let made = deployment(text, 3).and_then(|deployment| {
            deployment.check_constants()?;
            deployment.plan(&[100; 8], &[0; 32], 0)
        });
        made.expect_err("refused").to_string()
    };
    for (key, keys) in [
        ("row_limit", "row_clip = 1.0\nrow_limit = 1.98"),
        ("header", "row_clip = 1.0\nheader = true"),
        ("header", "row_clip = 1.0\nheader = false"),
        (
            "row_clip",
            "row_clip = 1e-310\ncentre = \"public\"\nmeans = [0.5, 0.25, 0.75]",
        ),
        ("ranges", "row_clip = 1.0\nranges = \"rows.csv\""),
        (
            "means",
            "row_clip = 1.0\ncentre = \"public\"\nmeans = \"rows.csv\"",
        ),
        (
            "means",
            "row_clip = 1.0\ncentre = \"public\"\nmeans = [0.5]",
        ),
        (
            "ranges",
            "row_clip = 1.0\nranges = [[0, 1], [1, 1], [0, 1]]",
        ),
    ] {
        let error = refused(&of_numbers(keys));
        assert!(error.contains(key), "{keys}: {error}");
    }
    for (key, from, to) in [
        ("data.threshold", "threshold = 2.0", "threshold = inf"),
        (
            "data.values",
            "threshold = 2.0\ndegree_floor = 2",
            "values = \"ratings\"\nrow_clip = 1.0",
        ),
        (
            "algorithm.clip",
            "kind = \"krylov\"",
            "kind = \"clipped-power\"\nclip = \"histogram\"",
        ),
        (
            "noise.distribution",
            "[averaging]",
            "[noise]\ndistribution = \"laplace\"\nholders = 2\n[averaging]",
        ),
    ] {
        let error = refused(&INTERACTIONS.replace(from, to));
        assert!(error.contains(&format!("[{key}]")), "{key}: {error}");
    }
}

/// Eight members of 50 rows each, whose mean is far from zero and longer than their spread.
fn rows_about_a_mean() -> Vec<String> {
    let header = "item 0,item 1,item 2\n";
    let row = |member: usize, row: usize| {
        let (side, rest) = (
            [-0.9, 0.9][(row + member) % 2],
            0.1 * f64::from((row % 3) as u32),
        );
        format!("3.0,{side},{rest}\n")
    };
    let of_member = |member| (0..50).map(|at| row(member, at)).collect::<String>();
    (0..8)
        .map(|member| format!("{header}{}", of_member(member)))
        .collect()
}

/// The first direction that members of these files find, who state so many rows each.
fn direction(deployment: &Deployment, files: &[String], stated: usize) -> Vec<f64> {
    let planned = deployment.plan(&[stated; 8], &[3; 32], 0).expect("valid");
    let own = files.iter().map(|text| {
        let options = crate::data::OwnFileOptions {
            header: Some(true),
            ..Default::default()
        };
        let limits = crate::data::Limits::default();
        let read = OwnFile::from_reader(text.as_bytes(), "rows", options, limits);
        let own = deployment.own_rows(&read.expect("well-formed"));
        own.expect("total").rows
    });
    let public = planned.public();
    let session = Session::new(SessionParts {
        plan: Arc::clone(public.plan()),
        topology: Arc::clone(public.topology()),
        schedule: Arc::clone(public.schedule()),
        noise_topology: Arc::clone(public.noise_topology()),
        rows: Arc::new(PeerRows::of_local(&own.collect::<Vec<_>>())),
        start: Arc::clone(public.start()),
        seed: Seed::from_u64(4),
        sigma_central: planned.plan().sigma_central(),
        setting: [0; 32],
    });
    let outcome = lockstep::run(&session.expect("valid"), &mut Silent).expect("runs");
    outcome.basis().values().to_vec()
}

#[test]
fn a_private_mean_is_taken_from_the_rows_of_all_members_and_paid_as_in_a_simulation() {
    let keys = "row_clip = 2.0\nraw_clip = 4.0\ncentre = \"private\"";
    let text = of_numbers(keys)
        .replace(
            "kind = \"krylov\"\nrank = 2\niterations = 2",
            "kind = \"power\"\nrank = 1\niterations = 6",
        )
        .replace(
            "generator = \"random-regular\"\ndegree = 3\nseed = \"beacon\"",
            "generator = \"complete\"",
        );
    let exact = text.replace("epsilon = 2.0", "epsilon = 400.0");
    let files = rows_about_a_mean();
    let made = deployment(&exact, 3).expect("valid");
    let found = direction(&made, &files, 50);
    assert!(found[1].abs() > 0.99, "{found:?}");
    // Ten times as many slots leave nine tenths of the mean, which then is the first direction.
    let found = direction(&made, &files, 500);
    assert!(found[0].abs() > 0.9, "{found:?}");

    // The noise is that of a simulation of the same rows, and so is what each release is charged.
    let folder = tempfile::tempdir().expect("a folder");
    let all: String = files
        .iter()
        .map(|file| file.split_once('\n').expect("a header").1)
        .collect();
    std::fs::write(folder.path().join("rows.csv"), all).expect("written");
    let simulated = text
        .replace("[data]\n", "[data]\npath = \"rows.csv\"\n")
        .replace("[topology]", "[peers]\ncount = 8\n[topology]");
    let config = Config::read(&simulated).expect("an experiment");
    let simulated = crate::scenario::Experiment::resolve(config, folder.path()).expect("valid");
    let made = deployment(&text, 3).expect("valid");
    let planned = made.plan(&[50; 8], &[3; 32], 0).expect("valid");
    assert_eq!(planned.draft().mean(), simulated.centring());
    assert_eq!(planned.draft().mean().map(|mean| mean.slots), Some(400));
    let (own, other) = (planned.plan().guarantee(), simulated.plan().guarantee());
    assert_eq!(own.division().factors(), other.division().factors());
    assert_eq!(own.noise().sigma_own(), other.noise().sigma_own());
    assert_eq!(own.noise().sigma_pairwise(), other.noise().sigma_pairwise());
    let kinds: Vec<_> = planned
        .plan()
        .program()
        .releases
        .iter()
        .map(|one| one.blocks[0].quantity)
        .collect();
    assert_eq!(
        (kinds.len(), kinds[0]),
        (7, crate::vocabulary::Quantity::RowSum)
    );
}

/// Five members may state 200 million rows in all: no row is made of them. How many they state is a number of the plan alone.
#[test]
fn a_ring_is_planned_for_more_rows_than_would_fit_into_memory() {
    let text = INTERACTIONS.replace("[averaging]", "[noise]\nscheme = \"ring\"\n[averaging]");
    let of = |rows: usize| {
        let table = toml::from_str(&text).expect("TOML");
        let deployment = Deployment::new(&table, columns(12), rows, Path::new("."));
        deployment
            .expect("valid")
            .within(64 << 20)
            .plan(&[rows; 8], &[1; 32], 0)
    };
    let clamp = |rows: usize| {
        let planned = of(rows).expect("can be planned");
        let ring = planned.plan().guarantee().noise().ring().copied();
        let ring = ring.expect("a ring");
        (ring.clamp() as f64, ring.modulus())
    };
    let (few, many) = (clamp(1_000), clamp(5_000_000));
    assert!(
        (many.0 / few.0 / 5_000.0 - 1.0).abs() < 0.01,
        "{few:?} {many:?}"
    );
    // The most that a session file can state: planned or refused in words.
    if let Err(refused) = of(1 << 32) {
        assert!(refused.to_string().contains("rows"), "{refused}");
    }
}

#[test]
fn a_row_of_zeros_is_a_row_under_every_clip() {
    for clip in ["6e-309", "1.0", "1.7e308"] {
        let keys = format!("row_clip = {clip}\ncentre = \"public\"\nmeans = [0.5, 0.25, 0.75]");
        let table = toml::from_str(&of_numbers(&keys)).expect("TOML");
        let columns = ["1", "2", "3"].map(str::to_owned).to_vec();
        let deployment = Deployment::new(&table, columns, 100, Path::new(".")).expect("valid");
        deployment.plan(&[100; 8], &[0; 32], 0).expect("valid");
        let own = deployment.own_rows(&file("0.5,0.25,0.75\n1e300,-5e-324,0\n"));
        let own = own.expect("total");
        assert!(own.rows.rows().row(0).1.iter().all(|x| *x == 0.0), "{clip}");
    }
}

#[cfg(feature = "node")]
#[test]
fn noise_of_two_members_cancels_but_for_what_each_drew_alone() {
    use crate::linalg::Block;
    use crate::scenario::testing::sim;
    use crate::session::{Ephemeral, Identity, OwnNoise, PairEnd};
    use crate::vocabulary::{PeerIndex, ReleaseId};

    let keys = [
        "peers.count=2",
        "topology={generator=\"complete\"}",
        "privacy.colluders=0",
    ];
    let experiment = sim("quickstart.toml", &keys).expect("valid");
    let session = experiment.session(&Seed::from_u64(1));
    let plan = session.plan();
    let keys: Vec<Ephemeral> = (0..2)
        .map(|_| Ephemeral::generate().expect("entropy"))
        .collect();
    let end = |number: u8| PairEnd {
        id: Identity::from_secret([number + 1; 32].into()).id(),
        ephemeral: keys[usize::from(number)].public(),
    };
    let values = plan.releases()[0].values();
    let own: Vec<OwnNoise> = (0..2)
        .map(|_| OwnNoise::from_os().expect("entropy"))
        .collect();
    let noise = |me: u8, other: u8| {
        let key = keys[usize::from(me)].shared(plan.digest(), end(me), end(other));
        let partner = (PeerIndex(u32::from(other)), key.expect("a key"));
        own[usize::from(me)].peer_noise(plan, PeerIndex(u32::from(me)), vec![partner])
    };
    let (first, second) = (noise(0, 1), noise(1, 0));
    assert!(first.is_planned(PeerIndex(0), &[PeerIndex(1)], plan.sigmas()));
    assert!(second.is_planned(PeerIndex(1), &[PeerIndex(0)], plan.sigmas()));
    let mut one = Block::zeros(values, 1);
    first.add_to(ReleaseId(1), 1.0, one.values_mut());
    let mut both = one.clone();
    second.add_to(ReleaseId(1), 1.0, both.values_mut());
    let sigmas = plan.sigmas();
    let expected = (2.0_f64 * values as f64).sqrt() * sigmas.own;
    // The norm of so many normals is within 5 standard deviations, 5/√2 each, of its mean: beyond by chance in 1e-6.
    let within = |found: f64, expected: f64| {
        (found - expected).abs() < 5.0 * expected / (2.0_f64 * values as f64).sqrt()
    };
    assert!(within(both.norm(), expected), "{} {expected}", both.norm());
    let alone = (values as f64).sqrt() * sigmas.own.hypot(sigmas.pairwise);
    assert!(within(one.norm(), alone), "{} {alone}", one.norm());
    assert!(alone > 1.5 * expected);
}

#[test]
fn a_graph_that_is_written_out_is_between_members_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(
        folder.path().join("mine.edges"),
        "kiel ulm\nulm bonn\nbonn oslo\noslo kiel\n",
    )
    .expect("written");
    let names = ["ulm", "oslo", "kiel", "bonn"].map(str::to_owned);
    let plan = |topology: &str| {
        let text = INTERACTIONS.replace(
            "generator = \"random-regular\"\ndegree = 3\nseed = \"beacon\"",
            topology,
        );
        toml::from_str::<Table>(&text).expect("TOML")
    };
    let invited = |topology: &str| {
        let mut table = plan(topology);
        let of = |table: &Table| Deployment::new(table, columns(12), 100, folder.path());
        of(&table)?.inline_constants(&mut table, &names)?;
        let deployment = of(&table)?;
        deployment.check_graphs(&names, 4)?;
        Ok::<_, DeploymentError>((deployment, table))
    };
    let (deployment, table) = invited("file = \"mine.edges\"").expect("valid");
    let listed =
        r#"edges = [["bonn", "ulm"], ["kiel", "ulm"], ["oslo", "bonn"], ["kiel", "oslo"]]"#;
    assert_eq!(
        invited(listed).expect("valid").1["topology"],
        table["topology"]
    );
    let session = deployment.plan(&[100; 4], &[3; 32], 0).expect("valid");
    let graph = session.public().graph();
    assert_eq!(
        graph.edge_list().collect::<Vec<_>>(),
        [(0, 2), (0, 3), (1, 2), (1, 3)]
    );
    assert_eq!(graph.name(2), "kiel");
    assert!(!deployment.draws_graphs());
    // Another beacon is the same graph.
    let other = deployment.plan(&[100; 4], &[4; 32], 0).expect("valid");
    assert_eq!(session.plan().graphs_digest(), other.plan().graphs_digest());

    for (topology, expected) in [
        (
            r#"edges = [["ulm", "rome"]]"#,
            "edge number 1 of `edges` names rome",
        ),
        (r#"edges = [["ulm", "ulm"]]"#, "self-loop"),
        (
            "edges = []\nnodes = [\"a\", \"b\", \"c\", \"d\"]",
            "has a node a, which no member is called",
        ),
        (
            "edges = []\nnodes = [\"ulm\", \"bonn\"]",
            "the topology has 2 nodes, but 4 peers",
        ),
        ("file = \"none.edges\"", "none.edges"),
        ("edges = []\nfile = \"mine.edges\"", "not file and edges"),
    ] {
        let error = invited(topology).expect_err(topology).to_string();
        assert!(error.contains(expected), "{error}\n{expected}");
    }
    // What a hostile session file may say.
    let refused = |names: &[String], least, expected: &str| {
        let error = deployment.check_graphs(names, least).expect_err("refused");
        assert!(error.to_string().contains(expected), "{error}");
    };
    refused(&names, 3, "needs all of its members");
    refused(&names[1..], 3, "in the order of their keys");
    let unread = Deployment::new(
        &plan("file = \"mine.edges\""),
        columns(12),
        100,
        folder.path(),
    );
    let error = unread.expect("not looked at").check_graphs(&names, 4);
    assert!(
        error
            .expect_err("a file")
            .to_string()
            .contains("members have no such file")
    );
}
