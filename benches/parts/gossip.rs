//! Averaging rounds against a copy of the same bytes.

use rayon::prelude::*;
use undertone::engine::lockstep::{Averaged, Exchange, Gossip, Rounds, tile_width};
use undertone::protocol::Values;
use undertone::protocol::averaging::{AveragingKind, MixingBounds};

use super::{best_of, sessions, values};

const ROUNDS: u32 = 24;

/// Timings of which the best counts.
const TURNS: u32 = 10;

/// Values copied for comparison: 256 MiB, beyond the share of any cache.
const COPIED: usize = 1 << 25;

/// GB/s of compulsory traffic, one read and one write of every value per round, beside a copy's.
pub(crate) fn bench(quick: bool) {
    println!("\ngossip, random 10-regular, {ROUNDS} Chebyshev rounds, compulsory traffic");
    println!(
        "{:>9} {:>6} {:>6} {:>9} {:>9} {:>7}",
        "peers", "width", "tile", "GB/s", "copy", "ratio"
    );
    let sizes: &[(usize, usize)] = if quick {
        &[(200, 64)]
    } else {
        &[(1000, 512), (5000, 128), (25_000, 64), (100_000, 32)]
    };
    for &(peers, width) in sizes {
        let topology = sessions::topology(peers);
        let gossip = Gossip::new(topology.graph(), topology.mixing());
        let bounds = MixingBounds {
            lowest: -0.5,
            second: 0.65,
        };
        let schedule = AveragingKind::Chebyshev
            .schedule(bounds, ROUNDS)
            .expect("contracting bounds");
        let inputs = values(peers * width);
        let bytes = 16.0 * (peers * width) as f64;
        // Copies must come from memory, whatever the size of the state.
        let source = vec![1.0; COPIED];
        let mut target = vec![0.0; COPIED];
        let part = COPIED / rayon::current_num_threads() + 1;
        let mut copy = || {
            target
                .par_chunks_mut(part)
                .zip(source.par_chunks(part))
                .for_each(|(to, from)| to.copy_from_slice(from));
        };
        let tiles = [4, 8, 16, 32, 64].into_iter();
        let mut times: Vec<_> = tiles
            .filter(|&tile| !quick || tile == tile_width(peers))
            .map(|tile| (tile, Averaged::default(), f64::INFINITY))
            .collect();
        let mut copied = f64::INFINITY;
        let rounds = Rounds {
            values: Values::F64,
            exchange: Exchange::Recurrence(&schedule),
            factor: 1.0,
            watch: false,
        };
        // In turns: what the machine's other tenants do strikes all alike.
        for _ in 0..if quick { 1 } else { TURNS } {
            copied = copied.min(best_of(1, &mut copy));
            for (tile, averaged, time) in &mut times {
                let values = (width, inputs.as_slice());
                let all = || gossip.average_in_tiles(*tile, rounds, values, averaged);
                *time = time.min(best_of(1, all));
            }
        }
        let copied = 16.0 * COPIED as f64 / copied / 1e9;
        for (tile, _, time) in times {
            let rate = f64::from(ROUNDS) * bytes / time / 1e9;
            let chosen = if tile == tile_width(peers) { "*" } else { "" };
            println!(
                "{peers:>9} {width:>6} {tile:>5}{chosen:1} {rate:>9.1} {copied:>9.1} {:>7.2}",
                rate / copied
            );
        }
    }
}
