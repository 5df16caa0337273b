//! The standard normal distribution, drawn with the same bits on every machine.

use std::sync::LazyLock;

use rand::distr::{Distribution, Open01};
use rand::{Rng, RngExt};

/// Layers of the ziggurat.
const LAYERS: usize = 256;

/// Where the tail begins.
const TAIL: f64 = 3.654_152_885_361_009;

/// A standard normal number: the ziggurat method in the variant ZIGNOR (Doornik 2005), from one word of the generator in 99 of 100
/// cases.
///
/// # Why not `rand_distr`
/// The method and the words that are used are those of `rand_distr::StandardNormal`, which takes exponentials and logarithms from the
/// mathematical library of the platform: their last bits differ between libraries, and within one between processors.
/// Here they are those of the crate `libm`, which computes both from additions and multiplications in a fixed order.
#[derive(Clone, Copy, Debug)]
pub struct StandardNormal;

/// Right ends x_i of the layers, from the widest, and e^(−x_i²/2) there.
pub(super) struct Ziggurat {
    ends: [f64; LAYERS + 1],
    heights: [f64; LAYERS + 1],
}

static ZIGGURAT: LazyLock<Ziggurat> = LazyLock::new(Ziggurat::new);

/// The layers, made once.
pub(super) fn ziggurat() -> &'static Ziggurat {
    &ZIGGURAT
}

impl Ziggurat {
    /// All layers have the area V of the lowest, which is a rectangle and the tail: x_(i+1) is where the curve is V/x_i higher than
    /// at x_i. The lowest is drawn from as if it were a rectangle of width V/f(TAIL).
    fn new() -> Self {
        let tail = (std::f64::consts::PI / 2.0).sqrt()
            * libm::erfc(TAIL * std::f64::consts::FRAC_1_SQRT_2);
        let area = TAIL * curve(TAIL) + tail;
        let mut ends = [0.0; LAYERS + 1];
        ends[0] = area / curve(TAIL);
        ends[1] = TAIL;
        for i in 1..LAYERS - 1 {
            ends[i + 1] = (-2.0 * libm::log(area / ends[i] + curve(ends[i]))).sqrt();
        }
        Self {
            heights: ends.map(curve),
            ends,
        }
    }

    /// The number that a word stands for at first, and whether it lies within the rectangle of its layer, as 99 of 100 do.
    #[inline(always)]
    pub(super) fn candidate(&self, word: u64) -> (f64, bool) {
        let (layer, u) = parts(word);
        let x = u * self.ends[layer];
        (x, x.abs() < self.ends[layer + 1])
    }

    /// The number that a word whose candidate is outside its rectangle leads to, with more words.
    #[cold]
    pub(super) fn settled<R: Rng + ?Sized>(&self, mut word: u64, rng: &mut R) -> f64 {
        loop {
            let (x, accepted) = self.candidate(word);
            if accepted {
                return x;
            }
            let (layer, u) = parts(word);
            if layer == 0 {
                return beyond(rng, u < 0.0);
            }
            let [below, above] = [self.heights[layer], self.heights[layer + 1]];
            if above + (below - above) * rng.random::<f64>() < curve(x) {
                return x;
            }
            word = rng.next_u64();
        }
    }
}

/// A word's layer, of its last 8 bits, and the place in it, between −1 and 1, of its first 52.
#[inline(always)]
fn parts(word: u64) -> (usize, f64) {
    // The upper 52 bits as a number in [2, 4), less 3.
    let u = f64::from_bits((word >> 12) | (0x400 << 52)) - 3.0;
    ((word & 0xff) as usize, u)
}

/// e^(−x²/2).
fn curve(x: f64) -> f64 {
    libm::exp(-x * x / 2.0)
}

impl Distribution<f64> for StandardNormal {
    #[inline]
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let ziggurat = ziggurat();
        let word = rng.next_u64();
        match ziggurat.candidate(word) {
            (x, true) => x,
            _ => ziggurat.settled(word, rng),
        }
    }
}

/// A number of the tail (Marsaglia 1964).
#[cold]
fn beyond<R: Rng + ?Sized>(rng: &mut R, negative: bool) -> f64 {
    loop {
        let (x, y): (f64, f64) = (rng.sample(Open01), rng.sample(Open01));
        let (x, y) = (libm::log(x) / TAIL, libm::log(y));
        if -2.0 * y >= x * x {
            return if negative { x - TAIL } else { TAIL - x };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Label, Seed};

    /// Against an implementation by others: the same numbers from the same words, but for its tables, which follow from an area of twelve digits.
    #[test]
    fn it_draws_what_rand_distr_draws() {
        let [mut ours, mut theirs] = [0; 2].map(|_| Seed::from_u64(5).generator(Label::Scenario));
        let mut tails = 0;
        for _ in 0..400_000 {
            let found: f64 = StandardNormal.sample(&mut ours);
            let expected: f64 = rand_distr::StandardNormal.sample(&mut theirs);
            assert!((found - expected).abs() < 1e-8, "{found} {expected}");
            tails += usize::from(found.abs() > TAIL);
        }
        // The tail has 0.000258 of the mass: 103 are expected.
        assert!((60..160).contains(&tails), "{tails}");
    }

    #[test]
    fn the_layers_meet_at_the_top() {
        let Ziggurat { ends, heights } = ziggurat();
        assert!(ends.is_sorted_by(|a, b| a > b));
        // The last layer ends at 0, where the curve is 1.
        let last = ends[LAYERS - 1] * (1.0 - heights[LAYERS - 1]);
        let area = ends[0] * heights[1];
        assert!((last / area - 1.0).abs() < 1e-10, "{last:e} {area:e}");
        assert_eq!((ends[LAYERS], heights[LAYERS]), (0.0, 1.0));
    }
}
