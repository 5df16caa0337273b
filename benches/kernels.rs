//! What the kernels of the lockstep engine reach on this machine, as ratios measured in one run.
//!
//! `cargo bench --no-default-features --bench kernels` runs everything, in minutes; `-- --quick` runs small
//! sizes in seconds; a name after `--` (gossip, noise, sparse, qr, runs, million, scaling) runs that part
//! alone. Every ratio is taken against something measured a moment before: the machine may be shared.

mod parts;

use parts::{dense, gossip, noise, runs, scaling, sparse};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|a| a == "--quick");
    let named: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    let wants = |part: &str| named.is_empty() || named.iter().any(|name| *name == part);
    println!(
        "undertone {}, {} threads{}",
        env!("CARGO_PKG_VERSION"),
        rayon::current_num_threads(),
        if quick { ", quick" } else { "" }
    );
    if wants("gossip") {
        gossip::bench(quick);
    }
    if wants("noise") {
        noise::bench(quick);
    }
    if wants("sparse") {
        sparse::bench(quick);
    }
    if wants("qr") {
        dense::bench(quick);
    }
    if wants("scaling") {
        scaling::bench(quick);
    }
    if wants("runs") {
        runs::bench(quick);
    }
    if wants("million") && !quick {
        runs::million();
    }
}
