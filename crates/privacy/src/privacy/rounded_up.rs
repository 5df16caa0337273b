//! Rounds a standard deviation up, so that the last bits of what it was computed from do not reach digests and keys.

/// Bits of a standard deviation that count.
const KEPT: u32 = 40;

/// The least number with 40 significant bits that is not below `sigma`; numbers that are not finite and positive stay as they are.
///
/// Noise keys, and what the members of a session compare, are made of the bits of σ. More noise than asked for, by one part in
/// 10¹², is on the safe side.
pub(super) fn rounded_up(sigma: f64) -> f64 {
    const DROPPED: u64 = (1 << (f64::MANTISSA_DIGITS - KEPT)) - 1;
    match sigma > 0.0 && sigma.is_finite() {
        true => f64::from_bits((sigma.to_bits() + DROPPED) & !DROPPED),
        false => sigma,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rounds_up_by_one_part_in_a_million_million_at_most() {
        for sigma in [1.0, 0.1, 3.7, 1e-300, 1e300, 2.0_f64.next_down(), 7.3e-8] {
            let found = rounded_up(sigma);
            assert!(found >= sigma && found <= sigma * (1.0 + 2e-12), "{sigma}");
            assert_eq!(found.to_bits() % (1 << 13), 0);
            assert_eq!(rounded_up(found), found);
            assert_eq!(rounded_up(found.next_down()), found);
        }
        assert_eq!(rounded_up(1.0), 1.0);
        assert_eq!(rounded_up(2.0_f64.next_down()), 2.0);
    }

    #[test]
    fn what_is_no_standard_deviation_stays() {
        assert_eq!(rounded_up(0.0).to_bits(), 0);
        assert_eq!(rounded_up(-1.5), -1.5);
        assert!(rounded_up(f64::NAN).is_nan());
        assert_eq!(rounded_up(f64::INFINITY), f64::INFINITY);
        // Beyond the largest number of so many bits there is infinity alone, which no plan accepts.
        assert_eq!(rounded_up(f64::MAX), f64::INFINITY);
    }
}
