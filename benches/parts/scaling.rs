//! Time of lockstep runs against peers, coordinates and rounds, with the exponent fitted over doublings.

use std::sync::Arc;

use undertone::engine::{Silent, lockstep};

use super::best_of;
use super::sessions::{Size, session, topology};

/// Fits log time against log size by least squares.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let logs = || points.iter().map(|(x, y)| (x.ln(), y.ln()));
    let (mx, my) = logs().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / count, b + y / count));
    let (xy, xx) = logs().fold((0.0, 0.0), |(a, b), (x, y)| {
        (a + (x - mx) * (y - my), b + (x - mx).powi(2))
    });
    xy / xx
}

pub(crate) fn bench(quick: bool) {
    println!("\nscaling of lockstep (one iteration, degree 10, noise and gossip included)");
    let base = Size {
        items: 128,
        rank: 8,
        iterations: 1,
        rounds: 20,
    };
    let steps: u32 = if quick { 2 } else { 5 };
    let start = if quick { 100 } else { 2000 };
    let time = |peers: usize, size: Size| {
        let session = session(Arc::new(topology(peers)), size);
        best_of(if quick { 1 } else { 3 }, || {
            lockstep::run(&session, &mut Silent).expect("runs")
        })
    };
    let fit = |what: &str, measure: &dyn Fn(u32) -> (f64, f64)| {
        let points: Vec<(f64, f64)> = (0..=steps).map(measure).collect();
        let shown: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{x}: {y:.3} s"))
            .collect();
        println!(
            "{what:>12}  exponent {:.2}   {}",
            exponent(&points),
            shown.join(", ")
        );
    };
    fit("peers", &|k| {
        let peers = start << k;
        (peers as f64, time(peers, base))
    });
    fit("coordinates", &|k| {
        let size = Size {
            items: base.items << k,
            ..base
        };
        ((size.items * size.rank) as f64, time(start, size))
    });
    fit("rounds", &|k| {
        let size = Size {
            rounds: 20 << k,
            ..base
        };
        (f64::from(size.rounds), time(start, size))
    });
}
