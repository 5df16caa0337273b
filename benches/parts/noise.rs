//! Noise of a whole network against bare normals.

use chacha20::ChaCha20Rng;
use rand::SeedableRng;
use rand::distr::Distribution;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use undertone::engine::noise::{Assignment, NetworkNoise};
use undertone::noise::{NoiseChunk, Sigmas};
use undertone::vocabulary::{Binding, CHUNK, ReleaseId, Seed};

use super::{best_in_turns, sessions};

/// Million normals per second that reach the published inputs, own and pairwise, beside bare ones.
pub(crate) fn bench(quick: bool) {
    println!(
        "\nnoise, random 10-regular: normals drawn, scaled and added (each edge's at both ends)"
    );
    println!(
        "{:>9} {:>10} {:>9} {:>9} {:>7}",
        "peers", "threads", "M/s", "bare M/s", "ratio"
    );
    let sizes: &[usize] = if quick {
        &[200]
    } else {
        &[100, 1000, 5000, 25_000]
    };
    let threads = rayon::current_num_threads();
    for &peers in sizes {
        let topology = sessions::topology(peers);
        let root = Seed::from_u64(1).noise_root(Binding::to(&[]));
        let assignment = Assignment::new(root, Sigmas::of_sums(0.5, 3.0)).expect("finite");
        let noise = NetworkNoise::of(&assignment, topology.graph());
        let drawn = (peers + topology.graph().edges()) * CHUNK;
        let rounds = drawn / CHUNK;
        let mut bare = || {
            (0..threads).into_par_iter().for_each(|stream| {
                let mut generator = ChaCha20Rng::seed_from_u64(stream as u64);
                let mut buffer = [0.0_f64; CHUNK];
                for _ in 0..rounds {
                    for value in &mut buffer {
                        *value = StandardNormal.sample(&mut generator);
                    }
                    std::hint::black_box(&mut buffer);
                }
            });
        };
        let at = |chunk| NoiseChunk {
            release: ReleaseId(1),
            chunk,
            unit: 0.7,
        };
        let mut inputs: Vec<Vec<f64>> = (0..threads).map(|_| vec![0.0; peers * CHUNK]).collect();
        let turns = (1 << 26) / drawn;
        let turns = if quick { 1 } else { turns.clamp(6, 100) };
        let mut own = || {
            inputs
                .par_iter_mut()
                .enumerate()
                .for_each(|(chunk, inputs)| {
                    let at = at(chunk as u64);
                    for (u, out) in inputs.chunks_exact_mut(CHUNK).enumerate() {
                        noise.add_own(at, u, out);
                    }
                    noise.add_pairs(at, CHUNK, inputs);
                });
        };
        let mut input = vec![0.0; peers * CHUNK];
        let mut shared = || {
            input
                .par_chunks_exact_mut(CHUNK)
                .enumerate()
                .for_each(|(u, out)| noise.add_own(at(0), u, out));
            noise.add_pairs_in_parallel(at(0), CHUNK, &mut input);
        };
        let [bare, own, shared] = best_in_turns(turns, [&mut bare, &mut own, &mut shared]);
        let all = (drawn * threads) as f64;
        let bare = all / bare / 1e6;
        for (name, rate) in [
            ("own chunk", all / own / 1e6),
            ("shared", drawn as f64 / shared / 1e6),
        ] {
            println!(
                "{peers:>9} {name:>10} {rate:>9.0} {bare:>9.0} {:>7.2}",
                rate / bare
            );
        }
    }
}
