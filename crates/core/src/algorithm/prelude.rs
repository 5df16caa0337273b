//! A mean that is released before everything else: its public numbers, and what it spends.

use serde::{Deserialize, Serialize};

/// What is released before everything else where the mean is private: public, and part of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prelude {
    /// m: slots for rows.
    pub slots: usize,
    /// R_raw.
    pub raw_clip: f64,
    /// R.
    pub radius: f64,
    /// Whether all numbers lie between 0 and 1.
    pub unit_box: bool,
    /// The share of μ² that the mean spends.
    pub share: f64,
}

impl Prelude {
    /// The noise factors of all releases: of the mean, and of `iterations` others whose own factors are `later` (empty: all 1).
    ///
    /// # Statement and proof
    /// With C = Σ 1/f_l² the factors (1/√(fC), f_1/√(1−f), …) have Σ of inverse squares f·C + (1−f)·C = C: one release more
    /// at the price of the others, of which the mean spends the share f. ∎
    #[must_use]
    pub fn factors(&self, later: &[f64], iterations: usize) -> Vec<f64> {
        let even = vec![1.0; iterations];
        let later = if later.is_empty() { &even } else { later };
        let cost: f64 = later.iter().map(|factor| factor.powi(-2)).sum();
        let rest = (1.0 - self.share).sqrt();
        let mean = (self.share * cost).sqrt().recip();
        let others = later.iter().map(|factor| factor / rest);
        std::iter::once(mean).chain(others).collect()
    }
}
