//! Whole runs at the size of the largest public rating sets, every user a peer.
//!
//! `cargo bench --no-default-features --bench scale -- ml10m` runs the analytic engine on a made-up data set of the shape of
//! MovieLens-10M: 71,567 users, 10,677 items, about 8 million interactions, rank 32, three iterations, a random
//! 10-regular graph, pairwise noise. It is made from a fixed seed and nothing is kept. Further arguments are
//! `key=value` overrides of the experiment.
//!
//! `-- million` runs 65,536 and 1,048,576 peers with 16 values each in lockstep and in virtual time, every run a process of its own, from a
//! file of made-up rows to a summary: some three minutes. It prints seconds, memory and the exponents of growth.
//!
//! `-- jester` runs krylov with every Jester user a peer in lockstep: over the tree, over Chebyshev gossip, and what drawing
//! the noise alone takes, in turns.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use rand::distr::Distribution;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use rayon::prelude::*;
use undertone::engine::{Session, Silent, lockstep};
use undertone::run::{peak_memory_bytes, run};
use undertone::scenario::Experiment;
use undertone::vocabulary::{Label, PeerIndex, ReleaseId, Seed};

const USERS: usize = 71_567;
const ITEMS: usize = 10_677;
/// Tastes that make some eigenvectors stand out.
const GENRES: usize = 48;

const EXPERIMENT: &str = r#"
name = "ml10m"
seed = 1
[data]
path = "ml10m.txt"
format = "lightgcn"
degree_floor = 20
[topology]
generator = "random-regular"
degree = 10
seed = 1
[algorithm]
kind = "power"
rank = 32
iterations = 3
[privacy]
epsilon = 2.0
delta = 1e-6
adjacency = "interaction"
[averaging]
scheme = "chebyshev"
[engine]
kind = "analytic"
"#;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|a| !a.starts_with('-'));
    match arguments.next().as_deref() {
        Some("ml10m") => ml10m(&arguments.collect::<Vec<_>>()),
        Some("million") => million(&arguments.collect::<Vec<_>>()),
        Some("jester") => jester(&arguments.collect::<Vec<_>>()),
        _ => println!("benchmarks: ml10m, million, jester (see the top of benches/scale.rs)"),
    }
}

const MILLION: &str = r#"
name = "million"
seed = 7
[data]
path = "rows.txt"
format = "lightgcn"
items = 16
degree_floor = 4
[topology]
generator = "random-regular"
degree = 10
seed = 1
[algorithm]
kind = "power"
rank = 1
iterations = 1
[privacy]
epsilon = 2.0
delta = 1e-6
colluders = 0
[averaging]
scheme = "chebyshev"
rounds = 20
"#;

/// Peers of the smaller and the larger runs.
const GROWTH: [usize; 2] = [1 << 16, 1 << 20];

