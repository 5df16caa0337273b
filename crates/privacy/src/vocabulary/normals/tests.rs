use rand::Rng;
use rand::distr::Distribution;

use super::*;
use crate::vocabulary::StandardNormal;
use crate::vocabulary::blocks::generator;

/// The key of a test's streams.
fn key(subject: u64) -> [u8; 32] {
    *blake3::hash(&subject.to_le_bytes()).as_bytes()
}

/// A chunk by the path that is easiest to read: words in order from the generator, [`StandardNormal`] from a first word and a group's further ones.
fn read_in_order(stream: Blocks<'_>) -> Vec<f64> {
    /// A word, then the further words of a group.
    struct FirstWord<'a>(Option<u64>, &'a mut dyn FnMut() -> u64);
    impl TryRng for FirstWord<'_> {
        type Error = Infallible;
        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            Ok(self.0.take().unwrap_or_else(|| (self.1)()))
        }
        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            unreachable!("normals are made of whole words")
        }
        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
            unreachable!("normals are made of whole words")
        }
    }
    let mut words = generator(stream);
    let start = words.get_word_pos();
    let mut drawn = Vec::new();
    for group in 0..8 {
        let mut used = 0;
        for number in 0..64 {
            let mut word_of = |block: u128, word: u128| {
                words.set_word_pos(start + 16 * block + 2 * word);
                words.next_u64()
            };
            let number = 64 * group + number;
            let first = word_of(number / 8, number % 8);
            let mut more = || {
                let word = word_of(64 + 8 * (used / 8) + group, used % 8);
                used += 1;
                word
            };
            drawn.push(StandardNormal.sample(&mut FirstWord(Some(first), &mut more)));
        }
    }
    drawn
}

#[test]
fn a_chunk_is_what_its_words_say() {
    for subject in 0..200 {
        let key = key(subject);
        let stream = Blocks {
            key: &key,
            release: subject as u32 % 3,
            chunk: subject << 20,
        };
        let expected = read_in_order(stream);
        for arch in architectures() {
            let mut found = [f64::NAN; CHUNK];
            fill_by(arch, stream, &mut found);
            assert_eq!(found[..], expected[..], "stream {subject}");
        }
    }
}

/// 10⁵ streams, of all lengths: whatever the processor, and however many numbers are asked for.
#[test]
fn all_kernels_draw_the_same_bits() {
    let (reference, others) = (Arch::Scalar, architectures());
    for subject in 0..100_000_u64 {
        let key = key(subject / 64);
        let stream = Blocks {
            key: &key,
            release: 1,
            chunk: subject % 64,
        };
        let length = 1 + subject as usize * 31 % CHUNK;
        let mut expected = [f64::NAN; CHUNK];
        fill_by(reference, stream, &mut expected[..length]);
        for &arch in &others[1..] {
            // Fewer numbers are the first of more.
            let mut found = [f64::NAN; CHUNK];
            let whole = if subject % 2 == 0 { length } else { CHUNK };
            fill_by(arch, stream, &mut found[..whole]);
            assert_eq!(
                found[..length],
                expected[..length],
                "stream {subject}, {length} numbers"
            );
        }
    }
}

/// P(X < x).
fn below(x: f64) -> f64 {
    libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2) / 2.0
}

