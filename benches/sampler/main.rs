//! Integer Gaussian noise per core: the rounded Gaussian both ways, the exact discrete Gaussian, and that of the crate
//! `prio`.
//!
//! `cargo run --release --manifest-path benches/sampler/Cargo.toml` (`-- --quick` for a look). One thread; all take
//! turns in one run and the best turn of each counts. `prio` draws the discrete Gaussian by the algorithm of Canonne,
//! Kamath & Steinke with integers of any length, from the same generator. The last columns are normals in floating point
//! (ziggurat, as the other noise schemes draw them) and the generator alone, four bytes per table as the fast way takes them.

use std::hint::black_box;
use std::time::Instant;

use prio::dp::Rational;
use prio::dp::distributions::DiscreteGaussian as PrioGaussian;
use rand::Rng;
use rand::distr::Distribution;
use undertone::noise::integer::{DiscreteGaussian, RoundedGaussian};
use undertone::vocabulary::{CHUNK, Label, Seed, StreamKey};

/// Millions per second of one turn.
type Rate = f64;

/// One way to draw: how many values to draw, from which stream, in which turn.
type Way<'a> = (&'static str, usize, Box<dyn Fn(&mut [i64], u32) + 'a>);

fn rate(way: &Way<'_>, turn: u32) -> Rate {
    let (_, count, draw) = way;
    let mut values = vec![0; *count];
    let start = Instant::now();
    draw(&mut values, turn);
    let seconds = start.elapsed().as_secs_f64();
    black_box(&values);
    *count as f64 / seconds / 1e6
}

fn ways<'a>(
    (rounded, discrete, prio): (&'a RoundedGaussian, &'a DiscreteGaussian, &'a PrioGaussian),
    key: &'a StreamKey,
    scale: usize,
) -> Vec<Way<'a>> {
    let generator = move |turn| key.words(turn, 0);
    vec![
        (
            "fast",
            4096 * scale,
            Box::new(|out, turn| rounded.fill_all(key, turn, out)),
        ),
        (
            "constant",
            128 * scale,
            Box::new(|out, turn| rounded.fill_all_in_constant_time(key, turn, out)),
        ),
        (
            "discrete",
            128 * scale,
            Box::new(move |out, turn| {
                let mut random = generator(turn);
                out.iter_mut()
                    .for_each(|value| *value = discrete.draw(&mut random));
            }),
        ),
        (
            "prio",
            scale,
            Box::new(move |out, turn| {
                let mut random = generator(turn);
                out.iter_mut().for_each(|_| {
                    black_box(prio.sample(&mut random));
                });
            }),
        ),
        (
            "normals",
            4096 * scale,
            Box::new(|out, turn| {
                let mut normals = [0.0; CHUNK];
                for (chunk, values) in (0..).zip(out.chunks(CHUNK)) {
                    key.add_normals(turn, chunk, 1.0, &mut normals[..values.len()]);
                }
                black_box(normals);
            }),
        ),
        (
            "words",
            4096 * scale,
            Box::new(|out, turn| {
                let mut bytes = vec![0; CHUNK * rounded.bytes_per_value() / 4];
                for (chunk, _) in (0..).zip(out.chunks(CHUNK)) {
                    key.words(turn, chunk).fill_bytes(&mut bytes);
                    black_box(&bytes);
                }
            }),
        ),
    ]
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    // Turns of about a millisecond each: some of them are not interrupted even where the cores are shared.
    let (scale, turns) = (32, if quick { 10 } else { 100 });
    println!(
        "{:>14} {:>7} {:>6} {:>9} {:>9} {:>8} {:>8} {:>8} {:>11} {:>13} {:>13}   (M/s, one thread)",
        "sigma",
        "tables",
        "fast",
        "constant",
        "discrete",
        "prio",
        "normals",
        "words",
        "fast/prio",
        "constant/prio",
        "discrete/prio"
    );
    let key = Seed::from_u64(14).key(Label::Scenario, 0, 0);
    for sigma in [1_u64, 16, 90, 1 << 10, 1 << 15, 1 << 20, 1 << 30, 1 << 40] {
        let rounded = RoundedGaussian::new(sigma as f64).expect("a width in range");
        let discrete = DiscreteGaussian::new(sigma as f64).expect("a width in range");
        let ratio = Rational::from_unsigned(sigma, 1_u64).expect("a whole number");
        let prio = PrioGaussian::new(ratio).expect("a width above 0");
        let ways = ways((&rounded, &discrete, &prio), &key, scale);
        let mut best = vec![0.0_f64; ways.len()];
        for turn in 0..turns {
            for (best, way) in best.iter_mut().zip(&ways) {
                *best = best.max(rate(way, turn));
            }
        }
        let of = |name| {
            ways.iter()
                .position(|way| way.0 == name)
                .map(|i| best[i])
                .expect("a way")
        };
        let columns = ["fast", "constant", "discrete", "prio", "normals", "words"].map(of);
        let [fast, constant, discrete, prio, normals, words] = columns;
        println!(
            "{sigma:>14} {:>7} {fast:>6.1} {constant:>9.2} {discrete:>9.2} {prio:>8.3} {normals:>8.1} {words:>8.1} {:>11.0} {:>13.1} {:>13.1}",
            rounded.bytes_per_value() / 16,
            fast / prio,
            constant / prio,
            discrete / prio,
        );
    }
}
