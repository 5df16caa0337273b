//! What a convener can learn of a participant's rows before anything is charged: session files of every kind, put to files of equal shape.

mod generated;

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use clap::Parser;
use rayon::prelude::*;

use super::*;
use crate::cli::arguments::{Arguments, Command};
use crate::cli::node::NodeCommand;
use crate::node::store::{INVITATION, sign_file};
use crate::session::Identity;
use generated::{SESSIONS, Sessions};

/// A policy that forbids nothing, so that as many sessions as possible come to their Join.
const POLICY: &str = r#"
[session]
min_peers = 2
min_colluders = 0
max_epsilon = 1e9
max_delta = 0.999
adjacency = ["user", "replace-user", "swap", "interaction", "matrix", "unit-spectral", "entry", "rating"]
certificates = ["exact", "exact-enumeration", "lambda2", "gauss-radau", "star", "core", "disjoint-forest", "overlap", "detour", "own-noise", "local"]
publish = ["sealed", "open"]
max_retries = 1000
[lifetime."default"]
epsilon = 1e9
delta = 1e-5
[network]
listen = []
max_frame = "1024 MiB"
"#;

/// Rows of 12 x 3 numbers, and ratings of 12 users: six files of each, alike in all that is public.
fn files() -> [[String; 6]; 2] {
    let matrix = |cell: &dyn Fn(usize, usize) -> f64| {
        let row = |row: usize| {
            let cells: Vec<String> = (0..3).map(|c| format!("{:e}", cell(row, c))).collect();
            cells.join(",") + "\n"
        };
        (0..12).map(row).collect::<String>()
    };
    let ordinary = |row: usize, column: usize| ((row * 7 + column * 5) % 11) as f64 / 11.0;
    let extreme = |row: usize, column: usize| match (row + column) % 3 {
        0 => 1e300,
        1 => 5e-324,
        _ => -1.7e308,
    };
    let special = |row: usize, column: usize| match row {
        7 => [0.5, 0.25, 0.75][column],
        _ => ordinary(row, column),
    };
    let zero = |row: usize, column: usize| match row % 2 {
        0 => 0.0,
        _ => ordinary(row, column),
    };
    let matrices = [
        matrix(&ordinary),
        matrix(&zero),
        matrix(&extreme),
        matrix(&|_, _| 0.5),
        matrix(&|row, column| 1e3 * ordinary(row, column) + 99.0),
        matrix(&special),
    ];
    let ratings = |rating: &dyn Fn(usize, usize) -> f64| {
        let rows = (0..12).flat_map(|user| (0..4).map(move |place| (user, place)));
        let line = |(user, place): (usize, usize)| {
            let item = (user + place) % 6;
            format!("user {user},item {item},{:e}\n", rating(user, place))
        };
        "user,item,rating\n".to_owned() + &rows.map(line).collect::<String>()
    };
    let stars = |user: usize, place: usize| ((user * 3 + place) % 5 + 1) as f64;
    let ratings = [
        ratings(&stars),
        ratings(&|_, _| 0.0),
        ratings(&extreme),
        ratings(&|_, _| 3.0),
        ratings(&|user, place| 100.0 * stars(user, place)),
        ratings(&|user, place| if user == 7 { -1.0 } else { stars(user, place) }),
    ];
    [matrices, ratings]
}

/// A copy of a state directory.
fn copied(from: &Path, to: &Path) {
    let mut private = fs::DirBuilder::new();
    private.mode(0o700).create(to).expect("made");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("read");
        let to = to.join(entry.file_name());
        match entry.file_type().expect("known").is_dir() {
            true => copied(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).expect("copied")),
        }
    }
}

/// All that a participant shows until its Join: decision and exit code, what it prints, what it sends but for keys that it draws, what it sets
/// aside and writes down.
#[derive(Clone, Debug, PartialEq)]
struct Shown {
    code: u8,
    printed: Vec<String>,
    sent: String,
    charged: String,
    kept: Vec<(String, u64)>,
}

