//! The search for NaN, infinities and numbers beyond a bound that every block goes through.

/// Values looked at together: enough for the loop to use the machine's vectors.
const LANES: usize = 64;

/// The position of the first value that is NaN or infinite.
pub(super) fn first_not_finite(values: &[f64]) -> Option<usize> {
    first_beyond(values, f64::MAX)
}

/// The position of the first value that is NaN or exceeds `limit` in absolute value.
pub(super) fn first_beyond(values: &[f64], limit: f64) -> Option<usize> {
    let within = |v: &f64| v.abs() <= limit;
    // Without an early exit inside a group the compiler compares several values at once.
    let bad = |group: &[f64]| group.iter().fold(false, |bad, v| bad | !within(v));
    let group = values.chunks(LANES).position(bad)?;
    let start = group * LANES;
    let at = values[start..].iter().position(|v| !within(v))?;
    Some(start + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_value_is_found_wherever_it_is() {
        for length in [0, 1, 63, 64, 65, 200] {
            let good = vec![f64::MAX; length];
            assert_eq!(first_not_finite(&good), None);
            for (at, bad) in
                (0..length).zip([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].iter().cycle())
            {
                let mut values = good.clone();
                values[at..].fill(*bad);
                assert_eq!(first_not_finite(&values), Some(at));
                values[at..].fill(-2.0);
                values[..at].fill(1.5);
                assert_eq!(first_beyond(&values, 1.5), Some(at));
                assert_eq!(first_beyond(&values, 2.0), None);
            }
        }
    }
}
