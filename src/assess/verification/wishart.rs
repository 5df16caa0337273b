//! The law of Wishart noise, for the tests of `verify`.
//!
//! # Statement
//! Let Z = W₁ − W₂ with m terms of scale b each, and let v₁ … v_q be orthonormal. Then the numbers v_iᵀ Z v_i are independent differences of two
//! Gamma numbers of shape m/2 and scale b. For disjoint pairs (i, l) the numbers v_iᵀ Z v_l are independent differences of two Gamma numbers of
//! shape m and scale b/2.
//!
//! # Proof
//! v_iᵀ g ~ N(0, b/2), independent over i. So Σ_j (v_iᵀ g_j)² is b/2 times a χ² number of m degrees: a Gamma number of shape m/2 and scale b. For
//! i ≠ l, v_iᵀ g · v_lᵀ g = ((v_iᵀ g + v_lᵀ g)² − (v_iᵀ g − v_lᵀ g)²)/4, where the two squares are independent and b times χ² numbers of one
//! degree. Summed over g and −h, the positive squares are Gamma of shape m/2 + m/2 and scale 2b/4, and so are the negative ones. ∎
//!
//! Tested are the diagonal, eight directions of a public random rotation, and the entries (0, 1), (2, 3), …: a defect that spares the diagonal
//! shows in the rotation.

use super::checks::test;
use super::laplace::SumLaw;
use super::table::Check;
use crate::engine::Outcome;
use crate::linalg::{Block, PackedTriangle, start_block};
use crate::plan::Plan;
use crate::protocol::SessionPlan;
use crate::vocabulary::Seed;

/// Directions of the rotation.
const DIRECTIONS: usize = 8;

/// Standardised numbers of the noise in the triangles, and of that in a mean before them.
#[derive(Debug)]
pub(super) struct MatrixLaw {
    /// m.
    terms: u64,
    /// The sum of the shapes of the Laplace noise on a mean.
    shapes: f64,
    isometric: bool,
    rotation: Block,
    diagonal: Vec<f64>,
    rotated: Vec<f64>,
    pairs: Vec<f64>,
    means: Vec<f64>,
}

impl MatrixLaw {
    /// That of a plan with Wishart noise; `None` for other noise.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let shares = plan.wishart_shares_drawn()?;
        let n = plan.program().items;
        // Any rotation will do that does not depend on what was drawn.
        let rotation = start_block(&Seed::from_u64(0), n, n.min(DIRECTIONS)).ok()?;
        Some(Self {
            terms: shares.terms,
            shapes: shares
                .mean
                .map_or(0.0, |shape| shape * f64::from(shares.peers)),
            isometric: shares.isometric,
            rotation,
            diagonal: Vec::new(),
            rotated: Vec::new(),
            pairs: Vec::new(),
            means: Vec::new(),
        })
    }

    /// Adds one run. `sigmas` are the standard deviations that the noise of each release should have, of a packed triangle on its diagonal.
    pub(super) fn push_run(&mut self, outcome: &Outcome, sigmas: &[f64], plan: &SessionPlan) {
        for (record, sigma) in outcome.records.iter().zip(sigmas) {
            let pairs = record.sum.values().iter();
            let noise = pairs.zip(record.totals.local.values());
            let noise: Vec<f64> = noise.map(|(sum, local)| (sum - local) / sigma).collect();
            let triangle = plan
                .release(record.release)
                .is_some_and(|planned| planned.is_triangle());
            match triangle {
                true => self.push_triangle(noise),
                false => self.means.extend(noise),
            }
        }
    }

    fn push_triangle(&mut self, mut noise: Vec<f64>) {
        let n = self.rotation.rows();
        let entry = if self.isometric {
            std::f64::consts::FRAC_1_SQRT_2
        } else {
            1.0
        };
        // Entries of the matrix.
        for row in 0..n {
            let start = PackedTriangle::row_start(n, row);
            let beside = start + 1..PackedTriangle::row_start(n, row + 1);
            noise[beside].iter_mut().for_each(|value| *value *= entry);
            self.diagonal.push(noise[start]);
            if row % 2 == 0 && row + 1 < n {
                self.pairs.push(noise[start + 1] * std::f64::consts::SQRT_2);
            }
        }
        for direction in 0..self.rotation.columns() {
            let v: Vec<f64> = (0..n).map(|i| self.rotation.row(i)[direction]).collect();
            let mut form = 0.0;
            for row in 0..n {
                let start = PackedTriangle::row_start(n, row);
                let beside: f64 = (row + 1..n).map(|l| noise[start + l - row] * v[l]).sum();
                form += v[row] * (v[row] * noise[start] + 2.0 * beside);
            }
            self.rotated.push(form);
        }
    }

    /// The tests of the law.
    pub(super) fn checks(&self) -> Vec<Check> {
        let (squares, products) = (
            SumLaw::new(0.5 * self.terms as f64),
            SumLaw::new(self.terms as f64),
        );
        let check = |name: &str, result| test("law", name, result);
        let mut all = vec![
            check(
                "Kolmogorov-Smirnov distance of the diagonal to differences of Gamma numbers",
                squares.distance(&self.diagonal),
            ),
            check(
                "mean square of the diagonal over sigma^2 (asymptotic)",
                squares.mean_square(&self.diagonal),
            ),
            check(
                "Kolmogorov-Smirnov distance of a rotation's diagonal, likewise",
                squares.distance(&self.rotated),
            ),
        ];
        if !self.pairs.is_empty() {
            all.push(check(
                "Kolmogorov-Smirnov distance of disjoint pairs, likewise",
                products.distance(&self.pairs),
            ));
            all.push(check(
                "mean square of disjoint pairs over sigma^2 (asymptotic)",
                products.mean_square(&self.pairs),
            ));
        }
        if !self.means.is_empty() {
            let law = SumLaw::new(self.shapes);
            all.push(check(
                "Kolmogorov-Smirnov distance of the mean to the sum of Laplace shares",
                law.distance(&self.means),
            ));
            all.push(check(
                "mean square of the mean over sigma^2 (asymptotic)",
                law.mean_square(&self.means),
            ));
        }
        all
    }
}

/// The line of the terms that are left where as many peers collude as the plan promises to withstand: n + 1 at least.
pub(super) fn terms_left(plan: &Plan) -> Option<Check> {
    let wishart = plan.guarantee().noise().wishart_noise()?;
    let (left, threshold) = (plan.terms_left()?, wishart.dimension() + 1);
    Some(Check {
        kind: "spent",
        name: "terms of Wishart noise that colluders leave, at least n + 1".to_owned(),
        statistic: left as f64,
        p_value: None,
        threshold: threshold as f64,
        passed: left >= threshold,
    })
}
