//! How far the eigenvalues of noise reach, and what noise does to eigenvalues beyond.

/// The 0.99 quantile of the largest eigenvalue of symmetric Gaussian noise beyond its edge, in units of half the edge over n^(2/3)
/// (Tracy & Widom 1996, β = 1).
const LARGEST: f64 = 2.02;

/// What is public of the noise on a symmetric matrix: every entry off the diagonal has independent noise of this size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseEdge {
    sigma: f64,
    dimension: usize,
}

impl NoiseEdge {
    /// The noise of standard deviation `sigma` on each entry off the diagonal of an n × n matrix.
    #[must_use]
    pub fn new(sigma: f64, dimension: usize) -> Self {
        Self { sigma, dimension }
    }

    /// e = 2σ√n: as far as the eigenvalues of noise alone reach (Wigner 1955).
    ///
    /// A packed triangle with noise of σ on every coordinate has that σ on every entry; the coordinates of an isometric triangle are √2
    /// times the entries off the diagonal, so that the edge is √2·σ√n in terms of their σ.
    #[must_use]
    pub fn edge(&self) -> f64 {
        2.0 * self.sigma * (self.dimension as f64).sqrt()
    }

    /// What the largest eigenvalue of noise alone exceeds with probability about 0.01: e(1 + 1.01 n^(−2/3)).
    #[must_use]
    pub fn threshold(&self) -> f64 {
        let width = libm::pow(self.dimension as f64, -2.0 / 3.0);
        self.edge() * (1.0 + 0.5 * LARGEST * width)
    }

    /// Standard deviation of the noise on an entry.
    #[must_use]
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// What is left of observed eigenvalues: the best multiples of the observed directions.
    ///
    /// # Statement
    /// Let Y = A + W with W symmetric Gaussian noise of variance σ² per entry. Of all matrices with the eigenvectors v_i of Y the one
    /// closest to A has the eigenvalues v_iᵀAv_i, which for large n are ξ_i = λ_i − 2σ²n·h(λ_i), where h(x) is the
    /// principal value of the mean of 1/(x − λ_j). Nothing but Y and σ is in it.
    ///
    /// # What it says of one direction
    /// Where A is one direction of weight ℓ > e/2 in noise, Y has the eigenvalue λ = ℓ + e²/(4ℓ) beyond the edge, and its vector
    /// has the squared overlap 1 − e²/(4ℓ²) with A's, so vᵀAv = ℓ − e²/(4ℓ) = √(λ² − e²). The mean over the eigenvalues of
    /// noise is h(λ) = 2(λ − √(λ² − e²))/e², and with σ²n = e²/4 the formula gives the same. Inside the edge h(λ) = 2λ/e², and nothing
    /// is left. ∎
    ///
    /// # Finite n
    /// 1/(x − λ_j) is taken as the real part at distance e/√n from the axis, some spacings of eigenvalues. Where the density of the
    /// eigenvalues ends like a root, at the edge, that leaves up to about n^(−1/4)·e of noise alone, and far less inside.
    ///
    /// # Source
    /// O. Ledoit & S. Péché 2011; J. Bun, R. Allez, J.-P. Bouchaud & M. Potters 2016 for additive noise; the single direction:
    /// D. Féral & S. Péché 2007.
    #[must_use]
    pub fn shrunk(&self, observed: &[f64]) -> Vec<f64> {
        let n = self.dimension as f64;
        let (variance, width) = (self.sigma * self.sigma * n, self.edge() / n.sqrt());
        if variance == 0.0 {
            return observed.to_vec();
        }
        let left = |x: &f64| {
            let terms = observed.iter().map(|other| {
                let distance = x - other;
                distance / (distance * distance + width * width)
            });
            x - 2.0 * variance * terms.sum::<f64>() / n
        };
        observed.iter().map(left).collect()
    }

    /// Of eigenvalues in descending order: how many are beyond the threshold, and Σ(λ² − e²)/e² over them.
    ///
    /// The sum is how much more energy these directions have than noise gives one direction at most; infinite without noise.
    #[must_use]
    pub fn beyond(&self, observed: &[f64]) -> (usize, f64) {
        let (threshold, edge) = (self.threshold(), self.edge());
        let beyond = observed.iter().take_while(|x| **x > threshold);
        let energy = |x: &f64| (x / edge).powi(2) - 1.0;
        (
            beyond.clone().count(),
            beyond.map(energy).fold(0.0, |sum, x| sum + x),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A semicircle of n eigenvalues at its quantiles.
    fn semicircle(n: usize, edge: f64) -> Vec<f64> {
        let share = |x: f64| 0.5 + (x * (1.0 - x * x).sqrt() + x.asin()) / std::f64::consts::PI;
        let quantile = |p: f64| {
            let (mut low, mut high) = (-1.0, 1.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if share(middle) < p {
                    low = middle
                } else {
                    high = middle
                }
            }
            low
        };
        (0..n)
            .rev()
            .map(|i| edge * quantile((i as f64 + 0.5) / n as f64))
            .collect()
    }

    #[test]
    fn a_direction_beyond_the_edge_is_debiased_and_shrunk_by_its_overlap_and_noise_vanishes() {
        let noise = NoiseEdge::new(0.5, 1000);
        let edge = noise.edge();
        let mut values = vec![3.0 * edge, 1.5 * edge];
        values.extend(semicircle(998, edge));
        let left = noise.shrunk(&values);
        for (shrunk, factor) in left.iter().zip([3.0_f64, 1.5]) {
            let exact = edge * (factor * factor - 1.0).sqrt();
            assert!((shrunk / exact - 1.0).abs() < 0.01, "{shrunk} {exact}");
        }
        let most = |all: &[f64]| all.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        assert!(
            most(&left[2..]) < edge * 1000_f64.powf(-0.25),
            "at the edge"
        );
        assert!(
            most(&left[252..752]) < 0.02 * edge,
            "inside: {}",
            most(&left[252..752])
        );
        assert_eq!(noise.beyond(&values), (2, 8.0 + 1.25));
        // An edge that is too low by a factor takes noise for signal, one that is too high signal for noise.
        let low = NoiseEdge::new(0.25, 1000);
        assert!(low.beyond(&values).0 > 150);
        assert_eq!(NoiseEdge::new(1.2, 1000).beyond(&values).0, 1);
    }

    #[test]
    fn without_noise_everything_is_as_it_was() {
        let noise = NoiseEdge::new(0.0, 3);
        assert_eq!(noise.shrunk(&[2.0, 0.0, -1.0]), [2.0, 0.0, -1.0]);
        assert_eq!(noise.beyond(&[2.0, 0.0, -1.0]), (1, f64::INFINITY));
    }
}
