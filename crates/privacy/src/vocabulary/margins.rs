//! How the diagonal and the row sums of a matrix are weighed where they are released beside its other entries.

/// λ and κ, which the diagonal and the row sums are multiplied with where entries off the diagonal are released under degree floor D:
/// λ² = 2(D − 1)/D², as much as one interaction moves the other entries by at most under that floor, ½ for D = 1, and κ² = λ²/10.
///
/// Part of what is released, and of its bounds: other weights are another release. What they buy: the noise on the diagonal is Δ/λ, between 1 and 1.3
/// of the noise multiplier whatever the floor, that on the row sums three times as much, and Δ is above that of the other entries alone by 5 % from D = 7 on.
#[must_use]
pub fn margin_weights(floor: u32) -> (f64, f64) {
    let floor = f64::from(floor.max(1));
    let square = match floor < 2.0 {
        true => 0.5,
        false => 2.0 * (floor - 1.0) / (floor * floor),
    };
    (square.sqrt(), (square / 10.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_fall_with_the_root_of_the_floor() {
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12);
        near(margin_weights(1).0, 0.5_f64.sqrt());
        near(margin_weights(2).0, 0.5_f64.sqrt());
        near(margin_weights(20).0, (38.0_f64 / 400.0).sqrt());
        for floor in [0, 1, 2, 7, 1000, u32::MAX] {
            let (diagonal, sums) = margin_weights(floor);
            near(sums / diagonal, 0.1_f64.sqrt());
        }
    }
}
