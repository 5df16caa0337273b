//! Axes of figures: label, range and ticks.

use std::ops::Range;

use plotters::coord::ranged1d::{
    KeyPointHint, KeyPointWeight, NoDefaultFormatting, Ranged, ValueFormatter,
};

use super::number;

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences are equal lengths; values that are not negative start at 0.
    Linear,
    /// Equal ratios are equal lengths; values that are not positive cannot be drawn.
    Log,
    /// Whole numbers, such as iterations.
    Whole,
    /// [`Self::Log`] if all values are positive and differ by more than a factor of 30, else [`Self::Linear`].
    Fitting,
}

/// An axis as the author of a figure describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// What is measured.
    pub label: String,
    /// In which unit; for numbers without one what they are: "ratio", "count".
    pub unit: String,
    /// How values are spread.
    pub spacing: Spacing,
}

impl Axis {
    /// An axis.
    #[must_use]
    pub fn new(label: &str, unit: &str, spacing: Spacing) -> Self {
        Self {
            label: label.to_owned(),
            unit: unit.to_owned(),
            spacing,
        }
    }

    /// Label and unit, as drawn.
    #[must_use]
    pub fn caption(&self) -> String {
        format!("{} [{}]", self.label, self.unit)
    }
}

/// An axis with its range and ticks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) log: bool,
    low: f64,
    high: f64,
    major: Vec<f64>,
    minor: Vec<f64>,
}

/// A logarithmic axis of fewer decades has ticks at 1, 2 and 5 times powers of ten.
const SHORT: f64 = 1.9;
/// Most labelled ticks on an axis.
const MOST_TICKS: f64 = 8.0;

impl Scale {
    /// The scale that shows all `values` that it can; the others (not finite, or not positive on a
    /// logarithmic axis) are ignored.
    pub(super) fn fit(spacing: Spacing, values: impl Iterator<Item = f64>) -> Self {
        let finite: Vec<f64> = values.filter(|v| v.is_finite()).collect();
        let low = finite.iter().copied().fold(f64::INFINITY, f64::min);
        let high = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log = match spacing {
            Spacing::Log => true,
            Spacing::Fitting => low > 0.0 && high > 30.0 * low,
            Spacing::Linear | Spacing::Whole => false,
        };
        if log {
            let positive = finite.iter().copied().filter(|v| *v > 0.0);
            let low = positive.fold(f64::INFINITY, f64::min);
            // Beyond this the ratio of the ends overflows.
            return match low.is_finite() {
                true => Self::logarithmic(low.clamp(1e-150, 1e150), high.clamp(1e-150, 1e150)),
                false => Self::logarithmic(0.1, 1.0),
            };
        }
        let (low, high) = match low <= high {
            true => (low.clamp(-1e150, 1e150), high.clamp(-1e150, 1e150)),
            false => (0.0, 1.0),
        };
        Self::linear(low, high, spacing == Spacing::Whole)
    }

    fn linear(low: f64, high: f64, whole: bool) -> Self {
        let bottom = if !whole && low >= 0.0 { 0.0 } else { low };
        let span = match high - bottom {
            span if span > 1e-150 => span,
            _ if whole || bottom == 0.0 => 1.0,
            _ => bottom.abs().max(1.0),
        };
        let mut step = nice_step(span / (MOST_TICKS - 2.0));
        if whole {
            step = step.max(1.0);
        }
        let (from, to) = if whole {
            let margin = if high > low { 0.04 * (high - low) } else { 0.5 };
            (low - margin, high + margin)
        } else {
            let top = (bottom + span) / step;
            ((bottom / step).floor() * step, top.ceil() * step)
        };
        let tolerance = 1e-9 * (to - from);
        let first = ((from - tolerance) / step).ceil();
        let major: Vec<f64> = (0..64)
            .map(|k| (first + f64::from(k)) * step)
            .take_while(|tick| *tick <= to + tolerance)
            .collect();
        Self {
            log: false,
            low: from,
            high: to,
            minor: Vec::new(),
            major,
        }
    }

    fn logarithmic(low: f64, high: f64) -> Self {
        let decades = (high / low).log10().max(0.1);
        let margin = 10_f64.powf(0.03 * decades);
        let (mut from, mut to) = (low / margin, high * margin);
        if decades < SHORT {
            // Too short for powers of ten alone: from one of 1, 2, 5 to another.
            from = one_two_five(from, f64::floor);
            to = one_two_five(to, f64::ceil);
        }
        let exponents = from.log10().floor() as i32..=to.log10().ceil() as i32;
        let inside = |v: &f64| *v >= from * (1.0 - 1e-9) && *v <= to * (1.0 + 1e-9);
        let multiples = |factors: &'static [f64]| {
            let exponents = exponents.clone();
            exponents.flat_map(move |e| factors.iter().map(move |f| scaled(*f, e)))
        };
        let major: Vec<f64> = if decades < SHORT {
            multiples(&[1.0, 2.0, 5.0]).filter(inside).collect()
        } else {
            let every = (decades / MOST_TICKS).ceil().max(1.0) as i32;
            let powers = exponents.clone().filter(|e| e.rem_euclid(every) == 0);
            powers.map(|e| scaled(1.0, e)).filter(inside).collect()
        };
        let minor = match decades {
            d if d <= 6.0 => multiples(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
                .filter(inside)
                .collect(),
            _ => multiples(&[1.0]).filter(inside).collect(),
        };
        Self {
            log: true,
            low: from,
            high: to,
            major,
            minor,
        }
    }