/// What 512·`chunks` draws differ in from the standard normal law: for each check its statistic over the limit it keeps to but with probability
/// about 10⁻⁵ or less.
fn departures(chunks: u64, mut chunk: impl FnMut(u64, &mut [f64])) -> Vec<(String, f64)> {
    /// Cells per unit, and units to both sides.
    const CELLS: (usize, usize) = (256, 7);
    let (per_unit, reach) = CELLS;
    let mut histogram = vec![0_u64; 2 * per_unit * reach + 2];
    let mut powers = [0.0_f64; 8];
    let mut neighbours = 0.0;
    let mut out = [0.0; CHUNK];
    for number in 0..chunks {
        chunk(number, &mut out);
        let mut sums = [0.0; 8];
        for &x in &out {
            let cell = ((x + reach as f64) * per_unit as f64).floor() + 1.0;
            histogram[(cell.max(0.0) as usize).min(2 * per_unit * reach + 1)] += 1;
            let mut power = 1.0;
            for sum in &mut sums {
                power *= x;
                *sum += power;
            }
        }
        for (power, sum) in powers.iter_mut().zip(sums) {
            *power += sum;
        }
        neighbours += out.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
    }
    let count = (chunks * CHUNK as u64) as f64;
    let mut found = Vec::new();
    // E X^(2k) = (2k − 1)!!.
    let moment = |k: usize| -> f64 {
        match k % 2 {
            0 => (1..k).step_by(2).map(|i| i as f64).product(),
            _ => 0.0,
        }
    };
    for (k, power) in (1..).zip(powers) {
        let error = ((moment(2 * k) - moment(k).powi(2)) / count).sqrt();
        let z = (power / count - moment(k)) / error;
        found.push((format!("moment {k}"), z.abs() / 5.0));
    }
    let pairs = count / CHUNK as f64 * (CHUNK - 1) as f64;
    found.push(("neighbours".into(), (neighbours / pairs.sqrt()).abs() / 5.0));
    let edge = |i: usize| i as f64 / per_unit as f64 - reach as f64;
    // Kolmogorov and Smirnov: P(√n·D > x) < 2e^(−2x²), 10⁻⁵ at 2.47.
    let (mut seen, mut distance) = (0, 0.0_f64);
    for (i, cell) in histogram[..histogram.len() - 1].iter().enumerate() {
        seen += cell;
        distance = distance.max((seen as f64 / count - below(edge(i))).abs());
    }
    found.push(("Kolmogorov–Smirnov".into(), distance * count.sqrt() / 2.47));
    // Pearson in about 300 cells of a 32nd, and the two ends.
    let (mut squares, mut last, mut cell) = (0.0, f64::NEG_INFINITY, 0);
    let mut cells = 0;
    for (i, &number) in histogram.iter().enumerate() {
        cell += number;
        let here = edge(i);
        let expected = (below(here) - below(last)) * count;
        let rest = below(-here) * count;
        if expected > 100.0 && (i + 1) % (per_unit / 32) == 0 && rest > 100.0 {
            squares += (cell as f64 - expected).powi(2) / expected;
            (last, cell, cells) = (here, 0, cells + 1);
        }
    }
    let expected = below(-last) * count;
    squares += (cell as f64 - expected).powi(2) / expected;
    let freedom = f64::from(cells);
    found.push((
        format!("χ² of {} cells", cells + 1),
        (squares - freedom) / (2.0 * freedom).sqrt() / 5.0,
    ));
    for sigmas in 2..=6_usize {
        let place = (reach - sigmas) * per_unit;
        let low: u64 = histogram[..=place].iter().sum();
        let high: u64 = histogram[histogram.len() - 1 - place..].iter().sum();
        let expected = below(-(sigmas as f64)) * count;
        for (side, number) in [("below −", low), ("above ", high)] {
            let limit = 5.0 * expected.sqrt() + 5.0;
            found.push((
                format!("{side}{sigmas}"),
                (number as f64 - expected).abs() / limit,
            ));
        }
    }
    found
}

/// Draws a chunk of the streams of the tests of law.
fn drawn(number: u64, out: &mut [f64]) {
    let stream = Blocks {
        key: &key(number / 8),
        release: 4,
        chunk: number % 8,
    };
    fill(stream, out);
}

fn keeps_the_law(chunks: u64) {
    let found = departures(chunks, drawn);
    for (check, departure) in &found {
        eprintln!("{check:>20} {departure:.3} of its limit");
    }
    for (check, departure) in found {
        assert!(departure < 1.0, "{check}: {departure} times its limit");
    }
}

#[test]
fn sixteen_million_draws_are_standard_normal() {
    keeps_the_law(1 << 15);
}

#[test]
#[ignore = "2³⁰ draws: half a minute in a release build"]
fn a_thousand_million_draws_are_standard_normal() {
    keeps_the_law(1 << 21);
}

/// Fills a chunk with what `made` makes of a number's first candidate and of whether it lies in its layer.
fn fill_with_candidates(number: u64, out: &mut [f64], made: impl Fn(f64, bool) -> f64) {
    let key = key(number);
    let mut words = generator(Blocks {
        key: &key,
        release: 3,
        chunk: 0,
    });
    out.fill_with(|| {
        let (x, accepted) = ziggurat().candidate(words.next_u64());
        made(x, accepted)
    });
}

/// Laws that a mistake in the sampler would give, each by a quarter of the draws of the test above.
#[test]
fn other_laws_are_noticed() {
    type Mistake = fn(u64, &mut [f64]);
    let mistakes: [(&str, Mistake); 5] = [
        ("candidates outside their layers are kept", |number, out| {
            fill_with_candidates(number, out, |x, _| x);
        }),
        ("rejected numbers become 0", |number, out| {
            fill_with_candidates(number, out, |x, accepted| if accepted { x } else { 0.0 });
        }),
        ("the tail is cut", |number, out| {
            drawn(number, out);
            out.iter_mut().for_each(|x| *x = x.clamp(-3.654, 3.654));
        }),
        ("two thousandths too wide", |number, out| {
            drawn(number, out);
            out.iter_mut().for_each(|x| *x *= 1.002);
        }),
        ("neighbours are tied", |number, out| {
            drawn(number, out);
            for k in (1..out.len()).step_by(2) {
                out[k] = (out[k] + 0.01 * out[k - 1]) / (1.0_f64 + 0.0001).sqrt();
            }
        }),
    ];
    for (name, mistake) in mistakes {
        let found = departures(1 << 13, mistake);
        let worst = found
            .iter()
            .map(|(_, departure)| *departure)
            .fold(0.0, f64::max);
        assert!(worst > 1.0, "{name}: {worst} of a limit");
    }
}
