//! Draws from a table of cumulative probabilities, in two ways that give the same numbers.
//!
//! A table is T_0 ≤ T_1 ≤ … in units of 2⁻¹²⁶, and the draw of a uniform W in {0, …, 2¹²⁶ − 1} is #{j: T_j ≤ W}, so
//! that it is at most j with probability exactly T_j·2⁻¹²⁶. [`Table::count`] reads all of W and of the table.
//! [`Table::look_up`] reads the first 31 bits of W, which decide unless some T_j begins with the same 31 bits.

/// Bits of a uniform number that a look-up reads.
const PREFIX_BITS: u32 = 31;

/// Bits of a uniform number that choose a place in the guide.
const GUIDE_BITS: u32 = 11;

/// Places of the padded table of prefixes. No table has as many thresholds.
const PLACES: usize = 2048;

/// Marks a place of the guide that more than one threshold falls into.
const CROWDED: u16 = 1 << 15;

/// Cumulative probabilities, laid out for both ways of drawing.
#[derive(Clone)]
pub(super) struct Table {
    /// The first 63 bits of every threshold.
    high: Vec<u64>,
    /// The last 63 bits of every threshold.
    low: Vec<u64>,
    /// The first 31 bits of every threshold, then numbers above all of 31 bits.
    prefixes: Box<[u32; PLACES]>,
    /// How many thresholds have a prefix below the first of this place.
    guide: Box<[u16; 1 << GUIDE_BITS]>,
}

/// A uniform number of 126 bits, in two halves.
#[derive(Clone, Copy)]
pub(super) struct Uniform {
    /// The first 63 bits.
    pub(super) high: u64,
    /// The last 63 bits.
    pub(super) low: u64,
}

impl Table {
    /// The table of these thresholds, ascending and at most 2¹²⁶, fewer than 2048.
    pub(super) fn new(thresholds: &[u128]) -> Self {
        assert!(thresholds.len() < PLACES && thresholds.is_sorted());
        assert!(thresholds.last().is_some_and(|&last| last <= 1 << 126));
        let mut prefixes = Box::new([u32::MAX; PLACES]);
        for (prefix, threshold) in prefixes.iter_mut().zip(thresholds) {
            *prefix = (threshold >> (126 - PREFIX_BITS)) as u32;
        }
        let prefixes_of = &prefixes[..thresholds.len()];
        let below = |prefix: usize| prefixes_of.partition_point(|&t| (t as usize) < prefix);
        let mut guide = Box::new([0; 1 << GUIDE_BITS]);
        for (i, place) in guide.iter_mut().enumerate() {
            let first = below(i << (PREFIX_BITS - GUIDE_BITS));
            let crowded = below((i + 1) << (PREFIX_BITS - GUIDE_BITS)) > first + 1;
            *place = first as u16 | if crowded { CROWDED } else { 0 };
        }
        Self {
            high: thresholds.iter().map(|t| (t >> 63) as u64).collect(),
            low: thresholds
                .iter()
                .map(|t| *t as u64 & (u64::MAX >> 1))
                .collect(),
            prefixes,
            guide,
        }
    }

    /// The largest draw.
    pub(super) fn largest(&self) -> u64 {
        self.high.len() as u64
    }

    /// The draw of a uniform number, by comparing it with every threshold: no branch and no address depends on it.
    ///
    /// A difference of numbers below 2⁶³ + 1 has its sign in its first bit, so no comparison is needed that a compiler
    /// could turn into a jump.
    #[inline(always)]
    pub(super) fn count(&self, uniform: Uniform) -> u64 {
        let mut above = 0;
        for (high, low) in self.high.iter().zip(&self.low) {
            let borrow = uniform.low.wrapping_sub(*low) >> 63;
            above += uniform.high.wrapping_sub(*high).wrapping_sub(borrow) >> 63;
        }
        self.largest() - above
    }

    /// The draw of all uniform numbers that begin with these 31 bits, if it is one, and whether it is.
    #[inline(always)]
    pub(super) fn look_up(&self, prefix: u32) -> (u32, bool) {
        let place =
            self.guide[(prefix >> (PREFIX_BITS - GUIDE_BITS)) as usize & ((1 << GUIDE_BITS) - 1)];
        let first = u32::from(place & !CROWDED);
        let threshold = self.prefixes[first as usize & (PLACES - 1)];
        let draw = first + u32::from(threshold < prefix);
        (draw, place < CROWDED && threshold != prefix)
    }

    /// As [`Self::look_up`], for places that more than one threshold falls into; `None` where 31 bits do not decide.
    pub(super) fn search(&self, prefix: u32) -> Option<u32> {
        let prefixes = &self.prefixes[..self.high.len()];
        let draw = prefixes.partition_point(|&threshold| threshold < prefix);
        (prefixes.get(draw) != Some(&prefix)).then_some(draw as u32)
    }
}