/// Without arguments all runs, each in a process of its own; with a folder, a number of peers and an engine that run.
fn million(arguments: &[String]) {
    if let [folder, peers, engine] = arguments {
        return one_of_a_million(Path::new(folder), peers, engine);
    }
    let folder = std::env::temp_dir().join(format!("undertone-million-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    println!(
        "{:>9} {:>9} {:>8} {:>8}",
        "engine", "peers", "seconds", "MiB"
    );
    for engine in ["lockstep", "event"] {
        let seconds = GROWTH.map(|peers| {
            write_few_interactions(&folder.join("rows.txt"), peers);
            let mut command = std::process::Command::new(std::env::current_exe().expect("a path"));
            command.arg("million").arg(&folder);
            command.arg(peers.to_string()).arg(engine);
            let start = Instant::now();
            let output = command.output().expect("starts");
            let seconds = start.elapsed().as_secs_f64();
            let memory = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{error}");
            println!("{engine:>9} {peers:>9} {seconds:>8.1} {memory:>8}");
            seconds
        });
        let growth = (seconds[1] / seconds[0]).ln() / (GROWTH[1] as f64 / GROWTH[0] as f64).ln();
        println!("{engine:>9} {:>9} {growth:>8.2}", "exponent");
    }
    std::fs::remove_dir_all(&folder).expect("the folder made above");
}

fn one_of_a_million(folder: &Path, peers: &str, engine: &str) {
    let path = folder.join("million.toml");
    std::fs::write(&path, MILLION).expect("writes");
    let set = [
        format!("peers.count={peers}"),
        format!("engine.kind={engine:?}"),
    ];
    let experiment = Experiment::load(&path, &set).expect("resolves");
    run(&experiment, &mut Silent).expect("runs");
    println!("{}", peak_memory_bytes().unwrap_or(0) >> 20);
}

/// Four to ten of the items for every user.
fn write_few_interactions(path: &Path, users: usize) {
    let mut generator = Seed::from_u64(11).generator(Label::Scenario);
    let mut text = String::new();
    for user in 0..users {
        write!(text, "{user}").expect("strings grow");
        let (first, count) = (
            generator.random_range(0..16),
            generator.random_range(4..=10),
        );
        for item in first..first + count {
            write!(text, " {}", item * 5 % 16).expect("strings grow");
        }
        text.push('\n');
    }
    std::fs::write(path, text).expect("the temporary folder has room");
}

const JESTER: &str = r#"
name = "jester"
seed = 1
[data]
path = "DATA"
format = "jester"
threshold = 0.0
degree_floor = 10
[peers]
count = "users"
[topology]
generator = "random-regular"
degree = 10
seed = 1
[algorithm]
kind = "krylov"
rank = 8
block = 16
iterations = 3
[privacy]
epsilon = 1.0
delta = 1e-5
adjacency = "interaction"
colluders = 1
"#;

/// How often each of the three takes its turn.
const TURNS: usize = 3;

fn jester(set: &[String]) {
    let data =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/ratings/jester-1-1.csv.gz");
    if !data.exists() {
        println!("skipped: {} is not here", data.display());
        return;
    }
    let folder = std::env::temp_dir().join(format!("undertone-jester-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let path = folder.join("jester.toml");
    let text = JESTER.replace("DATA", &data.display().to_string());
    std::fs::write(&path, text).expect("writes");
    let sessions = ["tree", "chebyshev"].map(|scheme| {
        let mut set = set.to_vec();
        set.push(format!("averaging={{scheme={scheme:?}}}"));
        let experiment = Experiment::load(&path, &set).expect("resolves");
        experiment.session(&Seed::from_u64(1))
    });
    std::fs::remove_dir_all(&folder).expect("the folder made above");
    let [tree, chebyshev] = &sessions;
    let run = |session: &Session| {
        let start = Instant::now();
        std::hint::black_box(lockstep::run(session, &mut Silent).expect("runs"));
        start.elapsed().as_secs_f64()
    };
    println!(
        "{} peers, {} values, {} threads; seconds",
        tree.peers(),
        tree.plan().most_values(),
        rayon::current_num_threads()
    );
    println!("{:>8} {:>10} {:>8}", "tree", "chebyshev", "noise");
    let mut best = [f64::INFINITY; 3];
    for _ in 0..TURNS {
        let times = [run(tree), run(chebyshev), noise_alone(tree)];
        let [a, b, c] = times;
        println!("{a:>8.3} {b:>10.3} {c:>8.3}");
        best = std::array::from_fn(|k| best[k].min(times[k]));
    }
    let [tree, chebyshev, noise] = best;
    println!(
        "tree / chebyshev {:.3}, tree / noise {:.3}",
        tree / chebyshev,
        tree / noise
    );
}

/// Seconds to draw every term of a session once, each into a buffer that stays in cache.
fn noise_alone(session: &Session) -> f64 {
    let noise = session.planned_noise();
    let own = (0..session.peers()).map(|u| noise.own(PeerIndex::from_index(u)));
    let pairs = session.noise_graph().edge_list();
    let pairs = pairs.map(|(a, b)| noise.pair(PeerIndex(a), PeerIndex(b)).0);
    let terms: Vec<_> = own.chain(pairs).collect();
    let start = Instant::now();
    for (number, planned) in session.plan().releases().iter().enumerate() {
        let release = ReleaseId(number as u32 + 1);
        let buffer = || vec![0.0; planned.values()];
        terms.par_iter().for_each_init(buffer, |buffer, term| {
            term.add_to(release, 0.5, buffer);
            std::hint::black_box(buffer);
        });
    }
    start.elapsed().as_secs_f64()
}

fn ml10m(set: &[String]) {
    let folder = std::env::temp_dir().join(format!("undertone-scale-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let result = std::panic::catch_unwind(|| measure(&folder, set));
    std::fs::remove_dir_all(&folder).expect("the folder made above");
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

fn measure(folder: &Path, set: &[String]) {
    let start = Instant::now();
    let interactions = write_ratings(&folder.join("ml10m.txt"));
    println!(
        "made {interactions} interactions in {:.1} s (not counted)",
        start.elapsed().as_secs_f64()
    );
    std::fs::write(folder.join("ml10m.toml"), EXPERIMENT).expect("writes");
    let start = Instant::now();
    let experiment = Experiment::load(&folder.join("ml10m.toml"), set).expect("resolves");
    println!("resolved after {:.1} s", start.elapsed().as_secs_f64());
    let report = run(&experiment, &mut Silent).expect("runs");
    let total = start.elapsed().as_secs_f64();
    let summary = &report.summary;
    for (part, seconds) in &summary.timing.seconds {
        println!("{part:>14} {seconds:8.1} s");
    }
    println!(
        "{:>14} {total:8.1} s, {} MiB at most",
        "all",
        peak_memory_bytes().unwrap_or(0) >> 20
    );
    println!(
        "{} peers, {} items, {} rounds; disagreement {:.2e} (guaranteed {:.2e}), approximation {:?}, error against no privacy {:?}",
        summary.peers,
        summary.dimension,
        experiment.rounds(),
        summary.consensus.max_disagreement,
        summary.consensus.guaranteed,
        summary.consensus.approximation,
        summary.utility.relative_error_non_private,
    );
    for warning in &summary.warnings {
        println!("note: {warning}");
    }
    if let Some(reason) = &summary.utility.reason {
        println!("note: {reason}");
    }
}

/// Log-normal activity of at least 20 items, Zipf-like popularity, half of everybody's items from two favourite genres.
/// Returns the number of interactions.
fn write_ratings(path: &Path) -> usize {
    let mut generator = Seed::from_u64(10).generator(Label::Scenario);
    let popularity = |item: usize| 1.0 / ((item + 20) as f64).powf(0.9);
    let all = Cumulative::of((0..ITEMS).map(|item| (item as u32, popularity(item))));
    let genres: Vec<Cumulative> = (0..GENRES)
        .map(|genre| {
            let items = (genre..ITEMS).step_by(GENRES);
            Cumulative::of(items.map(|item| (item as u32, popularity(item))))
        })
        .collect();
    let mut text = String::new();
    let mut total = 0;
    let mut seen = vec![usize::MAX; ITEMS];
    for user in 0..USERS {
        let normal: f64 = StandardNormal.sample(&mut generator);
        let wanted = (4.22 + normal).exp().clamp(20.0, 2500.0) as usize;
        // Small genres are more common.
        let favourites = [0, 1].map(|_| {
            let uniform: f64 = generator.random();
            (uniform * uniform * GENRES as f64) as usize
        });
        let mut row = Vec::with_capacity(wanted);
        let mut tries = 0;
        while row.len() < wanted && tries < 20 * wanted {
            tries += 1;
            let from = match generator.random::<u32>() % 4 {
                0 => &genres[favourites[0]],
                1 => &genres[favourites[1]],
                _ => &all,
            };
            let item = from.draw(&mut generator);
            if std::mem::replace(&mut seen[item as usize], user) != user {
                row.push(item);
            }
        }
        total += row.len();
        write!(text, "{user}").expect("strings grow");
        for item in row {
            write!(text, " {item}").expect("strings grow");
        }
        text.push('\n');
    }
    std::fs::write(path, text).expect("the temporary folder has room");
    total
}

/// Items with cumulative weights.
struct Cumulative {
    items: Vec<u32>,
    sums: Vec<f64>,
}

impl Cumulative {
    fn of(weighted: impl Iterator<Item = (u32, f64)>) -> Self {
        let mut sum = 0.0;
        let (items, sums) = weighted
            .map(|(item, weight)| {
                sum += weight;
                (item, sum)
            })
            .unzip();
        Self { items, sums }
    }

    fn draw(&self, generator: &mut impl Rng) -> u32 {
        let total = self.sums.last().copied().unwrap_or(0.0);
        let at = generator.random::<f64>() * total;
        let position = self.sums.partition_point(|&sum| sum < at);
        self.items[position.min(self.items.len() - 1)]
    }
}