    /// Whether this value has a place on the axis.
    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }

    /// The value, or the nearer end of the axis where it lies beyond.
    pub(super) fn clamp(&self, value: f64) -> f64 {
        if value.is_nan() {
            return self.low;
        }
        value.clamp(self.low, self.high)
    }

    /// Text of a tick.
    pub(super) fn label(&self, value: f64) -> String {
        // Ticks are products of a step, with its rounding; zero is exact enough at a billionth of the range.
        if !self.log && value.abs() < 1e-9 * (self.high - self.low) {
            return "0".to_owned();
        }
        number::significant(value, 4)
    }

    /// The labelled ticks.
    pub(super) fn ticks(&self) -> &[f64] {
        &self.major
    }

    fn position(&self, value: f64) -> f64 {
        if self.log {
            (value.max(f64::MIN_POSITIVE) / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, pixels: (i32, i32)) -> i32 {
        let length = f64::from(pixels.1 - pixels.0);
        // A value far outside saturates instead of wrapping.
        let offset = (self.position(*value) * length).clamp(-1e6, 1e6);
        pixels.0 + offset.round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight() {
            KeyPointWeight::Bold => self.major.clone(),
            KeyPointWeight::Any => self.minor.clone(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        self.label(*value)
    }
}

/// factor · 10^exponent, correctly rounded where the power is exact.
fn scaled(factor: f64, exponent: i32) -> f64 {
    if exponent < 0 {
        factor / 10_f64.powi(-exponent)
    } else {
        factor * 10_f64.powi(exponent)
    }
}

/// 1, 2 or 5 times a power of ten, at least `step`.
fn nice_step(step: f64) -> f64 {
    let exponent = step.log10().floor() as i32;
    [1.0, 2.0, 5.0, 10.0]
        .map(|factor| scaled(factor, exponent))
        .into_iter()
        .find(|nice| *nice >= step * (1.0 - 1e-9))
        .unwrap_or(step)
}

/// The nearest 1, 2 or 5 times a power of ten at or below (`floor`) or above (`ceil`) the value.
fn one_two_five(value: f64, round: fn(f64) -> f64) -> f64 {
    let exponent = value.log10().floor() as i32;
    let candidates = [1.0, 2.0, 5.0, 10.0].map(|factor| scaled(factor, exponent));
    if round(0.5) == 0.0 {
        let below = candidates.into_iter().rev();
        below.into_iter().find(|c| *c <= value * (1.0 + 1e-9))
    } else {
        candidates.into_iter().find(|c| *c >= value * (1.0 - 1e-9))
    }
    .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(spacing: Spacing, values: &[f64]) -> Vec<String> {
        let scale = Scale::fit(spacing, values.iter().copied());
        scale.ticks().iter().map(|t| scale.label(*t)).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        let powers = labels(Spacing::Log, &[0.1, 1000.0]);
        assert_eq!(powers, ["0.1", "1", "10", "100", "1000"]);
        assert_eq!(
            labels(Spacing::Linear, &[0.0, 0.38]),
            ["0", "0.1", "0.2", "0.3", "0.4"]
        );
        assert_eq!(labels(Spacing::Whole, &[1.0, 3.0]), ["1", "2", "3"]);
        assert_eq!(labels(Spacing::Whole, &[1.0]), ["1"]);
        assert_eq!(labels(Spacing::Log, &[0.3, 0.9]), ["0.2", "0.5", "1"]);
        for spacing in [
            Spacing::Linear,
            Spacing::Log,
            Spacing::Whole,
            Spacing::Fitting,
        ] {
            let extremes: [&[f64]; 6] = [
                &[],
                &[0.0, 0.0],
                &[f64::NAN, f64::INFINITY],
                &[-1e300, 1e300],
                &[1e-320, 1e308],
                &[7.0],
            ];
            for values in extremes {
                let scale = Scale::fit(spacing, values.iter().copied());
                let count = scale.ticks().len();
                assert!((1..=20).contains(&count), "{spacing:?} {values:?}: {count}");
                assert!(
                    scale.low < scale.high && scale.high.is_finite(),
                    "{scale:?}"
                );
            }
        }
    }

    #[test]
    fn values_lie_between_the_ends_in_order() {
        let scale = Scale::fit(Spacing::Log, [0.01, 5.0].into_iter());
        let at = |value: f64| scale.map(&value, (0, 1000));
        assert!(0 < at(0.01) && at(0.01) < at(0.1) && at(0.1) < at(5.0) && at(5.0) < 1000);
        assert!((at(1.0) - at(0.1) - (at(0.1) - at(0.01))).abs() <= 1);
        assert!(!scale.shows(0.0) && !scale.shows(f64::NAN) && scale.shows(1.0));
        assert!(scale.clamp(f64::NEG_INFINITY) > 0.0);
        assert!(Scale::fit(Spacing::Fitting, [1.0, 100.0].into_iter()).log);
        assert!(!Scale::fit(Spacing::Fitting, [1.0, 10.0].into_iter()).log);
    }
}
