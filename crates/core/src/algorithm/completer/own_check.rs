//! The check of a prediction that a user's device makes on the user's own ratings, so that the user's own mean is the floor.

use super::Completer;

/// Parts that the own ratings are divided into; each is predicted from the others.
const PARTS: usize = 5;

/// The name of the constant that says, in files, whether predictions are checked.
pub const CHECKED: &str = "own check";

/// The most that predictions from four fifths of the ratings are multiplied by: what they miss of the fifth that was left out.
const MOST: f64 = PARTS as f64 / (PARTS - 1) as f64;

/// Predictions times α, the part of them that the user's own ratings bear out.
///
/// The own ratings are divided into five parts by position. Each part is predicted from the other four, less their mean where
/// the row is about its own mean, and the result is the mean of these predictions times α: what was not checked is not used. With a the ratings, p their
/// predictions, s² the mean of a² and α̂ = Σap/Σp², whose variance is s²/Σp² where p says nothing, α = min(α̂, 5/4)·(1 − s²/(Σp²·α̂²)), the
/// positive-part estimate of the slope, at least 0. Predictions that are not better than the user's mean at home are thus not used.
///
/// # Privacy
/// A function of public numbers and of the user's own row, computed where the row is and sent to nobody.
#[must_use]
pub fn checked(
    (items, values): (&[u32], &[f64]),
    predict: impl Fn(&[u32], &[f64]) -> Vec<f64>,
) -> Vec<f64> {
    // One rating leaves nothing to predict it from, and without any there is nothing to check with.
    if items.len() < 2 {
        let mut all = predict(items, values);
        if !items.is_empty() {
            all.fill(0.0);
        }
        return all;
    }
    // Up to rounding: whoever is centred is centred again about what is left.
    let sizes: f64 = values.iter().map(|x| x.abs()).sum();
    let recentred = values.iter().sum::<f64>().abs() <= 1e-9 * sizes;
    let (mut product, mut square, mut own) = (0.0, 0.0, 0.0);
    let mut all = Vec::new();
    let parts = PARTS.min(items.len());
    for part in 0..parts {
        let (mut at, mut kept) = (Vec::new(), Vec::new());
        for (position, (&item, &value)) in items.iter().zip(values).enumerate() {
            if position % PARTS != part {
                at.push(item);
                kept.push(value);
            }
        }
        let mean = match recentred {
            true => kept.iter().sum::<f64>() / kept.len() as f64,
            false => 0.0,
        };
        kept.iter_mut().for_each(|x| *x -= mean);
        let predicted = predict(&at, &kept);
        let left_out = items.iter().zip(values).skip(part).step_by(PARTS);
        for (&item, value) in left_out {
            let (rating, found) = (value - mean, predicted[item as usize]);
            product += rating * found;
            square += found * found;
            own += rating * rating;
        }
        all.resize(predicted.len(), 0.0);
        for (sum, x) in all.iter_mut().zip(&predicted) {
            *sum += x / parts as f64;
        }
    }
    let noise = own / items.len() as f64;
    let slope = product / square;
    let kept = 1.0 - noise / (square * slope * slope);
    match slope > 0.0 && kept > 0.0 {
        true => {
            let factor = slope.min(MOST) * kept;
            all.iter_mut().for_each(|x| *x *= factor);
        }
        // Without a slope, or with numbers beyond all numbers, nothing is borne out.
        false => all.fill(0.0),
    }
    all
}

/// The part of a direction that is one of the data: cos² of the angle between it and the eigenvector without noise, for an
/// eigenvalue l that is freed of noise and the edge e of the noise, 1 − e²/(4l²).
#[must_use]
pub fn overlap(freed: f64, edge: f64) -> f64 {
    (1.0 - (edge / (2.0 * freed)).powi(2)).max(0.0)
}

/// What an eigenvalue above the edge was before the noise pushed it up.
#[must_use]
pub fn freed(eigenvalue: f64, edge: f64) -> f64 {
    let ratio = edge / eigenvalue;
    0.5 * eigenvalue * (1.0 + ((1.0 - ratio) * (1.0 + ratio)).sqrt())
}

/// Whether a method says anything but the user's own mean.
#[must_use]
pub fn has_signal(completer: &dyn Completer) -> bool {
    let parts = completer.parts();
    parts.directions.columns() > 0 || parts.item_means.iter().any(|mean| *mean != 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEMS: [u32; 20] = [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
    ];

    fn row() -> Vec<f64> {
        (0..20).map(|i| f64::from(i % 4) - 1.5).collect()
    }

    #[test]
    fn predictions_that_the_own_ratings_contradict_are_not_used() {
        let row = row();
        for factor in [-1.0, -100.0, f64::MAX] {
            let opposite = |_: &[u32], _: &[f64]| row.iter().map(|x| -x * factor.abs()).collect();
            assert_eq!(checked((&ITEMS, &row), opposite), [0.0; 20]);
        }
        let constant = |_: &[u32], _: &[f64]| vec![1.0; 20];
        assert_eq!(checked((&ITEMS, &row), constant), [0.0; 20]);
        assert_eq!(checked((&[], &[]), constant), [1.0; 20]);
        assert_eq!(checked((&ITEMS[..1], &row[..1]), constant), [0.0; 20]);
    }

    /// A true prediction is kept but for 1/d, d ratings; too large a one is shortened, and half of one grows to 5/8.
    #[test]
    fn predictions_that_hold_are_kept_and_too_large_ones_shortened() {
        let row = row();
        for (scale, expected) in [(1.0, 0.95), (10.0, 0.95), (0.5, 0.95 * 0.625)] {
            let scaled = |_: &[u32], _: &[f64]| row.iter().map(|x| x * scale).collect();
            let found = checked((&ITEMS, &row), scaled);
            for (found, truth) in found.iter().zip(&row) {
                assert!((found - expected * truth).abs() < 1e-12, "{found} {truth}");
            }
        }
    }

    /// A method that is right from four fifths of the ratings and far off from all of them is used as it was checked.
    #[test]
    fn what_was_not_checked_is_not_used() {
        let row = row();
        let steep = |items: &[u32], _: &[f64]| {
            let off = if items.len() == ITEMS.len() { 1e3 } else { 1.0 };
            row.iter().map(|x| x * off).collect()
        };
        let found = checked((&ITEMS, &row), steep);
        let most = found.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        assert!(most < 1.5, "{most}");
    }
}