/// What a participant with this state shows.
fn shown(folder: &Path) -> Shown {
    let path = |name: &str| folder.join(name).display().to_string();
    let (session, data, state) = (path("session.toml"), path("rows.csv"), path("state"));
    let words = [
        "undertone",
        "node",
        "run",
        &session,
        "--data",
        &data,
        "--state",
        &state,
    ];
    let arguments = Arguments::try_parse_from(words).expect("valid");
    let Command::Node(NodeCommand::Run(options)) = &arguments.command else {
        unreachable!("node run");
    };
    let mut printed = Vec::new();
    let began = catch_unwind(AssertUnwindSafe(|| {
        begin(options, &mut |line| printed.push(line.to_owned()))
    }));
    let (code, sent) = match began {
        Err(_) => (101, String::new()),
        Ok(Err(error)) => {
            // The time of day is no secret.
            let text = format!("{error:#}");
            let until = text.find(", and it is ").unwrap_or(text.len());
            printed.push(text[..until].to_owned());
            (crate::cli::code(&error), String::new())
        }
        Ok(Ok(begun)) => match begun.outset {
            Outset::Ended => (0, String::new()),
            Outset::Joining(joining) => {
                let join = joining.statement();
                let said = (
                    join.mode,
                    join.wire,
                    &join.build,
                    join.sampler,
                    join.ledger.length,
                );
                (0, format!("{said:?} {:e}", joining.reserved()))
            }
        },
    };
    let view = crate::node::store::StateView::open(&folder.join("state")).expect("opened");
    let ledger = view.ledger().expect("read");
    let charged = ledger.sessions().map(|account| format!("{account:?}"));
    let mut kept = Vec::new();
    for session in fs::read_dir(folder.join("state/sessions")).expect("a folder") {
        let session = session.expect("read").path();
        for file in fs::read_dir(session).expect("a folder") {
            let file = file.expect("read");
            let name = file.file_name().to_string_lossy().into_owned();
            kept.push((name, file.metadata().expect("there").len()));
        }
    }
    kept.sort();
    Shown {
        code,
        printed,
        sent,
        charged: charged.collect(),
        kept,
    }
}

/// A participant and two others, of which one convenes.
struct Scene {
    folder: tempfile::TempDir,
    convener: Identity,
    sessions: Sessions,
}

fn scene() -> Scene {
    let folder = tempfile::tempdir().expect("a folder");
    let template = folder.path().join("template");
    let name = "Ulm".parse().expect("a name");
    let state = StateDir::init(&template, &name).expect("made");
    let own = state.identity().expect("a key").id();
    drop(state);
    fs::write(template.join("policy.toml"), POLICY).expect("written");
    let other = |byte: u8| Identity::from_secret([byte; 32].into());
    let (convener, third) = (other(1), other(2));
    let sessions = Sessions::new([own, convener.id(), third.id()]);
    Scene {
        folder,
        convener,
        sessions,
    }
}

impl Scene {
    /// What the participant shows of each of these files of rows, asked with this session file.
    fn ask(&self, name: &str, session: &str, files: &[String]) -> Vec<Shown> {
        let folder = self.folder.path().join(name);
        fs::create_dir(&folder).expect("made");
        let path = folder.join("session.toml");
        fs::write(&path, session).expect("written");
        sign_file(&path, &self.convener, INVITATION).expect("signed");
        let asked = files.iter().map(|rows| {
            let state = folder.join("state");
            copied(&self.folder.path().join("template"), &state);
            fs::write(folder.join("rows.csv"), rows).expect("written");
            let shown = shown(&folder);
            fs::remove_dir_all(state).expect("ours");
            shown
        });
        let asked = asked.collect();
        fs::remove_dir_all(folder).expect("ours");
        asked
    }
}

