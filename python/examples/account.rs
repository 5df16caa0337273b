//! The accountant as a Rust program, for `benches/peers/run binding`: reads edges `u v`, one a line, and prints the seconds that every repetition took, the
//! reading not among them, and the worst ε.
//!
//! ```sh
//! cargo run --release --manifest-path python/Cargo.toml --example account -- 3 < EDGES
//! ```

use std::error::Error;
use std::io::{self, BufRead};
use std::time::Instant;

use undertone::privacy::accountant::{AccountOptions, NoiseCovariance, account};
use undertone::privacy::{Delta, gaussian};
use undertone::topology::Graph;

fn main() -> Result<(), Box<dyn Error>> {
    let repetitions: usize = std::env::args().nth(1).map_or(Ok(1), |text| text.parse())?;
    let mut edges = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (u, v) = line.split_once(' ').ok_or("a line is: u v")?;
        edges.push((u.parse::<u32>()?, v.parse::<u32>()?));
    }
    let peers = edges.iter().map(|&(u, v)| u.max(v) + 1).max().unwrap_or(0) as usize;
    let delta = Delta::new(1e-5)?;
    for _ in 0..repetitions {
        let since = Instant::now();
        let graph = Graph::from_edges(peers, &edges)?;
        let covariance = NoiseCovariance::new(vec![1.0; peers], &[(&graph, 100.0)])?;
        let options = AccountOptions {
            gap: 1e-5,
            ..AccountOptions::default()
        };
        let found = account(&covariance, &[0, 1, 2, 3, 4], options)?;
        // As in Python: both ends of everybody's loss, the lower one for its own sake.
        let honest = found.brackets.iter().flatten();
        let ends = honest.map(|bracket| {
            let [low, high] =
                [bracket.low, bracket.high].map(|factor| gaussian::epsilon(factor.sqrt(), delta));
            high.max(low)
        });
        let worst = ends.fold(0.0, f64::max);
        println!("{} {worst}", since.elapsed().as_secs_f64());
    }
    Ok(())
}
