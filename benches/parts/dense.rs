//! Orthonormalisation: one peer, and all peers side by side.

use rayon::prelude::*;
use undertone::linalg::{Block, orthonormalise};

use super::{best_of, values};

/// Milliseconds per QR of one peer alone and with all threads at work on many peers.
pub(crate) fn bench(quick: bool) {
    println!("\nQR (thin, positive diagonal)");
    println!(
        "{:>12} {:>12} {:>12} {:>9}",
        "n x p", "alone ms", "each of many", "GFLOP/s"
    );
    let shapes: &[(usize, usize)] = if quick {
        &[(100, 8)]
    } else {
        &[(100, 32), (4000, 8), (4000, 16), (10_000, 32)]
    };
    for &(n, p) in shapes {
        let block = Block::from_values(n, p, values(n * p));
        let alone = best_of(5, || orthonormalise(&block).expect("full rank"));
        let many = (20_000_000 / (n * p * p)).max(8);
        let together = best_of(2, || {
            (0..many)
                .into_par_iter()
                .for_each(|_| drop(std::hint::black_box(orthonormalise(&block))));
        }) / many as f64;
        println!(
            "{:>12} {:>12.3} {:>12.3} {:>9.1}",
            format!("{n} x {p}"),
            alone * 1e3,
            together * 1e3,
            4.0 * (n * p * p) as f64 / together / 1e9
        );
    }
}