#[test]
fn no_session_file_tells_files_of_equal_shape_apart() {
    let (scene, files) = (scene(), files());
    let decided: Vec<(u8, Vec<String>)> = (0..SESSIONS)
        .into_par_iter()
        .map(|number| {
            let kind = number % 2;
            let session = scene.sessions.file(number as u64, kind);
            let all = scene.ask(&number.to_string(), &session, &files[kind]);
            for (which, shown) in all.iter().enumerate() {
                assert_eq!(
                    *shown, all[0],
                    "file {which} of {kind}, asked with\n{session}"
                );
            }
            assert_ne!(all[0].code, 101, "a panic, asked with\n{session}");
            (all[0].code, all[0].printed.clone())
        })
        .collect();
    let joined = decided.iter().filter(|(code, _)| *code == 0).count();
    if std::env::var_os("UNDERTONE_SHOW").is_some() {
        decided.iter().for_each(|one| println!("{one:?}"));
    }
    // Sessions that all join, or all refuse, would show little.
    let range = SESSIONS / 8..SESSIONS * 7 / 8;
    assert!(range.contains(&joined), "{joined} of {SESSIONS} joined");
}

#[test]
fn every_key_of_a_session_is_among_those_generated() {
    generated::assert_complete();
}

/// Four questions that a convener could once ask at no charge: each of two files that answer it otherwise is treated alike.
#[test]
fn questions_about_rows_have_no_answer() {
    let scene = scene();
    let rows = |last: &str| format!("{}{last}\n", "0.1,0.9,0.3\n".repeat(29));
    let (with, without, long) = (
        rows("0.5,0.25,0.75"),
        rows("0.5,0.25,0.76"),
        rows("0.99,0.99,0.999"),
    );
    let fewer = "0.1,0.9,0.3\n".repeat(29);
    let first = |first: &str| format!("{first}\n{fewer}");
    for (question, keys, names, limit, files) in [
        (
            "is this record there?",
            "row_clip = 1e-310\ncentre = \"public\"\nmeans = [0.5, 0.25, 0.75]",
            ["1", "2", "3"],
            100,
            [with.clone(), without.clone()],
        ),
        (
            "is any row longer than 1.7?",
            "row_clip = 1.0\nrow_limit = 1.7",
            ["1", "2", "3"],
            100,
            [long, without.clone()],
        ),
        (
            "are there more than 29 rows?",
            "row_clip = 1.0",
            ["1", "2", "3"],
            29,
            [without, fewer.clone()],
        ),
        (
            "is this the first row?",
            "row_clip = 1.0\nheader = true",
            ["0.5", "0.25", "0.75"],
            100,
            [first("0.5,0.25,0.75"), first("0.5,0.25,0.76")],
        ),
        (
            "is this the first row, under another name?",
            "row_clip = 1.0",
            ["0.5", "0.25", "0.75"],
            100,
            [first("0.5,0.25,0.75"), first("0.5,0.25,0.76")],
        ),
    ] {
        let session = scene.sessions.asking(keys, names, limit);
        let shown = scene.ask("question", &session, &files);
        assert_eq!(shown[0], shown[1], "{question}");
        assert_ne!(shown[0].code, 101, "{question}");
        let joins = limit == 29;
        assert_eq!(shown[0].code == 0, joins, "{question} {shown:?}");
        // No count of rows, and no value. A digest may hold the digits of a count.
        for line in &shown[0].printed {
            let mut words = line.split(|c: char| !c.is_alphanumeric());
            assert!(
                words.all(|word| word != "30") && !line.contains("0.76"),
                "{line}"
            );
        }
    }
}

/// A file that is not well-formed is refused in the same words whatever the session file is.
#[test]
fn a_broken_file_is_refused_before_the_session_file_is_looked_at() {
    let scene = scene();
    let sessions = [
        scene.sessions.file(0, 0),
        scene.sessions.file(1, 1),
        "no session file".to_owned(),
    ];
    for broken in ["1,2,3\n1,2\n", "1,2,x\n", "", "0.5,nan,1\n"] {
        let shown = sessions.iter().map(|session| {
            let shown = scene.ask("broken", session, &[broken.to_owned()]);
            shown[0].printed.clone()
        });
        let shown: Vec<_> = shown.collect();
        assert_eq!(shown[0].len(), 1, "{broken}");
        assert!(shown.iter().all(|one| *one == shown[0]), "{shown:?}");
    }
}
