//! Equal numbers from both ways of drawing, addresses, and bounds.

use super::super::fixed::Fixed;
use super::super::levels::{Levels, levels};
use super::super::table::{Table, Uniform};
use super::super::words::{Words, fill, uniform};
use super::super::{
    LARGEST_DISTANCE, LARGEST_DRAW, LARGEST_SIGMA, RoundedGaussian, UnsupportedSigma, law,
};
use crate::vocabulary::{CHUNK, GROUP, Label, Seed, StreamKey};

const SIGMAS: [f64; 7] = [0.5, 9.25, 96.0, 97.0, 5000.0, 1_048_576.0, LARGEST_SIGMA];

fn key() -> StreamKey {
    Seed::from_u64(14).key(Label::Scenario, 4, 0)
}

#[test]
fn both_ways_draw_the_same_numbers() {
    for sigma in SIGMAS {
        let gaussian = RoundedGaussian::new(sigma).unwrap();
        let mut fast = vec![0; 2 * CHUNK + 77];
        let mut constant = fast.clone();
        gaussian.fill_all(&key(), 3, &mut fast);
        gaussian.fill_all_in_constant_time(&key(), 3, &mut constant);
        assert_eq!(fast, constant, "{sigma}");
        assert!(fast.iter().any(|&x| x > 0) && fast.iter().any(|&x| x < 0));
    }
}

/// The draws of a chunk that the first 31 bits do not decide and of which the others make one more than the fewest, by place.
fn decided_by_further_words(table: &Table, words: &Words<'_>) -> Vec<usize> {
    let mut main = vec![0; CHUNK];
    fill(&mut words.main(), &mut main);
    let more = main.iter().enumerate().filter(|&(i, &word)| {
        table.search(word >> 1).is_none() && {
            let further = words.further_of((i / GROUP, 0, i % GROUP));
            u64::from(table.look_up(word >> 1).0) != table.count(uniform(word, further))
        }
    });
    more.map(|(i, _)| i).collect()
}

fn widest_table() -> Table {
    let Levels::One(variance) = levels(96.0) else {
        panic!("one table");
    };
    Table::new(&law::rounded(variance))
}

#[test]
fn further_words_decide_where_the_first_do_not() {
    let gaussian = RoundedGaussian::new(96.0).unwrap();
    let key = key();
    let at = (0, UNDECIDED_CHUNK);
    let found = decided_by_further_words(&widest_table(), &Words::new(&key, at, 1));
    assert_eq!(found.len(), 1);
    let (mut fast, mut constant) = ([0; CHUNK], [0; CHUNK]);
    gaussian.fill(&key, at, &mut fast);
    gaussian.fill_in_constant_time(&key, at, &mut constant);
    assert_eq!(fast, constant);
    assert_eq!(fast[found[0]], 329);
}

/// A chunk of the stream with a draw that is not what its first 31 bits alone would make it, found by the search below.
const UNDECIDED_CHUNK: u64 = 18_651;

#[test]
#[ignore = "finds the chunk that another test uses"]
fn search_for_an_undecided_draw() {
    let (table, key) = (widest_table(), key());
    let chunk = (0..1_000_000).find(|&chunk| {
        !decided_by_further_words(&table, &Words::new(&key, (0, chunk), 1)).is_empty()
    });
    assert_eq!(chunk, Some(UNDECIDED_CHUNK));
}

#[test]
fn a_draw_is_the_number_of_thresholds_at_most_the_uniform_number() {
    let thresholds = law::rounded(Fixed::integer(4096));
    let table = Table::new(&thresholds);
    let last = (1_u128 << 126) - 1;
    let near = thresholds
        .iter()
        .flat_map(|&t| [t - 1, t, t + 1, t | u128::from(u64::MAX)]);
    for uniform in near
        .chain([0, 1, last / 2, last - 1, last])
        .filter(|&w| w <= last)
    {
        let expected = thresholds.iter().filter(|&&t| t <= uniform).count() as u64;
        let halves = Uniform {
            high: (uniform >> 63) as u64,
            low: uniform as u64 & (u64::MAX >> 1),
        };
        assert_eq!(table.count(halves), expected, "{uniform:x}");
        let prefix = (uniform >> 95) as u32;
        if let Some(found) = table.search(prefix) {
            assert_eq!(u64::from(found), expected, "{uniform:x}");
        }
        let (found, decided) = table.look_up(prefix);
        assert!(!decided || u64::from(found) == expected, "{uniform:x}");
    }
    // Most uniform numbers are decided by one look-up.
    let decided = (0..1 << 16).filter(|i| table.look_up(i << 15).1).count();
    assert!(decided > 64_000, "{decided}");
}

