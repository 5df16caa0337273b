//! The grid that contributions are rounded to, and what rounding costs.
//!
//! # Rounding inflates the sensitivity by at most γ√D
//! *Statement:* let x, x′ ∈ ℝ^D with ‖x − x′‖ ≤ 1 (a sensitivity is the unit), and let ⌊x⌉ be the nearest integers to x/γ,
//! ties in either direction. Then ‖⌊x⌉ − ⌊x′⌉‖ ≤ 1/γ + √D. *Proof:* every coordinate of ⌊x⌉ − x/γ lies in [−½, ½], hence the
//! difference of two such errors in [−1, 1] and its norm is at most √D; the triangle inequality. ∎ A tie attains 1 on a coordinate as
//! a limit: ½ rounds to 1 and ½ − ε to 0. So the factor is 1 + γ√D, and no better for nearest rounding of arbitrary vectors.
//!
//! # Floating point
//! Contributions are computed in 64-bit floating point. If x̂ and x̂′ are within [`ARITHMETIC`]/2 of x and x′ in norm then
//! ‖x̂ − x̂′‖ ≤ 1 + [`ARITHMETIC`], which the factor has room for. What noise of real numbers can leak through its last bits
//! (Mironov 2012) has no counterpart: everything published is an integer of the law that is accounted for.
//!
//! # What a grid costs
//! By [`shift::most`], with κ = (1 + ARITHMETIC + γ√D)/γ and σ = σ_η/γ grid steps, a release has
//! μ² ≤ γ²·most(κ, D, n)/σ_η² = price/(n σ_η²) per squared unit of sensitivity, where real numbers have 1/(n σ_η²). With n peers in a piece
//! price = (1 + a + γ√D)² + γ²Dn²/4 (a for ARITHMETIC, n ≥ 2), which tends to (1 + a)² as γ falls.

use serde::Serialize;

use super::shift;

/// Room for the floating-point arithmetic of contributions, as a share of the sensitivity: see the module.
pub(in crate::privacy) const ARITHMETIC: f64 = 1e-6;

/// The finest grid: steps of 2⁻⁴⁴ sensitivities. Beyond it contributions have too few bits left.
const FINEST: u32 = 44;

/// A grid whose step is 2^−x of the sensitivity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "u32")]
pub struct Grid {
    exponent: u32,
}

impl Grid {
    /// Steps of 2^−`exponent` of the sensitivity; `None` beyond 44.
    #[must_use]
    pub fn new(exponent: u32) -> Option<Self> {
        (exponent <= FINEST).then_some(Self { exponent })
    }

    /// The same for tests' constants.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub const fn of(exponent: u32) -> Self {
        Self { exponent }
    }

    /// The coarsest grid on which releases of so many `coordinates` by pieces of so many `peers` cost at most 1 + `overhead` times
    /// what real numbers would, in μ²; `None` where no grid does.
    #[must_use]
    pub fn coarsest(coordinates: usize, peers: usize, overhead: f64) -> Option<Self> {
        (0..=FINEST)
            .map(|exponent| Self { exponent })
            .find(|grid| grid.price(coordinates, peers) <= 1.0 + overhead)
    }

    /// x: the step is 2^−x of the sensitivity.
    #[must_use]
    pub fn exponent(self) -> u32 {
        self.exponent
    }

    /// γ = 2^−x: one step, in units of the sensitivity.
    #[must_use]
    pub fn step(self) -> f64 {
        libm::exp2(f64::from(self.exponent)).recip()
    }

    /// What the sensitivity of a release of so many coordinates is after rounding, in units of what it was.
    #[must_use]
    pub fn sensitivity(self, coordinates: usize) -> f64 {
        1.0 + ARITHMETIC + self.step() * (coordinates as f64).sqrt()
    }

    /// At least μ²·σ_η² of one release, per squared unit of sensitivity: what n `peers` of a piece hide of one of them.
    #[must_use]
    pub fn factor(self, coordinates: usize, peers: usize) -> f64 {
        let norm = self.sensitivity(coordinates) / self.step();
        shift::most(norm, coordinates, peers) * self.step().powi(2)
    }

    /// [`Self::factor`] in units of 1/n, what real numbers would cost.
    #[must_use]
    pub fn price(self, coordinates: usize, peers: usize) -> f64 {
        self.factor(coordinates, peers) * peers as f64
    }
}

impl From<Grid> for u32 {
    fn from(grid: Grid) -> Self {
        grid.exponent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_planned_grid_is_the_coarsest_within_the_overhead() {
        for (coordinates, peers) in [(1, 1), (1600, 64), (320_000, 1000), (1600, 24_983)] {
            let grid = Grid::coarsest(coordinates, peers, 0.01).expect("fine enough");
            assert!(grid.price(coordinates, peers) <= 1.01);
            let coarser = Grid::new(grid.exponent() - 1).expect("a grid");
            assert!(coarser.price(coordinates, peers) > 1.01);
            // The real-valued limit, from below.
            assert!(grid.price(coordinates, peers) > 1.0);
            assert_eq!(grid.step(), 0.5_f64.powi(grid.exponent() as i32));
        }
        // γ of about 0.2/(n√D): 2⁻²² for a thousand peers with 320,000 coordinates, by hand from the formula.
        let by_hand = |gamma: f64| {
            let root = 320_000_f64.sqrt() * gamma;
            (1.0 + 1e-6 + root).powi(2) + (root * 500.0).powi(2)
        };
        assert!(by_hand(0.5_f64.powi(22)) <= 1.01 && by_hand(0.5_f64.powi(21)) > 1.01);
        let grid = Grid::coarsest(320_000, 1000, 0.01).expect("fine enough");
        assert_eq!(grid.exponent(), 22);
        assert!((grid.price(320_000, 1000) / by_hand(grid.step()) - 1.0).abs() < 1e-12);
        // No room at all for rounding, or none that is a number.
        for overhead in [0.0, -1.0, 1e-7, f64::NAN] {
            assert_eq!(Grid::coarsest(10, 10, overhead), None);
        }
        assert_eq!(Grid::new(45), None);
    }

    #[test]
    fn a_grid_never_costs_less_with_fewer_peers() {
        for exponent in [0, 3, 8, 20] {
            let grid = Grid::new(exponent).expect("a grid");
            for coordinates in [1, 7, 400] {
                let mut last = f64::INFINITY;
                for peers in 1..200 {
                    let factor = grid.factor(coordinates, peers);
                    assert!(
                        factor <= last * (1.0 + 1e-12),
                        "{exponent} {coordinates} {peers}"
                    );
                    last = factor;
                }
            }
        }
    }
}
