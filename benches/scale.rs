//! Whole runs at the size of the largest public rating sets, every user a peer.
//!
//! `cargo bench --no-default-features --bench scale -- ml10m` runs the analytic engine on a made-up data set of the shape of
//! MovieLens-10M: 71,567 users, 10,677 items, about 8 million interactions, rank 32, three iterations, a random
//! 10-regular graph, pairwise noise. It is made from a fixed seed and nothing is kept. Further arguments are
//! `key=value` overrides of the experiment.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use rand::distr::Distribution;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use undertone::engine::Silent;
use undertone::run::{peak_memory_bytes, run};
use undertone::scenario::Experiment;
use undertone::vocabulary::{Label, Seed};

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
[engine]
kind = "analytic"
"#;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|a| !a.starts_with('-'));
    match arguments.next().as_deref() {
        Some("ml10m") => ml10m(&arguments.collect::<Vec<_>>()),
        _ => println!("benchmarks: ml10m (see the top of benches/scale.rs)"),
    }
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
