//! From a noisy triangle under a floor, a noisy diagonal and noisy row sums to an estimate of the matrix without a floor.

use nalgebra::DMatrix;

use crate::linalg::PackedTriangle;
use crate::vocabulary::margin_weights;

/// How often factors are corrected. On the sets that this was tried on five give the same.
const STEPS: usize = 12;
/// Halvings of the interval in which a variance is looked for.
const HALVINGS: usize = 50;
/// That interval.
const VARIANCES: (f64, f64) = (1e-9, 4.0);

/// The upper triangle of the estimate of A_1, from the coordinates of a release of [`RakedCovariance`](super::RakedCovariance) with noise of standard
/// deviation `sigma` on each.
///
/// # Model
/// With g_i the degree of item i, A_1 has the diagonal c_i = g_i·(k + ξ_i), k the same for all, and the row sums g_i − c_i. Its other entries are those under
/// the floor times e^{m_i + m_j}, m_i = m + η_i. ξ and η are normal with mean 0 and variances that the released numbers make most likely, given
/// their noise: where noise decides, the diagonal is a multiple of the degrees, which have less of it, and all entries off it have one factor; where it does
/// not, both are as measured. (Empirical Bayes for normal means with known variances, as Morris 1983.)
///
/// # What holds exactly
/// Let nothing be released with noise. Then the diagonal is that of A_1, and with D ≤ 2 so is all else: users of one interaction have no pair, and those of
/// two or more have the weight 1/d under either matrix. For larger D every entry of A_1 off the diagonal is between 1 and D/2 times that of A_D, since
/// w_1(d)/w_D(d) is max(d, D)/d under a plain floor and its root under a root floor, and d ≥ 2 wherever there is a pair. So factors e^{m_i} are kept between 1 and
/// √(D/2). Rows then sum to what they should but where an item's pairs are with items of larger factors and its own would have to be below 1: allowing that was no better (on
/// fourteen sets 0.7 % worse in the mean).
///
/// Fixed order of summation, and as many steps whatever the numbers: equal coordinates give equal bits. Where numbers are so large that something overflows,
/// entries stay what was released.
pub fn raked(dimension: usize, coordinates: &[f64], sigma: f64, floor: u32) -> Vec<f64> {
    let n = dimension;
    let (triangle, sums) = coordinates.split_at(PackedTriangle::coordinates(n));
    let (lambda, kappa) = margin_weights(floor);
    let mut entries: Vec<f64> = triangle
        .iter()
        .map(|value| value * std::f64::consts::FRAC_1_SQRT_2)
        .collect();
    let place = |item| PackedTriangle::row_start(n, item);
    let diagonal: Vec<f64> = (0..n).map(|item| triangle[place(item)] / lambda).collect();
    (0..n).for_each(|item| entries[place(item)] = 0.0);
    let sums: Vec<f64> = sums.iter().map(|value| value / kappa).collect();
    let noise = Noise {
        pairs: sigma * std::f64::consts::FRAC_1_SQRT_2,
        diagonal: sigma / lambda,
        sums: sigma / kappa,
    };
    let (shrunk, factors) = fitted(&entries, &diagonal, &sums, &noise, floor);
    let is_finite = shrunk.iter().chain(&factors).all(|value| value.is_finite());
    let mut at = 0;
    for i in 0..n {
        entries[at] = if is_finite { shrunk[i] } else { diagonal[i] };
        at += 1;
        for j in i + 1..n {
            if is_finite {
                entries[at] *= factors[i] * factors[j];
            }
            at += 1;
        }
    }
    entries
}

/// Standard deviations.
struct Noise {
    pairs: f64,
    diagonal: f64,
    sums: f64,
}

/// The diagonal, and the factor of every item.
fn fitted(
    pairs: &[f64],
    diagonal: &[f64],
    sums: &[f64],
    noise: &Noise,
    floor: u32,
) -> (Vec<f64>, Vec<f64>) {
    let n = diagonal.len();
    let degrees: Vec<f64> = diagonal
        .iter()
        .zip(sums)
        .map(|(c, t)| (c + t).max(1.0))
        .collect();
    let all: f64 = degrees.iter().sum();
    let share = (diagonal.iter().sum::<f64>() / all).clamp(0.0, 1.0);
    // c − k·g = (1 − k)·c − k·t.
    let apart = ((1.0 - share) * noise.diagonal).powi(2) + (share * noise.sums).powi(2);
    let off: Vec<Measured> = diagonal
        .iter()
        .zip(&degrees)
        .map(|(c, degree)| Measured {
            value: (c - share * degree) / degree,
            variance: apart / (degree * degree),
        })
        .collect();
    let spread = most_likely_variance(&off);
    let shrunk: Vec<f64> = off
        .iter()
        .zip(&degrees)
        .map(|(one, degree)| (degree * (share + one.shrunk(spread))).clamp(0.0, *degree))
        .collect();
    let wanted: Vec<f64> = degrees
        .iter()
        .zip(&shrunk)
        .map(|(g, c)| (g - c).max(1e-9))
        .collect();
    let most = (f64::from(floor) / 2.0).max(1.0);
    let matrix = PackedTriangle::new(n, pairs);
    let ones = DMatrix::from_element(n, 1, 1.0);
    let found = matrix.times(&ones).sum().max(1e-9);
    let common = 0.5 * libm::log((sums.iter().sum::<f64>() / found).clamp(1.0, most));
    let highest = 0.5 * libm::log(most);
    let mut logarithms = vec![common; n];
    for _ in 0..STEPS {
        let factors: Vec<f64> = logarithms.iter().map(|log| libm::exp(*log)).collect();
        let products = matrix.times(&DMatrix::from_column_slice(n, 1, &factors));
        let squares: f64 = factors.iter().map(|factor| factor * factor).sum();
        let rows: Vec<Measured> = (0..n)
            .map(|i| {
                let found = factors[i] * products[(i, 0)];
                let square = factors[i] * factors[i];
                let variance =
                    square * noise.pairs.powi(2) * (squares - square) + noise.sums.powi(2);
                let scale = wanted[i].max(found);
                Measured {
                    value: logarithms[i] - common + 0.5 * (wanted[i] - found) / scale,
                    variance: 0.25 * variance / (scale * scale),
                }
            })
            .collect();
        let spread = most_likely_variance(&rows);
        for (logarithm, row) in logarithms.iter_mut().zip(&rows) {
            *logarithm = (common + row.shrunk(spread)).clamp(0.0, highest);
        }
    }
    (shrunk, logarithms.into_iter().map(libm::exp).collect())
}

/// What is known of a number: it was measured with noise of this variance.
struct Measured {
    value: f64,
    variance: f64,
}

impl Measured {
    /// What is expected of it where it has mean 0 and this variance beforehand.
    fn shrunk(&self, before: f64) -> f64 {
        match self.variance > 0.0 {
            true => self.value * before / (before + self.variance),
            false => self.value,
        }
    }
}

/// The variance t for which these are most likely, each normal with mean 0 and variance t more than its noise: the zero of Σ (y² − v − t)/(v + t)², or 0
/// where that is negative throughout.
fn most_likely_variance(all: &[Measured]) -> f64 {
    let rises = |t: f64| {
        let slope = |one: &Measured| {
            let whole = one.variance + t;
            (one.value * one.value - whole) / (whole * whole)
        };
        all.iter().map(slope).sum::<f64>() > 0.0
    };
    let (mut low, mut high) = VARIANCES;
    if !rises(low) {
        return 0.0;
    }
    for _ in 0..HALVINGS {
        let middle = (low * high).sqrt();
        match rises(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}