#[test]
fn chunks_are_addressed_and_shorter_ones_are_beginnings() {
    let gaussian = RoundedGaussian::new(5000.0).unwrap();
    let key = key();
    let mut whole = vec![0; 3 * CHUNK];
    gaussian.fill_all(&key, 7, &mut whole);
    for length in [1, 63, 64, 65, 500] {
        let mut part = vec![1; length];
        gaussian.fill(&key, (7, 2), &mut part);
        assert_eq!(part, whole[2 * CHUNK..][..length]);
        gaussian.fill_in_constant_time(&key, (7, 2), &mut part);
        assert_eq!(part, whole[2 * CHUNK..][..length]);
    }
    let mut other = vec![0; CHUNK];
    gaussian.fill(&key, (8, 0), &mut other);
    let same = other.iter().zip(&whole).filter(|(a, b)| a == b).count();
    assert!(same < 10, "{same}");
    gaussian.fill(&key, (7, 1), &mut other);
    assert_eq!(other, whole[CHUNK..2 * CHUNK]);
}

#[test]
fn bits_are_frozen() {
    let first = |sigma: f64| {
        let mut values = [0; 6];
        let gaussian = RoundedGaussian::new(sigma).unwrap();
        gaussian.fill(&key(), (1, 0), &mut values);
        values
    };
    assert_eq!(first(1.0), [-1, -1, 1, -1, -2, -1]);
    let wide = [
        -1_240_001, -546_874, 1_085_286, -1_045_233, -1_749_165, -748_437,
    ];
    assert_eq!(first(1_048_576.0), wide);
}

#[test]
fn levels_add_up_and_bounds_hold() {
    for sigma in [
        97.0,
        100.5,
        2559.0,
        2561.0,
        79_000.0,
        1_048_576.0,
        3.3e9,
        LARGEST_SIGMA,
    ] {
        let Levels::Several { fixed, top, decay } = levels(sigma) else {
            panic!("{sigma} is above a table's");
        };
        // h ≥ 2 at every level: 64s ≥ 2√(s² + 64²k²), and τs ≥ 2σ.
        let mut below = 4096_u128;
        for &k in &fixed {
            let next = below + 4096 * (k as u128).pow(2);
            assert!(4096 * below >= 4 * next, "{sigma}");
            below = next;
        }
        let found = decay.to_f64();
        let left = sigma * sigma - below as f64;
        let tau = left.sqrt() / top as f64;
        assert!((48.0..=96.0).contains(&tau), "{sigma}: {tau}");
        assert!((found * 2.0 * tau * tau - 1.0).abs() < 1e-9, "{sigma}");
        assert!(tau * (below as f64).sqrt() >= 2.0 * sigma, "{sigma}");
        let gaussian = RoundedGaussian::new(sigma).unwrap();
        let ratio = gaussian.largest() as f64 / sigma;
        assert!((12.5..LARGEST_DRAW).contains(&ratio), "{sigma}: {ratio}");
        let draws = (fixed.len() + 2) as f64;
        assert!(draws <= 8.0);
        let distance = gaussian.statistical_distance();
        assert_eq!(distance, draws * 2.0_f64.powi(-113));
        assert!(distance <= LARGEST_DISTANCE);
    }
}

#[test]
fn what_is_said_of_all_laws_holds_for_those_of_one_table_and_is_attained() {
    for step in 0..=400 {
        // From ½ to 96 and beyond, in equal ratios.
        let sigma = 0.5 * (step as f64 / 400.0 * 200.0_f64.ln()).exp();
        let gaussian = RoundedGaussian::new(sigma).unwrap();
        let ratio = gaussian.largest() as f64 / sigma;
        assert!((12.5..=LARGEST_DRAW).contains(&ratio), "{sigma}: {ratio}");
        assert!(gaussian.statistical_distance() <= LARGEST_DISTANCE);
    }
    let widest = RoundedGaussian::new(LARGEST_SIGMA).unwrap();
    assert_eq!(widest.statistical_distance(), LARGEST_DISTANCE);
}

#[test]
fn widths_out_of_range_are_refused() {
    for sigma in [
        0.0,
        0.499,
        -1.0,
        f64::NAN,
        f64::INFINITY,
        LARGEST_SIGMA.next_up(),
    ] {
        let error = RoundedGaussian::new(sigma).unwrap_err();
        assert!(error.found.to_bits() == sigma.to_bits());
        assert!(error.to_string().contains("from 0.5 to 2^40"));
    }
    assert!(matches!(RoundedGaussian::new(0.5), Ok(g) if g.largest() == 7));
    assert_eq!(
        super::super::DiscreteGaussian::new(0.1),
        Err(UnsupportedSigma { found: 0.1 })
    );
}

#[test]
fn probabilities_in_log_space_agree_with_the_tables() {
    for sigma in [0.5, 1.0, 3.3, 40.0] {
        let gaussian = RoundedGaussian::new(sigma).unwrap();
        let Levels::One(variance) = levels(sigma) else {
            panic!("one table");
        };
        let mut before = 0;
        for (k, threshold) in (0..).zip(law::rounded(variance)) {
            let both = (threshold - before) as f64 * 2.0_f64.powi(-126);
            before = threshold;
            // A table's own error, 2⁻¹²⁶, is below 10⁻¹² of these.
            if both > 1e-25 {
                let mass = if k == 0 { both } else { both / 2.0 };
                let found = gaussian.ln_probability(k);
                assert!((found - mass.ln()).abs() < 2e-12, "{sigma}, {k}: {found}");
                assert_eq!(found.to_bits(), gaussian.ln_probability(-k).to_bits());
            }
        }
    }
}
