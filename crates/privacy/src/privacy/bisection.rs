//! Bisection: finds where a monotone condition stops holding.

/// Brackets the point where `holds` changes from true (small arguments) to false (large ones), to adjacent
/// floating-point numbers: returns (a point where it holds, a point where it does not).
///
/// The first is 0 if the condition holds nowhere that can be represented, the second +∞ if it never
/// fails. Callers take the side that errs towards more noise, so rounding cannot favour the adversary.
pub(super) fn crossing(start: f64, holds: impl Fn(f64) -> bool) -> (f64, f64) {
    let mut low = start;
    while !holds(low) {
        low *= 0.5;
        if low < f64::MIN_POSITIVE {
            return (0.0, f64::MIN_POSITIVE);
        }
    }
    let mut high = 2.0 * low;
    while holds(high) {
        low = high;
        high *= 2.0;
        if high.is_infinite() {
            return (low, high);
        }
    }
    // high = 2 low, so 60 halvings exhaust the 53 bits of the significand.
    for _ in 0..60 {
        let middle = low + 0.5 * (high - low);
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bracket_is_two_adjacent_numbers() {
        let (low, high) = crossing(1.0, |x| x * x <= 2e-7);
        assert!(low * low <= 2e-7 && high * high > 2e-7);
        assert_eq!(low.to_bits() + 1, high.to_bits());
    }

    #[test]
    fn conditions_that_never_change_give_the_ends() {
        assert_eq!(crossing(1.0, |_| false).0, 0.0);
        assert_eq!(crossing(1.0, |_| true).1, f64::INFINITY);
    }
}
