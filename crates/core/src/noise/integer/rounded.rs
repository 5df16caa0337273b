//! The rounded Gaussian, drawn fast and in constant time.

use std::fmt;
use std::sync::LazyLock;

use pulp::NullaryFnOnce;

use super::fixed::Fixed;
use super::law;
use super::levels::{FIXED_SIGMA, Levels, levels};
use super::table::Table;
use super::words::{FurtherWords, MainWords, Words, fill, uniform};
use crate::vocabulary::{CHUNK, GROUP, StreamKey};

/// The rounded Gaussian's magnitudes at the fixed standard deviation.
static BOTTOM: LazyLock<Table> =
    LazyLock::new(|| Table::new(&law::rounded(Fixed::integer(FIXED_SIGMA * FIXED_SIGMA))));

/// The discrete Gaussian's magnitudes at the fixed standard deviation.
static BETWEEN: LazyLock<Table> = LazyLock::new(|| {
    let decay = Fixed::ONE.over(2 * FIXED_SIGMA * FIXED_SIGMA);
    Table::new(&law::discrete(decay))
});

/// A standard deviation that no integer noise has here.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "integer noise needs a standard deviation from 0.5 to 2^40 steps of its grid, found {found}: \
     take a finer grid where it is too small, a coarser one where it is too large"
)]
pub struct UnsupportedSigma {
    /// The standard deviation given.
    pub found: f64,
}

/// The smallest standard deviation of integer noise. Below, sums of rounded Gaussians lose the privacy of the Gaussian.
pub const SMALLEST_SIGMA: f64 = 0.5;

/// The largest standard deviation of integer noise.
pub const LARGEST_SIGMA: f64 = (1_u64 << 40) as f64;

/// No draw of any supported law is larger than so many standard deviations; each law's own bound is [`RoundedGaussian::largest`].
pub const LARGEST_DRAW: f64 = 18.0;

/// No supported law is drawn from further than this from what it stands for, in total variation; each law's own bound is
/// [`RoundedGaussian::statistical_distance`].
pub const LARGEST_DISTANCE: f64 = 1.0 / (1_u128 << 110) as f64;

impl UnsupportedSigma {
    /// Refuses whatever is not from ½ to 2⁴⁰, NaN included.
    pub(super) fn check(sigma: f64) -> Result<(), Self> {
        let supported = (SMALLEST_SIGMA..=LARGEST_SIGMA).contains(&sigma);
        supported.then_some(()).ok_or(Self { found: sigma })
    }
}

/// The law of N(0, σ²) rounded to whole numbers, up to a certified statistical distance.
///
/// Definition, decomposition, proof and cost stand in [the module](super).
#[derive(Clone)]
pub struct RoundedGaussian {
    sigma: f64,
    /// The magnitudes of this law's own table.
    pub(super) own: Table,
    /// What a draw of the own table is multiplied by, unless it is the only one.
    pub(super) top: i64,
    /// What draws of the fixed discrete Gaussian are multiplied by, if there is more than one draw.
    pub(super) multiples: Option<Vec<i64>>,
    largest: i64,
}

impl RoundedGaussian {
    /// The rounded Gaussian of standard deviation `sigma`, in steps of the integer grid. Computes a table, in a few
    /// milliseconds.
    ///
    /// # Errors
    /// [`UnsupportedSigma`] for a standard deviation that is not from ½ to 2⁴⁰.
    pub fn new(sigma: f64) -> Result<Self, UnsupportedSigma> {
        UnsupportedSigma::check(sigma)?;
        let (own, top, multiples) = match levels(sigma) {
            Levels::One(variance) => (law::rounded(variance), 1, None),
            Levels::Several { fixed, top, decay } => (law::discrete(decay), top, Some(fixed)),
        };
        let mut gaussian = Self {
            sigma,
            own: Table::new(&own),
            top,
            multiples,
            largest: 0,
        };
        let parts = gaussian.parts();
        gaussian.largest = parts.map(|(k, table)| k * table.largest() as i64).sum();
        Ok(gaussian)
    }

    /// The standard deviation σ of the Gaussian that is rounded. The rounded one's variance is nearly σ² + 1/12.
    #[must_use]
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// No draw is ever larger in magnitude: from 12.5 to 18 times σ, and at least 7.
    #[must_use]
    pub fn largest(&self) -> i64 {
        self.largest
    }

    /// An upper bound on the total-variation distance between the law of one draw and the law of round(N(0, σ²)).
    ///
    /// It is 2⁻¹¹³ per draw from a table, at most 2⁻¹¹⁰. By the triangle inequality n draws are within n times as much
    /// of n ideal ones, and whatever is computed from them too; an (ε, δ) promise for ideal noise holds with δ + (1 +
    /// e^ε)·n·distance.
    #[must_use]
    pub fn statistical_distance(&self) -> f64 {
        // A power of two times a small integer: exact.
        self.draws() as f64 * 2.0_f64.powi(-113)
    }

    /// Random bytes that one value takes in constant time; a quarter of it otherwise.
    #[must_use]
    pub fn bytes_per_value(&self) -> usize {
        16 * self.draws()
    }

    /// Draws per value: one of the own table and, if it is a top level's, one at the bottom and one per level between.
    fn draws(&self) -> usize {
        1 + self.multiples.as_ref().map_or(0, |fixed| 1 + fixed.len())
    }

