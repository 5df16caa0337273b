//! Noise of a whole network against bare normals.

use chacha20::ChaCha20Rng;
use rand::SeedableRng;
use rand::distr::Distribution;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use undertone::noise::{Assignment, NetworkNoise, NoiseChunk};
use undertone::vocabulary::{CHUNK, Iteration, Seed};

use super::{best_of, sessions};

/// Million normals per second that reach the published inputs, own and pairwise, beside bare ones.
pub(crate) fn bench(quick: bool) {
    println!(
        "\nnoise, random 10-regular: normals drawn, scaled and added (each edge's at both ends)"
    );
    println!(
        "{:>9} {:>10} {:>9} {:>9} {:>7}",
        "peers", "threads", "M/s", "bare M/s", "ratio"
    );
    let sizes: &[usize] = if quick { &[200] } else { &[100, 1000, 25_000] };
    let threads = rayon::current_num_threads() as u64;
    for &peers in sizes {
        let topology = sessions::topology(peers);
        let assignment = Assignment::new(&Seed::from_u64(1), 0.5, 3.0);
        let noise = NetworkNoise::of(&assignment, topology.graph());
        let drawn = (peers + topology.graph().edges()) * CHUNK;
        let each = (drawn as u64 * 2 / threads).min(40_000_000);
        let bare = || {
            let time = best_of(3, || {
                (0..threads).into_par_iter().for_each(|stream| {
                    let mut generator = ChaCha20Rng::seed_from_u64(stream);
                    let mut buffer = [0.0_f64; CHUNK];
                    for _ in 0..each / CHUNK as u64 {
                        for value in &mut buffer {
                            *value = StandardNormal.sample(&mut generator);
                        }
                        std::hint::black_box(&mut buffer);
                    }
                });
            });
            (each / CHUNK as u64 * CHUNK as u64 * threads) as f64 / time / 1e6
        };
        let before = bare();
        let at = |chunk| NoiseChunk {
            iteration: Iteration(1),
            chunk,
            sensitivity: 0.7,
        };
        let mut inputs: Vec<Vec<f64>> = (0..threads).map(|_| vec![0.0; peers * CHUNK]).collect();
        let time = best_of(3, || {
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
        });
        let ours = drawn as f64 * threads as f64 / time / 1e6;
        let bare = before.max(bare());
        println!(
            "{peers:>9} {:>10} {ours:>9.0} {bare:>9.0} {:>7.2}",
            "own chunk",
            ours / bare
        );
        let time = best_of(3, || {
            inputs[0]
                .par_chunks_exact_mut(CHUNK)
                .enumerate()
                .for_each(|(u, out)| noise.add_own(at(0), u, out));
            noise.add_pairs_in_parallel(at(0), CHUNK, &mut inputs[0]);
        });
        let ours = drawn as f64 / time / 1e6;
        println!(
            "{peers:>9} {:>10} {ours:>9.0} {bare:>9.0} {:>7.2}",
            "shared",
            ours / bare
        );
    }
}