    /// What a value is the sum of: multiples and tables of magnitudes.
    fn parts(&self) -> impl Iterator<Item = (i64, &Table)> {
        let fixed = self.multiples.iter().flat_map(|multiples| {
            let between = multiples.iter().map(|&multiple| (multiple, &*BETWEEN));
            std::iter::once((1, &*BOTTOM)).chain(between)
        });
        std::iter::once((self.top, &self.own)).chain(fixed)
    }

    /// Writes the values of `(release, chunk)` of a stream to `out`, in order: the fast way, for simulations.
    ///
    /// The time it takes and the memory it touches depend on what is drawn. A peer whose clock or cache others can
    /// watch draws the same numbers with [`Self::fill_in_constant_time`].
    ///
    /// # Shapes
    /// `out` is at most [`CHUNK`] consecutive coordinates, from coordinate `chunk * CHUNK` on.
    ///
    /// # Panics
    /// If `out` is longer than [`CHUNK`].
    pub fn fill(&self, key: &StreamKey, (release, chunk): (u32, u64), out: &mut [i64]) {
        assert!(out.len() <= CHUNK, "at most one chunk");
        let words = Words::new(key, (release, chunk), self.draws());
        let mut generator = words.main();
        let mut main: MainWords = [0; GROUP];
        for (g, values) in out.chunks_mut(GROUP).enumerate() {
            values.fill(0);
            for (l, (multiple, table)) in self.parts().enumerate() {
                fill(&mut generator, &mut main);
                for (i, (value, &word)) in values.iter_mut().zip(&main).enumerate() {
                    let (draw, decided) = table.look_up(word >> 1);
                    let draw = if decided {
                        draw
                    } else {
                        undecided(table, word, || words.further_of((g, l, i)))
                    };
                    *value += multiple * signed(u64::from(draw), word);
                }
            }
        }
    }

    /// Writes the very numbers of [`Self::fill`] to `out`, without a branch, an address or a number of random bytes that
    /// depends on any of them.
    ///
    /// What is constant and how it was checked stands in [the module](super#constant-time).
    ///
    /// # Shapes
    /// As of [`Self::fill`].
    ///
    /// # Panics
    /// If `out` is longer than [`CHUNK`].
    #[inline(never)]
    pub fn fill_in_constant_time(
        &self,
        key: &StreamKey,
        (release, chunk): (u32, u64),
        out: &mut [i64],
    ) {
        assert!(out.len() <= CHUNK, "at most one chunk");
        let words = Words::new(key, (release, chunk), self.draws());
        let (mut generator, mut behind) = (words.main(), words.further(0));
        let mut main: MainWords = [0; GROUP];
        let mut further: FurtherWords = [[0; 3]; GROUP];
        let arch = pulp::Arch::new();
        for values in out.chunks_mut(GROUP) {
            values.fill(0);
            for (multiple, table) in self.parts() {
                fill(&mut generator, &mut main);
                fill(&mut behind, further.as_flattened_mut());
                arch.dispatch(AddCounts {
                    multiple,
                    table,
                    main: &main,
                    further: &further,
                    values,
                });
            }
        }
    }

    /// Writes a whole release's values to `out`, chunk after chunk, the fast way.
    pub fn fill_all(&self, key: &StreamKey, release: u32, out: &mut [i64]) {
        for (chunk, values) in (0..).zip(out.chunks_mut(CHUNK)) {
            self.fill(key, (release, chunk), values);
        }
    }

    /// Writes a whole release's values to `out`, chunk after chunk, in constant time.
    pub fn fill_all_in_constant_time(&self, key: &StreamKey, release: u32, out: &mut [i64]) {
        for (chunk, values) in (0..).zip(out.chunks_mut(CHUNK)) {
            self.fill_in_constant_time(key, (release, chunk), values);
        }
    }
}

impl fmt::Debug for RoundedGaussian {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundedGaussian")
            .field("sigma", &self.sigma)
            .field("top", &self.top)
            .field("multiples", &self.multiples)
            .field("largest", &self.largest)
            .finish_non_exhaustive()
    }
}

/// A magnitude with the sign of a main word.
#[inline(always)]
fn signed(magnitude: u64, word: u32) -> i64 {
    let sign = -i64::from(word & 1);
    (magnitude as i64 ^ sign) - sign
}

/// A draw that the guide does not decide: one in a hundred, and of those one in many millions needs its further words.
#[cold]
fn undecided(table: &Table, word: u32, further: impl FnOnce() -> [u32; 3]) -> u32 {
    let found = table.search(word >> 1);
    found.unwrap_or_else(|| table.count(uniform(word, further())) as u32)
}

/// One draw more for a group of values, in constant time.
struct AddCounts<'a> {
    multiple: i64,
    table: &'a Table,
    main: &'a MainWords,
    further: &'a FurtherWords,
    values: &'a mut [i64],
}

impl NullaryFnOnce for AddCounts<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let words = self.main.iter().zip(self.further);
        for (value, (&word, &further)) in self.values.iter_mut().zip(words) {
            let draw = self.table.count(uniform(word, further));
            *value += self.multiple * signed(draw, word);
        }
    }
}
